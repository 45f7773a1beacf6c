//! Molecules that diffuse.

use std::sync::Arc;

use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{GravityScale, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodySet};

use super::components::Molecule;
use super::molecule_world::{Member, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use crate::molecule::MoleculeTemplate;
use crate::motion::MotionError;
use crate::motion::brownian::{BrownianMolecule, BrownianMolecules, Medium, hydrodynamic_radius};
use crate::pose::Pose;

/// A molecule that diffuses: in each substep it is displaced and turned at random, and goes
/// back if it would overlap another molecule by an atom, or leave its
/// [`Compartment`](super::Compartment). Those that meet are told by
/// [`MoleculeCollision`](super::MoleculeCollision).
///
/// In water a molecule forgets its velocity within picoseconds. So it has none from substep
/// to substep: contacts, springs and forces move it for the substep that they act in, and no
/// longer. It does not fall, unless it has a [`GravityScale`] of its own.
///
/// How long a second takes in the molecules' world is said by [`BrownianMotionConfig`].
/// Coefficients that are not numbers of at least zero keep a molecule where it is, and the
/// log says so.
///
/// ```
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
/// app.insert_resource(BrownianMotionConfig { seed: 7, ..default() });
/// let diffusing = (Molecule(lipid.clone()), BrownianMotion::default());
/// let diffusing = app.world_mut().spawn(diffusing).id();
/// // Another one at rest is in its way, and does not diffuse.
/// let at = Transform::from_xyz(6.0, 0.0, 0.0);
/// let resting = (Molecule(lipid), GravityScale(0.0), at);
/// let resting = app.world_mut().spawn(resting).id();
/// for _ in 0..30 {
///     app.update();
/// }
/// let place = |entity| app.world().get::<Transform>(entity).map(|at| at.translation);
/// let way = place(diffusing).ok_or("it is gone")?.length();
/// assert!(way > 0.01 && way < 5.0, "{way} nm in half a second");
/// assert_eq!(place(resting), Some(at.translation));
/// // It went there without a velocity.
/// let velocity = app.world().get::<Velocity>(diffusing).ok_or("it has none")?;
/// assert_eq!(velocity.linear, Vec3::ZERO);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(Molecule, GravityScale(0.0))]
pub struct BrownianMotion {
    /// Diffusion coefficient, nm²/s. Default: that of a sphere of `radius`, after Stokes
    /// and Einstein.
    pub diffusion: Option<f64>,
    /// Rotational diffusion coefficient, rad²/s. Default: that of a sphere of `radius`.
    pub rotational_diffusion: Option<f64>,
    /// Radius of the sphere that is dragged as much, nm. Default: that of a globular
    /// protein of the molecule's mass with its shell of water.
    pub radius: Option<f64>,
}

impl BrownianMotion {
    /// Both coefficients, nm²/s and rad²/s, of a molecule of `mass` Da in a medium.
    #[must_use]
    pub fn coefficients(&self, mass: f64, medium: &Medium) -> [f64; 2] {
        let radius = self.radius.unwrap_or_else(|| hydrodynamic_radius(mass));
        [
            self.diffusion
                .unwrap_or_else(|| medium.translational(radius)),
            self.rotational_diffusion
                .unwrap_or_else(|| medium.rotational(radius)),
        ]
    }
}

/// What molecules with [`BrownianMotion`] diffuse in, and how fast it is shown. May be
/// changed at any time.
#[derive(Clone, Copy, Debug, PartialEq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct BrownianMotionConfig {
    /// Temperature and viscosity. Default: water at 298 K.
    pub medium: Medium,
    /// Time that molecules diffuse for in each second of the physics world, s; zero is a
    /// pause. Default: 1e-9, in which a small protein comes a nanometer far.
    pub pace: f64,
    /// Seed of all steps. Default: 1.
    pub seed: u64,
    /// A substep in which molecules could jump through each other is split into up to so
    /// many steps; what is left then is not simulated, and the log says so. Default: 64.
    pub max_steps: u32,
}

impl Default for BrownianMotionConfig {
    fn default() -> Self {
        Self {
            medium: Medium::default(),
            pace: 1.0e-9,
            seed: 1,
            max_steps: 64,
        }
    }
}

/// The molecules of a context, as those that diffuse see them.
#[derive(Default)]
pub(super) struct Diffusing {
    /// Whether these are the members of the context as they are now.
    pub collected: bool,
    /// All members: those that do not diffuse are in the way of those that do. None if
    /// nobody does.
    pub crowd: Option<BrownianMolecules>,
    /// Who they are, in the order of the crowd, and whether they diffuse.
    pub members: Vec<(Member, bool)>,
    /// Members of the context that pass through each other in this substep.
    pub passing: Vec<[u32; 2]>,
    templates: Vec<Arc<MoleculeTemplate>>,
    /// Molecules of which has been said that their coefficients cannot be.
    complaints: HashSet<Entity>,
    /// Whether it has been said that time is short, and that a step failed.
    pub said: [bool; 2],
}

