//! Writer of the PDBx/mmCIF format: one `_atom_site` row per atom.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::ptr;

use smol_str::SmolStr;

use super::text_rows::{TextRows, push_fixed, scale};
use super::{
    ANGSTROM_PER_NM, AngstromPose, ExportError, ExportOptions, ExportSummary, MAX_COORDINATE,
    is_standard_residue,
};
use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// The columns of the atom table, in the order of their values in a row.
const ATOM_SITE: [&str; 20] = [
    "group_PDB",
    "id",
    "type_symbol",
    "label_atom_id",
    "label_alt_id",
    "label_comp_id",
    "label_asym_id",
    "label_entity_id",
    "label_seq_id",
    "pdbx_PDB_ins_code",
    "Cartn_x",
    "Cartn_y",
    "Cartn_z",
    "occupancy",
    "B_iso_or_equiv",
    "auth_seq_id",
    "auth_comp_id",
    "auth_asym_id",
    "auth_atom_id",
    "pdbx_PDB_model_num",
];

/// Maximum number of decimals of a coordinate, beyond which there is only rounding noise.
pub(crate) const MAX_DECIMALS: u8 = 6;

/// Writes molecules at their poses in the PDBx/mmCIF format.
///
/// Every molecule is a separate chain: `auth_asym_id` is `A` for the first, `B` for the second,
/// `AA` for the 27th. Residues keep their names, numbers and insertion codes. `label_asym_id`
/// counts the chains of all molecules, so it equals `auth_asym_id` if no molecule has several;
/// `label_seq_id` counts the residues of a molecule; molecules with the same template share
/// `label_entity_id`. A periodic box is written as `_cell`. A reader recovers the molecules by
/// splitting the file [by molecule](crate::molecule::SplitBy::Molecule).
///
/// # Errors
/// [`ExportError`] if the writer fails, a pose is invalid or out of range, or a name contains
/// control characters. The output is then incomplete.
pub fn write_mmcif<'a>(
    writer: impl Write,
    molecules: impl IntoIterator<Item = (&'a MoleculeTemplate, Pose)>,
    options: &ExportOptions,
) -> Result<ExportSummary, ExportError> {
    let mut rows = TextRows::new(writer);
    write_head(&mut rows, options)?;
    let mut state = State {
        decimals: options.decimals.min(MAX_DECIMALS),
        periodic_box: options.wrapping_box(),
        ..State::default()
    };
    for (template, pose) in molecules {
        state.write_molecule(&mut rows, template, pose)?;
    }
    rows.push("#");
    rows.end_row()?;
    state.summary.bytes = rows.finish()?;
    Ok(state.summary)
}

/// Writes everything before the first atom.
fn write_head(rows: &mut TextRows<impl Write>, options: &ExportOptions) -> Result<(), ExportError> {
    let title = options.title.trim().replace(char::is_control, " ");
    let id = block_name(&title);
    rows.push(&format!("data_{id}\n#\n_entry.id {id}\n#\n"));
    if !title.is_empty() {
        let title = quoted(&title);
        rows.push(&format!(
            "_struct.entry_id {id}\n_struct.title {title}\n#\n"
        ));
    }
    if let Some(periodic) = &options.periodic_box {
        write_cell(rows, &id, periodic)?;
    }
    rows.push("loop_\n");
    for column in ATOM_SITE {
        rows.push("_atom_site.");
        rows.push(column);
        rows.end_row()?;
    }
    Ok(())
}

/// Writes the cell of a box with right angles.
fn write_cell(
    rows: &mut TextRows<impl Write>,
    id: &str,
    periodic: &PeriodicBox,
) -> Result<(), ExportError> {
    rows.push(&format!("_cell.entry_id {id}\n"));
    for (name, edge) in ["a", "b", "c"].into_iter().zip(periodic.size().to_array()) {
        let edge = f64::from(edge) * ANGSTROM_PER_NM;
        let scaled = scale(edge, MAX_DECIMALS);
        if edge > MAX_COORDINATE || scaled <= 0 {
            return Err(ExportError::BoxOutOfRange {
                size: periodic.size(),
                format: "mmCIF readers",
                max: MAX_COORDINATE / ANGSTROM_PER_NM,
                alternative: "",
            });
        }
        rows.push(&format!("_cell.length_{name} "));
        push_fixed(&mut rows.buffer, scaled, MAX_DECIMALS);
        rows.end_row()?;
    }
    for name in ["alpha", "beta", "gamma"] {
        rows.push(&format!("_cell.angle_{name} 90.00\n"));
    }
    rows.push("_cell.Z_PDB 1\n#\n");
    rows.push(&format!(
        "_symmetry.entry_id {id}\n_symmetry.space_group_name_H-M 'P 1'\n#\n"
    ));
    Ok(())
}

