//! The two routines of Turk (1989), sections 5.1 and 5.3: a static check of a ligand against a
//! receptor, and a motion until they touch.

use std::ops::ControlFlow;

use bevy_rapier_molecules::pose::{Pose, RigidMotion};

use super::cell_lists::{Ball, CellLists};

/// Bisections of a motion. The paper does not state their number; ten divide a motion into 1,024.
const BISECTIONS: u32 = 10;

/// Atoms of ligand and receptor that touch or overlap.
pub type Pair = [u32; 2];

/// A fixed receptor.
pub enum Receptor {
    /// Every atom of the ligand is tested against all atoms.
    BruteForce(Vec<Ball>),
    /// Every atom of the ligand is tested against those in its cells.
    Cells(CellLists),
}

impl Receptor {
    #[inline]
    fn visit<B>(
        &self,
        ball: &Ball,
        tests: &mut u64,
        mut visit: impl FnMut(u32) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self {
            Self::BruteForce(balls) => {
                for (other, index) in balls.iter().zip(0..) {
                    *tests += 1;
                    if ball.touches(other) {
                        visit(index)?;
                    }
                }
                ControlFlow::Continue(())
            }
            Self::Cells(lists) => lists.visit_touching(ball, tests, visit),
        }
    }

    /// `pg_collision_check`: whether the ligand at `pose` touches or overlaps the receptor.
    pub fn collides(&self, ligand: &[Ball], pose: &Pose, tests: &mut u64) -> bool {
        let hit = |ball| {
            self.visit(&placed(ball, pose), tests, |_| ControlFlow::Break(()))
                .is_break()
        };
        ligand.iter().any(hit)
    }

    /// All pairs of atoms that touch or overlap, sorted.
    pub fn pairs(&self, ligand: &[Ball], pose: &Pose, tests: &mut u64) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (ball, index) in ligand.iter().zip(0..) {
            let _ = self.visit(&placed(ball, pose), tests, |other| {
                pairs.push([index, other]);
                ControlFlow::<()>::Continue(())
            });
        }
        pairs.sort_unstable();
        // Atoms that share several cells are found in each.
        pairs.dedup();
        pairs
    }

    fn ball(&self, index: u32) -> &Ball {
        match self {
            Self::BruteForce(balls) => &balls[index as usize],
            Self::Cells(lists) => lists.ball(index),
        }
    }

    /// `pg_move_to_touch`: how far the ligand moves, as a fraction of the motion. If the end
    /// collides, a binary search finds the farthest fraction at which no pair that collides at
    /// the end does. Other pairs are not tested.
    pub fn move_to_touch(
        &self,
        ligand: &[Ball],
        pose: &Pose,
        motion: &RigidMotion,
        tests: &mut u64,
    ) -> f64 {
        let pairs = self.pairs(ligand, &motion.pose_at(pose, 1.0), tests);
        if pairs.is_empty() {
            return 1.0;
        }
        let [mut free, mut colliding] = [0.0, 1.0];
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (free + colliding);
            let pose = motion.pose_at(pose, middle);
            let hit = pairs.iter().any(|&[atom, other]| {
                *tests += 1;
                placed(&ligand[atom as usize], &pose).touches(self.ball(other))
            });
            if hit {
                colliding = middle;
            } else {
                free = middle;
            }
        }
        free
    }
}

/// An atom of the ligand in the frame of the receptor.
#[inline]
fn placed(ball: &Ball, pose: &Pose) -> Ball {
    Ball {
        center: pose.transform_point(ball.center),
        radius: ball.radius,
    }
}
