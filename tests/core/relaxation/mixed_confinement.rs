//! Molecules in a surface, inside, outside and free, relaxed in one run.

use std::path::Path;
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{Confinement, PlacementError, SphereShell};
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxError, Relaxer};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, vesicle};
use glam::{Quat, Vec3};
use rand::{Rng, RngExt, SeedableRng};

use crate::common::carbons::rod;
use crate::common::thread_pool::with_threads;
use crate::relaxation::fixtures::{SLACK, bits, excess_by_hand, out_of_place, overlaps, relaxed};

const RADIUS: f32 = 4.4;

/// Depth and height of the solvent, nm: beyond the heads of the lipids.
const SOLVENT_NM: f32 = 2.4;

const INSIDE: usize = 16;

fn asset(file: &str) -> MoleculeTemplate {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules");
    load(path.join(file), &LoadOptions::default()).unwrap()
}

fn random_pose(length: f32, random: &mut dyn Rng) -> Pose {
    let mut vector = || Vec3::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)));
    let direction = vector().normalize();
    Pose::new(direction * length, Quat::from_scaled_axis(vector() * 3.0))
}

/// A vesicle of lipids with p-xylenes inside that start in a heap and in the membrane, proteins
/// outside of which some start too deep, and a free protein in the membrane.
fn cell() -> Crowd {
    let lipid = asset("popc.pdb").with_uniform_radius(0.1).unwrap();
    let size = VesicleSize::Counts {
        outer: 60,
        inner: 12,
        radius: RADIUS,
    };
    let config = VesicleConfig {
        size,
        ..VesicleConfig::default()
    };
    let mut crowd = vesicle(Arc::new(lipid), &config).unwrap().crowd;
    let xylene = crowd.add_template(Arc::new(asset("p_xylene.pdb")));
    let protein = crowd.add_template(Arc::new(asset("1ubq.cif")));
    let distance = SOLVENT_NM;
    let inside = crowd.add_placement(0, Confinement::Inside { distance });
    let outside = crowd.add_placement(0, Confinement::Outside { distance });
    let (inside, outside) = (inside.unwrap(), outside.unwrap());
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(5);
    let mut add = |template, placement, length| {
        let pose = random_pose(length, &mut random);
        let member = CrowdMember {
            template,
            placement,
            pose,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    };
    for k in 0..INSIDE {
        add(xylene, Some(inside), if k % 4 == 0 { 3.4 } else { 0.6 });
    }
    for k in 0..5 {
        add(protein, Some(outside), if k == 0 { 5.5 } else { 8.0 });
    }
    add(protein, None, 7.0);
    crowd
}

#[test]
fn lipids_solvent_and_free_molecules_come_to_rest_together() {
    let (report, crowd) = relaxed(cell(), RelaxConfig::default());
    assert!(
        report.start.overlaps > 500 && report.start.out_of_place >= 5,
        "{report:?}"
    );
    assert!(report.converged(), "{report:?}");
    assert_eq!(overlaps(&crowd), 0);
    assert_eq!(out_of_place(&crowd), 0);
    // By the distance from the center, without the surface.
    let length =
        |member: &CrowdMember| f64::from(member.pose.position.length()) - f64::from(RADIUS);
    let solvent = &crowd.members()[72..];
    let distance = f64::from(SOLVENT_NM) - SLACK;
    assert!(solvent[..INSIDE].iter().all(|one| length(one) < -distance));
    assert!(
        solvent[INSIDE..INSIDE + 5]
            .iter()
            .all(|one| length(one) > distance)
    );
    assert!(solvent[INSIDE + 5].placement.is_none());
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let run = |threads| {
        let config = RelaxConfig {
            max_iterations: 25,
            ..RelaxConfig::default()
        };
        bits(&with_threads(threads, || relaxed(cell(), config)).1)
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

/// Rods at random in a ball of radius 2 nm, with this confinement in a shell of 3 nm.
fn rods(confinement: Confinement) -> Crowd {
    let mut crowd = Crowd::new();
    let template = crowd.add_template(rod(4));
    let shell = SphereShell::new(Vec3::ZERO, 3.0).unwrap();
    let compartment = crowd.add_compartment(Arc::new(shell));
    let placement = crowd.add_placement(compartment, confinement).unwrap();
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(6);
    for k in 0..40 {
        let member = CrowdMember {
            template,
            placement: Some(placement),
            pose: random_pose(0.05 * k as f32, &mut random),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

#[test]
fn a_new_distance_confines_from_the_next_iteration_on() {
    let start = rods(Confinement::Inside { distance: 0.5 });
    let mut relaxer = Relaxer::new(start, RelaxConfig::default()).unwrap();
    let mut run = |update: Option<Confinement>| {
        if let Some(confinement) = update {
            relaxer
                .update_placements(|place| *place = confinement)
                .unwrap();
            let status = relaxer.status();
            assert_eq!(status.out_of_place, out_of_place(relaxer.crowd()));
            assert!(status.out_of_place > 4, "{confinement:?}: {status:?}");
        }
        while !relaxer.status().is_at_rest() && relaxer.iterations() < 4_000 {
            relaxer.step().unwrap();
        }
        assert!(relaxer.status().is_at_rest(), "{update:?}");
        assert_eq!(overlaps(relaxer.crowd()), 0, "{update:?}");
        assert_eq!(out_of_place(relaxer.crowd()), 0, "{update:?}");
    };
    run(None);
    run(Some(Confinement::Inside { distance: 1.4 }));
    run(Some(Confinement::Outside { distance: 0.2 }));
}

#[test]
fn an_invalid_distance_changes_nothing() {
    let inside = Confinement::Inside { distance: 0.5 };
    let mut relaxer = Relaxer::new(rods(inside), RelaxConfig::default()).unwrap();
    for distance in [f32::NAN, f32::INFINITY] {
        for bad in [
            Confinement::Inside { distance },
            Confinement::Outside { distance },
        ] {
            let error = relaxer.update_placements(|place| *place = bad);
            assert!(
                matches!(
                    error,
                    Err(RelaxError::Placement(PlacementError::BadDistance { .. }))
                ),
                "{error:?}"
            );
            assert_eq!(relaxer.crowd().placements()[0].confinement, inside);
        }
    }
}

#[test]
fn a_crowd_that_does_not_fit_inside_reports_it() {
    // 40 rods of 0.03 nm³ and more in a ball of 0.3 nm.
    let start = rods(Confinement::Inside { distance: 2.7 });
    let config = RelaxConfig {
        max_iterations: 300,
        ..RelaxConfig::default()
    };
    let (report, crowd) = relaxed(start, config);
    assert!(!report.converged());
    assert_eq!(report.end.overlaps, overlaps(&crowd));
    assert_eq!(report.end.out_of_place, out_of_place(&crowd));
    assert!(crowd.members().iter().all(|member| member.pose.is_finite()));
}

#[test]
fn volumes_leave_any_orientation() {
    let crowd = rods(Confinement::Inside { distance: 2.7 });
    let (surface, confinement) = crowd.confinement_of(&crowd.members()[39]).unwrap();
    let excess = confinement.excess(surface, &rod(4), &crowd.members()[39].pose);
    assert!((excess.height - 1.65).abs() < 1.0e-4, "{excess:?}");
    assert_eq!((excess.tilt, excess.axis), (0.0, Vec3::ZERO));
    assert!(surface.normal(Vec3::X).abs_diff_eq(Vec3::X, 1.0e-6));
    // A single molecule far out returns without a turn.
    let member = CrowdMember {
        placement: Some(0),
        pose: Pose::new(Vec3::Y * 30.0, Quat::from_rotation_x(1.0)),
        ..CrowdMember::default()
    };
    let mut alone = Crowd::new();
    alone.add_template(rod(4));
    alone.add_compartment(Arc::clone(&crowd.compartments()[0]));
    alone.add_placement(0, *confinement).unwrap();
    alone.add_member(member).unwrap();
    let (report, alone) = relaxed(alone, RelaxConfig::default());
    assert!(report.converged(), "{report:?}");
    let pose = alone.members()[0].pose;
    assert!(pose.rotation.abs_diff_eq(member.pose.rotation, 1.0e-6));
    assert!(excess_by_hand(&alone, &alone.members()[0])[0] <= SLACK);
}
