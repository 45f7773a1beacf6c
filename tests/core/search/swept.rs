//! All swept algorithms return the collisions of brute force; the same, bit for bit.

use bevy_rapier_molecules::search::Pair;
use bevy_rapier_molecules::search::swept::{
    Collision, Impact, SweptAlgorithm, SweptError, SweptSpheres, SweptWork, Trajectory,
    time_of_contact,
};
use bevy_rapier_molecules::spheres::{SphereError, SphereSet};
use glam::{DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use SweptAlgorithm::{A, B, C, Cells, Naive};

/// Spheres and their displacements in some steps.
struct Walk {
    spheres: SphereSet,
    steps: Vec<Vec<DVec3>>,
}

impl Walk {
    /// All algorithms on these spheres, with chosen and with fixed cells. The first is naive.
    fn swept(&self) -> Vec<(String, SweptSpheres)> {
        let mut all = Vec::new();
        for algorithm in SweptAlgorithm::ALL {
            let name = algorithm.name();
            let chosen = SweptSpheres::new(&self.spheres, algorithm).unwrap();
            all.push((name.to_owned(), chosen));
            let fixed = SweptSpheres::with_cell_width(&self.spheres, algorithm, 1.0).unwrap();
            all.push((format!("{name} in cells of 1 nm"), fixed));
        }
        all
    }
}

/// The collisions of spheres on straight paths, by brute force.
fn brute_force(spheres: &SphereSet, paths: &[Trajectory]) -> Vec<Collision> {
    let mut found = Vec::new();
    for a in 0..paths.len() {
        for b in a + 1..paths.len() {
            let reach = f64::from(spheres.radius(a)) + f64::from(spheres.radius(b));
            let time = time_of_contact(&paths[a], &paths[b], reach);
            let time = time.and_then(|times| times.first_until(1.0));
            if let Some(time) = time.filter(|_| spheres.owner(a) != spheres.owner(b)) {
                let pair = Pair::new(a as u32, b as u32);
                found.push(Collision { pair, time });
            }
        }
    }
    found
}

fn paths(centers: &[DVec3], displacements: &[DVec3]) -> Vec<Trajectory> {
    let path = |(&start, &by): (&DVec3, &DVec3)| Trajectory {
        start,
        end: start + by,
    };
    centers.iter().zip(displacements).map(path).collect()
}

/// Compares every algorithm with brute force in each step; returns the number of collisions.
#[track_caller]
fn assert_exact(walk: &Walk) -> usize {
    let mut count = 0;
    let mut all = walk.swept();
    for (number, displacements) in walk.steps.iter().enumerate() {
        let expected = brute_force(&walk.spheres, &paths(all[0].1.centers(), displacements));
        count += expected.len();
        let mut naive: Option<Vec<Collision>> = None;
        for (name, swept) in &mut all {
            let mut found = Vec::new();
            swept.step(displacements, &mut found).unwrap();
            let pairs = |list: &[Collision]| -> Vec<Pair> {
                list.iter().map(|collision| collision.pair).collect()
            };
            assert!(
                pairs(&found) == pairs(&expected),
                "{name} finds {} of {} collisions in step {number}",
                found.len(),
                expected.len()
            );
            let late = found.iter().zip(&expected);
            let late = late.map(|(one, other)| (one.time - other.time).abs());
            assert!(late.fold(0.0, f64::max) < 1.0e-9, "{name}");
            assert!(*naive.get_or_insert(found.clone()) == found, "{name}");
        }
        let (first, others) = all.split_first().unwrap();
        for (name, swept) in others {
            assert!(first.1.centers() == swept.centers(), "{name}");
        }
    }
    count
}

fn point(random: &mut Pcg64Mcg) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.random::<f32>() - 0.5))
}

