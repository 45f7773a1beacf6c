//! Upload of changed instances to the renderer's device.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::render_resource::{Buffer, BufferUsages};

use super::culling::TemplateInSet;
use super::extract::{ExtractedInstanceSets, ExtractedInstances, ExtractedStyles, InstanceSource};
use super::growable_buffer::GrowableBuffer;
use super::instanced_molecules::DrawError;
use super::palette::{GpuPalette, MoleculePalette};
use super::template_spheres::TemplateSpheres;
use super::view_draws::Gpu;
use crate::gpu::GpuDevice;
use crate::molecule::MoleculeTemplate;

/// The buffers that all views share. Recreated with the device.
#[derive(Resource)]
pub(super) struct UploadedInstanceSets {
    pub palette: GrowableBuffer,
    /// The content of the palette's buffer.
    palette_content: Option<GpuPalette>,
    /// Incremented when the palette's buffer is replaced.
    pub palette_version: u64,
    pub sets: BTreeMap<InstanceSource, InstanceBuffers>,
    templates: TemplateCache,
    /// Sets whose upload error has been logged.
    reported: BTreeSet<InstanceSource>,
}

impl Default for UploadedInstanceSets {
    fn default() -> Self {
        Self {
            palette: GrowableBuffer::new("color palette", BufferUsages::STORAGE),
            palette_content: None,
            palette_version: 0,
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
        set: &mut ExtractedInstances,
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
            replaced |= self.spheres.replace(gpu, &spheres)?;
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
            replaced |= self.poses.write(gpu, &mut set.poses)?;
        }
        replaced |= self.instances.write(gpu, &mut set.instances)?;
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
    /// The colors of elements.
    palette: MoleculePalette,
}

impl TemplateCache {
    fn get(&mut self, template: &Arc<MoleculeTemplate>) -> Arc<TemplateSpheres> {
        let entry = self.entries.entry(Arc::as_ptr(template) as usize);
        let (_, spheres) = entry.or_insert_with(|| {
            let spheres = TemplateSpheres::new(template, &self.proxy_counts, &self.palette);
            (template.clone(), Arc::new(spheres))
        });
        spheres.clone()
    }
}

/// Uploads what has changed in the sets of instances.
pub(super) fn upload_instances(
    mut uploaded: ResMut<UploadedInstanceSets>,
    mut extracted: ResMut<ExtractedInstanceSets>,
    styles: Res<ExtractedStyles>,
    gpu: Gpu,
) {
    let uploaded = &mut *uploaded;
    let proxy_counts = styles.proxy_counts();
    let cache = &uploaded.templates;
    if cache.proxy_counts != proxy_counts || !cache.palette.has_elements_of(&styles.palette) {
        uploaded.templates = TemplateCache {
            entries: HashMap::default(),
            proxy_counts,
            palette: styles.palette.clone(),
        };
        for buffers in uploaded.sets.values_mut() {
            buffers.templates.clear();
            buffers.template_spheres.clear();
            buffers.ready = false;
        }
    }
    let is_live = |source: &InstanceSource| extracted.0.contains_key(source);
    uploaded.sets.retain(|source, _| is_live(source));
    uploaded.reported.retain(is_live);
    for (source, set) in &mut extracted.0 {
        let buffers = uploaded.sets.entry(source.clone());
        let buffers = buffers.or_insert_with(InstanceBuffers::new);
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
    let is_used = |(_, spheres): &(_, Arc<TemplateSpheres>)| Arc::strong_count(spheres) > 1;
    uploaded.templates.entries.retain(|_, entry| is_used(entry));
    if uploaded.palette_content.as_ref() != Some(&styles.gpu_palette) {
        match uploaded.palette.replace(&gpu, &styles.gpu_palette.colors) {
            Ok(replaced) => {
                uploaded.palette_version += u64::from(replaced);
                uploaded.palette_content = Some(styles.gpu_palette.clone());
            }
            Err(error) => error_once!("molecules are not drawn: {error}"),
        }
    }
}
