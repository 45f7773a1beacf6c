//! The relaxer in a periodic box: images push each other apart like any other molecules.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{
    CoarseStart, DeviceScene, ReactionLaw, RelaxConfig, RelaxError, Relaxer, StopReason,
};
use bevy_rapier_molecules::search::AutoGrid;
use glam::{DMat3, DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::carbons::{free_crowd, rod};
use crate::common::thread_pool::with_threads;

fn molecule(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// Copies of a molecule at random poses in a periodic box, some of them some edges outside.
fn random_crowd(template: Arc<MoleculeTemplate>, count: usize, size: Vec3) -> Crowd {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut vector = || {
        let [x, y, z] = [(); 3].map(|()| random.random::<f32>());
        Vec3::new(x, y, z)
    };
    let mut crowd = Crowd::new();
    crowd.set_periodic_box(Some(PeriodicBox::new(size).unwrap()));
    let template = crowd.add_template(template);
    for k in 0..count {
        let edges = (5.0 * vector()).floor() - 2.0;
        let position = (vector() + if k % 3 == 0 { edges } else { Vec3::ZERO }) * size;
        let pose = Pose::new(position, Quat::from_scaled_axis(6.0 * vector()));
        let member = CrowdMember {
            template,
            pose,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

/// Largest overlap of two atoms of different molecules among all images, nm, in 64 bits; compared
/// one by one unless the molecules are too far apart.
fn deepest_overlap(crowd: &Crowd) -> f64 {
    let size = crowd.periodic_box().unwrap().size().as_dvec3();
    let members = crowd.members();
    // Relative to the position of the molecule.
    let placed = |index: usize| -> Vec<(DVec3, f64)> {
        let template = crowd.template_of(&members[index]);
        let rotation = DMat3::from_quat(members[index].pose.rotation.as_dquat());
        let atoms = template.positions().iter().zip(template.radii());
        let place =
            |(center, radius): (&Vec3, &f32)| (rotation * center.as_dvec3(), f64::from(*radius));
        atoms.map(place).collect()
    };
    let placed: Vec<_> = (0..members.len()).map(placed).collect();
    let mut deepest = 0.0_f64;
    for b in 0..members.len() {
        for a in 0..b {
            let pair = [a, b].map(|index| &members[index]);
            let [from, to] = pair.map(|member| member.pose.position.as_dvec3());
            let radii = pair.map(|member| crowd.template_of(member).bounding_radius());
            let nearest = to - from - ((to - from) / size).round() * size;
            for number in 0..5 * 5 * 5 {
                let image = [number / 25, number / 5 % 5, number % 5].map(|k| f64::from(k - 2));
                let offset = nearest + DVec3::from_array(image) * size;
                if offset.length() > f64::from(radii[0] + radii[1]) + 1.0e-3 {
                    continue;
                }
                for one in &placed[a] {
                    for other in &placed[b] {
                        let distance = (offset + other.0 - one.0).length();
                        deepest = deepest.max(one.1 + other.1 - distance);
                    }
                }
            }
        }
    }
    deepest
}

fn run(relaxer: &mut Relaxer) -> StopReason {
    relaxer.run(|_| ControlFlow::Continue(())).unwrap().reason
}

#[test]
fn lipids_in_a_periodic_box_come_to_rest_without_overlaps_of_images() {
    let lipid = molecule("popc.pdb");
    let size = Vec3::new(5.5, 4.5, 6.5);
    for coarse in [None, Some(CoarseStart::FREE)] {
        let crowd = random_crowd(lipid.clone(), 60, size);
        assert!(deepest_overlap(&crowd) > 0.1);
        let config = RelaxConfig {
            coarse,
            ..RelaxConfig::default()
        };
        let mut relaxer = Relaxer::new(crowd, config).unwrap();
        assert_eq!(run(&mut relaxer), StopReason::AtRest);
        assert_eq!(relaxer.status().overlaps, 0);
        assert_eq!(deepest_overlap(relaxer.crowd()), 0.0);
    }
}

#[test]
fn proteins_in_a_periodic_box_come_to_rest_without_overlaps_of_images() {
    let crowd = random_crowd(molecule("1ubq.cif"), 20, Vec3::new(9.0, 7.5, 8.0));
    let config = RelaxConfig::default();
    let mut relaxer = Relaxer::new(crowd, config).unwrap();
    assert!(relaxer.status().overlaps > 1000);
    assert_eq!(run(&mut relaxer), StopReason::AtRest);
    assert_eq!(deepest_overlap(relaxer.crowd()), 0.0);
}

#[test]
fn two_molecules_that_overlap_through_a_face_are_pushed_apart_through_it() {
    let laws = [
        ReactionLaw::default(),
        ReactionLaw::Thesis(ThesisSteps::default()),
    ];
    for law in laws {
        for edges in [0.0, 2.0, -40.0] {
            // Across the faces at y = 0 and y = 2, 0.1 nm apart.
            let far = Vec3::new(0.3, 1.95 + 2.0 * edges, 0.3);
            let mut crowd = free_crowd(rod(3), &[Vec3::new(0.3, 0.05, 0.3), far]);
            crowd.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(2.0)).unwrap()));
            assert!(deepest_overlap(&crowd) > 0.09);
            let config = RelaxConfig {
                law,
                ..RelaxConfig::default()
            };
            let mut relaxer = Relaxer::new(crowd, config).unwrap();
            let first = relaxer.step().unwrap();
            assert!(first.max_penetration_nm < 0.1, "{first:?}");
            assert_eq!(run(&mut relaxer), StopReason::AtRest, "{law:?}");
            assert!(deepest_overlap(relaxer.crowd()) < 1.0e-5);
            let [one, other] = [0, 1].map(|k| relaxer.crowd().members()[k].pose.position);
            // Away from the face, and by the same distance.
            assert!(one.y > 0.09 && other.y < far.y - 0.04, "{one} {other}");
            let sum = one + other - Vec3::new(0.6, 2.0 + 2.0 * edges, 0.6);
            assert!(sum.length() < 1.0e-4, "{sum}");
        }
    }
}

#[test]
fn coincident_molecules_in_a_periodic_box_are_pushed_apart() {
    let edges = [Vec3::ZERO, Vec3::X, Vec3::Y * -3.0, Vec3::ONE * 7.0];
    let mut crowd = free_crowd(rod(2), &edges.map(|edges| edges * 2.0));
    crowd.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(2.0)).unwrap()));
    let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
    assert_eq!(run(&mut relaxer), StopReason::AtRest);
    assert_eq!(deepest_overlap(relaxer.crowd()), 0.0);
}

