//! Scenes of spheres and molecules: sizes, trajectories and invalid configs.

use bevy_rapier_molecules::motion::unknown_trajectories::SphereMotion;
use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::{
    CirculatingSpheres, CirculatingSpheresConfig, CrowdedBoxConfig, FallingConfig, FallingRegion,
    FallingResponse, FallingSpheres, FilledSphereConfig, ForcedSpheres, ForcedSpheresConfig,
    RadiusDistribution, crowded_box, filled_sphere, polydisperse_spheres,
};
use bevy_rapier_molecules::search::boxes::SpheresInBoxes;
use bevy_rapier_molecules::search::{BruteForce, PairBuffer, PairSearch, SearchKind, UniformGrid};

use glam::Vec3;

use crate::common::carbons::rod;

fn particles() -> CirculatingSpheres {
    let config = CirculatingSpheresConfig {
        count: 20,
        ..CirculatingSpheresConfig::default()
    };
    CirculatingSpheres::new(&config).unwrap()
}

/// Overlapping pairs per sphere in each step up to 60, and the spheres in the end.
fn fall(config: &FallingConfig) -> (Vec<f64>, FallingSpheres) {
    let mut falling = FallingSpheres::new(config).unwrap();
    let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    let mut counts = Vec::new();
    for _ in 0..=60 {
        falling.advance();
        let spheres = falling.spheres().clone();
        search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
        counts.push(pairs.len() as f64 / f64::from(config.count));
        falling.respond(&pairs);
    }
    (counts, falling)
}

/// The scene of the race after 60 steps with a search.
fn fallen(mut search: Box<dyn PairSearch>, in_order: bool) -> FallingSpheres {
    let mut falling = FallingSpheres::new(&FallingConfig::of(1500)).unwrap();
    let mut pairs = PairBuffer::new();
    for _ in 0..60 {
        falling.advance();
        search
            .find_pairs(falling.spheres(), 0.0, &mut pairs)
            .unwrap();
        if in_order {
            falling.respond_in_order(&pairs);
        } else {
            falling.respond(&pairs);
        }
    }
    falling
}

#[test]
fn spheres_separated_in_order_fall_alike_with_all_searches() {
    let bits = |falling: &FallingSpheres| -> Vec<[u32; 3]> {
        let spheres = falling.spheres();
        let centers = (0..spheres.len()).map(|index| spheres.center(index));
        centers
            .map(|center| center.to_array().map(f32::to_bits))
            .collect()
    };
    let searches = || {
        let rapier: Box<dyn PairSearch> = Box::new(SpheresInBoxes::new(RapierBvh::new()));
        let own = SearchKind::ALL.map(SearchKind::search);
        own.into_iter().chain([rapier])
    };
    let expected = fallen(Box::new(BruteForce), true);
    for search in searches() {
        let name = search.name();
        assert!(bits(&fallen(search, true)) == bits(&expected), "{name}");
    }
    // Without an order, at least one search takes another path.
    let reference = fallen(Box::new(BruteForce), false);
    assert!(searches().any(|search| bits(&fallen(search, false)) != bits(&reference)));
}

#[test]
fn spheres_fall_and_become_denser() {
    for response in [FallingResponse::Positions, FallingResponse::Impulses] {
        let config = FallingConfig {
            response,
            ..FallingConfig::of(2000)
        };
        let (counts, mut falling) = fall(&config);
        falling.advance();
        let heights = (0..2000).map(|index| falling.spheres().center(index).y);
        let lowest = heights.clone().fold(f32::MAX, f32::min);
        assert_eq!(lowest, FallingSpheres::RADIUS_NM);
        let mean = heights.sum::<f32>() / 2000.0;
        assert!(mean < 0.2 * falling.size().y, "{mean}");
        assert!(counts[60] > 3.0 * counts[0], "{counts:?}");
    }
}

#[test]
fn overlaps_per_falling_sphere_are_those_of_the_paper_in_the_late_steps() {
    let (counts, _) = fall(&FallingConfig::of(10_000));
    let mean = |counts: &[f64]| counts.iter().sum::<f64>() / counts.len() as f64;
    let [early, late] = [mean(&counts[..=10]), mean(&counts[50..])];
    assert!(early < 0.5, "{early}");
    // 5.6 to 6.1 in the paper, within 20 %.
    assert!((4.5..7.3).contains(&late), "{late}");
}

