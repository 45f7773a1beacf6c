//! Membranes of several species: their lipids, proteins, changes and exports.

use std::path::Path;
use std::time::Duration;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::certificate::{CertificateOptions, certify};
use bevy_rapier_molecules::compartment::Confinement;
use bevy_rapier_molecules::membrane::LeafletReport;
use bevy_rapier_molecules::molecule::{LoadOptions, load_structure};
use bevy_rapier_molecules::relax::StopReason;

use super::library::Library;
use super::membrane_scene::{MembraneScene, ProteinCopies, Shape};
use super::preset::{Color, Preset};
use super::scene::Scene;
use super::simulation::{Change, Simulation};
use super::species_entry::{SpeciesEntry, SpeciesPart, parse_species, set_ratios};
use super::{scratch, small};

/// Max time of a relaxation.
const MINUTE: Duration = Duration::from_secs(60);

fn species(lipid: &str, outer: f32, inner: f32) -> SpeciesEntry {
    SpeciesEntry {
        outer,
        inner,
        ..SpeciesEntry::new(lipid, None)
    }
}

fn porins(copies: u32) -> Vec<ProteinCopies> {
    vec![ProteinCopies {
        protein: "2por".into(),
        copies,
    }]
}

/// A membrane with much space, which relaxes quickly.
fn spacious(shape: Shape) -> Preset {
    Preset {
        membrane: Some(MembraneScene {
            shape,
            species: vec![species("popc", 3.0, 3.0), species("cholesterol", 1.0, 1.0)],
            area_scale: 1.4,
            conformers: 3,
            ..MembraneScene::default()
        }),
        ..Preset::default()
    }
}

const VESICLE: Shape = Shape::Vesicle { radius: 3.5 };

const FLAT: Shape = Shape::Flat { x: 7.0, y: 6.0 };

/// The preset with a change of its membrane.
fn with(mut preset: Preset, change: impl FnOnce(&mut MembraneScene)) -> Preset {
    change(preset.membrane.as_mut().unwrap());
    preset
}

fn relaxed(preset: Preset) -> Simulation {
    let mut simulation = Simulation::new(preset).unwrap();
    simulation.run(MINUTE, None, &mut Vec::new()).unwrap();
    simulation
}

#[test]
fn a_mixed_vesicle_comes_to_rest_with_all_its_conformers() {
    let mut simulation = relaxed(spacious(VESICLE));
    assert_eq!(simulation.ended(), Some(StopReason::AtRest));
    let snapshot = simulation.snapshot().unwrap();
    assert_eq!(snapshot.templates.len(), 6);
    let report = snapshot.layout.report.as_ref().unwrap();
    let leaflets = [&report.outer, &report.inner].map(|leaflet| leaflet.as_ref().unwrap());
    let layout = &snapshot.layout;
    assert_eq!(layout.lipids, "popc, cholesterol");
    let lipids = leaflets.map(LeafletReport::lipids);
    assert_eq!([layout.outer, layout.inner], lipids);
    let labels = &layout.labels;
    assert_eq!(labels.len(), snapshot.molecules.len());
    for (leaflet, report) in (0..).zip(leaflets) {
        for (index, expected) in (0..).zip(&report.species) {
            let is_counted =
                |label: &&super::scene::Label| (label.leaflet, label.species) == (leaflet, index);
            let number = labels.iter().filter(is_counted).count();
            assert_eq!(number, expected.number as usize, "{}", expected.name);
        }
    }
    let used: Vec<bool> = (0..6)
        .map(|template| {
            snapshot
                .molecules
                .iter()
                .any(|one| one.template == template)
        })
        .collect();
    assert_eq!(used, [true; 6]);
    assert!(snapshot.molecules.iter().all(|one| one.penetration == 0.0));
}

#[test]
fn a_flat_patch_is_exported_with_its_box_and_certified() {
    let simulation = relaxed(spacious(FLAT));
    assert_eq!(simulation.ended(), Some(StopReason::AtRest));
    let scene = Scene::new(&spacious(FLAT), &mut Library::default()).unwrap();
    let middle = scene.layout.center;
    for ending in ["pdb", "cif"] {
        let path = scratch(&format!("patch.{ending}"));
        simulation.export(&path).unwrap();
        let structure = load_structure(&path, &LoadOptions::default()).unwrap();
        let cell = structure.unit_cell().unwrap().orthorhombic().unwrap();
        let size = cell.size();
        assert!((size.x - 7.0).abs() < 1e-3 && (size.y - 6.0).abs() < 1e-3);
        // Two leaflets and water above and below.
        assert!((6.0..9.0).contains(&size.z), "{size}");
        assert!(middle.abs_diff_eq(0.5 * size, 1e-3), "{middle}");
        let certificate = certify(&path, &CertificateOptions::default()).unwrap();
        assert!(certificate.is_clean(), "{certificate}");
        assert_eq!(certificate.box_nm, Some(cell));
    }
}

