//! A second implementation of the negotiation, which is slow and simple and shares nothing with the first: it joins the
//! lines, blanks what is quoted, splits at commas and semicolons, and looks weights up in a list of all.

use std::{collections::HashMap, sync::LazyLock};

use compress_core::negotiate::{Offers, Order, negotiate};

/// What the simple implementation chooses.
pub fn naive(lines: &[Vec<u8>], order: &[&str], offered: &[&str]) -> Option<String> {
    let listed = naive_entries(lines);
    let lowest = |names: &[&str]| {
        listed.iter().filter(|(name, _)| names.contains(&name.as_str())).map(|&(_, weight)| weight).min()
    };

    let mut ranked = Vec::new();
    for (place, &coding) in order.iter().enumerate().filter(|(_, coding)| offered.contains(coding)) {
        let names = if coding == "gzip" { vec!["gzip", "x-gzip"] } else { vec![coding] };
        let weight = lowest(&names).or(lowest(&["*"])).unwrap_or(0);
        ranked.push((weight, 9 - place, Some(coding.to_owned())));
    }
    ranked.push((lowest(&["identity"]).unwrap_or(0), 0, None));
    ranked.retain(|&(weight, ..)| weight > 0);
    ranked.into_iter().max().and_then(|(_, _, coding)| coding)
}

/// The tokens, in lower case, with their weights in thousandths.
fn naive_entries(lines: &[Vec<u8>]) -> Vec<(String, u32)> {
    let mut entries = Vec::new();

    for element in blank_quoted(&lines.join(&b","[..])).split(|&byte| byte == b',') {
        // One character a byte, so that nothing is lost.
        let element: String = element.iter().map(|&byte| char::from(byte)).collect();
        let parts: Vec<&str> = element.split(';').map(|part| part.trim_matches([' ', '\t'])).collect();

        let tchar = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let token: String = parts[0].chars().take_while(|&c| tchar(c)).collect();
        let weight = match parts[1..] {
            _ if token != parts[0] => None,
            [] => Some(1000),
            [weight] => weight.strip_prefix(['q', 'Q']).and_then(|rest| QVALUES.get(rest).copied()),
            _ => None,
        };
        entries.push((token.to_lowercase(), weight.unwrap_or(0)));
    }
    entries
}

/// Every way to write a weight there is, with the "=".
static QVALUES: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut weights = HashMap::new();
    for unit in ["0", "1"] {
        weights.insert(format!("={unit}"), unit.parse::<u32>().unwrap() * 1000);
        weights.insert(format!("={unit}."), unit.parse::<u32>().unwrap() * 1000);
    }
    for thousandths in 0..=1000 {
        let text = format!("={}.{:03}", thousandths / 1000, thousandths % 1000);
        for cut in 0..3 {
            if text[text.len() - cut..].bytes().all(|digit| digit == b'0') {
                weights.insert(text[..text.len() - cut].to_owned(), thousandths);
            }
        }
    }
    weights
});

/// Puts a quote in the place of every byte of a quoted string.
fn blank_quoted(text: &[u8]) -> Vec<u8> {
    let mut blanked = text.to_vec();
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'"' {
            let mut end = at + 1;
            while end < text.len() && text[end] != b'"' {
                end += if text[end] == b'\\' { 2 } else { 1 };
            }
            let end = (end + 1).min(text.len());
            blanked[at..end].fill(b'"');
            at = end;
        } else {
            at += 1;
        }
    }
    blanked
}

/// What the implementation under test chooses.
pub fn real(lines: &[Vec<u8>], order: &[&str], offered: &[&str]) -> Option<String> {
    let order = Order::from_tokens(order.iter().map(|token| token.as_bytes())).unwrap();
    let has = |name| offered.contains(&name);
    let offers = Offers { order, zstd: has("zstd"), brotli: has("br"), gzip: has("gzip") };
    negotiate(lines.iter().map(Vec::as_slice), &offers).map(|offer| offer.token().to_owned())
}
