//! Writer of the PDBx/mmCIF format: one `_atom_site` row per atom.

use std::collections::HashMap;
use std::io::Write;
use std::ptr;

use smol_str::SmolStr;

use super::text_rows::{TextRows, push_fixed, scale};
use super::{
    AngstromPose, ExportError, ExportOptions, ExportSummary, MAX_COORDINATE, is_standard_residue,
};
use crate::molecule::MoleculeTemplate;
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
const MAX_DECIMALS: u8 = 6;

/// Writes molecules at their poses in the PDBx/mmCIF format.
///
/// Every molecule is a separate chain: `auth_asym_id` is `A` for the first, `B` for the second,
/// `AA` for the 27th. Residues keep their names, numbers and insertion codes. `label_asym_id`
/// counts the chains of all molecules, so it equals `auth_asym_id` if no molecule has several;
/// `label_seq_id` counts the residues of a molecule; molecules with the same template share
/// `label_entity_id`.
///
/// ```
/// use bevy_rapier_molecules::export::write_mmcif;
/// use bevy_rapier_molecules::prelude::*;
/// ///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let lipids = [0.0, 1.0].map(|x| (&lipid, Pose::from_translation(Vec3::X * x)));
/// let mut bytes = Vec::new();
/// let written = write_mmcif(&mut bytes, lipids, &ExportOptions::default())?;
/// assert_eq!((written.molecules, written.atoms), (2, 2 * lipid.atom_count()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    write_head(&mut rows, &options.title)?;
    let mut state = State {
        decimals: options.decimals.min(MAX_DECIMALS),
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
fn write_head(rows: &mut TextRows<impl Write>, title: &str) -> Result<(), ExportError> {
    let title: String = title
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let id = block_name(&title);
    rows.push(&format!("data_{id}\n#\n_entry.id {id}\n#\n"));
    if !title.is_empty() {
        rows.push(&format!("_struct.entry_id {id}\n_struct.title "));
        push_value(&mut rows.buffer, &title);
        rows.push("\n#\n");
    }
    rows.push("loop_\n");
    for column in ATOM_SITE {
        rows.push("_atom_site.");
        rows.push(column);
        rows.end_row()?;
    }
    Ok(())
}

/// The title as the name of a data block: letters, digits and underscores.
fn block_name(title: &str) -> String {
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
    summary: ExportSummary,
    /// Number of chains of the previous molecules.
    chains: usize,
    /// Number of each template by address, in the order of first use.
    entities: HashMap<*const MoleculeTemplate, usize>,
    /// The parts of a row shared by the atoms of a residue.
    before_position: Vec<u8>,
    after_position: Vec<u8>,
}

impl State {
    fn write_molecule(
        &mut self,
        rows: &mut TextRows<impl Write>,
        template: &MoleculeTemplate,
        pose: Pose,
    ) -> Result<(), ExportError> {
        let pose = AngstromPose::new(self.summary.molecules, template, pose)?;
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
            push_integer(&mut rows.buffer, self.summary.atoms as i64);
            rows.buffer.push(b' ');
            let symbol = template.elements()[atom].symbol();
            rows.buffer
                .extend(symbol.bytes().map(|b| b.to_ascii_uppercase()));
            rows.buffer.push(b' ');
            let name = &template.atom_names()[atom];
            push_name(&mut rows.buffer, name)?;
            rows.buffer.extend_from_slice(&self.before_position);
            self.push_position(&mut rows.buffer, &pose, template, atom)?;
            rows.buffer.extend_from_slice(&self.after_position);
            push_name(&mut rows.buffer, name)?;
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
        let out = &mut self.before_position;
        out.clear();
        out.extend_from_slice(b" . ");
        push_name(out, &residue.name)?;
        out.push(b' ');
        push_chain_name(out, chain);
        out.push(b' ');
        push_integer(out, entity as i64);
        out.push(b' ');
        push_integer(out, i64::from(index) + 1);
        out.push(b' ');
        match residue.insertion_code {
            Some(code) if code.is_ascii_alphanumeric() => out.push(code as u8),
            _ => out.push(b'?'),
        }
        let out = &mut self.after_position;
        out.clear();
        out.extend_from_slice(b" 1.00 0.00 ");
        push_integer(out, i64::from(residue.number));
        out.push(b' ');
        push_name(out, &residue.name)?;
        out.push(b' ');
        push_chain_name(out, self.summary.molecules);
        out.push(b' ');
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

fn push_integer(buffer: &mut Vec<u8>, value: i64) {
    push_fixed(buffer, value, 0);
}

/// Appends the name of a chain: `A` to `Z`, `AA` to `ZZ`, `AAA` and so on.
fn push_chain_name(buffer: &mut Vec<u8>, number: usize) {
    let start = buffer.len();
    let mut rest = number + 1;
    while rest > 0 {
        rest -= 1;
        buffer.push(b'A' + (rest % 26) as u8);
        rest /= 26;
    }
    buffer[start..].reverse();
}

/// Appends the name of an atom or residue, `.` if it is empty.
fn push_name(buffer: &mut Vec<u8>, name: &SmolStr) -> Result<(), ExportError> {
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !name.is_empty() {
        buffer.extend_from_slice(name.as_bytes());
    } else if name.is_empty() {
        buffer.push(b'.');
    } else if name.chars().any(char::is_control) {
        return Err(ExportError::UnsupportedName {
            name: name.clone(),
            expected: "structure files do not allow control characters",
        });
    } else {
        push_value(buffer, name);
    }
    Ok(())
}

/// Appends a value of one line, with quotes if necessary.
///
/// A quote inside a value is legal unless white space follows, but not all readers support it, so
/// quotes that do not occur in the value are preferred. A value with both kinds of quotes becomes
/// a text field between semicolons.
fn push_value(buffer: &mut Vec<u8>, value: &str) {
    let bytes = value.as_bytes();
    let plain = !bytes.is_empty()
        && !bytes
            .iter()
            .any(|b| b.is_ascii_whitespace() || matches!(b, b'\'' | b'"'))
        && !matches!(bytes[0], b'_' | b'#' | b'$' | b'[' | b']' | b';')
        && !matches!(bytes, b"." | b"?")
        && !is_reserved(value);
    if plain {
        buffer.extend_from_slice(bytes);
        return;
    }
    let quotes: [&[u8]; 2] = if !bytes.contains(&b'\'') {
        [b"'", b"'"]
    } else if !bytes.contains(&b'"') {
        [b"\"", b"\""]
    } else {
        [b"\n;", b"\n;"]
    };
    buffer.extend_from_slice(quotes[0]);
    buffer.extend_from_slice(bytes);
    buffer.extend_from_slice(quotes[1]);
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
        let name = |number| {
            let mut buffer = Vec::new();
            push_chain_name(&mut buffer, number);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(name(0), "A");
        assert_eq!(name(25), "Z");
        assert_eq!(name(26), "AA");
        assert_eq!(name(27), "AB");
        assert_eq!(name(26 + 26 * 26 - 1), "ZZ");
        assert_eq!(name(26 + 26 * 26), "AAA");
    }

    #[test]
    fn values_are_quoted_only_if_necessary() {
        let text = |value: &str| {
            let mut buffer = Vec::new();
            push_value(&mut buffer, value);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(text("CA"), "CA");
        assert_eq!(text("H1*"), "H1*");
        assert_eq!(text("O5'"), "\"O5'\"");
        assert_eq!(text("C\""), "'C\"'");
        assert_eq!(text("two words"), "'two words'");
        assert_eq!(text("_x"), "'_x'");
        assert_eq!(text("."), "'.'");
        assert_eq!(text("Loop_"), "'Loop_'");
        assert_eq!(text("a' b\""), "\n;a' b\"\n;");
    }

    #[test]
    fn block_names_are_one_word() {
        assert_eq!(block_name(""), "scene");
        assert_eq!(block_name("--"), "scene");
        assert_eq!(block_name("POPC, 128 lipids"), "POPC__128_lipids");
        assert_eq!(block_name(&"é1".repeat(100)).len(), 70);
    }
}
