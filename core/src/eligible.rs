//! May this response be encoded? A pure function of a plain struct of facts.
//!
//! The codings have directives of their own, so the question is asked once for each; those that pass are what
//! `negotiate` has to offer. Of two reasons not to encode, the later gate's is worth telling: [`Skip`] is
//! ordered by the gates, and `max` gives it.
//!
//! `Accept-Encoding: identity;q=0` opens no gate: a body that the server would not encode is sent as it is, as
//! RFC 9110, 12.5.3 allows, and as the peers do.

mod statuses;

pub use self::statuses::{StatusError, Statuses};

/// What is known of a request and its response before the body, for one coding.
///
/// A HEAD request has the facts of the GET, since its header has to be the same (RFC 9110, 9.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The coding is switched on here (`brotli`, `zstd`).
    pub enabled: bool,
    /// It is the request itself, not a sub-request, whose body goes into another's.
    pub main_request: bool,
    /// The connection becomes a tunnel: an upgrade, or CONNECT.
    pub tunnel: bool,
    /// The status code.
    pub status: u16,
    /// There is a `Content-Encoding`, which is not empty.
    pub encoded: bool,
    /// There is a `Content-Range`, or the type is `multipart/byteranges`.
    pub partial: bool,
    /// `Content-Length`, if known.
    pub length: Option<u64>,
    /// The type is one of the coding's types; `None` if there is no type, or if it is `multipart/byteranges`,
    /// which hides it.
    pub type_matched: Option<bool>,
    /// `Cache-Control: no-transform` in the response.
    pub response_no_transform: bool,
    /// `Cache-Control: no-transform` in the request.
    pub request_no_transform: bool,
    /// A string of `brotli_bypass` or `zstd_bypass` is neither empty nor "0".
    pub bypass: bool,
}

/// What the configuration asks of a response, for one coding.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// `compress_statuses`.
    pub statuses: &'a Statuses,
    /// `brotli_min_length`, `zstd_min_length`; only a known length can be too small.
    pub min_length: u64,
    /// `brotli_max_length`, `zstd_max_length`; 0 is no limit.
    pub max_length: u64,
}

/// Why a response is not encoded, in the order of the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// The coding is switched off.
    Off,
    /// A sub-request.
    Subrequest,
    /// The status is not one of `compress_statuses`, or there is no response to encode: a tunnel.
    Status,
    /// Already encoded (RFC 9110, 8.4).
    Encoded,
    /// A part of a body: its offsets are those of the unencoded one (RFC 9110, 14.2).
    Range,
    /// Too short, or too long.
    Length,
    /// The type is not one of the coding's, or there is none.
    Type,
    /// The response asks to be left as it is (RFC 9111, 5.2.2.6).
    NoTransform,
    /// The request asks for that (RFC 9111, 5.2.1.6).
    RequestNoTransform,
    /// `brotli_bypass`, `zstd_bypass`.
    Bypass,
    /// The client does not accept the coding, or prefers gzip or none.
    Client,
    /// Too many responses wait for a thread.
    Busy,
}

impl Skip {
    /// The word of `$compress_skip`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Subrequest => "subrequest",
            Self::Status => "status",
            Self::Encoded => "encoded",
            Self::Range => "range",
            Self::Length => "length",
            Self::Type => "type",
            Self::NoTransform | Self::RequestNoTransform => "no-transform",
            Self::Bypass => "bypass",
            Self::Client => "client",
            Self::Busy => "busy",
        }
    }

    /// Could the same response be encoded for another request, or at another time?
    pub const fn is_negotiable(self) -> bool {
        matches!(self, Self::RequestNoTransform | Self::Bypass | Self::Client | Self::Busy)
    }
}

/// May this response be encoded, if the client accepts it?
///
/// The gates stand in the order of the peers as far as these have them: switch, status, `Content-Encoding`,
/// length, type.
///
/// # Errors
/// The first gate that is shut.
pub fn eligible(facts: &Facts, limits: &Limits<'_>) -> Result<(), Skip> {
    let gates = [
        (facts.enabled, Skip::Off),
        (facts.main_request, Skip::Subrequest),
        (!facts.tunnel && limits.statuses.contains(facts.status), Skip::Status),
        (!facts.encoded, Skip::Encoded),
        (!facts.partial, Skip::Range),
        (limits.allow_length(facts.length), Skip::Length),
        (facts.type_matched == Some(true), Skip::Type),
        (!facts.response_no_transform, Skip::NoTransform),
        (!facts.request_no_transform, Skip::RequestNoTransform),
        (!facts.bypass, Skip::Bypass),
    ];

    match gates.into_iter().find(|&(open, _)| !open) {
        Some((_, skip)) => Err(skip),
        None => Ok(()),
    }
}

/// Does the response depend on `Accept-Encoding`, and need it in `Vary`, encoded or not (RFC 9110, 12.5.5)?
///
/// A 304 and a 206 have the `Vary` of the 200 that they stand for (RFC 9110, 15.4.5 and 15.3.7). Where they do
/// not show what it looks like, it is taken for one that can be encoded.
pub fn varies(facts: &Facts, limits: &Limits<'_>) -> bool {
    let facts = match facts.status {
        206 | 304 => &Facts {
            status: 200,
            partial: false,
            length: None,
            type_matched: facts.type_matched.or(Some(true)),
            ..*facts
        },
        _ => facts,
    };

    match eligible(facts, limits) {
        Ok(()) => true,
        Err(skip) => skip.is_negotiable(),
    }
}

impl Limits<'_> {
    fn allow_length(&self, length: Option<u64>) -> bool {
        length.is_none_or(|length| {
            length >= self.min_length && (self.max_length == 0 || length <= self.max_length)
        })
    }
}