#[test]
fn fixed_molecules_in_a_periodic_box_push_images_of_others() {
    let mut crowd = free_crowd(rod(2), &[Vec3::splat(0.05)]);
    let fixed = CrowdMember {
        pose: Pose::from_translation(Vec3::splat(1.95)),
        fixed: true,
        ..CrowdMember::default()
    };
    crowd.add_member(fixed).unwrap();
    crowd.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(2.0)).unwrap()));
    let mut relaxer = Relaxer::new(crowd.clone(), RelaxConfig::default()).unwrap();
    assert_eq!(run(&mut relaxer), StopReason::AtRest);
    assert_eq!(relaxer.crowd().members()[1], fixed);
    assert_eq!(deepest_overlap(relaxer.crowd()), 0.0);
    // Two fixed ones overlap through the corner.
    let also_fixed = CrowdMember {
        pose: Pose::from_translation(Vec3::splat(4.05)),
        ..fixed
    };
    crowd.add_member(also_fixed).unwrap();
    let error = Relaxer::new(crowd, RelaxConfig::default()).err();
    let expected = [1, 2];
    assert!(
        matches!(error, Some(RelaxError::FixedOverlap { molecules, .. }) if molecules == expected),
        "{error:?}"
    );
}

#[test]
fn a_periodic_relaxation_does_not_depend_on_the_number_of_threads() {
    let lipid = molecule("popc.pdb");
    let runs = [1, 2, 3].map(|threads| {
        with_threads(threads, || {
            let crowd = random_crowd(lipid.clone(), 80, Vec3::new(6.0, 4.5, 6.0));
            let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
            for _ in 0..20 {
                relaxer.step().unwrap();
            }
            relaxer.crowd().members().to_vec()
        })
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn a_molecule_larger_than_the_periodic_box_is_named() {
    let protein = molecule("1ubq.cif");
    let width = 2.0 * protein.bounding_radius();
    let name = protein.name().to_owned();
    let config = RelaxConfig::default();
    let crowd = |edge: f32| random_crowd(protein.clone(), 2, Vec3::new(20.0, 20.0, edge));
    let error = Relaxer::new(crowd(width), config).err().unwrap();
    match &error {
        RelaxError::LargerThanBox {
            name: found,
            diameter,
            edge,
        } => {
            assert_eq!((found, *edge), (&name, width));
            assert!(*diameter > width && *diameter < width + 0.1);
        }
        other => panic!("{other}"),
    }
    let text = error.to_string();
    assert!(
        text.contains(&name) && text.contains(&width.to_string()),
        "{text}"
    );

    let mut relaxer = Relaxer::new(crowd(width + 0.1), config).unwrap();
    let before = *relaxer.config();
    let wider = RelaxConfig {
        clearance: 0.2,
        ..config
    };
    let error = relaxer.set_config(wider);
    assert!(matches!(error, Err(RelaxError::LargerThanBox { .. })));
    assert_eq!(*relaxer.config(), before);
}

/// Proxies are larger than the molecule.
#[test]
fn proxies_that_do_not_fit_into_the_periodic_box_are_not_used() {
    let protein = molecule("1ubq.cif");
    let width = 2.0 * protein.bounding_radius();
    let coarse = Some(CoarseStart {
        radius_scale: 1.5,
        ..CoarseStart::FREE
    });
    let config = RelaxConfig {
        coarse,
        ..RelaxConfig::default()
    };
    for (edge, is_coarse) in [(width + 0.1, false), (3.0 * width, true)] {
        let crowd = random_crowd(protein.clone(), 2, Vec3::splat(edge));
        let mut crowd_at_same_place = crowd.clone();
        let pose = crowd.members()[0].pose;
        let member = CrowdMember {
            pose,
            ..CrowdMember::default()
        };
        crowd_at_same_place.add_member(member).unwrap();
        let relaxer = Relaxer::new(crowd_at_same_place, config).unwrap();
        assert_eq!(relaxer.is_coarse(), is_coarse, "{edge}");
    }
    // A clearance that leaves no space for proxies ends the coarse start.
    let crowd = random_crowd(protein.clone(), 12, Vec3::splat(2.0 * width));
    let mut relaxer = Relaxer::new(crowd, config).unwrap();
    assert!(relaxer.is_coarse());
    let clearance = 0.9 * width;
    let wider = RelaxConfig {
        clearance,
        ..config
    };
    relaxer.set_config(wider).unwrap();
    assert!(!relaxer.is_coarse());
    relaxer.step().unwrap();
}

#[test]
fn a_search_over_all_atoms_is_an_error_in_a_periodic_box() {
    let crowd = random_crowd(rod(3), 4, Vec3::splat(1.0));
    let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
    relaxer.set_search(Some(Box::new(AutoGrid::new())));
    let error = relaxer.step().unwrap_err();
    assert!(
        matches!(error, RelaxError::PeriodicSearch { .. }),
        "{error}"
    );
    relaxer.set_search(None);
    assert!(relaxer.step().is_ok());
}

#[test]
fn devices_leave_periodic_boxes_to_the_cpu() {
    let crowd = random_crowd(rod(3), 20, Vec3::splat(1.0));
    let create = |_: &DeviceScene<'_>| panic!("no device is created");
    let config = RelaxConfig::default();
    let mut offloaded = Relaxer::with_device_relaxer(crowd.clone(), config, create).unwrap();
    let feature = "a periodic box";
    let expected = DeviceError::Unsupported { feature };
    assert_eq!(offloaded.device_error(), Some(&expected));
    let mut relaxer = Relaxer::new(crowd, config).unwrap();
    assert_eq!(offloaded.step().unwrap(), relaxer.step().unwrap());
    assert_eq!(offloaded.crowd().members(), relaxer.crowd().members());
}
