//! What each view draws: visible molecules, runs, bindings.

use std::collections::BTreeMap;

use bevy::camera::visibility::RenderLayers;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::{BindGroup, BindGroupEntry, Buffer, PipelineCache};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::view::{ExtractedView, RetainedViewEntity};

use super::culling::{InstanceView, ViewSpace, Visible};
use super::extract::{ExtractedInstanceSets, ExtractedStyles, InstanceSource};
use super::growable_buffer::GrowableBuffer;
use super::instanced_molecules::DrawError;
use super::pipeline::SpherePipeline;
use super::style::GpuStyle;
use super::style::MoleculeStyle;
use super::upload::{InstanceBuffers, UploadedInstanceSets};

/// What a view draws of a crowd.
pub(super) struct InstanceDraws {
    visible: Visible,
    molecules: GrowableBuffer,
    runs: GrowableBuffer,
    bindings: Option<BindGroup>,
    /// Versions of the crowd's arrays that are bound.
    bound: u64,
    ready: bool,
}

impl Default for InstanceDraws {
    fn default() -> Self {
        Self {
            visible: Visible::default(),
            molecules: GrowableBuffer::storage("visible molecules"),
            runs: GrowableBuffer::storage("runs of molecules"),
            bindings: None,
            bound: 0,
            ready: false,
        }
    }
}

impl InstanceDraws {
    /// The bindings, and for each run the number of its vertices.
    pub fn draws(&self) -> Option<(&BindGroup, &[u32])> {
        let bindings = self.bindings.as_ref().filter(|_| self.ready)?;
        Some((bindings, &self.visible.vertices))
    }
}

/// What a view draws.
pub(super) struct ViewDraw {
    look: GrowableBuffer,
    pub crowds: BTreeMap<InstanceSource, InstanceDraws>,
}

/// What each view draws. Made anew for each device.
#[derive(Default, Resource)]
pub(super) struct MoleculeDraws {
    pub views: HashMap<RetainedViewEntity, ViewDraw>,
}

/// Finds out what each view sees, and binds it.
pub(super) fn prepare_views(
    mut draws: ResMut<MoleculeDraws>,
    sent: Res<UploadedInstanceSets>,
    crowds: Res<ExtractedInstanceSets>,
    looks: Res<ExtractedStyles>,
    views: Query<(&ExtractedView, Option<&RenderLayers>), With<ExtractedCamera>>,
    gpu: Gpu,
) {
    let live: HashSet<_> = (views.iter().map(|(view, _)| view.retained_view_entity)).collect();
    draws.views.retain(|view, _| live.contains(view));
    for (view, layers) in &views {
        let look = looks.of(view.retained_view_entity.main_entity);
        let view_draw = draws.views.entry(view.retained_view_entity);
        let view_draw = view_draw.or_insert_with(ViewDraw::new);
        view_draw
            .crowds
            .retain(|key, _| sent.arrays.contains_key(key));
        let seen = Seen {
            space: ViewSpace::new(
                view.clip_from_view,
                view.world_from_view.to_matrix(),
                view.viewport.w as f32,
            ),
            layers: layers.cloned().unwrap_or_default(),
            look,
        };
        let depths = view_draw.look_at(&seen, &crowds, &sent.arrays);
        let new_look = match view_draw.send_look(&GpuStyle::new(look, depths), &gpu) {
            Ok(new) => new,
            Err(error) => {
                error_once!("molecules cannot be drawn: {error}");
                continue;
            }
        };
        for (key, draw) in &mut view_draw.crowds {
            let Some(arrays) = sent.arrays.get(key).filter(|_| draw.ready) else {
                continue;
            };
            let shared = [view_draw.look.buffer(), sent.palette.buffer()];
            if let Err(error) = draw.send_and_bind(arrays, shared, new_look, &gpu) {
                draw.ready = false;
                error_once!("{key} cannot be drawn: {error}");
            }
        }
    }
}

