//! The draws of each view: visible molecules, batches and bind groups.

use std::collections::BTreeMap;

use bevy::camera::visibility::RenderLayers;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::render_resource::{
    BindGroup, BindGroupEntry, Buffer, BufferUsages, PipelineCache,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::view::{ExtractedView, RetainedViewEntity};

use super::culling::{CullingInput, ViewFrustum, VisibleMolecules};
use super::extract::{ExtractedInstanceSets, ExtractedStyles, InstanceSource};
use super::growable_buffer::GrowableBuffer;
use super::instanced_molecules::DrawError;
use super::mirrored_list::MirroredList;
use super::pipeline::SpherePipeline;
use super::shared_device::ExtractedDevice;
use super::style::{GpuStyle, MoleculeStyle};
use super::upload::{InstanceBuffers, UploadedInstanceSets};
use super::uploads::MoleculeUploads;

/// The draws of one set of instances in a view.
pub(super) struct InstanceDraws {
    visible: VisibleMolecules,
    molecules: GrowableBuffer,
    batches: GrowableBuffer,
    bind_group: Option<BindGroup>,
    /// Version of the set's buffers in the bind group.
    bound_version: u64,
    ready: bool,
}

impl Default for InstanceDraws {
    fn default() -> Self {
        Self {
            visible: VisibleMolecules::default(),
            molecules: GrowableBuffer::new("visible molecules", BufferUsages::STORAGE),
            batches: GrowableBuffer::new("batches of molecules", BufferUsages::STORAGE),
            bind_group: None,
            bound_version: 0,
            ready: false,
        }
    }
}

impl InstanceDraws {
    /// The bind group, and the number of vertices of each batch.
    pub fn draws(&self) -> Option<(&BindGroup, &[u32])> {
        let bind_group = self.bind_group.as_ref().filter(|_| self.ready)?;
        Some((bind_group, &self.visible.vertices))
    }

    /// Uploads batches and visible molecules, and creates the bind group again if a buffer was
    /// replaced. `shared` are the style and the palette.
    fn upload_and_bind(
        &mut self,
        buffers: &InstanceBuffers,
        shared: [Option<&Buffer>; 2],
        gpu: &Gpu,
    ) -> Result<(), DrawError> {
        let mut replaced = self.bind_group.is_none() || self.bound_version != buffers.version;
        replaced |= self.molecules.write(gpu, &mut self.visible.molecules)?;
        replaced |= self.batches.write(gpu, &mut self.visible.batches)?;
        if replaced {
            self.bound_version = buffers.version;
            // In the order of `shaders/draw/types.wgsl`.
            self.bind_group = gpu.bind(&[
                shared[0],
                shared[1],
                buffers.spheres.buffer(),
                buffers.poses(),
                buffers.instances.buffer(),
                self.molecules.buffer(),
                self.batches.buffer(),
            ]);
        }
        Ok(())
    }
}

pub(super) struct ViewDraws {
    style: GrowableBuffer,
    /// The content of the style's buffer: one element.
    style_content: MirroredList<GpuStyle>,
    /// Version of the palette's buffer in the bind groups.
    palette_version: u64,
    pub sets: BTreeMap<InstanceSource, InstanceDraws>,
}

/// The draws of all views. Recreated with the device.
#[derive(Default, Resource)]
pub(super) struct MoleculeDraws {
    pub views: HashMap<RetainedViewEntity, ViewDraws>,
}

/// Culls the molecules of each view and creates its bind groups.
pub(super) fn prepare_views(
    mut draws: ResMut<MoleculeDraws>,
    uploaded: Res<UploadedInstanceSets>,
    extracted: Res<ExtractedInstanceSets>,
    styles: Res<ExtractedStyles>,
    views: Query<(&ExtractedView, Option<&RenderLayers>), With<ExtractedCamera>>,
    gpu: Gpu,
) {
    let live: HashSet<_> = (views.iter().map(|(view, _)| view.retained_view_entity)).collect();
    draws.views.retain(|view, _| live.contains(view));
    for (view, layers) in &views {
        let style = styles.of(view.retained_view_entity.main_entity);
        let view_draws = draws.views.entry(view.retained_view_entity);
        let view_draws = view_draws.or_insert_with(|| ViewDraws {
            style: GrowableBuffer::new("style of molecules", BufferUsages::UNIFORM),
            style_content: MirroredList::default(),
            palette_version: 0,
            sets: BTreeMap::new(),
        });
        let sets = &mut view_draws.sets;
        sets.retain(|source, _| uploaded.sets.contains_key(source));
        let camera = CameraView {
            frustum: ViewFrustum::new(
                view.clip_from_view,
                view.world_from_view.to_matrix(),
                view.viewport.w as f32,
            ),
            layers: layers.cloned().unwrap_or_default(),
            style,
        };
        let depths = view_draws.cull(&camera, &extracted, &uploaded.sets);
        view_draws.style_content.restart();
        let gpu_style = GpuStyle::new(style, &styles.gpu_palette, depths);
        view_draws.style_content.push(gpu_style);
        let style_buffer = &mut view_draws.style;
        let new_shared = match style_buffer.write(&gpu, &mut view_draws.style_content) {
            Ok(new) => new || view_draws.palette_version != uploaded.palette_version,
            Err(error) => {
                error_once!("molecules are not drawn: {error}");
                continue;
            }
        };
        view_draws.palette_version = uploaded.palette_version;
        for (source, draws) in &mut view_draws.sets {
            if new_shared {
                draws.bind_group = None;
            }
            let Some(buffers) = uploaded.sets.get(source).filter(|_| draws.ready) else {
                continue;
            };
            let shared = [view_draws.style.buffer(), uploaded.palette.buffer()];
            if let Err(error) = draws.upload_and_bind(buffers, shared, &gpu) {
                draws.ready = false;
                error_once!("{source} are not drawn: {error}");
            }
        }
    }
    gpu.uploads.publish();
}

/// A view with its layers and style.
struct CameraView<'a> {
    frustum: ViewFrustum,
    layers: RenderLayers,
    style: &'a MoleculeStyle,
}

