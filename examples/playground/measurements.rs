//! Measurements of the scene: energies, overlaps, escaped molecules, and a hash of its state.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::search::{AutoGrid, PairBuffer, PairSearch};
use bevy_rapier_molecules::spheres::SphereSet;
use bevy_rapier3d::prelude::{RapierRigidBodyHandle, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::RigidBody;

use super::common::AnyError;
use super::scene::ScenePlan;

/// Measurements of all Rapier bodies.
#[derive(Default)]
pub struct Measurements {
    pub molecules: usize,
    pub atoms: usize,
    /// Dynamic bodies other than molecules.
    pub things: usize,
    /// Kinetic energy of all molecules, translation and rotation, Da·nm²/s².
    pub kinetic_energy: f64,
    /// Sum of the squared speeds of the molecules, nm²/s².
    pub squared_speeds: f64,
    /// Sleeping molecules.
    pub sleeping: usize,
    /// Molecules outside the box.
    pub outside: usize,
    /// Bodies whose pose or velocity is not finite.
    pub non_finite: usize,
    pub overlap: Overlap,
    /// FNV-1a hash of the bits of all poses and velocities, in the order of the entities.
    pub state_hash: u64,
}

/// The deepest overlap of two atoms of different molecules.
#[derive(Clone, Copy, Default)]
pub struct Overlap {
    /// Penetration depth, nm.
    pub depth: f32,
    /// Penetration depth over the smaller radius.
    pub share: f32,
    /// Number of overlapping pairs of atoms.
    pub pairs: usize,
}

impl Measurements {
    /// Measures the Rapier bodies of a world.
    pub fn of(world: &mut World) -> Result<Self, AnyError> {
        let mut handles =
            world.query::<(Entity, &RapierRigidBodyHandle, Option<&PreparedMolecule>)>();
        let mut contexts = world.query::<&RapierRigidBodySet>();
        let mut found: Vec<_> = handles.iter(world).collect();
        found.sort_unstable_by_key(|(entity, ..)| *entity);
        let bodies = &contexts.single(world)?.bodies;
        let plan = world.resource::<ScenePlan>();

        let mut measured = Self::default();
        let mut hash = Fnv::default();
        let mut placed = Vec::new();
        for (_, handle, molecule) in found {
            let Some(body) = bodies.get(handle.0) else {
                continue;
            };
            let finite = hash.add_body(body);
            measured.non_finite += usize::from(!finite);
            let Some(molecule) = molecule else {
                measured.things += usize::from(body.is_dynamic());
                continue;
            };
            let template = molecule.template().clone();
            let position = body.position();
            measured.molecules += 1;
            measured.atoms += template.atom_count();
            measured.kinetic_energy += f64::from(body.kinetic_energy());
            measured.squared_speeds += f64::from(body.linvel().length_squared());
            measured.sleeping += usize::from(body.is_sleeping());
            measured.outside += usize::from(plan.is_outside(position.translation));
            if finite {
                placed.push((template, Pose::new(position.translation, position.rotation)));
            }
        }
        measured.overlap = deepest_overlap(&placed)?;
        measured.state_hash = hash.0;
        Ok(measured)
    }
}

/// Finds the deepest overlap independently of the plugin.
fn deepest_overlap(molecules: &[(Arc<MoleculeTemplate>, Pose)]) -> Result<Overlap, AnyError> {
    let placed = molecules
        .iter()
        .map(|(template, pose)| (&**template, *pose));
    let spheres = SphereSet::from_molecules(placed)?;
    let mut pairs = PairBuffer::new();
    AutoGrid::new().find_pairs(&spheres, 0.0, &mut pairs)?;
    let mut deepest = Overlap {
        pairs: pairs.len(),
        ..Overlap::default()
    };
    for pair in pairs.iter() {
        let (a, b) = (pair.a as usize, pair.b as usize);
        let (one, other) = (spheres.radius(a), spheres.radius(b));
        let depth = one + other - spheres.center(a).distance(spheres.center(b));
        if depth > deepest.depth {
            deepest.depth = depth;
            deepest.share = depth / one.min(other);
        }
    }
    Ok(deepest)
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo).
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Hashes the pose and velocity of a body. Returns whether all numbers are finite.
    fn add_body(&mut self, body: &RigidBody) -> bool {
        let pose = body.position();
        let numbers = [
            &pose.translation.to_array()[..],
            &pose.rotation.to_array()[..],
            &body.linvel().to_array()[..],
            &body.angvel().to_array()[..],
        ]
        .concat();
        for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        numbers.iter().all(|number| number.is_finite())
    }
}
