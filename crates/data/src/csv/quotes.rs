//! Cells and records of a text that may have quotes.

use memchr::{memchr, memchr2};

/// The length of a blank line, or 0.
#[inline]
pub(super) fn blank_line(text: &[u8]) -> usize {
    match text {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

/// The cell at `at`, and where its comma or line end is. `None` if a quoted cell does not end, or goes on after its
/// closing quote. Quotes inside an unquoted cell are ordinary text.
///
/// `text` ends with a line end. `scratch` is left with something in it if the cell was quoted.
#[inline]
pub(super) fn cell<'t>(
    text: &'t [u8],
    at: usize,
    delimiter: u8,
    scratch: &'t mut Vec<u8>,
) -> Option<(&'t [u8], usize)> {
    if text[at] == b'"' {
        return quoted_cell(text, at + 1, delimiter, scratch);
    }
    let rest = &text[at..];
    // Cells are short: the first bytes are looked at one by one.
    let short = rest.iter().take(16).position(|byte| *byte == delimiter || *byte == b'\n');
    let length = short.or_else(|| memchr2(delimiter, b'\n', rest))?;
    // A carriage return before the line end goes with the spaces around the cell.
    Some((&rest[..length], at + length))
}

#[cold]
fn quoted_cell<'t>(
    text: &'t [u8],
    mut at: usize,
    delimiter: u8,
    scratch: &'t mut Vec<u8>,
) -> Option<(&'t [u8], usize)> {
    // A mark that lines must be counted, then the cell.
    scratch.clear();
    scratch.push(b'"');
    loop {
        let length = memchr(b'"', text.get(at..)?)?;
        scratch.extend_from_slice(&text[at..at + length]);
        at += length + 1;
        match text.get(at..)? {
            [b'"', ..] => {
                scratch.push(b'"');
                at += 1;
            }
            [end, ..] if *end == delimiter || *end == b'\n' => return Some((&scratch[1..], at)),
            [b'\r', b'\n', ..] => return Some((&scratch[1..], at + 1)),
            _ => return None,
        }
    }
}

/// The length of the record at the start of `text`, its line end included; `None` if it does not end.
pub(super) fn first_record(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        // Up to the next cell or line that starts with a quote: what is before it has no quoted cell.
        if text.get(at) == Some(&b'"') {
            at += 1;
            loop {
                at += memchr(b'"', text.get(at..)?)? + 1;
                if text.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
        }
        at += memchr2(delimiter, b'\n', text.get(at..)?)?;
        at += 1;
        if text[at - 1] == b'\n' {
            return Some(at);
        }
    }
}
