//! `molecules inspect`: what is in a structure file or a recipe.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bevy_rapier_molecules::molecule::{
    Format, LoadOptions, MoleculeError, MoleculePart, MoleculeTemplate, Structure, occupied_volume,
    read_bytes,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use clap::Args;
use glam::{DVec3, Vec3};
use serde::Serialize;

use crate::common::clash_search::By;
use crate::common::recipe_arguments::RecipeArguments;
use crate::common::{AnyError, CommonArguments, print_load_warnings};
use crate::inspect_recipe::{self, write_rest};

/// Mass of a dalton in a cubic nanometer, g/cm³: 1.66053907 · 10⁻²⁴ g in 10⁻²¹ cm³.
const DENSITY_OF_A_DALTON: f64 = 1.660_539_07e-3;

/// Concentration of one molecule in a cubic nanometer, mM: 10²⁴ per liter over Avogadro's number.
const CONCENTRATION_OF_ONE: f64 = 1.660_539_07e3;

/// Default of `--top`.
const DEFAULT_ROWS: usize = 10;

/// First bytes of gzip streams.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How much of a gzipped file is decompressed to recognize its format, bytes.
const INSPECTED_BYTES: u64 = 64 * 1024;

/// Describe a structure file: atoms, residues, molecules, assemblies, box and densities; or a
/// recipe (.json, .bent): compartments, ingredients, numbers and how much space they take.
///
/// By default, molecules are those of the first model and end at TER rows; in files without such
/// rows each chain is a molecule. Molecules with the same atoms are one species. Volumes are those
/// of the atoms with their van der Waals radii.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Structure file: .pdb, .ent, .cif, .mmcif, .bcif or .gro, plain or gzipped. Or a recipe: .json or
    /// .bent.
    file: PathBuf,
    /// The parts of a structure file that are its molecules [default: molecule].
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Include waters.
    #[arg(long)]
    waters: bool,
    /// Number of rows of each table [default: 10, all for recipes]; the report has all of them.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    recipe_arguments: RecipeArguments,
    #[command(flatten)]
    common: CommonArguments,
    /// Print the report to standard output: short for --report -.
    #[arg(long, conflicts_with = "report")]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  molecules inspect 4hhb.bcif.gz
  molecules inspect membrane.pdb --by residue
  molecules inspect box.pdb --waters --json
  molecules inspect cell.json

Exit codes:
  0  done
  2  invalid input, or a file cannot be read or written";

/// The output of `--report`.
#[derive(Serialize)]
struct Output {
    file: String,
    /// `pdb`, `mmcif` or `bcif`.
    format: &'static str,
    gzipped: bool,
    /// All atoms of the file.
    atoms: usize,
    models: usize,
    chains: usize,
    residues: usize,
    /// By name, the most frequent first.
    residue_names: Vec<ResidueCount>,
    by: By,
    /// In the first model, unless by model.
    molecules: usize,
    /// The most atoms first.
    species: Vec<Species>,
    assemblies: Vec<AssemblySize>,
    /// Null if the file has none, or only a placeholder.
    unit_cell: Option<Cell>,
    /// Edges of the unit cell if its angles are 90°, nm.
    box_nm: Option<PeriodicBox>,
    /// Corners of the box around the centers of all atoms, nm.
    bounds_nm: [Vec3; 2],
    /// Null without a box.
    density: Option<Density>,
}

/// A name of residues.
#[derive(Serialize)]
struct ResidueCount {
    name: String,
    count: usize,
}

/// Molecules with the same elements and atom names.
#[derive(Serialize)]
struct Species {
    /// Name of the residue, or of the first and the last one.
    name: String,
    /// Chain of the first molecule.
    chain: String,
    /// Number of molecules.
    count: usize,
    /// Residues of one molecule.
    residues: usize,
    /// Atoms of one molecule.
    atoms: usize,
    /// Mass of one molecule.
    mass_kda: f64,
    /// Volume of the first molecule.
    volume_nm3: f64,
    /// Null without a box.
    concentration_mm: Option<f64>,
}

/// An assembly and its number of operators.
#[derive(Serialize)]
struct AssemblySize {
    id: String,
    operators: usize,
}

/// A unit cell.
#[derive(Serialize)]
struct Cell {
    lengths_nm: DVec3,
    angles_deg: DVec3,
}

/// The molecules in the box.
#[derive(Serialize)]
struct Density {
    g_per_cm3: f64,
    /// Volume of all molecules over that of the box.
    occupied_fraction: f64,
}

