//! Decimal numbers in text files.

use super::error::ReadErrorKind;

/// Decimal places between ångström and nanometer.
pub(super) const ANGSTROM_DIGITS: u32 = 1;

/// Parses a finite decimal number and divides it by `10^shift`.
///
/// Plain fractions of up to 15 digits are parsed as one integer and divided once, which rounds
/// correctly; other numbers are parsed by the standard library.
pub(super) fn parse_decimal(
    text: &str,
    shift: u32,
    field: &'static str,
) -> Result<f64, ReadErrorKind> {
    let value = match plain_decimal(text.as_bytes(), shift) {
        Some(value) => Some(value),
        None => text
            .parse::<f64>()
            .ok()
            .map(|value| value / 10f64.powi(shift as i32)),
    };
    value
        .filter(|value| value.is_finite())
        .ok_or_else(|| ReadErrorKind::InvalidNumber {
            field,
            text: text.to_owned(),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_match_the_standard_library() {
        for text in ["0", "-0.001", "123.456", "-9999.999", ".5", "5.", "000.250"] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse_decimal(text, 0, "x").unwrap(), expected, "{text}");
        }
        assert_eq!(parse_decimal("12.345", 1, "x").unwrap(), 1.2345);
        assert_eq!(parse_decimal("1.5e1", 1, "x").unwrap(), 1.5);
        assert_eq!(parse_decimal("+2", 0, "x").unwrap(), 2.0);
    }

    #[test]
    fn invalid_and_infinite_decimals_are_rejected() {
        for text in [
            "", "-", ".", "1.2.3", "12a", "1 2", "NaN", "inf", "-inf", "1e999",
        ] {
            assert!(parse_decimal(text, 0, "x").is_err(), "{text}");
        }
    }
}
