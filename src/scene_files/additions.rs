//! Keys of ours in JSON formats of other programs, which ignore them.
//!
//! They hold what the format has no place for, under [`KEY`] of an object of the format. Lengths
//! are nm.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{Scene, SceneKind, SceneReadError, Topology};
use crate::export::ExportError;
use crate::molecule::{Element, MoleculeTemplate};
use crate::periodic_box::PeriodicBox;

/// The key of the object with our keys.
pub(super) const KEY: &str = "bevy_rapier_molecules";

/// What a format does not say about a scene.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SceneAdditions {
    /// Edges of the periodic box, nm.
    #[serde(skip_serializing_if = "Option::is_none")]
    periodic_box: Option<Vec3>,
    /// Lowest and highest corner of the space, nm.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<[Vec3; 2]>,
    /// The point of the scene that is the origin of the file, nm.
    #[serde(skip_serializing_if = "is_zero")]
    pub origin: Vec3,
}

fn is_zero(vector: &Vec3) -> bool {
    *vector == Vec3::ZERO
}

impl SceneAdditions {
    pub fn of(scene: &Scene, origin: Vec3) -> Self {
        Self {
            periodic_box: scene.periodic_box.map(|periodic| periodic.size()),
            bounds: scene.bounds,
            origin,
        }
    }

    /// Sets box and bounds of a scene.
    pub fn apply(&self, scene: &mut Scene, file: &str) -> Result<(), SceneReadError> {
        let invalid = |field: &str, problem: String| SceneReadError::Invalid {
            file: file.to_owned(),
            place: format!("{KEY}.{field}"),
            problem,
        };
        let periodic = self.periodic_box.map(PeriodicBox::new).transpose();
        scene.periodic_box = periodic.map_err(|e| invalid("periodic_box", e.to_string()))?;
        if let Some([low, high]) = self.bounds {
            check_bounds(low, high).map_err(|problem| invalid("bounds", problem))?;
        }
        scene.bounds = self.bounds;
        if !self.origin.is_finite() {
            return Err(invalid("origin", "expected finite numbers".to_owned()));
        }
        Ok(())
    }
}

/// An error if the corners are not finite, or the first is not the lowest.
pub(super) fn check_bounds(low: Vec3, high: Vec3) -> Result<(), String> {
    if low.is_finite() && high.is_finite() && low.cmple(high).all() {
        return Ok(());
    }
    Err(format!(
        "expected the lowest and the highest corner, found {low} and {high}"
    ))
}

/// What a format does not say about a kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct KindAdditions {
    /// Number of the kind in the scene, if the format has another order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Name of the kind, if the format has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Names of the groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Color, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<[f32; 3]>,
    /// The structure file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Name of the molecule type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub molecule_type: Option<String>,
    /// Files to include.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub includes: Vec<String>,
    /// Number of atoms, if the structure file may have others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atoms: Option<usize>,
    /// Balls of a coarse molecule in its body frame: x, y, z, radius, nm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spheres: Option<Vec<[f32; 4]>>,
}

impl KindAdditions {
    /// All that a format may lack.
    pub fn of(kind: &SceneKind) -> Self {
        Self {
            file: kind.file.clone(),
            path: kind.path.clone(),
            molecule_type: kind.topology.molecule_type.clone(),
            includes: kind.topology.includes.clone(),
            spheres: is_coarse(&kind.template).then(|| balls_of(&kind.template)),
            ..Self::default()
        }
    }

    /// Sets groups, file and topology of a kind.
    pub fn apply(&self, kind: &mut SceneKind) {
        kind.path.clone_from(&self.path);
        kind.file.clone_from(&self.file);
        kind.topology = Topology {
            molecule_type: self.molecule_type.clone(),
            includes: self.includes.clone(),
        };
    }

    /// As JSON; none if there is nothing to say.
    pub fn to_json(&self) -> Result<Option<String>, ExportError> {
        let text = to_json(self)?;
        Ok((text != "{}").then_some(text))
    }
}

/// A value as JSON.
pub(super) fn to_json(value: &(impl Serialize + ?Sized)) -> Result<String, ExportError> {
    serde_json::to_string(value).map_err(|error| ExportError::Write(error.into()))
}

/// Whether a template is balls without elements, as made by [`MoleculeTemplate::coarse`]. Structure
/// files lose their radii.
pub(super) fn is_coarse(template: &MoleculeTemplate) -> bool {
    let is_unknown = |element: &Element| *element == Element::UNKNOWN;
    matches!(template.residues(), [residue] if residue.name == "SPH")
        && template.elements().iter().all(is_unknown)
}

/// Centers and radii of the atoms in the body frame, nm.
pub(super) fn balls_of(template: &MoleculeTemplate) -> Vec<[f32; 4]> {
    let balls = template.positions().iter().zip(template.radii());
    balls.map(|(p, radius)| [p.x, p.y, p.z, *radius]).collect()
}
