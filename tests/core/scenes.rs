//! Scenes of spheres and molecules: sizes, trajectories and invalid configs.

use bevy_rapier_molecules::motion::unknown_trajectories::SphereMotion;
use bevy_rapier_molecules::scenes::{
    CirculatingSpheres, CirculatingSpheresConfig, CrowdedBoxConfig, FallingSpheres,
    FilledSphereConfig, ForcedSpheres, ForcedSpheresConfig, RadiusDistribution, crowded_box,
    filled_sphere, polydisperse_spheres,
};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, UniformGrid};

use crate::common::carbons::rod;

fn particles() -> CirculatingSpheres {
    let config = CirculatingSpheresConfig {
        count: 20,
        ..CirculatingSpheresConfig::default()
    };
    CirculatingSpheres::new(&config).unwrap()
}

#[test]
fn spheres_fall_and_become_denser() {
    let mut falling = FallingSpheres::new(2000, 0.1, 1).unwrap();
    let (mut search, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    let mut counts = Vec::new();
    for _ in 0..=60 {
        falling.advance();
        let spheres = falling.spheres().clone();
        search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
        counts.push(pairs.len());
        falling.respond(&pairs);
    }
    let highest = falling.spheres().extent().unwrap().high.y;
    assert!(highest < 0.6 * falling.edge());
    assert!(counts[60] > 3 * counts[0], "{counts:?}");
}

#[test]
fn invalid_ratios_are_rejected() {
    for ratio in [0.0, -1.0, f32::NAN] {
        assert!(FallingSpheres::new(10, ratio, 1).is_err());
    }
    assert!(FallingSpheres::new(0, 0.1, 1).unwrap().spheres().is_empty());
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
    let middle: glam::Vec3 = members.clone().map(|member| member.pose.position).sum();
    let up: glam::Vec3 = members
        .map(|member| member.pose.rotation * glam::Vec3::Y)
        .sum();
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
