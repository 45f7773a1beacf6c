//! Presets: parsing, validation, saving and watching.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bevy_rapier_molecules::relax::StopReason;
use bevy_rapier_molecules::scenes::VesicleStart;

use super::membrane_scene::{MembraneScene, ProteinCopies, Shape};
use super::preset::{BUNDLED, Color, Detail, Law, Preset, PresetError, WatchedFile};
use super::simulation::Simulation;
use super::species_entry::SpeciesEntry;
use super::{scratch, small, unwritable};

#[test]
fn presets_from_before_membranes_keep_their_scene() {
    let parse = |text| Preset::parse(text, Path::new("old.ron")).unwrap();
    let old = parse("Preset(outer: 60, inner: 6, radius: 3.2)");
    let expected = Preset {
        outer: 60,
        inner: 6,
        radius: 3.2,
        ..Preset::one_lipid()
    };
    assert_eq!(old, expected);
    let old = parse("(molecule: Popc, leeway: 0.25, tolerance: 0.17)");
    let expected = Preset {
        leeway: 0.25,
        tolerance: Some(0.17),
        ..Preset::one_lipid()
    };
    assert_eq!(old, expected);
    // New ones have a membrane, also by default.
    assert_eq!(
        parse("Preset(seed: 2)").membrane,
        Preset::default().membrane
    );
    let new = parse("Preset(membrane: (area_scale: 1.1), outer: 60)");
    assert_eq!(new.membrane.unwrap().area_scale, 1.1);
}

#[test]
fn bundled_presets_are_valid() {
    for (name, file, text) in BUNDLED {
        let preset = Preset::parse(text, Path::new(file));
        let preset = preset.unwrap_or_else(|error| panic!("{name}: {error}"));
        if preset.membrane.is_some() {
            assert_eq!(preset.tolerance, Some(0.2), "{name}");
            continue;
        }
        // The presets of one kind of molecule do not depend on the defaults of membranes.
        let has_leeway = preset.inside.is_some() || text.contains("leeway: ");
        assert!(has_leeway && text.contains("tolerance: "));
        let template = preset.molecule.template(preset.tolerance).unwrap();
        let molecules = preset.inside.unwrap_or(preset.outer + preset.inner);
        let atoms = template.atom_count() as u32 * molecules;
        match name {
            "a million atoms" => assert_eq!(atoms, 999_908),
            "thesis defaults" => {
                assert_eq!(
                    (preset.law, preset.start),
                    (Law::Thesis, VesicleStart::Uniform)
                );
            }
            _ => assert!(atoms > 10_000, "{name}: {atoms}"),
        }
    }
}

#[test]
fn bundled_membranes_are_what_their_names_say() {
    let membrane = |wanted: &str| {
        let bundled = BUNDLED.iter().find(|(name, ..)| *name == wanted).unwrap();
        let preset = Preset::parse(bundled.2, Path::new(bundled.1)).unwrap();
        (preset.membrane.clone().unwrap(), preset)
    };
    assert_eq!(membrane("popc vesicle").1, Preset::default());
    let (mixed, _) = membrane("mixed membrane");
    let ratios = mixed.species.iter().map(|entry| (entry.outer, entry.inner));
    assert!(ratios.eq([(4.0, 4.0), (3.0, 3.0), (3.0, 3.0)]));
    let (porins, _) = membrane("porins");
    assert_eq!(porins.shape, Shape::Vesicle { radius: 12.0 });
    assert_eq!(porins.proteins[0].copies, 6);
    let (flat, _) = membrane("flat patch");
    assert_eq!(flat.shape, Shape::FLAT);
}

/// A fraction of the molecules is near the center, unlike in a shell.
#[test]
fn the_sparse_cytoplasm_fills_a_sphere_and_comes_to_rest() {
    let bundled = BUNDLED
        .iter()
        .find(|(name, ..)| *name == "sparse cytoplasm");
    let (_, file, text) = bundled.unwrap();
    let preset = Preset::parse(text, Path::new(file)).unwrap();
    let mut scene = Simulation::new(preset.clone()).unwrap();
    let mut samples = Vec::new();
    scene
        .run(Duration::from_secs(60), None, &mut samples)
        .unwrap();
    assert_eq!(scene.ended(), Some(StopReason::AtRest));
    let molecules = scene.snapshot().unwrap().molecules;
    assert_eq!(molecules.len() as u32, preset.inside.unwrap());
    // Half of the radius is an eighth of the volume.
    let distances = molecules
        .iter()
        .map(|molecule| molecule.pose.position.length());
    let near = distances.filter(|at| *at < 0.5 * preset.radius).count();
    assert!(near > 3, "{near} of {}", molecules.len());
}

#[test]
fn saved_presets_load_unchanged() {
    let path = scratch("saved.ron");
    let mut preset = small();
    preset.projection.momentum = 0.625;
    preset.thesis.force = 1.0e-7;
    preset.cell_width = Some(0.7);
    preset.color = Color::Penetration;
    preset.start = VesicleStart::Uniform;
    preset.seed = u64::MAX;
    preset.molecule = super::molecule_kind::MoleculeKind::File("a \"b\"/c.pdb".into());
    preset.save(&path).unwrap();
    assert_eq!(Preset::load(&path).unwrap(), preset);
    for (color, detail) in Color::ALL.iter().zip(Detail::ALL.iter().cycle()) {
        let styled = Preset {
            color: *color,
            detail: *detail,
            ..preset.clone()
        };
        styled.save(&path).unwrap();
        assert_eq!(Preset::load(&path).unwrap(), styled);
    }
    let membrane = Preset {
        membrane: Some(MembraneScene {
            shape: Shape::Flat { x: 12.5, y: 9.0 },
            species: vec![
                SpeciesEntry::new("popc", None),
                SpeciesEntry::new("my \"lipid\".pdb", Some(0.7)),
            ],
            area_scale: 1.05,
            conformers: 3,
            proteins: vec![ProteinCopies {
                protein: "2por".into(),
                copies: 2,
            }],
            fixed_proteins: true,
        }),
        ..preset.clone()
    };
    let membrane = Preset {
        cell_width: None,
        ..membrane
    };
    membrane.save(&path).unwrap();
    assert_eq!(Preset::load(&path).unwrap(), membrane);
    // An existing file is replaced.
    small().save(&path).unwrap();
    assert_eq!(Preset::load(&path).unwrap(), small());
}

