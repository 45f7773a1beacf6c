//! A box full of proteins.

use std::sync::Arc;

use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::crowd::{Crowd, CrowdError, CrowdMember};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// How many molecules a [`crowded_box`] has, and how close they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedBoxConfig {
    /// Number of molecules. Default: 200.
    pub molecules: u32,
    /// Distance of neighboring places, in units of the mean bounding radius. Default: 1.5,
    /// at which hemoglobin fills about two fifths of the box and touches its neighbors.
    pub spacing: f32,
    /// How far molecules are from their places along each axis at most, in units of the
    /// spacing. Default: 0.1.
    pub jitter: f32,
    /// Seed of places and rotations. Default: 1.
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

/// Molecules in turn from `templates`, around the places of a cubic lattice, each turned at
/// random. They belong nowhere, and may go anywhere. The middle of the box is the origin.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
///
/// let protein = Arc::new(load("assets/molecules/1ubq.cif", &LoadOptions::default())?);
/// let config = CrowdedBoxConfig { molecules: 27, ..CrowdedBoxConfig::default() };
/// let crowd = crowded_box(&[protein], &config)?;
/// assert_eq!(crowd.members().len(), 27);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CrowdError`] if there are no templates, or the spacing is not a number.
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
        let place = Vec3::new(
            (k % side) as f32,
            (k / side % side) as f32,
            (k / side / side) as f32,
        );
        let shift = [(); 3].map(|()| config.jitter * (2.0 * random.random::<f32>() - 1.0));
        let middle = Vec3::splat((side - 1) as f32 / 2.0);
        crowd.add_member(CrowdMember {
            template: k % templates.len().max(1) as u32,
            placement: None,
            pose: Pose::new(
                (place - middle + Vec3::from_array(shift)) * step,
                any_rotation(&mut random),
            ),
        })?;
    }
    Ok(crowd)
}

/// A rotation, all as likely (Shoemake 1992).
fn any_rotation(random: &mut Pcg64Mcg) -> Quat {
    use std::f32::consts::TAU;
    let [u, v, w] = [(); 3].map(|()| random.random::<f32>());
    let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
    let (v, w) = (TAU * v, TAU * w);
    Quat::from_xyzw(a * v.sin(), a * v.cos(), b * w.sin(), b * w.cos()).normalize()
}