pub fn run(mut arguments: Arguments) -> Result<ExitCode, AnyError> {
    if arguments.json {
        arguments.common.report = Some("-".into());
    }
    let Arguments {
        file,
        by,
        waters,
        top,
        recipe_arguments,
        common,
        ..
    } = &arguments;
    common.prepare()?;
    if inspect_recipe::is_recipe(file) {
        if by.is_some() || *waters {
            return Err("--by and --waters are for structure files, not for recipes".into());
        }
        return inspect_recipe::run(file, recipe_arguments, *top, common);
    }
    if recipe_arguments.allow_outside || !recipe_arguments.structures.is_empty() {
        return Err("--allow-outside and --structures are for recipes, .json or .bent".into());
    }
    let bytes = read(file)?;
    let options = LoadOptions {
        waters: *waters,
        radius_scale: 1.0,
        ..LoadOptions::default()
    };
    let structure = read_bytes(&bytes, &file.to_string_lossy(), &options)?;
    print_load_warnings(file, structure.warnings());
    let output = describe(
        file,
        &bytes,
        &structure,
        by.unwrap_or(By::Molecule),
        &options,
    )?;
    common.write_report(&output)?;
    common.print(|out| write_table(out, &output, top.unwrap_or(DEFAULT_ROWS)))?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Vec<u8>, MoleculeError> {
    fs::read(file).map_err(|source| MoleculeError::Io {
        file: file.to_string_lossy().into_owned(),
        source,
    })
}

fn describe(
    file: &Path,
    bytes: &[u8],
    structure: &Structure,
    by: By,
    options: &LoadOptions,
) -> Result<Output, AnyError> {
    let parts = match structure.split_by(by.into(), options) {
        // A file of waters only.
        Err(MoleculeError::NoAtomsSelected { .. }) => Vec::new(),
        parts => parts?,
    };
    let cell = structure.unit_cell().filter(|cell| !cell.is_placeholder());
    let box_nm = cell.and_then(|cell| cell.orthorhombic());
    let species = species(&parts, box_nm);
    let total = |of_one: fn(&Species) -> f64| -> f64 {
        let totals = species.iter().map(|one| one.count as f64 * of_one(one));
        totals.sum()
    };
    Ok(Output {
        file: file.to_string_lossy().into_owned(),
        format: format_name(file, bytes),
        gzipped: bytes.starts_with(&GZIP),
        atoms: structure.atoms().len(),
        models: structure.models().len(),
        chains: structure.chains().len(),
        residues: structure.residues().len(),
        residue_names: residue_names(structure),
        by,
        molecules: parts.len(),
        assemblies: assemblies(structure),
        unit_cell: cell.map(|cell| Cell {
            lengths_nm: cell.lengths,
            angles_deg: cell.angles,
        }),
        box_nm,
        bounds_nm: bounds(structure),
        density: box_nm.map(|periodic| Density {
            g_per_cm3: total(|one| 1.0e3 * one.mass_kda) * DENSITY_OF_A_DALTON / volume(periodic),
            occupied_fraction: total(|one| one.volume_nm3) / volume(periodic),
        }),
        species,
    })
}

/// Volume of a box, nm³.
fn volume(periodic: PeriodicBox) -> f64 {
    periodic.size().as_dvec3().element_product()
}

/// The format that the reader has chosen.
fn format_name(file: &Path, bytes: &[u8]) -> &'static str {
    let by_content = || {
        let mut head = Vec::new();
        if bytes.starts_with(&GZIP) {
            let decoder = flate2::read::MultiGzDecoder::new(bytes);
            // The reader has read the whole file, so that its begin is valid.
            let _ = decoder.take(INSPECTED_BYTES).read_to_end(&mut head);
            Format::from_content(&head)
        } else {
            Format::from_content(bytes)
        }
    };
    match Format::from_name(&file.to_string_lossy()).or_else(by_content) {
        Some(Format::Pdb) => "pdb",
        Some(Format::Mmcif) => "mmcif",
        Some(Format::BinaryCif) => "bcif",
        Some(Format::Gro) => "gro",
        _ => "unknown",
    }
}

/// Numbers of residues by name, the most frequent first, then by name.
fn residue_names(structure: &Structure) -> Vec<ResidueCount> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for residue in structure.residues() {
        *counts.entry(&residue.name).or_default() += 1;
    }
    let mut names: Vec<ResidueCount> = counts
        .into_iter()
        .map(|(name, count)| ResidueCount {
            name: name.to_owned(),
            count,
        })
        .collect();
    names.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    names
}

fn assemblies(structure: &Structure) -> Vec<AssemblySize> {
    let assemblies = structure.assemblies().iter();
    let sizes = assemblies.map(|assembly| AssemblySize {
        id: assembly.id.clone(),
        operators: assembly.operators.len(),
    });
    sizes.collect()
}

/// Corners of the box around all atoms, nm.
fn bounds(structure: &Structure) -> [Vec3; 2] {
    let positions = structure.atoms().iter().map(|atom| atom.position);
    let (low, high) = positions.fold((Vec3::MAX, Vec3::MIN), |(low, high), position| {
        (low.min(position), high.max(position))
    });
    [low, high]
}

