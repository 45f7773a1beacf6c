//! `molecules certify`: whether a written structure is free of clashes and pierced rings.

use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::certificate::{CertificateOptions, DEFAULT_TOLERANCE_NM};
use bevy_rapier_molecules::scene_files::SceneFormat;
use clap::Args;

use crate::common::relax_arguments::check_tolerance;
use crate::common::scene_output::{certificate_of, format_parser};
use crate::common::{AnyError, CommonArguments, STOPPED};

/// Check that no atoms of different molecules are too close, and that no bond passes through a
/// ring.
///
/// Molecules end at TER rows; in files without such rows each chain is a molecule. A unit cell with
/// right angles is a periodic box. In files with poses, all instances are compared.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Structure file (.pdb, .ent, .cif, .mmcif, .bcif or .gro, plain or gzipped), manifest of Mol*
    /// (.zip), placements of bentopy (.json) or data of LAMMPS (.data, .lmp).
    file: PathBuf,
    /// Format of the file [default: that of its extension].
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<SceneFormat>,
    /// Folder with structure files that a .json file names; repeatable [default: that of the file].
    #[arg(long, value_name = "DIR")]
    structures: Vec<PathBuf>,
    /// Atoms of different molecules closer than this many nm overlap.
    #[arg(
        long,
        value_name = "NM",
        default_value_t = DEFAULT_TOLERANCE_NM,
        allow_negative_numbers = true
    )]
    tolerance: f32,
    #[command(flatten)]
    common: CommonArguments,
    /// Print the report to standard output: short for --report -.
    #[arg(long, conflicts_with = "report")]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  molecules certify membrane.pdb
  molecules certify vesicle.cif.gz --tolerance 0.15 --report certificate.json

Exit codes:
  0  the structure is clean
  1  it is not clean
  2  invalid input, or a file cannot be read or written";

pub fn run(mut arguments: Arguments) -> Result<ExitCode, AnyError> {
    if arguments.json {
        arguments.common.report = Some("-".into());
    }
    let Arguments {
        file,
        from,
        structures,
        tolerance,
        common,
        ..
    } = &arguments;
    common.prepare()?;
    check_tolerance(*tolerance)?;
    let options = CertificateOptions {
        tolerance: *tolerance,
        ..CertificateOptions::default()
    };
    let named = SceneFormat::from_name(&file.to_string_lossy());
    // The content of other files may tell the format.
    let format = from.or(named).unwrap_or(SceneFormat::Pdb);
    let Some(certificate) = certificate_of(file, format, structures, &options)? else {
        let file = file.display();
        return Err(format!("{file}: results of cellPACK have no atoms to check").into());
    };
    common.write_report(&certificate)?;
    common.print(|out| writeln!(out, "{certificate}"))?;
    Ok(if certificate.is_clean() {
        ExitCode::SUCCESS
    } else {
        STOPPED.into()
    })
}
