//! The encodings of whole numbers in `BinaryCIF`, undone; see `decode.rs`, which tests them.

use super::decode::{Budget, Fault};
use super::message_pack::Value;

/// Small integers to integers: the extreme value means "add the next".
pub(super) fn integer_packing(
    values: &[i32],
    encoding: &Value<'_>,
    budget: &mut Budget,
) -> Result<Vec<i32>, Fault> {
    let unsigned = matches!(encoding.get("isUnsigned"), Some(Value::Bool(true)));
    let (low, high) = match (encoding.get("byteCount").and_then(Value::integer), unsigned) {
        (Some(1), true) => (i32::MIN, i32::from(u8::MAX)),
        (Some(1), false) => (i32::from(i8::MIN), i32::from(i8::MAX)),
        (Some(2), true) => (i32::MIN, i32::from(u16::MAX)),
        (Some(2), false) => (i32::from(i16::MIN), i32::from(i16::MAX)),
        _ => {
            return Err(Fault::Bad(
                "integers are packed in neither one nor two bytes",
            ));
        }
    };
    budget.spend(values.len())?;
    let mut unpacked = Vec::with_capacity(values.len());
    let mut sum = 0_i32;
    let mut open = false;
    for &value in values {
        sum = sum
            .checked_add(value)
            .ok_or(Fault::Bad("a packed integer overflows"))?;
        open = value == low || value == high;
        if !open {
            unpacked.push(sum);
            sum = 0;
        }
    }
    if open {
        return Err(Fault::Bad("the last packed integer is not complete"));
    }
    check_size(unpacked.len(), encoding)?;
    Ok(unpacked)
}

/// Pairs of value and repetition.
pub(super) fn run_length(
    values: &[i32],
    encoding: &Value<'_>,
    budget: &mut Budget,
) -> Result<Vec<i32>, Fault> {
    let (pairs, rest) = values.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(Fault::Bad("a run has no length"));
    }
    let mut total = 0_usize;
    for &[_, count] in pairs {
        let count =
            usize::try_from(count).map_err(|_| Fault::Bad("a run has a negative length"))?;
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

/// Differences to running sums.
pub(super) fn delta(mut values: Vec<i32>, encoding: &Value<'_>) -> Result<Vec<i32>, Fault> {
    let origin = encoding.get("origin").and_then(Value::integer).unwrap_or(0);
    let mut sum = i32::try_from(origin).map_err(|_| Fault::Bad("the origin is too large"))?;
    for value in &mut values {
        sum = sum
            .checked_add(*value)
            .ok_or(Fault::Bad("a sum of differences overflows"))?;
        *value = sum;
    }
    Ok(values)
}

/// Whole numbers divided by a factor.
pub(super) fn fixed_point(
    values: &[i32],
    encoding: &Value<'_>,
    budget: &mut Budget,
) -> Result<Vec<f64>, Fault> {
    let factor = encoding
        .get("factor")
        .and_then(Value::number)
        .unwrap_or(0.0);
    if !factor.is_finite() || factor == 0.0 {
        return Err(Fault::Bad("the factor is zero or no number"));
    }
    budget.spend(values.len())?;
    Ok(values
        .iter()
        .map(|&value| f64::from(value) / factor)
        .collect())
}

/// Steps of an interval.
pub(super) fn interval_quantization(
    values: &[i32],
    encoding: &Value<'_>,
    budget: &mut Budget,
) -> Result<Vec<f64>, Fault> {
    let number = |key: &str| encoding.get(key).and_then(Value::number);
    let (Some(min), Some(max), Some(steps)) = (number("min"), number("max"), number("numSteps"))
    else {
        return Err(Fault::Bad("the interval is not given"));
    };
    if steps < 2.0 {
        return Err(Fault::Bad("the interval has fewer than two steps"));
    }
    budget.spend(values.len())?;
    let step = (max - min) / (steps - 1.0);
    Ok(values
        .iter()
        .map(|&value| min + step * f64::from(value))
        .collect())
}

/// Fails if the encoding says how many values there are and it is not `found`.
fn check_size(found: usize, encoding: &Value<'_>) -> Result<(), Fault> {
    match encoding.get("srcSize").and_then(Value::integer) {
        Some(size) if usize::try_from(size) != Ok(found) => Err(Fault::Bad(
            "the number of values is not what the encoding says",
        )),
        _ => Ok(()),
    }
}
