//! Conformers that a relaxer exchanges.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    Confinement, FlatPatch, Leaflet, Placement, Surface, even_points,
};
use bevy_rapier_molecules::crowd::{Crowd, CrowdError, CrowdMember};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer};
use glam::{Quat, Vec2, Vec3};
use rand::{RngExt, SeedableRng};

use crate::common::carbons::{carbon, rod, template};
use crate::common::thread_pool::with_threads;
use crate::relaxation::fixtures::{bits, out_of_place, overlaps, relaxed};

/// A rod of carbon atoms along x that bends sideways in its second half.
fn bent(atoms: usize, bend: f32) -> Arc<MoleculeTemplate> {
    let half = atoms / 2;
    let atoms = (0..atoms).map(|k| {
        let beyond = k.saturating_sub(half) as f32;
        let turned = Quat::from_rotation_z(bend) * Vec3::X;
        carbon((Vec3::X * k.min(half) as f32 + turned * beyond) * 0.12, 0.1)
    });
    template(atoms.collect())
}

fn upright() -> Placement {
    Placement {
        leaflet: Leaflet::Outer,
        depth: 0.8,
        up: Vec3::X,
        leeway: 0.2,
        tilt_leeway: 0.5,
    }
}

fn patch() -> FlatPatch {
    FlatPatch::new(Vec2::new(6.0, 5.0), 0.0).unwrap()
}

/// The first template and its number of conformers of each species: eight atoms, and twelve.
const SPECIES: [(u32, u32); 2] = [(0, 3), (3, 2)];

/// Two species with conformers in a patch, then rods that belong to no set.
fn lipids() -> Crowd {
    lipids_of_species(&SPECIES)
}

