//! Diffusing hard spheres, from collision to collision within each step.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use super::BrownianParticle;
use super::neighbors::Neighbors;
use super::noise::{generator, normal, random_number, rotate};
use crate::motion::error::{check_count, check_positive};
use crate::motion::time_of_impact::{GrowingSphere, Wall, first_contact_relative};
use crate::motion::{
    CollisionOutcome, CollisionPartner, MotionError, OVERLAP_TOLERANCE_NM, Reactions,
};

/// Fraction of the tolerance above which overlapping particles already touch.
const SHALLOW: f64 = 0.99;

/// Fraction of the tolerance by which a particle may sink into a concave wall between contacts.
const CREEP: f64 = 0.01;

/// Factor on the range that a particle needs when its neighbors are searched again.
const RANGE_MARGIN: f64 = 1.25;

/// Number of collisions per particle in a step that is an error.
const MAX_COLLISIONS_PER_PARTICLE: u64 = 10_000;

/// How the collisions of a step are found. Both give the same collisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventSearch {
    /// An event queue: after a collision, only the particles whose paths have changed are
    /// searched again. Default.
    #[default]
    Queue,
    /// All pairs are searched again after each collision. Pairs that cannot touch before the
    /// earliest collision found so far are skipped by their distance.
    Rescan,
}

/// A collision of two particles, or of a particle and a wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleCollision {
    /// Time since the start of the step, s.
    pub time: f64,
    /// Index of the particle; the smaller one of a pair.
    pub particle: u32,
    /// What it collides with.
    pub other: CollisionPartner,
    /// Unit vector from the particle to its partner, world frame.
    pub normal: DVec3,
}

/// Statistics of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParticleStepReport {
    /// Collisions between particles.
    pub collisions: u64,
    /// Collisions with walls.
    pub wall_collisions: u64,
    /// Pairs whose time of impact was computed.
    pub checks: u64,
    /// Pairs that [`EventSearch::Rescan`] skipped by their distance.
    pub skipped: u64,
    /// Neighbor searches for particles that left their range.
    pub enlarged: u64,
    /// Reactions.
    pub reactions: u64,
    /// Reactions that did not take place, since their products would overlap other particles or
    /// walls. The reactants bounced.
    pub blocked: u64,
}

/// A reaction of two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParticleReaction {
    /// Time since the start of the step, s.
    pub time: f64,
    /// Index of the reaction in [`BrownianConfig::reactions`].
    pub reaction: u32,
    /// The reactants in the order of the reaction. Their indices are those in the step: a single
    /// product has the smaller one, and the other remains vacant until the end of the step, when
    /// later particles move up.
    pub reactants: [u32; 2],
    /// Center of the reactants, weighted by their volume, nm.
    pub position: DVec3,
}

/// Configuration of [`BrownianParticles`].
#[derive(Clone, Debug)]
pub struct BrownianConfig {
    /// Random seed. Default: 1.
    pub seed: u64,
    /// How collisions are found. Default: [`EventSearch::Queue`].
    pub event_search: EventSearch,
    /// Overlap at which particles count as touching, nm. Default: [`OVERLAP_TOLERANCE_NM`].
    pub tolerance: f64,
    /// Walls. Default: none.
    pub walls: Vec<Wall>,
    /// Reactions of kinds, for collisions whose outcome is [`CollisionOutcome::React`]. Kinds are
    /// those of [`BrownianParticles::of_kinds`]. Default: none.
    pub reactions: Reactions<u32>,
}

impl Default for BrownianConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            event_search: EventSearch::default(),
            tolerance: OVERLAP_TOLERANCE_NM,
            walls: Vec::new(),
            reactions: Reactions::default(),
        }
    }
}

/// Particles that move as one.
#[derive(Clone, Debug)]
struct Cluster {
    /// Sorted indices of its particles; empty after merging into another cluster.
    members: Vec<u32>,
    /// Diffusion coefficient, nm²/s.
    diffusion: f64,
    /// Displacement of this step, nm.
    displacement: DVec3,
    /// Time of the stored positions as a fraction of the step.
    time: f64,
    /// Incremented whenever the displacement changes.
    version: u32,
}