#[test]
fn the_initial_region_has_the_requested_shape_and_volume_fraction() {
    let slab = FallingRegion::Slab { height: 10.0 };
    let proportions = Vec3::new(1.0, 2.0, 4.0);
    let cuboid = FallingRegion::Cuboid { proportions };
    for (region, count) in [(slab, 1000), (slab, 8000), (cuboid, 1000)] {
        let config = FallingConfig {
            region,
            volume_fraction: 0.2,
            ..FallingConfig::of(count)
        };
        let falling = FallingSpheres::new(&config).unwrap();
        let size = falling.size();
        match region {
            FallingRegion::Slab { height } => {
                assert!((size.y - height).abs() < 1.0e-5 && size.x == size.z);
            }
            _ => assert!((size / size.x).abs_diff_eq(proportions, 1.0e-5)),
        }
        let volume = f64::from(count) * std::f64::consts::PI / 6.0;
        let fraction = volume / size.as_dvec3().element_product();
        assert!((fraction - 0.2).abs() < 1.0e-5, "{fraction}");
        let centers = (0..count as usize).map(|index| falling.spheres().center(index));
        let highest = centers.fold(Vec3::ZERO, Vec3::max);
        assert!(highest.cmple(size).all() && highest.cmpgt(0.9 * size).all());
    }
}

#[test]
fn a_falling_sphere_bounces_as_high_as_restitution_allows() {
    for restitution in [0.0_f32, 0.5, 1.0] {
        let config = FallingConfig {
            gravity: 1.0e-4,
            restitution,
            ..FallingConfig::of(1)
        };
        let mut falling = FallingSpheres::new(&config).unwrap();
        let radius = FallingSpheres::RADIUS_NM;
        let height = |falling: &FallingSpheres| falling.spheres().center(0).y - radius;
        let fall = height(&falling);
        while height(&falling) > 0.0 {
            falling.advance();
        }
        // Up to the highest point.
        let mut highest = 0.0;
        for _ in 0..2000 {
            falling.advance();
            highest = height(&falling).max(highest);
        }
        let expected = restitution * restitution * fall;
        assert!(
            (highest - expected).abs() < 0.02 * fall,
            "{highest} {expected}"
        );
    }
}

#[test]
fn impulses_exchange_momentum_and_positions_do_not() {
    let config = |response| FallingConfig {
        gravity: 0.01,
        restitution: 1.0,
        response,
        ..FallingConfig::of(500)
    };
    let [positions, impulses] =
        [FallingResponse::Positions, FallingResponse::Impulses].map(|response| {
            let (_, mut falling) = fall(&config(response));
            let before: Vec<Vec3> = (0..500).map(|k| falling.spheres().center(k)).collect();
            falling.advance();
            let moved = (0..500).map(|k| falling.spheres().center(k) - before[k]);
            // Horizontal motion needs impulses.
            moved
                .filter(|moved| moved.x != 0.0 || moved.z != 0.0)
                .count()
        });
    assert_eq!(positions, 0);
    assert!(impulses > 50, "{impulses}");
}

#[test]
fn invalid_falling_spheres_are_rejected() {
    let rejected = |change: fn(&mut FallingConfig)| {
        let mut config = FallingConfig::of(10);
        change(&mut config);
        FallingSpheres::new(&config).unwrap_err().to_string()
    };
    for text in [
        rejected(|config| config.volume_fraction = 0.0),
        rejected(|config| config.volume_fraction = f32::NAN),
        rejected(|config| config.region = FallingRegion::Slab { height: -1.0 }),
        rejected(|config| {
            let proportions = Vec3::new(1.0, 0.0, 1.0);
            config.region = FallingRegion::Cuboid { proportions };
        }),
    ] {
        assert!(text.contains("must be positive and finite"), "{text}");
    }
    let text = rejected(|config| config.gravity = f32::INFINITY);
    assert!(text.starts_with("the gravity must be"), "{text}");
    let text = rejected(|config| config.restitution = 1.5);
    assert!(text.contains("from 0 to 1, but is 1.5"), "{text}");
    let none = FallingSpheres::new(&FallingConfig::of(0)).unwrap();
    assert!(none.spheres().is_empty());
}

