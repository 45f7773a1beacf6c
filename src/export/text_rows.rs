//! Buffered rows of text, and fast formatting of numbers.

use std::io::{self, Write};

/// Buffer size at which rows are written, bytes.
const FLUSH_AT: usize = 64 * 1024;

/// A buffer of rows in front of a writer, which counts the bytes.
pub(crate) struct TextRows<W: Write> {
    writer: W,
    /// The current row is appended here; [`end_row`](Self::end_row) completes it.
    pub(crate) buffer: Vec<u8>,
    bytes: u64,
}

impl<W: Write> TextRows<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self {
            writer,
            // The last row fits without growing the buffer.
            buffer: Vec::with_capacity(FLUSH_AT + 1024),
            bytes: 0,
        }
    }

    /// Appends text to the row.
    pub(crate) fn push(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Ends the row; writes the buffer if it is full.
    pub(crate) fn end_row(&mut self) -> io::Result<()> {
        self.buffer.push(b'\n');
        if self.buffer.len() >= FLUSH_AT {
            self.write_buffer()?;
        }
        Ok(())
    }

    /// Writes the rest, flushes the writer and returns the number of bytes.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.write_buffer()?;
        self.writer.flush()?;
        Ok(self.bytes)
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// `value` in units of the last decimal, rounded half away from zero.
pub(crate) fn scale(value: f64, decimals: u8) -> i64 {
    (value * 10_f64.powi(i32::from(decimals))).round() as i64
}

/// Writes `scaled`, a number in units of the last decimal, right-justified into `field`.
///
/// Returns the start of the text, or `None` if the field is too narrow. Zero has no sign.
pub(crate) fn write_fixed(field: &mut [u8], scaled: i64, decimals: u8) -> Option<usize> {
    let mut rest = scaled.unsigned_abs();
    let mut start = field.len();
    let mut put = |byte: u8| -> Option<()> {
        start = start.checked_sub(1)?;
        field[start] = byte;
        Some(())
    };
    for _ in 0..decimals {
        put(b'0' + (rest % 10) as u8)?;
        rest /= 10;
    }
    if decimals > 0 {
        put(b'.')?;
    }
    loop {
        put(b'0' + (rest % 10) as u8)?;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if scaled < 0 {
        put(b'-')?;
    }
    Some(start)
}

/// Appends `scaled`, a number in units of the last decimal, to `buffer`.
pub(crate) fn push_fixed(buffer: &mut Vec<u8>, scaled: i64, decimals: u8) {
    // The digits and sign of an i64, a zero per decimal, and the point.
    let mut field = [0; 48];
    if let Some(start) = write_fixed(&mut field, scaled, decimals) {
        buffer.extend_from_slice(&field[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f64, decimals: u8) -> String {
        let mut buffer = Vec::new();
        push_fixed(&mut buffer, scale(value, decimals), decimals);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn numbers_are_rounded_to_the_last_decimal() {
        assert_eq!(text(1.2344, 3), "1.234");
        assert_eq!(text(1.2346, 3), "1.235");
        assert_eq!(text(-1.2346, 3), "-1.235");
        assert_eq!(text(0.9996, 3), "1.000");
        assert_eq!(text(-9.9996, 3), "-10.000");
        assert_eq!(text(12.5, 0), "13");
        assert_eq!(text(0.000_001, 6), "0.000001");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(text(-0.0, 3), "0.000");
        assert_eq!(text(-0.0004, 3), "0.000");
        assert_eq!(text(-0.0006, 3), "-0.001");
    }

    #[test]
    fn numbers_match_the_standard_library() {
        let mut state = 1_u64;
        for _ in 0..100_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Multiples of 1/256 have exact ties only at x.xxx5.
            let value = (state >> 40) as f64 / 256.0 - 32_768.0;
            let expected = format!("{value:.3}");
            if (value * 1000.0).fract().abs() != 0.5 {
                assert_eq!(text(value, 3), expected);
            }
        }
    }

    #[test]
    fn narrow_fields_are_rejected() {
        let mut field = [b' '; 8];
        assert_eq!(write_fixed(&mut field, 9_999_999, 3), Some(0));
        assert_eq!(&field, b"9999.999");
        assert_eq!(write_fixed(&mut field, 10_000_000, 3), None);
        assert_eq!(write_fixed(&mut field, -999_999, 3), Some(0));
        assert_eq!(&field, b"-999.999");
        assert_eq!(write_fixed(&mut field, -1_000_000, 3), None);
    }

    #[test]
    fn extreme_integers_are_written() {
        assert_eq!(text(f64::INFINITY, 0), i64::MAX.to_string());
        let mut buffer = Vec::new();
        push_fixed(&mut buffer, i64::MIN, 6);
        assert_eq!(buffer, b"-9223372036854.775808");
    }

    #[test]
    fn all_rows_are_written_and_counted() {
        let mut out = Vec::new();
        let mut rows = TextRows::new(&mut out);
        for _ in 0..20_000 {
            rows.push("0123456");
            rows.end_row().unwrap();
        }
        assert_eq!(rows.finish().unwrap(), 160_000);
        assert_eq!(out.len(), 160_000);
    }
}
