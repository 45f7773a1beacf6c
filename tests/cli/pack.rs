//! `molecules pack`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json as value};

use super::run_program::{
    assert_rejected, assert_usage_error, json, run, scratch, scratch_file, stdout, text,
};

/// Recipes that come to rest within a moment.
const SMALL: [(&str, u64); 3] = [
    ("one_sphere", 1),
    ("nested_mesh_gradient", 100),
    ("sphere_tree", 100),
];

fn recipe(name: &str) -> String {
    format!("tests/data/recipes/{name}.json")
}

/// Spheres of a radius (Å) in a cube of `edge` from `low` (Å).
fn spheres(file: &str, count: u32, radius: u32, [low, edge]: [u32; 2]) -> String {
    let high = low + edge;
    let text = value!({
        "name": "spheres",
        "format_version": "2.0",
        "bounding_box": [[low, low, low], [high, high, high]],
        "objects": { "ball": { "type": "single_sphere", "radius": radius } },
        "composition": {
            "space": { "regions": { "interior": ["A"] } },
            "A": { "object": "ball", "count": count },
        },
    });
    scratch_file(file, &text.to_string())
}

#[test]
fn small_recipes_are_packed_into_clean_files() {
    for (name, molecules) in SMALL {
        for extension in ["cif", "pdb", "cif.gz"] {
            let file = scratch(&format!("{name}.{extension}"));
            let report = json(&["pack", &recipe(name), "-o", &file, "--json"], 0);
            assert_eq!(report["recipe"], name);
            assert_eq!(report["file"], *recipe(name));
            assert_eq!(report["molecules"], molecules);
            assert_eq!(
                (&report["complete"], &report["converged"]),
                (&value!(true), &value!(true))
            );
            for zero in ["overlaps_end", "overlaps_checked", "out_of_place"] {
                assert_eq!(report[zero], 0, "{name}: {zero}");
            }
            assert_eq!(report["reason"], "at_rest");
            assert_eq!(report["left"], value!([]));
            assert_eq!(report["output"]["file"], *file);
            assert_eq!(report["output"]["molecules"], molecules);
            assert_eq!(report["certificate"]["molecules"], molecules);
            assert_eq!(report["certificate"]["pairs_below_tolerance"], 0);
            assert_eq!(report["coarse_molecules"], molecules);
            for stage in ["reading", "populating", "relaxing", "writing", "checking"] {
                assert!(report["seconds"][stage].is_f64(), "{stage}");
            }
            assert!(Path::new(&file).is_file());
        }
    }
}

#[test]
fn the_summary_has_numbers_checks_and_costs() {
    let file = scratch("summary.cif");
    let summary = stdout(&["pack", &recipe("sphere_tree"), "-o", &file]);
    for words in [
        "sphere_tree, seed 1",
        "space.interior  cluster         100\n100 molecules, 1200 atoms",
        "0.8 %",
        "at rest",
        "checked with another search: 0 overlapping pairs",
        "\nclean: 100 molecules",
        "the file has no radii",
        "s: reading ",
    ] {
        assert!(summary.contains(words), "{words}: {summary}");
    }
}