/// The same molecules, with conformer sets of these species only.
fn lipids_of_species(species: &[(u32, u32)]) -> Crowd {
    let mut crowd = Crowd::new();
    let surface = patch();
    let compartment = crowd.add_compartment(Arc::new(surface));
    let placement = crowd.add_placement(compartment, upright()).unwrap();
    for one in [
        bent(8, 0.0),
        bent(8, 0.6),
        bent(8, 1.2),
        bent(12, 0.4),
        bent(12, 1.0),
        rod(5),
    ] {
        crowd.add_template(one);
    }
    for &(first, count) in species {
        let set = (first..first + count).map(|template| (template, placement));
        crowd.add_conformers(set.collect()).unwrap();
    }
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(9);
    let places = even_points(&surface, upright().offset(), 300, &mut random);
    for (k, place) in places.into_iter().enumerate() {
        let template = [0, 3, 1, 5][k % 4];
        let member = CrowdMember {
            template,
            placement: Some(placement),
            pose: upright().upright_pose(&surface, place, 6.3 * random.random::<f32>()),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

fn species(template: u32) -> usize {
    let is_in = |&(first, count): &(u32, u32)| (first..first + count).contains(&template);
    SPECIES.iter().position(is_in).unwrap_or(SPECIES.len())
}

fn templates(crowd: &Crowd) -> Vec<(u32, Option<u32>)> {
    let members = crowd.members().iter();
    members
        .map(|member| (member.template, member.placement))
        .collect()
}

fn with_exchanges(exchanges: u32) -> RelaxConfig {
    RelaxConfig {
        exchanges,
        ..RelaxConfig::default()
    }
}

#[test]
fn without_exchanges_every_molecule_keeps_its_conformer() {
    let (report, crowd) = relaxed(lipids(), with_exchanges(0));
    assert!(report.start.overlaps > 50, "{report:?}");
    assert!(report.iterations > 3, "{report:?}");
    assert_eq!(templates(&crowd), templates(&lipids()));

    // The sets change nothing else.
    let without_sets = lipids_of_species(&[]);
    assert_eq!(
        bits(&relaxed(without_sets, RelaxConfig::default()).1),
        bits(&crowd)
    );
}

#[test]
fn exchanges_keep_every_molecule_in_its_species() {
    let (report, crowd) = relaxed(lipids(), with_exchanges(2));
    assert!(report.converged(), "{report:?}");
    assert_eq!((overlaps(&crowd), out_of_place(&crowd)), (0, 0));
    assert_ne!(templates(&crowd), templates(&lipids()));
    for (before, after) in lipids().members().iter().zip(crowd.members()) {
        assert_eq!(species(before.template), species(after.template));
        assert_eq!(before.placement, after.placement);
    }
}

#[test]
fn exchanges_reduce_the_overlaps() {
    let mut relaxer = Relaxer::new(lipids(), with_exchanges(2)).unwrap();
    let start = relaxer.status().overlaps;
    for _ in 0..2 {
        relaxer.step().unwrap();
    }
    assert_eq!(relaxer.status().overlaps, overlaps(relaxer.crowd()));
    assert!(relaxer.status().overlaps < start, "{start}");
}

#[test]
fn fixed_molecules_and_those_of_no_set_keep_their_templates_and_the_fixed_ones_their_poses() {
    let mut crowd = Crowd::new();
    let from = lipids();
    for one in from.templates() {
        crowd.add_template(Arc::clone(one));
    }
    crowd.add_compartment(Arc::new(patch()));
    crowd.add_placement(0, upright()).unwrap();
    for set in from.conformer_sets() {
        crowd.add_conformers(set.clone()).unwrap();
    }
    for (k, member) in from.members().iter().enumerate() {
        let fixed = k == 17 || k == 100;
        crowd.add_member(CrowdMember { fixed, ..*member }).unwrap();
    }
    let (_, after) = relaxed(crowd.clone(), with_exchanges(3));
    for k in [17, 100] {
        assert_eq!(after.members()[k], crowd.members()[k]);
    }
    for (before, after) in crowd.members().iter().zip(after.members()) {
        if species(before.template) == SPECIES.len() {
            assert_eq!(before.template, after.template);
        }
    }
}

/// Two hooks that start inside each other.
fn hooks() -> Crowd {
    let mut crowd = Crowd::new();
    let hook = crowd.add_template(bent(10, 2.6));
    let straight = crowd.add_template(bent(10, 0.0));
    let compartment = crowd.add_compartment(Arc::new(patch()));
    let placement = crowd.add_placement(compartment, upright()).unwrap();
    let set = vec![(hook, placement), (straight, placement)];
    crowd.add_conformers(set).unwrap();
    for (spin, shift) in [(0.0, 0.0), (std::f32::consts::PI, 0.12)] {
        let position = Vec3::new(3.0 + shift, 2.5, 0.8);
        let member = CrowdMember {
            template: hook,
            placement: Some(placement),
            pose: upright().upright_pose(&patch(), position, spin),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}

#[test]
fn interlocked_molecules_are_resolved() {
    let (report, crowd) = relaxed(hooks(), RelaxConfig::default());
    assert!(report.start.overlaps > 3, "{report:?}");
    assert!(report.converged(), "{report:?}");
    assert_eq!((overlaps(&crowd), out_of_place(&crowd)), (0, 0));
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let run = |threads| {
        let (_, crowd) = with_threads(threads, || relaxed(lipids(), with_exchanges(2)));
        (templates(&crowd), bits(&crowd))
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn invalid_conformers_are_errors() {
    let mut crowd = lipids();
    let (templates, placements) = (crowd.templates().len() as u32, 1);
    let sets = crowd.conformer_sets().len();
    for (pair, kind, wrong) in [
        ((templates, 0), "template", templates),
        ((u32::MAX, 0), "template", u32::MAX),
        ((0, placements), "placement", placements),
    ] {
        let error = crowd.add_conformers(vec![(0, 0), pair]).unwrap_err();
        assert!(
            matches!(error, CrowdError::UnknownIndex { what, index, .. }
                if what == kind && index == wrong),
            "{error}"
        );
        assert_eq!(crowd.conformer_sets().len(), sets, "nothing is added");
    }
}

#[test]
fn empty_sets_and_volumes_are_never_exchanged() {
    let mut crowd = Crowd::new();
    let templates = [rod(4), rod(6)].map(|one| crowd.add_template(one));
    let compartment = crowd.add_compartment(Arc::new(patch()));
    let inside = Confinement::Inside { distance: 0.3 };
    let placement = crowd.add_placement(compartment, inside).unwrap();
    crowd.add_conformers(Vec::new()).unwrap();
    let set = templates.map(|template| (template, placement));
    crowd.add_conformers(set.to_vec()).unwrap();
    for k in 0..10 {
        let member = CrowdMember {
            template: templates[k % 2],
            placement: Some(placement),
            pose: Pose::from_translation(Vec3::new(3.0, 2.0, 0.05 * k as f32)),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    let before = self::templates(&crowd);
    let (report, after) = relaxed(crowd, RelaxConfig::default());
    assert!(report.converged(), "{report:?}");
    assert_eq!(self::templates(&after), before);
    let below = after.members().iter().map(|one| one.pose.position);
    assert!(
        below
            .map(|at| patch().signed_distance(at))
            .all(|at| at < -0.298)
    );
}
