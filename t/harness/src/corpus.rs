//! Bodies to compress, the same in every run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::locate;

/// A generator of pseudo-random numbers (xorshift64*): the bodies need no better.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.number() >> 32) as usize) % limit
    }
}

/// Bytes that do not compress.
pub fn random(len: usize) -> Vec<u8> {
    let mut random = Random::new(1);
    let mut bytes: Vec<u8> = (0..len.div_ceil(8)).flat_map(|_| random.number().to_le_bytes()).collect();
    bytes.truncate(len);
    bytes
}

/// Prose of made-up words, some of them much more frequent than others; compresses about as English does.
pub fn text(len: usize) -> Vec<u8> {
    const SYLLABLES: [&str; 16] =
        ["re", "na", "ti", "con", "de", "lo", "ver", "sa", "men", "pro", "i", "ter", "us", "ka", "el", "or"];
    let mut random = Random::new(2);
    let words: Vec<String> = (0..2000)
        .map(|_| (0..1 + random.below(4)).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect())
        .collect();
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        // The product of two uniform numbers favours the first words.
        let word = &words[random.below(words.len()) * random.below(words.len()) / words.len()];
        text.extend_from_slice(word.as_bytes());
        let end: &[u8] = match random.below(60) {
            0 => b".\n",
            1..4 => b", ",
            _ => b" ",
        };
        text.extend_from_slice(end);
    }
    text.truncate(len);
    text
}

/// Records as an API sends them.
pub fn json(len: usize) -> Vec<u8> {
    const STATES: [&str; 4] = ["open", "closed", "waiting for review", "draft"];
    let mut random = Random::new(3);
    let mut json = String::from("[");
    for id in 0.. {
        if json.len() >= len {
            break;
        }
        let state = STATES[random.below(STATES.len())];
        let (user, price, flag) = (random.below(500), random.below(100_000), random.below(2) == 0);
        json.push_str(&format!(
            "{{\"id\":{id},\"user\":\"user-{user}\",\"state\":\"{state}\",\"price\":{price},\"public\":{flag},\
             \"token\":\"{:016x}\"}},\n",
            random.number()
        ));
    }
    json.truncate(len);
    json.into_bytes()
}

/// The sources of NGINX in the order of their names, from the start again if they are shorter than `len`.
pub fn nginx_source_text(len: usize) -> Vec<u8> {
    let mut files = Vec::new();
    collect(&locate::nginx_sources(), &mut files);
    files.sort();
    let mut text = Vec::with_capacity(len);
    for path in files.iter().cycle() {
        text.extend(fs::read(path).expect("reading a source of NGINX"));
        if text.len() >= len {
            break;
        }
    }
    text.truncate(len);
    text
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("listing the sources of NGINX").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "c" || ext == "h") {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_exact_and_beginnings_agree() {
        for make in [random, text, json] {
            assert_eq!(make(0), b"");
            assert_eq!(make(1001).len(), 1001);
            assert_eq!(make(5000)[..1001], make(1001));
        }
    }
}
