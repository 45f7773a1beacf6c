//! Borrowed spheres of one molecule.

use glam::Vec3;

use super::MoleculeTemplate;

/// The spheres of a molecule in its body frame: its atoms, or proxies for them.
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
    /// Radii, nm, one per center.
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
