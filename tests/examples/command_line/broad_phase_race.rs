//! The command line of `broad_phase_race`.

use bevy_rapier_molecules::search::SearchKind;

use super::run_example::{assert_help_names, assert_rejected, run, text};

#[test]
fn help_names_all_options() {
    let options = ["--quick", "--show", "--spheres", "--steps", "--screenshot"];
    assert_help_names("broad_phase_race", &options);
}

#[test]
fn experiments_print_tables() {
    let output = run("broad_phase_race", &["others", "crossovers", "--quick"]);
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

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let two_outputs = ["others", "--report", "-", "--screenshot", "race.png"];
    assert_rejected("broad_phase_race", &two_outputs, "exclude each other");
}
