//! What the configuration says, and fields that are lists.
//!
//! An input is a byte, which says what is read, and what is read.

use arbitrary::{Result, Unstructured};
use compress_core::codec::{
    Coding, Dictionary, End, Segment, Settings, brotli_window_log, parse_level, window_for,
};
use compress_core::eligible::Statuses;
use compress_core::headers::{brotli_ratio, zstd_ratio};
use compress_core::negotiate::Order;
use compress_core::plan;
use compress_core::sidecar::{self, Head};

use crate::fields;

/// One case.
pub fn run(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else { return };
    match kind % 10 {
        0 => statuses(text),
        1 => order(text),
        2 => level(text),
        3 => fields::tags(text),
        4 => fields::vary(text),
        5 => fields::no_transform(text),
        6 => fields::frame(text),
        7 => dictionary(text),
        8 => drop(sizes(&mut Unstructured::new(text))),
        _ => drop(ratios(&mut Unstructured::new(text))),
    }
}

/// The arguments of a directive, as NGINX passes them on: never empty in number.
fn arguments(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b' ').collect()
}

fn statuses(text: &[u8]) {
    let mut statuses = Statuses::empty();
    let good: Vec<&[u8]> =
        arguments(text).into_iter().filter(|argument| statuses.add(argument).is_ok()).collect();
    for code in 0..=u16::MAX {
        let named = |argument: &&[u8]| {
            let digits = code.to_string();
            *argument == digits.as_bytes() || **argument == [digits.as_bytes()[0], b'x', b'x']
        };
        let expected =
            (200..=599).contains(&code) && ![204, 205, 206, 304].contains(&code) && good.iter().any(named);
        assert_eq!(statuses.contains(code), expected, "{code}");
    }
}

fn order(text: &[u8]) {
    let tokens = arguments(text);
    let names: Vec<String> =
        tokens.iter().map(|token| String::from_utf8_lossy(token).to_ascii_lowercase()).collect();
    let is_known = |name: &String| ["zstd", "br", "gzip"].contains(&name.as_str());
    let is_once = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    match Order::from_tokens(tokens.iter().copied()) {
        Ok(order) => {
            let all: Vec<&str> = order.iter().map(|offer| offer.token()).collect();
            assert!(names.iter().zip(&all).all(|(name, token)| name == token));
            assert!(names.iter().all(is_known) && names.len() <= 3);
            assert!(["zstd", "br", "gzip"].iter().all(|name| all.contains(name)));
        }
        Err(error) => {
            assert!(!names.iter().all(|name| is_known(name) && is_once(name)), "{error}");
        }
    }
}

fn level(text: &[u8]) {
    for (coding, low, high) in [(Coding::Brotli, 0, 11), (Coding::Zstd, -131_072, 22)] {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i128>().ok());
        let is_plain = !text.starts_with(b"+") && (coding == Coding::Zstd || !text.starts_with(b"-"));
        let expected = number.filter(|level| {
            is_plain && (low..=high).contains(level) && (*level != 0 || coding == Coding::Brotli)
        });
        assert_eq!(parse_level(coding, text).ok().map(i128::from), expected, "{coding:?}");
    }
}

/// Any file may be named as a dictionary.
fn dictionary(text: &[u8]) {
    let Some((&level, file)) = text.split_first() else { return };
    let level = i32::from(level % 26) - 3;
    let Ok(dictionary) = Dictionary::new(file, level) else { return };
    let settings =
        Settings { coding: Coding::Zstd, level, window_log: 17, dictionary: Some(dictionary.clone()) };
    let segment = Segment { offset: 0, length: Some(file.len() as u64), end: End::Finish };
    let mut encoder = Coding::Zstd.encoder();
    let mut frame = Vec::new();
    encoder
        .encode(&settings, &segment, file, 0, &mut frame, &|| false)
        .expect("a dictionary that was taken serves");
    let Ok(Head::Frame(head)) = sidecar::head(&frame) else { panic!("no frame") };
    assert_eq!(head.dictionary, dictionary.id().map(u32::from));
}

fn sizes(u: &mut Unstructured) -> Result<()> {
    let bytes: usize = u.arbitrary()?;
    let window = brotli_window_log(bytes);
    assert_eq!(window.is_some(), (10..=24).any(|log| bytes == 1 << log));

    let coding = *u.choose(&[Coding::Brotli, Coding::Zstd])?;
    let level = u.int_in_range(-131_072..=22)?;
    let (configured, length): (Option<u32>, Option<u64>) = (u.arbitrary()?, u.arbitrary()?);
    let window_log = window_for(coding, level, configured, length);
    assert!((10..=if coding == Coding::Zstd { 23 } else { 24 }).contains(&window_log));

    let (length, segment) = (u.arbitrary::<u64>()? >> 1, u.int_in_range(64 << 10..=16 << 20)?);
    let part = plan::part(length, segment, u.int_in_range(0..=64)?);
    assert!(part <= length && (length == 0 || part > 0) && (part <= segment + segment / 4 || length == part));
    assert!(plan::serial(length, segment) <= 2 * segment);
    assert!(plan::history(coding, level, window_log, segment) <= 1 << window_log);
    plan::is_small(coding, level, length);
    Ok(())
}

fn ratios(u: &mut Unstructured) -> Result<()> {
    let (before, after): (u64, u64) = (u.arbitrary()?, u.arbitrary()?);
    for ratio in [brotli_ratio(before, after), zstd_ratio(before, after)] {
        assert_eq!(ratio.is_some(), after > 0);
        if let Some(ratio) = ratio {
            let expected = before as f64 / after as f64;
            assert!((ratio.parse::<f64>().unwrap() - expected).abs() <= 0.01 + expected * 1e-9, "{ratio}");
        }
    }
    Ok(())
}
