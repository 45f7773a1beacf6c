//! Comparison of the searches with [`BruteForce`].

use std::collections::BTreeMap;
use std::sync::Mutex;

use bevy_rapier_molecules::search::{
    BruteForce, HierarchicalGrid, Pair, PairBuffer, PairSearch, UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::search::searches::{Guarantee, Selection, with_searches};

/// Largest relative rounding error of one 32-bit operation.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Largest relative difference of a squared distance from the squared reach at which the 32-bit
/// result is undecided.
///
/// With u = 2⁻²⁴, each (xᵢ − xⱼ)² has a relative error of at most 3 u (one subtraction, squared,
/// one product), and the two additions of non-negative terms make it 5 u. The reach is the result
/// of at most two additions, and its square has at most 2 · 2 u + u = 5 u. Together 10 u, and a
/// little for terms of second order. Underflow does not matter for a reach above 10⁻¹⁸ nm.
pub const BAND: f64 = 10.1 * UNIT;

/// Expected result for a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Overlaps,
    Apart,
    /// Undecided in 32 bits.
    Undecided,
}

/// Expected result for spheres `a` and `b`.
pub fn expected_result(spheres: &SphereSet, margin: f32, a: usize, b: usize) -> Expected {
    if spheres.owner(a) == spheres.owner(b) {
        return Expected::Apart;
    }
    let distance = (spheres.center(a).as_dvec3() - spheres.center(b).as_dvec3()).length_squared();
    let reach = f64::from(spheres.radius(a)) + f64::from(spheres.radius(b)) + f64::from(margin);
    if distance < reach * reach * (1.0 - BAND) {
        Expected::Overlaps
    } else if distance >= reach * reach * (1.0 + BAND) {
        Expected::Apart
    } else {
        Expected::Undecided
    }
}

/// Compares all methods of the selected searches with brute force, and checks their guarantees.
///
/// Returns the number of pairs, or a description of the difference.
pub fn compare(selection: Selection, spheres: &SphereSet, margin: f32) -> Result<usize, String> {
    let mut expected = PairBuffer::new();
    BruteForce
        .find_pairs(spheres, margin, &mut expected)
        .map_err(|error| format!("brute force fails: {error}"))?;
    let expected = expected.to_sorted_vec();
    let mut sequence = PairBuffer::new();
    run(&mut UniformGrid::new(), spheres, margin, &mut sequence)?;
    explain_differences(spheres, margin, &sequence.to_sorted_vec(), &expected)?;
    for mut grid in [UniformGrid::new(), UniformGrid::scalar()] {
        compare_gaps(&mut grid, spheres, margin, &sequence)?;
    }
    let mut found = PairBuffer::new();
    let mut levels = PairBuffer::new();
    let mut hierarchy = HierarchicalGrid::new();
    run(&mut hierarchy, spheres, margin, &mut levels)?;
    compare_gaps(&mut hierarchy, spheres, margin, &levels)?;
    if sequence.to_sorted_vec() != levels.to_sorted_vec() {
        return Err("the hierarchical grid finds other pairs than the uniform grid".into());
    }
    with_searches(selection, spheres, |search, guarantee| {
        let name = search.name();
        run(search, spheres, margin, &mut found)?;
        match guarantee {
            Guarantee::Contract => {
                explain_differences(spheres, margin, &found.to_sorted_vec(), &expected)
                    .map_err(|error| format!("{name}: {error}"))
            }
            Guarantee::HierarchicalOrder if levels.iter().eq(found.iter()) => Ok(()),
            Guarantee::HierarchicalOrder => Err(format!(
                "{name} differs from the order of the hierarchical grid"
            )),
            Guarantee::UniformPairs if sequence.to_sorted_vec() == found.to_sorted_vec() => Ok(()),
            Guarantee::UniformPairs => {
                Err(format!("{name} finds other pairs than the uniform grid"))
            }
            Guarantee::UniformOrder if sequence.iter().eq(found.iter()) => Ok(()),
            Guarantee::UniformOrder => {
                Err(format!("{name} differs from the order of the uniform grid"))
            }
        }
    })?;
    Ok(expected.len())
}

