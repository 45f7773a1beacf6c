//! Where restarts begin.

use std::ops::ControlFlow;

use glam::{Quat, Vec3, Vec4};
use rand::{Rng, RngExt};

use super::{DockingSearch, Small};
use crate::docking::is_free;
use crate::pose::Pose;

/// Points of which the best is taken, for one restart after the other: from anywhere at all
/// to the deepest pockets.
const POINTS: [u32; 8] = [1, 16, 64, 256, 512, 512, 1024, 1024];

/// Times that a restart draws points before it settles for any free pose.
const DRAWS: u32 = 24;

/// Times that a restart tries to find any free pose at all.
const LAST_DRAWS: u32 = 100_000;

/// Rotations that are tried at a point.
const TURNS: u32 = 192;

/// Draws poses that are free for molecules with small atoms.
pub(super) struct Starts<'a> {
    docking: &'a DockingSearch<'a>,
    small: &'a Small,
    /// Radius of the sphere about the receptor's center of mass in which points lie, nm.
    reach: f32,
    /// Radius of the ball that has to fit at a point, nm: the ligand's largest atom.
    ball: f32,
}

impl<'a> Starts<'a> {
    pub fn new(docking: &'a DockingSearch<'a>, small: &'a Small) -> Self {
        let ligand = docking.ligand.template();
        let receptor = docking.receptor.template();
        Self {
            docking,
            small,
            reach: receptor.bounding_radius() + ligand.bounding_radius(),
            ball: ligand.radii().iter().copied().fold(0.0, f32::max),
        }
    }

    /// The molecules with small atoms.
    pub fn small(&self) -> &Small {
        self.small
    }

    /// A free pose for a restart; none if there is no room.
    pub fn draw(&self, restart: u32, random: &mut impl Rng) -> Option<Pose> {
        let points = POINTS[restart as usize % POINTS.len()];
        for _ in 0..DRAWS {
            let Some(point) = self.pocket(points, random) else {
                continue;
            };
            let turned = (0..TURNS).map(|_| self.pose(point, random));
            let free = turned.into_iter().find(|pose| self.is_free(pose));
            if free.is_some() {
                return free;
            }
        }
        (0..LAST_DRAWS)
            .map(|_| self.pose(random_in_ball(random) * self.reach, random))
            .find(|pose| self.is_free(pose))
    }

    fn is_free(&self, pose: &Pose) -> bool {
        let (small, home) = (self.small, &self.docking.receptor_pose);
        is_free(&small.ligand, pose, &small.receptor, home)
    }

    fn pose(&self, point: Vec3, random: &mut impl Rng) -> Pose {
        let place = self.docking.receptor_pose.transform_point(point);
        Pose::new(place, random_rotation(random))
    }

    /// Of so many random points that have room for an atom the one with the lowest energy,
    /// in the receptor's body frame.
    fn pocket(&self, points: u32, random: &mut impl Rng) -> Option<Vec3> {
        let mut best: Option<(f64, Vec3)> = None;
        for _ in 0..points {
            let point = random_in_ball(random) * self.reach;
            if !self.has_room(point) {
                continue;
            }
            let energy = self.docking.energy.point_energy(point);
            if best.is_none_or(|(least, _)| energy < least) {
                best = Some((energy, point));
            }
        }
        best.map(|(_, point)| point)
    }

    fn has_room(&self, point: Vec3) -> bool {
        let grid = self.docking.receptor.grid();
        let touched = grid.visit_touching(point, self.ball, |_| ControlFlow::Break(()));
        touched.is_continue()
    }
}

/// A point of the unit ball.
pub(super) fn random_in_ball(random: &mut impl Rng) -> Vec3 {
    loop {
        let point = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if point.length_squared() <= 1.0 {
            return point;
        }
    }
}

/// Any rotation, all equally likely.
fn random_rotation(random: &mut impl Rng) -> Quat {
    loop {
        let point = Vec4::from_array([(); 4].map(|()| random.random_range(-1.0..1.0)));
        let square = point.length_squared();
        if (0.01..=1.0).contains(&square) {
            return Quat::from_vec4(point / square.sqrt());
        }
    }
}
