//! What the scene is like: energies, overlaps, strays, and a fingerprint of its bits.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::{RapierRigidBodyHandle, RapierRigidBodySet};
use bevy_rapier3d::rapier::dynamics::RigidBody;

use super::common::AnyError;
use super::scene::Standing;

/// What was measured.
#[derive(Default)]
pub struct Figures {
    pub molecules: usize,
    pub atoms: usize,
    /// Bodies that are not molecules and may move.
    pub things: usize,
    /// Translation and rotation of all molecules, Da·nm²/s².
    pub kinetic_energy: f64,
    /// Sum of the squared speeds of the molecules, nm²/s².
    pub squared_speeds: f64,
    /// Molecules that sleep.
    pub sleeping: usize,
    /// Molecules outside of the box.
    pub outside: usize,
    /// Bodies whose pose or velocity is not finite.
    pub non_finite: usize,
    pub overlap: Overlap,
    /// FNV-1a of the bits of poses and velocities of all bodies, by entity.
    pub state_hash: u64,
}

/// The deepest overlap of two atoms of different molecules.
#[derive(Clone, Copy, Default)]
pub struct Overlap {
    /// How far they are in each other, nm.
    pub depth: f32,
    /// The same as a share of the smaller radius.
    pub share: f32,
    /// Number of pairs of atoms that overlap.
    pub pairs: usize,
}

/// Measures the scene from the Rapier bodies.
pub fn measure(world: &mut World) -> Result<Figures, AnyError> {
    let mut handles = world.query::<(Entity, &RapierRigidBodyHandle, Option<&PreparedMolecule>)>();
    let mut contexts = world.query::<&RapierRigidBodySet>();
    let mut found: Vec<_> = handles.iter(world).collect();
    found.sort_unstable_by_key(|(entity, ..)| *entity);
    let bodies = &contexts.single(world)?.bodies;
    let plan = world.resource::<Standing>();

    let mut figures = Figures::default();
    let mut hash = Fnv::default();
    let mut placed = Vec::new();
    for (_, handle, molecule) in found {
        let Some(body) = bodies.get(handle.0) else {
            continue;
        };
        let finite = hash.add_body(body);
        figures.non_finite += usize::from(!finite);
        let Some(molecule) = molecule else {
            figures.things += usize::from(body.is_dynamic());
            continue;
        };
        let template = molecule.shared().template().clone();
        let position = body.position();
        figures.molecules += 1;
        figures.atoms += template.atom_count();
        figures.kinetic_energy += f64::from(body.kinetic_energy());
        figures.squared_speeds += f64::from(body.linvel().length_squared());
        figures.sleeping += usize::from(body.is_sleeping());
        figures.outside += usize::from(plan.is_outside(position.translation));
        if finite {
            placed.push((template, Pose::new(position.translation, position.rotation)));
        }
    }
    figures.overlap = deepest_overlap(&placed)?;
    figures.state_hash = hash.0;
    Ok(figures)
}

/// Finds the deepest overlap without anything that the plugin has computed.
fn deepest_overlap(molecules: &[(Arc<MoleculeTemplate>, Pose)]) -> Result<Overlap, AnyError> {
    let placed = molecules
        .iter()
        .map(|(template, pose)| (&**template, *pose));
    let spheres = SphereSet::from_molecules(placed)?;
    let mut pairs = PairBuffer::new();
    UniformGrid::new().find_pairs(&spheres, 0.0, &mut pairs)?;
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

/// The hash of Fowler, Noll and Vo (1a, 64 bits).
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Takes in the pose and velocity of a body. Returns whether all of it is finite.
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
