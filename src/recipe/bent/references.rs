//! Checks of ids: each is defined once, each reference leads to a definition, no compartment
//! depends on itself.

use std::collections::HashMap;

use crate::names::closest_name;

use super::error::{BentErrorKind, Location};
use super::syntax_tree::Compartment;

/// An id that is used, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference<'a> {
    pub(super) id: &'a str,
    pub(super) location: Location,
}

type Failure = (Location, BentErrorKind);

/// The index of each id; `kind` is `compartment` or `constraint`.
pub(super) fn unique_ids<'a>(
    kind: &'static str,
    definitions: impl Iterator<Item = (&'a str, Location)>,
) -> Result<HashMap<&'a str, usize>, Failure> {
    let mut known = HashMap::<&str, (usize, Location)>::new();
    for (index, (id, location)) in definitions.enumerate() {
        if let Some((_, first)) = known.insert(id, (index, location)) {
            let id = id.to_owned();
            return Err((location, BentErrorKind::DuplicateId { kind, id, first }));
        }
    }
    let indices = known.into_iter().map(|(id, (index, _))| (id, index));
    Ok(indices.collect())
}

/// Checks that all references lead to one of the ids.
pub(super) fn check_known(
    kind: &'static str,
    references: &[Reference<'_>],
    ids: &HashMap<&str, usize>,
) -> Result<(), Failure> {
    let unknown = references
        .iter()
        .find(|reference| !ids.contains_key(reference.id));
    let Some(Reference { id, location }) = unknown else {
        return Ok(());
    };
    Err((
        *location,
        BentErrorKind::Unexpected {
            expected: format!("the id of a {kind}"),
            found: format!("'{id}'"),
            suggestion: closest_name(id, ids.keys().copied()),
        },
    ))
}

/// Checks that no compartment depends on itself, by a depth-first search along references.
pub(super) fn check_no_cycles(
    compartments: &[Compartment],
    ids: &HashMap<&str, usize>,
) -> Result<(), Failure> {
    let references = |index: usize| {
        let names = compartments[index].shape.references().into_iter();
        names
            .filter_map(|id| ids.get(id).copied())
            .collect::<Vec<usize>>()
    };
    let mut visited = vec![false; compartments.len()];
    let mut on_path = vec![false; compartments.len()];
    for start in 0..compartments.len() {
        if visited[start] {
            continue;
        }
        // The path from `start`, each compartment with the references not followed yet. A stack
        // of its own, because chains can have any length.
        visited[start] = true;
        on_path[start] = true;
        let mut path = vec![(start, references(start))];
        while let Some((index, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                on_path[*index] = false;
                path.pop();
                continue;
            };
            if on_path[next] {
                let path: Vec<usize> = path.iter().map(|(index, _)| *index).collect();
                return Err(cycle(compartments, &path, next));
            }
            if !visited[next] {
                visited[next] = true;
                on_path[next] = true;
                path.push((next, references(next)));
            }
        }
    }
    Ok(())
}

/// The error of a path whose last compartment refers to `again`, which is on the path.
fn cycle(compartments: &[Compartment], path: &[usize], again: usize) -> Failure {
    let from = path.iter().position(|index| *index == again).unwrap_or(0);
    let mut members = path[from..].to_vec();
    // Starts with the first compartment in the file.
    let first = (0..members.len()).min_by_key(|at| members[*at]);
    members.rotate_left(first.unwrap_or(0));
    let head = &compartments[members[0]];
    let ids = members.iter().map(|index| compartments[*index].id.clone());
    let cycle = ids.chain([head.id.clone()]).collect();
    let id = head.id.clone();
    (head.location, BentErrorKind::Cycle { id, cycle })
}
