//! The app's physics hooks, in the form that Rapier calls.

use bevy_rapier3d::prelude::{
    BevyPhysicsHooks, ContactModificationContextView, PairFilterContextView,
};
use bevy_rapier3d::rapier::geometry::SolverFlags;
use bevy_rapier3d::rapier::pipeline::{
    ContactModificationContext, PairFilterContext, PhysicsHooks,
};

/// Lets Rapier call hooks that are a system parameter.
pub(super) struct RapierHooks<Hooks>(pub Hooks);

impl<Hooks: BevyPhysicsHooks> PhysicsHooks for RapierHooks<Hooks> {
    fn filter_contact_pair(&self, context: &PairFilterContext<'_>) -> Option<SolverFlags> {
        let view = PairFilterContextView { raw: context };
        self.0.filter_contact_pair(view)
    }

    fn filter_intersection_pair(&self, context: &PairFilterContext<'_>) -> bool {
        let view = PairFilterContextView { raw: context };
        self.0.filter_intersection_pair(view)
    }

    fn modify_solver_contacts(&self, context: &mut ContactModificationContext<'_>) {
        let view = ContactModificationContextView { raw: context };
        self.0.modify_solver_contacts(view);
    }
}
