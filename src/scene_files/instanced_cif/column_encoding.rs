//! Encoder of the columns of `BinaryCIF`.
//!
//! 1. Decimal numbers become integers by `FixedPoint`, text becomes indices by `StringArray`.
//! 2. Of `Delta` and `RunLength`, each applied or not, the smallest result is taken.
//! 3. Integers are packed into one or two bytes (`IntegerPacking`) or written as four (`ByteArray`).

use std::collections::HashMap;

/// Size of an encoding in the file, bytes: names of its parameters.
const ENCODING_BYTES: usize = 40;

/// Type of the numbers of a `ByteArray`, and of the numbers before an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    I8 = 1,
    I16 = 2,
    I32 = 3,
    U8 = 4,
    U16 = 5,
    F64 = 33,
}

/// A step of an encoding. Integers before a step have 32 bits, decimal numbers 64.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Encoding {
    ByteArray(NumberType),
    IntegerPacking {
        byte_count: u8,
        is_unsigned: bool,
        size: usize,
    },
    RunLength {
        size: usize,
    },
    Delta {
        origin: i32,
    },
    FixedPoint {
        factor: u32,
    },
    StringArray {
        /// All different strings.
        text: String,
        /// Where each string begins, and the end of the last.
        offsets: Encoded,
        /// Encodings of the indices.
        indices: Vec<Encoding>,
    },
}

/// An encoded column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Encoded {
    /// Encodings in the order in which they were applied.
    pub encodings: Vec<Encoding>,
    pub bytes: Vec<u8>,
}

impl Encoded {
    fn size(&self) -> usize {
        self.bytes.len() + ENCODING_BYTES * self.encodings.len()
    }
}

/// Encodes integers.
pub(super) fn encode_ints(values: &[i32]) -> Encoded {
    let mut best = pack(values, Vec::new());
    let mut consider = |candidate: Encoded| {
        if candidate.size() < best.size() {
            best = candidate;
        }
    };
    consider(pack_runs(values, Vec::new()));
    if let Some((origin, differences)) = differences(values) {
        let steps = vec![Encoding::Delta { origin }];
        consider(pack_runs(&differences, steps.clone()));
        consider(pack(&differences, steps));
    }
    best
}

/// The numbers from 1 to `count`, encoded without a list of them.
pub(super) fn encode_count(count: usize) -> Encoded {
    let runs = [0, 1, 1, count.saturating_sub(1) as i32];
    let runs = match count {
        0 => &runs[..0],
        1 => &runs[..2],
        _ => &runs[..],
    };
    let steps = vec![
        Encoding::Delta { origin: 1 },
        Encoding::RunLength { size: count },
    ];
    pack(runs, steps)
}

/// Encodes numbers with `decimals` decimals, or fewer if the largest has too many digits.
pub(super) fn encode_decimals(values: &[f64], decimals: u8) -> Encoded {
    let max = values
        .iter()
        .fold(0.0, |max: f64, value| max.max(value.abs()));
    let factor = fixed_point_factor(max, decimals);
    let scaled: Vec<i32> = values
        .iter()
        .map(|value| fixed_point(*value, factor))
        .collect();
    let mut encoded = encode_ints(&scaled);
    encoded.encodings.insert(0, Encoding::FixedPoint { factor });
    encoded
}

/// The factor of numbers of up to `max` with `decimals` decimals: a smaller one if they do not fit
/// 32 bits.
pub(super) fn fixed_point_factor(max: f64, decimals: u8) -> u32 {
    let mut factor = 10_u32.pow(u32::from(decimals));
    while factor > 1 && max * f64::from(factor) > f64::from(i32::MAX) {
        factor /= 10;
    }
    factor
}

pub(super) fn fixed_point(value: f64, factor: u32) -> i32 {
    (value * f64::from(factor)).round() as i32
}