#[test]
fn other_molecules_restart_and_styles_do_not() {
    let mut simulation = Simulation::new(spacious(VESICLE)).unwrap();
    let before = simulation.snapshot().unwrap();
    let changes: [fn(&mut MembraneScene); 7] = [
        |membrane| membrane.species[1].outer = 2.0,
        |membrane| membrane.species[1].inner = 0.0,
        |membrane| membrane.area_scale = 1.5,
        |membrane| membrane.conformers = 2,
        |membrane| membrane.shape = Shape::Vesicle { radius: 3.8 },
        |membrane| membrane.proteins = porins(1),
        |membrane| (membrane.shape, membrane.proteins) = (FLAT, Vec::new()),
    ];
    for change in changes {
        let mut samples = Vec::new();
        simulation.run(MINUTE, Some(1), &mut samples).unwrap();
        assert_eq!(simulation.iterations(), 1);
        let preset = with(simulation.preset().clone(), change);
        assert_eq!(
            simulation.change(preset.clone()).unwrap(),
            Change::Restarted
        );
        assert_eq!((simulation.preset(), simulation.iterations()), (&preset, 0));
    }
    let after = simulation.snapshot().unwrap();
    assert!(after.molecules.len() != before.molecules.len());
    let styled = Preset {
        color: Color::Species,
        // Of vesicles of one kind of lipid only.
        outer: 7,
        ..simulation.preset().clone()
    };
    assert_eq!(simulation.change(styled).unwrap(), Change::Nothing);
    assert_eq!(simulation.change(small()).unwrap(), Change::Restarted);
}

#[test]
fn tolerance_and_leeways_change_without_a_restart() {
    for shape in [VESICLE, FLAT] {
        let mut simulation = Simulation::new(spacious(shape)).unwrap();
        simulation.run(MINUTE, Some(2), &mut Vec::new()).unwrap();
        let before = simulation.snapshot().unwrap();
        let changes: [fn(&mut Preset); 4] = [
            |preset| preset.leeway = 0.4,
            |preset| preset.tilt_leeway = 40.0,
            |preset| preset.tolerance = Some(0.15),
            |preset| preset.tolerance = None,
        ];
        for change in changes {
            let mut preset = simulation.preset().clone();
            change(&mut preset);
            assert_eq!(simulation.change(preset).unwrap(), Change::Adjusted);
        }
        let after = simulation.snapshot().unwrap();
        let poses = before.molecules.iter().zip(&after.molecules);
        assert!(poses.clone().count() > 100);
        for (old, new) in poses {
            assert_eq!(old.pose.position, new.pose.position);
            assert_eq!(old.template, new.template);
        }
        // The radii of the elements again.
        let radii = after.templates[0].radii();
        assert!(radii.iter().any(|radius| *radius != radii[0]));
    }
}

#[test]
fn proteins_have_their_own_leeways_and_may_be_fixed() {
    let preset = with(spacious(Shape::Vesicle { radius: 5.0 }), |membrane| {
        membrane.proteins = porins(2);
        membrane.fixed_proteins = true;
    });
    let scene = Scene::new(&preset, &mut Library::default()).unwrap();
    assert!(scene.layout.notes[0].contains("is a guess"));
    let changed = Preset {
        leeway: 0.05,
        tilt_leeway: 5.0,
        ..preset
    };
    let crowd = scene.layout.adjusted(&scene.crowd, &changed).unwrap();
    for (member, label) in crowd.members().iter().zip(&scene.layout.labels) {
        let is_protein = label.species == 2;
        assert_eq!((member.fixed, label.leaflet == 2), (is_protein, is_protein));
        let Some((_, Confinement::Surface(placement))) = crowd.confinement_of(member) else {
            panic!("a molecule outside of the membrane");
        };
        let expected = if is_protein { (0.3, 10.0) } else { (0.05, 5.0) };
        let tilt = placement.tilt_leeway.to_degrees();
        assert!(placement.leeway == expected.0 && (tilt - expected.1).abs() < 1e-3);
    }
    let proteins = crowd.members().iter().filter(|member| member.fixed);
    assert_eq!(proteins.count(), 2);
}

#[test]
fn a_gpu_falls_back_to_the_cpu_in_a_periodic_box() {
    let preset = Preset {
        backend: Backend::Gpu,
        ..spacious(FLAT)
    };
    let mut simulation = Simulation::new(preset).unwrap();
    simulation.run(MINUTE, Some(1), &mut Vec::new()).unwrap();
    let snapshot = simulation.snapshot().unwrap();
    assert_eq!(snapshot.backend, Backend::Cpu);
    assert!(snapshot.fell_back.is_some());
}

