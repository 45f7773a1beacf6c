//! The members of a crowd as bodies and spheres, and contacts that go on when they change.

use std::collections::HashMap;
use std::sync::Arc;

use super::crowd_contacts::{CrowdContacts, CrowdContactsError};
use super::{ContactMember, MemberSpheres, MovingBody};

impl CrowdContacts {
    /// Replaces the members. Contacts between those that stay go on; members that
    /// were set aside get another chance.
    ///
    /// # Errors
    /// [`CrowdContactsError`] if there are more spheres than can be numbered; the crowd is
    /// empty then.
    pub fn set_members(&mut self, members: Vec<ContactMember>) -> Result<(), CrowdContactsError> {
        self.bring_back();
        let before = std::mem::replace(&mut self.members, members);
        self.aside.clear();
        self.aside.resize(self.members.len(), None);
        let laid_out = self.lay_out_after(Some(&before));
        if laid_out.is_err() {
            self.members.clear();
            self.aside.clear();
            self.forget_contacts();
            self.lay_out()?;
        }
        laid_out
    }

    /// Lays out the spheres of all members that are not set aside, and lets contacts
    /// between them go on. `before` are the members until now, if they were others.
    pub(super) fn lay_out_after(
        &mut self,
        before: Option<&[ContactMember]>,
    ) -> Result<(), CrowdContactsError> {
        self.bring_back();
        if let Some(offload) = self.offload.as_mut() {
            offload.forget_members();
        }
        let owners = std::mem::take(&mut self.active);
        let starts = std::mem::take(&mut self.first_sphere);
        self.lay_out()?;
        let places = self.active.iter().zip(0..).map(|(member, owner)| {
            let member = &self.members[*member as usize];
            (member.id, (owner, Arc::as_ptr(&member.spheres)))
        });
        let places: HashMap<u64, (u32, *const MemberSpheres)> = places.collect();
        let before = before.unwrap_or(&self.members);
        let now: Vec<Option<u32>> = owners
            .iter()
            .map(|member| {
                let member = &before[*member as usize];
                let (owner, spheres) = places.get(&member.id)?;
                (*spheres == Arc::as_ptr(&member.spheres)).then_some(*owner)
            })
            .collect();
        let first_sphere = &self.first_sphere;
        self.obstacles.clear();
        self.solver.rename(self.active.len(), |owner, sphere| {
            // Contacts with obstacles are told anew in each substep.
            let (place, sphere) = ((*now.get(owner as usize)?)?, sphere?);
            let offset = sphere - starts[owner as usize];
            Some([place, first_sphere[place as usize] + offset])
        });
        Ok(())
    }

    fn lay_out(&mut self) -> Result<(), CrowdContactsError> {
        self.groups.clear();
        self.touches.clear();
        self.touches_before.clear();
        self.active.clear();
        let present = self
            .aside
            .iter()
            .zip(0..)
            .filter(|(reason, _)| reason.is_none());
        self.active.extend(present.map(|(_, member)| member));
        self.bodies.clear();
        self.bodies.resize(self.active.len(), MovingBody::default());
        let spheres = |member: &u32| &*self.members[*member as usize].spheres;
        let radii = self.active.iter().map(|member| &spheres(member).radii[..]);
        self.spheres.lay_out(radii, &mut self.first_sphere)?;
        Ok(())
    }
}
