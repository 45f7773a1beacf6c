//! Compares a crowd on the device with the CPU reference.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMaterial, ContactMember, CrowdContacts, CrowdTouch, ExternalBody, ExternalContact,
    Impulse,
};
use bevy_rapier_molecules::gpu::{GpuContactSolver, GpuDevice};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::common::small_world::{Molecule, SmallWorld, ball, real, sled};

/// Length of a substep, s.
pub const SUBSTEP: f32 = 1.0 / 240.0;

/// Maximum median relative difference of impulses.
pub const MAX_MEDIAN_DIFFERENCE: f32 = 3.0e-6;

/// Maximum difference, as a fraction of the largest impulse.
pub const MAX_DIFFERENCE: f32 = 1.0e-4;

/// A world solved on the CPU, and a crowd on the device that gets the same bodies.
pub struct Comparison {
    pub world: SmallWorld,
    pub device: CrowdContacts,
}

impl Comparison {
    pub fn new(world: SmallWorld, device: &Arc<GpuDevice>) -> Self {
        let mut contacts = CrowdContacts::default();
        contacts.config = world.contacts.config;
        let members: Vec<ContactMember> = world.contacts.members().to_vec();
        contacts.set_members(members).unwrap();
        let solver = GpuContactSolver::new(Arc::clone(device)).unwrap();
        contacts.set_device_solver(Box::new(solver), true);
        Self {
            world,
            device: contacts,
        }
    }

    /// One substep of both; the world advances by the result of the CPU.
    pub fn step(&mut self) {
        self.step_with(&[], &[]);
    }

    /// As [`step`](Self::step), with external contacts.
    pub fn step_with(&mut self, bodies: &[ExternalBody], external: &[ExternalContact]) {
        self.solve_with(bodies, external);
        self.assert_same_touches();
        assert_eq!(self.device.to_wake(), self.world.contacts.to_wake());
        self.world.advance(SUBSTEP);
    }

    /// Both detect the same. A device does not report which members have pushed each other.
    pub fn assert_same_touches(&self) {
        let detected = |contacts: &CrowdContacts| -> Vec<CrowdTouch> {
            let mut touches = contacts.touches().to_vec();
            for touch in &mut touches {
                touch.pushed = false;
            }
            touches
        };
        assert_eq!(detected(&self.device), detected(&self.world.contacts));
    }

    /// Finds and solves the contacts of both.
    pub fn solve_with(&mut self, bodies: &[ExternalBody], external: &[ExternalContact]) {
        let (molecules, gravity) = (&self.world.molecules, self.world.gravity);
        for contacts in [&mut self.world.contacts, &mut self.device] {
            contacts
                .gather(|member| Some(molecules[member.index()].body(gravity)))
                .unwrap();
            contacts.detect().unwrap();
            contacts.set_external_contacts(bodies, external.iter().copied());
            contacts.respond(SUBSTEP);
        }
        let candidates = self.world.contacts.candidate_pairs();
        assert_eq!(self.device.candidate_pairs(), candidates);
    }

    /// The impulses of both, body by body: CPU, device.
    pub fn impulses(&self) -> Vec<[Impulse; 2]> {
        let all = |contacts: &CrowdContacts| {
            let members = contacts.impulses().map(|(_, impulse)| impulse);
            members
                .chain(contacts.external_impulses())
                .collect::<Vec<_>>()
        };
        let (cpu, gpu) = (all(&self.world.contacts), all(&self.device));
        assert_eq!(cpu.len(), gpu.len());
        cpu.into_iter()
            .zip(gpu)
            .map(|(cpu, gpu)| [cpu, gpu])
            .collect()
    }

    /// Asserts that the impulses are equal bit for bit.
    #[track_caller]
    pub fn assert_equal(&self) {
        assert!(self.impulses().iter().all(|[cpu, device]| cpu == device));
    }

    /// Asserts that the impulses agree within `tolerance` times the limits of one substep.
    #[track_caller]
    pub fn assert_close(&self, tolerance: f32) {
        let impulses = self.impulses();
        let pick = |part: fn(&Impulse) -> Vec3| {
            impulses
                .iter()
                .map(|[cpu, gpu]| (part(cpu), part(gpu)))
                .collect::<Vec<_>>()
        };
        assert_pairs("linear", &pick(|impulse| impulse.linear), tolerance);
        assert_pairs("angular", &pick(|impulse| impulse.angular), tolerance);
    }
}

#[track_caller]
fn assert_pairs(kind: &str, pairs: &[(Vec3, Vec3)], tolerance: f32) {
    let largest = pairs
        .iter()
        .map(|(cpu, _)| cpu.length())
        .fold(0.0, f32::max);
    assert!(pairs.iter().all(|(_, gpu)| gpu.is_finite()));
    let worst = pairs.iter().map(|(cpu, gpu)| cpu.distance(*gpu));
    let worst = worst.fold(0.0, f32::max);
    assert!(
        worst <= MAX_DIFFERENCE * tolerance * largest,
        "{kind}: {worst} of {largest}"
    );
    let moved = pairs.iter().filter(|(cpu, _)| *cpu != Vec3::ZERO);
    let mut relative: Vec<f32> = moved
        .map(|(cpu, gpu)| cpu.distance(*gpu) / cpu.length())
        .collect();
    relative.sort_unstable_by(f32::total_cmp);
    if let Some(median) = relative.get(relative.len() / 2) {
        assert!(
            *median <= MAX_MEDIAN_DIFFERENCE * tolerance,
            "{kind}: median {median}"
        );
    }
}

/// A vesicle of lipids, which overlap at the start.
pub fn lipids(outer: u32, inner: u32, radius: f32) -> SmallWorld {
    let lipid = real("popc.pdb");
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer,
            inner,
            radius,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(Arc::clone(&lipid), &config).unwrap();
    let members = vesicle.crowd.members().iter();
    let molecules = members
        .map(|member| Molecule::new(&lipid, member.pose.position).turned(member.pose.rotation));
    SmallWorld::new(molecules.collect(), ContactMaterial::default())
}

/// Sleds and balls that fall onto fixed sleds and each other.
pub fn heap(size: usize) -> SmallWorld {
    let mut random = Pcg32::seed_from_u64(11);
    let kinds: [Arc<MoleculeTemplate>; 2] = [ball(), sled()];
    let mut molecules: Vec<Molecule> = (0..49)
        .map(|k| {
            let position = Vec3::new((k % 7) as f32, -1.0, (k / 7) as f32);
            Molecule::new(&kinds[1], (position - Vec3::new(3.0, 0.0, 3.0)) * 0.2).fixed()
        })
        .collect();
    for k in 0..size {
        let mut number = || random.random::<f32>() - 0.5;
        let shift = Vec3::new(number(), 0.0, number()) * 0.3;
        let height = Vec3::Y * (0.02 + 0.15 * (k / 4) as f32);
        let corner = Vec3::new((k % 2) as f32, 0.0, (k / 2 % 2) as f32) * 0.4;
        let rotation = Quat::from_euler(glam::EulerRot::XYZ, number(), number(), number());
        let velocity = Vec3::new(number(), number() - 1.0, number());
        molecules.push(
            Molecule::new(&kinds[k % 2], height + corner + shift)
                .turned(rotation)
                .moving(velocity),
        );
    }
    let material = ContactMaterial {
        restitution: 0.3,
        ..ContactMaterial::default()
    };
    let mut world = SmallWorld::new(molecules, material);
    world.gravity = Vec3::Y * -9.81;
    world
}
