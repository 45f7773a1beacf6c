//! Decoder of the column encodings of `BinaryCIF`.
//!
//! A column lists its encodings in the order in which they were applied; they are decoded from
//! the last to the first:
//! 1. `ByteArray`: little-endian integers or floats.
//! 2. `IntegerPacking`: small integers; the extreme value means "add the next".
//! 3. `RunLength`: pairs of value and repetition.
//! 4. `Delta`: differences of consecutive values.
//! 5. `FixedPoint`, `IntervalQuantization`: floats as integers.
//! 6. `StringArray`: indices into one long string.
//!
//! Decoded values count against a [`Budget`], so that a small file cannot exhaust memory.

use smol_str::SmolStr;

use self::DecodeError::Invalid;
use super::message_pack::Value;
use crate::molecule::error::ReadErrorKind;

/// Values that a file of any size may decode.
const BASE_BUDGET: usize = 1 << 20;

/// Additional values per byte of the file. Real files need about ten.
const BUDGET_PER_BYTE: usize = 64;

/// Limits the number of decoded values.
pub(super) struct Budget {
    remaining: usize,
    limit: usize,
}

impl Budget {
    pub(super) fn for_file(bytes: usize) -> Self {
        let limit = bytes
            .saturating_mul(BUDGET_PER_BYTE)
            .saturating_add(BASE_BUDGET);
        Self {
            remaining: limit,
            limit,
        }
    }

    pub(super) fn spend(&mut self, count: usize) -> Decoded<()> {
        let remaining = self.remaining.checked_sub(count);
        self.remaining = remaining.ok_or(DecodeError::TooLarge(self.limit))?;
        Ok(())
    }
}

/// A column cannot be decoded.
#[derive(Debug, PartialEq)]
pub(super) enum DecodeError {
    /// The reason.
    Invalid(&'static str),
    /// The limit of the [`Budget`].
    TooLarge(usize),
}

impl DecodeError {
    /// The error with the name of the column.
    pub(super) fn in_column(self, column: &str) -> ReadErrorKind {
        match self {
            Self::Invalid(reason) => ReadErrorKind::InvalidColumn {
                column: column.to_owned(),
                reason,
            },
            Self::TooLarge(limit) => ReadErrorKind::TooLarge {
                what: "the number of decoded values",
                limit: limit as u64,
            },
        }
    }
}

type Decoded<T> = Result<T, DecodeError>;

/// A decoded column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Ints(Vec<i32>),
    Floats(Vec<f64>),
    /// Indices into a list of strings; negative ones are missing values.
    Strings {
        indices: Vec<i32>,
        strings: Vec<SmolStr>,
    },
}

impl Data {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ints(values)
            | Self::Strings {
                indices: values, ..
            } => values.len(),
            Self::Floats(values) => values.len(),
        }
    }
}

/// Decodes `{encoding, data}`.
pub(super) fn decode(packed: &Value<'_>, budget: &mut Budget) -> Decoded<Data> {
    match packed.get("data") {
        Some(Value::Bytes(bytes)) => decode_bytes(bytes, packed.list("encoding"), budget),
        _ => Err(Invalid("the data is missing")),
    }
}

