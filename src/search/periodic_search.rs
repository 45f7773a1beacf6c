//! [`PeriodicSearch`]: any search for spheres, in a periodic box.
//!
//! 1. Every sphere is moved into the box by a lattice vector.
//! 2. Images of the spheres are added around it, as far as the spheres reach. Of the two images at
//!    opposite lattice vectors only one is added: each pair of a sphere and an image occurs once.
//! 3. The spheres of an owner that were moved by different lattice vectors get different owners.
//! 4. The inner search finds the pairs of this set, with a little slack for the rounding of moved
//!    centers.
//! 5. Pairs of two images are dropped. The others are compared again in 64 bits, so that all inner
//!    searches find the same pairs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::DVec3;

use super::{MAX_STORED_PAIRS, Pair, PairSearch, SearchError, check_margin};
use crate::periodic_box::PeriodicBox;
use crate::spheres::SphereSet;

/// Largest mean number of copies of a sphere, itself included. A box whose edges are half the
/// longest reach has 125.
const MAX_COPIES: f64 = 128.0;

/// Number of copies that is always accepted, so that a few spheres may be in a very small box.
const MIN_COPIES: f64 = (1 << 21) as f64;

/// Distance from the box (edges) from which on a center in 32 bits has less than one bit inside it.
const MAX_EDGES: u32 = 1 << 24;

/// Bound on the rounding of a moved center and of a distance in 32 bits, relative to the largest
/// coordinate.
const ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// Two overlapping spheres in a periodic box, by index: `a`, and `b` moved by a lattice vector.
///
/// `a < b`, or the same sphere twice (`a == b`): a sphere that overlaps its own image. The image is
/// then one of two opposite ones, the one whose first number other than zero is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImagePair {
    /// The smaller index.
    pub a: u32,
    /// The larger index.
    pub b: u32,
    /// By how many edges `b` is moved along each axis, from where it is in the set of spheres.
    pub image: [i32; 3],
}

impl ImagePair {
    /// The pair of `one` and `other`, moved by `image`, with the smaller index first.
    fn new(one: u32, other: u32, image: [i32; 3]) -> Self {
        if (one, [0; 3]) <= (other, image) && one <= other {
            Self {
                a: one,
                b: other,
                image,
            }
        } else {
            Self {
                a: other,
                b: one,
                image: image.map(|number| -number),
            }
        }
    }

    /// Distance between the centers, nm.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn distance(self, spheres: &SphereSet, periodic: &PeriodicBox) -> f64 {
        let [a, b] = [self.a, self.b].map(|index| spheres.center(index as usize).as_dvec3());
        a.distance(b + periodic.exact_shift(self.image))
    }
}

/// Spheres moved into a periodic box, and those of their images that others may reach.
#[derive(Clone, Debug, Default)]
pub struct PeriodicImages {
    /// The moved spheres in their order, then the images. Copies of the spheres of one owner have
    /// the same owner if they are moved by the same lattice vector.
    spheres: SphereSet,
    /// Index of the original of each sphere.
    original: Vec<u32>,
    /// By how many edges each sphere is moved from its original.
    image: Vec<[i32; 3]>,
    /// Number of originals.
    count: usize,
    /// Bound on the rounding of a distance, nm.
    rounding: f64,
    owners: HashMap<(u32, [i32; 3]), u32>,
}

