//! Runs, and checks by brute force.

use std::ops::ControlFlow;

use bevy_rapier_molecules::compartment::Confinement;
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxReport, Relaxer};
use bevy_rapier_molecules::search::{BruteForce, PairSearch};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

/// Tolerance of the relaxer beyond the leeways: a picometer and a milliradian, plus rounding.
pub const SLACK: f64 = 1.02e-3;

pub fn relaxed(crowd: Crowd, config: RelaxConfig) -> (RelaxReport, Crowd) {
    let mut relaxer = Relaxer::new(crowd, config).unwrap();
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    (report, relaxer.into_crowd())
}

/// Number of pairs of atoms of different molecules that overlap.
pub fn overlaps(crowd: &Crowd) -> u64 {
    let spheres = SphereSet::from_molecules(crowd.instances()).unwrap();
    BruteForce.count_pairs(&spheres, 0.0).unwrap()
}

/// How far a molecule exceeds its leeways, from the distance of its surface alone: nm and radian.
pub fn excess_by_hand(crowd: &Crowd, member: &CrowdMember) -> [f64; 2] {
    let Some((surface, confinement)) = crowd.confinement_of(member) else {
        return [0.0; 2];
    };
    let at = |step: Vec3| f64::from(surface.signed_distance(member.pose.position + step));
    let distance = at(Vec3::ZERO);
    let template = crowd.template_of(member);
    // Of the atom that is furthest on the forbidden side.
    let furthest = |clearance: f32, side: f64| {
        let atoms = template.positions().iter().zip(template.radii());
        let beyond = atoms.map(|(&atom, &radius)| {
            side * at(member.pose.rotation * atom) + f64::from(radius) + f64::from(clearance)
        });
        beyond.fold(f64::NEG_INFINITY, f64::max)
    };
    match *confinement {
        Confinement::Inside { distance: depth } => [distance + f64::from(depth), 0.0],
        Confinement::Outside { distance: height } => [f64::from(height) - distance, 0.0],
        Confinement::WholeInside { clearance } => [furthest(clearance, 1.0), 0.0],
        Confinement::WholeOutside { clearance } => [furthest(clearance, -1.0), 0.0],
        Confinement::Surface(placement) => {
            let height = distance - f64::from(placement.offset());
            let up = (member.pose.rotation * placement.up).as_dvec3();
            let normal = surface.normal(member.pose.position).as_dvec3();
            let cosine = f64::from(placement.leaflet.sign()) * up.dot(normal) / up.length();
            [
                height.abs() - f64::from(placement.leeway),
                cosine.clamp(-1.0, 1.0).acos() - f64::from(placement.tilt_leeway),
            ]
        }
        _ => panic!("unknown confinement"),
    }
}

/// Number of molecules beyond their leeways, except fixed ones.
pub fn out_of_place(crowd: &Crowd) -> u64 {
    let members = crowd.members().iter().filter(|member| !member.fixed);
    let out = members.filter(|member| {
        let excess = excess_by_hand(crowd, member);
        excess.iter().any(|beyond| *beyond > SLACK)
    });
    out.count() as u64
}

/// Position and rotation of each member, bit by bit.
pub fn bits(crowd: &Crowd) -> Vec<[u32; 7]> {
    let bits = crowd.members().iter().map(|member| {
        let (p, r) = (member.pose.position, member.pose.rotation);
        [p.x, p.y, p.z, r.x, r.y, r.z, r.w].map(f32::to_bits)
    });
    bits.collect()
}
