//! Numbers in text files: decimal fractions, and counters that outgrew their columns.

use super::error::ReadCause;
use crate::hybrid36;

/// Ångström to nanometer, as a power of ten.
pub(super) const ANGSTROM_DIGITS: u32 = 1;

/// Reads a decimal number and divides it by `10^shift`.
///
/// Plain fractions of up to 15 digits are read as one integer and divided once,
/// which rounds correctly; anything else goes through the standard library.
pub(super) fn parse_decimal(text: &str, shift: u32, field: &'static str) -> Result<f64, ReadCause> {
    let value = match plain_decimal(text.as_bytes(), shift) {
        Some(value) => value,
        None => {
            text.parse::<f64>().map_err(|_| ReadCause::BadNumber {
                field,
                text: text.to_owned(),
            })? / 10f64.powi(shift as i32)
        }
    };
    if value.is_finite() {
        Ok(value)
    } else {
        Err(ReadCause::NotFinite {
            field,
            text: text.to_owned(),
        })
    }
}

fn plain_decimal(text: &[u8], shift: u32) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value: u64 = 0;
    let mut after_point: Option<u32> = None;
    let mut count = 0;
    for &byte in digits {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + u64::from(byte - b'0');
                count += 1;
                after_point = after_point.map(|places| places + 1);
            }
            b'.' if after_point.is_none() => after_point = Some(0),
            _ => return None,
        }
    }
    if count == 0 || count > 15 {
        return None;
    }
    let scale = 10u64.pow(after_point.unwrap_or(0) + shift) as f64;
    let value = value as f64 / scale;
    Some(if negative { -value } else { value })
}

/// A number column of PDB that may have outgrown its width.
///
/// Past the largest decimal number programs write hybrid-36 (`A0000` after
/// `99999`), hexadecimal (`186a0`), asterisks, or start again. A letter first
/// means hybrid-36, a digit first and letters later hexadecimal; once a
/// hexadecimal number was seen, full columns stay hexadecimal.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    width: usize,
    hexadecimal: bool,
    previous: Option<i64>,
}

impl Counter {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            hexadecimal: false,
            previous: None,
        }
    }

    /// Reads one field. `Ok(None)`: the field is blank or overflowed to asterisks.
    pub(super) fn read(
        &mut self,
        text: &str,
        field: &'static str,
    ) -> Result<Option<i64>, ReadCause> {
        let bytes = text.as_bytes();
        if bytes.iter().all(|&byte| byte == b'*') {
            return Ok(None);
        }
        let value = self.decode(bytes).ok_or_else(|| ReadCause::BadNumber {
            field,
            text: text.to_owned(),
        })?;
        self.previous = Some(value);
        Ok(Some(value))
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<i64> {
        let full = bytes.len() >= self.width;
        if let Some(decimal) = decimal_integer(bytes) {
            let largest = 10i64.pow(self.width as u32) - 1;
            let wrapped = || format!("{:x}", largest + 1).as_bytes() == bytes;
            if self.hexadecimal && !full {
                self.hexadecimal = false;
            } else if !self.hexadecimal && self.previous == Some(largest) && wrapped() {
                self.hexadecimal = true;
            }
            if !self.hexadecimal {
                return Some(decimal);
            }
        }
        if bytes.first()?.is_ascii_digit() && full {
            self.hexadecimal = true;
        }
        if self.hexadecimal {
            let text = std::str::from_utf8(bytes).ok()?;
            i64::from_str_radix(text, 16).ok()
        } else {
            hybrid36::decode(bytes, self.width)
        }
    }
}

fn decimal_integer(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut value = 0i64;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_equal_the_standard_library() {
        for text in ["0", "-0.001", "123.456", "-9999.999", ".5", "5.", "000.250"] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse_decimal(text, 0, "x").unwrap(), expected, "{text}");
        }
        assert_eq!(parse_decimal("12.345", 1, "x").unwrap(), 1.2345);
        assert_eq!(parse_decimal("1.5e1", 1, "x").unwrap(), 1.5);
        assert_eq!(parse_decimal("+2", 0, "x").unwrap(), 2.0);
    }

    #[test]
    fn bad_decimals_say_why() {
        for text in ["", "-", ".", "1.2.3", "12a", "1 2"] {
            let error = parse_decimal(text, 0, "x").unwrap_err();
            assert!(matches!(error, ReadCause::BadNumber { .. }), "{text}");
        }
        for text in ["NaN", "inf", "-inf", "1e999"] {
            let error = parse_decimal(text, 0, "x").unwrap_err();
            assert!(matches!(error, ReadCause::NotFinite { .. }), "{text}");
        }
    }

    fn read_all(width: usize, fields: &[&str]) -> Vec<Option<i64>> {
        let mut counter = Counter::new(width);
        fields
            .iter()
            .map(|field| counter.read(field, "serial number").unwrap())
            .collect()
    }

    #[test]
    fn serials_go_on_in_hybrid_36() {
        assert_eq!(
            read_all(5, &["99999", "A0000", "A0001", "a0000"]),
            [Some(99_999), Some(100_000), Some(100_001), Some(43_770_016)]
        );
    }

    #[test]
    fn serials_go_on_in_hexadecimal() {
        assert_eq!(
            read_all(5, &["99999", "186a0", "186A1", "18700", "a0000"]),
            [
                Some(99_999),
                Some(100_000),
                Some(100_001),
                Some(100_096),
                Some(655_360)
            ]
        );
    }

    #[test]
    fn residue_numbers_go_on_in_hexadecimal_that_looks_decimal() {
        assert_eq!(
            read_all(4, &["9999", "2710", "271a", "1", "1000"]),
            [Some(9999), Some(10_000), Some(10_010), Some(1), Some(1000)]
        );
        assert_eq!(read_all(4, &["9998", "2710"]), [Some(9998), Some(2710)]);
        assert_eq!(read_all(4, &["A000", "-12"]), [Some(10_000), Some(-12)]);
    }

    #[test]
    fn blanks_and_asterisks_are_no_number_and_garbage_is_an_error() {
        assert_eq!(read_all(5, &["", "*****"]), [None, None]);
        for text in ["1_2", "A0b00", "x", "12.5", "--1", "é"] {
            assert!(
                Counter::new(5).read(text, "serial number").is_err(),
                "{text}"
            );
        }
    }
}
