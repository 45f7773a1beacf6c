//! [`CrowdEdit`]: changes of the molecules between two iterations.
//!
//! What the search remembers of molecules that stay is kept, so that an edit costs one pass over
//! the members and one detection, in which only new and moved molecules are searched from scratch.

use std::sync::Arc;

use super::joint_sums::JointSums;
use super::morton_order::morton_order;
use super::relaxer::check_sizes;
use super::{RelaxError, RelaxStatus, Relaxer};
use crate::compartment::Surface;
use crate::crowd::{Crowd, CrowdJoint, CrowdMember, CrowdPlacement};
use crate::force::{Body, Push};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::search::RigidSpheres;

/// Largest number of added molecules that are inserted next to their neighbors in memory. All
/// molecules are sorted anew for more of them.
const MAX_INSERTED: usize = 128;

/// Changes of a crowd that a [`Relaxer`] relaxes.
///
/// Indices of members are those before the edit, except in [`joints`](Self::joints). Templates,
/// compartments and placements are added after the existing ones, and members of the same edit may
/// refer to them.
#[derive(Clone, Debug, Default)]
pub struct CrowdEdit {
    /// New templates.
    pub templates: Vec<Arc<MoleculeTemplate>>,
    /// New compartments.
    pub compartments: Vec<Arc<dyn Surface>>,
    /// New placements.
    pub placements: Vec<CrowdPlacement>,
    /// Members that are removed, with their joints. The others keep their order.
    pub removed: Vec<u32>,
    /// Members that are added after all others.
    pub added: Vec<CrowdMember>,
    /// Members with new poses, nm.
    pub poses: Vec<(u32, Pose)>,
    /// Members that are fixed or freed.
    pub fixed: Vec<(u32, bool)>,
    /// Members with new placements.
    pub placed: Vec<(u32, Option<u32>)>,
    /// Joints that are added after those that stay. Their members have the indices after the edit:
    /// first the members that stay, then the added ones. Rotations of frames that are normalized
    /// keep their bits.
    pub joints: Vec<CrowdJoint>,
}

impl CrowdEdit {
    /// The crowd after the edit, and the new index of each member of `crowd`.
    fn apply(&self, crowd: &Crowd) -> Result<(Crowd, Vec<Option<u32>>), RelaxError> {
        let mut edited = crowd.clone();
        for template in &self.templates {
            edited.add_template(template.clone());
        }
        for compartment in &self.compartments {
            edited.add_compartment(compartment.clone());
        }
        for placement in &self.placements {
            edited.add_placement(placement.compartment, placement.confinement)?;
        }
        for &(index, pose) in &self.poses {
            let member = *edited.member(index)?;
            edited.set_member(index, CrowdMember { pose, ..member })?;
        }
        for &(index, fixed) in &self.fixed {
            let member = *edited.member(index)?;
            edited.set_member(index, CrowdMember { fixed, ..member })?;
        }
        for &(index, placement) in &self.placed {
            let member = *edited.member(index)?;
            edited.set_member(
                index,
                CrowdMember {
                    placement,
                    ..member
                },
            )?;
        }
        let indices = edited.remove_members(&self.removed)?;
        for member in &self.added {
            edited.add_exact_member(*member)?;
        }
        for joint in &self.joints {
            edited.add_exact_joint(*joint)?;
        }
        Ok((edited, indices))
    }

    /// Whether molecules may lie inside of each other afterwards.
    fn has_new_poses(&self) -> bool {
        !(self.added.is_empty() && self.poses.is_empty())
    }
}

/// What an edit replaces in a relaxer.
struct Before {
    crowd: Crowd,
    order: Vec<u32>,
    pushes: Vec<Push>,
    status: RelaxStatus,
    last_kick: u32,
}