/// Spheres in a cube that move randomly, some of them further.
fn crowd(count: u32, edge: f32, jump: f32, steps: usize, seed: u64) -> Walk {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut spheres = SphereSet::new();
    for owner in 0..count {
        let radius = 0.05 + 0.1 * random.random::<f32>();
        let center = edge * point(&mut random);
        spheres.push(center, radius, owner / 2).unwrap();
    }
    let mut displacement = |index: u32| {
        let far = if index.is_multiple_of(97) { 20.0 } else { 1.0 };
        (far * jump * point(&mut random)).as_dvec3()
    };
    let mut step = || (0..count).map(&mut displacement).collect();
    let steps = (0..steps).map(|_| step()).collect();
    Walk { spheres, steps }
}

#[test]
fn moving_crowds_of_all_sizes_are_exact() {
    for (count, edge) in [(0, 1.0), (1, 1.0), (2, 0.2), (100, 2.0), (2000, 5.0)] {
        let found = assert_exact(&crowd(count, edge, 0.3, 3, u64::from(count)));
        assert!(
            count < 100 || found > 10,
            "{found} collisions of {count} spheres"
        );
    }
    assert!(assert_exact(&crowd(10_000, 12.0, 0.3, 1, 7)) > 1000);
}

#[test]
fn overlapping_spheres_at_rest_collide() {
    assert!(assert_exact(&crowd(500, 3.0, 0.0, 2, 8)) > 10);
}

#[test]
fn coincident_spheres_and_points_collide_at_time_zero() {
    let mut spheres = SphereSet::new();
    for owner in 0..30 {
        let radius = [0.0, 0.1][owner as usize % 2];
        spheres.push(Vec3::ONE, radius, owner).unwrap();
    }
    let steps = vec![vec![DVec3::ZERO; 30]];
    assert_eq!(assert_exact(&Walk { spheres, steps }), 30 * 29 / 2);
}

#[test]
fn spheres_on_the_faces_of_cells_are_exact() {
    let mut spheres = SphereSet::new();
    for index in 0..343 {
        let place = [index % 7, index / 7 % 7, index / 49].map(|k| 0.5 * k as f32 - 1.0);
        spheres.push(place.into(), 0.25, index).unwrap();
    }
    let mut random = Pcg64Mcg::seed_from_u64(12);
    let mut displacement = || {
        let axes: [f64; 3] =
            std::array::from_fn(|_| [-0.25, 0.0, 0.25][random.random::<u8>() as usize % 3]);
        DVec3::from_array(axes)
    };
    let step = |_| (0..343).map(|_| displacement()).collect();
    let steps = (0..3).map(step).collect();
    assert!(assert_exact(&Walk { spheres, steps }) > 1000);
}

#[test]
fn crowds_far_from_the_origin_are_exact() {
    for offset in [1.0e3, -1.0e6, 1.0e9, 1.0e15] {
        let mut walk = crowd(150, 2.0, 0.3, 2, 9);
        let mut far = SphereSet::new();
        for index in 0..walk.spheres.len() {
            let shift = if index < 3 { 0.0 } else { offset };
            let center = walk.spheres.center(index) + Vec3::splat(shift);
            let (radius, owner) = (walk.spheres.radius(index), walk.spheres.owner(index));
            far.push(center, radius, owner).unwrap();
        }
        walk.spheres = far;
        // At 10¹⁵ nm, positions are multiples of an eighth.
        for displacement in walk.steps.iter_mut().flatten() {
            *displacement = (8.0 * *displacement).round() / 8.0;
        }
        assert_exact(&walk);
    }
}

#[test]
fn a_giant_and_a_bullet_are_outliers_and_collide() {
    let mut walk = crowd(300, 4.0, 0.1, 1, 10);
    walk.spheres.push(Vec3::X * -50.0, 0.05, 7000).unwrap();
    walk.spheres.push(Vec3::splat(2.0), 2.5, 7001).unwrap();
    walk.steps[0].extend([DVec3::X * 100.0, DVec3::ZERO]);
    assert!(assert_exact(&walk) > 50);
    for algorithm in [Cells, A, B, C] {
        let mut swept = SweptSpheres::new(&walk.spheres, algorithm).unwrap();
        let work = swept.step(&walk.steps[0], &mut Vec::new()).unwrap();
        assert!((2..10).contains(&work.outliers), "{}", work.outliers);
    }
}