/// Checks that `find_gaps` and `visit_pairs` find the same pairs, and their gaps bit for bit.
fn compare_gaps(
    search: &mut dyn PairSearch,
    spheres: &SphereSet,
    margin: f32,
    sequence: &PairBuffer,
) -> Result<(), String> {
    let lists = Mutex::new(BTreeMap::new());
    let each = |number: usize, pairs: &[Pair], gaps: &[f32]| {
        let list = (pairs.to_vec(), gaps.to_vec());
        lists.lock().unwrap().insert(number, list);
    };
    let mut found = PairBuffer::new();
    search
        .find_gaps(spheres, margin, &mut found, &each)
        .map_err(|error| format!("find_gaps fails: {error}"))?;
    if !found.iter().eq(sequence.iter()) {
        return Err("find_gaps finds other pairs than find_pairs".into());
    }
    let lists = lists.into_inner().unwrap();
    let listed = || lists.values().flat_map(|(pairs, _)| pairs);
    if !listed().copied().eq(sequence.iter()) {
        return Err("the lists of find_gaps are incomplete".into());
    }
    let gaps = lists.values().flat_map(|(_, gaps)| gaps);
    for (pair, gap) in listed().zip(gaps) {
        let expected = pair.gap(spheres);
        if gap.to_bits() != expected.to_bits() {
            return Err(format!("{pair:?} has a gap of {expected} nm, not {gap}"));
        }
    }
    let visited = Mutex::new(Vec::new());
    let visit = |pairs: &[Pair], gaps: &[f32]| {
        let batch = pairs
            .iter()
            .zip(gaps)
            .map(|(pair, gap)| (*pair, gap.to_bits()));
        visited.lock().unwrap().extend(batch);
    };
    search
        .visit_pairs(spheres, margin, &visit)
        .map_err(|error| format!("visit_pairs fails: {error}"))?;
    let mut visited = visited.into_inner().unwrap();
    visited.sort_unstable();
    let expected = sequence.to_sorted_vec();
    let expected = expected
        .iter()
        .map(|pair| (*pair, pair.gap(spheres).to_bits()));
    if !visited.into_iter().eq(expected) {
        return Err("visit_pairs finds other pairs or gaps than find_pairs".into());
    }
    Ok(())
}

/// [`compare`], panicking.
#[track_caller]
pub fn assert_exact(spheres: &SphereSet, margin: f32) -> usize {
    compare(Selection::All, spheres, margin)
        .unwrap_or_else(|error| panic!("margin {margin}: {error}"))
}

/// Runs `find_pairs` and `count_pairs`, which must agree.
fn run(
    search: &mut dyn PairSearch,
    spheres: &SphereSet,
    margin: f32,
    pairs: &mut PairBuffer,
) -> Result<(), String> {
    let name = search.name();
    let describe = |error| format!("{name} fails: {error}");
    search
        .find_pairs(spheres, margin, pairs)
        .map_err(describe)?;
    let count = search.count_pairs(spheres, margin).map_err(describe)?;
    if count != pairs.len() as u64 {
        return Err(format!("{name} counted {count}, found {}", pairs.len()));
    }
    Ok(())
}

/// Compares two sorted lists, which may only differ in undecided pairs.
fn explain_differences(
    spheres: &SphereSet,
    margin: f32,
    found: &[Pair],
    expected: &[Pair],
) -> Result<(), String> {
    let describe = |what: &str, pair: Pair| {
        let (a, b) = (pair.a as usize, pair.b as usize);
        format!(
            "{what} pair {a} at {:?} r {} and {b} at {:?} r {}",
            spheres.center(a),
            spheres.radius(a),
            spheres.center(b),
            spheres.radius(b),
        )
    };
    for pair in found {
        if pair.a >= pair.b || pair.b as usize >= spheres.len() {
            return Err(format!(
                "{pair:?} is not a pair of {} spheres",
                spheres.len()
            ));
        }
    }
    if let Some(twice) = found.windows(2).find(|two| two[0] == two[1]) {
        return Err(describe("duplicate", twice[0]));
    }
    let differing = |these: &[Pair], those: &[Pair], wrong: Expected| {
        these.iter().copied().find(|pair| {
            those.binary_search(pair).is_err()
                && expected_result(spheres, margin, pair.a as usize, pair.b as usize) == wrong
        })
    };
    if let Some(extra) = differing(found, expected, Expected::Apart) {
        return Err(describe("extra", extra));
    }
    if let Some(missing) = differing(expected, found, Expected::Overlaps) {
        return Err(describe("missing", missing));
    }
    Ok(())
}
