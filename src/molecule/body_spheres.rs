//! Spheres of one molecule, whoever holds them.

use glam::Vec3;

use super::MoleculeTemplate;

/// The spheres of one kind of molecule in its body frame, borrowed: its atoms, or proxies for
/// them.
///
/// ```
/// use bevy_rapier_molecules::molecule::BodySpheres;
/// use bevy_rapier_molecules::prelude::*;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let atoms = BodySpheres::from(&lipid);
/// assert_eq!((atoms.centers.len(), atoms.radii.len()), (134, 134));
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySpheres<'a> {
    /// Centers in the body frame, nm.
    pub centers: &'a [Vec3],
    /// Their radii, nm; as many as there are centers.
    pub radii: &'a [f32],
}

impl<'a> From<&'a MoleculeTemplate> for BodySpheres<'a> {
    /// The atoms of a template.
    fn from(template: &'a MoleculeTemplate) -> Self {
        Self {
            centers: template.positions(),
            radii: template.radii(),
        }
    }
}
