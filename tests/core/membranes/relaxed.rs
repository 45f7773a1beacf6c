//! Membranes at the density of real ones come to rest, and the written files are clean.
//!
//! Small scenes; `benches/membranes.rs` has the large ones.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::certificate::{CertificateOptions, certify};
use bevy_rapier_molecules::compartment::{Confinement, ShapeCompartment, Torus};
use bevy_rapier_molecules::export::{ExportOptions, export};
use bevy_rapier_molecules::membrane::{
    Composition, CrossSection, CrossSectionConfig, MemberKind, Membrane, MembraneConfig,
    MembraneProtein, ProteinEntry, ProteinPlaces, Species, membrane,
};
use bevy_rapier_molecules::prelude::*;
use glam::{Vec2, Vec3};

use super::fixtures::{along, asset, flat, lipid, sphere};
use crate::common::revolution::{half_turn, revolution};
use crate::common::thread_pool::with_threads;

/// Atoms closer than this overlap, nm.
const TOLERANCE: f32 = 0.2;

fn slim(name: &str, area: f32, conformers: usize) -> Species {
    let species = lipid(name, area).take(conformers);
    species
        .with_radius(TOLERANCE / 2.0)
        .unwrap()
        .slimmed()
        .unwrap()
}

/// The same lipids in both leaflets.
fn both(config: MembraneConfig, ratios: &[(usize, f32)]) -> MembraneConfig {
    MembraneConfig {
        outer: Some(Composition::ratios(ratios)),
        inner: Some(Composition::ratios(ratios)),
        ..config
    }
}

/// Builds and relaxes a membrane, which must come to rest, and checks the written file.
fn relaxed(name: &str, species: &[Species], config: &MembraneConfig) -> Membrane {
    let mut built = membrane(species, config).unwrap();
    let limits = RelaxConfig {
        max_iterations: 1500,
        ..RelaxConfig::default()
    };
    let mut relaxer = Relaxer::new(built.crowd, limits).unwrap();
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    assert!(report.start.overlaps > 100, "{name}: {:?}", report.start);
    assert!(report.converged(), "{name}: {:?}", report.end);
    built.crowd = relaxer.into_crowd();

    let path = std::env::temp_dir().join(format!("{name}_{}.cif", std::process::id()));
    let options = ExportOptions {
        periodic_box: built.crowd.periodic_box(),
        ..ExportOptions::default()
    };
    export(&path, built.crowd.instances(), &options).unwrap();
    let options = CertificateOptions {
        tolerance: TOLERANCE,
        crowd: Some(&built.crowd),
        ..CertificateOptions::default()
    };
    let certificate = certify(&path, &options);
    std::fs::remove_file(&path).unwrap();
    let certificate = certificate.unwrap();
    assert!(certificate.is_clean(), "{name}: {certificate}");
    assert_eq!(certificate.molecules, built.crowd.members().len());
    assert_eq!(certificate.box_nm, built.crowd.periodic_box());
    built
}

#[test]
fn a_vesicle_of_popc_comes_to_rest_at_its_real_area() {
    let species = [slim("popc", 0.65, 16)];
    let built = relaxed("vesicle", &species, &both(sphere(6.0), &[(0, 1.0)]));
    let area = built.report.outer.as_ref().unwrap().area_per_lipid();
    assert!((area - 0.65).abs() < 0.002, "{area} nm²");
}

#[test]
fn a_flat_periodic_patch_comes_to_rest_at_its_real_area() {
    let config = both(flat(9.0), &[(0, 1.0)]);
    let species = [slim("popc", 0.65, 16)];
    let one = with_threads(1, || relaxed("patch_1", &species, &config));
    let three = with_threads(3, || relaxed("patch_3", &species, &config));
    assert_eq!(one.crowd.members(), three.crowd.members(), "bit for bit");
}

#[test]
fn a_mixture_comes_to_rest_at_the_sum_of_its_areas() {
    let species = [
        slim("popc", 0.66, 16),
        slim("pope", 0.56, 16),
        slim("cholesterol", 0.40, 4),
    ];
    let config = both(flat(9.0), &[(0, 4.0), (1, 3.0), (2, 3.0)]);
    let built = relaxed("mixture", &species, &config);
    let filling = built.report.outer.as_ref().unwrap().filling();
    assert!((filling - 1.0).abs() < 0.02, "{filling}");
}

#[test]
fn leaflets_of_other_lipids_come_to_rest_on_a_torus() {
    let species = [slim("popc", 0.65, 8), slim("dppc", 0.63, 8)];
    let config = MembraneConfig {
        outer: Some(Composition::ratios(&[(0, 1.0)])),
        inner: Some(Composition::ratios(&[(1, 2.0), (0, 1.0)])),
        ..along(Torus::new(9.0, 4.5, Pose::IDENTITY).unwrap())
    };
    relaxed("torus", &species, &config);
}

