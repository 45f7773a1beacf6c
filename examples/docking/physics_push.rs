//! The response `push`: all molecules as rigid bodies of a Rapier world.
//!
//! Independent of the session: [`PushState`] holds the requested and the reached poses.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::ControlSettings;
use bevy_rapier_molecules::docking::{RigidMotion, Role};
use bevy_rapier_molecules::plugin::NoMoleculeRendering;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Maximum physics time per frame, s.
const MAX_FRAME: f32 = 1.0 / 15.0;

/// Substeps per frame. At full speed a molecule moves less than half an atom per substep.
const SUBSTEPS: usize = 8;

/// Damping by water: a released molecule stops within half a second.
const WATER_DAMPING: Damping = Damping {
    linear_damping: 4.0,
    angular_damping: 4.0,
};

/// Adds a Rapier world and the rigid bodies.
pub struct PushPlugin {
    /// Backend of the contact solver.
    pub backend: Backend,
}

impl Plugin for PushPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            RapierPhysicsPlugin::<NoUserData>::default(),
            MoleculePlugins::default().with_backend(self.backend),
        ))
        .insert_resource(TimestepMode::Variable {
            max_dt: MAX_FRAME,
            time_scale: 1.0,
            substeps: SUBSTEPS,
        })
        .init_resource::<PushState>()
        .add_systems(
            PostUpdate,
            (
                (update_bodies, drive)
                    .chain()
                    .in_set(PushSystems::Apply)
                    .before(MoleculeSystems::Prepare),
                read_bodies
                    .in_set(PushSystems::Read)
                    .after(PhysicsSet::Writeback),
            ),
        );
    }
}

/// Systems before and after the physics step, in `PostUpdate`.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub enum PushSystems {
    /// Reads the requested state.
    Apply,
    /// Writes the reached poses.
    Read,
}

/// Requested and reached state of the bodies.
#[derive(Resource, Default)]
pub struct PushState {
    /// The molecules with their poses, if they should be bodies. Poses other than the reached ones
    /// respawn the bodies at rest.
    pub requested: Vec<(Arc<MoleculeTemplate>, Pose)>,
    /// The molecule to move and its target velocity, nm/s and radian/s.
    pub driven: Option<(Role, RigidMotion)>,
    /// Poses of the molecules after this frame, if they are bodies.
    pub reached: Vec<Pose>,
    /// The templates of the current bodies.
    current: Vec<Arc<MoleculeTemplate>>,
}

impl PushState {
    /// Whether the bodies match the requested state.
    fn is_up_to_date(&self) -> bool {
        let requested = self.requested.iter();
        let mut pairs = requested.clone().zip(&self.current);
        let is_reached = requested.map(|(_, pose)| pose).eq(&self.reached);
        self.requested.len() == self.current.len()
            && pairs.all(|((one, _), other)| Arc::ptr_eq(one, other))
            && (self.reached.is_empty() || is_reached)
    }
}

#[derive(Component, Clone, Copy)]
struct DockingBody(Role);

/// Spawns and despawns bodies to match the requested state.
fn update_bodies(
    mut commands: Commands,
    mut push: ResMut<PushState>,
    mut templates: ResMut<Assets<MoleculeTemplate>>,
    bodies: Query<Entity, With<DockingBody>>,
) {
    if push.is_up_to_date() {
        return;
    }
    for body in &bodies {
        commands.entity(body).despawn();
    }
    let push = &mut *push;
    push.reached.clear();
    push.current.clear();
    for (index, (template, pose)) in push.requested.iter().enumerate() {
        push.current.push(Arc::clone(template));
        commands.spawn((
            DockingBody(Role::of(index)),
            Molecule(templates.add(MoleculeTemplate::clone(template))),
            // They collide with each other only, and `view.rs` draws them.
            CrowdOnly,
            NoMoleculeRendering,
            Transform::from_translation(pose.position).with_rotation(pose.rotation),
            GravityScale(0.0),
            WATER_DAMPING,
        ));
    }
}

/// Accelerates the driven body towards its target velocity.
fn drive(time: Res<Time>, push: Res<PushState>, mut bodies: Query<(&DockingBody, &mut Velocity)>) {
    let Some((driven, target)) = push.driven else {
        return;
    };
    for (_, mut velocity) in bodies.iter_mut().filter(|(body, _)| body.0 == driven) {
        let current = RigidMotion {
            translation: velocity.linear,
            rotation: velocity.angular,
        };
        let next = ControlSettings::default().approach(&current, &target, time.delta_secs());
        velocity.linear = next.translation;
        velocity.angular = next.rotation;
    }
}

fn read_bodies(mut push: ResMut<PushState>, bodies: Query<(&DockingBody, &Transform)>) {
    let mut reached: Vec<(Role, Pose)> = bodies
        .iter()
        .map(|(body, transform)| {
            let pose = Pose::new(transform.translation, transform.rotation);
            (body.0, pose)
        })
        .collect();
    reached.sort_unstable_by_key(|(role, _)| *role);
    let reached: Vec<Pose> = reached.into_iter().map(|(_, pose)| pose).collect();
    if push.reached != reached {
        push.reached = reached;
    }
}
