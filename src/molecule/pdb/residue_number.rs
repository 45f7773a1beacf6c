//! Residue numbers of PDB files, which may exceed their four columns.

use crate::hybrid36;

/// Columns of a residue number.
const WIDTH: usize = 4;

/// Largest residue number in plain decimal digits.
const MAX_DECIMAL: i64 = 9_999;

/// [`MAX_DECIMAL`] + 1 in hexadecimal digits.
const FIRST_HEXADECIMAL: &[u8] = b"2710";

/// Parses the residue numbers of a file in order.
///
/// After 9999 programs write hybrid-36 (`A000`), hexadecimal (`2710`), asterisks, or start again.
/// A leading letter means hybrid-36, a leading digit followed by letters hexadecimal. After a
/// hexadecimal number, full columns stay hexadecimal.
#[derive(Default)]
pub(super) struct ResidueNumbers {
    hexadecimal: bool,
    previous: Option<i64>,
}

impl ResidueNumbers {
    /// The number in `field`, 0 if the field is blank, 10000 if it overflowed to asterisks;
    /// `None` if it is invalid.
    pub(super) fn parse(&mut self, field: &str) -> Option<i32> {
        let bytes = field.as_bytes();
        if bytes.is_empty() {
            return Some(0);
        }
        if bytes.iter().all(|&byte| byte == b'*') {
            return Some(10_000);
        }
        let number = self.decode(bytes)?;
        self.previous = Some(number);
        Some(i32::try_from(number).unwrap_or(i32::MAX))
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<i64> {
        let is_full = bytes.len() >= WIDTH;
        let starts_with_digit = bytes.first()?.is_ascii_digit();
        let hybrid36 = hybrid36::decode(bytes, WIDTH);
        if hybrid36.is_some() && (starts_with_digit || bytes.starts_with(b"-")) {
            if self.hexadecimal {
                self.hexadecimal = is_full;
            } else if self.previous == Some(MAX_DECIMAL) && bytes == FIRST_HEXADECIMAL {
                self.hexadecimal = true;
            }
            if !self.hexadecimal {
                return hybrid36;
            }
        }
        if !(self.hexadecimal || is_full && starts_with_digit) {
            return hybrid36;
        }
        let number = i64::from_str_radix(std::str::from_utf8(bytes).ok()?, 16).ok()?;
        self.hexadecimal = true;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_all(fields: &[&str]) -> Vec<Option<i32>> {
        let mut numbers = ResidueNumbers::default();
        fields.iter().map(|field| numbers.parse(field)).collect()
    }

    #[test]
    fn numbers_continue_in_hybrid_36() {
        assert_eq!(
            parse_all(&["9999", "A000", "A001", "a000", "-12"]),
            [9_999, 10_000, 10_001, 1_223_056, -12].map(Some)
        );
    }

    #[test]
    fn numbers_continue_in_hexadecimal() {
        assert_eq!(
            parse_all(&["9999", "271a", "271B", "2800", "a000"]),
            [9_999, 10_010, 10_011, 10_240, 40_960].map(Some)
        );
    }

    #[test]
    fn hexadecimal_numbers_that_look_decimal_are_recognized_after_9999() {
        assert_eq!(
            parse_all(&["9999", "2710", "271a", "1", "1000"]),
            [9_999, 10_000, 10_010, 1, 1_000].map(Some)
        );
        assert_eq!(parse_all(&["9998", "2710"]), [9_998, 2_710].map(Some));
    }

    #[test]
    fn blanks_and_asterisks_have_default_numbers() {
        assert_eq!(parse_all(&["", "****"]), [0, 10_000].map(Some));
    }

    #[test]
    fn invalid_numbers_are_rejected_and_do_not_affect_later_ones() {
        for field in ["1_2", "A0b0", "x", "12.5", "--1", "é"] {
            assert_eq!(
                parse_all(&[field, "1234"]),
                [None, Some(1_234)],
                "{field:?}"
            );
        }
    }
}
