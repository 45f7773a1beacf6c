//! Runs the examples and checks their output.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;
use std::{env, fs};

use serde_json::Value;

/// Runs an example in the folder of the crate.
pub fn run(example: &str, arguments: &[&str]) -> Output {
    command(example).args(arguments).output().unwrap()
}

/// A command that runs an example in the folder of the crate, without a display.
pub fn command(example: &str) -> Command {
    let mut command = Command::new(program(example));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        // Without this folder, a layer of Mesa's Vulkan prints warnings.
        .env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Hides all graphics adapters from a command.
#[cfg(target_os = "linux")]
pub fn without_gpu(command: &mut Command) -> &mut Command {
    command
        .env("VK_ICD_FILENAMES", "/missing.json")
        .env("VK_DRIVER_FILES", "/missing.json")
}

/// The executable of an example, of the same build as this test.
///
/// Cargo puts it into `examples`, and this test into `deps` next to it. If only this test is
/// built, the example is built now.
fn program(example: &str) -> PathBuf {
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

/// Whether a program is newer than all of its sources, which Cargo lists next to it.
fn is_up_to_date(program: &Path) -> bool {
    let modified = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let sources = fs::read_to_string(program.with_extension("d")).ok();
    let sources = sources.as_deref().and_then(|text| text.split_once(": "));
    let (Some(built), Some((_, sources))) = (modified(program), sources) else {
        return false;
    };
    sources
        .split_whitespace()
        .all(|source| modified(Path::new(source)).is_some_and(|time| time <= built))
}

/// Builds an example into `folder`, which is named after the profile.
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
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{example} does not build: {stderr}"
    );
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The JSON on standard output of a program with this exit code.
pub fn json(output: &Output, code: i32) -> Value {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A path for a temporary file. Deletes an existing file.
pub fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command_lines");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path.to_str().unwrap().to_owned()
}

/// Asserts that `--help` lists these options.
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

/// Asserts that invalid input is rejected: exit code 2, and nothing but one sentence with
/// `words` on standard error.
pub fn assert_rejected(example: &str, arguments: &[&str], words: &str) {
    let output = run(example, arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    let sentence = stderr
        .strip_prefix("error: ")
        .and_then(|s| s.strip_suffix('\n'));
    let is_sentence = sentence.is_some_and(|s| s.contains(words) && !s.contains('\n'));
    assert!(is_sentence, "{arguments:?}: {stderr}");
}

/// Asserts that `clap` rejects the arguments: exit code 2, nothing on standard output.
pub fn assert_usage_error(example: &str, arguments: &[&str]) {
    let output = run(example, arguments);
    let stderr = text(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{example} {arguments:?}: {stderr}"
    );
    assert!(output.stdout.is_empty(), "{example} {arguments:?}");
    assert!(
        stderr.starts_with("error: "),
        "{example} {arguments:?}: {stderr}"
    );
}