/// The title as the name of a data block: letters, digits and underscores.
pub(crate) fn block_name(title: &str) -> String {
    // The format allows 75 characters.
    const MAX_LENGTH: usize = 70;
    if !title.chars().any(|c| c.is_ascii_alphanumeric()) {
        return "scene".to_owned();
    }
    title
        .chars()
        .take(MAX_LENGTH)
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

/// State shared by all molecules.
#[derive(Default)]
struct State {
    decimals: u8,
    periodic_box: Option<PeriodicBox>,
    summary: ExportSummary,
    /// Number of chains of the previous molecules.
    chains: usize,
    /// Number of each template by address, in the order of first use.
    entities: HashMap<*const MoleculeTemplate, usize>,
    /// The parts of a row shared by the atoms of a residue.
    before_position: String,
    after_position: String,
}

impl State {
    fn write_molecule(
        &mut self,
        rows: &mut TextRows<impl Write>,
        template: &MoleculeTemplate,
        pose: Pose,
    ) -> Result<(), ExportError> {
        let pose = AngstromPose::new(self.summary.molecules, template, pose, self.periodic_box)?;
        let next = self.entities.len() + 1;
        let entity = *self.entities.entry(ptr::from_ref(template)).or_insert(next);
        let chain_numbers = self.number_chains(template);
        let mut group = "";
        let mut residue = None;
        for atom in 0..template.atom_count() {
            let current = template.residue_indices()[atom];
            if residue != Some(current) {
                let name = &template.residues()[current as usize].name;
                group = if is_standard_residue(name) {
                    "ATOM "
                } else {
                    "HETATM "
                };
                self.set_residue(template, current, chain_numbers[current as usize], entity)?;
                residue = Some(current);
            }
            self.summary.atoms += 1;
            rows.push(group);
            push_fixed(&mut rows.buffer, self.summary.atoms as i64, 0);
            rows.push(" ");
            let symbol = template.elements()[atom].symbol();
            rows.buffer
                .extend(symbol.bytes().map(|b| b.to_ascii_uppercase()));
            rows.push(" ");
            let name = checked_name(&template.atom_names()[atom])?;
            rows.push(&name);
            rows.push(&self.before_position);
            self.push_position(&mut rows.buffer, &pose, template, atom)?;
            rows.push(&self.after_position);
            rows.push(&name);
            rows.push(" 1");
            rows.end_row()?;
        }
        self.summary.molecules += 1;
        Ok(())
    }

    /// The number of the chain of each residue, counted over all molecules.
    fn number_chains(&mut self, template: &MoleculeTemplate) -> Vec<usize> {
        let mut names: Vec<&SmolStr> = Vec::new();
        let numbers = template
            .residues()
            .iter()
            .map(|residue| {
                let known = names.iter().position(|name| *name == &residue.chain);
                self.chains
                    + known.unwrap_or_else(|| {
                        names.push(&residue.chain);
                        names.len() - 1
                    })
            })
            .collect();
        self.chains += names.len();
        numbers
    }

    fn set_residue(
        &mut self,
        template: &MoleculeTemplate,
        index: u32,
        chain: usize,
        entity: usize,
    ) -> Result<(), ExportError> {
        let residue = &template.residues()[index as usize];
        let name = checked_name(&residue.name)?;
        let code = residue.insertion_code;
        let code = code.filter(char::is_ascii_alphanumeric).unwrap_or('?');
        let label_chain = chain_name(chain);
        self.before_position = format!(" . {name} {label_chain} {entity} {} {code}", index + 1);
        let (number, auth_chain) = (residue.number, chain_name(self.summary.molecules));
        self.after_position = format!(" 1.00 0.00 {number} {name} {auth_chain} ");
        Ok(())
    }

    fn push_position(
        &self,
        buffer: &mut Vec<u8>,
        pose: &AngstromPose,
        template: &MoleculeTemplate,
        atom: usize,
    ) -> Result<(), ExportError> {
        let position = pose.angstrom(template.positions()[atom]);
        if position.abs().max_element() > MAX_COORDINATE {
            return Err(ExportError::OutOfRange {
                molecule: self.summary.molecules,
                name: template.name().to_owned(),
                position: position.as_vec3(),
                range: "mmCIF readers (at most 1,000,000 Å)",
            });
        }
        for value in position.to_array() {
            buffer.push(b' ');
            push_fixed(buffer, scale(value, self.decimals), self.decimals);
        }
        Ok(())
    }
}

/// The name of a chain: `A` to `Z`, `AA` to `ZZ`, `AAA` and so on.
pub(crate) fn chain_name(number: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = number + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// The name of an atom or residue, `.` if it is empty.
fn checked_name(name: &SmolStr) -> Result<Cow<'_, str>, ExportError> {
    if name.is_empty() {
        return Ok(".".into());
    }
    if name.chars().any(char::is_control) {
        return Err(ExportError::UnsupportedName {
            name: name.clone(),
            expected: "structure files do not allow control characters",
        });
    }
    Ok(quoted(name))
}

/// A value of one line, with quotes if necessary.
///
/// A quote inside a value is legal unless white space follows, but not all readers support it, so
/// quotes that do not occur in the value are preferred. A value with both kinds of quotes becomes
/// a text field between semicolons, and so does one that is not ASCII: some readers, such as gemmi,
/// allow other characters there only.
pub(crate) fn quoted(value: &str) -> Cow<'_, str> {
    // Fast path for almost all names.
    let is_word = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_plain = || {
        !value.is_empty()
            && !value.contains(|c: char| c.is_ascii_whitespace() || c == '\'' || c == '"')
            && !value.starts_with(['_', '#', '$', '[', ']', ';'])
            && !matches!(value, "." | "?")
            && !is_reserved(value)
    };
    if !value.is_ascii() {
        format!("\n;{value}\n;").into()
    } else if is_word || is_plain() {
        value.into()
    } else if !value.contains('\'') {
        format!("'{value}'").into()
    } else if !value.contains('"') {
        format!("\"{value}\"").into()
    } else {
        format!("\n;{value}\n;").into()
    }
}

