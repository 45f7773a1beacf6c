//! Hybrid-36, the encoding of serial and residue numbers that exceed the columns of a PDB file.
//!
//! A field of `w` columns contains, in ascending order,
//!
//! 1. decimal numbers, `-9…9` to `99…9`,
//! 2. base 36 with upper-case letters, `A0…0` to `ZZ…Z`,
//! 3. base 36 with lower-case letters, `a0…0` to `zz…z`.
//!
//! Decimal numbers keep their meaning, and a serial number of five columns can be up to
//! 87,440,031 instead of 99,999.

use std::io::Write;

/// Maximum number of columns of a field; the PDB format uses 4 and 5.
const MAX_WIDTH: usize = 8;

/// The number in `field`, or `None` if it is not a hybrid-36 number of `width` columns.
///
/// Decimal numbers may have spaces on both sides; base-36 numbers fill the field.
pub(crate) fn decode(field: &[u8], width: usize) -> Option<i64> {
    if width == 0 || width > MAX_WIDTH || field.len() > width {
        return None;
    }
    let text = field.trim_ascii();
    match text.first()? {
        b'-' | b'0'..=b'9' => std::str::from_utf8(text).ok()?.parse().ok(),
        b'A'..=b'Z' if text.len() == width => base36(text, b'A').map(|n| n + upper_offset(width)),
        b'a'..=b'z' if text.len() == width => base36(text, b'a').map(|n| n + lower_offset(width)),
        _ => None,
    }
}

/// Writes `value` right-justified into `out`, whose length is the width of the field.
///
/// Returns `None` and does not change `out` if the number does not fit.
pub(crate) fn encode(value: i64, mut out: &mut [u8]) -> Option<()> {
    let width = out.len();
    if width == 0 || width > MAX_WIDTH || value > max_value(width) {
        return None;
    }
    if value < power(10, width) {
        let fits = value > -power(10, width - 1);
        return fits.then(|| write!(out, "{value:width$}").ok()).flatten();
    }
    let (mut rest, letters) = if value < power(10, width) + 26 * power(36, width - 1) {
        (value - upper_offset(width), b'A')
    } else {
        (value - lower_offset(width), b'a')
    };
    for column in out.iter_mut().rev() {
        let digit = (rest % 36) as u8;
        *column = if digit < 10 {
            b'0' + digit
        } else {
            letters + digit - 10
        };
        rest /= 36;
    }
    Some(())
}

/// Largest number that fits into `width` columns.
pub(crate) const fn max_value(width: usize) -> i64 {
    power(10, width) + 52 * power(36, width - 1) - 1
}

const fn power(base: i64, exponent: usize) -> i64 {
    base.pow(exponent as u32)
}

/// Offset of the base-36 value of an upper-case field: `A0…0` is 10 · 36^(w−1) in base 36 and
/// encodes 10^w.
const fn upper_offset(width: usize) -> i64 {
    power(10, width) - 10 * power(36, width - 1)
}

/// Offset of a lower-case field: `a0…0` follows `ZZ…Z`, 26 · 36^(w−1) numbers later.
const fn lower_offset(width: usize) -> i64 {
    upper_offset(width) + 26 * power(36, width - 1)
}

/// Base-36 value of `text` with letters from `letters` (`A` or `a`).
fn base36(text: &[u8], letters: u8) -> Option<i64> {
    text.iter().try_fold(0, |value, &byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            _ if (letters..letters + 26).contains(&byte) => byte - letters + 10,
            _ => return None,
        };
        Some(value * 36 + i64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: i64, width: usize) -> Option<String> {
        let mut out = vec![b'#'; width];
        encode(value, &mut out)?;
        String::from_utf8(out).ok()
    }

    #[test]
    fn numbers_match_the_specification() {
        let known: [(usize, i64, &str); 18] = [
            (4, -999, "-999"),
            (4, -1, "  -1"),
            (4, 0, "   0"),
            (4, 9_999, "9999"),
            (4, 10_000, "A000"),
            (4, 10_035, "A00Z"),
            (4, 1_223_055, "ZZZZ"),
            (4, 1_223_056, "a000"),
            (4, 2_436_111, "zzzz"),
            (5, -9_999, "-9999"),
            (5, 1, "    1"),
            (5, 99_999, "99999"),
            (5, 100_000, "A0000"),
            (5, 100_010, "A000A"),
            (5, 100_036, "A0010"),
            (5, 43_770_015, "ZZZZZ"),
            (5, 43_770_016, "a0000"),
            (5, 87_440_031, "zzzzz"),
        ];
        for (width, value, spelling) in known {
            assert_eq!(text(value, width).as_deref(), Some(spelling));
            assert_eq!(decode(spelling.as_bytes(), width), Some(value));
        }
        assert_eq!(max_value(4), 2_436_111);
        assert_eq!(max_value(5), 87_440_031);
    }

    #[test]
    fn every_number_of_four_columns_round_trips() {
        let mut out = [0; 4];
        for value in -999..=max_value(4) {
            encode(value, &mut out).unwrap();
            assert_eq!(decode(&out, 4), Some(value));
        }
    }

    #[test]
    fn numbers_of_five_columns_round_trip() {
        let mut out = [0; 5];
        let boundaries = [-9_999, 0, 99_999, 43_770_015, 87_440_031];
        let near = boundaries.iter().flat_map(|b| b - 2_000..=b + 2_000);
        let between = (0..=max_value(5)).step_by(997);
        for value in near
            .chain(between)
            .filter(|v| (-9_999..=max_value(5)).contains(v))
        {
            encode(value, &mut out).unwrap();
            assert_eq!(decode(&out, 5), Some(value));
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_rejected() {
        for (width, value) in [
            (4, -1_000),
            (4, 2_436_112),
            (5, -10_000),
            (5, 87_440_032),
            (5, i64::MIN),
            (5, i64::MAX),
        ] {
            let mut out = vec![b'#'; width];
            assert_eq!(encode(value, &mut out), None);
            assert!(out.iter().all(|&byte| byte == b'#'));
        }
        assert_eq!(encode(0, &mut []), None);
    }

    #[test]
    fn decimal_numbers_can_be_aligned_left_right_or_centered() {
        assert_eq!(decode(b"12   ", 5), Some(12));
        assert_eq!(decode(b"   12", 5), Some(12));
        assert_eq!(decode(b" -12 ", 5), Some(-12));
        assert_eq!(decode(b"00012", 5), Some(12));
        // A truncated line.
        assert_eq!(decode(b" 12", 4), Some(12));
    }

    #[test]
    fn invalid_numbers_are_rejected() {
        for field in [
            "     ", "", "-", " -   ", "--1", "1 2", "1A", "12.5", "A00", " A000", "A0a00",
            "aA000", "*****", "A0-00", "+1", "A000é", "123456",
        ] {
            assert_eq!(decode(field.as_bytes(), 5), None, "{field:?}");
        }
        assert_eq!(decode(b"1", 0), None);
        assert_eq!(decode(b"1", 100), None);
    }
}
