//! Brute force: every atom against every part of the other shape.

use bevy_rapier_molecules::rapier::MoleculeShape;
use glam::Vec3;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::{Contact, DefaultQueryDispatcher, QueryDispatcher, ShapeCastOptions};
use rapier3d::parry::shape::{Ball, Cuboid, Shape, SharedShape};

/// The atoms of a molecule and the convex parts of another shape.
pub struct Oracle {
    atoms: Vec<(Vec3, Ball)>,
    parts: Vec<(Pose3, SharedShape)>,
}

impl Oracle {
    pub fn new(molecule: &MoleculeShape, other: &dyn Shape) -> Self {
        Self {
            atoms: atoms(molecule),
            parts: parts(other),
        }
    }

    /// Every atom with every part and the pose of the part in the frame of the atom.
    fn pairs<'a>(
        &'a self,
        pose: &'a Pose3,
    ) -> impl Iterator<Item = (usize, Pose3, &'a Ball, &'a SharedShape)> {
        self.atoms
            .iter()
            .enumerate()
            .flat_map(move |(k, (center, ball))| {
                self.parts.iter().map(move |(inner, part)| {
                    let pose = pose.append_translation(-*center) * *inner;
                    (k, pose, ball, part)
                })
            })
    }

    pub fn distance(&self, pose: &Pose3) -> f32 {
        self.pairs(pose)
            .map(|(_, pose, ball, part)| {
                DefaultQueryDispatcher
                    .distance(&pose, ball, &**part)
                    .unwrap()
            })
            .fold(f32::MAX, f32::min)
    }

    /// All contacts closer than `prediction`, with the index of the atom. Normals and first
    /// points are in the frame of the molecule.
    pub fn contacts(&self, pose: &Pose3, prediction: f32) -> Vec<(usize, Contact)> {
        self.pairs(pose)
            .filter_map(|(k, pose, ball, part)| {
                // The ball is the second shape, since parry inverts the pose if a half-space
                // is the second.
                let mut contact = DefaultQueryDispatcher
                    .contact(&pose.inverse(), &**part, ball, prediction)
                    .unwrap()?
                    .flipped();
                contact.point1 += self.atoms[k].0;
                Some((k, contact))
            })
            .collect()
    }

    pub fn deepest(&self, pose: &Pose3, prediction: f32) -> Option<f32> {
        let contacts = self.contacts(pose, prediction);
        contacts.iter().map(|(_, c)| c.dist).min_by(f32::total_cmp)
    }

    pub fn cast(&self, pose: &Pose3, velocity: Vec3, options: ShapeCastOptions) -> Option<f32> {
        self.pairs(pose)
            .filter_map(|(_, pose, ball, part)| {
                let hit =
                    DefaultQueryDispatcher.cast_shapes(&pose, velocity, ball, &**part, options);
                Some(hit.unwrap()?.time_of_impact)
            })
            .min_by(f32::total_cmp)
    }
}

/// Centers and balls of the atoms of a molecule.
pub fn atoms(molecule: &MoleculeShape) -> Vec<(Vec3, Ball)> {
    let template = molecule.template();
    let radii = template.radii().iter().map(|&radius| Ball::new(radius));
    template.positions().iter().copied().zip(radii).collect()
}

/// The convex parts of a shape.
fn parts(shape: &dyn Shape) -> Vec<(Pose3, SharedShape)> {
    let at_origin = |shape: SharedShape| (Pose3::IDENTITY, shape);
    if let Some(molecule) = shape.as_shape::<MoleculeShape>() {
        let atoms = atoms(molecule).into_iter();
        atoms
            .map(|(center, ball)| (Pose3::from_translation(center), SharedShape::new(ball)))
            .collect()
    } else if let Some(mesh) = shape.as_trimesh() {
        let triangles = mesh.triangles();
        triangles.map(|t| at_origin(SharedShape::new(t))).collect()
    } else if let Some(field) = shape.as_heightfield() {
        let triangles = field.triangles();
        triangles.map(|t| at_origin(SharedShape::new(t))).collect()
    } else if let Some(line) = shape.as_polyline() {
        let segments = line.segments();
        segments.map(|s| at_origin(SharedShape::new(s))).collect()
    } else if let Some(compound) = shape.as_compound() {
        compound.shapes().to_vec()
    } else if let Some(voxels) = shape.as_voxels() {
        let cuboid = SharedShape::new(Cuboid::new(voxels.voxel_size() * 0.5));
        let voxels = voxels.voxels().filter(|voxel| !voxel.state.is_empty());
        voxels
            .map(|voxel| (Pose3::from_translation(voxel.center), cuboid.clone()))
            .collect()
    } else if let Some(composite) = shape.as_composite_shape() {
        let mut parts = Vec::new();
        for id in 0..composite.bvh().leaf_count() {
            composite.map_part_at(id, &mut |pose, part, _| {
                let part = SharedShape(part.clone_dyn().into());
                parts.push((pose.copied().unwrap_or(Pose3::IDENTITY), part));
            });
        }
        parts
    } else {
        vec![at_origin(SharedShape(shape.clone_dyn().into()))]
    }
}
