//! Scene queries agree with brute force over all atoms to 1e-4 nm.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::MoleculeQueryFilter;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::rapier::MoleculeShape;
use bevy_rapier3d::parry::math::Pose3;
use bevy_rapier3d::parry::query::{ShapeCastOptions, cast_shapes};
use bevy_rapier3d::parry::shape::{Ball, Cuboid, HalfSpace, Shape};
use bevy_rapier3d::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::query_oracle::*;
use super::test_app::*;

#[test]
fn rays_match_brute_force() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut app, _) = scene(&mut random);
    let all = world_atoms(&mut app);
    let mut hits = 0;
    for k in 0..600 {
        let far = [8.0, 30.0, 200.0][k % 3];
        let origin = point(&mut random, 1.0).normalize() * far;
        let direction = (point(&mut random, 6.0) - origin) * [1.0, 0.01, 40.0][k % 3];
        let max_distance = [f32::MAX, f32::INFINITY, far][k % 3];
        let hit = query(&mut app, |molecules| {
            molecules.cast_ray(origin, direction, max_distance, &default())
        });
        let ray = (origin, direction, 0.0);
        hits += usize::from(check_hit(&all, hit, ray, max_distance.into()));
    }
    assert!(hits > 100, "{hits}");
}

#[test]
fn a_ray_that_starts_inside_an_atom_hits_at_distance_zero() {
    let mut random = Pcg64::seed_from_u64(2);
    let (mut app, _) = scene(&mut random);
    for atom in world_atoms(&mut app).iter().step_by(97) {
        let origin = atom.center.as_vec3();
        let hit = query(&mut app, |molecules| {
            molecules.cast_ray(origin, Vec3::X, 0.0, &default())
        });
        let hit = hit.expect("it starts inside");
        assert_eq!(
            (hit.distance, hit.point.distance(origin) < 1.0e-5),
            (0.0, true)
        );
        assert!((hit.normal.length() - 1.0).abs() < 1.0e-4);
    }
}

#[test]
fn the_nearest_atom_matches_brute_force() {
    let mut random = Pcg64::seed_from_u64(3);
    let (mut app, _) = scene(&mut random);
    let all = world_atoms(&mut app);
    for k in 0..400 {
        let position = point(&mut random, [3.0, 10.0, 60.0][k % 3]);
        let gap = |atom: &WorldAtom| atom.center.distance(position.as_dvec3()) - atom.radius;
        let max_distance = [f32::INFINITY, 0.5, 0.0][k / 3 % 3];
        let nearest = all.iter().map(gap).min_by(f64::total_cmp).unwrap();
        let found = query(&mut app, |molecules| {
            molecules.nearest_atom(position, max_distance, &default())
        });
        let Some(found) = found else {
            assert!(nearest > f64::from(max_distance) - TOLERANCE, "{nearest}");
            continue;
        };
        assert!(found.distance <= max_distance);
        assert!((f64::from(found.distance) - nearest).abs() < TOLERANCE);
        let atom = all.iter().find(|atom| atom.is(found)).unwrap();
        assert!((gap(atom) - nearest).abs() < TOLERANCE);
        let distance = found.point.distance(position);
        assert!(
            (distance - found.distance.abs()).abs() < TOLERANCE as f32,
            "{found:?}"
        );
    }
}

#[test]
fn atoms_in_a_ball_match_brute_force() {
    let mut random = Pcg64::seed_from_u64(4);
    let (mut app, _) = scene(&mut random);
    let all = world_atoms(&mut app);
    let mut max_count = 0;
    for k in 0..200 {
        let center = point(&mut random, 8.0);
        let radius = [0.0, 0.3, 2.0, 7.0, f32::INFINITY][k % 5];
        let found = query(&mut app, |molecules| {
            molecules.atoms_in_ball(center, radius, &default())
        });
        assert!(found.is_sorted());
        max_count = max_count.max(found.len());
        for atom in &all {
            let gap = atom.center.distance(center.as_dvec3()) - atom.radius - f64::from(radius);
            let contained = found.binary_search(&(atom.molecule, atom.atom).into());
            assert!(
                gap.abs() < 1.0e-5 || contained.is_ok() == (gap < 0.0),
                "{gap}"
            );
        }
    }
    assert_eq!(max_count, all.len());
}

