//! Edits of a crowd between two iterations, against a relaxer that starts with the edited crowd.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{CrowdEdit, RelaxConfig, Relaxer};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Edge of the box, nm.
const EDGE: f32 = 9.0;

fn template(spheres: usize) -> Arc<MoleculeTemplate> {
    let spheres: Vec<(Vec3, f32)> = (0..spheres)
        .map(|k| (Vec3::X * 0.3 * k as f32, 0.2))
        .collect();
    Arc::new(MoleculeTemplate::coarse("rod", &spheres).unwrap())
}

fn member(random: &mut Pcg64Mcg) -> CrowdMember {
    let [x, y, z, a, b, c] = [(); 6].map(|()| random.random::<f32>());
    CrowdMember {
        template: 0,
        pose: Pose::new(
            Vec3::new(x, y, z) * EDGE,
            Quat::from_scaled_axis(6.0 * Vec3::new(a, b, c)),
        ),
        ..CrowdMember::default()
    }
}

fn crowd(members: usize, periodic: bool, random: &mut Pcg64Mcg) -> Crowd {
    let mut crowd = Crowd::new();
    crowd.add_template(template(4));
    for _ in 0..members {
        crowd.add_member(member(random)).unwrap();
    }
    crowd.set_periodic_box(periodic.then(|| PeriodicBox::new(Vec3::splat(EDGE)).unwrap()));
    crowd
}

/// Compares the status with that of a search from scratch. Depths are rounded differently, since the
/// two molecules of a pair may change places.
fn check_status(relaxer: &Relaxer) {
    let searched = Relaxer::new(relaxer.crowd().clone(), RelaxConfig::default()).unwrap();
    let [one, other] = [relaxer, &searched].map(Relaxer::status);
    assert_eq!(
        (one.overlaps, one.unresolved),
        (other.overlaps, other.unresolved)
    );
    assert!((one.max_penetration_nm - other.max_penetration_nm).abs() < 1.0e-5);
}

#[test]
fn an_edited_crowd_has_the_contacts_of_a_new_one() {
    for periodic in [false, true] {
        let mut random = Pcg64Mcg::seed_from_u64(4);
        let crowd = crowd(120, periodic, &mut random);
        let mut relaxer = Relaxer::new(crowd, RelaxConfig::default()).unwrap();
        for round in 0..60 {
            relaxer.set_local_motion(round % 3 > 0);
            let count = relaxer.crowd().members().len() as u32;
            let mut edit = CrowdEdit::default();
            if round % 20 == 7 {
                edit.templates.push(template(2 + round));
            }
            // More than are inserted one by one.
            let added = if round == 31 {
                150
            } else {
                random.random_range(0..4)
            };
            for _ in 0..added {
                edit.added.push(member(&mut random));
            }
            for _ in 0..random.random_range(0..4) {
                edit.removed.push(random.random_range(0..count));
            }
            let pose = member(&mut random).pose;
            edit.poses.push((random.random_range(0..count), pose));
            let indices = relaxer.edit(&edit).unwrap();

            let mut kept = 0;
            for (index, new) in indices.iter().zip(0..).map(|(new, old)| (old, *new)) {
                assert_eq!(new.is_none(), edit.removed.contains(&index));
                if let Some(new) = new {
                    assert_eq!(new, kept, "in the same order");
                    kept += 1;
                }
            }
            let members = relaxer.crowd().members();
            assert_eq!(members.len() as u32, kept + added);
            check_status(&relaxer);
            relaxer.step().unwrap();
            check_status(&relaxer);
        }
        assert!(
            relaxer
                .run(|_| ControlFlow::Continue(()))
                .unwrap()
                .converged()
        );
    }
}

#[test]
fn a_failed_edit_changes_nothing() {
    let mut random = Pcg64Mcg::seed_from_u64(9);
    let mut relaxer = Relaxer::new(crowd(30, true, &mut random), RelaxConfig::default()).unwrap();
    let (members, status) = (relaxer.crowd().members().to_vec(), relaxer.status());
    let new = member(&mut random);
    let with = |change: fn(&mut CrowdEdit)| {
        let mut edit = CrowdEdit {
            added: vec![new],
            ..CrowdEdit::default()
        };
        change(&mut edit);
        edit
    };
    let cases: [(CrowdEdit, &str); 4] = [
        (
            with(|edit| edit.removed.push(30)),
            "there is no molecule 30 in the crowd: it has 30; add it first",
        ),
        (
            with(|edit| edit.added[0].template = 1),
            "there is no template 1 in the crowd: it has 1; add it first",
        ),
        (
            with(|edit| edit.poses.push((2, Pose::from_translation(Vec3::NAN)))),
            "molecule 2 needs a finite position and a unit rotation, not [NaN, NaN, NaN] nm and [0, 0, 0, 1]",
        ),
        (
            with(|edit| {
                edit.templates.push(template(40));
                edit.added[0].template = 1;
            }),
            "rod is up to 12.1025 nm wide with the clearance, but the periodic box has an edge of 9 nm: it could touch itself",
        ),
    ];
    for (edit, expected) in cases {
        assert_eq!(relaxer.edit(&edit).unwrap_err().to_string(), expected);
        assert_eq!(relaxer.crowd().members(), members);
        assert_eq!(relaxer.crowd().templates().len(), 1);
        assert_eq!(relaxer.status(), status);
    }
    let unfixed = relaxer.step_with_fixed(&[(3, Pose::IDENTITY)]);
    assert_eq!(
        unfixed.unwrap_err().to_string(),
        "molecule 3 is not fixed: fix it before you move it"
    );
    assert_eq!(relaxer.crowd().members(), members);
}