/// Result 1: a sphere may move by half a cell minus its radius.
#[test]
fn spheres_too_fast_for_their_cells_are_outliers() {
    let mut spheres = SphereSet::new();
    spheres.push(Vec3::ZERO, 0.25, 0).unwrap();
    spheres.push(Vec3::X * 0.9, 0.25, 1).unwrap();
    for algorithm in [Cells, A, B, C] {
        let mut swept = SweptSpheres::with_cell_width(&spheres, algorithm, 1.0).unwrap();
        // d − r is 0.25 nm.
        for (displacement, outliers) in [(0.2, 0), (0.26, 1), (0.0, 0)] {
            let step = [DVec3::X * displacement, DVec3::ZERO];
            let work = swept.step(&step, &mut Vec::new());
            assert_eq!(work.unwrap().outliers, outliers, "{displacement}");
        }
    }
    for width in [f32::NAN, 0.0] {
        assert!(matches!(
            SweptSpheres::with_cell_width(&spheres, A, width),
            Err(SweptError::BadWidth { .. })
        ));
    }
}

/// Spheres at the limit of Result 1 meet exactly in the middle of the cell between theirs.
#[test]
fn spheres_that_meet_in_the_cell_between_theirs_collide() {
    let mut spheres = SphereSet::new();
    // Close to the lower end of their cells, which are one cell apart.
    spheres.push(Vec3::splat(0.002), 0.125, 0).unwrap();
    spheres
        .push(Vec3::new(1.002, 0.002, 0.002), 0.125, 1)
        .unwrap();
    for algorithm in SweptAlgorithm::ALL {
        let mut swept = SweptSpheres::with_cell_width(&spheres, algorithm, 1.0).unwrap();
        let mut found = Vec::new();
        let step = [DVec3::X * 0.374, DVec3::X * -0.374];
        swept.step(&step, &mut found).unwrap();
        assert!(found.is_empty());
        let work = swept.step(&step, &mut found).unwrap();
        assert_eq!((found.len(), work.outliers), (1, 0), "{algorithm:?}");
    }
}

/// Section 4.2 and figure 5.
#[test]
fn cells_behind_a_sphere_are_not_visited() {
    // Alone, in the upper half of its cell along some axes, moving up. Slices of a single sphere
    // are across the first axis.
    for (place, cubes, slices) in [
        ([0.5, 0.5, 0.5], 27, 3),
        ([0.8, 0.5, 0.5], 18, 2),
        ([0.8, 0.8, 0.5], 12, 2),
        ([0.8, 0.8, 0.8], 8, 2),
    ] {
        let mut spheres = SphereSet::new();
        spheres.push(place.into(), 0.1, 0).unwrap();
        for (algorithm, cells) in [(Naive, 0), (Cells, 27), (A, cubes), (B, cubes), (C, slices)] {
            let mut swept = SweptSpheres::with_cell_width(&spheres, algorithm, 1.0).unwrap();
            let step = [DVec3::splat(0.05)];
            let work = swept.step(&step, &mut Vec::new()).unwrap();
            assert_eq!(work.cells, cells, "{algorithm:?} at {place:?}");
        }
    }
}

/// The collisions of a subdivided step by brute force: advance to the earliest, bounce, search
/// again.
fn subdivide(
    spheres: &SphereSet,
    centers: &mut [DVec3],
    displacements: &[DVec3],
) -> Vec<Collision> {
    let mut displacements = displacements.to_vec();
    let (mut now, mut found) = (0.0, Vec::new());
    loop {
        let mut all = brute_force(spheres, &paths(centers, &displacements));
        all.retain(|Collision { pair, time }| {
            let [a, b] = [pair.a as usize, pair.b as usize];
            let motion = displacements[b] - displacements[a];
            now + time <= 1.0 && (centers[b] - centers[a]).dot(motion) < 0.0
        });
        let earliest = all.into_iter().min_by(|a, b| a.time.total_cmp(&b.time));
        let by = earliest.map_or(1.0 - now, |collision| collision.time);
        for (center, displacement) in centers.iter_mut().zip(&displacements) {
            *center += by * displacement;
        }
        let Some(Collision { pair, .. }) = earliest else {
            return found;
        };
        now += by;
        found.push(Collision { pair, time: now });
        let [a, b] = [pair.a as usize, pair.b as usize];
        let normal = (centers[b] - centers[a]).normalize();
        let exchanged = (displacements[a] - displacements[b]).dot(normal) * normal;
        displacements[a] -= exchanged;
        displacements[b] += exchanged;
    }
}

