//! The frame headers of `.zst` files, by hand and by libzstd.

use std::io;

use compress_core::{
    codec::Coding,
    sidecar::{Frame, HEADER_MAX, Head, SidecarError, check, head},
};
use proptest::{collection::vec, prelude::*};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes after the magic number, and the window and dictionary they declare; `None` if more is needed.
type Header = (&'static [u8], Option<(u64, Option<u32>)>);

#[rustfmt::skip]
const HEADERS: &[Header] = &[
    (&[0x00, 0x00], Some((1 << 10, None))),
    (&[0x00, 0x68], Some((8 << 20, None))),
    (&[0x00, 0x69], Some((9 << 20, None))),
    (&[0x00, 0x70], Some((16 << 20, None))),
    (&[0x00, 0x88], Some((128 << 20, None))),
    (&[0x00, 0xff], Some(((1 << 41) / 8 * 15, None))),
    (&[0x04, 0x68], Some((8 << 20, None))),
    (&[0x10, 0x68], Some((8 << 20, None))),
    (&[0x20, 0x00], Some((0, None))),
    (&[0x20, 0xff], Some((255, None))),
    (&[0x60, 0x00, 0x00], Some((256, None))),
    (&[0x60, 0xff, 0xff], Some((65_791, None))),
    (&[0xa0, 0x00, 0x00, 0x80, 0x00], Some((8 << 20, None))),
    (&[0xa0, 0x01, 0x00, 0x80, 0x00], Some(((8 << 20) + 1, None))),
    (&[0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Some((u64::MAX, None))),
    (&[0x40, 0x50, 0x00, 0x00], Some((1 << 20, None))),
    (&[0xc0, 0x50, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Some((1 << 20, None))),
    (&[0x01, 0x50, 0x07], Some((1 << 20, Some(7)))),
    (&[0x01, 0x50, 0x00], Some((1 << 20, None))),
    (&[0x02, 0x50, 0x07, 0x01], Some((1 << 20, Some(263)))),
    (&[0x03, 0x50, 0x01, 0x02, 0x03, 0x04], Some((1 << 20, Some(0x0403_0201)))),
    (&[0x21, 0x07, 0x63], Some((99, Some(7)))),
    (&[0xe3, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0], Some((5, Some(1)))),
    (&[0xc3, 0x50, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0], Some((1 << 20, Some(1)))),
    (&[], None),
    (&[0x00], None),
    (&[0x20], None),
    (&[0x60, 0x00], None),
    (&[0x01, 0x50], None),
    (&[0x40, 0x50, 0x00], None),
    (&[0xe0, 0, 0, 0, 0, 0, 0, 0], None),
];

#[test]
fn headers() {
    for &(header, expected) in HEADERS {
        let expected = match expected {
            Some((window, dictionary)) => Head::Frame(Frame { window, dictionary }),
            None => Head::Seek(0),
        };
        let bytes = [&MAGIC, header].concat();
        assert!(bytes.len() <= HEADER_MAX);
        assert_eq!(head(&bytes).unwrap(), expected, "{header:02x?}");

        // Behind a skippable frame all is the same, or 11 bytes further.
        let behind = [&skippable(0, 3), &bytes[..]].concat();
        let expected = if expected == Head::Seek(0) { Head::Seek(11) } else { expected };
        assert_eq!(head(&behind).unwrap(), expected, "{header:02x?}");
    }
}

#[test]
fn not_zstd() {
    for bytes in [
        &b"plain text"[..],
        b"\x1f\x8b\x08\x00",
        // The reserved bit.
        b"\x28\xb5\x2f\xfd\x08\x00\x00",
        // Magic numbers: of version 0.7, of a dictionary, of no skippable frame.
        b"\x27\xb5\x2f\xfd\x00\x00",
        b"\x37\xa4\x30\xec\x00\x00",
        b"\x60\x2a\x4d\x18\x00\x00\x00\x00",
    ] {
        assert!(matches!(head(bytes), Err(SidecarError::NotZstd)), "{bytes:02x?}");
        assert!(matches!(check_bytes(bytes), Err(SidecarError::NotZstd)), "{bytes:02x?}");
    }
}

#[test]
fn skippable_frames() {
    let frame = Coding::Zstd.empty().to_vec();
    let seek = |bytes: &[u8]| match head(bytes) {
        Ok(Head::Seek(offset)) => offset,
        other => panic!("{other:?}"),
    };
    assert_eq!(seek(&[]), 0);
    assert_eq!(seek(&MAGIC[..3]), 0);
    assert_eq!(seek(&skippable(15, 0)[..7]), 0);
    assert_eq!(seek(&skippable(15, 0)), 8);
    assert_eq!(seek(&skippable(1, 1000)[..HEADER_MAX]), 1008);
    assert_eq!(seek(&[skippable(1, 4), skippable(2, 70_000)].concat()[..30]), 70_020);
    assert_eq!(seek(&[&skippable(0, 0)[..4], &[0xff; 4]].concat()), 8 + u64::from(u32::MAX));

    for count in 0..=16 {
        let file = [skippable(3, 100).repeat(count), frame.clone()].concat();
        assert!(check_bytes(&file).is_ok(), "{count}");
    }
    for file in [skippable(3, 100).repeat(17), skippable(0, 100), skippable(0, 0), vec![]] {
        assert!(matches!(check_bytes(&file), Err(SidecarError::NotZstd)));
    }
    let many = [skippable(3, 100).repeat(1000), frame].concat();
    assert!(matches!(check_bytes(&many), Err(SidecarError::NotZstd)), "the search has a limit");
}

/// How files begin that libzstd 1.5.7 wrote: the level or parameter, and the window or the refusal.
#[rustfmt::skip]
const FILES: &[(&str, &[u8], Result<u64, u64>)] = &[
    ("1, from a pipe", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x48, 0x51, 0x00], Ok(1 << 19)),
    ("3, from a pipe", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x51, 0x00], Ok(1 << 21)),
    ("19, from a pipe", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68, 0x51, 0x00], Ok(8 << 20)),
    ("20, from a pipe", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x78, 0x51, 0x00], Err(32 << 20)),
    ("22, from a pipe", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x51, 0x00], Err(128 << 20)),
    ("windowLog 24", &[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x51, 0x00], Err(16 << 20)),
    ("3, 100 bytes", &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x64, 0x45, 0x00], Ok(100)),
    ("3, 1000 bytes", &[0x28, 0xb5, 0x2f, 0xfd, 0x60, 0xe8, 0x02, 0x4d], Ok(1000)),
    ("22, 8 MiB", &[0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0x00, 0x00, 0x80, 0x00, 0x4c], Ok(8 << 20)),
    ("22, 8 MiB and 1", &[0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0x01, 0x00, 0x80, 0x00, 0x4c], Err((8 << 20) + 1)),
    ("3, 8 MiB and 1", &[0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x58, 0x01, 0x00, 0x80, 0x00, 0x54], Ok(1 << 21)),
];

