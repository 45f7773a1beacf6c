//! Rules of the architecture: dependencies between modules point one way, the library does not
//! panic on purpose, licenses are permissive, and shared dependencies exist in one version.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Upper limit of the unpacked package. Registries accept 10 MB packed, and text packs to a
/// fraction of its size.
const MAX_PACKAGE_BYTES: u64 = 24_000_000;

/// Largest number of names in the prelude.
const MAX_PRELUDE_NAMES: usize = 48;

/// Accepted licenses of dependencies.
const PERMISSIVE: [&str; 15] = [
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

/// Crates whose types appear in the public API or are shared with Bevy: exactly one version.
const SINGLE_VERSION: [&str; 9] = [
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

/// All files below `folder` with one of the extensions, sorted.
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

/// The code of a file without comments and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .take_while(|line| line.trim() != "#[cfg(test)]");
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.map(|line| format!("{line}\n")).collect()
}

/// The top-level module of a file: `search` for `src/search/mod.rs`.
fn module_of(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    first.to_str().unwrap().trim_end_matches(".rs").to_string()
}

/// The modules in the order of the table in the crate docs: the lowest layer last.
fn modules_from_the_top() -> Vec<String> {
    let page = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rows = page.lines().skip_while(|line| *line != "//! # Modules");
    let names = rows.filter_map(|row| {
        let cell = row.strip_prefix("//! | ")?.split('|').next()?.trim();
        let name = cell.trim_matches(['[', ']', '`']);
        (name != cell).then(|| name.to_string())
    });
    names.collect()
}

#[test]
fn modules_use_only_lower_modules() {
    let order = modules_from_the_top();
    assert!(order.len() > 15, "{order:?}");
    // Modules missing from the table are private helpers, below all others.
    let layer = |module: &str| order.iter().position(|name| name == module);
    let mut upward = BTreeSet::new();
    for path in files("src", &["rs"]) {
        let from = module_of(&path);
        if from == "lib" {
            continue;
        }
        for rest in code(&path).split("crate::").skip(1) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let to = &rest[..end.unwrap_or(rest.len())];
            let Some(target) = layer(to) else { continue };
            if to != from && layer(&from).is_none_or(|own| target < own) {
                upward.insert(format!("{} uses {to}", path.display()));
            }
        }
    }
    assert!(upward.is_empty(), "upward dependencies: {upward:#?}");
}

#[test]
fn the_crate_docs_list_every_public_module() {
    let order = modules_from_the_top();
    let public = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for line in public
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
    {
        let module = line.trim_end_matches([';', ' ', '{']);
        let described = order.iter().any(|name| name == module) || module == "prelude";
        assert!(described, "the crate docs do not list {module}");
    }
}

#[test]
fn the_prelude_is_short() {
    let page = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let (_, prelude) = page.split_once("pub mod prelude {").unwrap();
    let (prelude, _) = prelude.split_once("\n}").unwrap();
    let imports = prelude.split("pub use ").skip(1).map(|rest| {
        let path = rest.split(';').next().unwrap();
        path.rsplit("::").next().unwrap()
    });
    let names = imports.flat_map(|names| {
        let names = names.trim_matches(['{', '}', ' ', '\n']);
        names.split(',').filter(|name| !name.trim().is_empty())
    });
    let count = names.count();
    assert!((20..=MAX_PRELUDE_NAMES).contains(&count), "{count} names");
}

/// The files that a page links to in backquotes, such as `src/search/mod.rs`.
fn paths_in(page: &str) -> BTreeSet<String> {
    let folders = [
        "src/",
        "shaders/",
        "examples/",
        "tests/",
        "benches/",
        "scripts/",
    ];
    let quoted = page.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|text| folders.iter().any(|folder| text.starts_with(folder)));
    let plain = paths.filter(|path| !path.contains(['*', ' ', '<']));
    plain.map(str::to_string).collect()
}

#[test]
fn the_guides_name_files_that_exist() {
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let missing: Vec<String> = paths_in(&text)
            .into_iter()
            .filter(|path| !root().join(path).exists())
            .collect();
        assert!(missing.is_empty(), "{page}: {missing:#?}");
    }
}

#[test]
fn the_library_does_not_panic_on_purpose() {
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

/// Name, version and license of all dependencies on this platform.
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
        // A star marks packages already listed.
        let (package, license) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split(' ');
        Some([words.next()?, words.next()?, license].map(str::to_string))
    });
    packages.collect()
}

/// Whether an SPDX expression can be met with permissive licenses only: `(MIT OR X) AND Zlib`.
fn is_permissive(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let mut parts = expression.split(" AND ");
    parts.all(|part| {
        part.split(" OR ")
            .any(|license| PERMISSIVE.contains(&license.trim()))
    })
}

#[test]
fn license_expressions_are_parsed() {
    for expression in [
        "MIT",
        "GPL-3.0 OR MIT",
        "(MIT OR X) AND Unicode-3.0",
        "MIT/X",
    ] {
        assert!(is_permissive(expression), "{expression}");
    }
    for expression in ["GPL-3.0", "MIT AND GPL-3.0", ""] {
        assert!(!is_permissive(expression), "{expression}");
    }
}

#[test]
fn dependencies_are_permissive_and_shared_ones_have_one_version() {
    let packages = packages();
    assert!(packages.len() > 100);
    let mut versions = BTreeMap::<&str, BTreeSet<&str>>::new();
    for [name, version, license] in &packages {
        assert!(is_permissive(license), "{name} has the license {license:?}");
        versions.entry(name).or_default().insert(version);
    }
    for name in SINGLE_VERSION {
        let found = versions.get(name).map_or(0, BTreeSet::len);
        assert_eq!(found, 1, "{name}: {:?}", versions.get(name));
    }
}

#[test]
fn the_package_is_complete_and_small() {
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
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "assets/molecules/popc.pdb",
        "shaders/sort/prefix_sum.wgsl",
        "src/lib.rs",
    ];
    for name in wanted {
        assert!(listed.contains(name), "{name} is not in the package");
    }
    let sizes = listed.iter().map(|name| fs::metadata(root().join(name)));
    // Files that cargo generates do not exist yet.
    let bytes: u64 = sizes.flatten().map(|file| file.len()).sum();
    assert!(bytes < MAX_PACKAGE_BYTES, "{bytes} bytes");
}
