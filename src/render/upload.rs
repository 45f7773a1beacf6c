//! Crowds on the device: sent when they have changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::Buffer;
use bevy::render::renderer::{RenderDevice, RenderQueue};

use super::colors::palette;
use super::culling::TemplateInSet;
use super::extract::{ExtractedInstanceSets, ExtractedInstances, ExtractedStyles, InstanceSource};
use super::growable_buffer::GrowableBuffer;
use super::instanced_molecules::DrawError;
use super::shared_device::ExtractedDevice;
use super::template_spheres::TemplateSpheres;
use crate::gpu::GpuDevice;
use crate::molecule::MoleculeTemplate;

/// All that views share on the device. Made anew for each device.
#[derive(Resource)]
pub(super) struct UploadedInstanceSets {
    pub palette: GrowableBuffer,
    pub arrays: BTreeMap<InstanceSource, InstanceBuffers>,
    bodies: TemplateCache,
    /// Crowds of which has been said that they do not fit.
    complaints: HashSet<InstanceSource>,
}

impl Default for UploadedInstanceSets {
    fn default() -> Self {
        Self {
            palette: GrowableBuffer::uniform("colors of molecules"),
            arrays: BTreeMap::new(),
            bodies: TemplateCache::default(),
            complaints: HashSet::default(),
        }
    }
}

/// A crowd on the device.
pub(super) struct InstanceBuffers {
    templates: Vec<Arc<MoleculeTemplate>>,
    pub bodies: Vec<TemplateInSet>,
    pub spheres: GrowableBuffer,
    poses: GrowableBuffer,
    /// Poses that somebody else writes, in place of ours.
    device_poses: Option<(Arc<GpuDevice>, Buffer)>,
    pub traits: GrowableBuffer,
    /// Grows with each buffer that is new.
    pub version: u64,
    /// Whether it is up to date and complete.
    pub ready: bool,
}

impl InstanceBuffers {
    fn new() -> Self {
        Self {
            templates: Vec::new(),
            bodies: Vec::new(),
            spheres: GrowableBuffer::storage("spheres of the templates"),
            poses: GrowableBuffer::storage("poses of the molecules"),
            device_poses: None,
            traits: GrowableBuffer::storage("traits of the molecules"),
            version: 0,
            ready: false,
        }
    }

    /// Where the poses are.
    pub fn poses(&self) -> Option<&Buffer> {
        match &self.device_poses {
            Some((_, buffer)) => Some(buffer),
            None => self.poses.buffer(),
        }
    }

    /// Whether nobody here knows where the molecules are.
    pub fn is_elsewhere(&self) -> bool {
        self.device_poses.is_some()
    }

    /// Its templates look different now.
    fn forget_bodies(&mut self) {
        self.templates.clear();
        self.bodies.clear();
        self.ready = false;
    }

    fn update(
        &mut self,
        crowd: &ExtractedInstances,
        bodies: &mut TemplateCache,
        gpu: &Sending,
    ) -> Result<(), DrawError> {
        self.ready = false;
        let (device, queue) = (&*gpu.device, &*gpu.queue);
        let same = self.templates.len() == crowd.templates.len()
            && (self.templates.iter().zip(&crowd.templates)).all(|(a, b)| Arc::ptr_eq(a, b))
            && self.spheres.buffer().is_some();
        let mut new = false;
        if !same {
            self.templates.clone_from(&crowd.templates);
            self.bodies.clear();
            let mut spheres = Vec::new();
            for template in &self.templates {
                let body = bodies.get(template);
                self.bodies.push(TemplateInSet {
                    first_sphere: spheres.len() as u32,
                    body: body.clone(),
                });
                spheres.extend_from_slice(&body.spheres);
            }
            new |= self
                .spheres
                .write(device, queue, bytemuck::cast_slice(&spheres))?;
        }
        let there = crowd.device_poses.as_ref();
        let there = there.filter(|poses| gpu.lender.lends(poses.device()));
        let bound = match (&self.device_poses, there) {
            (Some((device, buffer)), Some(poses)) => {
                Arc::ptr_eq(device, poses.device()) && **buffer == *poses.buffer()
            }
            (None, None) => true,
            _ => false,
        };
        if !bound {
            self.device_poses = there.map(|poses| {
                let buffer = Buffer::from(poses.buffer().clone());
                (Arc::clone(poses.device()), buffer)
            });
            new = true;
        }
        if there.is_none() {
            let poses = bytemuck::cast_slice(&crowd.poses);
            new |= self.poses.write(device, queue, poses)?;
        }
        let traits = bytemuck::cast_slice(&crowd.traits);
        new |= self.traits.write(device, queue, traits)?;
        self.version += u64::from(new);
        self.ready = true;
        Ok(())
    }
}

/// The spheres of templates, worked out once for each.
#[derive(Default)]
struct TemplateCache {
    known: HashMap<usize, (Arc<MoleculeTemplate>, Arc<TemplateSpheres>)>,
    /// Numbers of proxies that each of them has, ascending.
    proxy_counts: Vec<u32>,
}

impl TemplateCache {
    fn get(&mut self, template: &Arc<MoleculeTemplate>) -> Arc<TemplateSpheres> {
        // The template is kept, so that no other can have its address.
        let known = self.known.entry(Arc::as_ptr(template) as usize);
        let (_, body) = known.or_insert_with(|| {
            let body = TemplateSpheres::new(template, &self.proxy_counts);
            (template.clone(), Arc::new(body))
        });
        body.clone()
    }

    fn forget_unused(&mut self) {
        self.known
            .retain(|_, (_, body)| Arc::strong_count(body) > 1);
    }
}

/// The device that crowds are sent to.
#[derive(SystemParam)]
pub(super) struct Sending<'w> {
    device: Res<'w, RenderDevice>,
    queue: Res<'w, RenderQueue>,
    lender: Res<'w, ExtractedDevice>,
}

/// Sends crowds that have changed to the device.
pub(super) fn upload_instances(
    mut sent: ResMut<UploadedInstanceSets>,
    mut crowds: ResMut<ExtractedInstanceSets>,
    looks: Res<ExtractedStyles>,
    gpu: Sending,
) {
    let sent = &mut *sent;
    let proxy_counts = looks.proxy_counts();
    if sent.bodies.proxy_counts != proxy_counts {
        sent.bodies = TemplateCache {
            proxy_counts,
            ..TemplateCache::default()
        };
        for arrays in sent.arrays.values_mut() {
            arrays.forget_bodies();
        }
    }
    let before = sent.arrays.len();
    sent.arrays.retain(|key, _| crowds.0.contains_key(key));
    let mut dropped = before != sent.arrays.len();
    for (key, crowd) in &mut crowds.0 {
        let arrays = sent.arrays.entry(*key).or_insert_with(InstanceBuffers::new);
        if !crowd.changed && arrays.ready {
            continue;
        }
        dropped = true;
        crowd.changed = false;
        match arrays.update(crowd, &mut sent.bodies, &gpu) {
            Ok(()) => {
                sent.complaints.remove(key);
            }
            Err(error) if sent.complaints.insert(*key) => {
                error!("{key} cannot be drawn: {error}");
            }
            Err(_) => {}
        }
    }
    if dropped {
        sent.bodies.forget_unused();
    }
    if sent.palette.buffer().is_none() {
        let colors = palette();
        let bytes = bytemuck::cast_slice(&colors);
        if let Err(error) = sent.palette.write(&gpu.device, &gpu.queue, bytes) {
            error_once!("molecules cannot be drawn: {error}");
        }
    }
}