#[test]
fn capsules_and_concave_discs_come_to_rest() {
    let species = [slim("popc", 0.70, 16)];
    let capsule = ShapeCompartment::capsule(6.0, 5.0, Pose::IDENTITY).unwrap();
    relaxed("capsule", &species, &both(along(capsule), &[(0, 1.0)]));

    let point = |k| {
        let (sine, cosine) = half_turn(k, 41);
        Vec2::new(9.0 * sine, cosine * (4.0 + 5.0 * sine * sine))
    };
    let profile: Vec<Vec2> = (0..41).map(point).collect();
    let (vertices, triangles) = revolution(&profile, 64);
    let disc = ShapeCompartment::mesh(&vertices, &triangles, Pose::IDENTITY).unwrap();
    relaxed("disc", &species, &both(along(disc), &[(0, 1.0)]));
}

#[test]
fn no_lipid_enters_the_barrel_of_a_porin() {
    let porin = load(asset("molecules/2por.pdb"), &LoadOptions::default()).unwrap();
    let porin = porin.with_uniform_radius(TOLERANCE / 2.0).unwrap();
    let porin = MembraneProtein::guess("porin", Arc::new(porin)).unwrap();
    for (name, fixed) in [("porins", false), ("fixed_porins", true)] {
        let entry = ProteinEntry {
            fixed,
            ..ProteinEntry::new(porin.clone(), ProteinPlaces::Random(2))
        };
        let mut config = both(flat(15.0), &[(0, 1.0)]);
        config.proteins = vec![entry];
        let built = relaxed(name, &[slim("popc", 0.65, 16)], &config);
        let crowd = &built.crowd;
        let slab = CrossSectionConfig {
            low: -0.5,
            high: 0.5,
            ..CrossSectionConfig::default()
        };
        let section = CrossSection::new(&porin, &slab).unwrap();
        assert!(section.pore_area() > 0.5, "{} nm²", section.pore_area());
        for index in built.proteins.clone() {
            let protein = crowd.members()[index];
            let (surface, confinement) = crowd.confinement_of(&protein).unwrap();
            let template = crowd.template_of(&protein);
            let excess = confinement.excess(surface, template, &protein.pose);
            assert!(excess.is_in_place());
            for (lipid, kind) in crowd.members().iter().zip(&built.kinds) {
                if matches!(kind, MemberKind::Protein { .. }) {
                    continue;
                }
                for atom in crowd.template_of(lipid).positions() {
                    let atom = lipid.pose.transform_point(*atom);
                    let apart = (atom - protein.pose.position).as_dvec3();
                    let apart = crowd.periodic_box().unwrap().shortest(apart).as_vec3();
                    let atom = protein.pose.position + apart;
                    let height = porin.height(protein.pose.inverse_transform_point(atom));
                    let point = section.in_plane(&protein.pose, atom);
                    assert!(
                        height.abs() > 0.5 || !section.is_pore(point),
                        "{name}: {point}"
                    );
                }
            }
        }
    }
}

#[test]
fn an_interior_relaxes_together_with_its_membrane() {
    let species = [slim("popc", 0.75, 16)];
    let mut built = membrane(&species, &both(sphere(7.0), &[(0, 1.0)])).unwrap();
    let protein = load(asset("molecules/1ubq.cif"), &LoadOptions::default()).unwrap();
    let protein = Arc::new(protein.with_uniform_radius(TOLERANCE / 2.0).unwrap());
    let template = built.crowd.add_template(protein);
    let inside = Confinement::Inside { distance: 3.5 };
    let placement = built.crowd.add_placement(0, inside).unwrap();
    for index in 0..8 {
        let pose = Pose::from_translation(Vec3::splat(0.2 * index as f32 - 0.7));
        let member = CrowdMember {
            template,
            pose,
            placement: Some(placement),
            fixed: index == 0,
        };
        built.crowd.add_member(member).unwrap();
    }
    let first = built.crowd.members()[built.kinds.len()];
    let mut relaxer = Relaxer::new(built.crowd, RelaxConfig::default()).unwrap();
    let report = relaxer.run(|_| ControlFlow::Continue(())).unwrap();
    assert!(report.converged(), "{report:?}");
    let crowd = relaxer.into_crowd();
    assert_eq!(crowd.members()[built.kinds.len()], first, "fixed");
    for member in &crowd.members()[built.kinds.len()..] {
        assert!(member.pose.position.length() < 3.5 + 1.0e-3);
    }
}
