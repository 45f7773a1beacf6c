//! The race of broad phases from the command line.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use bevy_rapier_molecules::search::SearchKind;

use super::program::{assert_help_names, assert_refused, run, scratch, text};

#[test]
fn broad_phase_race_names_its_options() {
    let options = [
        "--out",
        "--most",
        "--quick",
        "--show",
        "--spheres",
        "--steps",
        "--screenshot",
    ];
    assert_help_names("broad_phase_race", &options);
}

#[test]
fn the_race_prints_tables_and_writes_plots() {
    let out = scratch("race");
    let _ = fs::remove_dir_all(&out);
    let experiments = ["falling", "splitting", "brownian", "--quick", "--out", &out];
    let output = run("broad_phase_race", &experiments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for title in [
        "**Falling spheres, early**",
        "**Falling spheres, late**",
        "**Candidates for each sphere**",
        "**Splitting of boxes",
        "**Brownian motion**",
        "**Slices against cubes**",
    ] {
        assert!(said.contains(title), "{title} is missing in {said}");
    }
    assert_tables_are_whole(said);
    let header = said.lines().find(|line| line.starts_with("| spheres |"));
    for name in SearchKind::ALL.map(SearchKind::name) {
        assert!(header.unwrap().contains(&format!("| {name} |")), "{name}");
    }
    assert!(header.unwrap().contains("| rapier-bvh"));
    for name in ["falling_early", "falling_late", "brownian"] {
        assert_plotted(&Path::new(&out).join(name));
    }
}

/// Every row has as many cells as its header, and none is empty.
fn assert_tables_are_whole(said: &str) {
    for table in said.split("\n\n").filter(|part| part.starts_with('|')) {
        let mut rows = table
            .lines()
            .map(|row| row.trim_matches('|').split('|').collect::<Vec<_>>());
        let width = rows.next().unwrap().len();
        assert!(rows.clone().count() >= 2, "no rows: {table}");
        for row in rows {
            assert_eq!(row.len(), width, "{table}");
            assert!(row.iter().all(|cell| !cell.trim().is_empty()), "{table}");
        }
    }
}

/// Both files of a plot are there, and show something.
fn assert_plotted(stem: &Path) {
    let svg = fs::read_to_string(stem.with_extension("svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("ms a step"));
    let png = image::open(stem.with_extension("png")).unwrap().to_rgb8();
    assert_eq!(png.dimensions(), (900, 560));
    let colors: HashSet<_> = png.pixels().collect();
    assert!(colors.len() > 10, "{} colors", colors.len());
}

#[test]
fn broad_phase_race_refuses_bad_input_in_one_sentence() {
    let few = ["falling", "--most", "10"];
    assert_refused("broad_phase_race", &few, "--most must be at least 1000");
    let no_folder = ["cells", "--out", "Cargo.toml"];
    assert_refused("broad_phase_race", &no_folder, "Cargo.toml");
}

#[test]
fn a_race_that_there_is_not_is_bad_input() {
    for arguments in [&["octree"][..], &["--most", "many"]] {
        let output = run("broad_phase_race", arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(text(&output.stderr).starts_with("error: "));
    }
}