#[test]
fn missing_fields_have_their_defaults() {
    let preset = Preset::parse("(seed: 7, tolerance: 0.3)", Path::new("x.ron")).unwrap();
    let expected = Preset {
        seed: 7,
        tolerance: Some(0.3),
        ..Preset::default()
    };
    assert_eq!(preset, expected);
    // Those of the laws as well.
    let text = "(projection: (relaxation: 1.0), thesis: (force: 1.0e-5))";
    let preset = Preset::parse(text, Path::new("x.ron")).unwrap();
    let mut expected = Preset::default();
    expected.projection.relaxation = 1.0;
    expected.thesis.force = 1.0e-5;
    assert_eq!(preset, expected);
    // Unknown fields are errors.
    assert!(Preset::parse("(projection: (relaxtion: 1.0))", Path::new("x.ron")).is_err());
}

#[test]
fn syntax_errors_name_file_line_and_column() {
    for (text, position, words) in [
        ("Preset(\n    outer: 500,\n    inner: many,\n)", (3, 12), ""),
        ("Preset(\n    outer: -1,\n)", (2, 12), ""),
        ("Preset(\n  radios: 5.2,\n)", (2, 3), "radios"),
        ("Preset(outer: 5", (1, 16), ""),
        ("", (1, 1), ""),
    ] {
        let path = scratch("invalid.ron");
        fs::write(&path, text).unwrap();
        let error = Preset::load(&path).unwrap_err();
        let PresetError::Syntax { line, column, .. } = error else {
            panic!("{text}: {error}");
        };
        let (expected_line, expected_column) = position;
        assert_eq!(line, expected_line, "{text}: {error}");
        // The parser may be one character further.
        assert!(column.abs_diff(expected_column) <= 1, "{text}: {error}");
        let message = error.to_string();
        assert!(
            message.contains("invalid.ron") && message.contains(words),
            "{message}"
        );
        assert!(
            message.contains(&format!("line {line}, column {column}")),
            "{message}"
        );
    }
}

#[test]
fn invalid_values_are_rejected_by_name() {
    for (text, name) in [
        ("(radius: 0.0)", "radius"),
        ("(radius: NaN)", "radius"),
        ("(radius: 1e9)", "radius"),
        ("(tolerance: -0.1)", "tolerance"),
        ("(leeway: -1.0)", "leeway"),
        ("(tilt_leeway: inf)", "tilt_leeway"),
        ("(cell_width: 0.0)", "cell_width"),
        ("(clearance: -0.1)", "clearance"),
        ("(membrane: (shape: Vesicle(radius: -1.0)))", "radius"),
        ("(membrane: (shape: Flat(x: 5.0, y: 0.0)))", "y of the flat"),
        ("(membrane: (area_scale: 0.0))", "area_scale"),
        ("(membrane: (conformers: 0))", "conformers"),
        (
            "(membrane: (shape: Flat(x: 9.0, y: 9.0)), cell_width: 0.5)",
            "cell_width",
        ),
        (
            "(thesis: (force: -1.0, torque: 0.0, spring_force: 0.0, spring_torque: 0.0))",
            "force",
        ),
    ] {
        let error = Preset::parse(text, Path::new("x.ron")).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains(name) && message.contains("x.ron"),
            "{text}: {message}"
        );
        assert!(matches!(error, PresetError::Invalid { .. }), "{message}");
    }
    let mut preset = small();
    preset.projection.momentum = 1.0;
    let path = scratch("invalid_value.ron");
    assert!(preset.save(&path).is_err());
    assert!(!path.exists());
}

#[test]
fn unreadable_and_unwritable_files_are_named() {
    let error = Preset::load(&scratch("missing.ron")).unwrap_err();
    assert!(matches!(error, PresetError::Read { .. }));
    assert!(error.to_string().contains("missing.ron"), "{error}");
    for path in unwritable("preset.ron") {
        let error = small().save(&path).unwrap_err();
        assert!(matches!(error, PresetError::Write { .. }), "{error}");
        assert!(error.to_string().contains("preset.ron"), "{error}");
    }
    let error = small().save(Path::new("..")).unwrap_err();
    assert!(matches!(error, PresetError::Write { .. }), "{error}");
}

#[test]
fn a_changed_file_is_reported_once() {
    let path = scratch("watched.ron");
    small().save(&path).unwrap();
    let mut watched = WatchedFile::new(path.clone());
    assert!(!watched.has_changed());
    let later = SystemTime::now() + Duration::from_secs(5);
    fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(later))
        .unwrap();
    assert!(watched.has_changed());
    assert!(!watched.has_changed());
    // Deleted and written again, as some text editors do.
    fs::remove_file(&path).unwrap();
    assert!(!watched.has_changed());
    small().save(&path).unwrap();
    assert!(watched.has_changed());
}
