//! `molecules convert`: molecules in another format, or a part of them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::molecule::{
    AssemblyChoice, LoadOptions, ModelChoice, SplitBy, Structure, load_structure,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneFormat, SceneKind, read_scene, scene_of_structure,
};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::common::scene_input::InputArguments;
use crate::common::scene_output::{OutputArguments, write_with_progress};
use crate::common::{AnyError, CommonArguments, Progress, check_target, print_load_warnings};

/// Write molecules in another format: structures, placements of other programs, and input of
/// molecular dynamics.
///
/// Atoms stay where they are, except in GROMACS and bentopy files, which have a box from the origin.
/// The output is written completely or not at all; an existing file is replaced. Of alternate
/// locations the one with the highest occupancy is written. A unit cell with right angles is kept.
///
/// In formats with poses, copies of a molecule share their atoms. In PDB and mmCIF files no two
/// molecules share a chain and residue number, so that chains may be renamed: in mmCIF files each
/// molecule is a chain.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Structure file (.pdb, .ent, .cif, .mmcif, .bcif or .gro, plain or gzipped), manifest of Mol*
    /// (.zip), placements of bentopy or results of cellPACK (.json), data of LAMMPS (.data, .lmp).
    file: PathBuf,
    /// File to write, of any of these formats; .top and .in are written beside .gro and .data.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    input_arguments: InputArguments,
    #[command(flatten)]
    output_arguments: OutputArguments,
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
  molecules convert cell.cif -o cell.zip
  molecules convert placements.json -o cell.gro --structures proteins

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
        output_arguments,
        common,
        ..
    } = &arguments;
    common.prepare()?;
    check_target(output)?;
    let format = output_arguments.format_of(output)?;
    let mut progress = Progress::new(common.quiet);
    let mut scene = arguments.read(format)?;
    if matches!(format, SceneFormat::Gro | SceneFormat::LammpsData) {
        scene.group_molecule_types(&mut Vec::new());
    }
    let export_options = ExportOptions {
        title: scene.name.clone(),
        decimals: output_arguments.decimals,
        periodic_box: scene.periodic_box,
        wrap: false,
    };
    let written = write_with_progress(output, &scene, format, &export_options, &mut progress)?;
    let (molecules, atoms) = (written.molecules, written.atoms);
    common.write_report(&Output {
        file: &file.to_string_lossy(),
        output: &output.to_string_lossy(),
        molecules,
        atoms,
        bytes: written.bytes,
        box_nm: scene.periodic_box,
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

    /// Reads the molecules. Those of a file with all atoms are of one kind if they are congruent,
    /// unless the target has all atoms, too: then no atom moves.
    fn read(&self, target: SceneFormat) -> Result<Scene, AnyError> {
        let options = ReadSceneOptions {
            load: self.load_options(),
            split_by: match self.by {
                By::Chain => SplitBy::Chain,
                By::Residue => SplitBy::Residue,
                By::Molecule | By::Whole => SplitBy::Molecule,
                By::Model => SplitBy::Model,
            },
            merge_copies: !target.has_all_atoms(),
            ..self.input_arguments.read_options()
        };
        let named = SceneFormat::from_name(&self.file.to_string_lossy());
        let format = options.format.or(named);
        if format.is_some_and(|format| !format.is_structure()) {
            return Ok(read_scene(&self.file, &options)?);
        }
        let structure = load_structure(&self.file, &options.load)?;
        print_load_warnings(&self.file, structure.warnings());
        self.note_other_cell(&structure);
        if !matches!(self.by, By::Whole) {
            return Ok(scene_of_structure(&structure, &options)?);
        }
        let whole = structure.template(&options.load)?;
        let mut kind = SceneKind::new(structure.name(), Arc::new(whole));
        kind.poses.push(kind.template.file_pose());
        let cell = structure.unit_cell().filter(|cell| !cell.is_placeholder());
        Ok(Scene {
            name: structure.name().to_owned(),
            kinds: vec![kind],
            periodic_box: cell.and_then(|cell| cell.orthorhombic()),
            bounds: None,
        })
    }

    /// Prints a note if the unit cell is not a box with right angles.
    fn note_other_cell(&self, structure: &Structure) {
        let cell = structure.unit_cell().filter(|cell| !cell.is_placeholder());
        if cell.is_some_and(|cell| cell.orthorhombic().is_none()) && !self.common.quiet {
            let file = self.file.display();
            // A note that cannot be printed is no reason to stop.
            let _ = writeln!(
                io::stderr(),
                "note: {file}: the unit cell has other angles than 90° and is left out"
            );
        }
    }
}
