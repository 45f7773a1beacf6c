//! [`RandomWalk`]: paths of worm-like chains.

use std::f32::consts::{PI, TAU};
use std::f64::consts::FRAC_PI_2;

use glam::{DVec3, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::avoided_links::{AvoidedLinks, LinkGrid, Segment};
use super::bends::BendDistribution;
use super::error::{check, check_bend, check_length};
use super::even_steps::EvenSteps;
use super::{FiberError, FiberLink, FiberPath, Interior, MAX_LINKS};
use crate::compartment::sample_unit_sphere;
use crate::molecule::MAX_COORDINATE_NM;

/// Steps that are drawn at one point before the walk goes back.
const TRIES: u32 = 24;

/// Links within which a walk that is stuck again is in the same trap.
const TRAP_LINKS: usize = 8;

/// Largest number of links that a walk goes back at once.
const MAX_BACK: usize = 256;

/// Drawn steps per link after which a walk gives up.
const MAX_DRAWS_PER_LINK: u64 = 500;

/// Drawn steps per link after which a walk that keeps away from itself gives up: each costs more.
const MAX_AVOIDING_DRAWS_PER_LINK: u64 = 100;

/// Largest bends that are common, in units of the square root of the mean squared bend: a part of
/// e^(−6) is larger.
const COMMON_BENDS: f32 = 2.5;

/// A worm-like chain of links, drawn step by step; see the [module](super) docs.
///
/// Inside of a space, steps that leave it are drawn again. Where none stays inside, the walk goes
/// back a few links, and further if that does not help. Its statistics are then those of the space.
///
/// With a distance to [`avoid`](Self::avoid), so are steps that come too close to earlier links. Free
/// walks are then a little wider than worm-like chains.
///
/// A closed walk is an open one whose ends are brought together by a shift that grows along it;
/// lengths and bends are then corrected. It is stretched by that, but its bends stay within the
/// largest one. Links may come closer by that than the distance to avoid.
///
/// ```
/// use bevy_rapier_molecules::fiber::{RandomWalk, worm_like_mean_square};
///
/// let walk = RandomWalk { links: 2_000, step: 4.0, persistence_length: 50.0, ..RandomWalk::default() };
/// let path = walk.path(None)?;
/// assert!((path.contour_length() - 8_000.0).abs() < 0.1, "nm");
/// let measured = path.mean_squared_distance(10).unwrap_or_default();
/// let expected = worm_like_mean_square(50.0, 40.0);
/// assert!((measured / expected - 1.0).abs() < 0.1, "{measured} nm², expected {expected} nm²");
/// # Ok::<(), bevy_rapier_molecules::fiber::FiberError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RandomWalk {
    /// Number of links. Default: 1.
    pub links: u32,
    /// Length of a step, the rise of a link, nm. Default: 1.
    pub step: f32,
    /// Persistence length, nm; infinite for a straight fiber. Default: 50, that of DNA.
    pub persistence_length: f32,
    /// Largest bend between two links, radian. Default: π.
    pub max_bend: f32,
    /// The first point, nm. Default: the center of the space, or a point of it if the center is
    /// outside; without a space, the origin.
    pub start: Option<Vec3>,
    /// Least distance between the axes of two links, nm; 0 for any. Links between which the chain is
    /// shorter than half a circle of this diameter are not compared. Default: 0.
    pub avoid: f32,
    /// Whether the ends meet. Default: no.
    pub is_closed: bool,
    /// Seed of the random choices. Default: 1.
    pub seed: u64,
}

impl Default for RandomWalk {
    fn default() -> Self {
        Self {
            links: 1,
            step: 1.0,
            persistence_length: 50.0,
            max_bend: PI,
            start: None,
            avoid: 0.0,
            is_closed: false,
            seed: 1,
        }
    }
}

impl RandomWalk {
    /// A walk with steps of the rise of a link.
    #[must_use]
    pub fn along(link: &FiberLink) -> Self {
        Self {
            step: link.rise(),
            ..Self::default()
        }
    }

