//! Scene queries find what a loop over all atoms finds, to 1e-4 nm.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::rapier::MoleculeShape;
use bevy_rapier3d::parry::math::Pose3;
use bevy_rapier3d::parry::query::{self, ShapeCastOptions};
use bevy_rapier3d::parry::shape::{Ball, Cuboid, HalfSpace, Shape};
use bevy_rapier3d::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::query_oracle::*;
use super::test_app::*;

#[test]
fn rays_hit_the_atom_that_brute_force_finds() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut app, _) = scene(&mut random);
    let all = spheres(&mut app);
    let mut hits = 0;
    for k in 0..600 {
        let far = [8.0, 30.0, 200.0][k % 3];
        let origin = point(&mut random, 1.0).normalize() * far;
        let direction = (point(&mut random, 6.0) - origin) * [1.0, 0.01, 40.0][k % 3];
        let most = [f32::MAX, f32::INFINITY, far][k % 3];
        let hit = ask(&mut app, |molecules| {
            molecules.cast_ray(origin, direction, most, &default())
        });
        hits += usize::from(check_way(&all, hit, (origin, direction, 0.0), most.into()));
    }
    assert!(hits > 100, "{hits}");
}

#[test]
fn a_ray_that_begins_inside_of_an_atom_hits_at_once() {
    let mut random = Pcg64::seed_from_u64(2);
    let (mut app, _) = scene(&mut random);
    for sphere in spheres(&mut app).iter().step_by(97) {
        let origin = sphere.center.as_vec3();
        let hit = ask(&mut app, |molecules| {
            molecules.cast_ray(origin, Vec3::X, 0.0, &default())
        });
        let hit = hit.expect("it begins inside");
        assert_eq!(
            (hit.distance, hit.point.distance(origin) < 1.0e-5),
            (0.0, true)
        );
        assert!((hit.normal.length() - 1.0).abs() < 1.0e-4);
    }
}

#[test]
fn the_nearest_atom_is_that_of_brute_force() {
    let mut random = Pcg64::seed_from_u64(3);
    let (mut app, _) = scene(&mut random);
    let all = spheres(&mut app);
    for k in 0..400 {
        let place = point(&mut random, [3.0, 10.0, 60.0][k % 3]);
        let gap = |sphere: &WorldAtom| sphere.center.distance(place.as_dvec3()) - sphere.radius;
        let most = [f32::INFINITY, 0.5, 0.0][k / 3 % 3];
        let nearest = all.iter().map(gap).min_by(f64::total_cmp).unwrap();
        let found = ask(&mut app, |molecules| {
            molecules.nearest_atom(place, most, &default())
        });
        let Some(found) = found else {
            assert!(nearest > f64::from(most) - TOLERANCE, "{nearest}");
            continue;
        };
        assert!(found.distance <= most);
        assert!((f64::from(found.distance) - nearest).abs() < TOLERANCE);
        let sphere = all.iter().find(|sphere| sphere.is(found)).unwrap();
        assert!((gap(sphere) - nearest).abs() < TOLERANCE);
        let way = found.point.distance(place);
        assert!(
            (way - found.distance.abs()).abs() < TOLERANCE as f32,
            "{found:?}"
        );
    }
}

#[test]
fn a_ball_holds_the_atoms_of_brute_force() {
    let mut random = Pcg64::seed_from_u64(4);
    let (mut app, _) = scene(&mut random);
    let all = spheres(&mut app);
    let mut most = 0;
    for k in 0..200 {
        let center = point(&mut random, 8.0);
        let radius = [0.0, 0.3, 2.0, 7.0, f32::INFINITY][k % 5];
        let found = ask(&mut app, |molecules| {
            molecules.atoms_in_ball(center, radius, &default())
        });
        assert!(found.is_sorted());
        most = most.max(found.len());
        for sphere in &all {
            let gap = sphere.center.distance(center.as_dvec3()) - sphere.radius - f64::from(radius);
            let holds = found.binary_search(&(sphere.molecule, sphere.atom).into());
            assert!(gap.abs() < 1.0e-5 || holds.is_ok() == (gap < 0.0), "{gap}");
        }
    }
    assert_eq!(most, all.len());
}

