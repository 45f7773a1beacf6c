//! A collision-free path of a ligand out of a cavity; reversed, a path into it.
//!
//! A random tree of free poses grows from the given one: choose a pose of the tree that is far
//! away or has few others around it, and sweep it at random until it touches something. Each
//! branch is free of collisions, so it can be traversed in both directions.

use std::collections::HashMap;

use glam::{IVec3, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::DockingSearch;
use super::start_pose::random_in_ball;
use crate::docking::{CONTACT_TOLERANCE_NM, DockingError, RigidMotion};
use crate::pose::Pose;

/// Maximum translation of a branch, nm.
const MAX_TRANSLATION_NM: f32 = 0.12;

/// Maximum rotation of a branch, radian.
const MAX_ROTATION: f32 = 0.8;

/// Minimum free fraction of a branch.
const MIN_FRACTION: f64 = 0.1;

/// Fraction of a blocked branch that is kept, so that it does not end at a contact.
const KEPT: f64 = 0.9;

/// Size of the cells that count poses, nm.
const CELL_NM: f32 = 0.06;

/// Number of random poses from which the best is chosen.
const CHOICES: usize = 12;

/// Number of straight exits tried from each new cell.
const EXITS: u32 = 8;

/// Configuration of [`DockingSearch::escape_path`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EscapePathConfig {
    /// Random seed. Default: 1.
    pub seed: u64,
    /// Maximum number of branches. Default: 1,000,000.
    pub branches: u32,
    /// Gap at which atoms count as touching, nm. Default: [`CONTACT_TOLERANCE_NM`].
    pub tolerance: f32,
}

impl Default for EscapePathConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            branches: 1_000_000,
            tolerance: CONTACT_TOLERANCE_NM,
        }
    }
}

/// A pose and the index of its parent.
type Node = (Pose, usize);

impl DockingSearch<'_> {
    /// Poses from `start` to a pose outside the bounding sphere of the receptor. The motion from
    /// each pose to the next is free of collisions. None if no path is found, which does not
    /// prove that there is none.
    ///
    /// # Errors
    /// As [`DockingPair::sweep`](crate::docking::DockingPair::sweep).
    pub fn escape_path(
        &self,
        start: &Pose,
        config: &EscapePathConfig,
    ) -> Result<Option<Vec<Pose>>, DockingError> {
        let mut random = Pcg64::seed_from_u64(config.seed);
        let outside =
            self.receptor.template().bounding_radius() + self.ligand.template().bounding_radius();
        let mut nodes: Vec<Node> = vec![(*start, 0)];
        let mut counts: HashMap<IVec3, u32> = HashMap::new();
        let cell = |pose: &Pose| (pose.position / CELL_NM).floor().as_ivec3();
        for _ in 0..config.branches {
            let prefers_distant = random.random::<bool>();
            let chosen = (0..CHOICES).map(|_| random.random_range(0..nodes.len()));
            let parent = chosen.min_by(|&a, &b| {
                let [a, b] = [a, b].map(|k| {
                    let pose = &nodes[k].0;
                    let crowding = counts.get(&cell(pose)).copied().unwrap_or(0) as f32;
                    let distance = pose.position.distance(start.position);
                    if prefers_distant { -distance } else { crowding }
                });
                a.total_cmp(&b)
            });
            let parent = parent.unwrap_or(0);
            let base = nodes[parent].0;
            let motion = random_branch(&mut random);
            let fraction = self.free_fraction(&base, &motion, config)?;
            if fraction < MIN_FRACTION {
                continue;
            }
            let pose = motion.pose_at(&base, fraction * if fraction < 1.0 { KEPT } else { 1.0 });
            let count = counts.entry(cell(&pose)).or_default();
            *count += 1;
            let is_new_cell = *count == 1;
            nodes.push((pose, parent));
            for _ in 0..if is_new_cell { EXITS } else { 0 } {
                let direction = random_in_ball(&mut random).normalize_or(Vec3::X);
                let motion = RigidMotion::translation(direction * (2.0 * outside));
                if self.free_fraction(&pose, &motion, config)? >= 1.0 {
                    nodes.push((motion.pose_at(&pose, 1.0), nodes.len() - 1));
                    return self.shorten(&path_to_last(&nodes), config).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// The fraction of a motion that is free of collisions.
    fn free_fraction(
        &self,
        pose: &Pose,
        motion: &RigidMotion,
        config: &EscapePathConfig,
    ) -> Result<f64, DockingError> {
        let swept = self.pair(*pose, config.tolerance).sweep(motion)?;
        Ok(swept.fraction)
    }

    /// Removes poses: connects each pose with the last one that can be reached from it.
    fn shorten(&self, path: &[Pose], config: &EscapePathConfig) -> Result<Vec<Pose>, DockingError> {
        let mut short = vec![path[0]];
        let mut here = 0;
        while here + 1 < path.len() {
            let mut next = here + 1;
            for there in (here + 2..path.len()).rev() {
                let motion = RigidMotion::between(&path[here], &path[there]);
                if self.free_fraction(&path[here], &motion, config)? >= 1.0 {
                    next = there;
                    break;
                }
            }
            short.push(path[next]);
            here = next;
        }
        Ok(short)
    }
}

fn random_branch(random: &mut impl Rng) -> RigidMotion {
    // Short branches pass narrow gaps.
    let size = random.random_range(0.05..1.0_f32);
    RigidMotion {
        translation: random_in_ball(random) * (MAX_TRANSLATION_NM * size),
        rotation: random_in_ball(random) * (MAX_ROTATION * size),
    }
}

/// The path from the root of a tree to its last node.
fn path_to_last(nodes: &[Node]) -> Vec<Pose> {
    let parent = |&here: &usize| (here > 0).then(|| nodes[here].1);
    let path = std::iter::successors(Some(nodes.len() - 1), parent);
    let mut path: Vec<Pose> = path.map(|node| nodes[node].0).collect();
    path.reverse();
    path
}
