//! The encodings of `BinaryCIF`: how a column of a table is packed.
//!
//! A column lists its encodings in the order in which they were applied; they
//! are undone from the last to the first:
//! 1. `ByteArray`: bytes to whole numbers or fractions, little endian.
//! 2. `IntegerPacking`: small integers; the extreme value means "add the next".
//! 3. `RunLength`: pairs of value and repetition.
//! 4. `Delta`: differences to running sums.
//! 5. `FixedPoint`, `IntervalQuantization`: whole numbers to fractions.
//! 6. `StringArray`: indices into one long string.
//!
//! Every decoded number is paid for from a [`Budget`], so a small file cannot
//! unpack to more than memory holds.

use smol_str::SmolStr;

use super::message_pack::Value;
use super::unpack::{delta, fixed_point, integer_packing, interval_quantization, run_length};
use crate::molecule::error::ReadCause;

/// Numbers that any file may decode, however small it is.
const BASE_BUDGET: usize = 1 << 20;

/// Further numbers for each byte of the file. Real files need about ten.
const BUDGET_PER_BYTE: usize = 64;

/// How many more numbers may be decoded.
pub(super) struct Budget {
    left: usize,
    limit: usize,
}

impl Budget {
    pub(super) fn for_file(bytes: usize) -> Self {
        let limit = bytes
            .saturating_mul(BUDGET_PER_BYTE)
            .saturating_add(BASE_BUDGET);
        Self { left: limit, limit }
    }

    pub(super) fn spend(&mut self, count: usize) -> Result<(), Fault> {
        match self.left.checked_sub(count) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Fault::Large(self.limit)),
        }
    }
}

/// Why a column does not decode.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    Bad(&'static str),
    Large(usize),
}

impl Fault {
    /// The fault as a cause that names the column.
    pub(super) fn of_column(self, column: &str) -> ReadCause {
        match self {
            Self::Bad(what) => ReadCause::BadEncoding {
                column: column.to_owned(),
                what,
            },
            Self::Large(limit) => ReadCause::TooLarge {
                what: "the number of decoded values",
                limit: limit as u64,
            },
        }
    }
}

/// A decoded column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Ints(Vec<i32>),
    Floats(Vec<f64>),
    /// Indices into a list of strings; negative means none.
    Texts {
        indices: Vec<i32>,
        strings: Vec<SmolStr>,
    },
}

impl Data {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ints(values)
            | Self::Texts {
                indices: values, ..
            } => values.len(),
            Self::Floats(values) => values.len(),
        }
    }
}

/// Decodes `{encoding, data}`.
pub(super) fn decode(packed: &Value<'_>, budget: &mut Budget) -> Result<Data, Fault> {
    let encodings = packed.get("encoding").map_or(&[][..], Value::list);
    match packed.get("data") {
        Some(Value::Bytes(bytes)) => decode_bytes(bytes, encodings, budget),
        _ => Err(Fault::Bad("there are no bytes")),
    }
}

fn kind<'a>(encoding: &Value<'a>) -> Option<&'a str> {
    encoding.get("kind").and_then(Value::text)
}