#[test]
fn by_libzstd() {
    for &(how, file, expected) in FILES {
        let window = match check_bytes(file) {
            Ok(frame) => Ok(frame.window),
            Err(SidecarError::Window(window)) => Err(window),
            Err(other) => panic!("{how}: {other}"),
        };
        assert_eq!(window, expected, "{how}");
    }
}

#[test]
fn read_errors() {
    let refused = check(|_, _| Err(io::Error::other("disk")));
    assert!(matches!(&refused, Err(SidecarError::Read(_))));
    assert_eq!(refused.unwrap_err().to_string(), "cannot be read: disk");
    assert_eq!(
        SidecarError::Window(16 << 20).to_string(),
        "declares a window of 16777216 bytes, but browsers refuse more than 8388608: \
         compress it with a window log of at most 23"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing panics or goes on for ever, and a prefix shows either the same or that more is needed.
    #[test]
    fn any_bytes(start in 0..3_usize, rest in vec(any::<u8>(), 0..40), cut in 0..50_usize) {
        let start = [vec![], MAGIC.to_vec(), skippable(0, 2)][start].clone();
        let file = [start, rest].concat();
        check_bytes(&file).ok();
        if let (Ok(whole), Ok(Head::Frame(part))) = (head(&file), head(&file[..cut.min(file.len())])) {
            prop_assert_eq!(whole, Head::Frame(part));
        }
    }
}

fn check_bytes(file: &[u8]) -> Result<Frame, SidecarError> {
    check(|buffer, offset| {
        let rest = usize::try_from(offset).ok().and_then(|offset| file.get(offset..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    })
}

fn skippable(kind: u8, size: u32) -> Vec<u8> {
    let mut frame = vec![0x50 | kind, 0x2a, 0x4d, 0x18];
    frame.extend(size.to_le_bytes());
    frame.resize(8 + size as usize, 0);
    frame
}