#[test]
fn entries_and_regions_say_what_is_asked_and_filled() {
    let report = json(&["pack", &recipe("sphere_tree"), "--json"], 0);
    let entry = &report["entries"][0];
    assert_eq!(
        [&entry["region"], &entry["object"], &entry["name"]],
        ["space.interior", "cluster", "A"]
    );
    assert_eq!([&entry["asked"], &entry["placed"]], [100, 100]);
    let region = &report["regions"][0];
    assert_eq!(region["compartment"], "space");
    assert_eq!(
        (&region["molecules"], &region["flat"]),
        (&value!(100), &value!(false))
    );
    let [filled, size, fraction] =
        ["filled", "size", "fraction"].map(|key| region[key].as_f64().unwrap());
    assert!((fraction - filled / size).abs() < 1.0e-12);
    // Without a file there is nothing to certify.
    assert_eq!(
        (&report["output"], &report["certificate"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(report["complete"], true);
}

#[test]
fn the_file_depends_on_the_seed_but_not_on_the_threads() {
    let recipe = recipe("nested_mesh_gradient");
    let pack = |name: &str, options: &[&str]| {
        let file = scratch(name);
        let report = json(
            &[&["pack", &recipe, "-o", &file, "--json"], options].concat(),
            0,
        );
        (fs::read(&file).unwrap(), report["seed"].clone())
    };
    let (first, seed) = pack("seed_default.cif", &["--threads", "1"]);
    assert_eq!(seed, 1);
    let (again, _) = pack("seed_1.cif", &["--seed", "1", "--threads", "2"]);
    assert!(first == again);
    let (other, seed) = pack("seed_2.cif", &["--seed", "2"]);
    assert_eq!(seed, 2);
    assert!(first != other);
}

#[test]
fn what_cannot_fit_is_said_before_and_listed_after() {
    let file = scratch("overfull.cif");
    let report = scratch("overfull.json");
    let box_of_spheres = recipe("spheres_in_a_box");
    let output = run(&[
        "pack",
        &box_of_spheres,
        "-o",
        &file,
        "--max-iterations",
        "100",
        "--report",
        &report,
    ]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    let warning = stderr.find("630 molecules ask for 103 % of the space");
    assert!(
        warning.unwrap() < stderr.find("iteration 0").unwrap(),
        "{stderr}"
    );
    assert!(stderr.contains("they cannot fit"));
    let summary = text(&output.stdout);
    assert!(
        summary.contains("\nleft: space.interior sphere_200: "),
        "{summary}"
    );
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    assert_eq!(
        (
            &report["complete"],
            &report["reason"],
            &report["iterations"]
        ),
        (&value!(false), &value!("max_iterations"), &value!(100))
    );
    assert_eq!(report["left"].as_array().unwrap().len(), 4);
    assert!(report["left"][0]["overlapping"].as_u64().unwrap() > 0);
    // Two searches agree.
    assert!(report["overlaps_checked"].as_u64().unwrap() > 0);
    assert_eq!(report["overlaps_checked"], report["overlaps_end"]);
    assert_eq!(report["output"]["molecules"], 630);
    assert!(report["warnings"][0].as_str().unwrap().contains("103 %"));
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let file = scratch("dry_run.cif");
    let arguments = [
        "pack",
        &recipe("spheres_in_a_box"),
        "-o",
        &file,
        "--dry-run",
    ];
    let table = stdout(&arguments);
    assert!(
        table.contains("sphere_25") && table.contains("102.6 %"),
        "{table}"
    );
    let report = json(&[&arguments[..], &["--json"]].concat(), 0);
    assert_eq!(report["molecules"], 630);
    for key in [
        "complete",
        "iterations",
        "reason",
        "left",
        "overlaps_checked",
        "output",
    ] {
        assert_eq!(report.get(key), Some(&Value::Null), "{key}");
    }
    assert!(!Path::new(&file).exists());
}

#[test]
fn options_replace_tolerance_and_stop_criteria() {
    let file = scratch("tolerance.cif");
    let report = json(
        &[
            "pack",
            &recipe("sphere_tree"),
            "-o",
            &file,
            "--tolerance",
            "0.35",
            "--json",
        ],
        0,
    );
    assert!((report["tolerance_nm"].as_f64().unwrap() - 0.35).abs() < 1.0e-6);
    assert!((report["certificate"]["tolerance_nm"].as_f64().unwrap() - 0.35).abs() < 1.0e-6);
    let overfull = recipe("spheres_in_a_box");
    let report = json(&["pack", &overfull, "--max-time", "0", "--json"], 1);
    assert_eq!(report["reason"], "max_time");
}

#[test]
fn a_recipe_without_molecules_is_an_empty_file() {
    let nothing = spheres("nothing.json", 0, 10, [0, 100]);
    let file = scratch("nothing.cif");
    let report = json(&["pack", &nothing, "-o", &file, "--json"], 0);
    assert_eq!(
        (&report["molecules"], &report["complete"]),
        (&value!(0), &value!(true))
    );
    assert!(report["certificate"].is_null() && Path::new(&file).is_file());
}

/// A periodic box with proteins and coarse spheres. `atomic` names the structure file.
fn proteins_and_granules(file: &str, atomic: &Value) -> String {
    let text = value!({
        "name": "mixture",
        "format_version": "2.1",
        "bounding_box": [[0, 0, 0], [10, 10, 10]],
        "bevy_rapier_molecules": { "unit": "nm", "periodic": true },
        "objects": {
            "ubiquitin": { "representations": { "atomic": atomic } },
            "granule": { "type": "single_sphere", "radius": 2 },
        },
        "composition": { "space": { "regions": { "interior": [
            { "object": "ubiquitin", "count": 12 },
            { "object": "granule", "count": 3 },
        ] } } },
    });
    scratch_file(file, &text.to_string())
}

#[test]
fn atoms_and_coarse_spheres_share_a_periodic_box() {
    let mixture = proteins_and_granules("mixture.json", &value!({ "id": "1ubq" }));
    for extension in ["cif", "pdb.gz"] {
        let file = scratch(&format!("mixture.{extension}"));
        let report = json(
            &[
                "pack",
                &mixture,
                "-o",
                &file,
                "--structures",
                "assets/molecules",
                "--json",
            ],
            0,
        );
        assert_eq!(report["molecules"], 15);
        assert_eq!(report["coarse_molecules"], 3);
        assert_eq!(report["overlaps_checked"], 0);
        assert_eq!(report["box_nm"], value!([10.0, 10.0, 10.0]));
        assert_eq!(report["certificate"]["box_nm"], report["box_nm"]);
        assert!(report["certificate"]["least_distance_nm"].as_f64().unwrap() >= 0.2);
    }
}

#[test]
fn files_outside_of_the_folder_need_permission() {
    let molecules = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules");
    let atomic = value!({ "path": molecules, "name": "1ubq.cif" });
    let mixture = proteins_and_granules("outside.json", &atomic);
    assert_rejected(&["pack", &mixture, "--dry-run"], "--allow-outside");
    stdout(&["pack", &mixture, "--dry-run", "--allow-outside"]);
}

#[test]
fn the_certificate_is_written_or_left_out() {
    let (file, certificate) = (scratch("certified.cif"), scratch("certificate.json"));
    let sphere = recipe("one_sphere");
    let arguments = ["pack", &sphere, "-o", &file, "--json"];
    let report = json(
        &[&arguments[..], &["--certificate", &certificate]].concat(),
        0,
    );
    let written: Value = serde_json::from_slice(&fs::read(&certificate).unwrap()).unwrap();
    assert_eq!(report["certificate"], written);
    let report = json(&[&arguments[..], &["--no-certificate"]].concat(), 0);
    assert_eq!(report["certificate"], Value::Null);
    assert_eq!(report["complete"], true);
}

#[test]
fn quiet_runs_print_nothing() {
    let output = run(&["pack", &recipe("one_sphere"), "--quiet"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn invalid_input_is_rejected_in_one_sentence() {
    let sphere = recipe("one_sphere");
    let broken = scratch_file("broken.json", "{ \"name\": \"broken\", ");
    let unknown = scratch_file(
        "unknown_object.json",
        &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&sphere))
            .unwrap()
            .replace("\"object\": \"ball\"", "\"object\": \"bal\""),
    );
    let file = scratch("rejected.cif");
    for (arguments, words) in [
        (&["nowhere.json"][..], "nowhere.json: cannot read the file"),
        (&["assets"], "cannot read the file"),
        (&["Cargo.toml"], "expected a recipe"),
        (&[&broken], "invalid JSON"),
        (&[&unknown], "did you mean 'ball'?"),
        (
            &[&sphere, "-o", "nowhere/a.cif"],
            "there is no folder 'nowhere'",
        ),
        (&[&sphere, "-o", "assets"], "'assets': it is not a file"),
        (&[&sphere, "-o", "a.xyz"], "unknown format of 'a.xyz'"),
        (
            &[&sphere, "--report", "nowhere/a.json"],
            "there is no folder",
        ),
        (
            &[&sphere, "-o", &file, "--certificate", "nowhere/a.json"],
            "there is no folder",
        ),
        (
            &[&sphere, "--tolerance", "-1"],
            "--tolerance must be positive",
        ),
        (
            &[&sphere, "--tolerance", "0"],
            "--tolerance must be positive",
        ),
        (
            &[&sphere, "--tolerance", "nan"],
            "--tolerance must be positive",
        ),
        (&[&sphere, "--max-time", "-1"], "--max-time must be finite"),
        (&[&sphere, "--max-time", "inf"], "--max-time must be finite"),
    ] {
        assert_rejected(&[&["pack"], arguments].concat(), words);
    }
    assert!(!Path::new(&file).exists());
}

#[test]
fn contradictory_options_are_usage_errors() {
    let sphere = recipe("one_sphere");
    for options in [
        &["--certificate", "a.json"][..],
        &["-o", "a.cif", "--certificate", "a.json", "--no-certificate"],
        &["--seed", "-1"],
        &["--max-iterations", "-1"],
        &["--json", "--report", "a.json"],
    ] {
        assert_usage_error(&[&["pack", &sphere], options].concat());
    }
    assert_usage_error(&["pack"]);
}

#[test]
fn a_format_that_cannot_hold_the_molecules_is_rejected_before_the_work() {
    let far = spheres("far.json", 10, 10, [20_000, 500]);
    let file = scratch("far.pdb");
    assert_rejected(
        &["pack", &far, "-o", &file, "--quiet"],
        "outside the range of",
    );
    assert!(!Path::new(&file).exists());
    let file = scratch("far.cif");
    stdout(&["pack", &far, "-o", &file]);
}

#[test]
#[cfg(unix)]
fn an_interruption_writes_the_molecules_as_they_are() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    use super::run_program::command;

    // They never fit.
    let crowded = spheres("interrupted.json", 30_000, 10, [0, 500]);
    let file = scratch("interrupted.cif");
    let mut child = command()
        .args([
            "pack",
            &crowded,
            "-o",
            &file,
            "--max-iterations",
            "1000000",
            "--json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("iteration ") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "no progress");
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{rest}");
    assert!(rest.contains("interrupted: "), "{rest}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["reason"], &report["complete"]),
        (&value!("interrupted"), &value!(false))
    );
    assert_eq!(report["output"]["molecules"], 30_000);
    let written = fs::read_to_string(&file).unwrap();
    assert!(
        written
            .lines()
            .filter(|line| line.starts_with("HETATM"))
            .count()
            == 30_000
    );
}

#[test]
fn the_relaxation_is_recorded() {
    let recipe = recipe("nested_mesh_gradient");
    let file = scratch("relaxation.simularium");
    let arguments = ["pack", &recipe, "--trajectory", &file, "--json"];
    let report = json(&arguments, 0);
    let iterations = report["iterations"].as_u64().unwrap();
    let recorded: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let frames = recorded["spatialData"]["bundleData"].as_array().unwrap();
    assert_eq!(frames.len() as u64, iterations + 1);
    let molecules = report["molecules"].as_u64().unwrap();
    let data = |frame: &Value| frame["data"].as_array().unwrap().len() as u64;
    assert!(frames.iter().all(|frame| data(frame) == 11 * molecules));
    assert_eq!(frames.last().unwrap()["time"], iterations);
    let info = &recorded["trajectoryInfo"];
    assert_eq!(info["trajectoryTitle"], report["recipe"]);
    assert_eq!(info["timeUnits"]["name"], "iterations");
}

#[test]
fn the_first_and_last_iterations_are_in_a_sparse_xtc() {
    let spheres = spheres("recorded_spheres.json", 60, 10, [0, 100]);
    let file = scratch("sparse.xtc");
    let arguments = ["pack", &spheres, "--trajectory", &file, "--json"];
    json(
        &[&arguments[..], &["--trajectory-every", "1000"]].concat(),
        0,
    );
    let sparse = fs::metadata(&file).unwrap().len();
    json(&arguments, 0);
    assert!(fs::metadata(&file).unwrap().len() > sparse);
    let first = file.replace(".xtc", ".first.pdb");
    assert_eq!(
        fs::read_to_string(first).unwrap().matches("HETATM").count(),
        60
    );
    // A frame of 60 atoms has a header of 92 bytes and about five bytes for each atom.
    assert!((2 * 92..2 * 600).contains(&sparse), "{sparse}");
}

#[test]
fn invalid_trajectories_are_rejected() {
    let recipe = recipe("one_sphere");
    let file = scratch("never.simularium");
    assert_rejected(
        &["pack", &recipe, "--trajectory", "run.dcd"],
        "unknown format of 'run.dcd'",
    );
    assert_rejected(
        &["pack", &recipe, "--trajectory", "nowhere/run.xtc"],
        "no folder",
    );
    assert_usage_error(&["pack", &recipe, "--trajectory-every", "2"]);
    let every = [
        "pack",
        &recipe,
        "--trajectory",
        &file,
        "--trajectory-every",
        "0",
    ];
    assert_usage_error(&every);
    assert_usage_error(&["pack", &recipe, "--trajectory", &file, "--dry-run"]);
    assert!(!Path::new(&file).exists());
}