/// Whether the value starts with a reserved word of the format.
fn is_reserved(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["data_", "save_", "loop_", "stop_", "global_"]
        .iter()
        .any(|word| lower.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_names_are_letters_in_alphabetical_order() {
        assert_eq!(chain_name(0), "A");
        assert_eq!(chain_name(25), "Z");
        assert_eq!(chain_name(26), "AA");
        assert_eq!(chain_name(27), "AB");
        assert_eq!(chain_name(26 + 26 * 26 - 1), "ZZ");
        assert_eq!(chain_name(26 + 26 * 26), "AAA");
    }

    #[test]
    fn values_are_quoted_only_if_necessary() {
        assert_eq!(quoted("CA"), "CA");
        assert_eq!(quoted("H1*"), "H1*");
        assert_eq!(quoted("O5'"), "\"O5'\"");
        assert_eq!(quoted("C\""), "'C\"'");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("_x"), "'_x'");
        assert_eq!(quoted("."), "'.'");
        assert_eq!(quoted("Loop_"), "'Loop_'");
        assert_eq!(quoted("a' b\""), "\n;a' b\"\n;");
        assert_eq!(quoted("Cµ"), "\n;Cµ\n;");
    }

    #[test]
    fn block_names_are_one_word() {
        assert_eq!(block_name(""), "scene");
        assert_eq!(block_name("--"), "scene");
        assert_eq!(block_name("POPC, 128 lipids"), "POPC__128_lipids");
        assert_eq!(block_name(&"é1".repeat(100)).len(), 70);
    }
}
