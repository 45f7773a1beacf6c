//! Writes atom contacts into the manifolds that Rapier keeps for a pair.

use glam::{Quat, Vec3};
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::details::{
    ContactManifoldsWorkspace, TypedWorkspaceData, WorkspaceData,
};
use rapier3d::parry::query::{ContactManifold, TrackedContact};
use rapier3d::parry::shape::PackedFeatureId;

use super::reduction::select_points;
use super::{AtomContact, direction};

/// Bits of an index that fit into a feature id of parry.
const FEATURE_MASK: u32 = 0x3fff_ffff;

/// Marks the pair as one whose number of manifolds changes.
///
/// Rapier's solver refers to manifolds by index and updates these references only for pairs
/// with a workspace. Without one, removed manifolds would stay in its lists.
#[derive(Clone, Copy)]
struct VariableManifoldCount;

impl WorkspaceData for VariableManifoldCount {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(*self)
    }
}

/// Removes all manifolds of a pair.
pub(in crate::rapier) fn clear<M, C>(
    manifolds: &mut Vec<ContactManifold<M, C>>,
    workspace: &mut Option<ContactManifoldsWorkspace>,
) {
    *workspace = (!manifolds.is_empty()).then(|| VariableManifoldCount.into());
    manifolds.clear();
}

/// Writes the manifolds of a pair.
pub(in crate::rapier) struct ManifoldWriter {
    /// Pose of the other shape in the frame of the contacts.
    pub pose: Pose3,
    /// The other shape is the first of the pair.
    pub flipped: bool,
    /// Prediction distance (nm) up to which contacts were collected.
    pub prediction: f32,
    /// Rotation to the frame of the contacts from the one in which directions are fixed.
    pub direction_frame: Quat,
}

impl ManifoldWriter {
    /// Replaces the manifolds of a pair by those of `contacts`, and sorts `contacts`. Points
    /// that persist keep the data that Rapier has stored with them.
    pub fn write<M, C>(
        &self,
        contacts: &mut [AtomContact],
        manifolds: &mut Vec<ContactManifold<M, C>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) where
        M: Default + Clone,
        C: Default + Copy,
    {
        let inverse = self.direction_frame.inverse();
        for contact in contacts.iter_mut() {
            contact.direction = direction(inverse * contact.normal);
        }
        contacts
            .sort_unstable_by(|a, b| a.direction.cmp(&b.direction).then_with(|| a.cmp_depth(b)));

        let previous: Vec<TrackedContact<C>> = manifolds
            .iter()
            .flat_map(|manifold| manifold.points.iter().copied())
            .collect();
        let old_count = manifolds.len();
        let mut count = 0;
        for patch in contacts.chunk_by(|a, b| a.direction == b.direction) {
            if count == manifolds.len() {
                manifolds.push(ContactManifold::new());
            }
            self.write_patch(patch, &previous, &mut manifolds[count]);
            count += 1;
        }
        manifolds.truncate(count);
        let constant = count == old_count && count <= 1;
        *workspace = (!constant).then(|| VariableManifoldCount.into());
    }

    /// Writes the contacts of one direction, deepest first, into one manifold.
    fn write_patch<M, C: Default + Copy>(
        &self,
        patch: &[AtomContact],
        previous: &[TrackedContact<C>],
        manifold: &mut ContactManifold<M, C>,
    ) {
        let normal = self.mean_normal(patch);
        let find = |contact: &AtomContact| {
            let features = self.features(contact);
            let mut matching = previous.iter();
            matching.find(|old| (old.fid1, old.fid2) == features)
        };
        let (count, selected) = select_points(patch, normal, |contact| find(contact).is_some());

        manifold.points.clear();
        for &index in &selected[..count] {
            let contact = &patch[index];
            let (feature1, feature2) = self.features(contact);
            let on_other = self.pose.inverse_transform_point(contact.on_other);
            let (point1, point2) = self.in_order(contact.on_atom, on_other);
            let mut point = TrackedContact::new(point1, point2, feature1, feature2, contact.dist);
            if let Some(old) = find(contact) {
                point.data = old.data;
            }
            manifold.points.push(point);
        }
        let towards_molecule = self.pose.rotation.inverse() * -normal;
        let deepest = &patch[0];
        (manifold.local_n1, manifold.local_n2) = self.in_order(normal, towards_molecule);
        (manifold.subshape1, manifold.subshape2) = self.in_order(deepest.atom, deepest.other);
        manifold.subshape_poses = None;
    }

    /// Mean of the normals, weighted by the depth below the prediction distance, so that
    /// contacts that appear or vanish there do not change the mean.
    fn mean_normal(&self, patch: &[AtomContact]) -> Vec3 {
        let sum: Vec3 = patch
            .iter()
            .map(|contact| contact.normal * (self.prediction - contact.dist))
            .sum();
        sum.try_normalize().unwrap_or(patch[0].normal)
    }

    /// Features of the two sides of a contact, in the order of the pair.
    fn features(&self, contact: &AtomContact) -> (PackedFeatureId, PackedFeatureId) {
        self.in_order(
            PackedFeatureId::face(contact.atom & FEATURE_MASK),
            PackedFeatureId::face(contact.other & FEATURE_MASK),
        )
    }

    /// Brings (molecule, other) into the order of the pair.
    fn in_order<T>(&self, molecule: T, other: T) -> (T, T) {
        if self.flipped {
            (other, molecule)
        } else {
            (molecule, other)
        }
    }
}