#[test]
fn a_moving_ball_meets_the_atom_of_the_analytic_minimum() {
    let mut random = Pcg64::seed_from_u64(5);
    let (mut app, _) = scene(&mut random);
    let all = spheres(&mut app);
    let mut hits = 0;
    for k in 0..300 {
        let radius = [0.05, 0.5, 3.0][k % 3];
        let start = point(&mut random, 1.0).normalize() * [9.0, 40.0, 100.0][k / 3 % 3];
        let motion = (point(&mut random, 6.0) - start) * random.random_range(0.3..1.5);
        let pose = Pose::new(start, turn(&mut random));
        let hit = ask(&mut app, |molecules| {
            molecules.cast_shape(&Ball::new(radius), pose, motion, &default())
        });
        let most = f64::from(motion.length());
        hits += usize::from(check_way(&all, hit, (start, motion, radius), most));
    }
    assert!(hits > 100, "{hits}");
}

#[test]
fn moving_boxes_and_planes_meet_the_atoms_that_single_casts_meet() {
    let mut random = Pcg64::seed_from_u64(6);
    let (mut app, _) = scene(&mut random);
    let all = spheres(&mut app);
    let cuboid = Cuboid::new(Vec3::new(0.4, 1.0, 0.2));
    let plane = HalfSpace::new(Vec3::Y);
    for k in 0..24 {
        let shape: &dyn Shape = if k % 2 == 0 { &cuboid } else { &plane };
        let (start, motion) = if k % 2 == 0 {
            let start = point(&mut random, 1.0).normalize() * 20.0;
            (start, (point(&mut random, 4.0) - start) * 1.5)
        } else {
            (Vec3::Y * -30.0, Vec3::Y * 60.0 + point(&mut random, 5.0))
        };
        let pose = Pose::new(start, Quat::from_rotation_z(0.02 * k as f32));
        let hit = ask(&mut app, |molecules| {
            molecules.cast_shape(shape, pose, motion, &default())
        });
        let cast = |sphere: &WorldAtom| {
            query::cast_shapes(
                &Pose3::from_parts(start, pose.rotation),
                motion,
                shape,
                &Pose3::from_translation(sphere.center.as_vec3()),
                Vec3::ZERO,
                &Ball::new(sphere.radius as f32),
                ShapeCastOptions::with_max_time_of_impact(1.0),
            )
            .unwrap()
            .map(|hit| hit.time_of_impact * motion.length())
        };
        let first = all.iter().filter_map(cast).min_by(f32::total_cmp);
        match (hit, first) {
            (Some(hit), Some(first)) => {
                assert!((hit.distance - first).abs() < 2.0e-3, "{first}: {hit:?}");
                let own = all.iter().find(|sphere| sphere.is(hit)).and_then(cast);
                assert!((own.unwrap() - first).abs() < 2.0e-3);
            }
            (None, None) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_moving_molecule_meets_the_atom_of_the_analytic_minimum() {
    let mut random = Pcg64::seed_from_u64(8);
    let (mut app, _) = scene(&mut random);
    let all = spheres(&mut app);
    let shape = MoleculeShape::new(Arc::new(bar()));
    for _ in 0..40 {
        let start = point(&mut random, 1.0).normalize() * 20.0;
        let pose = Pose::new(start, turn(&mut random));
        let motion = (point(&mut random, 4.0) - start) * 2.0;
        let hit = ask(&mut app, |molecules| {
            molecules.cast_shape(&shape, pose, motion, &default())
        });
        let direction = motion.as_dvec3().normalize();
        let meet = |sphere: &WorldAtom| {
            let atoms = shape.template().positions().iter();
            let ways = atoms.filter_map(|atom| {
                let origin = pose.transform_point(*atom).as_dvec3();
                sphere.meet(origin, direction, 0.1).0
            });
            ways.min_by(f64::total_cmp)
        };
        let first = all.iter().filter_map(meet).min_by(f64::total_cmp);
        assert_eq!(hit.is_some(), first.is_some(), "{hit:?} and {first:?}");
        if let (Some(hit), Some(first)) = (hit, first) {
            let own = all.iter().find(|sphere| sphere.is(hit)).and_then(meet);
            for way in [f64::from(hit.distance), own.unwrap()] {
                assert!((way - first).abs() < TOLERANCE, "{first}: {hit:?}");
            }
        }
    }
}

#[test]
fn a_shape_that_rests_hits_what_it_overlaps() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 2);
    let ball = Ball::new(0.1);
    let mut at = |x: f32| {
        let pose = Pose::from_translation(Vec3::X * x);
        ask(&mut app, |molecules| {
            molecules.cast_shape(&ball, pose, Vec3::ZERO, &default())
        })
    };
    let hit = at(0.5).expect("it overlaps the last atom");
    assert_eq!((hit.molecule, hit.atom, hit.distance), (molecule, 6, 0.0));
    assert!(hit.normal.distance(Vec3::X) < 1.0e-4);
    assert_eq!(at(0.6), None);
}

#[test]
fn filters_choose_who_is_asked() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let molecules: Vec<Entity> = (0..3)
        .map(|k| spawn(&mut app, &template, Vec3::Z * k as f32))
        .collect();
    let [near, middle, far] = molecules[..] else {
        unreachable!()
    };
    app.world_mut().entity_mut(middle).insert(CrowdOnly);
    run(&mut app, 2);
    let context = app.world().get::<RapierContextEntityLink>(near).unwrap().0;
    let mut hit = |filter: &MoleculeQueryFilter| {
        ask(&mut app, |molecules| {
            let hit = molecules.cast_ray(Vec3::Z * -5.0, Vec3::Z, 100.0, filter);
            let nearest = molecules.nearest_atom(Vec3::Z * -5.0, 100.0, filter);
            assert_eq!(
                hit.map(|hit| hit.molecule),
                nearest.map(|near| near.molecule)
            );
            let ball = molecules.atoms_in_ball(Vec3::ZERO, 9.0, filter);
            assert_eq!(hit.is_none(), ball.is_empty());
            for atom in ball {
                assert!(filter.exclude != Some(atom.molecule));
                assert!(filter.predicate.is_none_or(|takes| takes(atom.molecule)));
            }
            hit.map(|hit| hit.molecule)
        })
    };
    let all = MoleculeQueryFilter::default();
    assert_eq!(hit(&all), Some(near));
    assert_eq!(hit(&all.excluding(near)), Some(middle));
    let last = |molecule| molecule == far;
    assert_eq!(hit(&all.matching(&last)), Some(far));
    assert_eq!(hit(&all.matching(&last).excluding(far)), None);
    assert_eq!(hit(&all.in_context(context)), Some(near));
    assert_eq!(hit(&all.in_context(near)), None);
}