impl ViewDraws {
    /// Culls all sets. Returns the distances of the nearest and the farthest visible surface, nm.
    fn cull(
        &mut self,
        camera: &CameraView,
        extracted: &ExtractedInstanceSets,
        uploaded: &BTreeMap<InstanceSource, InstanceBuffers>,
    ) -> Option<(f32, f32)> {
        let mut depths: Option<(f32, f32)> = None;
        for (source, set) in &extracted.0 {
            let draws = self.sets.entry(source.clone()).or_default();
            draws.ready = false;
            let Some(buffers) = uploaded.get(source).filter(|buffers| buffers.ready) else {
                continue;
            };
            if !set.visible || !camera.layers.intersects(&set.layers) {
                continue;
            }
            let input = CullingInput {
                poses: &set.poses,
                instances: &set.instances,
                templates: &buffers.template_spheres,
                transform: set.transform,
                look: set.look,
                poses_are_outdated: buffers.device_poses.is_some(),
            };
            draws.visible.update(&camera.frustum, &input, camera.style);
            if let Some((near, far)) = draws.visible.depths {
                let (nearest, farthest) = depths.unwrap_or((near, far));
                depths = Some((nearest.min(near), farthest.max(far)));
                draws.ready = true;
            }
        }
        depths
    }
}

/// The device, and the layout of the bind groups.
#[derive(SystemParam)]
pub(super) struct Gpu<'w> {
    pub device: Res<'w, RenderDevice>,
    pub queue: Res<'w, RenderQueue>,
    pub shared: Res<'w, ExtractedDevice>,
    uploads: Res<'w, MoleculeUploads>,
    pipeline: Res<'w, SpherePipeline>,
    cache: Res<'w, PipelineCache>,
}

impl Gpu<'_> {
    /// Writes to a buffer, and counts the bytes.
    pub fn write(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) {
        self.queue.write_buffer(buffer, offset, bytes);
        self.uploads.add(bytes.len());
    }

    /// Creates a bind group; `None` if a buffer is missing.
    fn bind(&self, buffers: &[Option<&Buffer>]) -> Option<BindGroup> {
        let entries: Option<Vec<_>> = (0..)
            .zip(buffers.iter().copied())
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
