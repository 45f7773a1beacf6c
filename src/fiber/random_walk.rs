//! [`RandomWalk`]: paths of worm-like chains.

use std::f32::consts::{PI, TAU};

use glam::{DVec3, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::bends::BendDistribution;
use super::error::{check, check_bend, check_length};
use super::even_steps::EvenSteps;
use super::{FiberError, FiberLink, FiberPath, Interior, MAX_LINKS};
use crate::compartment::sample_unit_sphere;

/// Steps that are drawn at one point before the walk goes back.
const TRIES: u32 = 24;

/// Links within which a walk that is stuck again is in the same trap.
const TRAP_LINKS: usize = 8;

/// Largest number of links that a walk goes back at once.
const MAX_BACK: usize = 256;

/// Drawn steps per link after which a walk gives up.
const MAX_DRAWS_PER_LINK: u64 = 500;

/// Largest bends that are common, in units of the square root of the mean squared bend: a part of
/// e^(−6) is larger.
const COMMON_BENDS: f32 = 2.5;

/// A worm-like chain of links, drawn step by step; see the [module](super) docs.
///
/// Inside of a space, steps that leave it are drawn again. Where none stays inside, the walk goes
/// back a few links, and further if that does not help. Its statistics are then those of the space.
///
/// A closed walk is an open one whose ends are brought together by a shift that grows along it;
/// lengths and bends are then corrected. It is stretched by that, but its bends stay within the
/// largest one.
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
        self.check()?;
        let straight = self.persistence_length == f32::INFINITY;
        let bends = if straight {
            None
        } else {
            let (step, length) = (self.step, self.persistence_length);
            Some(BendDistribution::new(step, length, self.max_bend)?)
        };
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut points = self.walk(bends.as_ref(), interior, &mut random)?;
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
        interior: Option<&Interior<'_>>,
        random: &mut Pcg64Mcg,
    ) -> Result<Vec<DVec3>, FiberError> {
        let links = self.links as usize;
        let no_room = |placed: usize| FiberError::NoRoom {
            links: self.links,
            placed: placed as u32,
        };
        let start = self.first_point(interior, random);
        let start = start.ok_or_else(|| no_room(0))?;
        let mut points = Vec::with_capacity(links + 1);
        points.push(start);
        let mut draws = MAX_DRAWS_PER_LINK.saturating_mul(links as u64);
        let (mut furthest, mut stuck, mut back) = (0, 0_usize, 1);
        while points.len() <= links {
            let mut tries = TRIES;
            let next = loop {
                let next = self.next_point(&points, bends, random);
                if interior.is_none_or(|space| space.contains_link(points[points.len() - 1], next))
                {
                    break Some(next);
                }
                tries -= 1;
                draws = draws.saturating_sub(1);
                if tries == 0 {
                    break None;
                }
            };
            match next {
                Some(next) => {
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

/// A random unit vector perpendicular to a unit vector.
pub(super) fn sideways(tangent: DVec3, random: &mut impl Rng) -> DVec3 {
    let angle = std::f64::consts::TAU * random.random::<f64>();
    let (x, y) = tangent.any_orthonormal_pair();
    x * angle.cos() + y * angle.sin()
}