#[test]
fn casts_of_balls_match_the_analytic_solution() {
    let mut random = Pcg64::seed_from_u64(5);
    let (mut app, _) = scene(&mut random);
    let all = world_atoms(&mut app);
    let mut hits = 0;
    for k in 0..300 {
        let radius = [0.05, 0.5, 3.0][k % 3];
        let start = point(&mut random, 1.0).normalize() * [9.0, 40.0, 100.0][k / 3 % 3];
        let motion = (point(&mut random, 6.0) - start) * random.random_range(0.3..1.5);
        let pose = Pose::new(start, rotation(&mut random));
        let hit = query(&mut app, |molecules| {
            molecules.cast_shape(&Ball::new(radius), pose, motion, &default())
        });
        let max_distance = f64::from(motion.length());
        hits += usize::from(check_hit(&all, hit, (start, motion, radius), max_distance));
    }
    assert!(hits > 100, "{hits}");
}

#[test]
fn casts_of_boxes_and_planes_match_casts_of_single_atoms() {
    let mut random = Pcg64::seed_from_u64(6);
    let (mut app, _) = scene(&mut random);
    let all = world_atoms(&mut app);
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
        let hit = query(&mut app, |molecules| {
            molecules.cast_shape(shape, pose, motion, &default())
        });
        let cast = |atom: &WorldAtom| {
            cast_shapes(
                &Pose3::from_parts(start, pose.rotation),
                motion,
                shape,
                &Pose3::from_translation(atom.center.as_vec3()),
                Vec3::ZERO,
                &Ball::new(atom.radius as f32),
                ShapeCastOptions::with_max_time_of_impact(1.0),
            )
            .unwrap()
            .map(|hit| hit.time_of_impact * motion.length())
        };
        let first = all.iter().filter_map(cast).min_by(f32::total_cmp);
        match (hit, first) {
            (Some(hit), Some(first)) => {
                assert!((hit.distance - first).abs() < 2.0e-3, "{first}: {hit:?}");
                let own = all.iter().find(|atom| atom.is(hit)).and_then(cast);
                assert!((own.unwrap() - first).abs() < 2.0e-3);
            }
            (None, None) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn casts_of_molecules_match_the_analytic_solution() {
    let mut random = Pcg64::seed_from_u64(8);
    let (mut app, _) = scene(&mut random);
    let all = world_atoms(&mut app);
    let shape = MoleculeShape::new(Arc::new(bar()));
    for _ in 0..40 {
        let start = point(&mut random, 1.0).normalize() * 20.0;
        let pose = Pose::new(start, rotation(&mut random));
        let motion = (point(&mut random, 4.0) - start) * 2.0;
        let hit = query(&mut app, |molecules| {
            molecules.cast_shape(&shape, pose, motion, &default())
        });
        let direction = motion.as_dvec3().normalize();
        let cast = |target: &WorldAtom| {
            let atoms = shape.template().positions().iter();
            let distances = atoms.filter_map(|atom| {
                let origin = pose.transform_point(*atom).as_dvec3();
                target.hit_by_ray(origin, direction, 0.1).0
            });
            distances.min_by(f64::total_cmp)
        };
        let first = all.iter().filter_map(cast).min_by(f64::total_cmp);
        assert_eq!(hit.is_some(), first.is_some(), "{hit:?} and {first:?}");
        if let (Some(hit), Some(first)) = (hit, first) {
            let own = all.iter().find(|atom| atom.is(hit)).and_then(cast);
            for distance in [f64::from(hit.distance), own.unwrap()] {
                assert!((distance - first).abs() < TOLERANCE, "{first}: {hit:?}");
            }
        }
    }
}

#[test]
fn a_shape_at_rest_hits_an_overlapping_atom() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 2);
    let ball = Ball::new(0.1);
    let mut cast_at = |x: f32| {
        let pose = Pose::from_translation(Vec3::X * x);
        query(&mut app, |molecules| {
            molecules.cast_shape(&ball, pose, Vec3::ZERO, &default())
        })
    };
    let hit = cast_at(0.5).expect("it overlaps the last atom");
    assert_eq!((hit.molecule, hit.atom, hit.distance), (molecule, 6, 0.0));
    assert!(hit.normal.distance(Vec3::X) < 1.0e-4);
    assert_eq!(cast_at(0.6), None);
}

