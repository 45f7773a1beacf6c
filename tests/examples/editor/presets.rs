//! Presets: read, checked, saved, and told apart from broken ones.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::preset::{BUNDLED, Color, Detail, Law, Preset, PresetError, Watched};
use super::{scratch, small, unwritable};

#[test]
fn presets_that_come_with_the_program_are_sound() {
    for (name, file, text) in BUNDLED {
        let preset = Preset::parse(text, Path::new(file));
        let preset = preset.unwrap_or_else(|error| panic!("{name}: {error}"));
        let atoms = preset
            .molecule
            .template(preset.tolerance)
            .unwrap()
            .atom_count();
        let atoms = atoms as u32 * (preset.outer + preset.inner);
        match name {
            "a million atoms" => assert_eq!(atoms, 999_908),
            "thesis defaults" => assert_eq!(preset.law, Law::Thesis),
            _ => assert!(atoms > 10_000, "{name}: {atoms}"),
        }
    }
}

#[test]
fn a_preset_comes_back_as_it_was_saved() {
    let path = scratch("saved.ron");
    let mut preset = small();
    preset.projection.momentum = 0.625;
    preset.thesis.force = 1.0e-7;
    preset.cell_width = Some(0.7);
    preset.color = Color::Penetration;
    preset.seed = u64::MAX;
    preset.molecule = super::molecules::MoleculeKind::File("a \"b\"/c.pdb".into());
    preset.save(&path).unwrap();
    assert_eq!(Preset::load(&path).unwrap(), preset);
    for (color, detail) in Color::ALL.iter().zip(Detail::ALL.iter().cycle()) {
        let look = Preset {
            color: *color,
            detail: *detail,
            ..preset.clone()
        };
        look.save(&path).unwrap();
        assert_eq!(Preset::load(&path).unwrap(), look);
    }
    // Over the old file as well.
    small().save(&path).unwrap();
    assert_eq!(Preset::load(&path).unwrap(), small());
}

#[test]
fn what_a_file_leaves_out_has_its_default() {
    let preset = Preset::parse("(outer: 7, tolerance: 0.3)", Path::new("x.ron")).unwrap();
    let expected = Preset {
        outer: 7,
        tolerance: Some(0.3),
        ..Preset::default()
    };
    assert_eq!(preset, expected);
    // Of the laws, too.
    let text = "(projection: (relaxation: 1.0), thesis: (force: 1.0e-5))";
    let preset = Preset::parse(text, Path::new("x.ron")).unwrap();
    let mut expected = Preset::default();
    expected.projection.relaxation = 1.0;
    expected.thesis.force = 1.0e-5;
    assert_eq!(preset, expected);
    // A slip of the pen is no default.
    assert!(Preset::parse("(projection: (relaxtion: 1.0))", Path::new("x.ron")).is_err());
}

#[test]
fn a_broken_file_is_told_with_line_and_column() {
    for (text, place, words) in [
        ("Preset(\n    outer: 500,\n    inner: many,\n)", (3, 12), ""),
        ("Preset(\n    outer: -1,\n)", (2, 12), ""),
        ("Preset(\n  radios: 5.2,\n)", (2, 3), "radios"),
        ("Preset(outer: 5", (1, 16), ""),
        ("", (1, 1), ""),
    ] {
        let path = scratch("broken.ron");
        fs::write(&path, text).unwrap();
        let error = Preset::load(&path).unwrap_err();
        let PresetError::Syntax { line, column, .. } = error else {
            panic!("{text}: {error}");
        };
        // Or next to it: the reader may be past a blank or a sign.
        let (on_line, at) = place;
        assert_eq!(line, on_line, "{text}: {error}");
        assert!(column.abs_diff(at) <= 1, "{text}: {error}");
        let said = error.to_string();
        assert!(
            said.contains("broken.ron") && said.contains(words),
            "{said}"
        );
        assert!(
            said.contains(&format!("line {line}, column {column}")),
            "{said}"
        );
    }
}

#[test]
fn impossible_values_are_refused_by_name() {
    for (text, name) in [
        ("(radius: 0.0)", "radius"),
        ("(radius: NaN)", "radius"),
        ("(radius: 1e9)", "radius"),
        ("(tolerance: -0.1)", "tolerance"),
        ("(leeway: -1.0)", "leeway"),
        ("(tilt_leeway: inf)", "tilt_leeway"),
        ("(cell_width: 0.0)", "cell_width"),
        ("(clearance: -0.1)", "clearance"),
        (
            "(thesis: (force: -1.0, torque: 0.0, spring_force: 0.0, spring_torque: 0.0))",
            "force",
        ),
    ] {
        let error = Preset::parse(text, Path::new("x.ron")).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(name) && said.contains("x.ron"),
            "{text}: {said}"
        );
        assert!(matches!(error, PresetError::Invalid { .. }), "{said}");
    }
    let mut preset = small();
    preset.projection.momentum = 1.0;
    let path = scratch("impossible.ron");
    assert!(preset.save(&path).is_err());
    assert!(!path.exists());
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
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
fn a_change_of_a_file_is_noticed_once() {
    let path = scratch("watched.ron");
    small().save(&path).unwrap();
    let mut watched = Watched::new(path.clone());
    assert!(!watched.has_changed());
    let later = SystemTime::now() + Duration::from_secs(5);
    fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(later))
        .unwrap();
    assert!(watched.has_changed());
    assert!(!watched.has_changed());
    // Gone and back, as some editors save.
    fs::remove_file(&path).unwrap();
    assert!(!watched.has_changed());
    small().save(&path).unwrap();
    assert!(watched.has_changed());
}
