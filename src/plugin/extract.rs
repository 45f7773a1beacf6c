//! Extraction of the molecules of the physics world for rendering.

use std::collections::BTreeMap;

use bevy::camera::visibility::RenderLayers;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::{Extract, ExtractSchedule, RenderApp};

use super::compartment::InCompartment;
use super::components::{Colliding, Molecule};
use super::contact_events::TouchingMolecules;
use super::prepared_molecule::PreparedMolecule;
use crate::pose::Pose;
use crate::render::{
    ExtractedInstanceSets, InstanceSource, MoleculeHighlight, MoleculeInstance, MoleculeTint,
};

/// Excludes a molecule from rendering by the plugin, for apps that draw it themselves.
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct NoMoleculeRendering;

/// Draws the atoms of every loaded [`Molecule`] at its [`GlobalTransform`], unless it is
/// hidden or has [`NoMoleculeRendering`]. Part of [`MoleculePlugins`](super::MoleculePlugins)
/// with the feature `draw`.
///
/// [`ColorMode::Collision`](crate::render::ColorMode::Collision) shows [`Colliding`],
/// [`ColorMode::Group`](crate::render::ColorMode::Group) the compartment and its region, and
/// [`ColorMode::Penetration`](crate::render::ColorMode::Penetration) the deepest overlap in
/// [`TouchingMolecules`]. A [`MoleculeTint`] sets color and opacity of a molecule, and a
/// [`MoleculeHighlight`] makes it stand out.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeExtractPlugin;

impl Plugin for MoleculeExtractPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<NoMoleculeRendering>();
    }

    /// The render app may have been added after this plugin.
    fn finish(&self, app: &mut App) {
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .init_resource::<ExtractedInstanceSets>()
            .add_systems(ExtractSchedule, extract_molecules);
    }
}

/// The pose at which a molecule is drawn, without the scale of its transform; `None` if it is not
/// finite.
pub(super) fn drawn_pose(transform: &GlobalTransform) -> Option<Pose> {
    let (_, rotation, position) = transform.to_scale_rotation_translation();
    let pose = Pose::new(position, rotation);
    pose.is_finite().then_some(pose)
}

/// Extracts all molecules, in one instance set per combination of render layers.
fn extract_molecules(
    mut extracted: ResMut<ExtractedInstanceSets>,
    molecules: Extract<
        Query<
            (
                Entity,
                &PreparedMolecule,
                &GlobalTransform,
                &Colliding,
                &InheritedVisibility,
                Option<&InCompartment>,
                Option<&RenderLayers>,
                Option<&MoleculeTint>,
                Option<&MoleculeHighlight>,
            ),
            (With<Molecule>, Without<NoMoleculeRendering>),
        >,
    >,
    touching: Extract<TouchingMolecules>,
    mut deepest: Local<HashMap<Entity, f32>>,
) {
    let is_physics = |source: &InstanceSource| matches!(source, InstanceSource::Physics(_));
    for (_, set) in (extracted.0.iter_mut()).filter(|(source, _)| is_physics(source)) {
        set.restart();
        set.visible = false;
    }
    deepest.clear();
    for pair in touching.iter() {
        for entity in [pair.a, pair.b] {
            let depth = deepest.entry(entity).or_default();
            *depth = depth.max(pair.penetration);
        }
    }
    let confined = molecules
        .iter()
        .filter_map(|(.., confined, _, _, _)| confined);
    let key = |confined: &InCompartment| (confined.compartment, confined.region);
    let mut groups: BTreeMap<_, u32> = confined.map(|one| (key(one), 0)).collect();
    for (index, group) in (0..).zip(groups.values_mut()) {
        *group = index;
    }
    let no_group = groups.len() as u32;
    for (entity, prepared, transform, colliding, visibility, confined, layers, tint, highlight) in
        &molecules
    {
        let Some(pose) = drawn_pose(transform).filter(|_| visibility.get()) else {
            continue;
        };
        let layers = layers.cloned().unwrap_or_default();
        let set = extracted.0.entry(InstanceSource::Physics(layers.clone()));
        let set = set.or_default();
        set.layers = layers;
        set.visible = true;
        let template = set.template_index(prepared.template());
        set.push(
            entity.index_u32(),
            &MoleculeInstance {
                template,
                pose,
                group: confined.map_or(no_group, |confined| groups[&key(confined)]),
                colliding: colliding.any(),
                penetration: deepest.get(&entity).copied().unwrap_or(0.0),
                tint: tint.copied().unwrap_or_default(),
                highlight: highlight.copied(),
            },
        );
    }
    // The buffers and template spheres of empty sets are freed with them.
    extracted
        .0
        .retain(|source, set| set.visible || !is_physics(source));
}
