//! A crowd on the processor and its twin on the device, fed the same bodies.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMaterial, ContactMember, CrowdContacts, ExternalBody, ExternalContact, Impulse,
};
use bevy_rapier_molecules::gpu::{GpuContactSolver, GpuDevice};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, vesicle};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::common::small_world::{Molecule, SmallWorld, ball, real, sledge};

/// Length of a substep, s.
pub const SUBSTEP: f32 = 1.0 / 240.0;

/// Median relative difference of impulses that is allowed.
pub const MEDIAN_DIFFERENCE: f32 = 3.0e-6;

/// Largest difference that is allowed, as a fraction of the largest impulse.
pub const LARGEST_DIFFERENCE: f32 = 1.0e-4;

/// The processor's world, and what a device makes of it.
pub struct Twins {
    pub world: SmallWorld,
    pub device: CrowdContacts,
}

impl Twins {
    pub fn new(world: SmallWorld, device: &Arc<GpuDevice>) -> Self {
        let mut twin = CrowdContacts::default();
        twin.config = world.contacts.config;
        let members: Vec<ContactMember> = world.contacts.members().to_vec();
        twin.set_members(members).unwrap();
        let engine = GpuContactSolver::new(Arc::clone(device)).unwrap();
        twin.set_device_solver(Box::new(engine), true);
        Self {
            world,
            device: twin,
        }
    }

    /// One substep of both; the world goes on by the processor's answer.
    pub fn step(&mut self) {
        self.step_on(&[], &[]);
    }

    /// As [`step`](Self::step), with something outside to lean on.
    pub fn step_on(&mut self, obstacles: &[ExternalBody], supports: &[ExternalContact]) {
        self.solve_on(obstacles, supports);
        assert_eq!(self.device.touches(), self.world.contacts.touches());
        self.world.go_on(SUBSTEP);
    }

    /// Finds and solves the contacts of both.
    pub fn solve_on(&mut self, obstacles: &[ExternalBody], supports: &[ExternalContact]) {
        let (molecules, gravity) = (&self.world.molecules, self.world.gravity);
        for contacts in [&mut self.world.contacts, &mut self.device] {
            contacts
                .gather(|member| Some(molecules[member].body(gravity)))
                .unwrap();
            contacts.detect().unwrap();
            contacts.set_external_contacts(obstacles, supports.iter().copied());
            contacts.respond(SUBSTEP);
        }
        let candidates = self.world.contacts.candidate_pairs();
        assert_eq!(self.device.candidate_pairs(), candidates);
        assert_eq!(self.device.to_wake(), self.world.contacts.to_wake());
    }

    /// Both answers, body by body.
    pub fn answers(&self) -> Vec<[Impulse; 2]> {
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

    /// Checks that the answers agree, up to `slack` times what is allowed in one substep.
    #[track_caller]
    pub fn assert_close(&self, slack: f32) {
        let answers = self.answers();
        let pick = |each: fn(&Impulse) -> Vec3| {
            answers
                .iter()
                .map(|[cpu, gpu]| (each(cpu), each(gpu)))
                .collect::<Vec<_>>()
        };
        assert_pairs("linear", &pick(|impulse| impulse.linear), slack);
        assert_pairs("angular", &pick(|impulse| impulse.angular), slack);
    }
}

#[track_caller]
fn assert_pairs(kind: &str, pairs: &[(Vec3, Vec3)], slack: f32) {
    let largest = pairs
        .iter()
        .map(|(cpu, _)| cpu.length())
        .fold(0.0, f32::max);
    assert!(pairs.iter().all(|(_, gpu)| gpu.is_finite()));
    let worst = pairs.iter().map(|(cpu, gpu)| cpu.distance(*gpu));
    let worst = worst.fold(0.0, f32::max);
    assert!(
        worst <= LARGEST_DIFFERENCE * slack * largest,
        "{kind}: {worst} of {largest}"
    );
    let moved = pairs.iter().filter(|(cpu, _)| *cpu != Vec3::ZERO);
    let mut relative: Vec<f32> = moved
        .map(|(cpu, gpu)| cpu.distance(*gpu) / cpu.length())
        .collect();
    relative.sort_unstable_by(f32::total_cmp);
    if let Some(median) = relative.get(relative.len() / 2) {
        assert!(
            *median <= MEDIAN_DIFFERENCE * slack,
            "{kind}: median {median}"
        );
    }
}

/// A vesicle of real lipids, which overlap at the start.
pub fn lipids(outer: u32, inner: u32, radius: f32) -> SmallWorld {
    let lipid = real("popc.pdb");
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer,
            inner,
            radius,
        },
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(Arc::clone(&lipid), &config).unwrap();
    let members = vesicle.crowd.members().iter();
    let molecules = members
        .map(|member| Molecule::new(&lipid, member.pose.position).turned(member.pose.rotation));
    SmallWorld::new(molecules.collect(), ContactMaterial::default())
}

/// Sledges and balls that fall onto fixed ones, on top of each other.
pub fn heap(size: usize) -> SmallWorld {
    let mut random = Pcg32::seed_from_u64(11);
    let kinds: [Arc<MoleculeTemplate>; 2] = [ball(), sledge()];
    let mut molecules: Vec<Molecule> = (0..49)
        .map(|k| {
            let place = Vec3::new((k % 7) as f32, -1.0, (k / 7) as f32);
            Molecule::new(&kinds[1], (place - Vec3::new(3.0, 0.0, 3.0)) * 0.2).fixed()
        })
        .collect();
    for k in 0..size {
        let mut number = || random.random::<f32>() - 0.5;
        let shift = Vec3::new(number(), 0.0, number()) * 0.3;
        let place = Vec3::Y * (0.02 + 0.15 * (k / 4) as f32);
        let corner = Vec3::new((k % 2) as f32, 0.0, (k / 2 % 2) as f32) * 0.4;
        let turn = Quat::from_euler(glam::EulerRot::XYZ, number(), number(), number());
        let speed = Vec3::new(number(), number() - 1.0, number());
        molecules.push(
            Molecule::new(&kinds[k % 2], place + corner + shift)
                .turned(turn)
                .moving(speed),
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