impl Relaxer {
    /// Adds, removes and changes molecules between two iterations. Returns the new index of each
    /// previous member; none if it is removed.
    ///
    /// Stall detection restarts, and a coarse start ends. Rotations that are normalized keep their
    /// bits. Two fixed molecules may overlap: the [status](Self::status) counts that, and the crowd
    /// does not come to rest. [`warnings`](Self::warnings) stay those of before. A device starts
    /// again with the new crowd; the CPU replaces it if a molecule is fixed.
    ///
    /// ```
    /// use std::{ops::ControlFlow, sync::Arc};
    /// use bevy_rapier_molecules::prelude::*;
    /// use bevy_rapier_molecules::relax::CrowdEdit;
    /// use glam::Vec3;
    ///
    /// let mut crowd = Crowd::new();
    /// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
    /// let template = crowd.add_template(Arc::new(protein));
    /// let at = |x: f32| CrowdMember {
    ///     template,
    ///     pose: Pose::from_translation(Vec3::X * x),
    ///     ..CrowdMember::default()
    /// };
    /// crowd.add_member(at(0.0))?;
    /// crowd.add_member(at(5.0))?;
    /// let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
    /// assert!(relaxer.status().is_at_rest());
    ///
    /// let edit = CrowdEdit {
    ///     removed: vec![0],
    ///     added: vec![at(6.0)],
    ///     ..CrowdEdit::default()
    /// };
    /// assert_eq!(relaxer.edit(&edit)?, [None, Some(0)]);
    /// assert!(relaxer.status().overlaps > 0);
    /// assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RelaxError`] if an index, pose or joint is invalid, a molecule is larger than the periodic box, or
    /// too many atoms lie in one place; nothing has changed then.
    pub fn edit(&mut self, edit: &CrowdEdit) -> Result<Vec<Option<u32>>, RelaxError> {
        self.read_back()?;
        let (crowd, indices) = edit.apply(&self.crowd)?;
        check_sizes(&crowd, &self.config)?;
        let before = Before {
            order: self.order.clone(),
            pushes: self.pushes.clone(),
            status: self.status,
            last_kick: self.last_kick,
            crowd: std::mem::replace(&mut self.crowd, crowd),
        };
        let known = self.shapes.len();
        let new = self.crowd.templates().iter().skip(known);
        self.shapes
            .extend(new.map(|template| Arc::new(RigidSpheres::atoms(template))));
        let edited = self.replace_members(&before, &indices, edit);
        if let Err(error) = edited {
            self.shapes.truncate(known);
            self.restore(before)?;
            return Err(error);
        }
        self.restart_stall_detection();
        Ok(indices)
    }

    /// Runs one iteration with fixed molecules at new poses: they are there when it ends.
    ///
    /// # Errors
    /// As [`step`](Self::step); also if a molecule does not exist or is not fixed, or a pose is
    /// invalid. No molecule has moved then.
    pub fn step_with_fixed(&mut self, poses: &[(u32, Pose)]) -> Result<RelaxStatus, RelaxError> {
        self.read_back()?;
        let mut previous = Vec::new();
        for &(index, pose) in poses {
            let member = *self.crowd.member(index)?;
            if !member.fixed {
                return Err(RelaxError::NotFixed { molecule: index });
            }
            previous.push((index, member));
            self.crowd
                .set_member(index, CrowdMember { pose, ..member })?;
        }
        self.restart_stall_detection();
        // They may be inside of others by now, which are separated along their centers.
        self.last_kick = self.iterations;
        let outcome = self.step();
        if outcome.is_err() {
            for (index, member) in previous {
                self.crowd.set_member(index, member)?;
            }
        }
        outcome
    }

