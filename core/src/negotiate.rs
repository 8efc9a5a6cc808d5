//! `Accept-Encoding` -> the content coding to use (RFC 9110, 12.5.3).
//!
//! What the RFC leaves open, or forbids senders to do, is settled so that a client never gets a coding that it
//! may not have meant to accept:
//!
//! - No field, and an empty one, mean no coding.
//! - An entry with a malformed weight, or any other parameter, is declined as if it had `q=0`. It still counts
//!   as listed, so that `*` does not bring it back.
//! - Of a coding that is listed more than once the lowest weight counts: `br;q=0, br` declines it. `x-gzip` is
//!   another name of `gzip`.
//! - `identity` has a weight only by its own entry: the body is left as it is where that outweighs every coding
//!   (`identity, br;q=0.5`); codings win a tie. Without an entry it is what remains when no coding is
//!   acceptable.
//! - `identity;q=0` and `*;q=0` forbid nothing to a server that has no acceptable coding: it may ignore the
//!   field, and the alternative, a 406, helps nobody. The body is left as it is.

mod order;

pub use self::order::{Offer, Order, OrderError};
use crate::{
    codec::Coding,
    headers::list::{elements, split_token, trim},
};

/// Chooses among the offers by the lines of `Accept-Encoding`; `None` leaves the body as it is (`identity`).
pub fn negotiate<'a>(lines: impl IntoIterator<Item = &'a [u8]>, offers: &Offers) -> Option<Offer> {
    Preferences::parse(lines).choose(offers)
}

/// Does the field list anything at all? A client that sends none, or an empty one, knows of no codings.
pub fn lists_any<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> bool {
    elements(lines).next().is_some()
}

/// The codings that a response can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Which of those that the client weighs the same goes first.
    pub order: Order,
    /// `zstd` is offered.
    pub zstd: bool,
    /// `br` is offered.
    pub brotli: bool,
    /// `gzip` is offered: NGINX's own filter would encode this response.
    pub gzip: bool,
}

impl Offers {
    fn contains(&self, offer: Offer) -> bool {
        match offer {
            Offer::Encode(Coding::Zstd) => self.zstd,
            Offer::Encode(Coding::Brotli) => self.brotli,
            Offer::Gzip => self.gzip,
        }
    }
}

/// A weight in thousandths, 0 to 1000 (RFC 9110, 12.4.2).
type Weight = u16;

/// What a client said of the codings that matter here, each `None` if not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    zstd: Option<Weight>,
    brotli: Option<Weight>,
    gzip: Option<Weight>,
    identity: Option<Weight>,
    /// `*`: all that are not listed.
    any: Option<Weight>,
}

impl Preferences {
    /// Reads the lines of `Accept-Encoding`, which count as one list.
    pub fn parse<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut preferences = Self::default();
        for element in elements(lines) {
            let (token, parameters) = split_token(element);
            if let Some(listed) = preferences.entry(token) {
                let weight = weight(parameters).unwrap_or(0);
                *listed = Some(listed.map_or(weight, |earlier| earlier.min(weight)));
            }
        }
        preferences
    }

    /// The offer with the highest weight, the first of them in the order of the server; `None` for `identity`.
    ///
    /// To have the next best, when a file is not there, take the offer out and choose again.
    pub fn choose(&self, offers: &Offers) -> Option<Offer> {
        let mut choice = None;
        let mut least = self.identity.unwrap_or(0).max(1);

        for offer in offers.order.iter().filter(|&offer| offers.contains(offer)) {
            let weight = self.weight(offer);
            if weight >= least {
                choice = Some(offer);
                least = weight + 1;
            }
        }
        choice
    }

    /// Is the coding acceptable to the client, wherever it stands among the others?
    pub fn accepts(&self, offer: Offer) -> bool {
        self.weight(offer) > 0
    }

    fn weight(&self, offer: Offer) -> Weight {
        let listed = match offer {
            Offer::Encode(Coding::Zstd) => self.zstd,
            Offer::Encode(Coding::Brotli) => self.brotli,
            Offer::Gzip => self.gzip,
        };
        listed.or(self.any).unwrap_or(0)
    }

    fn entry(&mut self, token: &[u8]) -> Option<&mut Option<Weight>> {
        let is = |name: &str| token.eq_ignore_ascii_case(name.as_bytes());
        match token.len() {
            1 if is("*") => Some(&mut self.any),
            2 if is(Coding::Brotli.token()) => Some(&mut self.brotli),
            4 if is(Coding::Zstd.token()) => Some(&mut self.zstd),
            4 if is("gzip") => Some(&mut self.gzip),
            6 if is("x-gzip") => Some(&mut self.gzip),
            8 if is("identity") => Some(&mut self.identity),
            _ => None,
        }
    }
}

/// `[ OWS ";" OWS "q=" qvalue ]`; `None` if it is anything else.
fn weight(parameters: &[u8]) -> Option<Weight> {
    match trim(parameters) {
        [] => Some(1000),
        [b';', weight @ ..] => match trim(weight) {
            [b'q' | b'Q', b'=', qvalue @ ..] => parse_qvalue(qvalue),
            _ => None,
        },
        _ => None,
    }
}

/// `( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3"0" ] )`
pub(crate) fn parse_qvalue(text: &[u8]) -> Option<Weight> {
    let (unit, decimals) = match text {
        [unit @ (b'0' | b'1')] => (unit, &[][..]),
        [unit @ (b'0' | b'1'), b'.', decimals @ ..] if decimals.len() <= 3 => (unit, decimals),
        _ => return None,
    };

    let mut value = Weight::from(unit - b'0') * 1000;
    for (digit, scale) in decimals.iter().zip([100, 10, 1]) {
        if !digit.is_ascii_digit() {
            return None;
        }
        value += Weight::from(digit - b'0') * scale;
    }
    (value <= 1000).then_some(value)
}