#[test]
fn filters_select_molecules() {
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
        query(&mut app, |molecules| {
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
                assert!(
                    filter
                        .predicate
                        .is_none_or(|accepts| accepts(atom.molecule))
                );
            }
            hit.map(|hit| hit.molecule)
        })
    };
    let all = MoleculeQueryFilter::default();
    assert_eq!(hit(&all), Some(near));
    let excluding = |filter, molecule| MoleculeQueryFilter {
        exclude: Some(molecule),
        ..filter
    };
    assert_eq!(hit(&excluding(all, near)), Some(middle));
    let is_far = |molecule| molecule == far;
    let last = MoleculeQueryFilter {
        predicate: Some(&is_far),
        ..all
    };
    assert_eq!(hit(&last), Some(far));
    assert_eq!(hit(&excluding(last, far)), None);
    for (context, first) in [(context, Some(near)), (near, None)] {
        let context = Some(context);
        assert_eq!(hit(&MoleculeQueryFilter { context, ..all }), first);
    }
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
    let in_first = spawn(&mut app, &template, Vec3::ZERO);
    let in_second = spawn(&mut app, &template, Vec3::Z);
    app.world_mut()
        .entity_mut(in_second)
        .insert(RapierContextEntityLink(second));
    run(&mut app, 30);
    assert!(
        position(&app, in_second).y < -0.5,
        "the second context has gravity"
    );
    let fallen = position(&app, in_second);
    let all = MoleculeQueryFilter::default();
    query(&mut app, |molecules| {
        let found = |filter: &MoleculeQueryFilter| {
            let hit = molecules.cast_ray(fallen - Vec3::Z * 5.0, Vec3::Z, 9.0, filter);
            hit.map(|hit| (hit.molecule, (hit.distance - 4.9).abs() < 1.0e-4))
        };
        assert_eq!(found(&all), Some((in_second, true)));
        let context = Some(second);
        let in_context = MoleculeQueryFilter { context, ..all };
        assert_eq!(found(&in_context), Some((in_second, true)));
        let exclude = Some(in_second);
        assert_eq!(found(&MoleculeQueryFilter { exclude, ..all }), None);
        let still = molecules.nearest_atom(Vec3::Y, 5.0, &all).unwrap();
        assert_eq!(still.molecule, in_first);
        assert_eq!(molecules.nearest_atom(Vec3::Y, 0.5, &all), None);
    });
}

#[test]
fn despawned_molecules_are_not_found() {
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let find = |app: &mut App| {
        query(app, |molecules| {
            assert_eq!(
                molecules.template(molecule).is_some(),
                molecules.atom_label((molecule, 0)).is_some()
            );
            let hit = molecules.cast_ray(Vec3::Y * 3.0, Vec3::NEG_Y, 9.0, &default());
            hit.map(|hit| hit.molecule)
        })
    };
    assert_eq!(find(&mut app), None);
    run(&mut app, 2);
    assert_eq!(find(&mut app), Some(molecule));
    app.world_mut().despawn(molecule);
    assert_eq!(find(&mut app), None);
    run(&mut app, 1);
    assert_eq!(find(&mut app), None);
}

#[test]
fn invalid_arguments_find_nothing() {
    let mut random = Pcg64::seed_from_u64(7);
    let (mut app, _) = scene(&mut random);
    let all = MoleculeQueryFilter::default();
    let (zero, toward) = (Vec3::splat(-30.0), Vec3::ONE);
    query(&mut app, |molecules| {
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
        // The length of the direction does not matter.
        for scale in [1.0e-30, 1.0e30] {
            let hit = molecules.cast_ray(Vec3::ZERO, toward * scale, 1.0e3, &all);
            let same = molecules.cast_ray(Vec3::ZERO, toward, 1.0e3, &all);
            assert_eq!(hit.map(|hit| hit.atom), same.map(|hit| hit.atom));
        }
    });
}

#[test]
fn an_atom_has_a_label() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let template = real("1ubq.cif");
    let nitrogen = (0..template.atom_count())
        .find(|&atom| {
            template.residue_of(atom).number == 68 && template.atom_names()[atom] == "ND1"
        })
        .expect("ubiquitin has a histidine 68");
    let template = add(&mut app, template);
    let molecule = spawn(&mut app, &template, Vec3::Y);
    run(&mut app, 2);
    query(&mut app, |molecules| {
        let (center, radius) = molecules.atom((molecule, nitrogen)).unwrap();
        let found = molecules.nearest_atom(center, 0.0, &default()).unwrap();
        assert_eq!(found.atom, nitrogen);
        assert!((found.distance + radius).abs() < 1.0e-5);
        let label = molecules.atom_label(found).unwrap();
        assert_eq!(label.to_string(), "HIS 68 A ND1");
        assert_eq!(label.element.symbol(), "N");
        assert_eq!(molecules.atom_label((molecule, 1_000_000)), None);
        assert_eq!(molecules.atom((molecule, 1_000_000)), None);
        assert_eq!(molecules.pose(molecule).unwrap().position, Vec3::Y);
    });
}
