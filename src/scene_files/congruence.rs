//! Molecules that are copies of each other become one kind.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::{ReadSceneOptions, SceneKind};
use crate::molecule::{MoleculePart, MoleculeTemplate};
use crate::pose::Pose;
use crate::superposition::superpose;

/// The kinds of molecules in a file with all atoms, in the order of their first molecules.
///
/// Two molecules are of one kind if they have the same atoms and residue names, and a rotation
/// moves each atom of one to within `tolerance` nm of its place in the other. Without
/// [`ReadSceneOptions::merge_copies`], each molecule is a kind of its own.
pub(super) fn kinds_of(
    parts: Vec<MoleculePart>,
    tolerance: f64,
    options: &ReadSceneOptions,
) -> Vec<SceneKind> {
    let mut kinds: Vec<SceneKind> = Vec::new();
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    for part in parts {
        let known = alike.entry(fingerprint(&part.template)).or_default();
        let mut candidates = known.iter().filter(|_| options.merge_copies);
        let found = candidates.find_map(|&kind| {
            let pose = pose_of(&kinds[kind].template, &part, tolerance)?;
            Some((kind, pose))
        });
        if let Some((kind, pose)) = found {
            kinds[kind].poses.push(pose);
            continue;
        }
        known.push(kinds.len());
        let name = name_of(&part.template);
        let mut kind = SceneKind::new(name, part.template);
        kind.poses.push(part.pose);
        kinds.push(kind);
    }
    kinds
}

/// The residue name of a molecule with one residue, else the name of the template.
fn name_of(template: &MoleculeTemplate) -> String {
    match template.residues() {
        [residue] if !residue.name.is_empty() => residue.name.to_string(),
        _ => template.name().to_owned(),
    }
}

/// A hash of the names and elements of all atoms and residues.
fn fingerprint(template: &MoleculeTemplate) -> u64 {
    let mut hasher = DefaultHasher::new();
    template.atom_names().hash(&mut hasher);
    template.residue_indices().hash(&mut hasher);
    for residue in template.residues() {
        residue.name.hash(&mut hasher);
    }
    hasher.finish()
}

/// The pose of `template` that puts it onto a molecule of the file; none if they differ.
fn pose_of(template: &Arc<MoleculeTemplate>, part: &MoleculePart, tolerance: f64) -> Option<Pose> {
    if Arc::ptr_eq(template, &part.template) {
        return Some(part.pose);
    }
    let is_alike = template.elements() == part.template.elements()
        && template.atom_names() == part.template.atom_names();
    // A rotation keeps distances from the center. Cheap, where molecules have many shapes.
    let radii = template.bounding_radius() - part.template.bounding_radius();
    if !is_alike || f64::from(radii.abs()) > tolerance {
        return None;
    }
    let pairs = || {
        let pairs = template.positions().iter().zip(part.template.positions());
        pairs.map(|(from, to)| (from.as_dvec3(), to.as_dvec3()))
    };
    let rotation = superpose(pairs());
    let mut distances = pairs().map(|(from, to)| (rotation * from).distance(to));
    if !distances.all(|distance| distance <= tolerance) {
        return None;
    }
    let rotation = (part.pose.rotation.as_dquat() * rotation).normalize();
    Some(Pose::new(
        part.pose.position,
        rotation.as_quat().normalize(),
    ))
}