#[test]
fn radii_are_within_their_limits_and_follow_the_distribution() {
    for (distribution, median) in [
        (RadiusDistribution::Uniform, 5.05),
        (RadiusDistribution::NumberByOctave, 1.0),
        (RadiusDistribution::VolumeByOctave, 0.126),
    ] {
        let spheres = polydisperse_spheres(10_001, 0.1..10.0, distribution, 0.3, 1).unwrap();
        let mut radii: Vec<f32> = (0..spheres.len()).map(|k| spheres.radius(k)).collect();
        radii.sort_unstable_by(f32::total_cmp);
        assert!(radii[0] >= 0.0999 && radii[10_000] <= 10.001);
        assert!((radii[5000] / median - 1.0).abs() < 0.01, "{}", radii[5000]);
    }
    assert!(polydisperse_spheres(10, 0.0..1.0, RadiusDistribution::Uniform, 0.3, 1).is_err());
    assert!(polydisperse_spheres(10, 0.1..1.0, RadiusDistribution::Uniform, f32::NAN, 1).is_err());
    assert!(
        polydisperse_spheres(0, 0.1..1.0, RadiusDistribution::Uniform, 0.1, 1)
            .is_ok_and(|s| s.is_empty())
    );
}

#[test]
fn accelerations_stay_within_the_bound_and_probing_does_not_change_trajectories() {
    let (mut often, mut once) = (particles(), particles());
    for step in 1..=300 {
        let time = f64::from(step) * 0.01;
        let previous = often.probe(3, time - 0.01);
        let current = often.probe(3, time);
        let change = current.velocity.distance(previous.velocity);
        assert!(change <= 30.0 * 0.01 + 1.0e-9);
    }
    let [one, other] = [often.probe(3, 3.0), once.probe(3, 3.0)];
    assert!(one.position.distance(other.position) < 1.0e-9);
}

#[test]
fn forced_spheres_accelerate_within_their_bounds_at_any_number() {
    let config = ForcedSpheresConfig::default().scaled_to(27);
    // A thousand have a box of 200 nm.
    assert!((config.side - 60.0).abs() < 1.0e-9, "{}", config.side);
    let mut spheres = ForcedSpheres::new(&config).unwrap();
    assert_eq!(spheres.spheres().len(), 27);
    for index in 0..27 {
        let bound = spheres.spheres()[index as usize].acceleration;
        let [before, after] = [0.0, 0.1].map(|time| spheres.probe(index, time).velocity);
        let change = before.distance(after);
        assert!(change > 0.0 && change <= 0.1 * bound, "{change} nm/s");
    }
}

#[test]
fn a_crowded_box_alternates_its_templates() {
    let config = CrowdedBoxConfig {
        molecules: 27,
        ..CrowdedBoxConfig::default()
    };
    let crowd = crowded_box(&[rod(2), rod(5)], &config).unwrap();
    assert_eq!(crowd.members().len(), 27);
    assert_eq!(crowd.atom_count(), 14 * 2 + 13 * 5);
    assert!(crowded_box(&[], &config).is_err());
}

#[test]
fn a_filled_sphere_holds_molecules_in_its_whole_volume() {
    let config = FilledSphereConfig {
        molecules: 4000,
        radius: 20.0,
        seed: 3,
    };
    let molecule = rod(4);
    let farthest = config.radius - molecule.bounding_radius();
    let crowd = filled_sphere(molecule.clone(), &config).unwrap();
    let mut distances: Vec<f32> = crowd
        .members()
        .iter()
        .map(|member| member.pose.position.length())
        .collect();
    distances.sort_unstable_by(f32::total_cmp);
    assert!(distances[3999] <= farthest);
    // The share within a distance is that of the volume; in a shell all are at one distance.
    for share in [0.1_f32, 0.5, 0.9] {
        let expected = farthest * share.cbrt();
        let found = distances[(4000.0 * share) as usize];
        assert!((found / expected - 1.0).abs() < 0.04, "{found} {expected}");
    }
    // No direction is preferred, neither of positions nor of rotations.
    let members = crowd.members().iter();
    let middle: Vec3 = members.clone().map(|member| member.pose.position).sum();
    let up: Vec3 = members.map(|member| member.pose.rotation * Vec3::Y).sum();
    assert!(middle.length() / 4000.0 < 0.8 && up.length() / 4000.0 < 0.04);
    // All are inside, with all of their atoms.
    for member in crowd.members() {
        let (surface, confinement) = crowd.confinement_of(member).unwrap();
        let template = crowd.template_of(member);
        let excess = confinement.excess(surface, template, &member.pose);
        assert!(excess.is_in_place());
    }
    let again = filled_sphere(molecule.clone(), &config).unwrap();
    assert_eq!(again.members(), crowd.members());
    for radius in [0.0, -1.0, f32::NAN] {
        let invalid = FilledSphereConfig { radius, ..config };
        assert!(filled_sphere(molecule.clone(), &invalid).is_err());
    }
}
