//! The bodies: the beginnings of three long ones.

use std::fs;

use harness::corpus;
use tempfile::TempDir;

/// The longest body.
pub const LONGEST: usize = 20_000_000;

/// The lengths of files.
pub const FILES: [usize; 15] = [
    0, 1, 19, 20, 300, 2_000, 12_345, 65_536, 100_000, 262_144, 1_048_576, 1_300_000, 3_000_001, 8_388_608,
    LONGEST,
];

/// What a body is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Json,
    Noise,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Text, Self::Json, Self::Noise];

    /// The extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Noise => "bin",
        }
    }

    /// The media type that the upstream server says.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Json => "application/json",
            Self::Noise => "application/octet-stream",
        }
    }
}

/// The three long bodies.
pub struct Catalog([Vec<u8>; 3]);

impl Catalog {
    pub fn make() -> Self {
        // A million bytes over and over are out of reach of most windows.
        let mut json = corpus::json(1_000_000).repeat(LONGEST / 1_000_000 + 1);
        json.truncate(LONGEST);
        Self([corpus::text(LONGEST), json, corpus::random(LONGEST)])
    }

    /// The body of this kind and length.
    pub fn body(&self, kind: Kind, length: usize) -> &[u8] {
        &self.0[kind as usize][..length]
    }

    /// Writes the files `LENGTH.KIND` into a directory.
    pub fn write(&self) -> TempDir {
        let dir =
            tempfile::Builder::new().prefix("torture-").tempdir().expect("making a temporary directory");
        for kind in Kind::ALL {
            for length in FILES {
                let name = format!("{length}.{}", kind.name());
                fs::write(dir.path().join(name), self.body(kind, length)).expect("writing a file");
            }
        }
        fs::write(dir.path().join("tail.txt"), TAIL).expect("writing a file");
        dir
    }
}

/// What a sub-request adds to some bodies.
pub const TAIL: &[u8] = b"and that was all of it, except for this.\n";
