//! A way for a ligand out of where it is; backwards, a way in.
//!
//! A tree of free poses grows from the given one: a pose of the tree is chosen, one that is
//! far away or one with few others around it, and moved at random until it touches something. Each
//! branch is free all along, so that it can be gone back.

use std::collections::HashMap;

use glam::{DQuat, IVec3, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::DockingSearch;
use super::start_pose::random_in_ball;
use crate::docking::{CONTACT_TOLERANCE_NM, DockingError, DockingPair, RigidMotion};
use crate::pose::Pose;

/// Longest branch, nm and radian.
const BRANCH: (f32, f32) = (0.12, 0.8);

/// Share of a branch that has to be possible.
const LEAST_SHARE: f64 = 0.1;

/// Share of what is possible that is gone: branches do not end at a touch.
const GONE: f64 = 0.9;

/// Width of the cells in which poses are counted, nm.
const CELL_NM: f32 = 0.06;

/// Poses among which one is chosen: the furthest one, or the one with the fewest around it.
const CHOICES: usize = 12;

/// Straight ways that are tried from each cell.
const STRAIGHT: u32 = 8;

/// How to look for a way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EscapePathConfig {
    /// Where random numbers begin. Default: 1.
    pub seed: u64,
    /// Most branches that are tried. Default: 1,000,000.
    pub branches: u32,
    /// How close atoms come before they touch, nm. Default: [`CONTACT_TOLERANCE_NM`].
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

struct Node {
    pose: Pose,
    from: usize,
}

impl DockingSearch<'_> {
    /// Poses from `start` to one outside of the sphere around the receptor; the motion from
    /// each to the next meets nothing. None if no way is found, which proves nothing.
    ///
    /// # Errors
    /// As [`DockingPair::sweep`].
    pub fn escape_path(
        &self,
        start: &Pose,
        config: &EscapePathConfig,
    ) -> Result<Option<Vec<Pose>>, DockingError> {
        let mut random = Pcg64::seed_from_u64(config.seed);
        let outside =
            self.receptor.template().bounding_radius() + self.ligand.template().bounding_radius();
        let mut nodes = vec![Node {
            pose: *start,
            from: 0,
        }];
        let mut counts: HashMap<IVec3, u32> = HashMap::new();
        let cell = |pose: &Pose| (pose.position / CELL_NM).floor().as_ivec3();
        for _ in 0..config.branches {
            let far = random.random::<bool>();
            let chosen = (0..CHOICES).map(|_| random.random_range(0..nodes.len()));
            let from = chosen.min_by(|&a, &b| {
                let [a, b] = [a, b].map(|k| {
                    let pose = &nodes[k].pose;
                    let crowd = counts.get(&cell(pose)).copied().unwrap_or(0) as f32;
                    let way = pose.position.distance(start.position);
                    if far { -way } else { crowd }
                });
                a.total_cmp(&b)
            });
            let from = from.unwrap_or(0);
            let base = nodes[from].pose;
            let motion = branch(&mut random);
            let share = self.free_share(&base, &motion, config)?;
            if share < LEAST_SHARE {
                continue;
            }
            let pose = motion.pose_at(&base, share * if share < 1.0 { GONE } else { 1.0 });
            let count = counts.entry(cell(&pose)).or_default();
            *count += 1;
            let first = *count == 1;
            nodes.push(Node { pose, from });
            // Where no pose has been before: is there a straight way from here?
            for _ in 0..if first { STRAIGHT } else { 0 } {
                let direction = random_in_ball(&mut random).normalize_or(Vec3::X);
                let motion = RigidMotion::translation(direction * (2.0 * outside));
                if self.free_share(&pose, &motion, config)? >= 1.0 {
                    nodes.push(Node {
                        pose: motion.pose_at(&pose, 1.0),
                        from: nodes.len() - 1,
                    });
                    return self.shortened(back(&nodes), config).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// How much of a motion meets nothing.
    fn free_share(
        &self,
        pose: &Pose,
        motion: &RigidMotion,
        config: &EscapePathConfig,
    ) -> Result<f64, DockingError> {
        let encounter = DockingPair {
            tolerance: config.tolerance,
            ..DockingPair::new(self.ligand, *pose, self.receptor, self.receptor_pose)
        };
        Ok(encounter.sweep(motion)?.fraction)
    }

    /// Leaves out what is not needed: from each pose the furthest one that can be reached.
    fn shortened(
        &self,
        way: Vec<Pose>,
        config: &EscapePathConfig,
    ) -> Result<Vec<Pose>, DockingError> {
        let mut short = vec![way[0]];
        let mut here = 0;
        while here + 1 < way.len() {
            let mut next = here + 1;
            for there in (here + 2..way.len()).rev() {
                let motion = motion_between(&way[here], &way[there]);
                if self.free_share(&way[here], &motion, config)? >= 1.0 {
                    next = there;
                    break;
                }
            }
            short.push(way[next]);
            here = next;
        }
        Ok(short)
    }
}

fn branch(random: &mut impl Rng) -> RigidMotion {
    // Short branches get through where long ones do not.
    let size = random.random_range(0.05..1.0_f32);
    RigidMotion {
        translation: random_in_ball(random) * (BRANCH.0 * size),
        rotation: random_in_ball(random) * (BRANCH.1 * size),
    }
}

/// From the first pose to the last one of a tree.
fn back(nodes: &[Node]) -> Vec<Pose> {
    let mut way = Vec::new();
    let mut here = nodes.len() - 1;
    loop {
        way.push(nodes[here].pose);
        if here == 0 {
            break;
        }
        here = nodes[here].from;
    }
    way.reverse();
    way
}

/// The straight motion that leads from one pose to another, turning the shorter way.
#[must_use]
pub fn motion_between(from: &Pose, to: &Pose) -> RigidMotion {
    let turn: DQuat = to.rotation.as_dquat() * from.rotation.as_dquat().inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    RigidMotion {
        translation: to.position - from.position,
        rotation: turn.normalize().to_scaled_axis().as_vec3(),
    }
}