impl PeriodicImages {
    /// Moves `spheres` into the box and adds all images closer to one of them than their radii
    /// plus `margin`, nm. Replaces the previous content.
    ///
    /// # Errors
    /// [`SearchError`] if a sphere or the margin is invalid, a sphere is further than 2²⁴ edges
    /// from the box, or the box has too many images within the longest reach.
    pub fn build(
        &mut self,
        spheres: &SphereSet,
        periodic: &PeriodicBox,
        margin: f32,
    ) -> Result<(), SearchError> {
        self.spheres.clear();
        self.original.clear();
        self.image.clear();
        self.owners.clear();
        self.count = spheres.len();
        self.rounding = 0.0;
        check_margin(margin)?;
        let largest_radius = f64::from(spheres.extent()?.largest_radius);
        if spheres.is_empty() {
            return Ok(());
        }
        self.move_inside(spheres, periodic)?;
        let longest = 2.0 * largest_radius + f64::from(margin);
        let size = periodic.size().as_dvec3();
        self.rounding = ROUNDING * (size.max_element() + longest);
        let inside = self.spheres.extent()?;
        let range = Range {
            low: inside.low.as_dvec3(),
            high: inside.high.as_dvec3(),
            size,
        };
        // A sphere is not compared with others than those in reach of its own radius.
        let others = largest_radius + f64::from(margin) + self.rounding;
        let reach_of = |radius: f32| f64::from(radius) + others;
        let copies = (0..self.count).map(|sphere| {
            let center = self.spheres.center(sphere).as_dvec3();
            let (low, high) = range.of(center, reach_of(self.spheres.radius(sphere)));
            (high - low + DVec3::ONE).element_product()
        });
        if copies.sum::<f64>() > MIN_COPIES.max(MAX_COPIES * self.count as f64) {
            return Err(SearchError::TooManyImages {
                size: periodic.size(),
                reach: longest as f32,
            });
        }
        for sphere in 0..self.count {
            let center = self.spheres.center(sphere).as_dvec3();
            let bounds = range.of(center, reach_of(self.spheres.radius(sphere)));
            let [low, high] = [bounds.0, bounds.1].map(|numbers| {
                let numbers = numbers.to_array();
                numbers.map(|number| number as i32)
            });
            for x in 0..=high[0] {
                for y in if x > 0 { low[1] } else { 0 }..=high[1] {
                    for z in if x > 0 || y > 0 { low[2] } else { 1 }..=high[2] {
                        let owner = spheres.owner(sphere);
                        self.add_image(sphere, owner, periodic, [x, y, z]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds each sphere at its place inside the box.
    fn move_inside(
        &mut self,
        spheres: &SphereSet,
        periodic: &PeriodicBox,
    ) -> Result<(), SearchError> {
        for index in 0..spheres.len() {
            let center = spheres.center(index).as_dvec3();
            let image = periodic.image_of(center).map(i32::saturating_neg);
            if image
                .into_iter()
                .any(|edges| edges.unsigned_abs() > MAX_EDGES)
            {
                return Err(SearchError::FarFromBox {
                    index,
                    position: spheres.center(index),
                    max: MAX_EDGES,
                });
            }
            let moved = (center + periodic.exact_shift(image)).as_vec3();
            let owner = self.owner_of(spheres.owner(index), image);
            self.spheres
                .push_unchecked(moved, spheres.radius(index), owner);
            self.original.push(index as u32);
            self.image.push(image);
        }
        Ok(())
    }

    /// Adds the image of a moved sphere of `owner` at a lattice vector.
    fn add_image(&mut self, sphere: usize, owner: u32, periodic: &PeriodicBox, image: [i32; 3]) {
        let center = self.spheres.center(sphere).as_dvec3();
        let place = (center + periodic.exact_shift(image)).as_vec3();
        let image = [0, 1, 2].map(|axis| self.image[sphere][axis] + image[axis]);
        let owner = self.owner_of(owner, image);
        let radius = self.spheres.radius(sphere);
        self.spheres.push_unchecked(place, radius, owner);
        self.original.push(sphere as u32);
        self.image.push(image);
    }

    /// The owner of the spheres of `owner` that are moved by a lattice vector.
    fn owner_of(&mut self, owner: u32, image: [i32; 3]) -> u32 {
        let next = self.owners.len() as u32;
        *self.owners.entry((owner, image)).or_insert(next)
    }

    /// The spheres and their images.
    #[must_use]
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Bound on the difference (nm) between the distance of two spheres of
    /// [`spheres`](Self::spheres) and that of their originals.
    #[must_use]
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// The pair of originals of two of the [`spheres`](Self::spheres).
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn original_pair(&self, one: u32, other: u32) -> ImagePair {
        let [from, to] = [one, other].map(|index| self.image[index as usize]);
        let image = [0, 1, 2].map(|axis| to[axis] - from[axis]);
        let [one, other] = [one, other].map(|index| self.original[index as usize]);
        ImagePair::new(one, other, image)
    }

    /// Whether both spheres of a pair are images. The pair then occurs elsewhere, too.
    fn is_duplicate(&self, pair: Pair) -> bool {
        pair.a.min(pair.b) as usize >= self.count
    }
}

/// The box around all moved spheres, and the edges of the periodic box, nm.
struct Range {
    low: DVec3,
    high: DVec3,
    size: DVec3,
}

impl Range {
    /// The first and last image of `center` (nm), along each axis, within `reach` (nm) of the box
    /// around all spheres: whole numbers.
    fn of(&self, center: DVec3, reach: f64) -> (DVec3, DVec3) {
        (
            ((self.low - reach - center) / self.size).ceil(),
            ((self.high + reach - center) / self.size).floor(),
        )
    }
}

/// Runs a search for spheres in a periodic box.
///
/// Finds every pair of spheres with `|cᵢ − cⱼ − t| < rᵢ + rⱼ + margin`, once for each lattice
/// vector `t`, unless it is zero and the owners are the same. If an edge is at least twice the
/// longest reach, at most one image of a sphere is in reach of another; in a smaller box there may
/// be several, which are all reported, and so are spheres that overlap images of their own owner or
/// of themselves.
///
/// ```
/// use bevy_rapier_molecules::periodic_box::PeriodicBox;
/// use bevy_rapier_molecules::search::{AutoGrid, PeriodicSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// spheres.push(Vec3::new(0.1, 1.0, 1.0), 0.17, 0)?;
/// spheres.push(Vec3::new(3.9, 1.0, 1.0), 0.17, 1)?;
/// let mut grid = AutoGrid::new();
/// let mut search = PeriodicSearch::new(&mut grid, PeriodicBox::new(Vec3::splat(4.0))?);
/// let pairs = search.find_pairs(&spheres, 0.0)?;
/// assert_eq!((pairs[0].a, pairs[0].b, pairs[0].image), (0, 1, [-1, 0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PeriodicSearch<'a> {
    search: &'a mut dyn PairSearch,
    periodic: PeriodicBox,
    images: PeriodicImages,
}

impl<'a> PeriodicSearch<'a> {
    /// Runs `search` in this box.
    #[must_use]
    pub fn new(search: &'a mut dyn PairSearch, periodic: PeriodicBox) -> Self {
        Self {
            search,
            periodic,
            images: PeriodicImages::default(),
        }
    }

    /// Calls `visit` with all pairs and the distances of their centers (nm) in batches, in any
    /// order and from any thread.
    ///
    /// # Errors
    /// [`SearchError`] as [`PairSearch::visit_pairs`] and [`PeriodicImages::build`].
    pub fn visit_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        visit: &(dyn Fn(&[ImagePair], &[f64]) + Sync),
    ) -> Result<(), SearchError> {
        self.images.build(spheres, &self.periodic, margin)?;
        let (images, periodic) = (&self.images, &self.periodic);
        let slack = images.rounding() as f32;
        let each = |pairs: &[Pair], _: &[f32]| {
            let mut found = Vec::new();
            let mut distances = Vec::new();
            for pair in pairs.iter().filter(|pair| !images.is_duplicate(**pair)) {
                let pair = images.original_pair(pair.a, pair.b);
                let distance = pair.distance(spheres, periodic);
                let radii = [pair.a, pair.b].map(|index| f64::from(spheres.radius(index as usize)));
                if distance < radii[0] + radii[1] + f64::from(margin) {
                    found.push(pair);
                    distances.push(distance);
                }
            }
            if !found.is_empty() {
                visit(&found, &distances);
            }
        };
        let searched = self
            .search
            .visit_pairs(images.spheres(), margin + slack, &each);
        match searched {
            Ok(_) => Ok(()),
            Err(SearchError::TooCrowded {
                sphere,
                spheres,
                reach,
            }) => Err(SearchError::TooCrowded {
                sphere: images.original[sphere as usize],
                spheres,
                reach,
            }),
            Err(error) => Err(error),
        }
    }

    /// All pairs, sorted.
    ///
    /// # Errors
    /// As [`visit_pairs`](Self::visit_pairs), and [`SearchError::TooManyPairs`].
    pub fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
    ) -> Result<Vec<ImagePair>, SearchError> {
        let count = AtomicU64::new(0);
        let found = Mutex::new(Vec::new());
        self.visit_pairs(spheres, margin, &|pairs, _| {
            let before = count.fetch_add(pairs.len() as u64, Ordering::Relaxed);
            if before + pairs.len() as u64 <= MAX_STORED_PAIRS {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.extend_from_slice(pairs);
            }
        })?;
        let pairs = count.into_inner();
        if pairs > MAX_STORED_PAIRS {
            let max = MAX_STORED_PAIRS;
            return Err(SearchError::TooManyPairs { pairs, max });
        }
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_unstable();
        Ok(found)
    }
}
