//! The command line of `broad_phase_race`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use bevy_rapier_molecules::search::SearchKind;

use super::run_example::{assert_help_names, assert_rejected, run, scratch, text};

#[test]
fn help_names_all_options() {
    let options = [
        "--out",
        "--quick",
        "--show",
        "--spheres",
        "--steps",
        "--screenshot",
    ];
    assert_help_names("broad_phase_race", &options);
}

#[test]
fn experiments_print_tables_and_write_plots() {
    let out = scratch("race");
    let _ = fs::remove_dir_all(&out);
    let experiments = ["others", "crossovers", "--quick", "--out", &out];
    let output = run("broad_phase_race", &experiments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let tables = text(&output.stdout);
    for title in [
        "**Other scenes**",
        "**Few spheres**",
        "**One large sphere**",
    ] {
        assert!(tables.contains(title), "{title} is missing in {tables}");
    }
    assert_tables_are_complete(tables);
    let header = tables.lines().find(|line| line.starts_with("| scene |"));
    for name in SearchKind::ALL.map(SearchKind::name) {
        assert!(header.unwrap().contains(&format!("| {name} |")), "{name}");
    }
    assert!(header.unwrap().contains("| rapier-bvh"));
}

/// Asserts that all rows have as many cells as the header, and none is empty.
fn assert_tables_are_complete(tables: &str) {
    for table in tables.split("\n\n").filter(|part| part.starts_with('|')) {
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

/// Asserts that both files of a plot exist and are not blank.
fn assert_plotted(stem: &Path) {
    let svg = fs::read_to_string(stem.with_extension("svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("ms per step"));
    let png = image::open(stem.with_extension("png")).unwrap().to_rgb8();
    assert_eq!(png.dimensions(), (900, 560));
    let colors: HashSet<_> = png.pixels().collect();
    assert!(colors.len() > 10, "{} colors", colors.len());
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let no_folder = ["others", "--out", "Cargo.toml"];
    assert_rejected("broad_phase_race", &no_folder, "Cargo.toml");
}
