//! [`SceneBox`]: the box of a scene in files that need one.

use glam::{DVec3, Vec3};

use super::Scene;
use crate::export::{ExportError, ExportOptions};
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Distance between the atoms and the faces of a box around them, nm. Its periodic images, which a
/// program may add, are then 1 nm apart.
const MARGIN_NM: f64 = 0.5;

/// The periodic box of a scene, else its bounds, else a box around all atoms.
pub(super) struct SceneBox {
    /// Lowest corner, nm.
    pub low: DVec3,
    /// Edges, nm.
    pub size: DVec3,
    /// The box, if it is periodic.
    pub periodic: Option<PeriodicBox>,
    /// The box that molecules are moved into.
    wrapping: Option<PeriodicBox>,
}

impl SceneBox {
    /// The box of a scene. Bounds grow to contain the spheres of all atoms.
    ///
    /// # Errors
    /// [`ExportError::InvalidPose`].
    pub fn of(scene: &Scene, options: &ExportOptions) -> Result<Self, ExportError> {
        for (molecule, (template, pose)) in scene.instances().enumerate() {
            if !pose.is_rigid() {
                return Err(ExportError::InvalidPose {
                    molecule,
                    name: template.name().to_owned(),
                });
            }
        }
        if let Some(periodic) = scene.periodic_box.or(options.periodic_box) {
            let low = scene.bounds.map_or(Vec3::ZERO, |[low, _]| low);
            return Ok(Self {
                low: low.as_dvec3(),
                size: periodic.size().as_dvec3(),
                periodic: Some(periodic),
                wrapping: options.wrap.then_some(periodic),
            });
        }
        let empty = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = scene.bounds.map(|bounds| bounds.map(Vec3::as_dvec3));
        let mut corners = bounds.unwrap_or(empty);
        for (template, pose) in scene.instances() {
            include(&mut corners, template, pose);
        }
        let [low, high] = match corners[0].is_finite() && corners[1].is_finite() {
            true => corners,
            false => [DVec3::ZERO; 2],
        };
        let margin = DVec3::splat(match scene.bounds {
            Some(_) if (high - low).min_element() > 0.0 => 0.0,
            _ => MARGIN_NM,
        });
        Ok(Self {
            low: low - margin,
            size: high - low + 2.0 * margin,
            periodic: None,
            wrapping: None,
        })
    }

    /// The whole edges between a molecule and its image in the box, nm.
    pub fn edges_to_image(&self, pose: Pose) -> DVec3 {
        let position = pose.position.as_dvec3() - self.low;
        self.wrapping.map_or(DVec3::ZERO, |periodic| {
            periodic.exact_shift(periodic.image_of(position))
        })
    }
}

/// Extends a box by the spheres of a molecule.
fn include(corners: &mut [DVec3; 2], template: &MoleculeTemplate, pose: Pose) {
    let reach = f64::from(template.bounding_radius());
    let center = pose.position.as_dvec3();
    let is_inside =
        (center - reach).cmpge(corners[0]).all() && (center + reach).cmple(corners[1]).all();
    if is_inside {
        return;
    }
    for (position, radius) in template.positions().iter().zip(template.radii()) {
        let center = pose.transform_point(*position).as_dvec3();
        let radius = f64::from(*radius);
        corners[0] = corners[0].min(center - radius);
        corners[1] = corners[1].max(center + radius);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::scene_files::SceneKind;

    fn ball_at(position: Vec3) -> Scene {
        let ball = MoleculeTemplate::coarse("ball", &[(Vec3::ZERO, 2.0)]).unwrap();
        let mut kind = SceneKind::new("ball", Arc::new(ball));
        kind.poses.push(Pose::from_translation(position));
        Scene {
            kinds: vec![kind],
            ..Scene::default()
        }
    }

    #[test]
    fn boxes_around_atoms_have_a_margin_and_bounds_have_none() {
        let mut scene = ball_at(Vec3::new(5.0, 0.0, 0.0));
        let options = ExportOptions::default();
        let around = SceneBox::of(&scene, &options).unwrap();
        assert_eq!(around.low, DVec3::new(2.5, -2.5, -2.5));
        assert_eq!(around.size, DVec3::splat(5.0));
        scene.bounds = Some([Vec3::splat(-4.0), Vec3::splat(6.0)]);
        let bounds = SceneBox::of(&scene, &options).unwrap();
        assert_eq!(bounds.low, DVec3::splat(-4.0));
        assert_eq!(bounds.size, DVec3::new(11.0, 10.0, 10.0));
        let nothing = SceneBox::of(&Scene::default(), &options).unwrap();
        assert_eq!(nothing.size, DVec3::ONE);
    }

    #[test]
    fn molecules_are_moved_into_a_periodic_box_by_whole_edges() {
        let mut scene = ball_at(Vec3::new(5.0, -1.0, 12.0));
        scene.periodic_box = Some(PeriodicBox::new(Vec3::new(3.0, 4.0, 5.0)).unwrap());
        scene.bounds = Some([Vec3::splat(3.0), Vec3::splat(9.0)]);
        let pose = scene.kinds[0].poses[0];
        let mut options = ExportOptions::default();
        let wrapping = SceneBox::of(&scene, &options).unwrap();
        assert_eq!(wrapping.edges_to_image(pose), DVec3::new(0.0, -4.0, 5.0));
        options.wrap = false;
        let unwrapped = SceneBox::of(&scene, &options).unwrap();
        assert_eq!(unwrapped.edges_to_image(pose), DVec3::ZERO);
        scene.kinds[0].poses.push(Pose::from_translation(Vec3::NAN));
        let error = SceneBox::of(&scene, &options).err().unwrap();
        assert!(matches!(
            error,
            ExportError::InvalidPose { molecule: 1, .. }
        ));
    }
}
