//! The corrections of all joints, by molecule.
//!
//! Each joint is computed once, for both of its molecules. A molecule then sums its joints in their
//! order in the crowd, which does not depend on the number of threads.

use rayon::prelude::*;

use crate::crowd::Crowd;
use crate::force::{Body, ProjectionSums, joint_corrections};

/// Joints per task.
const JOINTS_PER_TASK: usize = 64;

/// The corrections of all joints.
#[derive(Default)]
pub(super) struct JointSums {
    /// Owners of the two members of each joint.
    owners: Vec<[u32; 2]>,
    /// Corrections of the two members of each joint.
    sides: Vec<[ProjectionSums; 2]>,
    /// Whether each joint exceeds its limits.
    is_strained: Vec<bool>,
    /// Joint and side of each owner, owner by owner, and the first of each owner.
    of_owners: Vec<(u32, u8)>,
    starts: Vec<u32>,
}

impl JointSums {
    /// Where the joints of each owner are, in a crowd with this order of its members.
    pub fn new(crowd: &Crowd, order: &[u32]) -> Self {
        if crowd.joints().is_empty() {
            return Self::default();
        }
        let mut owner_of = vec![0; order.len()];
        for (owner, &member) in (0..).zip(order) {
            owner_of[member as usize] = owner;
        }
        let joints = crowd.joints().iter();
        let owners: Vec<[u32; 2]> = joints
            .map(|joint| joint.members.map(|member| owner_of[member as usize]))
            .collect();
        let mut listed: Vec<(u32, u32, u8)> = Vec::with_capacity(2 * owners.len());
        for (joint, [first, second]) in (0..).zip(&owners) {
            listed.push((*first, joint, 0));
            listed.push((*second, joint, 1));
        }
        listed.sort_unstable();
        let mut starts = vec![0; order.len() + 1];
        for (owner, ..) in &listed {
            starts[*owner as usize + 1] += 1;
        }
        for owner in 0..order.len() {
            starts[owner + 1] += starts[owner];
        }
        Self {
            sides: vec![[ProjectionSums::default(); 2]; owners.len()],
            is_strained: vec![false; owners.len()],
            owners,
            of_owners: listed
                .into_iter()
                .map(|(_, joint, side)| (joint, side))
                .collect(),
            starts,
        }
    }

    /// Computes all joints at the current poses; returns how many exceed their limits.
    pub fn update(&mut self, crowd: &Crowd, bodies: &[Body]) -> u64 {
        self.sides
            .par_iter_mut()
            .zip(&mut self.is_strained)
            .zip(&self.owners)
            .zip(crowd.joints())
            .with_min_len(JOINTS_PER_TASK)
            .map(|(((sides, is_strained), owners), joint)| {
                let state = crowd.state_of(joint);
                let excess = state.excess(&joint.limits);
                let bodies = owners.map(|owner| &bodies[owner as usize]);
                *sides = if bodies.iter().all(|body| body.is_fixed()) {
                    Default::default()
                } else {
                    joint_corrections(bodies, &state, &excess)
                };
                *is_strained = excess.is_strained();
                u64::from(*is_strained)
            })
            .sum()
    }

    /// Calls `visit` with the owners of each joint that exceeded its limits in the last update.
    pub fn for_each_strained(&self, mut visit: impl FnMut([u32; 2])) {
        let joints = self.owners.iter().zip(&self.is_strained);
        for (owners, _) in joints.filter(|(_, is_strained)| **is_strained) {
            visit(*owners);
        }
    }

    /// The sum over the joints of a molecule.
    pub fn of(&self, owner: usize) -> ProjectionSums {
        let mut sum = ProjectionSums::default();
        if let Some(&[start, end]) = self.starts.get(owner..owner + 2) {
            for &(joint, side) in &self.of_owners[start as usize..end as usize] {
                sum.merge(&self.sides[joint as usize][usize::from(side)]);
            }
        }
        sum
    }
}
