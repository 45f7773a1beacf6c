//! Molecules of the physics world among those that the renderer draws.

use std::collections::BTreeMap;

use bevy::camera::visibility::RenderLayers;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::{Extract, ExtractSchedule, RenderApp};

use super::compartment::{CompartmentRegion, InCompartment};
use super::components::{Colliding, Molecule};
use super::contact_events::TouchingMolecules;
use super::prepared_molecule::PreparedMolecule;
use crate::pose::Pose;
use crate::render::{ExtractedInstanceSets, InstanceSource, MoleculeInstance};

/// A molecule that the plugin does not draw: the app does so itself, or not at all.
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct NoMoleculeRendering;

/// Draws every [`Molecule`] whose file is loaded, atom by atom, at its
/// [`GlobalTransform`], unless it is hidden or [`NoMoleculeRendering`]. Part of
/// [`MoleculePlugins`](super::MoleculePlugins) with the feature `draw`.
///
/// [`ColorMode::Collision`](crate::render::ColorMode::Collision) shows [`Colliding`],
/// [`ColorMode::Group`](crate::render::ColorMode::Group) the compartment and the
/// leaflet, and [`ColorMode::Penetration`](crate::render::ColorMode::Penetration) the
/// deepest of [`TouchingMolecules`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeExtractPlugin;

impl Plugin for MoleculeExtractPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<NoMoleculeRendering>();
    }

    /// The renderer may have been added after this.
    fn finish(&self, app: &mut App) {
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .init_resource::<ExtractedInstanceSets>()
            .add_systems(ExtractSchedule, gather_molecules);
    }
}

/// A compartment and a place in it.
type GroupKey = (Entity, u8);

fn group_key(held: &InCompartment) -> GroupKey {
    let place = match held.place {
        CompartmentRegion::OuterLeaflet => 0,
        CompartmentRegion::InnerLeaflet => 1,
        CompartmentRegion::Inside => 2,
        CompartmentRegion::Outside => 3,
    };
    (held.compartment, place)
}

/// Takes all molecules over, in one crowd for each kind of camera that sees them.
fn gather_molecules(
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
            ),
            (With<Molecule>, Without<NoMoleculeRendering>),
        >,
    >,
    touching: Extract<TouchingMolecules>,
    mut kinds: Local<Vec<RenderLayers>>,
    mut deepest: Local<HashMap<Entity, f32>>,
) {
    for (key, crowd) in &mut extracted.0 {
        if matches!(key, InstanceSource::Physics(_)) {
            crowd.restart();
            crowd.templates.clear();
            crowd.visible = false;
        }
    }
    deepest.clear();
    for pair in touching.iter() {
        for entity in [pair.a, pair.b] {
            let known = deepest.entry(entity).or_default();
            *known = known.max(pair.penetration);
        }
    }
    let held = molecules.iter().filter_map(|(.., held, _)| held);
    let mut groups: BTreeMap<GroupKey, u32> = held.map(|held| (group_key(held), 0)).collect();
    for (number, group) in (0..).zip(groups.values_mut()) {
        *group = number;
    }
    let nowhere = groups.len() as u32;
    for (entity, prepared, transform, colliding, visibility, held, layers) in &molecules {
        let (_, rotation, position) = transform.to_scale_rotation_translation();
        let pose = Pose::new(position, rotation);
        if !visibility.get() || !pose.is_finite() {
            continue;
        }
        let layers = layers.cloned().unwrap_or_default();
        let kind = kinds.iter().position(|known| *known == layers);
        let kind = kind.unwrap_or_else(|| {
            kinds.push(layers.clone());
            kinds.len() - 1
        });
        let crowd = extracted.0.entry(InstanceSource::Physics(kind as u32));
        let crowd = crowd.or_default();
        crowd.layers = layers;
        crowd.visible = true;
        let template = crowd.template_number(prepared.shared().template());
        crowd.push(
            entity.index_u32(),
            &MoleculeInstance {
                template,
                pose,
                group: held.map_or(nowhere, |held| groups[&group_key(held)]),
                colliding: colliding.any(),
                penetration: deepest.get(&entity).copied().unwrap_or(0.0),
            },
        );
    }
}
