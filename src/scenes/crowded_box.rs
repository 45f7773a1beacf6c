//! [`crowded_box`]: a box of densely packed proteins.

use std::sync::Arc;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::crowd::{Crowd, CrowdError, CrowdMember};
use crate::molecule::MoleculeTemplate;
use crate::pose::{Pose, random_rotation};

/// Config of a [`crowded_box`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedBoxConfig {
    /// Number of molecules. Default: 200.
    pub molecules: u32,
    /// Lattice constant, in units of the mean bounding radius. Default: 1.5, at which hemoglobin
    /// fills about two fifths of the box and touches its neighbors.
    pub spacing: f32,
    /// Maximum displacement from the lattice along each axis, in units of the lattice constant.
    /// Default: 0.1.
    pub jitter: f32,
    /// Seed of displacements and rotations. Default: 1.
    pub seed: u64,
}

impl Default for CrowdedBoxConfig {
    fn default() -> Self {
        Self {
            molecules: 200,
            spacing: 1.5,
            jitter: 0.1,
            seed: 1,
        }
    }
}

/// Molecules of alternating `templates` around the points of a cubic lattice, with random
/// rotations and without placements. The center of the box is the origin.
///
/// # Errors
/// [`CrowdError`] if there are no templates, or the spacing is not finite.
pub fn crowded_box(
    templates: &[Arc<MoleculeTemplate>],
    config: &CrowdedBoxConfig,
) -> Result<Crowd, CrowdError> {
    let mut crowd = Crowd::new();
    for template in templates {
        crowd.add_template(template.clone());
    }
    let radii = templates.iter().map(|template| template.bounding_radius());
    let step = config.spacing * radii.sum::<f32>() / templates.len().max(1) as f32;
    let side = (1..).find(|n: &u32| n.saturating_pow(3) >= config.molecules);
    let side = side.unwrap_or(1);
    let mut random = Pcg64Mcg::seed_from_u64(config.seed);
    for k in 0..config.molecules {
        let point = Vec3::new(
            (k % side) as f32,
            (k / side % side) as f32,
            (k / side / side) as f32,
        );
        let shift = [(); 3].map(|()| config.jitter * (2.0 * random.random::<f32>() - 1.0));
        let middle = Vec3::splat((side - 1) as f32 / 2.0);
        crowd.add_member(CrowdMember {
            template: k % templates.len().max(1) as u32,
            pose: Pose::new(
                (point - middle + Vec3::from_array(shift)) * step,
                random_rotation(&mut random),
            ),
            ..CrowdMember::default()
        })?;
    }
    Ok(crowd)
}