#[test]
fn impossible_membranes_are_rejected_in_one_sentence() {
    let changes: [(fn(&mut MembraneScene), &str); 10] = [
        (|membrane| membrane.species.clear(), "no lipids"),
        (|membrane| membrane.species[0].lipid = "pope ".into(), ""),
        (
            |membrane| membrane.species[0].lipid = "popq".into(),
            "did you mean 'popc'?",
        ),
        (
            |membrane| membrane.species[0].lipid = "missing.pdb".into(),
            "missing.pdb",
        ),
        (
            |membrane| membrane.species[0].lipid = "assets/molecules/p_xylene.pdb".into(),
            "unknown; give it in nm²",
        ),
        (
            |membrane| membrane.species[0].outer = -1.0,
            "ratios must be",
        ),
        (|membrane| membrane.species[0].area = Some(0.0), "area"),
        (|membrane| membrane.proteins = porins(500), "do not fit"),
        (
            |membrane| membrane.proteins[0].protein = "2prr".into(),
            "did you mean '2por'?",
        ),
        (
            |membrane| membrane.shape = Shape::Flat { x: 1.0, y: 9.0 },
            "1 nm along x",
        ),
    ];
    let valid = with(spacious(VESICLE), |membrane| membrane.proteins = porins(1));
    let mut simulation = Simulation::new(valid.clone()).unwrap();
    for (change, words) in changes {
        let preset = with(valid.clone(), change);
        match simulation.change(preset) {
            // Spaces around a name are no error.
            Ok(change) => assert_eq!((change, words), (Change::Restarted, "")),
            Err(error) => {
                let message = error.to_string();
                assert!(!words.is_empty() && message.contains(words), "{message}");
                assert!(!message.contains('\n'), "{message}");
            }
        }
    }
    // More protein than surface.
    let tiny = with(valid, |membrane| {
        membrane.shape = Shape::Vesicle { radius: 2.1 };
        membrane.species = vec![SpeciesEntry::default()];
    });
    let message = Simulation::new(tiny).map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("more protein than surface"), "{message}");
}

#[test]
fn species_are_parsed_with_ratios_and_areas() {
    let part = |lipid: &str, area, ratio| SpeciesPart {
        lipid: lipid.into(),
        area,
        ratio,
    };
    let parsed = parse_species("--species", "popc:4, a b.pdb@0.7:1.5,C:\\x.pdb@0.6,pope").unwrap();
    let expected = [
        part("popc", None, 4.0),
        part("a b.pdb", Some(0.7), 1.5),
        part("C:\\x.pdb", Some(0.6), 1.0),
        part("pope", None, 1.0),
    ];
    assert_eq!(parsed, expected);
    for (text, words) in [
        ("popc:many", "'many' is not a ratio"),
        ("popc@big:1", "'big' is not an area"),
        ("", "no name"),
        ("popc:1,,pope:1", "no name"),
    ] {
        let error = parse_species("--species", text).unwrap_err();
        assert!(
            error.contains(words) && error.contains("--species"),
            "{error}"
        );
    }
}

#[test]
fn ratios_of_one_leaflet_replace_only_those() {
    let mut entries = vec![species("popc", 1.0, 1.0)];
    let parts = |text| parse_species("--species", text).unwrap();
    set_ratios(&mut entries, &parts("popc:2,pope:1,popc:1"), [true, false]);
    let expected = [species("popc", 3.0, 1.0), species("pope", 1.0, 0.0)];
    assert_eq!(entries, expected);
    set_ratios(&mut entries, &parts("pope:5"), [false, true]);
    let expected = [species("popc", 3.0, 0.0), species("pope", 1.0, 5.0)];
    assert_eq!(entries, expected);
    set_ratios(&mut entries, &parts("dppc"), [true, true]);
    assert_eq!(entries, [species("dppc", 1.0, 1.0)]);
}

#[test]
fn files_have_the_area_of_their_name_or_the_given_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/lipids");
    let file = folder.join("popc_conformers.pdb");
    let renamed = scratch("DOPC.pdb");
    std::fs::copy(&file, &renamed).unwrap();
    let mut library = Library::default();
    let mut area = |path: &Path, area| {
        let entry = SpeciesEntry::new(path.to_string_lossy(), area);
        let species = library.species(&entry, 1).unwrap();
        assert_eq!(species.conformers().len(), 1);
        species.area()
    };
    assert_eq!(area(&renamed, None), 0.68);
    assert_eq!(area(&renamed, Some(0.75)), 0.75);
    // By the name of the residue.
    assert_eq!(area(&file, None), 0.65);
}