    /// A largest bend that cuts off less than 1 % of the bends of a worm-like chain, radian.
    #[must_use]
    pub fn common_bend(step: f32, persistence_length: f32) -> f32 {
        let mean = -(-step / persistence_length).exp_m1();
        (COMMON_BENDS * (2.0 * mean).sqrt()).min(PI)
    }

    /// The path, inside of a space if there is one.
    ///
    /// # Errors
    /// [`FiberError`] if a parameter is out of range, or the walk does not fit into the space.
    pub fn path(&self, interior: Option<&Interior<'_>>) -> Result<FiberPath, FiberError> {
        self.path_among(interior, &AvoidedLinks::default())
    }

    /// The path, inside of a space if there is one, which keeps away from other fibers: half of
    /// [`avoid`](Self::avoid) is the radius of its links. If it is 0, nothing is avoided.
    ///
    /// # Errors
    /// [`FiberError`] if a parameter is out of range, or the walk does not fit into the space.
    pub fn path_among(
        &self,
        interior: Option<&Interior<'_>>,
        others: &AvoidedLinks,
    ) -> Result<FiberPath, FiberError> {
        self.check()?;
        let straight = self.persistence_length == f32::INFINITY;
        let bends = if straight {
            None
        } else {
            let (step, length) = (self.step, self.persistence_length);
            Some(BendDistribution::new(step, length, self.max_bend)?)
        };
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let surroundings = Surroundings { interior, others };
        let mut points = self.walk(bends.as_ref(), surroundings, &mut random)?;
        if self.is_closed {
            let steps = EvenSteps {
                step: f64::from(self.step),
                max_bend: f64::from(self.max_bend),
                is_closed: true,
                interior,
            };
            steps.close(&mut points);
        }
        FiberPath::from_exact(&points, self.is_closed)
    }

    fn check(&self) -> Result<(), FiberError> {
        check_length("the step of a walk", self.step)?;
        let in_range = self.persistence_length > 0.0;
        let length = self.persistence_length;
        check(in_range, "the persistence length", "positive", length)?;
        check_bend(self.max_bend)?;
        let in_range = self.avoid >= 0.0 && self.avoid <= MAX_COORDINATE_NM;
        let allowed = "from 0 to 0.1 mm";
        check(in_range, "the distance to avoid", allowed, self.avoid)?;
        let in_range = (1..=MAX_LINKS).contains(&self.links);
        let allowed = "from 1 to 10,000,000";
        check(in_range, "the number of links", allowed, self.links as f32)?;
        if let Some(start) = self.start {
            super::path::check_points(&[start])?;
        }
        let needed = TAU / self.links as f32;
        if self.is_closed && (self.links < 3 || needed > self.max_bend) {
            return Err(FiberError::CannotClose {
                links: self.links,
                needed,
                max_bend: self.max_bend,
            });
        }
        Ok(())
    }

    /// The points of an open walk.
    fn walk(
        &self,
        bends: Option<&BendDistribution>,
        surroundings: Surroundings<'_>,
        random: &mut Pcg64Mcg,
    ) -> Result<Vec<DVec3>, FiberError> {
        let links = self.links as usize;
        let no_room = |placed: usize| FiberError::NoRoom {
            links: self.links,
            placed: placed as u32,
        };
        let start = self.first_point(surroundings.interior, random);
        let start = start.ok_or_else(|| no_room(0))?;
        let mut points = Vec::with_capacity(links + 1);
        points.push(start);
        let mut own = OwnLinks::new(self);
        let per_link = if own.is_some() {
            MAX_AVOIDING_DRAWS_PER_LINK
        } else {
            MAX_DRAWS_PER_LINK
        };
        let mut draws = per_link.saturating_mul(links as u64);
        let (mut furthest, mut stuck, mut back) = (0, 0_usize, 1);
        while points.len() <= links {
            let last = points[points.len() - 1];
            let fits = |next: &DVec3| {
                let link = [last, *next];
                let is_free = |own: &OwnLinks| own.has_room_for(link, surroundings.others);
                let interior = surroundings.interior;
                interior.is_none_or(|space| space.contains_link(last, *next))
                    && own.as_ref().is_none_or(is_free)
            };
            let mut steps = (0..TRIES).map(|_| self.next_point(&points, bends, random));
            let mut rejected = 0;
            let next = steps.find(|next| {
                let is_found = fits(next);
                rejected += u64::from(!is_found);
                is_found
            });
            draws = draws.saturating_sub(rejected);
            match next {
                Some(next) => {
                    if let Some(own) = &mut own {
                        own.grid.push([last, next]);
                    }
                    points.push(next);
                    furthest = furthest.max(points.len());
                }
                None if draws == 0 => return Err(no_room(furthest.saturating_sub(1))),
                None => {
                    // Further back only from the same trap.
                    let is_same = points.len().abs_diff(stuck) <= TRAP_LINKS;
                    back = if is_same { (2 * back).min(MAX_BACK) } else { 1 };
                    stuck = points.len();
                    points.truncate(points.len().saturating_sub(back).max(1));
                    if let Some(own) = &mut own {
                        own.grid.truncate(points.len() - 1);
                    }
                }
            }
        }
        Ok(points)
    }