/// Hard spheres that diffuse, collide, and may stick together.
///
/// ```
/// use bevy_rapier_molecules::motion::brownian::{
///     BrownianConfig, BrownianParticle, BrownianParticles, Medium,
/// };
/// use bevy_rapier_molecules::motion::{CollisionOutcome, CollisionPartner};
/// use bevy_rapier_molecules::motion::time_of_impact::Wall;
/// use glam::DVec3;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Two spheres of radius 2 nm in water, in a box of 12 nm.
/// let particle = BrownianParticle::in_medium(2.0, &Medium::default());
/// let positions = [DVec3::X * -3.0, DVec3::X * 3.0];
/// let walls = Wall::box_faces(DVec3::splat(-6.0), DVec3::splat(6.0)).to_vec();
/// let config = BrownianConfig { seed: 3, walls, ..BrownianConfig::default() };
/// let mut particles = BrownianParticles::new(&[particle; 2], &positions, config)?;
/// // A step displaces by 0.5 nm along each axis on average. Particles stick together.
/// let dt = 0.5_f64.powi(2) / (2.0 * particle.diffusion);
/// while particles.clusters().count() == 2 {
///     particles.step(dt, &mut |collision| match collision.other {
///         CollisionPartner::Sphere(_) => CollisionOutcome::Stick,
///         CollisionPartner::Wall(_) => CollisionOutcome::Bounce,
///     })?;
/// }
/// assert_eq!(particles.cluster(0), Some(&[0, 1][..]));
/// let [one, other] = [0, 1].map(|index| particles.positions()[index]);
/// assert!((one.distance(other) - 4.0).abs() < 1.0e-5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct BrownianParticles {
    config: BrownianConfig,
    kinds: Vec<BrownianParticle>,
    /// Kind of each particle.
    kind_of: Vec<u32>,
    particles: Vec<BrownianParticle>,
    radii: Vec<f64>,
    positions: Vec<DVec3>,
    rotations: Vec<DQuat>,
    clusters: Vec<Cluster>,
    /// Cluster of each particle.
    cluster_of: Vec<u32>,
    neighbors: Neighbors,
    collisions: Vec<ParticleCollision>,
    reactions: Vec<ParticleReaction>,
    steps: u64,
    time: f64,
}

impl BrownianParticles {
    /// Particles at these positions (nm), unrotated. Each is a kind of its own.
    ///
    /// # Errors
    /// As [`Self::of_kinds`].
    pub fn new(
        particles: &[BrownianParticle],
        positions: &[DVec3],
        config: BrownianConfig,
    ) -> Result<Self, MotionError> {
        let count = particles.len();
        let count = u32::try_from(count).map_err(|_| MotionError::TooMany { count })?;
        let kind_of: Vec<u32> = (0..count).collect();
        Self::of_kinds(particles, &kind_of, positions, config)
    }

    /// Particles of these kinds at these positions (nm), unrotated. `kind_of` has the kind of each
    /// particle.
    ///
    /// # Errors
    /// [`MotionError`] if a kind, a position, a wall, a reaction or the tolerance is invalid, or if
    /// there is not one position for each particle.
    pub fn of_kinds(
        kinds: &[BrownianParticle],
        kind_of: &[u32],
        positions: &[DVec3],
        config: BrownianConfig,
    ) -> Result<Self, MotionError> {
        let count = kind_of.len();
        u32::try_from(count).map_err(|_| MotionError::TooMany { count })?;
        check_count(count, positions.len())?;
        check_positive("tolerance", config.tolerance)?;
        Wall::check_all(&config.walls)?;
        config.reactions.check_kinds(kinds.len())?;
        for (kind, index) in kinds.iter().zip(0..) {
            kind.check(index)?;
        }
        check_finite(positions, 0.0)?;
        let mut particles = Vec::with_capacity(count);
        for (&kind, particle) in kind_of.iter().zip(0..) {
            let count = kinds.len();
            let found = kinds.get(kind as usize).ok_or(MotionError::NoSuchKind {
                particle,
                kind,
                count,
            })?;
            particles.push(*found);
        }
        let cluster = |(particle, index): (&BrownianParticle, u32)| Cluster {
            members: vec![index],
            diffusion: particle.diffusion,
            displacement: DVec3::ZERO,
            time: 0.0,
            version: 0,
        };
        Ok(Self {
            config,
            kinds: kinds.to_vec(),
            kind_of: kind_of.to_vec(),
            radii: particles.iter().map(|particle| particle.radius).collect(),
            positions: positions.to_vec(),
            rotations: vec![DQuat::IDENTITY; count],
            clusters: particles.iter().zip(0..).map(cluster).collect(),
            cluster_of: (0..count as u32).collect(),
            particles,
            neighbors: Neighbors::default(),
            collisions: Vec::new(),
            reactions: Vec::new(),
            steps: 0,
            time: 0.0,
        })
    }

