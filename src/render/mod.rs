//! Draws molecules atom by atom, up to millions of atoms.
//!
//! Add [`MoleculeRenderPlugin`] and spawn [`DrawnCrowd`]s, which need no physics. With
//! the physics plugins every `Molecule` is drawn as well.
//!
//! # Contract
//!
//! - *In*: templates, poses (nm, in the frame of the crowd's entity; of a `Molecule`, the
//!   world's) and a [`MoleculeLook`]. Nothing is read from shaders back.
//! - *Out*: pixels and depths among those of Bevy's opaque meshes. With no renderer in the
//!   app nothing is drawn and nothing fails.
//! - *Order*: crowds are taken over in `ExtractSchedule`, sent to the GPU in
//!   `RenderSystems::PrepareBindGroups` and queued in `RenderSystems::Queue`. A crowd that
//!   has not changed is not sent again.
//! - *Determinism*: the same scene gives the same picture on one adapter.
//! - *Bad input*: molecules without a template or with a pose that is not finite are left
//!   out, numbers of a look that cannot be are replaced by the nearest that can, crowds that
//!   are too large for the device are not drawn; the log says so once ([`DrawError`]).
//!
//! Green for molecules that are free and red for those that collide
//! ([`ColorMode::Collision`]) is from J. Pauschenwein's thesis (TU Wien, 2022, figure 3.5).
//!
//! # How
//!
//! 1. A template's atoms go to the GPU once; a molecule is one pose of 32 bytes. Poses
//!    that a relaxer keeps on the same device are drawn from there
//!    ([`DrawnCrowd::device_poses`]).
//! 2. Each view leaves out the molecules that it does not see, and draws those that are
//!    far away as fewer, larger spheres (`cull`, `body`).
//! 3. What is left makes one draw for each template and level of detail: three vertices
//!    for each sphere, placed by their number alone (`shaders/draw/vertex.wgsl`).
//! 4. Each pixel meets the sphere exactly, and writes its depth: atoms cut each other and
//!    ordinary meshes as they should (`shaders/draw/fragment.wgsl`).
//!
//! Atoms are lit by the scene's directional, point and spot lights, receive their
//! shadows, and are drawn with Bevy's opaque meshes, in perspective and orthographic
//! views, with and without HDR and multisampling. They cast no shadows and are not in
//! prepasses.
//!
//! # How it looks
//!
//! [`MoleculeLook`] has the colors ([`ColorMode`]), and what makes packing readable:
//! fog for depth, darkness where atoms surround each other, dark rims. A camera with a
//! [`ViewLook`] has its own. A [`ProxyOverlay`] draws proxies over the atoms; they and
//! crowds with an opacity leave out pixels in a fixed pattern, so that nothing needs to
//! be sorted.
//!
//! # Pictures without a screen
//!
//! [`offscreen`] renders an app to a PNG file without a window or a display.

mod arrays;
mod blobs;
mod body;
mod colors;
mod crowd;
mod cull;
mod extract;
mod gpu_look;
mod lent;
mod look;
mod occlusion;
pub mod offscreen;
mod pick;
mod pipeline;
mod send;
mod views;

// What shaders read: public for the test that compares both sides.
#[doc(hidden)]
pub use body::GpuSphere;
pub use crowd::{DrawError, DrawnCrowd, DrawnMolecule, MoleculeState};
#[doc(hidden)]
pub use cull::{GpuRun, GpuTraits};
pub(crate) use extract::{CrowdKey, ExtractedCrowds};
#[doc(hidden)]
pub use gpu_look::GpuLook;
pub use lent::LentDevice;
pub use look::{ColorMode, DepthCue, DrawDetail, MoleculeLook, ProxyOverlay, ViewLook};
pub use pick::CrowdHit;

use bevy::core_pipeline::core_3d::AlphaMask3d;
use bevy::pbr::{MeshPipelineSystems, PbrPlugin};
use bevy::prelude::*;
use bevy::render::render_phase::AddRenderCommand;
use bevy::render::{ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};
use bevy::shader::Shader;

/// Draws [`DrawnCrowd`]s. Part of `MoleculePlugins` with the feature `draw`; may be added
/// by itself, too, and more than once.
///
/// Needs Bevy's `PbrPlugin`, which is one of `DefaultPlugins`. Without it, or without a
/// renderer, nothing is drawn and nothing fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeRenderPlugin;

/// Whether the systems are in the app.
#[derive(Resource)]
struct Drawing;

impl Plugin for MoleculeRenderPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<MoleculeLook>()
            .register_type::<ViewLook>()
            .register_type::<ColorMode>()
            .register_type::<DepthCue>()
            .register_type::<DrawDetail>()
            .register_type::<ProxyOverlay>()
            .register_type::<MoleculeState>()
            .register_type::<DrawnCrowd>()
            .init_resource::<MoleculeLook>();
    }

    /// The renderer may have been added after this.
    fn finish(&self, app: &mut App) {
        let ready = app.get_sub_app_mut(RenderApp).is_some() && app.is_plugin_added::<PbrPlugin>();
        if !ready || app.world().contains_resource::<Drawing>() {
            return;
        }
        app.insert_resource(Drawing);
        let mut shaders = app.world_mut().resource_mut::<Assets<Shader>>();
        pipeline::add_shaders(&mut shaders);
        app.add_systems(First, lent::lend);
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            return;
        };
        render_app
            .init_resource::<ExtractedCrowds>()
            .init_resource::<extract::ExtractedLooks>()
            .init_resource::<lent::Lender>()
            .add_render_command::<AlphaMask3d, pipeline::DrawMolecules>()
            .add_systems(
                RenderStartup,
                pipeline::make_pipeline.after(MeshPipelineSystems),
            )
            .add_systems(
                ExtractSchedule,
                (
                    extract::extract_crowds,
                    extract::extract_looks,
                    lent::extract_lender,
                ),
            )
            .add_systems(
                Render,
                (
                    pipeline::queue_molecules.in_set(RenderSystems::Queue),
                    (send::send_crowds, views::prepare_views)
                        .chain()
                        .in_set(RenderSystems::PrepareBindGroups),
                ),
            );
    }

    fn is_unique(&self) -> bool {
        false
    }
}
