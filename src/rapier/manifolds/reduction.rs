//! Selection of the few contacts of a manifold that support a body.

use glam::Vec3;

use super::AtomContact;

/// Maximum number of points that Rapier's solver uses of one manifold.
pub(super) const MAX_POINTS: usize = 4;

/// Trade-off between depth and distance from the deepest contact.
///
/// A contact shallower by `g` must be `g / SLOPE` further away to be preferred: it would
/// take the load after a tilt by this angle, one degree.
const SLOPE: f32 = 0.02;

/// Bonus (nm) for a contact selected in the previous step, so that two equal contacts do
/// not alternate: a tenth of an atom.
const PREVIOUS_BONUS: f32 = 0.02;

/// Selects at most four of `contacts` that support a body: the deepest, then contacts far
/// from it in different directions. Returns their number and their indices.
///
/// The deepest contact must be the first. `normal` is the normal of the manifold;
/// `was_selected` returns whether a contact was selected in the previous step.
pub(super) fn select_points(
    contacts: &[AtomContact],
    normal: Vec3,
    was_selected: impl Fn(&AtomContact) -> bool,
) -> (usize, [usize; MAX_POINTS]) {
    let mut selected = [0; MAX_POINTS];
    if contacts.len() <= MAX_POINTS {
        for (slot, index) in selected.iter_mut().zip(0..contacts.len()) {
            *slot = index;
        }
        return (contacts.len(), selected);
    }
    let deepest = contacts[0];
    let offset = |contact: &AtomContact| {
        let between = contact.on_atom - deepest.on_atom;
        between - normal * normal.dot(between)
    };
    // The index with the best score, among contacts with a positive distance.
    let furthest = |distance: &dyn Fn(&AtomContact) -> f32| -> Option<usize> {
        let mut best: Option<(f32, usize)> = None;
        for (index, contact) in contacts.iter().enumerate().skip(1) {
            let distance = distance(contact);
            if distance <= f32::EPSILON {
                continue;
            }
            let bonus = if was_selected(contact) {
                PREVIOUS_BONUS
            } else {
                0.0
            };
            let score = distance - (contact.dist - deepest.dist) / SLOPE + bonus;
            if best.is_none_or(|(other, _)| score > other) {
                best = Some((score, index));
            }
        }
        best.map(|(_, index)| index)
    };

    let mut count = 1;
    let Some(second) = furthest(&|contact| offset(contact).length()) else {
        return (count, selected);
    };
    selected[count] = second;
    count += 1;
    // The furthest on either side of the line through the first two.
    let across = offset(&contacts[second]).cross(normal).normalize_or_zero();
    for side in [across, -across] {
        if let Some(index) = furthest(&|contact| offset(contact).dot(side))
            && !selected[..count].contains(&index)
        {
            selected[count] = index;
            count += 1;
        }
    }
    (count, selected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, z: f32, dist: f32) -> AtomContact {
        AtomContact {
            atom: 0,
            other: 0,
            on_atom: Vec3::new(x, 0.0, z),
            on_other: Vec3::new(x, -dist, z),
            normal: Vec3::NEG_Y,
            dist,
            direction: 0,
        }
    }

    #[test]
    fn corners_of_a_square_are_preferred_to_its_interior() {
        let mut contacts = vec![at(-1.0, -1.0, -0.001)];
        for k in 0..9 {
            contacts.push(at((k % 3) as f32 * 0.3, (k / 3) as f32 * 0.3, 0.0));
        }
        contacts.extend([at(1.0, 1.0, 0.0), at(1.0, -1.0, 0.0), at(-1.0, 1.0, 0.0)]);
        let (count, mut selected) = select_points(&contacts, Vec3::NEG_Y, |_| false);
        selected.sort_unstable();
        assert_eq!((count, selected), (4, [0, 10, 11, 12]));
    }

    #[test]
    fn a_touching_contact_is_preferred_to_a_separated_one_further_out() {
        let mut contacts = vec![at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.5, 0.5, 0.0)];
        contacts.extend([at(1.1, 0.0, 0.02), at(0.5, 0.6, 0.02), at(0.2, 0.2, 0.02)]);
        let (count, selected) = select_points(&contacts, Vec3::NEG_Y, |_| false);
        assert_eq!(count, 3);
        assert!([0, 1, 2].iter().all(|index| selected.contains(index)));
    }

    #[test]
    fn the_previous_selection_is_kept_among_equals() {
        let contacts: Vec<_> = (0..12)
            .map(|k| {
                let angle = k as f32 * 0.52;
                at(angle.cos(), angle.sin(), 0.0)
            })
            .collect();
        let (_, previous) = select_points(&contacts, Vec3::NEG_Y, |_| false);
        let was_selected =
            |contact: &AtomContact| previous.iter().any(|&k| contacts[k] == *contact);
        assert_eq!(
            select_points(&contacts, Vec3::NEG_Y, was_selected).1,
            previous
        );
    }

    #[test]
    fn coincident_contacts_give_one_point() {
        let contacts = vec![at(0.0, 0.0, 0.0); 9];
        assert_eq!(select_points(&contacts, Vec3::NEG_Y, |_| false).0, 1);
    }
}
