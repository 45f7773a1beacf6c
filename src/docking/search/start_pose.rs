//! Random start poses.

use std::ops::ControlFlow;

use glam::{Quat, Vec3, Vec4};
use rand::{Rng, RngExt};

use super::DockingSearch;
use crate::pose::Pose;

/// Number of random points per start of which the best is taken, cycled over restarts: from
/// anywhere to the deepest pockets.
const POINTS: [u32; 8] = [1, 16, 64, 256, 512, 512, 1024, 1024];

/// Number of attempts to start in a pocket.
const POCKET_ATTEMPTS: u32 = 24;

/// Number of attempts to find any free pose after that.
const FREE_ATTEMPTS: u32 = 100_000;

/// Number of rotations per point.
const ROTATIONS: u32 = 192;

/// Draws start poses that are free for the scaled radii.
pub(super) struct StartPoses<'a> {
    search: &'a DockingSearch<'a>,
    /// The search with scaled radii.
    pub(super) small: &'a DockingSearch<'a>,
    /// Radius of the sphere around the receptor that points are drawn from, nm.
    reach: f32,
    /// Radius of the largest atom of the ligand, nm. A ball of this radius must fit at a point.
    ball_radius: f32,
}

impl<'a> StartPoses<'a> {
    pub(super) fn new(search: &'a DockingSearch<'a>, small: &'a DockingSearch<'a>) -> Self {
        let ligand = search.ligand.template();
        let receptor = search.receptor.template();
        Self {
            search,
            small,
            reach: receptor.bounding_radius() + ligand.bounding_radius(),
            ball_radius: ligand.radii().iter().copied().fold(0.0, f32::max),
        }
    }

    /// A free pose for a restart, if there is one.
    pub(super) fn draw(&self, restart: u32, random: &mut impl Rng) -> Option<Pose> {
        let points = POINTS[restart as usize % POINTS.len()];
        for _ in 0..POCKET_ATTEMPTS {
            let Some(point) = self.pocket(points, random) else {
                continue;
            };
            let mut poses = (0..ROTATIONS).map(|_| self.pose(point, random));
            let free = poses.find(|pose| self.small.is_free(pose));
            if free.is_some() {
                return free;
            }
        }
        (0..FREE_ATTEMPTS)
            .map(|_| self.pose(random_in_ball(random) * self.reach, random))
            .find(|pose| self.small.is_free(pose))
    }

    fn pose(&self, point: Vec3, random: &mut impl Rng) -> Pose {
        let position = self.search.receptor_pose.transform_point(point);
        Pose::new(position, random_rotation(random))
    }

    /// The point of lowest energy among `points` random points with space for an atom, in the
    /// body frame of the receptor.
    fn pocket(&self, points: u32, random: &mut impl Rng) -> Option<Vec3> {
        let mut best: Option<(f64, Vec3)> = None;
        for _ in 0..points {
            let point = random_in_ball(random) * self.reach;
            if !self.has_space(point) {
                continue;
            }
            let energy = self.search.energy.point_energy(point);
            if best.is_none_or(|(min, _)| energy < min) {
                best = Some((energy, point));
            }
        }
        best.map(|(_, point)| point)
    }

    fn has_space(&self, point: Vec3) -> bool {
        let grid = &self.search.receptor.grid;
        let touched = grid.visit_touching(point, self.ball_radius, |_| ControlFlow::Break(()));
        touched.is_continue()
    }
}

/// A uniformly distributed point in the unit ball.
pub(super) fn random_in_ball(random: &mut impl Rng) -> Vec3 {
    loop {
        let point = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
        if point.length_squared() <= 1.0 {
            return point;
        }
    }
}

/// A uniformly distributed rotation.
fn random_rotation(random: &mut impl Rng) -> Quat {
    loop {
        let point = Vec4::from_array([(); 4].map(|()| random.random_range(-1.0..1.0)));
        let square = point.length_squared();
        if (0.01..=1.0).contains(&square) {
            return Quat::from_vec4(point / square.sqrt());
        }
    }
}