/// Encodes text as indices into the different strings.
pub(super) fn encode_strings<'s>(values: impl Iterator<Item = Option<&'s str>>) -> Encoded {
    let mut text = String::new();
    let mut offsets = vec![0];
    let mut length = 0;
    let mut known = HashMap::new();
    let mut indices = Vec::new();
    for value in values {
        let Some(value) = value else {
            indices.push(-1);
            continue;
        };
        indices.push(*known.entry(value).or_insert_with(|| {
            text.push_str(value);
            // Offsets count the units of JavaScript.
            length += value.encode_utf16().count() as i32;
            offsets.push(length);
            offsets.len() as i32 - 2
        }));
    }
    let indices = encode_ints(&indices);
    Encoded {
        encodings: vec![Encoding::StringArray {
            text,
            offsets: encode_ints(&offsets),
            indices: indices.encodings,
        }],
        bytes: indices.bytes,
    }
}

/// The first value, and the differences from the previous values; none if one does not fit.
fn differences(values: &[i32]) -> Option<(i32, Vec<i32>)> {
    let origin = *values.first()?;
    let mut previous = origin;
    let differences = values.iter().map(|&value| {
        let difference = value.checked_sub(previous);
        previous = value;
        difference
    });
    Some((origin, differences.collect::<Option<_>>()?))
}

fn pack_runs(values: &[i32], mut steps: Vec<Encoding>) -> Encoded {
    let mut runs = Vec::new();
    for run in values.chunk_by(|a, b| a == b) {
        runs.extend([run[0], run.len() as i32]);
    }
    steps.push(Encoding::RunLength { size: values.len() });
    pack(&runs, steps)
}

/// Packs integers into the fewest bytes.
fn pack(values: &[i32], mut steps: Vec<Encoding>) -> Encoded {
    let is_unsigned = values.iter().all(|&value| value >= 0);
    let size = |byte_count: u8| {
        let limits = limits(byte_count, is_unsigned);
        let units = values.iter().map(|&value| units(value, limits));
        units.sum::<usize>() * usize::from(byte_count) + ENCODING_BYTES
    };
    let sizes = [(1, size(1)), (2, size(2)), (4, 4 * values.len())];
    let (byte_count, _) = sizes
        .into_iter()
        .min_by_key(|(_, size)| *size)
        .unwrap_or((4, 0));
    let mut bytes = Vec::new();
    if byte_count == 4 {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        steps.push(Encoding::ByteArray(NumberType::I32));
        return Encoded {
            encodings: steps,
            bytes,
        };
    }
    let (low, high) = limits(byte_count, is_unsigned);
    for &value in values {
        let limit = if value < 0 { low } else { high };
        let (full, rest) = (value / limit, value % limit);
        let mut push = |unit: i32| {
            bytes.extend_from_slice(&unit.to_le_bytes()[..usize::from(byte_count)]);
        };
        (0..full).for_each(|_| push(limit));
        push(rest);
    }
    steps.push(Encoding::IntegerPacking {
        byte_count,
        is_unsigned,
        size: values.len(),
    });
    steps.push(Encoding::ByteArray(match (byte_count, is_unsigned) {
        (1, true) => NumberType::U8,
        (1, false) => NumberType::I8,
        (_, true) => NumberType::U16,
        (_, false) => NumberType::I16,
    }));
    Encoded {
        encodings: steps,
        bytes,
    }
}

/// The least and greatest unit, which mean "add the next".
fn limits(byte_count: u8, is_unsigned: bool) -> (i32, i32) {
    match (byte_count, is_unsigned) {
        (1, true) => (-1, i32::from(u8::MAX)),
        (1, false) => (i32::from(i8::MIN), i32::from(i8::MAX)),
        (_, true) => (-1, i32::from(u16::MAX)),
        (_, false) => (i32::from(i16::MIN), i32::from(i16::MAX)),
    }
}

