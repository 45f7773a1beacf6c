//! The command `clashes` and the example of that name: options, parts and table.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::contact::clashes::{Clash, ClashAtom, ClashOptions, ClashReport};
use bevy_rapier_molecules::molecule::{
    LoadOptions, MoleculePart, SplitBy, Structure, load_structure,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use clap::{Args, ValueEnum};
use glam::Vec3;
use serde::Serialize;

use super::{AnyError, print_load_warnings};

/// What is searched for clashes.
#[derive(Args)]
pub struct ClashArguments {
    /// Structure file: .pdb, .ent, .cif, .mmcif, .bcif or .gro, plain or gzipped.
    pub file: PathBuf,
    /// The parts of the file. Atoms of the same part never clash.
    #[arg(long, value_enum, default_value_t = By::Chain)]
    pub by: By,
    /// Atoms closer than this many nm overlap [default: if their spheres of 0.7 van der Waals
    /// radii do].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    /// Edges of the box that repeats in space, nm.
    #[arg(
        long = "box",
        value_name = "X,Y,Z",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    edges: Option<Vec<f32>>,
    /// Use the unit cell of the file as the box that repeats in space.
    #[arg(long, conflicts_with = "edges")]
    periodic: bool,
    /// Number of listed clashes.
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
    /// Include waters.
    #[arg(long)]
    waters: bool,
}

/// The parts of a structure file.
#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Each chain is a part.
    Chain,
    /// Each residue is a part.
    Residue,
    /// Each molecule of a file that this library wrote is a part.
    Molecule,
    /// Each model is a part.
    Model,
}

impl From<By> for SplitBy {
    fn from(by: By) -> Self {
        match by {
            By::Chain => Self::Chain,
            By::Residue => Self::Residue,
            By::Molecule => Self::Molecule,
            By::Model => Self::Model,
        }
    }
}

impl ClashArguments {
    /// Checks the options and loads the parts.
    pub fn load(&self) -> Result<(Vec<MoleculePart>, ClashOptions), AnyError> {
        let mut clash_options = ClashOptions {
            tolerance: self.tolerance,
            worst: self.worst,
            periodic_box: self.given_box()?,
        };
        // Invalid options are reported before the file is read.
        clash_options.check()?;
        let options = LoadOptions {
            waters: self.waters,
            ..LoadOptions::default()
        };
        let structure = load_structure(&self.file, &options)?;
        print_load_warnings(&self.file, structure.warnings());
        if self.periodic {
            clash_options.periodic_box = Some(box_of(&structure, &self.file)?);
        }
        let parts = structure.split_by(self.by.into(), &options)?;
        Ok((parts, clash_options))
    }

    /// The box of the command line.
    fn given_box(&self) -> Result<Option<PeriodicBox>, AnyError> {
        let Some(edges) = &self.edges else {
            return Ok(None);
        };
        let [x, y, z] = edges[..] else {
            return Err("--box needs three edges in nm, such as 6.4,6.7,7.3".into());
        };
        Ok(Some(PeriodicBox::new(Vec3::new(x, y, z))?))
    }
}

/// The box that is the unit cell of the file.
fn box_of(structure: &Structure, file: &Path) -> Result<PeriodicBox, AnyError> {
    let file = file.display();
    let Some(cell) = structure.unit_cell().filter(|cell| !cell.is_placeholder()) else {
        return Err(format!("{file}: the file has no unit cell; give the edges with --box").into());
    };
    let periodic = cell.orthorhombic();
    periodic.ok_or_else(|| format!("{file}: the unit cell has other angles than 90°").into())
}

/// Writes the numbers of a report and the worst clashes.
pub fn write_clashes(
    out: &mut dyn Write,
    file: &Path,
    adapter: Option<&str>,
    report: &ClashReport,
) -> io::Result<()> {
    let (file, atoms, parts) = (file.display(), report.atoms, report.parts);
    writeln!(out, "{file}: {atoms} atoms in {parts} parts")?;
    if let Some(adapter) = adapter {
        writeln!(out, "searched on {adapter}")?;
    }
    if let Some(periodic) = report.box_nm {
        let size = periodic.size();
        writeln!(out, "periodic box: {} × {} × {} nm", size.x, size.y, size.z)?;
    }
    match report.tolerance_nm {
        Some(tolerance) => writeln!(out, "pairs closer than {tolerance} nm: {}", report.pairs)?,
        None => writeln!(out, "pairs whose spheres overlap: {}", report.pairs)?,
    }
    match report.closest_nm {
        Some(closest) => writeln!(out, "closest pair: {closest:.4} nm")?,
        None => writeln!(out, "closest pair: none, there is only one part")?,
    }
    if !report.worst.is_empty() {
        writeln!(out, "\ndistance nm  penetration nm  atoms")?;
    }
    for Clash {
        distance_nm,
        penetration_nm,
        a,
        b,
        image,
        ..
    } in &report.worst
    {
        let (a, mut b) = (label(a), label(b));
        if let Some([x, y, z]) = image.filter(|image| *image != [0; 3]) {
            b += &format!(" in image {x} {y} {z}");
        }
        writeln!(
            out,
            "{distance_nm:11.4}  {penetration_nm:14.4}  {a:<24}  {b}"
        )?;
    }
    Ok(())
}

/// Chain, residue, number and atom, such as `A ALA 12 CA (C)`.
fn label(atom: &ClashAtom) -> String {
    let code = atom.insertion_code.map(String::from).unwrap_or_default();
    format!(
        "{} {} {}{code} {} ({})",
        atom.chain, atom.residue, atom.number, atom.atom, atom.element
    )
}
