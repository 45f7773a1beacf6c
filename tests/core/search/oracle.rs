//! Compares a search with [`BruteForce`].

use std::collections::BTreeMap;
use std::sync::Mutex;

use bevy_rapier_molecules::search::{
    BruteForce, HierarchicalGrid, Pair, PairBuffer, PairSearch, UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::search::searches::{Field, Promise, with_searches};

/// Largest relative rounding error of one 32-bit operation.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// How far, relative to the squared reach, a squared distance may be from it for
/// the 32-bit result to be undecided.
///
/// With u = 2⁻²⁴, each (xᵢ − xⱼ)² has a relative error of at most 3 u (one
/// subtraction, squared, one product), and the two additions of terms that are not
/// negative make it 5 u. The reach is the result of at most two additions, its
/// square has at most 2 · 2 u + u = 5 u. Together 10 u, and a little for what is of
/// second order. Underflow does not matter while a reach is above 10⁻¹⁸ nm.
pub const BAND: f64 = 10.1 * UNIT;

/// What a search has to say about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Overlaps,
    Apart,
    /// Too close to call in 32 bits.
    Either,
}

/// What a search has to say about spheres `a` and `b`.
pub fn verdict(spheres: &SphereSet, margin: f32, a: usize, b: usize) -> Verdict {
    if spheres.owner(a) == spheres.owner(b) {
        return Verdict::Apart;
    }
    let distance = (spheres.center(a).as_dvec3() - spheres.center(b).as_dvec3()).length_squared();
    let reach = f64::from(spheres.radius(a)) + f64::from(spheres.radius(b)) + f64::from(margin);
    if distance < reach * reach * (1.0 - BAND) {
        Verdict::Overlaps
    } else if distance >= reach * reach * (1.0 + BAND) {
        Verdict::Apart
    } else {
        Verdict::Either
    }
}

/// Checks `find_pairs` and `count_pairs` of the searches of a field against brute force; those that
/// promise the sequence of the grid are held to it.
///
/// Returns the number of pairs, or what is wrong.
pub fn compare(field: Field, spheres: &SphereSet, margin: f32) -> Result<usize, String> {
    let mut expected = PairBuffer::new();
    BruteForce
        .find_pairs(spheres, margin, &mut expected)
        .map_err(|error| format!("brute force refuses: {error}"))?;
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
        return Err("the hierarchy gives other pairs than the grid".into());
    }
    with_searches(field, spheres, |search, promise| {
        let name = search.name();
        run(search, spheres, margin, &mut found)?;
        match promise {
            Promise::Pairs => {
                explain_differences(spheres, margin, &found.to_sorted_vec(), &expected)
                    .map_err(|fault| format!("{name}: {fault}"))
            }
            Promise::Hierarchy if levels.iter().eq(found.iter()) => Ok(()),
            Promise::Hierarchy => Err(format!("{name} gives another sequence than the hierarchy")),
            Promise::SamePairs if sequence.to_sorted_vec() == found.to_sorted_vec() => Ok(()),
            Promise::SamePairs => Err(format!("{name} gives other pairs than the grid")),
            Promise::Sequence if sequence.iter().eq(found.iter()) => Ok(()),
            Promise::Sequence => Err(format!("{name} gives another sequence than the grid")),
        }
    })?;
    Ok(expected.len())
}

/// Checks that `find_gaps` finds the same pairs, and their gaps bit for bit.
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
        .map_err(|error| format!("no gaps: {error}"))?;
    if !found.iter().eq(sequence.iter()) {
        return Err("other pairs with gaps than without".into());
    }
    let lists = lists.into_inner().unwrap();
    let told = || lists.values().flat_map(|(pairs, _)| pairs);
    if !told().copied().eq(sequence.iter()) {
        return Err("lists are not told in full".into());
    }
    let gaps = lists.values().flat_map(|(_, gaps)| gaps);
    for (pair, gap) in told().zip(gaps) {
        let expected = pair.gap(spheres);
        if gap.to_bits() != expected.to_bits() {
            return Err(format!("{pair:?} has a gap of {expected} nm, not {gap}"));
        }
    }
    Ok(())
}

/// [`compare`] for tests that panic.
#[track_caller]
pub fn assert_exact(spheres: &SphereSet, margin: f32) -> usize {
    compare(Field::Everyone, spheres, margin)
        .unwrap_or_else(|fault| panic!("margin {margin}: {fault}"))
}

/// Runs both methods of a search, which must agree.
fn run(
    search: &mut dyn PairSearch,
    spheres: &SphereSet,
    margin: f32,
    pairs: &mut PairBuffer,
) -> Result<(), String> {
    let name = search.name();
    let fault = |error| format!("{name} refuses: {error}");
    search.find_pairs(spheres, margin, pairs).map_err(fault)?;
    let count = search.count_pairs(spheres, margin).map_err(fault)?;
    if count != pairs.len() as u64 {
        return Err(format!("{name} counted {count}, found {}", pairs.len()));
    }
    Ok(())
}

/// Both lists are sorted; they may only differ in pairs that are too close to call.
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
            return Err(format!("{pair:?} is no pair of {} spheres", spheres.len()));
        }
    }
    if let Some(twice) = found.windows(2).find(|two| two[0] == two[1]) {
        return Err(describe("double", twice[0]));
    }
    let differing = |these: &[Pair], those: &[Pair], wrong: Verdict| {
        these.iter().copied().find(|pair| {
            those.binary_search(pair).is_err()
                && verdict(spheres, margin, pair.a as usize, pair.b as usize) == wrong
        })
    };
    if let Some(extra) = differing(found, expected, Verdict::Apart) {
        return Err(describe("extra", extra));
    }
    if let Some(missing) = differing(expected, found, Verdict::Overlaps) {
        return Err(describe("missing", missing));
    }
    Ok(())
}
