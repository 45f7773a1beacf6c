//! [`with_molecules`]: a recipe file with the numbers and places of its molecules.
//!
//! Numbers replace those of the composition, except where fibers or a rule determine them; places
//! and joints are in the lists `placements` and `joints` of the block `bevy_rapier_molecules`. All
//! other keys stay.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::resolve::NM_PER_ANGSTROM;
use crate::crowd::{CrowdJoint, JointLimits};
use crate::pose::Pose;
use crate::recipe::model::{Entry, Recipe, Region, SavedMolecules};
use crate::recipe::rule::Rule;

/// The block of our additions.
const BLOCK: &str = "bevy_rapier_molecules";

/// The file of a recipe with `counts` of each row and all molecules at their places. The members of
/// `joints` are indices of all poses, one after the other.
pub(in crate::recipe) fn with_molecules(
    document: &Value,
    recipe: &Recipe,
    counts: &[u32],
    molecules: &[SavedMolecules],
    joints: &[CrowdJoint],
) -> Value {
    let mut document = document.clone();
    let mut items: BTreeMap<&str, u32> = BTreeMap::new();
    let counted = recipe.entries.iter().zip(counts);
    for (entry, &count) in counted.filter(|(entry, _)| has_count(entry)) {
        // An entry of several regions gets the smallest number: the places of the others count.
        let least = items.entry(&entry.place).or_insert(count);
        *least = count.min(*least);
    }
    for (place, count) in items {
        if let Some(item) = item_at(&mut document, place) {
            item.remove("count_options");
            item.remove("molarity");
            item.insert("count".to_owned(), count.into());
        }
    }
    let unit = document.pointer(&format!("/{BLOCK}/unit"));
    let is_nm = unit
        .and_then(Value::as_str)
        .is_some_and(|unit| unit.starts_with("n"));
    let nm = if is_nm { 1.0 } else { NM_PER_ANGSTROM };
    let placements = placements(recipe, molecules, nm);
    if let Some(fields) = document.as_object_mut() {
        let block = fields.entry(BLOCK).or_insert_with(|| Map::new().into());
        if let Some(block) = block.as_object_mut() {
            let entries = block.get_mut("composition").and_then(Value::as_object_mut);
            let entries = entries.into_iter().flat_map(Map::values_mut);
            for entry in entries.filter_map(Value::as_object_mut) {
                entry.remove("places");
            }
            block.insert("placements".to_owned(), placements);
            block.remove("joints");
            if !joints.is_empty() {
                let joints = joints.iter().map(|joint| joint_value(joint, nm)).collect();
                block.insert("joints".to_owned(), joints);
            }
        }
    }
    document
}

/// Whether the count of an entry is its number of molecules.
fn has_count(entry: &Entry) -> bool {
    let rule = entry.rule.as_ref();
    entry.fiber.is_none() && !rule.is_some_and(Rule::determines_count)
}

/// The item of the composition at a place, such as `composition.proteins` or
/// `composition.cell.regions.interior[2]`.
fn item_at<'a>(document: &'a mut Value, place: &str) -> Option<&'a mut Map<String, Value>> {
    let path = place.strip_prefix("composition.")?;
    let composition = document.get_mut("composition")?.as_object_mut()?;
    if composition.contains_key(path) {
        return composition.get_mut(path)?.as_object_mut();
    }
    // Names may have dots.
    let (rest, index) = path.strip_suffix(']')?.rsplit_once('[')?;
    let (rest, region) = rest.rsplit_once('.')?;
    let name = rest.strip_suffix(".regions")?;
    let regions = composition
        .get_mut(name)?
        .get_mut("regions")?
        .as_object_mut()?;
    let hyphenated = region.replace('_', "-");
    let key = [region, &hyphenated]
        .into_iter()
        .find(|key| regions.contains_key(*key))?;
    let items = regions.get_mut(key)?.as_array_mut()?;
    items.get_mut(index.parse::<usize>().ok()?)?.as_object_mut()
}