#[test]
fn molecules_of_all_contexts_are_found_where_their_bodies_are() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let second = (
        RapierContextSimulation::default(),
        RapierConfiguration::new(1.0),
    );
    let second = app.world_mut().spawn(second).id();
    let template = add(&mut app, bar());
    let here = spawn(&mut app, &template, Vec3::ZERO);
    let there = spawn(&mut app, &template, Vec3::Z);
    app.world_mut()
        .entity_mut(there)
        .insert(RapierContextEntityLink(second));
    run(&mut app, 30);
    assert!(
        position(&app, there).y < -0.5,
        "the second context has gravity"
    );
    let fallen = position(&app, there);
    let all = MoleculeQueryFilter::default();
    ask(&mut app, |molecules| {
        let found = |filter: &MoleculeQueryFilter| {
            let hit = molecules.cast_ray(fallen - Vec3::Z * 5.0, Vec3::Z, 9.0, filter);
            hit.map(|hit| (hit.molecule, (hit.distance - 4.9).abs() < 1.0e-4))
        };
        assert_eq!(found(&all), Some((there, true)));
        assert_eq!(found(&all.in_context(second)), Some((there, true)));
        assert_eq!(found(&all.excluding(there)), None);
        let still = molecules.nearest_atom(Vec3::Y, 5.0, &all).unwrap();
        assert_eq!(still.molecule, here);
        assert_eq!(molecules.nearest_atom(Vec3::Y, 0.5, &all), None);
    });
}

