//! Which format a client gets (RFC 9110, 12.5.1).

use super::Snapshot;
use crate::headers::list::{elements, trim};
use crate::negotiate::parse_qvalue;

/// A format of a [`Snapshot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For programs and people.
    Json,
    /// For Prometheus.
    Text,
    /// For Prometheus, where it prefers that.
    OpenMetrics,
}

/// The first of those that a client weighs the same is used.
const FORMATS: [Format; 3] = [Format::Json, Format::Text, Format::OpenMetrics];

impl Format {
    /// What the argument `format` of the request names, or else what the lines of `Accept` prefer. A client that
    /// accepts none of the formats gets JSON.
    pub fn choose<'a>(argument: Option<&[u8]>, accept: impl IntoIterator<Item = &'a [u8]>) -> Self {
        match argument {
            Some(b"json") => return Self::Json,
            Some(b"prometheus") => return Self::Text,
            Some(b"openmetrics") => return Self::OpenMetrics,
            _ => {}
        }
        let mut preferences = [Preference::default(); FORMATS.len()];
        for element in elements(accept) {
            let (range, weight) = range_and_weight(element);
            for (format, preference) in FORMATS.into_iter().zip(&mut preferences) {
                preference.see(format.precision(range), weight);
            }
        }
        let mut best = (Self::Json, preferences[0].weight);
        for (format, Preference { weight, .. }) in FORMATS.into_iter().zip(preferences) {
            if weight > best.1 {
                best = (format, weight);
            }
        }
        best.0
    }

    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// The snapshot in this format.
    pub fn show(self, snapshot: &Snapshot) -> String {
        match self {
            Self::Json => snapshot.json(),
            Self::Text => snapshot.prometheus(),
            Self::OpenMetrics => snapshot.openmetrics(),
        }
    }

    /// How precisely a media range names the format; 0 if it does not.
    fn precision(self, range: &[u8]) -> u8 {
        let content_type = self.content_type();
        let name = content_type.split(';').next().unwrap_or_default();
        let main = &name[..name.find('/').map_or(0, |slash| slash + 1)];
        match range {
            b"*/*" => 1,
            [main_range @ .., b'*'] if main_range.eq_ignore_ascii_case(main.as_bytes()) => 2,
            _ if range.eq_ignore_ascii_case(name.as_bytes()) => 3,
            _ => 0,
        }
    }
}

/// The weight that the most precise of the ranges gives, and the highest of these: Prometheus names several versions
/// of a format, each with a weight.
#[derive(Clone, Copy, Default)]
struct Preference {
    precision: u8,
    weight: u16,
}

impl Preference {
    fn see(&mut self, precision: u8, weight: u16) {
        if precision > self.precision {
            *self = Self { precision, weight };
        } else if precision > 0 && precision == self.precision {
            self.weight = self.weight.max(weight);
        }
    }
}

/// The media range of an element of `Accept`, and its weight: 0 if that is malformed.
fn range_and_weight(element: &[u8]) -> (&[u8], u16) {
    let mut parts = element.split(|byte| *byte == b';').map(trim);
    let range = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| match part {
        [b'q' | b'Q', b'=', value @ ..] => Some(parse_qvalue(value).unwrap_or(0)),
        _ => None,
    });
    (range, weight.unwrap_or(1000))
}
