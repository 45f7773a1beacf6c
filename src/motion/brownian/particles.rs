//! A crowd of diffusing spheres.

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::fine_steps::Step;
use super::neighbors::Neighbors;
use super::noise::{generator, normal, turn};
use super::{BrownianParticle, EventSearch, ParticleCollision, ParticleStepReport};
use crate::motion::error::check_positive;
use crate::motion::time_of_impact::Wall;
use crate::motion::{CollisionOutcome, MotionError, OVERLAP_TOLERANCE_NM};

/// How a [`BrownianParticles`] works.
#[derive(Clone, Debug)]
pub struct BrownianConfig {
    /// Seed of all steps. Default: 1.
    pub seed: u64,
    /// How collisions are found. Default: by a queue.
    pub event_search: EventSearch,
    /// How deep particles may overlap before they are said to touch, nm. Default:
    /// [`OVERLAP_TOLERANCE_NM`], 1e-6.
    pub tolerance: f64,
    /// What holds them. Default: nothing.
    pub walls: Vec<Wall>,
}

impl Default for BrownianConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            event_search: EventSearch::default(),
            tolerance: OVERLAP_TOLERANCE_NM,
            walls: Vec::new(),
        }
    }
}

/// Particles that move as one.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// Its particles, in order; none if it has become part of another.
    pub(super) members: Vec<u32>,
    /// Its diffusion coefficient, nm²/s.
    pub(super) diffusion: f64,
    /// Its way in this step, nm.
    pub(super) way: DVec3,
    /// When its particles were where they are said to be, in steps.
    pub(super) time: f64,
    /// How often its way has changed.
    pub(super) version: u32,
}

/// Hard spheres that diffuse, collide, and may stick together.
///
/// ```
/// use bevy_rapier_molecules::motion::brownian::{
///     BrownianConfig, BrownianParticles, BrownianParticle, Medium,
/// };
/// use bevy_rapier_molecules::motion::{CollisionOutcome, CollisionPartner};
/// use bevy_rapier_molecules::motion::time_of_impact::Wall;
/// use glam::DVec3;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Two spheres of 2 nm in water, in a box of 12 nm.
/// let particle = BrownianParticle::in_medium(2.0, &Medium::default());
/// let places = [DVec3::X * -3.0, DVec3::X * 3.0];
/// let walls = Wall::box_faces(DVec3::splat(-6.0), DVec3::splat(6.0)).to_vec();
/// let config = BrownianConfig { seed: 3, walls, ..BrownianConfig::default() };
/// let mut crowd = BrownianParticles::new(&[particle; 2], &places, config)?;
/// // Each step takes them 0.5 nm far along each axis; those that meet stick together.
/// let dt = 0.5_f64.powi(2) / (2.0 * particle.diffusion);
/// while crowd.clusters().count() == 2 {
///     crowd.step(dt, &mut |meeting| match meeting.other {
///         CollisionPartner::Sphere(_) => CollisionOutcome::Stick,
///         CollisionPartner::Wall(_) => CollisionOutcome::Bounce,
///     })?;
/// }
/// assert_eq!(crowd.cluster(0), Some(&[0, 1][..]));
/// // They touch, to within the tolerance, and do not overlap by more.
/// let [one, other] = [0, 1].map(|index| crowd.positions()[index]);
/// assert!((one.distance(other) - 4.0).abs() < 1.0e-5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BrownianParticles {
    pub(super) config: BrownianConfig,
    pub(super) particles: Vec<BrownianParticle>,
    pub(super) radii: Vec<f64>,
    pub(super) positions: Vec<DVec3>,
    rotations: Vec<DQuat>,
    pub(super) bodies: Vec<Body>,
    /// The body of each particle.
    pub(super) body_of: Vec<u32>,
    pub(super) neighbors: Neighbors,
    pub(super) meetings: Vec<ParticleCollision>,
    steps: u64,
    time: f64,
}

impl BrownianParticles {
    /// Particles at these places (nm), not turned.
    ///
    /// # Errors
    /// [`MotionError`] if a number is not what it has to be; [`MotionError::CountMismatch`] if
    /// there is not one place for each particle.
    pub fn new(
        particles: &[BrownianParticle],
        positions: &[DVec3],
        config: BrownianConfig,
    ) -> Result<Self, MotionError> {
        let count = particles.len();
        u32::try_from(count).map_err(|_| MotionError::TooMany { count })?;
        if positions.len() != count {
            let given = positions.len();
            return Err(MotionError::CountMismatch { given, count });
        }
        check_positive("tolerance", config.tolerance)?;
        for (wall, index) in config.walls.iter().zip(0..) {
            wall.check(index)?;
        }
        for ((particle, place), index) in particles.iter().zip(positions).zip(0..) {
            particle.check(index)?;
            if !place.is_finite() {
                return Err(MotionError::NotFinite {
                    sphere: index,
                    what: "place",
                    time: 0.0,
                });
            }
        }
        let body = |(particle, index): (&BrownianParticle, u32)| Body {
            members: vec![index],
            diffusion: particle.diffusion,
            way: DVec3::ZERO,
            time: 0.0,
            version: 0,
        };
        Ok(Self {
            config,
            radii: particles.iter().map(|particle| particle.radius).collect(),
            positions: positions.to_vec(),
            rotations: vec![DQuat::IDENTITY; count],
            bodies: particles.iter().zip(0..).map(body).collect(),
            body_of: (0..count as u32).collect(),
            particles: particles.to_vec(),
            neighbors: Neighbors::default(),
            meetings: Vec::new(),
            steps: 0,
            time: 0.0,
        })
    }

