//! Iteration over the convex parts of a parry shape.

use rapier3d::parry::bounding_volume::Aabb;
use rapier3d::parry::math::Pose3;
use rapier3d::parry::shape::{Cuboid, Shape};

/// Callback that receives the id, the pose and the shape of a part.
type Visit<'a> = dyn FnMut(u32, Option<&Pose3>, &dyn Shape) + 'a;

/// Visits the parts of `shape` whose boxes intersect `region`, in the frame of the shape.
///
/// `visit` receives an id that stays the same for a part, the pose of the part in the frame of the
/// shape (`None` is the identity), and the part. A shape without parts is its own single part.
pub(super) fn visit_parts(shape: &dyn Shape, region: &Aabb, visit: &mut Visit) {
    if let Some(field) = shape.as_heightfield() {
        field.map_elements_in_local_aabb(region, &mut |id, triangle| visit(id, None, triangle));
    } else if let Some(voxels) = shape.as_voxels() {
        let cuboid = Cuboid::new(voxels.voxel_size() * 0.5);
        for voxel in voxels.voxels_intersecting_local_aabb(region) {
            if !voxel.state.is_empty() {
                let pose = Pose3::from_translation(voxel.center);
                visit(voxel.linear_id.flat_id() as u32, Some(&pose), &cuboid);
            }
        }
    } else if let Some(composite) = shape.as_composite_shape() {
        for id in composite.bvh().intersect_aabb(region) {
            composite.map_part_at(id, &mut |pose, part, _| {
                if has_parts(part) {
                    visit_nested(pose, part, region, &mut |pose, part| visit(id, pose, part));
                } else {
                    visit(id, pose, part);
                }
            });
        }
    } else {
        visit(0, None, shape);
    }
}

/// Whether a shape consists of several parts.
pub(super) fn has_parts(shape: &dyn Shape) -> bool {
    shape.as_composite_shape().is_some()
        || shape.as_heightfield().is_some()
        || shape.as_voxels().is_some()
}

/// Visits the parts of a part.
fn visit_nested(
    pose: Option<&Pose3>,
    part: &dyn Shape,
    region: &Aabb,
    visit: &mut dyn FnMut(Option<&Pose3>, &dyn Shape),
) {
    let pose = pose.copied().unwrap_or(Pose3::IDENTITY);
    let region = region.transform_by(&pose.inverse());
    visit_parts(part, &region, &mut |_, inner, part| {
        let inner = inner.copied().unwrap_or(Pose3::IDENTITY);
        visit(Some(&(pose * inner)), part);
    });
}
