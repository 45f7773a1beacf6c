//! Rows of text on their way to a writer, and numbers without `format!`.

use std::io::{self, Write};

/// Bytes that are gathered before they go to the writer.
const FLUSH_AT: usize = 64 * 1024;

/// A buffer in front of a writer that counts what goes through.
pub(super) struct TextSink<W: Write> {
    writer: W,
    /// Rows are appended here; [`end_row`](Self::end_row) passes them on.
    pub(super) buffer: Vec<u8>,
    bytes: u64,
}

impl<W: Write> TextSink<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            writer,
            // A row fits behind the mark without growing the buffer.
            buffer: Vec::with_capacity(FLUSH_AT + 1024),
            bytes: 0,
        }
    }

    /// Appends text to the row.
    pub(super) fn put(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Ends the row and passes the buffer on once it is large enough.
    pub(super) fn end_row(&mut self) -> io::Result<()> {
        self.buffer.push(b'\n');
        if self.buffer.len() >= FLUSH_AT {
            self.pass_on()?;
        }
        Ok(())
    }

    /// Passes everything on, flushes the writer and returns the number of bytes.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.pass_on()?;
        self.writer.flush()?;
        Ok(self.bytes)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// `value` as a whole number of the last decimal, halves away from zero.
///
/// What `scaled` means lives in the caller: with three decimals, thousandths.
pub(super) fn scale(value: f64, decimals: u8) -> i64 {
    (value * 10_f64.powi(i32::from(decimals))).round() as i64
}

/// Writes the digits of `scaled` from the right end of `field` to the left, with a
/// point before the last `decimals` digits and a minus if it is negative.
///
/// Returns where the text starts, or nothing if the field is too narrow. Zero has
/// no sign, so `-0.000` cannot come out.
pub(super) fn fixed(field: &mut [u8], scaled: i64, decimals: u8) -> Option<usize> {
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

/// Appends a number with `decimals` decimals to `buffer`.
pub(super) fn push_fixed(buffer: &mut Vec<u8>, scaled: i64, decimals: u8) {
    // 20 characters of a 64-bit number, one zero for each decimal, the point.
    let mut field = [0; 48];
    if let Some(start) = fixed(&mut field, scaled, decimals) {
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
    fn numbers_agree_with_the_standard_library() {
        let mut state = 1_u64;
        for _ in 0..100_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // A multiple of 1/256 has no ties at three decimals but x.xxx5 ones.
            let value = (state >> 40) as f64 / 256.0 - 32_768.0;
            let expected = format!("{value:.3}");
            if (value * 1000.0).fract().abs() != 0.5 {
                assert_eq!(text(value, 3), expected);
            }
        }
    }

    #[test]
    fn a_field_that_is_too_narrow_is_refused() {
        let mut field = [b' '; 8];
        assert_eq!(fixed(&mut field, 9_999_999, 3), Some(0));
        assert_eq!(&field, b"9999.999");
        assert_eq!(fixed(&mut field, 10_000_000, 3), None);
        assert_eq!(fixed(&mut field, -999_999, 3), Some(0));
        assert_eq!(&field, b"-999.999");
        assert_eq!(fixed(&mut field, -1_000_000, 3), None);
    }

    #[test]
    fn the_extremes_of_64_bits_are_written() {
        assert_eq!(text(f64::INFINITY, 0), i64::MAX.to_string());
        let mut buffer = Vec::new();
        push_fixed(&mut buffer, i64::MIN, 6);
        assert_eq!(buffer, b"-9223372036854.775808");
    }

    #[test]
    fn the_sink_counts_and_passes_on_everything() {
        let mut out = Vec::new();
        let mut sink = TextSink::new(&mut out);
        for _ in 0..20_000 {
            sink.put("0123456");
            sink.end_row().unwrap();
        }
        assert_eq!(sink.finish().unwrap(), 160_000);
        assert_eq!(out.len(), 160_000);
    }
}