    fn first_point(&self, interior: Option<&Interior<'_>>, random: &mut Pcg64Mcg) -> Option<DVec3> {
        let Some(space) = interior else {
            return Some(self.start.unwrap_or(Vec3::ZERO).as_dvec3());
        };
        if let Some(start) = self.start {
            return space.contains(start).then(|| start.as_dvec3());
        }
        let center = space.surface.center();
        if space.contains(center) {
            return Some(center.as_dvec3());
        }
        // Just inside of its boundary.
        let points = (0..TRIES).map(|_| {
            let point = space.surface.sample(-space.clearance - self.step, random);
            space.pulled_inside(point.as_dvec3())
        });
        let mut points = points.filter(|point| space.contains(point.as_vec3()));
        points.next()
    }

    /// A point one step further, by a random bend.
    fn next_point(
        &self,
        points: &[DVec3],
        bends: Option<&BendDistribution>,
        random: &mut Pcg64Mcg,
    ) -> DVec3 {
        let step = f64::from(self.step);
        let last = points[points.len() - 1];
        let Some(previous) = points.len().checked_sub(2).map(|index| points[index]) else {
            let direction = sample_unit_sphere(random.random(), random.random());
            return last + direction.as_dvec3().normalize_or(DVec3::Z) * step;
        };
        let tangent = (last - previous).normalize_or(DVec3::Z);
        let Some(bends) = bends else {
            return last + tangent * step;
        };
        let (cosine, sine) = bends.sample(random);
        last + (tangent * cosine + sideways(tangent, random) * sine) * step
    }
}

/// What a walk keeps away from.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    interior: Option<&'a Interior<'a>>,
    others: &'a AvoidedLinks,
}

/// The links of a walk that keeps away from itself.
struct OwnLinks {
    grid: LinkGrid,
    /// Half of the distance to avoid, nm.
    radius: f64,
    /// Number of links before a new one that are not compared with it.
    neighbors: usize,
}

impl OwnLinks {
    /// No links yet; none if there is no distance to avoid.
    fn new(walk: &RandomWalk) -> Option<Self> {
        if walk.avoid == 0.0 {
            return None;
        }
        let (step, avoid) = (f64::from(walk.step), f64::from(walk.avoid));
        let radius = 0.5 * avoid;
        Some(Self {
            grid: LinkGrid::new(radius, step),
            radius,
            neighbors: (FRAC_PI_2 * avoid / step).ceil() as usize,
        })
    }

    /// Whether a link is far enough from these and from those of other fibers.
    fn has_room_for(&self, link: Segment, others: &AvoidedLinks) -> bool {
        let compared = self.grid.count().saturating_sub(self.neighbors);
        !self.grid.overlaps(link, self.radius, compared) && !others.overlap_link(link, self.radius)
    }
}

/// A random unit vector perpendicular to a unit vector.
pub(super) fn sideways(tangent: DVec3, random: &mut impl Rng) -> DVec3 {
    let angle = std::f64::consts::TAU * random.random::<f64>();
    let (x, y) = tangent.any_orthonormal_pair();
    x * angle.cos() + y * angle.sin()
}
