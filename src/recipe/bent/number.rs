//! Numbers and concentrations of a `.bent` file.

/// Units of concentrations, and how many of them are 1 mol/L. The micro sign has two code points.
const UNITS: [(&str, f64); 7] = [
    ("mM", 1e3),
    ("uM", 1e6),
    ("\u{b5}M", 1e6),
    ("\u{3bc}M", 1e6),
    ("nM", 1e9),
    ("pM", 1e12),
    // The end of all others.
    ("M", 1.0),
];

/// The value of a decimal number such as `-1.5`, `.5` or `2`; infinite if it is too large.
///
/// There are no exponents: `1e5` is a name.
pub(super) fn decimal(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    digits.bytes().all(plain).then(|| word.parse().ok())?
}

/// The value of a concentration such as `1.5mM`, mol/L; infinite if it is too large.
pub(super) fn molarity(word: &str) -> Option<f64> {
    let (number, parts) = UNITS
        .iter()
        .find_map(|(unit, parts)| Some((word.strip_suffix(unit)?, parts)))?;
    Some(decimal(number)? / parts)
}

/// Whether a word is a number or a concentration and cannot be a name.
pub(super) fn is_quantity(word: &str) -> bool {
    decimal(word).is_some() || molarity(word).is_some()
}
