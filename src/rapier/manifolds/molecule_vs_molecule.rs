//! Contacts between the atoms of two molecules.

use std::cell::RefCell;

use glam::Vec3;
use rapier3d::parry::math::Pose3;

use super::AtomContact;
use crate::dynamics::contact_reduction::{MAX_PAIRS_IN_HALF_BUCKETS, deepest_of_buckets};
use crate::pose::Pose;
use crate::rapier::MoleculeShape;
use crate::search::{MoleculePairSearch, Pair};

/// Depth, relative to the radius of the smaller atom, beyond which the line between two
/// centers is no longer a reliable separation direction.
///
/// With 0.5, eight proteins dropped on each other with overlaps of up to 0.2 nm separated
/// within seconds; with 1.0 some stayed interlocked.
const DEEP_RATIO: f32 = 0.5;

thread_local! {
    /// Buffers, reused so that a step does not allocate.
    static SEARCH: RefCell<MoleculePairSearch> = RefCell::default();
}

/// Collects the pairs of atoms that are closer than `prediction` nm, in the frame of `a`. `pose` is
/// the pose of `b` in the frame of `a`.
///
/// Of more than [`MAX_PAIRS_IN_HALF_BUCKETS`] pairs, only the deepest of each bucket of the
/// [contact reduction](crate::dynamics): the molecules interpenetrate then.
pub(in crate::rapier) fn collect(
    a: &MoleculeShape,
    b: &MoleculeShape,
    pose: &Pose3,
    prediction: f32,
    contacts: &mut Vec<AtomContact>,
) {
    let between_centers = pose.translation.normalize_or(Vec3::Y);
    let relative = Pose::new(pose.translation, pose.rotation);
    SEARCH.with_borrow_mut(|search| {
        let found = search.find_between([a.spheres(), b.spheres()], &relative, prediction);
        let radii = [a.template().radii(), b.template().radii()];
        let contact = |pair: Pair, [own, other]: [Vec3; 2], gap: f32| {
            let between = other - own;
            let distance = between.length();
            let normal = if distance > f32::MIN_POSITIVE {
                between / distance
            } else {
                between_centers
            };
            AtomContact {
                atom: pair.a,
                other: pair.b,
                on_atom: own + normal * radii[0][pair.a as usize],
                on_other: own + normal * (distance - radii[1][pair.b as usize]),
                normal,
                dist: gap,
                direction: 0,
            }
        };
        if found.pairs.len() <= MAX_PAIRS_IN_HALF_BUCKETS as usize {
            let all = found.pairs.iter().zip(found.centers).zip(found.gaps);
            contacts.extend(all.map(|((&pair, &centers), &gap)| contact(pair, centers, gap)));
            return;
        }
        for pair in deepest_of_buckets(found.pairs, found.gaps) {
            let own = a.template().positions()[pair.a as usize];
            let other = relative.transform_point(b.template().positions()[pair.b as usize]);
            let gap = own.distance(other) - (radii[0][pair.a as usize] + radii[1][pair.b as usize]);
            contacts.push(contact(pair, [own, other], gap));
        }
    });
}

/// Blends the normals of deep contacts towards the separation direction of the molecules.
///
/// When two atoms have almost passed through each other, the line between their centers may
/// point further in, and the contacts of two interlocked surfaces block each other. The
/// separation direction is the one in which the overlap shrinks fastest: the sum of the
/// normals weighted by depth (the gradient of the sum of squared depths). To the extent that
/// the normals disagree, it is the line between the centers of mass. The blend factor of a
/// contact is its depth relative to [`DEEP_RATIO`], so shallow contacts keep their normals.
/// Contacts that point the opposite way use the factor of the deepest one.
pub(in crate::rapier) fn blend_deep_normals(
    a: &MoleculeShape,
    b: &MoleculeShape,
    pose: &Pose3,
    contacts: &mut [AtomContact],
) {
    let blend_factor = |contact: &AtomContact| match (a.atom(contact.atom), b.atom(contact.other)) {
        (Some((_, ra)), Some((_, rb))) => {
            (-contact.dist / (DEEP_RATIO * ra.min(rb))).clamp(0.0, 1.0)
        }
        _ => 0.0,
    };
    let (mut sum, mut total, mut max_factor) = (Vec3::ZERO, 0.0, 0.0_f32);
    for contact in contacts.iter().filter(|contact| contact.dist < 0.0) {
        sum -= contact.normal * contact.dist;
        total -= contact.dist;
        max_factor = max_factor.max(blend_factor(contact));
    }
    if max_factor == 0.0 {
        return;
    }
    let between_centers = pose.translation.normalize_or(Vec3::Y);
    let agreement = sum.length() / total;
    let separation =
        (sum / total + (1.0 - agreement) * between_centers).normalize_or(between_centers);
    for contact in contacts {
        let factor = if contact.normal.dot(separation) < 0.0 {
            max_factor
        } else {
            blend_factor(contact)
        };
        let blended = contact.normal.lerp(separation, factor);
        contact.normal = blended.normalize_or(separation);
    }
}
