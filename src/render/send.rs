//! Crowds on the device: sent when they have changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::render::render_resource::Buffer;
use bevy::render::renderer::{RenderDevice, RenderQueue};

use super::arrays::GrowingArray;
use super::body::Body;
use super::colors::palette;
use super::crowd::DrawError;
use super::cull::BodyInCrowd;
use super::extract::{CrowdKey, ExtractedCrowd, ExtractedCrowds, ExtractedLooks};
use super::lent::Lender;
use crate::gpu::GpuDevice;
use crate::molecule::MoleculeTemplate;

/// All that views share on the device. Made anew for each device.
#[derive(Resource)]
pub(super) struct SentCrowds {
    pub palette: GrowingArray,
    pub arrays: BTreeMap<CrowdKey, CrowdArrays>,
    bodies: Bodies,
    /// Crowds of which has been said that they do not fit.
    complaints: HashSet<CrowdKey>,
}

impl Default for SentCrowds {
    fn default() -> Self {
        Self {
            palette: GrowingArray::uniform("colors of molecules"),
            arrays: BTreeMap::new(),
            bodies: Bodies::default(),
            complaints: HashSet::default(),
        }
    }
}

/// A crowd on the device.
pub(super) struct CrowdArrays {
    templates: Vec<Arc<MoleculeTemplate>>,
    pub bodies: Vec<BodyInCrowd>,
    pub spheres: GrowingArray,
    poses: GrowingArray,
    /// Poses that somebody else writes, in place of ours.
    device_poses: Option<(Arc<GpuDevice>, Buffer)>,
    pub traits: GrowingArray,
    /// Grows with each buffer that is new.
    pub version: u64,
    /// Whether it is up to date and complete.
    pub ready: bool,
}

impl CrowdArrays {
    fn new() -> Self {
        Self {
            templates: Vec::new(),
            bodies: Vec::new(),
            spheres: GrowingArray::storage("spheres of the templates"),
            poses: GrowingArray::storage("poses of the molecules"),
            device_poses: None,
            traits: GrowingArray::storage("traits of the molecules"),
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
        crowd: &ExtractedCrowd,
        bodies: &mut Bodies,
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
                self.bodies.push(BodyInCrowd {
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
struct Bodies {
    known: HashMap<usize, (Arc<MoleculeTemplate>, Arc<Body>)>,
    /// Numbers of proxies that each of them has, ascending.
    proxy_counts: Vec<u32>,
}

impl Bodies {
    fn get(&mut self, template: &Arc<MoleculeTemplate>) -> Arc<Body> {
        // The template is kept, so that no other can have its address.
        let known = self.known.entry(Arc::as_ptr(template) as usize);
        let (_, body) = known.or_insert_with(|| {
            let body = Body::new(template, &self.proxy_counts);
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
    lender: Res<'w, Lender>,
}

/// Sends crowds that have changed to the device.
pub(super) fn send_crowds(
    mut sent: ResMut<SentCrowds>,
    mut crowds: ResMut<ExtractedCrowds>,
    looks: Res<ExtractedLooks>,
    gpu: Sending,
) {
    let sent = &mut *sent;
    let proxy_counts = looks.proxy_counts();
    if sent.bodies.proxy_counts != proxy_counts {
        sent.bodies = Bodies {
            proxy_counts,
            ..Bodies::default()
        };
        for arrays in sent.arrays.values_mut() {
            arrays.forget_bodies();
        }
    }
    let before = sent.arrays.len();
    sent.arrays.retain(|key, _| crowds.0.contains_key(key));
    let mut dropped = before != sent.arrays.len();
    for (key, crowd) in &mut crowds.0 {
        let arrays = sent.arrays.entry(*key).or_insert_with(CrowdArrays::new);
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
