//! Runs the program and checks its output.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use serde_json::Value;

/// Runs the program in the folder of the crate.
pub fn run(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

/// A command that runs the program in the folder of the crate.
pub fn command() -> Command {
    // Tests outside of this package, where Cargo does not build the program, name it themselves.
    let built = option_env!("CARGO_BIN_EXE_molecules").map(OsString::from);
    let program = built.or_else(|| env::var_os("MOLECULES")).unwrap();
    let mut command = Command::new(program);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The JSON on standard output of a run with this exit code.
pub fn json(arguments: &[&str], code: i32) -> Value {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Standard output of a successful run.
pub fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    text(&output.stdout).to_owned()
}

/// A path for a temporary file. Deletes an existing file.
pub fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("molecules");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path.to_str().unwrap().to_owned()
}

/// A temporary file with this content.
pub fn scratch_file(name: &str, content: &str) -> String {
    let path = scratch(name);
    fs::write(&path, content).unwrap();
    path
}

/// A row of a PDB file; coordinates in ångström.
pub fn atom(serial: u32, residue: &str, number: u32, place: [f32; 3]) -> String {
    let [x, y, z] = place;
    format!(
        "HETATM{serial:5}  C   {residue:3} A{number:4}    {x:8.3}{y:8.3}{z:8.3}  1.00  0.00           C\n"
    )
}

/// Asserts that invalid input is rejected: exit code 2, and nothing but one sentence with
/// `words` on standard error.
pub fn assert_rejected(arguments: &[&str], words: &str) {
    let output = run(arguments);
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
pub fn assert_usage_error(arguments: &[&str]) {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
}