#[test]
fn molecules_that_are_gone_are_not_found() {
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let look = |app: &mut App| {
        ask(app, |molecules| {
            assert_eq!(
                molecules.template(molecule).is_some(),
                molecules.atom_label((molecule, 0)).is_some()
            );
            let hit = molecules.cast_ray(Vec3::Y * 3.0, Vec3::NEG_Y, 9.0, &default());
            hit.map(|hit| hit.molecule)
        })
    };
    assert_eq!(look(&mut app), None);
    run(&mut app, 2);
    assert_eq!(look(&mut app), Some(molecule));
    app.world_mut().despawn(molecule);
    assert_eq!(look(&mut app), None);
    run(&mut app, 1);
    assert_eq!(look(&mut app), None);
}

#[test]
fn numbers_that_are_none_find_nothing() {
    let mut random = Pcg64::seed_from_u64(7);
    let (mut app, _) = scene(&mut random);
    let all = MoleculeQueryFilter::default();
    let (zero, toward) = (Vec3::splat(-30.0), Vec3::ONE);
    ask(&mut app, |molecules| {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let wrong = Vec3::new(0.0, bad, 1.0);
            assert_eq!(molecules.cast_ray(wrong, toward, 1.0e3, &all), None);
            assert_eq!(molecules.cast_ray(zero, wrong, 1.0e3, &all), None);
            assert_eq!(molecules.nearest_atom(wrong, 1.0e3, &all), None);
            assert!(molecules.atoms_in_ball(wrong, 1.0e3, &all).is_empty());
            let ball = Ball::new(0.5);
            let pose = Pose::from_translation(zero);
            assert_eq!(molecules.cast_shape(&ball, pose, wrong, &all), None);
            let pose = Pose::from_translation(wrong);
            assert_eq!(molecules.cast_shape(&ball, pose, toward, &all), None);
        }
        assert_eq!(molecules.cast_ray(zero, Vec3::ZERO, 1.0e3, &all), None);
        for bad in [f32::NAN, -1.0] {
            assert_eq!(molecules.cast_ray(zero, toward, bad, &all), None);
            assert!(molecules.atoms_in_ball(Vec3::ZERO, bad, &all).is_empty());
        }
        assert_eq!(molecules.nearest_atom(zero, f32::NAN, &all), None);
        // Short and long directions are directions.
        for scale in [1.0e-30, 1.0e30] {
            let hit = molecules.cast_ray(Vec3::ZERO, toward * scale, 1.0e3, &all);
            let same = molecules.cast_ray(Vec3::ZERO, toward, 1.0e3, &all);
            assert_eq!(hit.map(|hit| hit.atom), same.map(|hit| hit.atom));
        }
    });
}

#[test]
fn an_atom_tells_its_name() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = real("1ubq.cif");
    let wanted = (0..template.atom_count())
        .find(|&atom| {
            template.residue_of(atom).number == 68 && template.atom_names()[atom] == "ND1"
        })
        .expect("ubiquitin has a histidine 68");
    let template = add(&mut app, template);
    let molecule = spawn(&mut app, &template, Vec3::Y);
    run(&mut app, 2);
    ask(&mut app, |molecules| {
        let (center, radius) = molecules.atom((molecule, wanted)).unwrap();
        let found = molecules.nearest_atom(center, 0.0, &default()).unwrap();
        assert_eq!(found.atom, wanted);
        assert!((found.distance + radius).abs() < 1.0e-5);
        let label = molecules.atom_label(found).unwrap();
        assert_eq!(label.to_string(), "HIS 68 A ND1");
        assert_eq!(label.element.symbol(), "N");
        assert_eq!(molecules.atom_label((molecule, 1_000_000)), None);
        assert_eq!(molecules.atom((molecule, 1_000_000)), None);
        assert_eq!(molecules.pose(molecule).unwrap().position, Vec3::Y);
    });
}
