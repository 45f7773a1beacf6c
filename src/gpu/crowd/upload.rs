//! What the processor sends for a substep: bodies, supports, parameters.

use std::sync::Arc;

use super::GpuContactSolver;
use super::contact_set::{ContactSetSize, Held};
use super::contact_transfer::add_held;
use super::types::{GpuCrowdBody, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdParams, NONE, halves};
use crate::backend::DeviceError;
use crate::dynamics::contact_reduction::MAX_CONTACTS_PER_PAIR;
use crate::dynamics::{ContactSolverConfig, DeviceSubstep};
use crate::gpu::constants::MOST_ROUNDS;
use crate::gpu::search::write;

impl GpuContactSolver {
    /// Sorts the supports by bodies, and finds each in the substep before; returns them
    /// with their groups.
    fn sort_supports(
        &mut self,
        substep: &DeviceSubstep<'_>,
    ) -> (Vec<GpuCrowdExternal>, Vec<GpuCrowdGroup>, Vec<Held>) {
        if let Some(renamed) = substep.renamed {
            let now = |body: u32| match (body as usize).checked_sub(substep.members) {
                None => Some(body),
                Some(obstacle) => renamed.get(obstacle).copied().flatten(),
            };
            self.before.held.retain_mut(|held| {
                let [a, b] = held.bodies.map(now);
                held.bodies = [a.unwrap_or(NONE), b.unwrap_or(NONE)];
                a.is_some() && b.is_some()
            });
            self.before.held.sort_unstable();
        }
        let mut order: Vec<_> = substep.supports.iter().collect();
        order.sort_by_key(|(support, bodies)| (*bodies, halves(support.key)));
        let first = self.found.groups * MAX_CONTACTS_PER_PAIR as u32;
        let (mut supports, mut groups, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for ((support, bodies), slot) in order.into_iter().zip(first..) {
            let key = halves(support.key);
            let held = &self.before.held;
            let at = held.partition_point(|held| (held.bodies, held.key) < (*bodies, key));
            let before = held
                .get(at)
                .filter(|held| (held.bodies, held.key) == (*bodies, key));
            let before = before.map_or(NONE, |held| held.slot);
            supports.push(GpuCrowdExternal::new(support, before));
            add_held(&mut groups, 0, *bodies, slot);
            places.push(Held {
                bodies: *bodies,
                key,
                slot,
            });
        }
        (supports, groups, places)
    }

    /// Sends what there is to solve, and makes room for it.
    pub(super) fn upload(&mut self, substep: &DeviceSubstep<'_>) -> Result<(), DeviceError> {
        let device = Arc::clone(&self.device);
        let bodies = substep.bodies.len();
        let (supports, leaning, places) = self.sort_supports(substep);
        if leaning.len() > MOST_ROUNDS as usize {
            return Err(DeviceError::Unsupported {
                feature: "this many contacts with external bodies",
            });
        }
        let size = ContactSetSize {
            touching: self.found.groups,
            leaning: leaning.len() as u32,
            held: supports.len() as u32,
            bodies: bodies as u32,
        };
        self.now.hold(&device, size)?;
        self.now.held = places;
        let counts = [self.before.group_count(), self.now.group_count()];
        self.arrays.hold(&device, bodies, counts)?;
        let touches = self.found.groups as usize;
        self.arrays.touches.resize(&device, touches)?;
        self.packed.clear();
        self.packed
            .extend(substep.bodies.iter().map(GpuCrowdBody::from));
        self.arrays.bodies.upload(&device, &self.packed)?;
        self.arrays.supports.upload(&device, &supports)?;
        if let Some(renamed) = substep.renamed {
            let renamed: Vec<u32> = renamed.iter().map(|body| body.unwrap_or(NONE)).collect();
            self.arrays.renamed.upload(&device, &renamed)?;
        }
        if !leaning.is_empty() {
            let offset = u64::from(self.found.groups) * size_of::<GpuCrowdGroup>() as u64;
            let target = self.now.groups.buffer();
            device.guarded(|| {
                let bytes = bytemuck::cast_slice(&leaning);
                device.queue().write_buffer(target, offset, bytes);
            })?;
        }
        self.write_params(substep)
    }

    fn write_params(&self, substep: &DeviceSubstep<'_>) -> Result<(), DeviceError> {
        let ContactSolverConfig {
            slop,
            max_push_speed,
            restitution_threshold,
            ..
        } = *substep.config;
        let params = GpuCrowdParams {
            bodies: substep.bodies.len() as u32,
            touching: self.now.touching,
            groups: self.now.group_count(),
            parting: 1,
            dt: substep.dt,
            slop,
            max_push_speed,
            restitution_threshold,
            touching_before: self.before.touching,
            exempt: self.exempt,
            members: substep.members as u32,
            spare: 0,
        };
        write(&self.device, &self.now.params, &params)?;
        let params = GpuCrowdParams {
            touching: self.before.touching,
            groups: self.before.group_count(),
            parting: 0,
            dt: self.last_dt.unwrap_or(substep.dt),
            ..params
        };
        write(&self.device, &self.before.params, &params)
    }
}