/// The list of all molecules.
fn placements(recipe: &Recipe, molecules: &[SavedMolecules], nm: f64) -> Value {
    let rows = recipe.rows();
    let mut numbers: HashMap<(usize, Region, &str, &str), usize> = HashMap::new();
    let mut names = Vec::new();
    for row in &rows {
        let object = &*recipe.ingredients[row.ingredient].name;
        let key = (row.compartment, row.region, object, row.name);
        let number = numbers.entry(key).or_insert(0);
        names.push((object, *number));
        *number += 1;
    }
    let groups = molecules.iter().map(|group| {
        let row = &rows[group.row];
        let (object, nth) = names[group.row];
        let poses = group.poses.iter().map(|pose| pose_value(pose, nm));
        let mut value = json!({
            "compartment": recipe.compartments[row.compartment].name,
            "region": row.region.name(),
            "object": object,
            "poses": poses.collect::<Vec<Value>>(),
        });
        let mut optional = |key: &str, is_given: bool, field: Value| {
            if is_given {
                value[key] = field;
            }
        };
        optional("name", row.name != object, row.name.into());
        optional("nth", nth > 0, nth.into());
        optional("conformer", group.conformer > 0, group.conformer.into());
        optional("fixed", group.fixed, true.into());
        let radius = group.radius.map(|radius| number(radius, nm));
        optional("radius", radius.is_some(), radius.unwrap_or_default());
        value
    });
    groups.collect()
}

/// A joint, without the limits that are defaults.
fn joint_value(joint: &CrowdJoint, nm: f64) -> Value {
    let (limits, free) = (&joint.limits, JointLimits::default());
    let mut value = json!({
        "members": joint.members,
        "frames": joint.frames.map(|frame| pose_value(&frame, nm)),
        "gap": number(limits.gap, nm),
    });
    let optional = [
        ("min_gap", limits.min_gap, free.min_gap, nm),
        ("bend", limits.bend, free.bend, 1.0),
        ("twist", limits.twist, free.twist, 1.0),
    ];
    for (key, limit, default, unit) in optional {
        if limit.to_bits() != default.to_bits() {
            value[key] = number(limit, unit);
        }
    }
    value
}

/// Position and rotation of a molecule or frame.
fn pose_value(pose: &Pose, nm: f64) -> Value {
    let position = pose.position.to_array().map(|part| number(part, nm));
    let rotation = pose.rotation.to_array().map(|part| number(part, 1.0));
    position.into_iter().chain(rotation).collect()
}

/// The number with the fewest digits that is read as `value`, bit for bit, in a unit of `unit`.
fn number(value: f32, unit: f64) -> Value {
    let exact = f64::from(value) / unit;
    let is_read = |number: f64| {
        // A reader may be off by one in the last digit.
        let near = [number.next_down(), number, number.next_up()];
        near.iter()
            .all(|near| ((near * unit) as f32).to_bits() == value.to_bits())
    };
    let rounded = (5..=15).find_map(|digits| {
        let number = format!("{exact:.digits$e}").parse::<f64>().ok()?;
        is_read(number).then_some(number)
    });
    let number = if value == 0.0 {
        f64::from(value)
    } else {
        rounded.unwrap_or(exact)
    };
    serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_as_the_same_bits() {
        let mut bits = 1_u32;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = f32::from_bits(bits);
            if !(1.0e-20..1.0e6).contains(&value.abs()) {
                continue;
            }
            for unit in [1.0, NM_PER_ANGSTROM] {
                let text = number(value, unit).to_string();
                let read: f64 = serde_json::from_str(&text).unwrap();
                assert_eq!(((read * unit) as f32).to_bits(), bits, "{text} for {value}");
                assert!(text.len() <= 16, "{text} for {value}");
            }
        }
        assert_eq!(number(-0.0, NM_PER_ANGSTROM).to_string(), "-0.0");
        assert_eq!(number(0.1, 1.0).to_string(), "0.1");
    }
}