    /// Positions, nm.
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Rotations. Members of clusters do not rotate.
    #[must_use]
    pub fn rotations(&self) -> &[DQuat] {
        &self.rotations
    }

    /// The particles.
    #[must_use]
    pub fn particles(&self) -> &[BrownianParticle] {
        &self.particles
    }

    /// The kind of each particle.
    #[must_use]
    pub fn kinds(&self) -> &[u32] {
        &self.kind_of
    }

    /// The cluster of a particle: all particles that stick to it, and itself.
    #[must_use]
    pub fn cluster(&self, particle: u32) -> Option<&[u32]> {
        let cluster = *self.cluster_of.get(particle as usize)?;
        Some(&self.clusters[cluster as usize].members)
    }

    /// All clusters, including single particles.
    pub fn clusters(&self) -> impl Iterator<Item = &[u32]> + '_ {
        let members = self.clusters.iter().map(|one| one.members.as_slice());
        members.filter(|members| !members.is_empty())
    }

    /// Simulated time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The collisions of the last step, in order of time.
    #[must_use]
    pub fn collisions(&self) -> &[ParticleCollision] {
        &self.collisions
    }

    /// The reactions of the last step, in order of time.
    #[must_use]
    pub fn reactions(&self) -> &[ParticleReaction] {
        &self.reactions
    }

    /// The displacement of each particle in the next step of `dt` s without collisions, nm.
    #[must_use]
    pub fn displacements(&self, dt: f64) -> Vec<DVec3> {
        let of = |&cluster: &u32| self.displacement(&self.clusters[cluster as usize], dt);
        self.cluster_of.par_iter().map(of).collect()
    }

    fn displacement(&self, cluster: &Cluster, dt: f64) -> DVec3 {
        let Some(&first) = cluster.members.first() else {
            return DVec3::ZERO;
        };
        let mut random = generator(self.config.seed, self.steps, first);
        normal(&mut random, (2.0 * cluster.diffusion * dt).sqrt())
    }

    /// Simulates a step of `dt` s. `decide` chooses the outcome of each collision.
    ///
    /// # Errors
    /// [`MotionError`] if the step is not positive, time does not progress, or a position is
    /// no longer finite.
    pub fn step(
        &mut self,
        dt: f64,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<ParticleStepReport, MotionError> {
        check_positive("step", dt)?;
        let clusters = self.clusters.par_iter();
        let displacements = clusters.map(|cluster| self.displacement(cluster, dt));
        let displacements: Vec<DVec3> = displacements.collect();
        for (cluster, &displacement) in self.clusters.iter_mut().zip(&displacements) {
            (cluster.displacement, cluster.time) = (displacement, 0.0);
        }
        self.collisions.clear();
        self.reactions.clear();
        let step = Step {
            state: self,
            dt,
            queue: BinaryHeap::new(),
            passing: Vec::new(),
            report: ParticleStepReport::default(),
        };
        let report = step.run(decide)?;
        if report.reactions > 0 {
            self.remove_vacant();
        }
        self.rotate(dt);
        check_finite(&self.positions, self.time)?;
        self.steps += 1;
        self.time += dt;
        Ok(report)
    }

    /// Removes the places of particles that have reacted.
    fn remove_vacant(&mut self) {
        let clusters = &self.clusters;
        let is_vacant = |&cluster: &u32| clusters[cluster as usize].members.is_empty();
        let vacant: Vec<bool> = self.cluster_of.iter().map(is_vacant).collect();
        self.clusters.retain(|cluster| !cluster.members.is_empty());
        retain(&mut self.particles, &vacant);
        retain(&mut self.radii, &vacant);
        retain(&mut self.kind_of, &vacant);
        retain(&mut self.positions, &vacant);
        retain(&mut self.rotations, &vacant);
        retain(&mut self.cluster_of, &vacant);
        let mut next = 0;
        let new_index = |is_vacant: &bool| {
            let index = next;
            next += u32::from(!is_vacant);
            index
        };
        let new_index: Vec<u32> = vacant.iter().map(new_index).collect();
        for (cluster, index) in self.clusters.iter_mut().zip(0..) {
            for member in &mut cluster.members {
                *member = new_index[*member as usize];
                self.cluster_of[*member as usize] = index;
            }
        }
    }

    /// Rotates all particles that are not in a cluster.
    fn rotate(&mut self, dt: f64) {
        let (clusters, cluster_of) = (&self.clusters, &self.cluster_of);
        let (particles, seed, steps) = (&self.particles, self.config.seed, self.steps);
        let all = self.rotations.par_iter_mut().enumerate();
        all.for_each(|(index, rotation)| {
            let is_single = clusters[cluster_of[index] as usize].members.len() == 1;
            let sigma = (2.0 * particles[index].rotational_diffusion * dt).sqrt();
            if is_single && sigma > 0.0 {
                // A different random stream than that of the displacements.
                let mut random = generator(!seed, steps, index as u32);
                *rotation = rotate(*rotation, normal(&mut random, sigma));
            }
        });
    }

    /// Moves a cluster to a time of the step.
    fn advance(&mut self, cluster: u32, time: f64) {
        let cluster = &mut self.clusters[cluster as usize];
        let by = (time - cluster.time) * cluster.displacement;
        cluster.time = time;
        for &member in &cluster.members {
            self.positions[member as usize] += by;
        }
    }

    /// Merges two clusters into the one with the smaller index, which is returned. Its
    /// displacement is the mean of both, weighted by 1 / D.
    fn merge(&mut self, one: u32, other: u32) -> u32 {
        let (kept, removed) = (one.min(other), one.max(other));
        let members = std::mem::take(&mut self.clusters[removed as usize].members);
        for &member in &members {
            self.cluster_of[member as usize] = kept;
        }
        let [a, b] = [kept, removed].map(|cluster| {
            let cluster = &self.clusters[cluster as usize];
            (cluster.diffusion, cluster.displacement)
        });
        let sum = a.0 + b.0;
        let displacement = if sum > 0.0 {
            (b.0 * a.1 + a.0 * b.1) / sum
        } else {
            DVec3::ZERO
        };
        let cluster = &mut self.clusters[kept as usize];
        cluster.members.extend(members);
        cluster.members.sort_unstable();
        cluster.displacement = displacement;
        cluster.diffusion = (a.0.powi(-3) + b.0.powi(-3)).powf(-1.0 / 3.0);
        self.clusters[removed as usize].version += 1;
        kept
    }
}

