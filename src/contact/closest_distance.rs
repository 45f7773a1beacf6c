//! The closest pair of spheres of different owners, however far apart they are.
//!
//! 1. halve the spheres along the longest side of their bounding box until few are left, which
//!    gives a tree of boxes;
//! 2. visit pairs of boxes, nearer ones first, starting with the root and itself;
//! 3. skip a pair of boxes that are further apart than the smallest distance found, or whose
//!    spheres all have the same owner;
//! 4. compare the spheres of two leaves one by one, in 64 bits.
//!
//! In a periodic box, the distance without further images is an upper bound, and so is the shortest
//! edge, the distance of a sphere from its own image. All images within that bound are then added.

use std::ops::Range;

use glam::{DVec3, Vec3};

use crate::periodic_box::PeriodicBox;
use crate::search::{PeriodicImages, SearchError};
use crate::spheres::SphereSet;

/// Largest number of spheres in a leaf.
const MAX_LEAF_SPHERES: usize = 16;

/// Number of spheres above which the two halves of a box are built in parallel.
const MIN_PARALLEL_SPHERES: usize = 16 * 1024;

/// Distance (nm) between the centers of the closest two spheres with different owners; `None`
/// if there are no such spheres. Centers must be finite.
#[must_use]
pub fn closest_distance(spheres: &SphereSet) -> Option<f64> {
    let center = |sphere: u32| spheres.center(sphere as usize).as_dvec3();
    closest(spheres, f64::INFINITY, 0.0, |a, b| {
        center(a).distance_squared(center(b))
    })
}

/// As [`closest_distance`], in a periodic box: images count as spheres of another owner, those of
/// a sphere itself too. `None` without spheres.
///
/// # Errors
/// [`SearchError`] if a sphere is invalid or too far from the box.
pub fn closest_periodic_distance(
    spheres: &SphereSet,
    periodic: &PeriodicBox,
) -> Result<Option<f64>, SearchError> {
    if spheres.is_empty() {
        return Ok(None);
    }
    // Centers only, so that no radius adds images.
    let mut points = spheres.clone();
    points.set_radius(0.0)?;
    let mut images = PeriodicImages::default();
    images.build(&points, periodic, 0.0)?;
    let distance_squared = |images: &PeriodicImages, a: u32, b: u32| {
        let distance = images.original_pair(a, b).distance(spheres, periodic);
        distance * distance
    };
    let shortest_edge = f64::from(periodic.size().min_element());
    let inside = closest(
        images.spheres(),
        shortest_edge,
        images.rounding(),
        |a, b| distance_squared(&images, a, b),
    );
    let bound = inside.map_or(shortest_edge, |inside| inside.min(shortest_edge));
    images.build(&points, periodic, (bound as f32).next_up())?;
    let all = closest(images.spheres(), bound, images.rounding(), |a, b| {
        distance_squared(&images, a, b)
    });
    Ok(Some(all.map_or(bound, |all| all.min(bound))))
}

/// The smallest distance (nm) of two spheres with different owners, by a function of their indices
/// that differs from the distance of their centers by at most `rounding`, nm. Distances above
/// `bound` (nm) may be missed.
fn closest(
    spheres: &SphereSet,
    bound: f64,
    rounding: f64,
    distance_squared: impl Fn(u32, u32) -> f64,
) -> Option<f64> {
    let mut order: Vec<u32> = (0..spheres.len() as u32).collect();
    if order.is_empty() {
        return None;
    }
    let tree = Node::build(spheres, &mut order, 0);
    let mut search = Search {
        spheres,
        order: &order,
        rounding,
        distance_squared,
        min_squared: f64::INFINITY,
        max_squared: max_squared(bound, rounding),
    };
    search.within(&tree);
    search
        .min_squared
        .is_finite()
        .then(|| search.min_squared.sqrt())
}

/// A box, and the range of the order of the spheres whose centers are in it.
struct Node {
    low: Vec3,
    high: Vec3,
    spheres: Range<usize>,
    /// The owner of all spheres, if they have the same.
    owner: Option<u32>,
    halves: Option<Box<[Node; 2]>>,
}

