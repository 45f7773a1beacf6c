//! `molecules convert`: a structure file in another format, or a part of it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use bevy_rapier_molecules::export::{ExportError, ExportOptions, ExportSummary, export};
use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Format, LoadOptions, ModelChoice, MoleculeTemplate, SplitBy, Structure,
    load_structure,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::common::{AnyError, CommonArguments, check_target, print_load_warnings};

/// Write a structure as PDB or mmCIF.
///
/// Atoms stay where they are. The output is written completely or not at all; an existing file is
/// replaced. Of alternate locations the one with the highest occupancy is written. A unit cell with
/// right angles is kept.
///
/// No two molecules share a chain and residue number, so that chains may be renamed: in mmCIF files
/// each molecule is a chain.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Structure file: .pdb, .ent, .cif, .mmcif, .bcif or .gro, plain or gzipped.
    file: PathBuf,
    /// File to write: .pdb, .ent, .cif or .mmcif, with .gz to compress it.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The parts of the file that become molecules: in PDB files each ends with a TER row.
    #[arg(long, value_enum, default_value_t = By::Molecule)]
    by: By,
    /// Include waters.
    #[arg(long)]
    waters: bool,
    /// Leave out hydrogens.
    #[arg(long)]
    no_hydrogens: bool,
    /// Model to write, by its number, or all of them [default: the first; all with --by model].
    #[arg(long, value_name = "N|all", allow_negative_numbers = true)]
    model: Option<Model>,
    /// Assembly to build from copies of the chains, such as 1.
    #[arg(long, value_name = "ID")]
    assembly: Option<String>,
    /// Chains to write [default: all].
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    chains: Option<Vec<String>>,
    #[command(flatten)]
    common: CommonArguments,
}

const AFTER_HELP: &str = "\
Examples:
  molecules convert 4hhb.bcif.gz -o 4hhb.pdb
  molecules convert 1gzx.pdb -o alpha.cif --chains A,C --no-hydrogens
  molecules convert 4udv.pdb -o virus.cif.gz --assembly 1 --by chain
  molecules convert ensemble.pdb -o third.pdb --model 3

Exit codes:
  0  done
  2  invalid input, or a file cannot be read or written";

/// The parts of a structure file.
#[derive(Clone, Copy, ValueEnum)]
enum By {
    /// Each chain is a molecule.
    Chain,
    /// Each residue is a molecule.
    Residue,
    /// Molecules stay apart: they end at TER rows, in files without such rows at the chain.
    Molecule,
    /// Each model is a molecule.
    Model,
    /// All atoms are one molecule. A PDB file then has the chain names of the input.
    Whole,
}

/// The value of `--model`.
#[derive(Clone, Copy)]
struct Model(ModelChoice);

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(ModelChoice::All));
        }
        let number = text.parse().map(|number| Self(ModelChoice::Number(number)));
        number.map_err(|_| "expected the number of a model, or all".to_owned())
    }
}

/// The output of `--report`.
#[derive(Serialize)]
struct Output<'a> {
    file: &'a str,
    output: &'a str,
    molecules: usize,
    atoms: usize,
    /// Size before compression.
    bytes: u64,
    /// The periodic box that was written, nm.
    box_nm: Option<PeriodicBox>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode, AnyError> {
    let Arguments {
        file,
        output,
        common,
        ..
    } = &arguments;
    common.prepare()?;
    check_target(output)?;
    let format = Format::from_name(&output.to_string_lossy());
    if !matches!(format, Some(Format::Pdb | Format::Mmcif)) {
        let path = output.clone();
        return Err(ExportError::UnknownFormat { path }.into());
    }
    let options = arguments.load_options();
    let structure = load_structure(file, &options)?;
    print_load_warnings(file, structure.warnings());
    let export_options = ExportOptions {
        title: structure.name().to_owned(),
        periodic_box: arguments.kept_box(&structure),
        wrap: false,
        ..ExportOptions::default()
    };
    let summary = arguments.write(&structure, &options, &export_options)?;
    let (molecules, atoms) = (summary.molecules, summary.atoms);
    common.write_report(&Output {
        file: &file.to_string_lossy(),
        output: &output.to_string_lossy(),
        molecules,
        atoms,
        bytes: summary.bytes,
        box_nm: export_options.periodic_box,
    })?;
    common.print(|out| {
        let output = output.display();
        writeln!(out, "{output}: {atoms} atoms in {molecules} molecules")
    })?;
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn load_options(&self) -> LoadOptions {
        let assembly = match (&self.assembly, self.by) {
            (None, _) => AssemblyChoice::None,
            (Some(id), By::Whole) => AssemblyChoice::OneBody(id.clone()),
            (Some(id), _) => AssemblyChoice::Instances(id.clone()),
        };
        LoadOptions {
            model: self.model.map_or(ModelChoice::First, |model| model.0),
            chains: self.chains.clone(),
            waters: self.waters,
            hydrogens: !self.no_hydrogens,
            assembly,
            ..LoadOptions::default()
        }
    }

    /// The unit cell as a box. Prints a note if it is not one.
    fn kept_box(&self, structure: &Structure) -> Option<PeriodicBox> {
        let cell = structure
            .unit_cell()
            .filter(|cell| !cell.is_placeholder())?;
        let periodic = cell.orthorhombic();
        if periodic.is_none() && !self.common.quiet {
            let file = self.file.display();
            // A note that cannot be printed is no reason to stop.
            let _ = writeln!(
                io::stderr(),
                "note: {file}: the unit cell has other angles than 90° and is left out"
            );
        }
        periodic
    }

    fn write(
        &self,
        structure: &Structure,
        options: &LoadOptions,
        export_options: &ExportOptions,
    ) -> Result<ExportSummary, AnyError> {
        let by = match self.by {
            By::Chain => SplitBy::Chain,
            By::Residue => SplitBy::Residue,
            By::Molecule => SplitBy::Molecule,
            By::Model => SplitBy::Model,
            By::Whole => {
                let whole: MoleculeTemplate = structure.template(options)?;
                let placed: [(&MoleculeTemplate, Pose); 1] = [(&whole, whole.file_pose())];
                return Ok(export(&self.output, placed, export_options)?);
            }
        };
        let parts = structure.split_by(by, options)?;
        let placed = parts.iter().map(|part| (&*part.template, part.pose));
        Ok(export(&self.output, placed, export_options)?)
    }
}
