//! Lines, words and numbers of text files, and excerpts of them for errors.
//!
//! Files are read as bytes, because names and comments need not be UTF-8.

/// Maximum number of characters of the file that an error repeats.
const MAX_QUOTED: usize = 40;

/// The first line, and what follows its end (LF, CRLF or CR); `None` if nothing is left.
pub(crate) fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    let rest = match rest {
        [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
        [] => rest,
    };
    Some((line, rest))
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// The number in a word, if it is one.
pub(crate) fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The start of a text, for an error.
pub(crate) fn quote(text: &[u8]) -> String {
    // A character has at most four bytes, and one more character shows that there are more.
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * MAX_QUOTED + 1)]);
    let mut chars = start
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut quoted: String = chars.by_ref().take(MAX_QUOTED).collect();
    if chars.next().is_some() {
        quoted.push('…');
    }
    quoted
}