#[test]
fn subdivided_steps_are_exact() {
    for (seed, count, edge) in [(1, 2, 0.2), (2, 60, 1.2), (3, 300, 2.5)] {
        let walk = crowd(count, edge, 0.2, 3, seed);
        let mut all = walk.swept();
        let mut expected_centers = all[0].1.centers().to_vec();
        for displacements in &walk.steps {
            let expected = subdivide(&walk.spheres, &mut expected_centers, displacements);
            let mut naive: Option<Vec<Collision>> = None;
            for (name, swept) in &mut all {
                let mut found = Vec::new();
                let respond = &mut |impact: &Impact| {
                    found.push(impact.collision);
                    impact.bounce()
                };
                let work = swept.subdivided_step(displacements, respond).unwrap();
                assert_eq!(work.subdivisions, found.len() as u64 + 1);
                assert_eq!(found.len(), expected.len(), "{name}, {count} spheres");
                for (one, other) in found.iter().zip(&expected) {
                    assert_eq!(one.pair, other.pair, "{name}");
                    assert!((one.time - other.time).abs() < 1.0e-6, "{name}");
                }
                assert!(*naive.get_or_insert(found.clone()) == found, "{name}");
            }
            assert!(count < 60 || expected.len() > 10, "{}", expected.len());
            let first = all[0].1.centers().to_vec();
            assert!(all.iter().all(|(_, swept)| swept.centers() == first));
            // Small differences would grow.
            let furthest = first.iter().zip(&expected_centers);
            let furthest = furthest.map(|(one, other)| one.distance(*other));
            assert!(furthest.fold(0.0, f64::max) < 1.0e-6);
            expected_centers = first;
        }
    }
}

/// Three spheres of 0.5 nm on a line. The first one hits the second one, which hits the third
/// one.
fn newtons_cradle() -> (SphereSet, [DVec3; 3]) {
    let mut spheres = SphereSet::new();
    for (owner, x) in [(0, 0.0), (1, 4.0), (2, 6.5)] {
        spheres.push(Vec3::X * x, 0.5, owner).unwrap();
    }
    (spheres, [DVec3::X * 5.0, DVec3::ZERO, DVec3::ZERO])
}

/// Figure 4.
#[test]
fn a_collision_that_follows_from_another_in_the_same_step_is_found() {
    let (spheres, step) = newtons_cradle();
    for algorithm in SweptAlgorithm::ALL {
        let mut swept = SweptSpheres::new(&spheres, algorithm).unwrap();
        let mut found = Vec::new();
        swept.step(&step, &mut found).unwrap();
        assert_eq!(found.len(), 1);
        let mut swept = SweptSpheres::new(&spheres, algorithm).unwrap();
        let mut times = Vec::new();
        let respond = &mut |impact: &Impact| {
            times.push(impact.collision.time);
            impact.bounce()
        };
        swept.subdivided_step(&step, respond).unwrap();
        assert_eq!(times.len(), 2);
        assert!((times[0] - 0.6).abs() < 1.0e-12 && (times[1] - 0.9).abs() < 1.0e-12);
        for (center, x) in swept.centers().iter().zip([3.0, 5.5, 7.0]) {
            assert!((center.x - x).abs() < 1.0e-12);
        }
    }
}

