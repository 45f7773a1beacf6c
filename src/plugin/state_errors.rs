//! Molecules that cannot be simulated as they are: said once, and kept from harm.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ColliderScale, RapierContextEntityLink, RapierRigidBodyHandle, RapierRigidBodySet, Velocity,
};

use super::components::Molecule;

/// What is wrong with a molecule.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// Its pose or velocity is not finite: it is put back, or stopped.
    NotFinite,
    /// It lies where so many others lie that contacts cannot be computed: it takes no part
    /// in them until it lies elsewhere.
    Crowded,
    /// Its transform has a scale other than 1, which is ignored.
    Scaled {
        /// The scale.
        scale: Vec3,
    },
}

impl std::fmt::Display for StateErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFinite => write!(f, "its pose or velocity is not a number"),
            Self::Crowded => write!(f, "too many others lie in the same place; spawn them apart"),
            Self::Scaled { scale } => write!(
                f,
                "its scale is {scale} and must be 1; its atoms have the size of the LoadOptions"
            ),
        }
    }
}

/// A molecule cannot be simulated as it is. The log says the same in a sentence.
///
/// ```
/// # use bevy_rapier_molecules::plugin::StateErrorKind;
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// #[derive(Resource, Default)]
/// struct Heard(Vec<MoleculeStateError>);
/// app.init_resource::<Heard>();
/// app.add_systems(
///     Last,
///     |mut faults: MessageReader<MoleculeStateError>, mut heard: ResMut<Heard>| {
///         heard.0.extend(faults.read());
///     },
/// );
/// // A molecule has the size it has: a scale is ignored, and told once.
/// let scaled = Transform::from_scale(Vec3::splat(2.0));
/// let molecule = app.world_mut().spawn((Molecule(lipid), scaled)).id();
/// for _ in 0..3 {
///     app.update();
/// }
/// let reason = StateErrorKind::Scaled { scale: Vec3::splat(2.0) };
/// assert_eq!(app.world().resource::<Heard>().0, [MoleculeStateError { molecule, reason }]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeStateError {
    /// The molecule.
    pub molecule: Entity,
    /// What is wrong with it.
    pub reason: StateErrorKind,
}

/// How far a scale may be from 1: rounding of nested transforms.
const SCALE_TOLERANCE: f32 = 1.0e-3;

/// Keeps impossible transforms of molecules away from Rapier.
///
/// A pose that is not finite is put back to where the body is; a scale is ignored,
/// since molecules have a size of their own. Runs after the transforms of this frame
/// are propagated and before Rapier reads them.
pub(super) fn guard_transforms(
    mut molecules: Query<
        (
            Entity,
            &mut Transform,
            &mut GlobalTransform,
            Option<&mut ColliderScale>,
            Option<(&RapierRigidBodyHandle, &RapierContextEntityLink)>,
        ),
        (With<Molecule>, Changed<GlobalTransform>),
    >,
    contexts: Query<&RapierRigidBodySet>,
    mut scaled: Local<bevy::platform::collections::HashSet<Entity>>,
    mut faults: MessageWriter<MoleculeStateError>,
) {
    for (molecule, mut transform, mut global, scale, body) in &mut molecules {
        if !global.affine().is_finite() {
            let position = body.and_then(|(handle, link)| {
                let bodies = contexts.get(link.0).ok()?;
                Some(*bodies.bodies.get(handle.0)?.position())
            });
            let restored = position
                .map(|position| {
                    Transform::from_translation(position.translation)
                        .with_rotation(position.rotation)
                })
                .filter(Transform::is_finite)
                .unwrap_or_default();
            let reason = StateErrorKind::NotFinite;
            error!(
                "molecule {molecule} was moved to {}: {reason}; it is put back",
                global.translation()
            );
            faults.write(MoleculeStateError { molecule, reason });
            *transform = restored;
            *global = restored.into();
        }
        let found = global.scale();
        let is_one = (found - Vec3::ONE).abs().max_element() < SCALE_TOLERANCE;
        if is_one {
            scaled.remove(&molecule);
        } else if scaled.insert(molecule) {
            let reason = StateErrorKind::Scaled { scale: found };
            error!("molecule {molecule} keeps its own size: {reason}");
            faults.write(MoleculeStateError { molecule, reason });
        }
        if let Some(mut scale) = scale
            && *scale != ColliderScale::Absolute(Vec3::ONE)
        {
            *scale = ColliderScale::Absolute(Vec3::ONE);
        }
    }
}

/// Keeps impossible velocities of molecules away from Rapier: they become zero.
pub(super) fn guard_velocities(
    mut molecules: Query<(Entity, &mut Velocity), (With<Molecule>, Changed<Velocity>)>,
    mut faults: MessageWriter<MoleculeStateError>,
) {
    for (molecule, mut velocity) in &mut molecules {
        if !(velocity.linear.is_finite() && velocity.angular.is_finite()) {
            let reason = StateErrorKind::NotFinite;
            error!("molecule {molecule} is stopped: {reason}");
            faults.write(MoleculeStateError { molecule, reason });
            *velocity = Velocity::default();
        }
    }
}
