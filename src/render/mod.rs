//! Rendering: molecules drawn atom by atom, up to millions of atoms.
//!
//! Add [`MoleculeRenderPlugin`] and spawn [`InstancedMolecules`], which need no physics. With
//! the physics plugins, every `Molecule` is drawn as well.
//!
//! # Contract
//!
//! - *Input*: templates, poses (nm, in the frame of the entity; of a `Molecule`, in the world
//!   frame) and a [`MoleculeStyle`]. Nothing is read back from the GPU.
//! - *Output*: color and depth, in the same pass as Bevy's alpha-masked meshes. Without a
//!   renderer in the app, nothing is drawn and nothing fails.
//! - *Order*: instances are extracted in `ExtractSchedule`, uploaded in
//!   `RenderSystems::PrepareBindGroups` and queued in `RenderSystems::Queue`. Only what has
//!   changed is uploaded ([`MoleculeUploads`]).
//! - *Determinism*: the same scene gives the same image on the same adapter.
//! - *Invalid input*: molecules without a template or with a non-finite pose are skipped,
//!   invalid values of a style are clamped or replaced by their defaults, and instances that
//!   do not fit on the device are not drawn. Each is logged once ([`DrawError`]).
//!
//! Green for free molecules and red for colliding ones ([`ColorMode::Collision`]) follows
//! J. Pauschenwein's thesis (TU Wien, 2022, figure 3.5).
//!
//! # Algorithm
//!
//! 1. The atoms of a template are uploaded once; a molecule is one pose of 32 bytes. Poses
//!    that a relaxer keeps on the same device are drawn from its buffer
//!    ([`InstancedMolecules::device_poses`]).
//! 2. Each view culls molecules outside its frustum, and draws distant ones as fewer, larger
//!    spheres (`culling`, `template_spheres`).
//! 3. Each template and level of detail is one draw call: three vertices per sphere, computed
//!    from the vertex index (`shaders/draw/vertex.wgsl`).
//! 4. Each fragment intersects its ray with the sphere and writes its depth, so that atoms
//!    intersect each other and ordinary meshes correctly (`shaders/draw/fragment.wgsl`).
//!
//! Atoms are lit by the directional, point and spot lights of the scene and receive shadows,
//! in perspective and orthographic views, with and without HDR and multisampling. They cast
//! no shadows and are not part of prepasses.
//!
//! # Style
//!
//! [`MoleculeStyle`] sets the meaning of colors ([`ColorMode`]) and the depth cues: fog, ambient
//! occlusion and dark contours. A [`ViewStyle`] on a camera overrides it for that view. The
//! [`MoleculePalette`] has the colors of each mode. A [`MoleculeTint`] sets color and opacity of
//! one entity, and a [`MoleculeHighlight`] makes it stand out. A [`ProxyOverlay`] draws proxies
//! over the atoms. Translucent molecules and proxies are dithered, so that nothing needs to be
//! sorted.
//!
//! # Headless rendering
//!
//! [`offscreen`] renders an app to a PNG file without a window or a display.

mod ambient_occlusion;
mod atom_clusters;
mod culling;
mod extract;
mod growable_buffer;
mod instanced_molecules;
mod mirrored_list;
pub mod offscreen;
mod palette;
mod picking;
mod pipeline;
mod shared_device;
mod style;
mod template_spheres;
mod tint;
mod upload;
mod uploads;
mod view_draws;

#[doc(hidden)]
pub use culling::{GpuBatch, GpuInstance};
// Public for the test that counts the sets.
#[doc(hidden)]
pub use extract::ExtractedInstanceSets;
pub(crate) use extract::InstanceSource;
pub use instanced_molecules::{DrawError, InstancedMolecules, MoleculeInstance};
pub use palette::MoleculePalette;
pub use picking::InstanceHit;
#[cfg(feature = "picking")]
pub(crate) use picking::{PickingRay, picking_radius};
pub use shared_device::SharedGpuDevice;
// The structs that shaders read are public for the test that compares their layouts.
#[doc(hidden)]
pub use style::GpuStyle;
pub use style::{ColorMode, DepthCue, DrawDetail, MoleculeStyle, ProxyOverlay, ViewStyle};
#[doc(hidden)]
pub use template_spheres::GpuSphere;
pub use tint::{MoleculeHighlight, MoleculeTint};
pub use uploads::MoleculeUploads;

use bevy::core_pipeline::core_3d::AlphaMask3d;
use bevy::pbr::{MeshPipelineSystems, PbrPlugin};
use bevy::prelude::*;
use bevy::render::render_phase::AddRenderCommand;
use bevy::render::{ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::shader::Shader;

/// Draws [`InstancedMolecules`]. Part of `MoleculePlugins` with the feature `draw`. It can
/// also be added by itself, and more than once.
///
/// Needs Bevy's `PbrPlugin`, which is part of `DefaultPlugins`. Without it, or without a
/// renderer, nothing is drawn and nothing fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeRenderPlugin;

/// Marks an app that already has the systems of [`MoleculeRenderPlugin`].
#[derive(Resource)]
struct RenderSystemsAdded;

impl Plugin for MoleculeRenderPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<MoleculeStyle>()
            .register_type::<ViewStyle>()
            .register_type::<ColorMode>()
            .register_type::<DepthCue>()
            .register_type::<DrawDetail>()
            .register_type::<ProxyOverlay>()
            .register_type::<InstancedMolecules>()
            .register_type::<SharedGpuDevice>()
            .register_type::<MoleculeUploads>()
            .register_type::<MoleculePalette>()
            .register_type::<MoleculeTint>()
            .register_type::<MoleculeHighlight>()
            .init_resource::<MoleculeStyle>()
            .init_resource::<MoleculePalette>()
            .init_resource::<MoleculeUploads>();
    }

    /// Adds the systems here because the renderer may be added after this plugin.
    fn finish(&self, app: &mut App) {
        let ready = app.get_sub_app_mut(RenderApp).is_some() && app.is_plugin_added::<PbrPlugin>();
        if !ready || app.world().contains_resource::<RenderSystemsAdded>() {
            return;
        }
        app.insert_resource(RenderSystemsAdded);
        let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
        pipeline::add_shaders(&mut shaders);
        app.add_systems(First, shared_device::share_render_device);
        let uploads = app.world().resource::<MoleculeUploads>().clone();
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .init_resource::<ExtractedInstanceSets>()
            .init_resource::<extract::ExtractedStyles>()
            .init_resource::<shared_device::ExtractedDevice>()
            .insert_resource(uploads)
            .add_render_command::<AlphaMask3d, pipeline::DrawMolecules>()
            .add_systems(
                RenderStartup,
                pipeline::create_pipeline.after(MeshPipelineSystems),
            )
            .add_systems(
                ExtractSchedule,
                (
                    extract::extract_instances,
                    extract::extract_styles,
                    shared_device::extract_device,
                ),
            )
            .add_systems(
                Render,
                (
                    pipeline::queue_molecules.in_set(RenderSystems::Queue),
                    (upload::upload_instances, view_draws::prepare_views)
                        .chain()
                        .in_set(RenderSystems::PrepareBindGroups),
                ),
            );
    }

    fn is_unique(&self) -> bool {
        false
    }
}
