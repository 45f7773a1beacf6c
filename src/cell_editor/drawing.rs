//! The entity that draws the molecules.

use std::sync::Arc;

use bevy::color::Mix;
use bevy::prelude::*;

use super::cut_plane::CutPlane;
use super::editor::CellEditor;
use super::entry_look::EntryLook;
use super::physics::{PhysicsScene, pose_of};
use crate::pose::Pose;
use crate::recipe::{LivePacking, MoleculeId};
use crate::render::{InstancedMolecules, MoleculeHighlight, MoleculeInstance, MoleculeTint};

/// Color of frozen molecules, mixed with that of their entry.
const ICE: Color = Color::srgb(0.88, 0.95, 1.0);

/// Fraction of [`ICE`] in the color of frozen molecules.
const ICE_FRACTION: f32 = 0.55;

/// Marks the entity that draws the molecules of the [`CellEditor`], and has the id of each of its
/// [`InstancedMolecules`]. Hidden molecules are not among them.
#[derive(Clone, Debug, Default, Component)]
#[require(InstancedMolecules)]
pub struct CellMolecules {
    ids: Vec<MoleculeId>,
    drawn: Option<Drawn>,
}

impl CellMolecules {
    /// The molecules that are drawn, in the order of [`InstancedMolecules::molecules`].
    #[must_use]
    pub fn ids(&self) -> &[MoleculeId] {
        &self.ids
    }
}

/// What the entity shows. If it is the same, nothing has to be drawn anew.
#[derive(Clone, Debug, PartialEq)]
struct Drawn {
    moves: u64,
    revision: u64,
    looks: Vec<EntryLook>,
    cut: CutPlane,
    selection: Vec<MoleculeId>,
    color_by_entry: bool,
}

pub(super) fn spawn_molecules(mut commands: Commands) {
    commands.spawn((Name::new("cell editor"), CellMolecules::default()));
}

/// Draws the molecules if anything has changed.
pub(super) fn update_molecules(
    editor: Res<CellEditor>,
    mut drawn: Query<(&mut CellMolecules, &mut InstancedMolecules)>,
    bodies: Query<&Transform, Without<CellMolecules>>,
) {
    let Some(packing) = editor.packing() else {
        return;
    };
    let now = Drawn {
        moves: editor.moves,
        revision: packing.revision(),
        looks: editor.looks.clone(),
        cut: editor.cut,
        selection: editor.selection.clone(),
        color_by_entry: editor.color_by_entry,
    };
    for (mut cell, mut molecules) in &mut drawn {
        // Bodies move in each frame.
        if editor.physics.is_none() && cell.drawn.as_ref() == Some(&now) {
            continue;
        }
        cell.drawn = Some(now.clone());
        let body = |scene: &PhysicsScene, index: usize| {
            let entity = scene.molecules().get(index)?;
            bodies.get(*entity).ok().map(pose_of)
        };
        let moved = |index| body(editor.physics.as_ref()?, index);
        fill(&mut cell.ids, &mut molecules, (&editor, packing), moved);
    }
}

/// Fills the instances with all visible molecules. `moved` returns the pose of a member that is not
/// that of the packing.
fn fill(
    ids: &mut Vec<MoleculeId>,
    instances: &mut InstancedMolecules,
    (editor, packing): (&CellEditor, &LivePacking),
    moved: impl Fn(usize) -> Option<Pose>,
) {
    let crowd = packing.crowd();
    let mut pairs = instances.templates.iter().zip(crowd.templates());
    let same_count = instances.templates.len() == crowd.templates().len();
    if !same_count || !pairs.all(|(known, new)| Arc::ptr_eq(known, new)) {
        instances.templates = crowd.templates().to_vec();
    }
    let mut selection = editor.selection.clone();
    selection.sort_unstable();
    ids.clear();
    instances.molecules.clear();
    let (all_ids, entries) = (packing.molecule_ids(), packing.molecule_entries());
    for (index, member) in crowd.members().iter().enumerate() {
        let (id, entry) = (all_ids[index], entries[index]);
        let pose = moved(index).unwrap_or(member.pose);
        let look = editor.looks.get(entry as usize);
        if look.is_some_and(|look| !look.visible) || editor.cut.hides(pose.position) {
            continue;
        }
        let color = look
            .filter(|_| editor.color_by_entry)
            .map(|look| look.color);
        let is_selected = selection.binary_search(&id).is_ok();
        ids.push(id);
        instances.molecules.push(MoleculeInstance {
            group: entry,
            tint: tint(color, member.fixed && packing.dragged() != Some(id)),
            highlight: is_selected.then(MoleculeHighlight::default),
            ..MoleculeInstance::new(member.template, pose)
        });
    }
}

fn tint(color: Option<Color>, frozen: bool) -> MoleculeTint {
    match (color, frozen) {
        (Some(color), false) => color.into(),
        (Some(color), true) => color.mix(&ICE, ICE_FRACTION).into(),
        (None, false) => MoleculeTint::default(),
        (None, true) => ICE.with_alpha(ICE_FRACTION).into(),
    }
}
