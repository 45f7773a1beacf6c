//! Upload of changed instances to the renderer's device.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{Buffer, BufferUsages};

use super::colors::palette;
use super::culling::TemplateInSet;
use super::extract::{ExtractedInstanceSets, ExtractedInstances, ExtractedStyles, InstanceSource};
use super::growable_buffer::GrowableBuffer;
use super::instanced_molecules::DrawError;
use super::template_spheres::TemplateSpheres;
use super::view_draws::Gpu;
use crate::gpu::GpuDevice;
use crate::molecule::MoleculeTemplate;

/// The buffers that all views share. Recreated with the device.
#[derive(Resource)]
pub(super) struct UploadedInstanceSets {
    pub palette: GrowableBuffer,
    pub sets: BTreeMap<InstanceSource, InstanceBuffers>,
    templates: TemplateCache,
    /// Sets whose upload error has been logged.
    reported: BTreeSet<InstanceSource>,
}

impl Default for UploadedInstanceSets {
    fn default() -> Self {
        Self {
            palette: GrowableBuffer::new("color palette", BufferUsages::UNIFORM),
            sets: BTreeMap::new(),
            templates: TemplateCache::default(),
            reported: BTreeSet::new(),
        }
    }
}

/// The buffers of a set of instances.
pub(super) struct InstanceBuffers {
    templates: Vec<Arc<MoleculeTemplate>>,
    pub template_spheres: Vec<TemplateInSet>,
    pub spheres: GrowableBuffer,
    poses: GrowableBuffer,
    /// Poses that a relaxer writes, instead of `poses`.
    pub device_poses: Option<(Arc<GpuDevice>, Buffer)>,
    pub instances: GrowableBuffer,
    /// Incremented when a buffer is replaced.
    pub version: u64,
    /// Whether all buffers are complete and up to date.
    pub ready: bool,
}

impl InstanceBuffers {
    fn new() -> Self {
        Self {
            templates: Vec::new(),
            template_spheres: Vec::new(),
            spheres: GrowableBuffer::new("spheres of the templates", BufferUsages::STORAGE),
            poses: GrowableBuffer::new("poses of the molecules", BufferUsages::STORAGE),
            device_poses: None,
            instances: GrowableBuffer::new("instances of the molecules", BufferUsages::STORAGE),
            version: 0,
            ready: false,
        }
    }

    pub fn poses(&self) -> Option<&Buffer> {
        match &self.device_poses {
            Some((_, buffer)) => Some(buffer),
            None => self.poses.buffer(),
        }
    }

    fn update(
        &mut self,
        set: &ExtractedInstances,
        cache: &mut TemplateCache,
        gpu: &Gpu,
    ) -> Result<(), DrawError> {
        self.ready = false;
        let same_templates = self.templates.len() == set.templates.len()
            && (self.templates.iter().zip(&set.templates)).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.spheres.buffer().is_some();
        let mut replaced = false;
        if !same_templates {
            self.templates.clone_from(&set.templates);
            self.template_spheres.clear();
            let mut spheres = Vec::new();
            for template in &self.templates {
                let template = cache.get(template);
                self.template_spheres.push(TemplateInSet {
                    first_sphere: spheres.len() as u32,
                    spheres: template.clone(),
                });
                spheres.extend_from_slice(&template.spheres);
            }
            replaced |= self.spheres.write(gpu, bytemuck::cast_slice(&spheres))?;
        }
        let device_poses = set.device_poses.as_ref();
        let device_poses = device_poses.filter(|poses| gpu.shared.is(poses.device()));
        let bound = match (&self.device_poses, device_poses) {
            (Some((device, buffer)), Some(poses)) => {
                Arc::ptr_eq(device, poses.device()) && **buffer == *poses.buffer()
            }
            (None, None) => true,
            _ => false,
        };
        if !bound {
            self.device_poses = device_poses.map(|poses| {
                let buffer = Buffer::from(poses.buffer().clone());
                (Arc::clone(poses.device()), buffer)
            });
            replaced = true;
        }
        if device_poses.is_none() {
            let poses = bytemuck::cast_slice(&set.poses);
            replaced |= self.poses.write(gpu, poses)?;
        }
        let instances = bytemuck::cast_slice(&set.instances);
        replaced |= self.instances.write(gpu, instances)?;
        self.version += u64::from(replaced);
        self.ready = true;
        Ok(())
    }
}

/// The spheres of each template in use.
#[derive(Default)]
struct TemplateCache {
    /// By address of the template, which is kept alive so that the address stays unique.
    entries: HashMap<usize, (Arc<MoleculeTemplate>, Arc<TemplateSpheres>)>,
    /// Numbers of proxies that each template has, ascending.
    proxy_counts: Vec<u32>,
}

impl TemplateCache {
    fn get(&mut self, template: &Arc<MoleculeTemplate>) -> Arc<TemplateSpheres> {
        let entry = self.entries.entry(Arc::as_ptr(template) as usize);
        let (_, spheres) = entry.or_insert_with(|| {
            let spheres = TemplateSpheres::new(template, &self.proxy_counts);
            (template.clone(), Arc::new(spheres))
        });
        spheres.clone()
    }
}

/// Uploads changed sets of instances.
pub(super) fn upload_instances(
    mut uploaded: ResMut<UploadedInstanceSets>,
    mut extracted: ResMut<ExtractedInstanceSets>,
    styles: Res<ExtractedStyles>,
    gpu: Gpu,
) {
    let uploaded = &mut *uploaded;
    let proxy_counts = styles.proxy_counts();
    if uploaded.templates.proxy_counts != proxy_counts {
        uploaded.templates = TemplateCache {
            proxy_counts,
            ..TemplateCache::default()
        };
        for buffers in uploaded.sets.values_mut() {
            buffers.templates.clear();
            buffers.template_spheres.clear();
            buffers.ready = false;
        }
    }
    let previous_count = uploaded.sets.len();
    let is_live = |source: &InstanceSource| extracted.0.contains_key(source);
    uploaded.sets.retain(|source, _| is_live(source));
    uploaded.reported.retain(is_live);
    let mut changed = previous_count != uploaded.sets.len();
    for (source, set) in &mut extracted.0 {
        let buffers = uploaded.sets.entry(source.clone());
        let buffers = buffers.or_insert_with(InstanceBuffers::new);
        if !set.changed && buffers.ready {
            continue;
        }
        changed = true;
        set.changed = false;
        match buffers.update(set, &mut uploaded.templates, &gpu) {
            Ok(()) => {
                uploaded.reported.remove(source);
            }
            Err(error) if uploaded.reported.insert(source.clone()) => {
                error!("{source} are not drawn: {error}");
            }
            Err(_) => {}
        }
    }
    if changed {
        let is_used = |(_, spheres): &(_, Arc<TemplateSpheres>)| Arc::strong_count(spheres) > 1;
        uploaded.templates.entries.retain(|_, entry| is_used(entry));
    }
    if uploaded.palette.buffer().is_none() {
        let colors = palette();
        let bytes = bytemuck::cast_slice(&colors);
        if let Err(error) = uploaded.palette.write(&gpu, bytes) {
            error_once!("molecules are not drawn: {error}");
        }
    }
}