fn decode_bytes(bytes: &[u8], encodings: &[Value<'_>], budget: &mut Budget) -> Result<Data, Fault> {
    let Some((last, earlier)) = encodings.split_last() else {
        return Err(Fault::Bad("no encoding is given"));
    };
    let mut data = match kind(last) {
        Some("ByteArray") => byte_array(bytes, last, budget)?,
        Some("StringArray") => string_array(bytes, last, budget)?,
        _ => return Err(Fault::Bad("the last encoding does not take bytes")),
    };
    for encoding in earlier.iter().rev() {
        let Data::Ints(values) = data else {
            return Err(Fault::Bad(
                "an encoding of whole numbers is given something else",
            ));
        };
        data = match kind(encoding) {
            Some("IntegerPacking") => Data::Ints(integer_packing(&values, encoding, budget)?),
            Some("RunLength") => Data::Ints(run_length(&values, encoding, budget)?),
            Some("Delta") => Data::Ints(delta(values, encoding)?),
            Some("FixedPoint") => Data::Floats(fixed_point(&values, encoding, budget)?),
            Some("IntervalQuantization") => {
                Data::Floats(interval_quantization(&values, encoding, budget)?)
            }
            _ => return Err(Fault::Bad("an encoding is unknown or out of place")),
        };
    }
    Ok(data)
}

fn byte_array(bytes: &[u8], encoding: &Value<'_>, budget: &mut Budget) -> Result<Data, Fault> {
    fn split<const N: usize>(bytes: &[u8]) -> Result<&[[u8; N]], Fault> {
        match bytes.as_chunks() {
            (chunks, []) => Ok(chunks),
            _ => Err(Fault::Bad("the bytes are not a whole number of values")),
        }
    }
    budget.spend(bytes.len())?;
    let ints = |values: Vec<i32>| Ok(Data::Ints(values));
    match encoding.get("type").and_then(Value::integer) {
        Some(1) => ints(bytes.iter().map(|&byte| i32::from(byte as i8)).collect()),
        Some(2) => ints(
            split(bytes)?
                .iter()
                .map(|&b| i32::from(i16::from_le_bytes(b)))
                .collect(),
        ),
        Some(3) => ints(
            split(bytes)?
                .iter()
                .map(|&b| i32::from_le_bytes(b))
                .collect(),
        ),
        Some(4) => ints(bytes.iter().map(|&byte| i32::from(byte)).collect()),
        Some(5) => ints(
            split(bytes)?
                .iter()
                .map(|&b| i32::from(u16::from_le_bytes(b)))
                .collect(),
        ),
        Some(6) => split(bytes)?
            .iter()
            .map(|&b| i32::try_from(u32::from_le_bytes(b)))
            .collect::<Result<Vec<i32>, _>>()
            .map(Data::Ints)
            .map_err(|_| Fault::Bad("a whole number is too large")),
        Some(32) => Ok(Data::Floats(
            split(bytes)?
                .iter()
                .map(|&b| f64::from(f32::from_le_bytes(b)))
                .collect(),
        )),
        Some(33) => Ok(Data::Floats(
            split(bytes)?
                .iter()
                .map(|&b| f64::from_le_bytes(b))
                .collect(),
        )),
        _ => Err(Fault::Bad("the type of the bytes is unknown")),
    }
}

fn string_array(bytes: &[u8], encoding: &Value<'_>, budget: &mut Budget) -> Result<Data, Fault> {
    let list = |key: &str| encoding.get(key).map_or(&[][..], Value::list);
    // Strings inside strings would let the data nest without end.
    let is_nested = |encodings: &[Value<'_>]| {
        encodings
            .iter()
            .any(|encoding| kind(encoding) == Some("StringArray"))
    };
    if is_nested(list("dataEncoding")) || is_nested(list("offsetEncoding")) {
        return Err(Fault::Bad("a string array is made of string arrays"));
    }
    let Some(Value::Bytes(offsets)) = encoding.get("offsets") else {
        return Err(Fault::Bad("the strings have no offsets"));
    };
    let Data::Ints(offsets) = decode_bytes(offsets, list("offsetEncoding"), budget)? else {
        return Err(Fault::Bad("the offsets are not whole numbers"));
    };
    let Data::Ints(indices) = decode_bytes(bytes, list("dataEncoding"), budget)? else {
        return Err(Fault::Bad("the string indices are not whole numbers"));
    };
    let text = encoding
        .get("stringData")
        .and_then(Value::text)
        .unwrap_or("");
    let strings = cut(text, &offsets, budget)?;
    if indices
        .iter()
        .any(|&index| index >= 0 && index as usize >= strings.len())
    {
        return Err(Fault::Bad("a string index is out of range"));
    }
    Ok(Data::Texts { indices, strings })
}

/// Cuts the long string at the offsets, which count UTF-16 units.
fn cut(text: &str, offsets: &[i32], budget: &mut Budget) -> Result<Vec<SmolStr>, Fault> {
    let wide: Vec<u16> = if text.is_ascii() {
        Vec::new()
    } else {
        budget.spend(text.len())?;
        text.encode_utf16().collect()
    };
    let mut strings = Vec::new();
    for pair in offsets.windows(2) {
        let range = match (usize::try_from(pair[0]), usize::try_from(pair[1])) {
            (Ok(from), Ok(to)) if from <= to => from..to,
            _ => return Err(Fault::Bad("the string offsets are not in order")),
        };
        budget.spend(range.len() + 1)?;
        let string = if text.is_ascii() {
            text.get(range).map(SmolStr::new)
        } else {
            wide.get(range)
                .map(|units| SmolStr::new(String::from_utf16_lossy(units)))
        };
        strings.push(string.ok_or(Fault::Bad("a string offset is out of range"))?);
    }
    Ok(strings)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Entry = (&'static str, Value<'static>);

    fn encoding(kind: &'static str, mut rest: Vec<Entry>) -> Value<'static> {
        rest.push(("kind", Value::Text(kind)));
        Value::Map(rest)
    }

    fn bytes_of(kind: i64) -> Value<'static> {
        encoding("ByteArray", vec![("type", Value::Int(kind))])
    }

    fn unpack(bytes: &'static [u8], encodings: Vec<Value<'static>>) -> Result<Data, Fault> {
        let packed = Value::Map(vec![
            ("encoding", Value::List(encodings)),
            ("data", Value::Bytes(bytes)),
        ]);
        decode(&packed, &mut Budget::for_file(bytes.len()))
    }

    #[test]
    fn byte_arrays_of_every_type() {
        let cases: [(i64, &'static [u8], Data); 6] = [
            (1, &[0xff, 2], Data::Ints(vec![-1, 2])),
            (2, &[0xfe, 0xff], Data::Ints(vec![-2])),
            (3, &[1, 0, 0, 0x80], Data::Ints(vec![i32::MIN + 1])),
            (4, &[0xff], Data::Ints(vec![255])),
            (5, &[0xff, 0xff], Data::Ints(vec![65_535])),
            (32, &[0, 0, 0x80, 0x3f], Data::Floats(vec![1.0])),
        ];
        for (kind, bytes, expected) in cases {
            assert_eq!(unpack(bytes, vec![bytes_of(kind)]), Ok(expected));
        }
        assert!(unpack(&[1, 2, 3], vec![bytes_of(3)]).is_err());
        assert!(unpack(&[0xff; 4], vec![bytes_of(6)]).is_err());
    }

    #[test]
    fn packing_runs_and_differences_undo_each_other_in_turn() {
        let packing = encoding(
            "IntegerPacking",
            vec![
                ("byteCount", Value::Int(1)),
                ("isUnsigned", Value::Bool(false)),
            ],
        );
        let packed = unpack(&[127, 1, 0x80, 0xff, 5], vec![packing, bytes_of(1)]);
        assert_eq!(packed, Ok(Data::Ints(vec![128, -129, 5])));

        let runs = encoding("RunLength", vec![("srcSize", Value::Int(4))]);
        let delta = encoding("Delta", vec![("origin", Value::Int(10))]);
        let found = unpack(&[0, 1, 1, 3], vec![delta, runs, bytes_of(4)]);
        assert_eq!(found, Ok(Data::Ints(vec![10, 11, 12, 13])));
    }

    #[test]
    fn fractions_from_whole_numbers() {
        let fixed = encoding("FixedPoint", vec![("factor", Value::Int(100))]);
        assert_eq!(
            unpack(&[150], vec![fixed, bytes_of(4)]),
            Ok(Data::Floats(vec![1.5]))
        );
        let interval = encoding(
            "IntervalQuantization",
            vec![
                ("min", Value::Int(1)),
                ("max", Value::Int(3)),
                ("numSteps", Value::Int(5)),
            ],
        );
        let found = unpack(&[0, 1, 4], vec![interval, bytes_of(4)]);
        assert_eq!(found, Ok(Data::Floats(vec![1.0, 1.5, 3.0])));
    }

    #[test]
    fn strings_are_shared() {
        let strings = encoding(
            "StringArray",
            vec![
                ("dataEncoding", Value::List(vec![bytes_of(1)])),
                ("offsetEncoding", Value::List(vec![bytes_of(4)])),
                ("offsets", Value::Bytes(&[0, 1, 3])),
                ("stringData", Value::Text("aé\u{e8}")),
            ],
        );
        let expected = Data::Texts {
            indices: vec![0, 1, -1, 0],
            strings: vec![SmolStr::new("a"), SmolStr::new("é\u{e8}")],
        };
        assert_eq!(
            unpack(&[0, 1, 0xff, 0], vec![strings.clone()]),
            Ok(expected)
        );
        assert!(unpack(&[2], vec![strings]).is_err());
    }

    #[test]
    fn bombs_are_refused() {
        let runs = || encoding("RunLength", vec![]);
        let bomb = unpack(
            &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f],
            vec![runs(), bytes_of(3)],
        );
        assert!(matches!(bomb, Err(Fault::Large(_))));
        let negative = unpack(&[0, 0xff], vec![runs(), bytes_of(1)]);
        assert!(matches!(negative, Err(Fault::Bad(_))));
    }

    #[test]
    fn encodings_in_the_wrong_place_are_errors() {
        let fixed = || encoding("FixedPoint", vec![("factor", Value::Int(2))]);
        assert!(unpack(&[1], vec![]).is_err());
        assert!(unpack(&[1], vec![fixed()]).is_err());
        assert!(unpack(&[1], vec![fixed(), fixed(), bytes_of(1)]).is_err());
        assert!(unpack(&[1], vec![encoding("Magic", vec![]), bytes_of(1)]).is_err());
    }
}
