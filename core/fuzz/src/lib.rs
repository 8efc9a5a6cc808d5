//! What the fuzz targets run (`make fuzz`): bytes are read as a case, which the models of the tests check.

pub mod configuration;
mod fields;
pub mod negotiation;
pub mod segments;
pub mod stream;

#[path = "../../tests/codec_support/mod.rs"]
mod codec_support;
#[path = "../../tests/negotiate_support/mod.rs"]
mod negotiate_support;
#[path = "../../tests/stream_support/mod.rs"]
mod stream_support;
