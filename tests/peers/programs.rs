//! Finds and runs the programs.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder where `scripts/peers` installs packages.
fn folder() -> PathBuf {
    if let Some(folder) = env::var_os("PEERS_DIR") {
        return folder.into();
    }
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")));
    cache
        .unwrap_or_default()
        .join("bevy_rapier_molecules/peers")
}

/// `found`, unless it is none: then the test is skipped, or fails if it may not be.
#[expect(clippy::print_stderr, reason = "skipped tests must be visible")]
fn required<T>(name: &str, found: Option<T>) -> Option<T> {
    if found.is_none() {
        let text = format!("{name} is not installed: run scripts/peers");
        assert_ne!(env::var("REQUIRE_PEERS").as_deref(), Ok("1"), "{text}");
        eprintln!("skipped: {text}");
    }
    found
}

/// A program on the `PATH`, such as `gmx` or `lmp`.
pub fn program(name: &str) -> Option<Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    required(name, found).map(Command::new)
}

/// Python with gemmi and `MDAnalysis`.
pub fn python() -> Option<Command> {
    let file = folder().join("python/bin/python");
    let is_installed = folder().join("python/.installed").is_file();
    required("MDAnalysis", is_installed.then_some(file)).map(Command::new)
}

/// Node with Mol*.
pub fn node() -> Option<Command> {
    let modules = folder().join("node/node_modules");
    let is_installed = folder().join("node/.installed").is_file();
    let mut node = required("Mol*", is_installed.then(|| Command::new("node")))?;
    node.env("NODE_PATH", modules);
    Some(node)
}

/// Runs a script of `tests/peers` and returns what it prints, which is JSON.
pub fn run_script<A: AsRef<OsStr>>(
    mut interpreter: Command,
    script: &str,
    arguments: impl IntoIterator<Item = A>,
) -> serde_json::Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(script);
    let output = run(interpreter.arg(script).args(arguments));
    let text = String::from_utf8_lossy(&output.stdout);
    // Libraries may print messages before.
    let json = text.lines().rev().find(|line| line.starts_with(['{', '[']));
    serde_json::from_str(json.unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Runs a command, which must succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// An empty folder for the files of a test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("peers")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
