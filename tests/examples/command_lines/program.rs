//! Runs the examples and looks at what they say.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;
use std::{env, fs};

use serde_json::Value;

/// Runs an example from the folder of the crate.
pub fn run(example: &str, arguments: &[&str]) -> Output {
    Command::new(program(example))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // Where there is none, a layer of Mesa's Vulkan complains on standard error.
        .env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap()
}

/// The program of an example, of the same build as this test.
///
/// Whoever runs all tests has it built already: Cargo puts it into `examples`, and
/// this test into `deps` next to it. For whoever runs only this test, it is built.
pub fn program(example: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    let program = folder
        .join("examples")
        .join(format!("{example}{}", env::consts::EXE_SUFFIX));
    if !is_up_to_date(&program) {
        build(example, folder);
    }
    program
}

/// Whether a program is newer than each file that Cargo has written down as its source.
fn is_up_to_date(program: &Path) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let sources = fs::read_to_string(program.with_extension("d")).ok();
    let sources = sources.as_deref().and_then(|text| text.split_once(": "));
    let (Some(built), Some((_, sources))) = (changed(program), sources) else {
        return false;
    };
    sources
        .split_whitespace()
        .all(|source| changed(Path::new(source)).is_some_and(|time| time <= built))
}

/// Builds an example into `folder`, which Cargo names after the profile.
fn build(example: &str, folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()).unwrap() {
        "debug" => "dev",
        name => name,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO")));
    let output = Command::new(cargo)
        .args(["build", "--example", example, "--profile", profile])
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example} does not build: {said}");
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// What a program with this exit code wrote to standard output: JSON, nothing else.
pub fn json(output: &Output, code: i32) -> Value {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A path for a file of a test, where there is none yet.
pub fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_lines");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path.to_str().unwrap().to_owned()
}

pub fn assert_help_names(example: &str, options: &[&str]) {
    let output = run(example, &["--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let listed: Vec<&str> = text(&output.stdout)
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    for option in options {
        assert!(listed.contains(option), "{example} --help lacks {option}");
    }
}

/// Bad input: exit code 2, one sentence with `words` on standard error, nothing else.
pub fn assert_refused(example: &str, arguments: &[&str], words: &str) {
    let output = run(example, arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let sentence = said
        .strip_prefix("error: ")
        .and_then(|s| s.strip_suffix('\n'));
    let is_sentence = sentence.is_some_and(|s| s.contains(words) && !s.contains('\n'));
    assert!(is_sentence, "{arguments:?}: {said}");
}