/// Who looks, and how.
struct Seen<'a> {
    space: ViewSpace,
    layers: RenderLayers,
    look: &'a MoleculeStyle,
}

impl ViewDraw {
    fn new() -> Self {
        Self {
            look: GrowableBuffer::uniform("look of molecules"),
            crowds: BTreeMap::new(),
        }
    }

    /// Finds out what of each crowd is seen. Returns the distances of the nearest and the
    /// farthest surface, nm.
    fn look_at(
        &mut self,
        seen: &Seen,
        crowds: &ExtractedInstanceSets,
        arrays: &BTreeMap<InstanceSource, InstanceBuffers>,
    ) -> Option<(f32, f32)> {
        let mut depths: Option<(f32, f32)> = None;
        for (key, crowd) in &crowds.0 {
            let draw = self.crowds.entry(*key).or_default();
            draw.ready = false;
            let Some(arrays) = arrays.get(key).filter(|arrays| arrays.ready) else {
                continue;
            };
            if !crowd.visible || !seen.layers.intersects(&crowd.layers) {
                continue;
            }
            let shown = InstanceView {
                poses: &crowd.poses,
                traits: &crowd.traits,
                bodies: &arrays.bodies,
                place: crowd.place,
                opacity: crowd.opacity,
                anywhere: arrays.is_elsewhere(),
            };
            draw.visible.update(&seen.space, &shown, seen.look);
            if let Some((near, far)) = draw.visible.depths {
                let (nearest, farthest) = depths.unwrap_or((near, far));
                depths = Some((nearest.min(near), farthest.max(far)));
                draw.ready = true;
            }
        }
        depths
    }

    /// Returns whether the look is in a new buffer.
    fn send_look(&mut self, look: &GpuStyle, gpu: &Gpu) -> Result<bool, DrawError> {
        self.look
            .write(&gpu.device, &gpu.queue, bytemuck::bytes_of(look))
    }
}

impl InstanceDraws {
    /// Sends runs and visible molecules, and binds everything if something is new.
    /// `shared` are the look and the colors.
    fn send_and_bind(
        &mut self,
        arrays: &InstanceBuffers,
        shared: [Option<&Buffer>; 2],
        new_look: bool,
        gpu: &Gpu,
    ) -> Result<(), DrawError> {
        let molecules = bytemuck::cast_slice(&self.visible.molecules);
        let runs = bytemuck::cast_slice(&self.visible.runs);
        let mut new = new_look || self.bindings.is_none() || self.bound != arrays.version;
        new |= self.molecules.write(&gpu.device, &gpu.queue, molecules)?;
        new |= self.runs.write(&gpu.device, &gpu.queue, runs)?;
        if new {
            self.bound = arrays.version;
            // In the order of the shader.
            self.bindings = gpu.bind(&[
                shared[0],
                shared[1],
                arrays.spheres.buffer(),
                arrays.poses(),
                arrays.traits.buffer(),
                self.molecules.buffer(),
                self.runs.buffer(),
            ]);
        }
        Ok(())
    }
}

/// The device and what is bound on it.
#[derive(SystemParam)]
pub(super) struct Gpu<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    pipeline: Res<'w, SpherePipeline>,
    cache: Res<'w, PipelineCache>,
}

impl Gpu<'_> {
    /// Binds arrays; none if one of them is missing.
    fn bind(&self, buffers: &[Option<&Buffer>]) -> Option<BindGroup> {
        let numbered = (0..).zip(buffers.iter().copied());
        let entries: Option<Vec<_>> = numbered
            .map(|(binding, buffer)| {
                Some(BindGroupEntry {
                    binding,
                    resource: buffer?.as_entire_binding(),
                })
            })
            .collect();
        let layout = self.cache.get_bind_group_layout(&self.pipeline.layout);
        Some(
            self.device
                .create_bind_group("molecules", &layout, &entries?),
        )
    }
}
