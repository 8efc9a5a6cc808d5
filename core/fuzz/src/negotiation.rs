//! `Accept-Encoding`: the choice is that of the simple implementation, and never a coding that was not asked for.
//!
//! An input is a byte, which says what is offered and in which order, and the lines of the field.

use crate::negotiate_support::{naive, real};

const ORDERS: [[&str; 3]; 6] = [
    ["zstd", "br", "gzip"],
    ["zstd", "gzip", "br"],
    ["br", "zstd", "gzip"],
    ["br", "gzip", "zstd"],
    ["gzip", "zstd", "br"],
    ["gzip", "br", "zstd"],
];

/// One case.
pub fn run(data: &[u8]) {
    let Some((&choice, field)) = data.split_first() else { return };
    let order = ORDERS[usize::from(choice >> 3) % 6];
    let offered: Vec<&str> = (0..3).filter(|bit| choice >> bit & 1 == 0).map(|bit| order[bit]).collect();
    let lines: Vec<Vec<u8>> = field.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();

    let chosen = real(&lines, &order, &offered);
    assert_eq!(chosen, naive(&lines, &order, &offered));
    let Some(coding) = chosen else { return };
    assert!(offered.contains(&coding.as_str()), "only what is offered is chosen");
    assert!(names(field, &coding) || field.contains(&b'*'), "only what is named is chosen");

    // At the beginning, where no quoted string is open.
    let refusal = format!("{coding};q=0").into_bytes();
    let refused = [vec![refusal], lines.clone()].concat();
    assert_ne!(
        real(&refused, &order, &offered).as_ref(),
        Some(&coding),
        "what has a weight of 0 is not chosen"
    );

    let alone = real(&lines, &order, &[&coding]);
    assert_eq!(alone.as_ref(), Some(&coding), "what is not chosen does not matter");
}

fn names(field: &[u8], coding: &str) -> bool {
    field.windows(coding.len()).any(|part| part.eq_ignore_ascii_case(coding.as_bytes()))
}
