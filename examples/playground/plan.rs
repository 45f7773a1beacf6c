//! The initial poses: a box, and above its floor a lattice of sites from which blocks, balls
//! and proteins fall. Does not depend on Bevy.
//!
//! A lattice site holds the largest protein in any orientation, so that nothing overlaps at the
//! start.

use std::f32::consts::TAU;

use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Layers of proteins in the lattice. With [`Plan::columns`] it keeps the pile low for any
/// number of proteins.
const LAYERS: f32 = 6.0;

/// Gap between two lattice sites, nm.
const GAP_NM: f32 = 0.4;

/// Number of proteins per block or ball, besides the first two.
const PROTEINS_PER_PROP: usize = 5;

/// Height of the blocks and balls over the lattice spacing: above the ramp.
const PROP_LAYER: f32 = 0.9;

/// Initial angle between the rope and the vertical, rad.
const ROPE_LEAN: f32 = 0.6;

/// Index of the protein on the rope: the first of the second kind.
const HANGING: usize = 1;

/// A protein of the `kind`-th template.
pub struct Protein {
    pub kind: usize,
    pub pose: Pose,
    /// The rope that holds it, if any.
    pub rope: Option<Rope>,
}

/// A rope from a fixed point to a point on a protein.
#[derive(Clone, Copy)]
pub struct Rope {
    /// The fixed point, world frame, nm.
    pub anchor: Vec3,
    /// The end on the protein, body frame, nm.
    pub end: Vec3,
    /// Max distance between the two, nm.
    pub length: f32,
}

/// The box and its contents. The floor is at y = 0, the box is centered on the y axis.
pub struct Plan {
    /// Half the inner width of the box, nm.
    pub half_width: f32,
    /// Height of the walls, nm: above the highest lattice site.
    pub wall_height: f32,
    /// Lattice spacing, nm.
    pub spacing: f32,
    /// The proteins; their kinds alternate.
    pub proteins: Vec<Protein>,
    /// Blocks and balls, alternating.
    pub props: Vec<Pose>,
}

impl Plan {
    /// A plan for `proteins` proteins. `kinds` are the bounding radii of the kinds, nm.
    pub fn new(kinds: &[f32], proteins: usize, seed: u64) -> Self {
        let largest = kinds.iter().copied().fold(0.0, f32::max);
        let spacing = 2.0 * largest + GAP_NM;
        let columns = Self::columns(proteins);
        let half_width = columns as f32 * spacing / 2.0;
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let per_layer = columns * columns;
        let site = |cell: usize, columns: usize| {
            let spacing = 2.0 * half_width / columns as f32;
            let across = |index: usize| (index as f32 + 0.5) * spacing - half_width;
            Vec3::new(across(cell % columns), 0.0, across(cell / columns))
        };
        let props = 2 + proteins / PROTEINS_PER_PROP;
        let props: Vec<Pose> = (0..props)
            .map(|prop| {
                // Four fit on the site of one protein. Spread them over the whole floor.
                let cell = prop * 4 * per_layer / props;
                let position = site(cell, 2 * columns) + Vec3::Y * PROP_LAYER * spacing;
                Pose::new(position, random_rotation(&mut random))
            })
            .collect();
        let first_layer = (PROP_LAYER + 0.75) * spacing;
        let proteins: Vec<Protein> = (0..proteins)
            .map(|index| {
                let kind = index % kinds.len();
                let play = (spacing - GAP_NM) / 2.0 - kinds[kind];
                let height = first_layer + (index / per_layer) as f32 * spacing;
                let position = site(index % per_layer, columns) + Vec3::Y * height;
                let pose = Pose::new(
                    position + play * random_cube(&mut random),
                    random_rotation(&mut random),
                );
                let rope = (index == HANGING).then(|| rope(&pose, kinds[kind]));
                Protein { kind, pose, rope }
            })
            .collect();
        let layers = proteins.len().div_ceil(per_layer);
        Self {
            half_width,
            wall_height: first_layer + (layers as f32 + 1.5) * spacing,
            spacing,
            proteins,
            props,
        }
    }

    /// Lattice sites along one side of the box.
    fn columns(proteins: usize) -> usize {
        ((proteins as f32 / LAYERS).sqrt().ceil() as usize).max(2)
    }

    /// A random pose just below the rim for one more protein.
    pub fn pose_below_rim(&self, radius: f32, random: &mut impl Rng) -> Pose {
        let offset = random_cube(random) * (self.half_width - radius);
        let position = Vec3::new(offset.x, self.wall_height - self.spacing, offset.z);
        Pose::new(position, random_rotation(random))
    }

    /// Whether a center of mass (nm) is outside the box.
    pub fn is_outside(&self, position: Vec3) -> bool {
        let inside = position.x.abs() <= self.half_width
            && position.z.abs() <= self.half_width
            && (0.0..=self.wall_height).contains(&position.y);
        !inside
    }

    /// Corners (nm) and triangles of the ramp along the wall at negative x.
    pub fn ramp(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let (foot, top) = (self.spacing * 0.7, self.spacing * 0.5);
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

/// A tilted rope to the surface of a protein with this bounding radius (nm).
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

/// Uniform in the cube [−1, 1]³.
fn random_cube(random: &mut impl Rng) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.random::<f32>() * 2.0 - 1.0))
}

/// Uniformly distributed rotation (Shoemake 1992).
pub fn random_rotation(random: &mut impl Rng) -> Quat {
    let [u, v, w] = std::array::from_fn(|_| random.random::<f32>());
    let ((s1, c1), (s2, c2)) = ((v * TAU).sin_cos(), (w * TAU).sin_cos());
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    Quat::from_xyzw(a * s1, a * c1, b * s2, b * c2).normalize()
}