/// Section 4.3: A updates links after every motion, B and C once per step.
#[test]
fn only_cells_and_a_update_links_in_every_subdivision() {
    let (spheres, step) = newtons_cradle();
    for (algorithm, updates) in [(Naive, 0), (Cells, 3), (A, 3), (B, 1), (C, 1)] {
        let mut swept = SweptSpheres::with_cell_width(&spheres, algorithm, 12.0).unwrap();
        let mut steps = |step: &[DVec3]| -> SweptWork {
            swept.subdivided_step(step, &mut Impact::bounce).unwrap()
        };
        // The first step links all spheres.
        steps(&[DVec3::ZERO; 3]);
        let work = steps(&step);
        assert_eq!((work.subdivisions, work.updates), (3, 3 * updates));
        let still = steps(&[DVec3::ZERO; 3]);
        assert_eq!(still.updates, if algorithm == Naive { 0 } else { 3 });
    }
}

#[test]
fn spheres_that_become_too_fast_for_their_cells_collide() {
    let mut spheres = SphereSet::new();
    for (owner, x) in [(0, 0.0), (1, 0.5), (2, 9.0)] {
        spheres.push(Vec3::X * x, 0.2, owner).unwrap();
    }
    for algorithm in SweptAlgorithm::ALL {
        let mut swept = SweptSpheres::with_cell_width(&spheres, algorithm, 1.0).unwrap();
        let mut pairs = Vec::new();
        let kick = &mut |impact: &Impact| {
            pairs.push((impact.collision.pair.a, impact.collision.pair.b));
            if pairs.len() == 1 {
                [DVec3::ZERO, DVec3::X * 50.0]
            } else {
                impact.bounce()
            }
        };
        let step = [DVec3::X * 0.2, DVec3::ZERO, DVec3::ZERO];
        let work = swept.subdivided_step(&step, kick).unwrap();
        assert_eq!(pairs, [(0, 1), (1, 2)], "{algorithm:?}");
        // The third sphere leaves as fast as the second one came.
        assert_eq!(work.outliers, if algorithm == Naive { 0 } else { 2 });
    }
}

#[test]
fn invalid_steps_are_rejected() {
    let walk = crowd(20, 1.0, 0.1, 1, 11);
    for algorithm in SweptAlgorithm::ALL {
        let mut swept = SweptSpheres::new(&walk.spheres, algorithm).unwrap();
        let before = swept.centers().to_vec();
        let mut found = Vec::new();
        let error = swept.step(&walk.steps[0][1..], &mut found);
        let (spheres, displaced) = (20, 19);
        assert_eq!(error, Err(SweptError::BadCount { spheres, displaced }));
        for bad in [f64::NAN, f64::INFINITY, 1.0e39] {
            let mut step = walk.steps[0].clone();
            step[7] = DVec3::Y * bad;
            let error = swept.step(&step, &mut found);
            assert!(matches!(
                error,
                Err(SweptError::BadDisplacement { index: 7, .. })
            ));
        }
        assert!(found.is_empty() && swept.centers() == before);
    }
    let mut spheres = walk.spheres;
    assert!(matches!(
        spheres.push(Vec3::NAN, 0.1, 1),
        Err(SphereError::BadCenter { .. })
    ));
}

#[test]
fn collisions_without_end_are_rejected() {
    let (spheres, step) = newtons_cradle();
    for algorithm in SweptAlgorithm::ALL {
        let mut swept = SweptSpheres::new(&spheres, algorithm).unwrap();
        let error = swept.subdivided_step(&step, &mut |impact| impact.displacements);
        let pair = Pair { a: 0, b: 1 };
        assert_eq!(error, Err(SweptError::StillApproaching { pair }));
        // The sphere in the middle is reflected by the others, which stay where they are.
        let mut swept = SweptSpheres::new(&spheres, algorithm).unwrap();
        let step = [DVec3::ZERO, DVec3::X * 1.0e6, DVec3::ZERO];
        let error = swept.subdivided_step(&step, &mut |impact| {
            impact.displacements.map(|displacement| -displacement)
        });
        let collisions = 3000;
        assert_eq!(error, Err(SweptError::TooManyCollisions { collisions }));
    }
}