/// Removes the vacant items.
fn retain<T>(list: &mut Vec<T>, vacant: &[bool]) {
    let mut vacant = vacant.iter();
    list.retain(|_| vacant.next().is_none_or(|is_vacant| !is_vacant));
}

fn check_finite(positions: &[DVec3], time: f64) -> Result<(), MotionError> {
    for (position, sphere) in positions.iter().zip(0..) {
        if !position.is_finite() {
            let what = "position";
            return Err(MotionError::NotFinite { sphere, what, time });
        }
    }
    Ok(())
}

/// A predicted collision, ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Prediction {
    /// Bits of the time, which is not negative: they have the order of times.
    time: u64,
    particle: u32,
    other: CollisionPartner,
    /// Versions of both clusters at the time of the prediction.
    versions: [u32; 2],
}

/// A particle that replaces a reactant.
#[derive(Clone, Copy, Debug)]
struct Product {
    /// Index of the reactant.
    place: u32,
    kind: u32,
    /// nm.
    position: DVec3,
    /// nm per step.
    displacement: DVec3,
}

/// One step. Times are fractions of the step, from 0 to 1.
struct Step<'a> {
    state: &'a mut BrownianParticles,
    /// Duration of the step, s.
    dt: f64,
    queue: BinaryHeap<Reverse<Prediction>>,
    /// Pairs that pass through each other in this step.
    passing: Vec<(u32, CollisionPartner)>,
    report: ParticleStepReport,
}