fn decode_bytes(bytes: &[u8], encodings: &[Value<'_>], budget: &mut Budget) -> Decoded<Data> {
    let Some((last, earlier)) = encodings.split_last() else {
        return Err(Invalid("the encoding is missing"));
    };
    let mut data = match last.text("kind") {
        Some("ByteArray") => byte_array(bytes, last, budget)?,
        Some("StringArray") => string_array(bytes, last, budget)?,
        _ => {
            return Err(Invalid(
                "the last encoding is neither ByteArray nor StringArray",
            ));
        }
    };
    for encoding in earlier.iter().rev() {
        let Data::Ints(values) = data else {
            return Err(Invalid(
                "an integer encoding is applied to values that are not integers",
            ));
        };
        data = match encoding.text("kind") {
            Some("IntegerPacking") => Data::Ints(integer_packing(&values, encoding, budget)?),
            Some("RunLength") => Data::Ints(run_length(&values, encoding, budget)?),
            Some("Delta") => Data::Ints(delta(values, encoding)?),
            Some("FixedPoint") => fixed_point(&values, encoding, budget)?,
            Some("IntervalQuantization") => interval_quantization(&values, encoding, budget)?,
            _ => {
                return Err(Invalid("an encoding is unknown or at the wrong position"));
            }
        };
    }
    Ok(data)
}

fn byte_array(bytes: &[u8], encoding: &Value<'_>, budget: &mut Budget) -> Decoded<Data> {
    fn split<const N: usize>(bytes: &[u8]) -> Decoded<&[[u8; N]]> {
        match bytes.as_chunks() {
            (chunks, []) => Ok(chunks),
            _ => Err(Invalid(
                "the number of bytes is not a multiple of the size of a value",
            )),
        }
    }
    fn numbers<const N: usize, T: Copy, U: From<T>>(
        bytes: &[u8],
        convert: fn([u8; N]) -> T,
    ) -> Decoded<Vec<U>> {
        let values = split(bytes)?.iter();
        Ok(values.map(|&value| convert(value).into()).collect())
    }
    budget.spend(bytes.len())?;
    match encoding.integer("type") {
        Some(1) => numbers(bytes, i8::from_le_bytes).map(Data::Ints),
        Some(2) => numbers(bytes, i16::from_le_bytes).map(Data::Ints),
        Some(3) => numbers(bytes, i32::from_le_bytes).map(Data::Ints),
        Some(4) => numbers(bytes, u8::from_le_bytes).map(Data::Ints),
        Some(5) => numbers(bytes, u16::from_le_bytes).map(Data::Ints),
        Some(6) => split(bytes)?
            .iter()
            .map(|&value| i32::try_from(u32::from_le_bytes(value)))
            .collect::<Result<Vec<i32>, _>>()
            .map(Data::Ints)
            .map_err(|_| Invalid("an integer is too large")),
        Some(32) => numbers(bytes, f32::from_le_bytes).map(Data::Floats),
        Some(33) => numbers(bytes, f64::from_le_bytes).map(Data::Floats),
        _ => Err(Invalid("the type of a ByteArray is unknown")),
    }
}

fn string_array(bytes: &[u8], encoding: &Value<'_>, budget: &mut Budget) -> Decoded<Data> {
    let [of_data, of_offsets] = ["dataEncoding", "offsetEncoding"].map(|key| encoding.list(key));
    // Prevents unbounded recursion.
    let mut encodings = of_data.iter().chain(of_offsets);
    if encodings.any(|encoding| encoding.text("kind") == Some("StringArray")) {
        return Err(Invalid("a StringArray contains a StringArray"));
    }
    let Some(Value::Bytes(offsets)) = encoding.get("offsets") else {
        return Err(Invalid("the string offsets are missing"));
    };
    let Data::Ints(offsets) = decode_bytes(offsets, of_offsets, budget)? else {
        return Err(Invalid("the string offsets are not integers"));
    };
    let Data::Ints(indices) = decode_bytes(bytes, of_data, budget)? else {
        return Err(Invalid("the string indices are not integers"));
    };
    let text = encoding.text("stringData").unwrap_or("");
    let strings = split_strings(text, &offsets, budget)?;
    let largest = indices.iter().max();
    if largest.is_some_and(|&index| index >= 0 && index as usize >= strings.len()) {
        return Err(Invalid("a string index is out of range"));
    }
    Ok(Data::Strings { indices, strings })
}

/// Splits the long string at the offsets, which count UTF-16 units.
fn split_strings(text: &str, offsets: &[i32], budget: &mut Budget) -> Decoded<Vec<SmolStr>> {
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
            _ => return Err(Invalid("the string offsets are not ascending")),
        };
        budget.spend(range.len() + 1)?;
        let string = if text.is_ascii() {
            text.get(range).map(SmolStr::new)
        } else {
            wide.get(range)
                .map(|units| SmolStr::new(String::from_utf16_lossy(units)))
        };
        strings.push(string.ok_or(Invalid("a string offset is out of range"))?);
    }
    Ok(strings)
}

/// Integers from small integers, whose extreme value means "add the next".
fn integer_packing(values: &[i32], encoding: &Value<'_>, budget: &mut Budget) -> Decoded<Vec<i32>> {
    let unsigned = matches!(encoding.get("isUnsigned"), Some(Value::Bool(true)));
    let (low, high) = match (encoding.integer("byteCount"), unsigned) {
        (Some(1), true) => (i32::MIN, i32::from(u8::MAX)),
        (Some(1), false) => (i32::from(i8::MIN), i32::from(i8::MAX)),
        (Some(2), true) => (i32::MIN, i32::from(u16::MAX)),
        (Some(2), false) => (i32::from(i16::MIN), i32::from(i16::MAX)),
        _ => {
            return Err(Invalid("byteCount of IntegerPacking is neither 1 nor 2"));
        }
    };
    budget.spend(values.len())?;
    let mut unpacked = Vec::with_capacity(values.len());
    let mut sum = 0_i32;
    let mut is_incomplete = false;
    for &value in values {
        sum = sum
            .checked_add(value)
            .ok_or(Invalid("a packed integer overflows"))?;
        is_incomplete = value == low || value == high;
        if !is_incomplete {
            unpacked.push(sum);
            sum = 0;
        }
    }
    if is_incomplete {
        return Err(Invalid("the last packed integer is incomplete"));
    }
    check_size(unpacked.len(), encoding)?;
    Ok(unpacked)
}