    /// Updates everything that has one entry per owner, and detects contacts.
    fn replace_members(
        &mut self,
        before: &Before,
        indices: &[Option<u32>],
        edit: &CrowdEdit,
    ) -> Result<(), RelaxError> {
        let owners = self.owners_after(indices, edit.added.len());
        let mut is_posed = vec![false; before.order.len()];
        for (index, _) in &edit.poses {
            is_posed[*index as usize] = true;
        }
        self.order = owners.iter().map(|owner| owner.member).collect();
        let push = |owner: &Owner| {
            let previous = owner.previous? as usize;
            let is_posed = is_posed[before.order[previous] as usize];
            (!is_posed).then_some(before.pushes[previous])
        };
        self.pushes = owners.iter().map(|o| push(o).unwrap_or_default()).collect();
        let was_coarse = self.coarse.take().is_some();
        if was_coarse || edit.added.len() > MAX_INSERTED {
            self.set_molecules()?;
        } else {
            let (shapes, members) = (&self.shapes, self.crowd.members());
            let shape = |member: u32| &shapes[members[member as usize].template as usize];
            let molecules = owners.iter().map(|o| (shape(o.member), o.previous));
            self.molecules.update_molecules(molecules)?;
        }
        self.reset_owners();
        if edit.has_new_poses() {
            // Molecules inside of each other are separated along their centers.
            self.last_kick = self.iterations;
        }
        self.restart()
    }

    /// The owners after an edit: those that stay in their order, and new ones next to their
    /// neighbors in space.
    fn owners_after(&self, indices: &[Option<u32>], added: usize) -> Vec<Owner> {
        let members = self.crowd.members();
        let first = members.len() - added;
        if added > MAX_INSERTED {
            let mut owner_of = vec![None; members.len()];
            for (&member, owner) in self.order.iter().zip(0..) {
                if let Some(member) = indices[member as usize] {
                    owner_of[member as usize] = Some(owner);
                }
            }
            let order = morton_order(members).into_iter();
            let owner = |member: u32| Owner {
                member,
                previous: owner_of[member as usize],
            };
            return order.map(owner).collect();
        }
        let stay = self.order.iter().zip(0..).filter_map(|(&member, owner)| {
            Some(Owner {
                member: indices[member as usize]?,
                previous: Some(owner),
            })
        });
        let stay: Vec<Owner> = stay.collect();
        let mut new: Vec<(usize, u32)> = Vec::with_capacity(added);
        for (member, index) in members.iter().zip(0..).skip(first) {
            let distance = |owner: &Owner| {
                let other = members[owner.member as usize].pose.position;
                other.distance_squared(member.pose.position)
            };
            let nearest = stay.iter().enumerate();
            let nearest = nearest.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
            new.push((nearest.map_or(0, |(owner, _)| owner + 1), index));
        }
        new.sort_unstable();
        let mut owners = Vec::with_capacity(members.len());
        let mut new = new.into_iter().peekable();
        for place in 0..=stay.len() {
            while let Some((_, member)) = new.next_if(|(before, _)| *before == place) {
                owners.push(Owner {
                    member,
                    previous: None,
                });
            }
            owners.extend(stay.get(place).copied());
        }
        owners
    }

    /// Resizes what is computed from the members, finds the owners of the joints, and forgets the
    /// sums of contacts.
    fn reset_owners(&mut self) {
        let owners = self.order.len();
        self.joints = JointSums::new(&self.crowd, &self.order);
        self.sums_config = None;
        if let Some(local) = &mut self.local {
            local.reset();
        }
        self.first_sphere.clear();
        self.bodies.clear();
        self.bodies.resize(owners, Body::default());
        self.springs.clear();
        self.springs.resize(owners, Push::default());
        self.next_poses.clear();
        self.next_poses.resize(owners, Pose::IDENTITY);
    }

    /// Returns to the members before a failed edit.
    fn restore(&mut self, before: Before) -> Result<(), RelaxError> {
        self.crowd = before.crowd;
        self.order = before.order;
        self.pushes = before.pushes;
        self.last_kick = before.last_kick;
        self.set_molecules()?;
        self.reset_owners();
        self.restart()?;
        self.status = before.status;
        Ok(())
    }
}

/// An owner after an edit, and the one that it was.
#[derive(Clone, Copy)]
struct Owner {
    member: u32,
    previous: Option<u32>,
}
