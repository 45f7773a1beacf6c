//! Writes coordinates: a title, the number of atoms, a line per atom, and the box.

use std::io::{self, Write};

use glam::DVec3;

use super::super::scene_box::SceneBox;
use super::super::write::PROGRESS_EVERY;
use super::super::{Scene, WriteProgress};
use super::names::{ColumnNames, CutNames, NAME_COLUMNS};
use crate::export::text_rows::{TextRows, push_fixed, scale, write_fixed};
use crate::export::{ANGSTROM_PER_NM, AngstromPose, ExportError, ExportOptions, ExportSummary};
use crate::molecule::MoleculeTemplate;

/// Decimals (nm) of the usual columns, below which readers may fail.
const MIN_DECIMALS: u8 = 3;
/// Decimals beyond which there is only rounding noise.
const MAX_DECIMALS: u8 = 6;
/// Columns of a coordinate besides its decimals.
const COLUMNS_BESIDES_DECIMALS: usize = 5;
/// Columns before the coordinates: residue number, residue, atom, atom number.
const HEAD: usize = 4 * NAME_COLUMNS;
/// Columns of the longest row.
const WIDTH: usize = HEAD + 3 * (COLUMNS_BESIDES_DECIMALS + MAX_DECIMALS as usize);
/// Numbers of atoms and residues restart at zero here.
const NUMBER_MODULUS: u64 = 100_000;
/// Least decimals of the box (nm), as GROMACS writes it.
const BOX_DECIMALS: u8 = 5;
/// Decimals of the translation in the title, nm.
const SHIFT_DECIMALS: u8 = 5;

/// Writes the molecules of `groups` of kinds.
pub(super) fn write_coordinates<'a>(
    writer: impl Write,
    scene: &Scene,
    groups: impl Iterator<Item = &'a [usize]>,
    title: &str,
    scene_box: &SceneBox,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let mut rows = TextRows::new(writer);
    rows.push(title);
    write_shift(&mut rows, scene_box);
    rows.end_row()?;
    rows.push(&scene.atom_count().to_string());
    rows.end_row()?;
    let first_molecules = first_molecules(scene);
    let mut state = AtomRows {
        rows,
        scene_box,
        decimals: options.decimals.clamp(MIN_DECIMALS, MAX_DECIMALS),
        residue_number: 0,
        summary: ExportSummary::default(),
    };
    let mut cut_names = CutNames::default();
    for &kind in groups.flatten() {
        let template = &scene.kinds[kind].template;
        let names = cut_names.of(template)?;
        for (index, &pose) in scene.kinds[kind].poses.iter().enumerate() {
            if state.summary.molecules.is_multiple_of(PROGRESS_EVERY) {
                progress(state.summary.molecules);
            }
            let index = first_molecules[kind] + index;
            let placed = AngstromPose::new(index, template, pose, None)?;
            let offset = scene_box.low + scene_box.edges_to_image(pose);
            let position = |atom: usize| {
                placed.angstrom(template.positions()[atom]) / ANGSTROM_PER_NM - offset
            };
            state.molecule(index, template, &names, position)?;
        }
    }
    let AtomRows {
        mut rows,
        decimals,
        mut summary,
        ..
    } = state;
    let decimals = decimals.max(BOX_DECIMALS);
    for edge in scene_box.size.to_array() {
        rows.push("   ");
        push_fixed(&mut rows.buffer, scale(edge, decimals), decimals);
    }
    rows.end_row()?;
    summary.bytes = rows.finish()?;
    Ok(summary)
}

/// Index of the first molecule of each kind.
fn first_molecules(scene: &Scene) -> Vec<usize> {
    let mut next = 0;
    let kinds = scene.kinds.iter();
    let firsts = kinds.map(|kind| {
        let first = next;
        next += kind.poses.len();
        first
    });
    firsts.collect()
}

/// Appends the translation into the box to the title, if there is one.
fn write_shift(rows: &mut TextRows<impl Write>, scene_box: &SceneBox) {
    let shift = (-scene_box.low).to_array();
    let shift = shift.map(|component| scale(component, SHIFT_DECIMALS));
    if shift == [0; 3] {
        return;
    }
    rows.push(", moved by");
    for component in shift {
        rows.push(" ");
        push_fixed(&mut rows.buffer, component, SHIFT_DECIMALS);
    }
    rows.push(" nm");
}

/// The rows of atoms, and what they count.
struct AtomRows<'a, W: Write> {
    rows: TextRows<W>,
    scene_box: &'a SceneBox,
    decimals: u8,
    residue_number: u64,
    summary: ExportSummary,
}

impl<W: Write> AtomRows<'_, W> {
    fn molecule(
        &mut self,
        index: usize,
        template: &MoleculeTemplate,
        names: &ColumnNames,
        position: impl Fn(usize) -> DVec3,
    ) -> Result<(), ExportError> {
        let width = COLUMNS_BESIDES_DECIMALS + usize::from(self.decimals);
        let mut row = [b' '; WIDTH];
        let mut residue = None;
        for atom in 0..template.atom_count() {
            let current = template.residue_indices()[atom];
            if residue != Some(current) {
                residue = Some(current);
                self.residue_number += 1;
                write_number(&mut row[..5], self.residue_number);
                row[5..10].copy_from_slice(&names.residues[current as usize]);
            }
            self.summary.atoms += 1;
            row[10..15].copy_from_slice(&names.atoms[atom]);
            write_number(&mut row[15..HEAD], self.summary.atoms as u64);
            let position = position(atom);
            for (axis, value) in position.to_array().into_iter().enumerate() {
                let field = &mut row[HEAD + axis * width..][..width];
                let start = write_fixed(field, scale(value, self.decimals), self.decimals)
                    .ok_or_else(|| ExportError::OutOfRange {
                        molecule: index,
                        name: template.name().to_owned(),
                        position: ((position + self.scene_box.low) * ANGSTROM_PER_NM).as_vec3(),
                        range: "the columns of .gro files (-999 to 9999 nm from the corner of the box); use mmCIF instead",
                    })?;
                field[..start].fill(b' ');
            }
            self.rows.buffer.extend_from_slice(&row[..HEAD + 3 * width]);
            self.end_row()?;
        }
        self.summary.molecules += 1;
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.rows.end_row()
    }
}

/// Writes a number, from zero again after the largest one, right-justified.
fn write_number(field: &mut [u8], number: u64) {
    // The remainder has at most five digits, for which there are five columns.
    let number = (number % NUMBER_MODULUS) as i64;
    let start = write_fixed(field, number, 0).unwrap_or(0);
    field[..start].fill(b' ');
}