/// Groups molecules with the same elements and atom names. The most atoms first; of equals, the
/// first in the file.
fn species(parts: &[MoleculePart], box_nm: Option<PeriodicBox>) -> Vec<Species> {
    let mut groups: Vec<(&MoleculeTemplate, usize)> = Vec::new();
    let mut known = HashMap::new();
    for part in parts {
        let template = &*part.template;
        let key = (template.elements(), template.atom_names());
        let group = *known.entry(key).or_insert_with(|| {
            groups.push((template, 0));
            groups.len() - 1
        });
        groups[group].1 += 1;
    }
    groups.sort_by_key(|(template, _)| std::cmp::Reverse(template.atom_count()));
    let species = groups.into_iter().map(|(template, count)| Species {
        name: name_of(template),
        chain: template.residue_of(0).chain.to_string(),
        count,
        residues: template.residues().len(),
        atoms: template.atom_count(),
        mass_kda: f64::from(template.mass()) / 1.0e3,
        volume_nm3: f64::from(occupied_volume(template.into())),
        concentration_mm: box_nm
            .map(|periodic| count as f64 * CONCENTRATION_OF_ONE / volume(periodic)),
    });
    species.collect()
}

/// The name of the only residue, or those of the first and the last one.
fn name_of(template: &MoleculeTemplate) -> String {
    match template.residues() {
        [] => String::new(),
        [only] => only.name.to_string(),
        [first, .., last] => format!("{}…{}", first.name, last.name),
    }
}

fn write_table(out: &mut dyn Write, output: &Output, top: usize) -> io::Result<()> {
    let zipped = if output.gzipped { ", gzipped" } else { "" };
    writeln!(out, "{}: {}{zipped}", output.file, output.format)?;
    writeln!(
        out,
        "atoms {}, models {}, chains {}, residues {}, molecules {}",
        output.atoms, output.models, output.chains, output.residues, output.molecules
    )?;
    let [low, high] = output.bounds_nm;
    let size = high - low;
    writeln!(
        out,
        "atoms from {:.3} {:.3} {:.3} to {:.3} {:.3} {:.3} nm: {:.3} × {:.3} × {:.3} nm",
        low.x, low.y, low.z, high.x, high.y, high.z, size.x, size.y, size.z
    )?;
    write_cell(out, output)?;
    for AssemblySize { id, operators } in &output.assemblies {
        writeln!(out, "assembly {id}: operators {operators}")?;
    }
    write_species(out, &output.species, top)?;
    writeln!(out, "\nresidue      count")?;
    for ResidueCount { name, count } in output.residue_names.iter().take(top) {
        writeln!(out, "{name:<9}{count:9}")?;
    }
    write_rest(out, output.residue_names.len(), top)
}

/// Writes the unit cell and the densities in it.
fn write_cell(out: &mut dyn Write, output: &Output) -> io::Result<()> {
    if let Some(periodic) = output.box_nm {
        let size = periodic.size();
        writeln!(out, "periodic box: {} × {} × {} nm", size.x, size.y, size.z)?;
    } else if let Some(cell) = &output.unit_cell {
        let (lengths, angles) = (cell.lengths_nm, cell.angles_deg);
        writeln!(
            out,
            "unit cell: {} × {} × {} nm, angles {}° {}° {}°",
            lengths.x, lengths.y, lengths.z, angles.x, angles.y, angles.z
        )?;
    }
    if let Some(density) = &output.density {
        writeln!(
            out,
            "density: {:.4} g/cm³, {:.1} % of the box occupied",
            density.g_per_cm3,
            100.0 * density.occupied_fraction
        )?;
    }
    Ok(())
}

fn write_species(out: &mut dyn Write, species: &[Species], top: usize) -> io::Result<()> {
    if species.is_empty() {
        return Ok(());
    }
    write!(
        out,
        "\nmolecule   chain     count  residues     atoms  mass kDa  volume nm³"
    )?;
    let has_box = species.iter().any(|one| one.concentration_mm.is_some());
    writeln!(out, "{}", if has_box { "         mM" } else { "" })?;
    for one in species.iter().take(top) {
        let Species {
            name,
            chain,
            count,
            residues,
            atoms,
            mass_kda,
            volume_nm3,
            ..
        } = one;
        write!(
            out,
            "{name:<10} {chain:<5} {count:9} {residues:9} {atoms:9} {mass_kda:9.3} {volume_nm3:11.4}"
        )?;
        match one.concentration_mm {
            Some(concentration) => writeln!(out, " {concentration:10.3}")?,
            None => writeln!(out)?,
        }
    }
    write_rest(out, species.len(), top)
}
