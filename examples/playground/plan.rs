//! Where everything starts: a box, and above its floor a lattice of places from which
//! blocks, balls and proteins fall. No Bevy in here.
//!
//! Each place of the lattice is wide enough for the largest protein any way round, so
//! that nothing overlaps at the start.

use std::f32::consts::TAU;

use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Layers of proteins in the lattice. Together with [`Plan::columns`] this keeps the
/// pile low, however many there are.
const LAYERS: f32 = 6.0;

/// Room between two places of the lattice, nm.
const GAP_NM: f32 = 0.4;

/// One block or ball for this many proteins, beside the first two.
const PROTEINS_PER_THING: usize = 5;

/// Height of the blocks and balls in widths of the lattice: above the ramp.
const THING_LAYER: f32 = 0.9;

/// How far the rope leans at the start, radian.
const ROPE_LEAN: f32 = 0.6;

/// Which protein hangs on the rope: the first of the second kind.
const HANGING: usize = 1;

/// A protein of the `kind`-th template.
pub struct Protein {
    pub kind: usize,
    pub pose: Pose,
    /// Where a rope holds it, if one does.
    pub rope: Option<Rope>,
}

/// A rope from a fixed point to a place on a protein.
#[derive(Clone, Copy)]
pub struct Rope {
    /// The fixed point in the world, nm.
    pub anchor: Vec3,
    /// The end in the protein's body frame, nm.
    pub end: Vec3,
    /// Longest distance of the two, nm.
    pub length: f32,
}

/// The box and what is in it. The floor is at y = 0, the box is centered about the y axis.
pub struct Plan {
    /// Half the inner width of the box, nm.
    pub half_width: f32,
    /// Height of the walls, nm: above the highest place of the lattice.
    pub wall_height: f32,
    /// Width of a place of the lattice, nm.
    pub pitch: f32,
    /// The proteins; their kinds take turns.
    pub proteins: Vec<Protein>,
    /// Blocks and balls in turn.
    pub things: Vec<Pose>,
}

impl Plan {
    /// A plan for this many proteins of kinds with these bounding radii, nm.
    pub fn new(kinds: &[f32], proteins: usize, seed: u64) -> Self {
        let largest = kinds.iter().copied().fold(0.0, f32::max);
        let pitch = 2.0 * largest + GAP_NM;
        let columns = Self::columns(proteins);
        let half_width = columns as f32 * pitch / 2.0;
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let per_layer = columns * columns;
        let place = |cell: usize, columns: usize| {
            let pitch = 2.0 * half_width / columns as f32;
            let across = |index: usize| (index as f32 + 0.5) * pitch - half_width;
            Vec3::new(across(cell % columns), 0.0, across(cell / columns))
        };
        let things = 2 + proteins / PROTEINS_PER_THING;
        let things: Vec<Pose> = (0..things)
            .map(|thing| {
                // Four fit where one protein does. Spread over the whole width.
                let cell = thing * 4 * per_layer / things;
                let position = place(cell, 2 * columns) + Vec3::Y * THING_LAYER * pitch;
                Pose::new(position, random_rotation(&mut random))
            })
            .collect();
        let first_layer = (THING_LAYER + 0.75) * pitch;
        let proteins: Vec<Protein> = (0..proteins)
            .map(|index| {
                let kind = index % kinds.len();
                let room = (pitch - GAP_NM) / 2.0 - kinds[kind];
                let height = first_layer + (index / per_layer) as f32 * pitch;
                let position = place(index % per_layer, columns) + Vec3::Y * height;
                let pose = Pose::new(
                    position + room * random_cube(&mut random),
                    random_rotation(&mut random),
                );
                let rope = (index == HANGING).then(|| rope(&pose, kinds[kind]));
                Protein { kind, pose, rope }
            })
            .collect();
        let layers = proteins.len().div_ceil(per_layer);
        Self {
            half_width,
            wall_height: first_layer + (layers as f32 + 1.5) * pitch,
            pitch,
            proteins,
            things,
        }
    }

    /// Places of the lattice along one side of the box.
    fn columns(proteins: usize) -> usize {
        ((proteins as f32 / LAYERS).sqrt().ceil() as usize).max(2)
    }

    /// A place just below the rim from which one more protein may fall.
    pub fn another(&self, radius: f32, random: &mut impl Rng) -> Pose {
        let room = self.half_width - radius;
        let offset = random_cube(random) * room;
        let position = Vec3::new(offset.x, self.wall_height - self.pitch, offset.z);
        Pose::new(position, random_rotation(random))
    }

    /// Whether a center of mass is outside of the box, nm.
    pub fn is_outside(&self, position: Vec3) -> bool {
        let inside = position.x.abs() <= self.half_width
            && position.z.abs() <= self.half_width
            && (0.0..=self.wall_height).contains(&position.y);
        !inside
    }

    /// Corners and triangles of the ramp along the wall at negative x, nm.
    pub fn ramp(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (foot, top) = (self.pitch * 0.7, self.pitch * 0.5);
        let (wall, side) = (-self.half_width, self.half_width);
        let corners = [-side, side].into_iter().flat_map(|z| {
            [
                Vec3::new(wall, 0.0, z),
                Vec3::new(wall + foot, 0.0, z),
                Vec3::new(wall, top, z),
            ]
        });
        let triangles = vec![
            [1, 2, 5],
            [1, 5, 4],
            [0, 3, 5],
            [0, 5, 2],
            [0, 1, 4],
            [0, 4, 3],
            [0, 2, 1],
            [3, 4, 5],
        ];
        (corners.collect(), triangles)
    }
}

/// A rope that leans, from the surface of a protein of this bounding radius (nm).
fn rope(pose: &Pose, radius: f32) -> Rope {
    let length = 1.5 * radius;
    let up = Quat::from_rotation_z(ROPE_LEAN) * Vec3::Y;
    let end = 0.8 * radius * up;
    Rope {
        anchor: pose.position + end + length * up,
        end: pose.rotation.inverse() * end,
        length,
    }
}

/// Uniform in the cube from −1 to 1.
fn random_cube(random: &mut impl Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.random::<f32>() * 2.0 - 1.0))
}

/// Uniform among all rotations (Shoemake 1992).
pub fn random_rotation(random: &mut impl Rng) -> Quat {
    let [u, v, w] = std::array::from_fn(|_| random.random::<f32>());
    let ((s1, c1), (s2, c2)) = ((v * TAU).sin_cos(), (w * TAU).sin_cos());
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    Quat::from_xyzw(a * s1, a * c1, b * s2, b * c2).normalize()
}
