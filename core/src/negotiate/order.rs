//! The order in which the server prefers codings: `compress_order`.

use std::fmt;

use crate::codec::Coding;

/// A coding that a response can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offer {
    /// One of this module's.
    Encode(Coding),
    /// `gzip`, which is left to NGINX's own filter.
    Gzip,
}

impl Offer {
    /// The token of `Content-Encoding` and `Accept-Encoding`.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Encode(coding) => coding.token(),
            Self::Gzip => "gzip",
        }
    }
}

/// All codings, the preferred first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order([Offer; 3]);

impl Default for Order {
    fn default() -> Self {
        Self([Offer::Encode(Coding::Zstd), Offer::Encode(Coding::Brotli), Offer::Gzip])
    }
}

impl Order {
    /// The order of the arguments of `compress_order`; codings that are not among them come last, in default
    /// order.
    ///
    /// # Errors
    /// See [`OrderError`].
    pub fn from_tokens<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, OrderError<'a>> {
        let mut order = Self::default();
        for (listed, token) in tokens.into_iter().enumerate() {
            let at = order
                .iter()
                .position(|offer| token.eq_ignore_ascii_case(offer.token().as_bytes()))
                .ok_or(OrderError::Unknown(token))?;
            if at < listed {
                return Err(OrderError::Duplicate(token));
            }
            order.0[listed..=at].rotate_right(1);
        }
        Ok(order)
    }

    /// The codings, the preferred first.
    pub fn iter(&self) -> impl Iterator<Item = Offer> + use<> {
        self.0.into_iter()
    }
}

/// Why the arguments of `compress_order` are no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderError<'a> {
    /// Not one of the three codings.
    Unknown(&'a [u8]),
    /// Listed before.
    Duplicate(&'a [u8]),
}

impl fmt::Display for OrderError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(token) => {
                write!(f, "invalid value \"{}\", it must be zstd, br or gzip", token.escape_ascii())
            }
            Self::Duplicate(token) => write!(f, "duplicate value \"{}\"", token.escape_ascii()),
        }
    }
}

impl std::error::Error for OrderError<'_> {}
