//! [`filled_sphere`]: molecules in the volume of a sphere.

use std::sync::Arc;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use thiserror::Error;

use crate::compartment::{CompartmentError, Confinement, SphereShell};
use crate::crowd::{Crowd, CrowdError, CrowdMember};
use crate::molecule::MoleculeTemplate;
use crate::pose::{Pose, random_rotation};

/// Why a filled sphere is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FilledSphereError {
    /// The sphere is invalid.
    #[error(transparent)]
    Compartment(#[from] CompartmentError),
    /// A molecule is invalid.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
}

/// Config of a [`filled_sphere`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilledSphereConfig {
    /// Number of molecules. Default: 60.
    pub molecules: u32,
    /// Radius, nm. Default: 9, of which 60 molecules of ubiquitin fill a fifth.
    pub radius: f32,
    /// Seed of the positions and rotations. Default: 1.
    pub seed: u64,
}

impl Default for FilledSphereConfig {
    fn default() -> Self {
        Self {
            molecules: 60,
            radius: 9.0,
            seed: 1,
        }
    }
}

/// Molecules of one kind in a sphere around the origin, in which they have to stay with all of
/// their atoms: a sparse cytoplasm. Their centers are distributed uniformly over the volume, as far
/// from the surface as their bounding radius, and their rotations are random.
///
/// The molecules may overlap. The same seed gives the same poses.
///
/// # Errors
/// [`FilledSphereError`] if the radius is not positive and finite, or there are too many
/// molecules.
pub fn filled_sphere(
    molecule: Arc<MoleculeTemplate>,
    config: &FilledSphereConfig,
) -> Result<Crowd, FilledSphereError> {
    let shell = SphereShell::new(Vec3::ZERO, config.radius)?;
    let farthest = (config.radius - molecule.bounding_radius()).max(0.0);
    let mut crowd = Crowd::new();
    let template = crowd.add_template(molecule);
    let compartment = crowd.add_compartment(Arc::new(shell));
    let inside = Confinement::WholeInside { clearance: 0.0 };
    let placement = crowd.add_placement(compartment, inside)?;
    let mut random = Pcg64Mcg::seed_from_u64(config.seed);
    for _ in 0..config.molecules {
        // The volume within a distance grows with its cube.
        let distance = farthest * random.random::<f32>().cbrt();
        let direction = random_rotation(&mut random) * Vec3::X;
        crowd.add_member(CrowdMember {
            template,
            placement: Some(placement),
            pose: Pose::new(direction * distance, random_rotation(&mut random)),
            ..CrowdMember::default()
        })?;
    }
    Ok(crowd)
}