impl Diffusing {
    /// Takes the members of the context as they are now. Those that stuck together still
    /// do.
    fn rebuild(
        &mut self,
        members: &[Member],
        bodies: &RigidBodySet,
        molecules: &Query<(&PreparedMolecule, Option<&BrownianMotion>)>,
        config: &BrownianMotionConfig,
    ) -> Result<(), MotionError> {
        let clusters = self.clusters();
        let before = self.crowd.take();
        self.members.clear();
        if !members.iter().any(|member| {
            let found = molecules.get(member.entity);
            found.is_ok_and(|(_, brownian)| brownian.is_some())
        }) {
            return Ok(());
        }
        let mut crowd = match before {
            Some(crowd) => crowd,
            None => {
                self.templates.clear();
                BrownianMolecules::new(&[], &[], Vec::new(), config.seed)?
            }
        };
        crowd.set_seed(config.seed);
        let mut list = Vec::new();
        for member in members {
            let Ok((prepared, brownian)) = molecules.get(member.entity) else {
                continue;
            };
            let template = prepared.shared().template();
            let known = self
                .templates
                .iter()
                .position(|known| Arc::ptr_eq(known, template));
            let number = match known {
                Some(number) => number as u32,
                None => {
                    self.templates.push(template.clone());
                    crowd.add_template(template.clone())?
                }
            };
            let mass = f64::from(template.mass());
            let mut coefficients = brownian.map_or([0.0; 2], |brownian| {
                brownian.coefficients(mass, &config.medium)
            });
            if !coefficients
                .iter()
                .all(|one| one.is_finite() && *one >= 0.0)
            {
                let entity = member.entity;
                if self.complaints.insert(entity) {
                    error!(
                        "molecule {entity} stays: its diffusion coefficients {coefficients:?} \
                         (nm²/s and rad²/s) have to be numbers of at least zero"
                    );
                }
                coefficients = [0.0; 2];
            } else {
                self.complaints.remove(&member.entity);
            }
            let [diffusion, rotational_diffusion] = coefficients;
            list.push(BrownianMolecule {
                template: number,
                pose: pose(bodies.get(member.body)).unwrap_or_default(),
                diffusion,
                rotational_diffusion,
            });
            self.members.push((*member, brownian.is_some()));
        }
        crowd.set_molecules(&list)?;
        let find = |entity: &Entity| {
            let known = |(member, _): &(Member, bool)| member.entity;
            let found = self.members.binary_search_by_key(entity, known);
            found.ok().map(|at| at as u32)
        };
        for cluster in &clusters {
            let mut left = cluster.iter().filter_map(find);
            if let Some(first) = left.next() {
                left.try_for_each(|other| crowd.join(first, other))?;
            }
        }
        self.crowd = Some(crowd);
        Ok(())
    }

    /// Who sticks to whom: clusters of two and more.
    pub fn clusters(&self) -> Vec<Vec<Entity>> {
        let clusters = self.crowd.iter().flat_map(BrownianMolecules::clusters);
        clusters
            .filter(|cluster| cluster.len() > 1)
            .map(|cluster| {
                let entity = |index: &u32| self.members[*index as usize].0.entity;
                cluster.iter().map(entity).collect()
            })
            .collect()
    }
}

/// Where a body is, if that is a place.
pub(super) fn pose(body: Option<&RigidBody>) -> Option<Pose> {
    let position = body?.position();
    let pose = Pose::new(position.translation, position.rotation);
    pose.is_finite().then_some(pose)
}

/// Collects the molecules that diffuse when something about them has changed.
pub(super) fn collect_diffusing(
    config: Res<BrownianMotionConfig>,
    mut worlds: Query<(Entity, &mut MoleculeWorld, &RapierRigidBodySet)>,
    molecules: Query<(&PreparedMolecule, Option<&BrownianMotion>)>,
    changed: Query<(), (With<PreparedMolecule>, Changed<BrownianMotion>)>,
    mut removed: RemovedComponents<BrownianMotion>,
) {
    let any = !changed.is_empty() || removed.read().count() > 0 || config.is_changed();
    if config.is_changed() && (config.pace.is_nan() || config.pace < 0.0) {
        error!(
            "nothing diffuses: the pace of BrownianMotionConfig, {}, has to be a number of at \
             least zero",
            config.pace
        );
    }
    for (context, mut world, bodies) in &mut worlds {
        if world.diffusing.collected && !any {
            continue;
        }
        let MoleculeWorld {
            diffusing, members, ..
        } = &mut *world;
        diffusing.collected = true;
        diffusing.said = [false; 2];
        if let Err(error) = diffusing.rebuild(members, &bodies.bodies, &molecules, &config) {
            error!("the molecules of context {context} do not diffuse: {error}");
            diffusing.crowd = None;
        }
    }
}
