//! The house is as its page says: arrows between rooms point one way, rooms are small,
//! nothing in them panics, and what comes from outside is free and comes once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Largest package that a registry takes is 10 MB packed; unpacked text is several times
/// as large.
const MOST_PACKAGE_BYTES: u64 = 24_000_000;

/// Licenses that let anyone use the crate with its dependencies.
const FREE: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "OFL-1.1",
    "Ubuntu-font-1.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates whose types cross the border of ours: two versions would not fit together.
const ONCE: [&str; 9] = [
    "bevy",
    "bevy_rapier3d",
    "egui",
    "glam",
    "naga",
    "nalgebra",
    "parry3d",
    "rapier3d",
    "wgpu",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `folder` whose names end with one of `endings`, in order.
fn files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if ending.is_some_and(|ending| endings.contains(&ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The code of a file: without its tests, which stand last, and without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .take_while(|line| line.trim() != "#[cfg(test)]");
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.map(|line| format!("{line}\n")).collect()
}

/// The room of a file: `search` for `src/search/mod.rs`.
fn room(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    first.to_str().unwrap().trim_end_matches(".rs").to_string()
}

/// The rooms in the order of the table on the crate's page, the lowest last.
fn rooms_from_the_top() -> Vec<String> {
    let page = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rows = page.lines().skip_while(|line| *line != "//! # Rooms");
    let names = rows.filter_map(|row| {
        let cell = row.strip_prefix("//! | ")?.split('|').next()?.trim();
        let name = cell.trim_matches(['[', ']', '`']);
        (name != cell).then(|| name.to_string())
    });
    names.collect()
}

#[test]
fn rooms_use_only_those_further_down() {
    let order = rooms_from_the_top();
    assert!(order.len() > 15, "{order:?}");
    // What is not on the page serves all, and stands below.
    let floor = |room: &str| order.iter().position(|name| name == room);
    let mut upward = BTreeSet::new();
    for path in files("src", &["rs"]) {
        let from = room(&path);
        if from == "lib" {
            continue;
        }
        for rest in code(&path).split("crate::").skip(1) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let to = &rest[..end.unwrap_or(rest.len())];
            let Some(target) = floor(to) else { continue };
            if to != from && floor(&from).is_none_or(|own| target < own) {
                upward.insert(format!("{} uses {to}", path.display()));
            }
        }
    }
    assert!(upward.is_empty(), "arrows that turn round: {upward:#?}");
}

#[test]
fn every_room_is_on_the_page() {
    let order = rooms_from_the_top();
    let public = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for line in public
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
    {
        let room = line.trim_end_matches([';', ' ', '{']);
        let described = order.iter().any(|name| name == room) || room == "prelude";
        assert!(described, "the crate's page does not say what {room} does");
    }
}

#[test]
fn nothing_in_the_library_panics_on_purpose() {
    let words = [
        ".unwrap()",
        ".expect(\"",
        "panic!(",
        "todo!(",
        "unimplemented!(",
        "unreachable!(",
        "dbg!(",
    ];
    for path in files("src", &["rs"]) {
        if path.ends_with("tests.rs") {
            continue;
        }
        let code = code(&path);
        for word in words {
            assert!(!code.contains(word), "{}: {word}", path.display());
        }
    }
}

/// Name, version and license of all crates that are built for this machine.
fn packages() -> BTreeSet<[String; 3]> {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--prefix", "none"])
        .args(["--format", "{p}|{l}"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let packages = lines.lines().filter_map(|line| {
        // A star marks what was told before.
        let (package, license) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split(' ');
        Some([words.next()?, words.next()?, license].map(str::to_string))
    });
    packages.collect()
}

/// Whether one may choose free licenses throughout: `(MIT OR X) AND Zlib`.
fn is_free(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let mut parts = expression.split(" AND ");
    parts.all(|part| {
        part.split(" OR ")
            .any(|license| FREE.contains(&license.trim()))
    })
}

#[test]
fn expressions_of_licenses_are_understood() {
    for free in [
        "MIT",
        "GPL-3.0 OR MIT",
        "(MIT OR X) AND Unicode-3.0",
        "MIT/X",
    ] {
        assert!(is_free(free), "{free}");
    }
    for bound in ["GPL-3.0", "MIT AND GPL-3.0", ""] {
        assert!(!is_free(bound), "{bound}");
    }
}

#[test]
fn dependencies_are_free_and_those_that_must_fit_come_once() {
    let packages = packages();
    assert!(packages.len() > 100);
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for [name, version, license] in &packages {
        assert!(is_free(license), "{name} has the license {license:?}");
        versions.entry(name).or_default().insert(version);
    }
    for name in ONCE {
        let found = versions.get(name).map_or(0, BTreeSet::len);
        assert_eq!(found, 1, "{name}: {:?}", versions.get(name));
    }
}

#[test]
fn the_package_is_whole_and_small() {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["package", "--list", "--allow-dirty"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success());
    let list = String::from_utf8(output.stdout).unwrap();
    let listed: BTreeSet<&str> = list.lines().collect();
    let wanted = [
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "assets/molecules/popc.pdb",
        "shaders/sort/scan.wgsl",
        "src/lib.rs",
    ];
    for name in wanted {
        assert!(listed.contains(name), "{name} is not in the package");
    }
    let sizes = listed.iter().map(|name| fs::metadata(root().join(name)));
    // What cargo makes itself is not there yet.
    let bytes: u64 = sizes.flatten().map(|file| file.len()).sum();
    assert!(bytes < MOST_PACKAGE_BYTES, "{bytes} bytes");
}