    /// Where the particles are, nm.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// How they are turned.
    #[must_use]
    pub fn rotations(&self) -> &[DQuat] {
        &self.rotations
    }

    /// The particles.
    #[must_use]
    pub fn particles(&self) -> &[BrownianParticle] {
        &self.particles
    }

    /// The cluster of a particle: all that stick to it, itself included.
    #[must_use]
    pub fn cluster(&self, particle: u32) -> Option<&[u32]> {
        let body = *self.body_of.get(particle as usize)?;
        Some(&self.bodies[body as usize].members)
    }

    /// All clusters, also those of one particle.
    pub fn clusters(&self) -> impl Iterator<Item = &[u32]> + '_ {
        let members = self.bodies.iter().map(|body| body.members.as_slice());
        members.filter(|members| !members.is_empty())
    }

    /// Time that has passed, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The collisions of the last step, in the order of time.
    #[must_use]
    pub fn meetings(&self) -> &[ParticleCollision] {
        &self.meetings
    }

    /// Where the next step of `dt` s would take each particle if nobody were in the way,
    /// nm.
    #[must_use]
    pub fn displacements(&self, dt: f64) -> Vec<DVec3> {
        let of = |&body: &u32| self.way(&self.bodies[body as usize], dt);
        self.body_of.par_iter().map(of).collect()
    }

    fn way(&self, body: &Body, dt: f64) -> DVec3 {
        let Some(&first) = body.members.first() else {
            return DVec3::ZERO;
        };
        let mut random = generator(self.config.seed, self.steps, first);
        normal(&mut random, (2.0 * body.diffusion * dt).sqrt())
    }

    /// A step of `dt` s. `decide` says what a collision does.
    ///
    /// # Errors
    /// [`MotionError`] if the step is not positive, or a place is not finite any more.
    pub fn step(
        &mut self,
        dt: f64,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<ParticleStepReport, MotionError> {
        check_positive("step", dt)?;
        let ways: Vec<DVec3> = self
            .bodies
            .par_iter()
            .map(|body| self.way(body, dt))
            .collect();
        for (body, &way) in self.bodies.iter_mut().zip(&ways) {
            (body.way, body.time) = (way, 0.0);
        }
        self.meetings.clear();
        let report = Step::new(self, dt).run(decide)?;
        self.turn(dt);
        for (place, sphere) in self.positions.iter().zip(0..) {
            if !place.is_finite() {
                let (what, time) = ("place", self.time);
                return Err(MotionError::NotFinite { sphere, what, time });
            }
        }
        self.steps += 1;
        self.time += dt;
        Ok(report)
    }

    /// Turns all particles that are on their own.
    fn turn(&mut self, dt: f64) {
        let (bodies, body_of, particles) = (&self.bodies, &self.body_of, &self.particles);
        let (seed, steps) = (self.config.seed, self.steps);
        let all = self.rotations.par_iter_mut().enumerate();
        all.for_each(|(index, rotation)| {
            let alone = bodies[body_of[index] as usize].members.len() == 1;
            let spread = (2.0 * particles[index].rotational_diffusion * dt).sqrt();
            if alone && spread > 0.0 {
                // Another stream than that of the ways.
                let mut random = generator(!seed, steps, index as u32);
                *rotation = turn(*rotation, normal(&mut random, spread));
            }
        });
    }

    /// Moves a body to a time of the step.
    pub(super) fn bring(&mut self, body: u32, time: f64) {
        let body = &mut self.bodies[body as usize];
        let by = (time - body.time) * body.way;
        body.time = time;
        for &member in &body.members {
            self.positions[member as usize] += by;
        }
    }

    /// Makes two bodies one; the smaller number stays. They move on with the mean of their
    /// ways, weighed by 1 / D.
    pub(super) fn merge(&mut self, one: u32, other: u32) -> u32 {
        let (keep, gone) = (one.min(other), one.max(other));
        let members = std::mem::take(&mut self.bodies[gone as usize].members);
        for &member in &members {
            self.body_of[member as usize] = keep;
        }
        let [a, b] = [keep, gone].map(|body| {
            let body = &self.bodies[body as usize];
            (body.diffusion, body.way)
        });
        let sum = a.0 + b.0;
        let way = if sum > 0.0 {
            (b.0 * a.1 + a.0 * b.1) / sum
        } else {
            DVec3::ZERO
        };
        let body = &mut self.bodies[keep as usize];
        body.members.extend(members);
        body.members.sort_unstable();
        body.way = way;
        body.diffusion = (a.0.powi(-3) + b.0.powi(-3)).powf(-1.0 / 3.0);
        self.bodies[gone as usize].version += 1;
        keep
    }
}
