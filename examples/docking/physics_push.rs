//! Both molecules as bodies of a Rapier world, atom against atom, which push each other.
//!
//! Nothing here knows where the molecules come from and what becomes of where they go: who
//! wants bodies says so in [`Pushed`], and finds there where they are.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::ControlSettings;
use bevy_rapier_molecules::docking::{RigidMotion, Role};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

/// Longest time that physics goes on in one frame, s.
const LONGEST_STEP: f32 = 1.0 / 15.0;

/// Substeps of a frame: the fastest hand then moves less than half an atom in each.
const SUBSTEPS: usize = 8;

/// The water that molecules swim in: what is let go stops within half a second.
const WATER: Damping = Damping {
    linear_damping: 4.0,
    angular_damping: 4.0,
};

/// A world without gravity, and the bodies in it.
pub struct PushPlugin {
    /// Who finds contacts.
    pub backend: Backend,
}

impl Plugin for PushPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            RapierPhysicsPlugin::<NoUserData>::default(),
            MoleculePlugins::default().with_backend(self.backend),
        ))
        .insert_resource(TimestepMode::Variable {
            max_dt: LONGEST_STEP,
            time_scale: 1.0,
            substeps: SUBSTEPS,
        })
        .init_resource::<Pushed>()
        .add_systems(
            PostUpdate,
            (
                (make_bodies, drive)
                    .chain()
                    .in_set(PushSystems::Make)
                    .before(MoleculeSystems::Prepare),
                read_bodies
                    .in_set(PushSystems::Read)
                    .after(PhysicsSet::Writeback),
            ),
        );
    }
}

/// Before and after the step, in `PostUpdate`.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub enum PushSystems {
    /// Reads what is wanted.
    Make,
    /// Writes what was reached.
    Read,
}

/// What is to be pushed, and what has become of it.
#[derive(Resource, Default)]
pub struct Pushed {
    /// Receptor and ligand, and where they are, if they are to be bodies. Other poses than
    /// those that they have reached begin anew, at rest.
    pub wanted: Option<[(Arc<MoleculeTemplate>, Pose); 2]>,
    /// Which one a hand moves, and how fast: nm/s and radian/s. None lets go.
    pub driven: Option<(Role, RigidMotion)>,
    /// Where the bodies are after this frame, receptor and ligand, if there are any.
    pub reached: Option<[Pose; 2]>,
    /// Which molecules they are.
    made: Option<[Arc<MoleculeTemplate>; 2]>,
}

impl Pushed {
    /// Whether the bodies that there are are those that are wanted.
    fn is_up_to_date(&self) -> bool {
        match (&self.wanted, &self.made) {
            (None, None) => true,
            (Some(wanted), Some(made)) => {
                let mut pairs = wanted.iter().zip(made);
                let there = |reached: [Pose; 2]| reached == [wanted[0].1, wanted[1].1];
                pairs.all(|((one, _), other)| Arc::ptr_eq(one, other))
                    && self.reached.is_none_or(there)
            }
            _ => false,
        }
    }
}

#[derive(Component, Clone, Copy)]
struct Body(Role);

/// Spawns the bodies that are wanted, and removes those that are not.
fn make_bodies(
    mut commands: Commands,
    mut pushed: ResMut<Pushed>,
    mut templates: ResMut<Assets<MoleculeTemplate>>,
    bodies: Query<Entity, With<Body>>,
) {
    if pushed.is_up_to_date() {
        return;
    }
    for body in &bodies {
        commands.entity(body).despawn();
    }
    let pushed = &mut *pushed;
    pushed.reached = None;
    pushed.made = pushed.wanted.as_ref().map(|wanted| {
        for ((template, pose), part) in wanted.iter().zip([Role::Receptor, Role::Ligand]) {
            commands.spawn((
                Body(part),
                Molecule(templates.add(MoleculeTemplate::clone(template))),
                // They meet each other and nothing else, and are drawn by the app.
                CrowdOnly,
                NoMoleculeRendering,
                Transform::from_translation(pose.position).with_rotation(pose.rotation),
                GravityScale(0.0),
                WATER,
            ));
        }
        [0, 1].map(|part: usize| Arc::clone(&wanted[part].0))
    });
}

/// The hand pulls at the velocity of what it holds.
fn drive(time: Res<Time>, pushed: Res<Pushed>, mut bodies: Query<(&Body, &mut Velocity)>) {
    let Some((driven, wanted)) = pushed.driven else {
        return;
    };
    for (_, mut velocity) in bodies.iter_mut().filter(|(body, _)| body.0 == driven) {
        let now = RigidMotion {
            translation: velocity.linear,
            rotation: velocity.angular,
        };
        let next = ControlSettings::default().pull(&now, &wanted, time.delta_secs());
        velocity.linear = next.translation;
        velocity.angular = next.rotation;
    }
}

fn read_bodies(mut pushed: ResMut<Pushed>, bodies: Query<(&Body, &Transform)>) {
    let place = |part: Role| {
        let (_, place) = bodies.iter().find(|(body, _)| body.0 == part)?;
        Some(Pose::new(place.translation, place.rotation))
    };
    let both = place(Role::Receptor).zip(place(Role::Ligand));
    let reached = both.map(|(receptor, ligand)| [receptor, ligand]);
    if pushed.reached != reached {
        pushed.reached = reached;
    }
}