impl Node {
    /// Builds the tree over `order`, the part of the order from `start`, and sorts that.
    fn build(spheres: &SphereSet, order: &mut [u32], start: usize) -> Self {
        let first = spheres.owner(order[0] as usize);
        let mut node = Self {
            low: Vec3::INFINITY,
            high: Vec3::NEG_INFINITY,
            spheres: start..start + order.len(),
            owner: Some(first),
            halves: None,
        };
        for &sphere in &*order {
            let center = spheres.center(sphere as usize);
            node.low = node.low.min(center);
            node.high = node.high.max(center);
            if spheres.owner(sphere as usize) != first {
                node.owner = None;
            }
        }
        if order.len() <= MAX_LEAF_SPHERES {
            return node;
        }
        let axis = (node.high - node.low).max_position();
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&a, &b| {
            let key = |sphere: u32| spheres.center(sphere as usize)[axis];
            key(a).total_cmp(&key(b)).then(a.cmp(&b))
        });
        let parallel = order.len() > MIN_PARALLEL_SPHERES;
        let (left, right) = order.split_at_mut(middle);
        let mut left = || Self::build(spheres, left, start);
        let mut right = || Self::build(spheres, right, start + middle);
        let halves = if parallel {
            rayon::join(left, right)
        } else {
            (left(), right())
        };
        node.halves = Some(Box::new(halves.into()));
        node
    }

    /// Squared distance between the boxes, zero if they touch.
    fn distance_squared(&self, other: &Self) -> f64 {
        let gap: DVec3 = (self.low.as_dvec3() - other.high.as_dvec3())
            .max(other.low.as_dvec3() - self.high.as_dvec3())
            .max(DVec3::ZERO);
        gap.length_squared()
    }
}

struct Search<'a, D> {
    spheres: &'a SphereSet,
    order: &'a [u32],
    rounding: f64,
    distance_squared: D,
    /// Square of the smallest distance found, nm².
    min_squared: f64,
    /// Square of the distance (nm²) from which on boxes have no closer spheres.
    max_squared: f64,
}

impl<D: Fn(u32, u32) -> f64> Search<'_, D> {
    /// Compares the spheres of one box.
    fn within(&mut self, node: &Node) {
        if node.owner.is_some() {
            return;
        }
        match node.halves.as_deref() {
            Some([left, right]) => {
                self.within(left);
                self.within(right);
                self.between(left, right);
            }
            None => {
                for k in node.spheres.clone() {
                    for l in k + 1..node.spheres.end {
                        self.compare(k, l);
                    }
                }
            }
        }
    }

    /// Compares the spheres of two boxes.
    fn between(&mut self, a: &Node, b: &Node) {
        let same_owner = a.owner.is_some() && a.owner == b.owner;
        if same_owner || a.distance_squared(b) >= self.max_squared {
            return;
        }
        // Descend into the box with more spheres.
        let (large, small) = if a.spheres.len() >= b.spheres.len() {
            (a, b)
        } else {
            (b, a)
        };
        match large.halves.as_deref() {
            Some([left, right]) => {
                let nearer_left = small.distance_squared(left) <= small.distance_squared(right);
                let (near, far) = if nearer_left {
                    (left, right)
                } else {
                    (right, left)
                };
                self.between(near, small);
                self.between(far, small);
            }
            None => {
                for k in a.spheres.clone() {
                    for l in b.spheres.clone() {
                        self.compare(k, l);
                    }
                }
            }
        }
    }

    #[inline]
    fn compare(&mut self, k: usize, l: usize) {
        let (a, b) = (self.order[k], self.order[l]);
        if self.spheres.owner(a as usize) == self.spheres.owner(b as usize) {
            return;
        }
        let center = |sphere: u32| self.spheres.center(sphere as usize).as_dvec3();
        if center(a).distance_squared(center(b)) >= self.max_squared {
            return;
        }
        let squared = (self.distance_squared)(a, b);
        if squared < self.min_squared {
            self.min_squared = squared;
            let closer = max_squared(squared.sqrt(), self.rounding);
            self.max_squared = self.max_squared.min(closer);
        }
    }
}

/// Square (nm²) from which on centers are not closer than `distance`, nm.
fn max_squared(distance: f64, rounding: f64) -> f64 {
    // The root of a square may be rounded down.
    let rounded = distance * (1.0 + 4.0 * f64::EPSILON) + rounding;
    rounded * rounded
}
