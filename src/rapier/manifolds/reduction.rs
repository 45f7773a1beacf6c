//! Which few contacts of a patch hold a body.

use glam::Vec3;

use super::atom_contact::AtomContact;

/// Most points that Rapier's solver takes from one manifold.
pub(super) const MOST_POINTS: usize = 4;

/// Slope that decides between a contact that is deeper and one that is further out.
///
/// A contact shallower by `g` must lie `g / SLOPE` further out to be preferred: it is
/// the one that would take the load after a tilt by this angle, one degree.
const SLOPE: f32 = 0.02;

/// How much further out (nm) a contact counts if it was chosen in the step before, so
/// that two of equal worth do not take turns: a tenth of an atom.
const LOYALTY: f32 = 0.02;

/// Chooses at most four of `contacts` that hold a body: the deepest, then such that
/// reach far out, and returns how many there are and their indices.
///
/// The deepest contact must be the first. `normal` is that of the patch, `was_chosen`
/// says whether a contact was chosen in the step before.
pub(super) fn choose(
    contacts: &[AtomContact],
    normal: Vec3,
    was_chosen: impl Fn(&AtomContact) -> bool,
) -> (usize, [usize; MOST_POINTS]) {
    let mut chosen = [0; MOST_POINTS];
    if contacts.len() <= MOST_POINTS {
        for (slot, index) in chosen.iter_mut().zip(0..contacts.len()) {
            *slot = index;
        }
        return (contacts.len(), chosen);
    }
    let deepest = contacts[0];
    let offset = |contact: &AtomContact| {
        let between = contact.on_atom - deepest.on_atom;
        between - normal * normal.dot(between)
    };
    // The best index by distance out, or none if nothing is further out than nothing.
    let furthest = |out: &dyn Fn(&AtomContact) -> f32| -> Option<usize> {
        let mut best: Option<(f32, usize)> = None;
        for (index, contact) in contacts.iter().enumerate().skip(1) {
            let out = out(contact);
            if out <= f32::EPSILON {
                continue;
            }
            let loyal = if was_chosen(contact) { LOYALTY } else { 0.0 };
            let score = out - (contact.dist - deepest.dist) / SLOPE + loyal;
            if best.is_none_or(|(other, _)| score > other) {
                best = Some((score, index));
            }
        }
        best.map(|(_, index)| index)
    };

    let mut count = 1;
    let Some(second) = furthest(&|contact| offset(contact).length()) else {
        return (count, chosen);
    };
    chosen[count] = second;
    count += 1;
    // Then the furthest on either side of the line through the two.
    let across = offset(&contacts[second]).cross(normal).normalize_or_zero();
    for side in [across, -across] {
        if let Some(index) = furthest(&|contact| offset(contact).dot(side))
            && !chosen[..count].contains(&index)
        {
            chosen[count] = index;
            count += 1;
        }
    }
    (count, chosen)
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
    fn corners_of_a_square_are_chosen_over_what_lies_inside() {
        let mut contacts = vec![at(-1.0, -1.0, -0.001)];
        for k in 0..9 {
            contacts.push(at((k % 3) as f32 * 0.3, (k / 3) as f32 * 0.3, 0.0));
        }
        contacts.extend([at(1.0, 1.0, 0.0), at(1.0, -1.0, 0.0), at(-1.0, 1.0, 0.0)]);
        let (count, mut chosen) = choose(&contacts, Vec3::NEG_Y, |_| false);
        chosen.sort_unstable();
        assert_eq!((count, chosen), (4, [0, 10, 11, 12]));
    }

    #[test]
    fn a_contact_that_carries_is_chosen_over_one_that_floats_further_out() {
        let mut contacts = vec![at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(0.5, 0.5, 0.0)];
        contacts.extend([at(1.1, 0.0, 0.02), at(0.5, 0.6, 0.02), at(0.2, 0.2, 0.02)]);
        let (count, chosen) = choose(&contacts, Vec3::NEG_Y, |_| false);
        assert_eq!(count, 3);
        assert!([0, 1, 2].iter().all(|index| chosen.contains(index)));
    }

    #[test]
    fn the_choice_of_the_step_before_stays_among_equals() {
        let contacts: Vec<_> = (0..12)
            .map(|k| {
                let angle = k as f32 * 0.52;
                at(angle.cos(), angle.sin(), 0.0)
            })
            .collect();
        let (_, before) = choose(&contacts, Vec3::NEG_Y, |_| false);
        let loyal = |contact: &AtomContact| before.iter().any(|&k| contacts[k] == *contact);
        assert_eq!(choose(&contacts, Vec3::NEG_Y, loyal).1, before);
    }

    #[test]
    fn coincident_contacts_give_one_point() {
        let contacts = vec![at(0.0, 0.0, 0.0); 9];
        assert_eq!(choose(&contacts, Vec3::NEG_Y, |_| false).0, 1);
    }
}
