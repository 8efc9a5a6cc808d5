//! `$brotli_ratio` and `$zstd_ratio`: how many times smaller a body became.

/// The ratio as `$gzip_ratio` has it: rounded half up to 2 decimals. `None` if nothing was sent.
///
/// NGINX looks at the third decimal alone, so that 2.1249 is 2.12 and 2.125 is 2.13.
pub fn brotli_ratio(bytes_in: u64, bytes_out: u64) -> Option<String> {
    let thousandths = thousandths(bytes_in, bytes_out)?;
    let hundredths = (thousandths + 5) / 10;
    Some(format!("{}.{:02}", hundredths / 100, hundredths % 100))
}

/// The ratio with 3 decimals, the others cut off. `None` if nothing was sent.
pub fn zstd_ratio(bytes_in: u64, bytes_out: u64) -> Option<String> {
    let thousandths = thousandths(bytes_in, bytes_out)?;
    Some(format!("{}.{:03}", thousandths / 1000, thousandths % 1000))
}

/// In 128 bits, because the product does not fit in 64 for the largest bodies.
fn thousandths(bytes_in: u64, bytes_out: u64) -> Option<u128> {
    (u128::from(bytes_in) * 1000).checked_div(u128::from(bytes_out))
}