/// Number of units of a value.
fn units(value: i32, (low, high): (i32, i32)) -> usize {
    let full = if value < 0 { value / low } else { value / high };
    full as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(encoded: &Encoded) -> Vec<i32> {
        let mut values: Vec<i32> = Vec::new();
        for encoding in encoded.encodings.iter().rev() {
            values = match *encoding {
                Encoding::ByteArray(kind) => {
                    let size = match kind {
                        NumberType::I8 | NumberType::U8 => 1,
                        NumberType::I16 | NumberType::U16 => 2,
                        _ => 4,
                    };
                    let is_signed = matches!(kind, NumberType::I8 | NumberType::I16);
                    let chunks = encoded.bytes.chunks_exact(size);
                    chunks
                        .map(|chunk| {
                            let fill = is_signed && chunk[size - 1] >= 0x80;
                            let mut bytes = [if fill { 0xff } else { 0 }; 4];
                            bytes[..size].copy_from_slice(chunk);
                            i32::from_le_bytes(bytes)
                        })
                        .collect()
                }
                Encoding::IntegerPacking {
                    byte_count,
                    is_unsigned,
                    size,
                } => {
                    let (low, high) = limits(byte_count, is_unsigned);
                    let mut unpacked = Vec::new();
                    let mut sum = 0;
                    for value in values {
                        sum += value;
                        if value != low && value != high {
                            unpacked.push(sum);
                            sum = 0;
                        }
                    }
                    assert_eq!(unpacked.len(), size);
                    unpacked
                }
                Encoding::RunLength { size } => {
                    let (pairs, _) = values.as_chunks::<2>();
                    let runs = pairs
                        .iter()
                        .flat_map(|&[value, count]| std::iter::repeat_n(value, count as usize));
                    let unpacked: Vec<i32> = runs.collect();
                    assert_eq!(unpacked.len(), size);
                    unpacked
                }
                Encoding::Delta { origin } => {
                    let mut sum = origin;
                    let sums = values.into_iter().map(|value| {
                        sum += value;
                        sum
                    });
                    sums.collect()
                }
                _ => panic!("{encoding:?}"),
            };
        }
        values
    }

    #[test]
    fn integers_are_decoded_to_themselves() {
        let cases: [Vec<i32>; 11] = [
            vec![],
            vec![0],
            vec![-1],
            vec![i32::MIN, i32::MAX, 0, -1],
            vec![7; 10_000],
            (0..10_000).collect(),
            (0..300).map(|k| k * k % 251).collect(),
            (0..300).map(|k| k * k % 251 - 128).collect(),
            vec![127, 128, -127, -128, -129, 254, 255, 256, 510],
            vec![32_767, -32_768, 65_535, 65_536, 1, 2, 3, 4, 5, 6, 7, 8, 9],
            (0..1000).map(|k| (k * 7_919) % 70_000).collect(),
        ];
        for values in cases {
            assert_eq!(unpack(&encode_ints(&values)), values);
        }
        for count in [0, 1, 2, 3, 1_000_000] {
            let expected: Vec<i32> = (1..=count).collect();
            assert_eq!(unpack(&encode_count(count as usize)), expected);
        }
    }

    #[test]
    fn repeated_and_ascending_integers_shrink() {
        assert!(encode_ints(&[7; 10_000]).bytes.len() < 100);
        let ascending: Vec<i32> = (0..10_000).collect();
        assert!(encode_ints(&ascending).bytes.len() < 100);
        assert_eq!(encode_ints(&[1, 2, 0, 5].repeat(1_000)).bytes.len(), 4_000);
    }

    #[test]
    fn decimals_are_lost_only_if_numbers_do_not_fit() {
        assert_eq!(fixed_point_factor(1.0, 7), 10_000_000);
        assert_eq!(fixed_point_factor(21_474.0, 5), 100_000);
        assert_eq!(fixed_point_factor(21_475.0, 5), 10_000);
        assert_eq!(fixed_point_factor(1.0e6, 5), 1_000);
        assert_eq!(fixed_point_factor(1.0e30, 5), 1);
        assert_eq!(fixed_point(-1.25, 100), -125);
    }

    #[test]
    fn offsets_of_strings_count_utf16_units() {
        let encoded = encode_strings([Some("é𝄞"), None, Some("b"), Some("é𝄞")].into_iter());
        let [
            Encoding::StringArray {
                text,
                offsets,
                indices,
            },
        ] = &encoded.encodings[..]
        else {
            panic!("{encoded:?}");
        };
        assert_eq!(text, "é𝄞b");
        assert_eq!(unpack(offsets), [0, 3, 4]);
        let indices = Encoded {
            encodings: indices.clone(),
            bytes: encoded.bytes.clone(),
        };
        assert_eq!(unpack(&indices), [0, -1, 1, 0]);
    }
}