impl Step<'_> {
    fn run(
        mut self,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<ParticleStepReport, MotionError> {
        let has_queue = self.state.config.event_search == EventSearch::Queue;
        self.find_neighbors();
        if has_queue {
            self.fill_queue();
        }
        let mut now = 0.0;
        while let Some((time, particle, other)) = self.next_collision(now) {
            now = time;
            let changed = self.respond(now, particle, other, decide)?;
            for cluster in changed.into_iter().flatten() {
                let members = self.state.clusters[cluster as usize].members.clone();
                self.update_ranges(&members, now);
                let mut list = Vec::new();
                for &member in members.iter().filter(|_| has_queue) {
                    self.report.checks += self.predict(member, now, |_| true, &mut list);
                }
                self.queue.extend(list);
            }
        }
        for cluster in 0..self.state.clusters.len() as u32 {
            self.state.advance(cluster, 1.0);
        }
        Ok(self.report)
    }

    fn find_neighbors(&mut self) {
        let state = &mut *self.state;
        let lengths = state
            .cluster_of
            .iter()
            .map(|&cluster| state.clusters[cluster as usize].displacement.length());
        let mut ranges: Vec<f64> = lengths.collect();
        let squares: f64 = ranges.iter().map(|length| length * length).sum();
        let mean = (squares / ranges.len().max(1) as f64).sqrt();
        for range in &mut ranges {
            *range += mean + state.config.tolerance;
        }
        state
            .neighbors
            .build(&state.positions, &state.radii, &ranges);
    }

    fn fill_queue(&mut self) {
        let this = &*self;
        let predictions = (0..this.state.positions.len() as u32).into_par_iter();
        let predictions = predictions.map(|particle| {
            let mut list = Vec::new();
            let checks = this.predict(particle, 0.0, |other| other > particle, &mut list);
            (list, checks)
        });
        let predictions: Vec<(Vec<Reverse<Prediction>>, u64)> = predictions.collect();
        let mut all = Vec::new();
        for (list, checks) in predictions {
            all.extend(list);
            self.report.checks += checks;
        }
        self.queue = all.into();
    }

    fn next_collision(&mut self, now: f64) -> Option<(f64, u32, CollisionPartner)> {
        if self.state.config.event_search == EventSearch::Rescan {
            return self.earliest_collision(now);
        }
        while let Some(Reverse(next)) = self.queue.pop() {
            if self.versions(next.particle, next.other) == next.versions {
                return Some((f64::from_bits(next.time), next.particle, next.other));
            }
        }
        None
    }

    /// The earliest collision of all pairs.
    fn earliest_collision(&mut self, now: f64) -> Option<(f64, u32, CollisionPartner)> {
        let mut best = None;
        let mut bound = 1.0;
        for particle in 0..self.state.positions.len() as u32 {
            for wall in 0..self.state.config.walls.len() as u32 {
                let other = CollisionPartner::Wall(wall);
                if let Some(time) = self.wall_contact(particle, wall, now, bound)
                    && !self.passing.contains(&(particle, other))
                {
                    (bound, best) = (time, Some((time, particle, other)));
                }
            }
            let (position, displacement) = self.path(particle, now);
            let radius = self.state.radii[particle as usize];
            let neighbors = self.state.neighbors.lists[particle as usize].iter();
            for &index in neighbors.filter(|&&other| other > particle) {
                let (other_position, other_displacement) = self.path(index, now);
                let reach = radius + self.state.radii[index as usize];
                let max_distance =
                    reach + (displacement.length() + other_displacement.length()) * (bound - now);
                if position.distance_squared(other_position) > max_distance * max_distance {
                    self.report.skipped += 1;
                    continue;
                }
                self.report.checks += 1;
                let other = CollisionPartner::Sphere(index);
                if let Some(time) = self.contact(particle, index, now, bound)
                    && !self.passing.contains(&(particle, other))
                {
                    (bound, best) = (time, Some((time, particle, other)));
                }
            }
        }
        best
    }

    /// Position of a particle at `now`, nm, and its displacement per step, nm.
    fn path(&self, particle: u32, now: f64) -> (DVec3, DVec3) {
        let index = particle as usize;
        let cluster = &self.state.clusters[self.state.cluster_of[index] as usize];
        let position = self.state.positions[index] + (now - cluster.time) * cluster.displacement;
        (position, cluster.displacement)
    }

    fn versions(&self, particle: u32, other: CollisionPartner) -> [u32; 2] {
        let state = &self.state;
        let of = |particle: u32| {
            let cluster = state.cluster_of[particle as usize];
            state.clusters[cluster as usize].version
        };
        match other {
            CollisionPartner::Sphere(other) => [of(particle), of(other)],
            CollisionPartner::Wall(_) => [of(particle), 0],
        }
    }

    /// Predicts the collisions of a particle with walls and with the neighbors that pass
    /// `filter`. Returns the number of pairs tested.
    fn predict(
        &self,
        particle: u32,
        now: f64,
        filter: impl Fn(u32) -> bool,
        list: &mut Vec<Reverse<Prediction>>,
    ) -> u64 {
        let mut checks = 0;
        let mut add = |time: f64, other: CollisionPartner| {
            let (particle, other) = match other {
                CollisionPartner::Sphere(other) => (
                    particle.min(other),
                    CollisionPartner::Sphere(particle.max(other)),
                ),
                CollisionPartner::Wall(_) => (particle, other),
            };
            if !self.passing.contains(&(particle, other)) {
                list.push(Reverse(Prediction {
                    time: time.to_bits(),
                    particle,
                    other,
                    versions: self.versions(particle, other),
                }));
            }
        };
        for wall in 0..self.state.config.walls.len() as u32 {
            if let Some(time) = self.wall_contact(particle, wall, now, 1.0) {
                add(time, CollisionPartner::Wall(wall));
            }
        }
        for &other in &self.state.neighbors.lists[particle as usize] {
            if filter(other) {
                checks += 1;
                if let Some(time) = self.contact(particle, other, now, 1.0) {
                    add(time, CollisionPartner::Sphere(other));
                }
            }
        }
        checks
    }

    /// Whether the particle has reacted and its place is vacant.
    fn is_vacant(&self, particle: u32) -> bool {
        let cluster = self.state.cluster_of[particle as usize];
        self.state.clusters[cluster as usize].members.is_empty()
    }

    /// When two approaching particles touch, from `now` to `until`.
    fn contact(&self, one: u32, other: u32, now: f64, until: f64) -> Option<f64> {
        let state = &self.state;
        let is_same = state.cluster_of[one as usize] == state.cluster_of[other as usize];
        if is_same || self.is_vacant(one) || self.is_vacant(other) {
            return None;
        }
        let [(a, path_a), (b, path_b)] = [one, other].map(|particle| self.path(particle, now));
        let (offset, relative) = (a - b, path_a - path_b);
        let closing = -offset.dot(relative);
        if closing <= 0.0 {
            return None;
        }
        let reach = state.radii[one as usize] + state.radii[other as usize];
        let tolerance = state.config.tolerance;
        if reach - offset.length() > SHALLOW * tolerance {
            return Some(now);
        }
        let radius = [(reach - tolerance).max(0.0), 0.0, 0.0];
        first_contact_relative(offset, relative, radius, until - now).map(|time| now + time)
    }

    /// When a particle touches a wall, from `now` to `until`.
    fn wall_contact(&self, particle: u32, wall: u32, now: f64, until: f64) -> Option<f64> {
        let (position, displacement) = self.path(particle, now);
        let wall = &self.state.config.walls[wall as usize];
        let radius = self.state.radii[particle as usize];
        let max_time = until - now;
        let surface = wall.signed_distance(position);
        let depth = radius - surface.distance;
        let length = displacement.length();
        let tolerance = self.state.config.tolerance;
        if -depth > length * max_time || self.is_vacant(particle) {
            return None;
        }
        let is_approaching = surface.normal.dot(displacement) < 0.0;
        if let Wall::Surface { .. } = wall {
            let accuracy = wall.accuracy(position);
            if depth >= -2.0 * accuracy && is_approaching {
                return Some(now);
            }
            let sphere = GrowingSphere::constant(position, displacement, radius);
            let time = wall
                .first_contact(&sphere, max_time)?
                .max(accuracy / length);
            return (time <= max_time).then_some(now + time);
        }
        let mut slack = tolerance;
        if depth > SHALLOW * tolerance {
            if is_approaching {
                return Some(now);
            }
            if !wall.is_concave() {
                return None;
            }
            slack = depth + CREEP * tolerance;
        }
        let sphere = GrowingSphere::constant(position, displacement, radius - slack);
        wall.first_contact(&sphere, max_time).map(|time| now + time)
    }

    /// Applies the outcome of a collision. Returns the clusters whose displacement changed.
    fn respond(
        &mut self,
        time: f64,
        particle: u32,
        other: CollisionPartner,
        decide: &mut dyn FnMut(&ParticleCollision) -> CollisionOutcome,
    ) -> Result<[Option<u32>; 2], MotionError> {
        let state = &mut *self.state;
        let events = self.report.collisions + self.report.wall_collisions;
        if events > MAX_COLLISIONS_PER_PARTICLE * state.radii.len() as u64 {
            let (sphere, span) = (particle, self.dt);
            return Err(MotionError::NoProgress {
                sphere,
                events,
                span,
            });
        }
        let one = state.cluster_of[particle as usize];
        state.advance(one, time);
        let position = state.positions[particle as usize];
        let (normal, two) = match other {
            CollisionPartner::Sphere(other) => {
                let two = state.cluster_of[other as usize];
                state.advance(two, time);
                let offset = state.positions[other as usize] - position;
                (offset.try_normalize().unwrap_or(DVec3::X), Some(two))
            }
            CollisionPartner::Wall(wall) => {
                let surface = state.config.walls[wall as usize].signed_distance(position);
                (-surface.normal, None)
            }
        };
        let displacement = |cluster: u32| state.clusters[cluster as usize].displacement;
        let relative = displacement(one) - two.map_or(DVec3::ZERO, displacement);
        let closing = relative.dot(normal);
        if closing <= 0.0 {
            // Close to a surface that curves away: predict again.
            state.clusters[one as usize].version += 1;
            return Ok([Some(one), None]);
        }
        let collision = ParticleCollision {
            time: time * self.dt,
            particle,
            other,
            normal,
        };
        state.collisions.push(collision);
        match two {
            Some(_) => self.report.collisions += 1,
            None => self.report.wall_collisions += 1,
        }
        let mut outcome = decide(&collision);
        if outcome == CollisionOutcome::React {
            if let Some(changed) = self.react(time, &collision, closing) {
                return Ok(changed);
            }
            outcome = CollisionOutcome::Bounce;
        }
        let state = &mut *self.state;
        let clusters = &mut state.clusters;
        match (outcome, two) {
            (CollisionOutcome::Pass, _) => {
                self.passing.push((particle, other));
                return Ok([None, None]);
            }
            (CollisionOutcome::Bounce | CollisionOutcome::React, Some(two)) => {
                let [a, b] = [one, two].map(|cluster| clusters[cluster as usize].diffusion);
                // Elastic for masses 1 / D. The sum is positive, since one of them moves.
                let push = 2.0 * closing / (a + b) * normal;
                clusters[one as usize].displacement -= a * push;
                clusters[two as usize].displacement += b * push;
                clusters[two as usize].version += 1;
            }
            (CollisionOutcome::Bounce | CollisionOutcome::React, None) => {
                clusters[one as usize].displacement -= 2.0 * closing * normal;
            }
            (CollisionOutcome::Stick, Some(two)) => {
                let kept = state.merge(one, two);
                state.clusters[kept as usize].version += 1;
                return Ok([Some(kept), None]);
            }
            (CollisionOutcome::Stick, None) => clusters[one as usize].displacement = DVec3::ZERO,
        }
        state.clusters[one as usize].version += 1;
        Ok([Some(one), two])
    }

    /// Replaces two single particles by the products of their reaction, if they react and the
    /// products fit. Returns the clusters of the products.
    fn react(
        &mut self,
        now: f64,
        collision: &ParticleCollision,
        closing: f64,
    ) -> Option<[Option<u32>; 2]> {
        let CollisionPartner::Sphere(other) = collision.other else {
            return None;
        };
        let state = &*self.state;
        let mut reactants = [collision.particle, other];
        let clusters = reactants.map(|one| state.cluster_of[one as usize]);
        if clusters.map(|one| state.clusters[one as usize].members.len()) != [1, 1] {
            return None;
        }
        let random = random_number(
            state.config.seed,
            state.steps,
            reactants,
            self.report.collisions,
        );
        let kinds = reactants.map(|one| &state.kind_of[one as usize]);
        let found = state.config.reactions.find(kinds, random)?;
        let mut normal = collision.normal;
        if found.is_swapped {
            reactants.swap(0, 1);
            normal = -normal;
        }
        let products = &state.config.reactions.list()[found.index].products;
        let kinds: Vec<u32> = products.clone();
        let products = self.place_products(reactants, &kinds, normal, closing);
        let old = reactants.map(|one| state.radii[one as usize]);
        let position = self.center(reactants);
        for product in &products {
            self.resize(product, now);
        }
        if !products
            .iter()
            .all(|product| self.fits(product, reactants, now))
        {
            for (&reactant, radius) in reactants.iter().zip(old) {
                let range = self.state.neighbors.ranges[reactant as usize];
                self.state.neighbors.resize(reactant, radius, range);
            }
            self.report.blocked += 1;
            return None;
        }
        self.report.reactions += 1;
        self.passing.retain(|(one, other)| {
            let others = reactants.map(CollisionPartner::Sphere);
            !(reactants.contains(one) || others.contains(other))
        });
        let state = &mut *self.state;
        state.reactions.push(ParticleReaction {
            time: collision.time,
            reaction: found.index as u32,
            reactants,
            position,
        });
        for cluster in clusters {
            let cluster = &mut state.clusters[cluster as usize];
            cluster.members.clear();
            cluster.version += 1;
        }
        let changed = products.iter().map(|product| {
            let index = product.place as usize;
            let cluster = state.cluster_of[index];
            let kind = state.kinds[product.kind as usize];
            state.kind_of[index] = product.kind;
            state.particles[index] = kind;
            state.radii[index] = kind.radius;
            state.positions[index] = product.position;
            let state = &mut state.clusters[cluster as usize];
            state.members.push(product.place);
            state.diffusion = kind.diffusion;
            state.displacement = product.displacement;
            cluster
        });
        let changed: Vec<u32> = changed.collect();
        Some([changed.first().copied(), changed.get(1).copied()])
    }

    /// The center of two particles, weighted by their volume, nm.
    fn center(&self, particles: [u32; 2]) -> DVec3 {
        let [a, b] = particles.map(|one| self.state.positions[one as usize]);
        let [volume, other] = particles.map(|one| self.state.radii[one as usize].powi(3));
        let share = other / (volume + other);
        a + if share.is_finite() { share } else { 0.5 } * (b - a)
    }

    /// Places the products of two particles that touch. `normal` points from the first to the
    /// second, which approach each other by `closing` nm per step.
    ///
    /// A single product appears at the center of the reactants and moves on with their mean
    /// displacement, weighted by 1 / D. Two products take the places of the reactants, apart along
    /// the normal if they would overlap there, and part as the reactants would.
    fn place_products(
        &self,
        reactants: [u32; 2],
        kinds: &[u32],
        normal: DVec3,
        closing: f64,
    ) -> Vec<Product> {
        let state = &*self.state;
        let [a, b] = reactants.map(|one| {
            let cluster = &state.clusters[state.cluster_of[one as usize] as usize];
            (cluster.diffusion, cluster.displacement)
        });
        // Positive, since one of them moves.
        let sum = a.0 + b.0;
        if let &[kind] = kinds {
            return vec![Product {
                place: reactants[0].min(reactants[1]),
                kind,
                position: self.center(reactants),
                displacement: (b.0 * a.1 + a.0 * b.1) / sum,
            }];
        }
        let push = 2.0 * closing / sum * normal;
        let displacements = [a.1 - a.0 * push, b.1 + b.0 * push];
        let [one, other] = reactants.map(|one| state.positions[one as usize]);
        let radii = kinds.iter().map(|&kind| state.kinds[kind as usize].radius);
        let excess = (radii.sum::<f64>() - one.distance(other)).max(0.0);
        let positions = [one - 0.5 * excess * normal, other + 0.5 * excess * normal];
        let products = kinds
            .iter()
            .zip(reactants)
            .zip(positions)
            .zip(displacements);
        let product = |(((&kind, place), position), displacement)| Product {
            place,
            kind,
            position,
            displacement,
        };
        products.map(product).collect()
    }

    /// Prepares the neighbors of a product.
    fn resize(&mut self, product: &Product, now: f64) {
        let radius = self.state.kinds[product.kind as usize].radius;
        let neighbors = &mut self.state.neighbors;
        let index = product.place as usize;
        let needed = product.position.distance(neighbors.starts[index])
            + product.displacement.length() * (1.0 - now);
        let range = neighbors.ranges[index].max(RANGE_MARGIN * needed);
        neighbors.resize(product.place, radius, range);
    }

    /// Whether a product overlaps nothing but the reactants.
    fn fits(&self, product: &Product, reactants: [u32; 2], now: f64) -> bool {
        let state = &*self.state;
        let tolerance = state.config.tolerance;
        let radius = state.kinds[product.kind as usize].radius;
        let mut walls = state.config.walls.iter();
        let mut others = state.neighbors.lists[product.place as usize].iter();
        walls.all(|wall| wall.signed_distance(product.position).distance >= radius - tolerance)
            && others.all(|&other| {
                let reach = radius + state.radii[other as usize] - tolerance;
                reactants.contains(&other)
                    || self.is_vacant(other)
                    || self.path(other, now).0.distance(product.position) >= reach
            })
    }

    /// Enlarges the range of particles whose new path leaves it.
    fn update_ranges(&mut self, members: &[u32], now: f64) {
        for &member in members {
            let (position, displacement) = self.path(member, now);
            let neighbors = &mut self.state.neighbors;
            let start = neighbors.starts[member as usize];
            let needed = position.distance(start) + displacement.length() * (1.0 - now);
            if needed > neighbors.ranges[member as usize] {
                neighbors.enlarge(member, RANGE_MARGIN * needed);
                self.report.enlarged += 1;
            }
        }
    }
}
