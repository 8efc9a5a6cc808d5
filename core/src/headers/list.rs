//! Lists in field values (RFC 9110, 5.6.1), the same for every field that is one.

/// The elements of a field's lines, which count as one list (RFC 9110, 5.3). They come without the white space
/// around them; empty ones are skipped.
pub(crate) fn elements<'a, I>(lines: I) -> Elements<'a, I::IntoIter>
where
    I: IntoIterator<Item = &'a [u8]>,
{
    Elements { lines: lines.into_iter(), rest: None, quoted: false }
}

/// See [`elements`].
pub(crate) struct Elements<'a, I> {
    lines: I,
    /// What is left of the line at hand; `None` when it is used up.
    rest: Option<&'a [u8]>,
    /// Whether a quoted string is open. It may stay so from one line to the next: joined with a comma, as a
    /// cache may do, the lines must mean the same.
    quoted: bool,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Iterator for Elements<'a, I> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = match self.rest {
                Some(rest) => rest,
                None => self.lines.next()?,
            };

            let inside_string = self.quoted;
            let (element, rest) = split(rest, &mut self.quoted);
            self.rest = rest;

            let element = trim(element);
            if !inside_string && !element.is_empty() {
                return Some(element);
            }
        }
    }
}

/// Splits at the first comma that is not in a quoted string (RFC 9110, 5.6.4).
fn split<'a>(line: &'a [u8], quoted: &mut bool) -> (&'a [u8], Option<&'a [u8]>) {
    let mut escaped = false;

    for (at, &byte) in line.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'"' => *quoted = !*quoted,
            b'\\' if *quoted => escaped = true,
            b',' if !*quoted => return (&line[..at], Some(&line[at + 1..])),
            _ => {}
        }
    }

    (line, None)
}

/// Splits an element into the token that it begins with, which may be empty, and what follows.
pub(crate) fn split_token(element: &[u8]) -> (&[u8], &[u8]) {
    let end = element.iter().position(|&byte| !is_token(byte)).unwrap_or(element.len());
    element.split_at(end)
}

/// `tchar` of RFC 9110, 5.6.2.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

/// Without the optional white space around it: SP and HTAB, nothing else (RFC 9110, 5.6.3).
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}