/// Repeated values from pairs of value and count.
fn run_length(values: &[i32], encoding: &Value<'_>, budget: &mut Budget) -> Decoded<Vec<i32>> {
    let (pairs, rest) = values.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Invalid("the last run has no length"));
    }
    let mut total = 0_usize;
    for &[_, count] in pairs {
        let count = usize::try_from(count).map_err(|_| Invalid("a run has a negative length"))?;
        total = total.saturating_add(count);
    }
    budget.spend(total)?;
    check_size(total, encoding)?;
    let mut unpacked = Vec::with_capacity(total);
    for &[value, count] in pairs {
        unpacked.resize(unpacked.len() + count as usize, value);
    }
    Ok(unpacked)
}

/// Running sums of differences.
fn delta(mut values: Vec<i32>, encoding: &Value<'_>) -> Decoded<Vec<i32>> {
    let origin = encoding.integer("origin").unwrap_or(0);
    let mut sum = i32::try_from(origin).map_err(|_| Invalid("the origin of Delta is too large"))?;
    for value in &mut values {
        sum = sum
            .checked_add(*value)
            .ok_or(Invalid("a sum of differences overflows"))?;
        *value = sum;
    }
    Ok(values)
}

/// Integers divided by a factor.
fn fixed_point(values: &[i32], encoding: &Value<'_>, budget: &mut Budget) -> Decoded<Data> {
    let factor = encoding.number("factor").unwrap_or(0.0);
    if !factor.is_finite() || factor == 0.0 {
        return Err(Invalid("the factor of FixedPoint is missing or zero"));
    }
    budget.spend(values.len())?;
    let decoded = values.iter().map(|&value| f64::from(value) / factor);
    Ok(Data::Floats(decoded.collect()))
}

/// Values at the steps of an interval.
fn interval_quantization(
    values: &[i32],
    encoding: &Value<'_>,
    budget: &mut Budget,
) -> Decoded<Data> {
    let number = |key: &str| encoding.number(key);
    let (Some(min), Some(max), Some(steps)) = (number("min"), number("max"), number("numSteps"))
    else {
        return Err(Invalid(
            "the interval of IntervalQuantization is incomplete",
        ));
    };
    if steps < 2.0 {
        return Err(Invalid(
            "the interval of IntervalQuantization has fewer than two steps",
        ));
    }
    budget.spend(values.len())?;
    let step = (max - min) / (steps - 1.0);
    let decoded = values.iter().map(|&value| min + step * f64::from(value));
    Ok(Data::Floats(decoded.collect()))
}

/// Returns an error if the number of values differs from `srcSize`.
fn check_size(found: usize, encoding: &Value<'_>) -> Decoded<()> {
    match encoding.integer("srcSize") {
        Some(size) if usize::try_from(size) != Ok(found) => {
            Err(Invalid("the number of values differs from srcSize"))
        }
        _ => Ok(()),
    }
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

    fn unpack(bytes: &'static [u8], encodings: Vec<Value<'static>>) -> Decoded<Data> {
        let packed = Value::Map(vec![
            ("encoding", Value::List(encodings)),
            ("data", Value::Bytes(bytes)),
        ]);
        decode(&packed, &mut Budget::for_file(bytes.len()))
    }

    #[test]
    fn byte_arrays_of_every_type_are_decoded() {
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
    fn integer_encodings_are_decoded_in_sequence() {
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
    fn float_encodings_are_decoded() {
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
    fn string_arrays_are_decoded() {
        let strings = encoding(
            "StringArray",
            vec![
                ("dataEncoding", Value::List(vec![bytes_of(1)])),
                ("offsetEncoding", Value::List(vec![bytes_of(4)])),
                ("offsets", Value::Bytes(&[0, 1, 3])),
                ("stringData", Value::Text("aé\u{e8}")),
            ],
        );
        let expected = Data::Strings {
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
    fn oversized_and_negative_runs_are_rejected() {
        let runs = || encoding("RunLength", vec![]);
        let bomb = unpack(
            &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f],
            vec![runs(), bytes_of(3)],
        );
        assert!(matches!(bomb, Err(DecodeError::TooLarge(_))));
        let negative = unpack(&[0, 0xff], vec![runs(), bytes_of(1)]);
        assert!(matches!(negative, Err(Invalid(_))));
    }

    #[test]
    fn encodings_at_the_wrong_position_are_rejected() {
        let fixed = || encoding("FixedPoint", vec![("factor", Value::Int(2))]);
        assert!(unpack(&[1], vec![]).is_err());
        assert!(unpack(&[1], vec![fixed()]).is_err());
        assert!(unpack(&[1], vec![fixed(), fixed(), bytes_of(1)]).is_err());
        assert!(unpack(&[1], vec![encoding("Magic", vec![]), bytes_of(1)]).is_err());
    }
}
