//! Biological assemblies in mmCIF and `BinaryCIF` files.
//!
//! `_pdbx_struct_oper_list` contains the operators, `_pdbx_struct_assembly_gen` the chains (by
//! `label_asym_id`) and an expression: `1,2`, `1-60`, or a product such as `(X0)(1-60)`, whose
//! right factor is applied first.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DAffine3, DMat3, DVec3};
use smol_str::{SmolStr, ToSmolStr};

use crate::molecule::decimal::{ANGSTROM_DIGITS, parse_decimal};
use crate::molecule::error::ReadErrorKind;
use crate::molecule::structure::{Assembly, Operator, OperatorBudget};

/// Category of the operators.
pub const OPERATORS: &str = "_pdbx_struct_oper_list";
/// Category of the expressions.
pub const GENERATORS: &str = "_pdbx_struct_assembly_gen";
/// Category of the assemblies.
pub const ASSEMBLIES: &str = "_pdbx_struct_assembly";

/// Number of entries of an operator.
pub const ENTRY_COUNT: usize = 12;

/// Columns of the entries: row by row, each with its translation.
pub const ENTRY_NAMES: [&str; ENTRY_COUNT] = [
    "matrix[1][1]",
    "matrix[1][2]",
    "matrix[1][3]",
    "vector[1]",
    "matrix[2][1]",
    "matrix[2][2]",
    "matrix[2][3]",
    "vector[2]",
    "matrix[3][1]",
    "matrix[3][2]",
    "matrix[3][3]",
    "vector[3]",
];

/// Name of the entries in errors.
pub const ENTRY: &str = "the assembly operator entry";

/// Decimal places between the values of an entry in the file and here.
pub const fn entry_shift(entry: usize) -> u32 {
    if entry % 4 == 3 { ANGSTROM_DIGITS } else { 0 }
}

/// A table as text: column names without category, and rows of values, `None` if unknown.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

impl TextTable {
    /// The index of a column, in any letter case.
    pub fn column(&self, name: &str) -> Option<usize> {
        column_of(self.columns.iter().map(String::as_str), name)
    }

    /// The values in two columns of each row, empty if they are unknown.
    pub fn pairs<'t>(&'t self, names: [&str; 2]) -> impl Iterator<Item = [&'t str; 2]> + use<'t> {
        let columns = names.map(|name| self.column(name));
        self.rows.iter().map(move |row| {
            columns.map(|column| {
                let value = column.and_then(|column| row.get(column));
                value.and_then(Option::as_deref).unwrap_or("")
            })
        })
    }
}

/// The index of a name, in any letter case.
fn column_of<'n>(mut columns: impl Iterator<Item = &'n str>, name: &str) -> Option<usize> {
    columns.position(|known| known.eq_ignore_ascii_case(name))
}

/// The columns of the table of operators in a row.
pub struct OperatorColumns {
    id: Option<usize>,
    entries: [Option<usize>; ENTRY_COUNT],
}

impl OperatorColumns {
    pub fn new<'n>(columns: impl Iterator<Item = &'n str> + Clone) -> Self {
        let find = |name| column_of(columns.clone(), name);
        Self {
            id: find("id"),
            entries: ENTRY_NAMES.map(find),
        }
    }
}

/// The operators of a file. There may be millions, so they are not kept as text.
#[derive(Default)]
pub struct OperatorTable {
    entries: Vec<[f64; ENTRY_COUNT]>,
    /// Index of the entries of each name.
    index: HashMap<SmolStr, u32>,
}

impl OperatorTable {
    /// Adds the operator of a row of text.
    pub fn push_row(
        &mut self,
        columns: &OperatorColumns,
        row: &[Option<&str>],
    ) -> Result<(), ReadErrorKind> {
        let text = |column: Option<usize>| row.get(column?).copied().flatten();
        let mut entries = [0.0; ENTRY_COUNT];
        for (index, (entry, column)) in entries.iter_mut().zip(columns.entries).enumerate() {
            let text = text(column).unwrap_or("?");
            *entry = parse_decimal(text, entry_shift(index), ENTRY)?;
        }
        self.push(text(columns.id), entries);
        Ok(())
    }

    /// Adds an operator; the last one of a name counts.
    pub fn push(&mut self, id: Option<&str>, entries: [f64; ENTRY_COUNT]) {
        if let Some(id) = id {
            self.index
                .insert(SmolStr::new(id), self.entries.len() as u32);
            self.entries.push(entries);
        }
    }

    /// The operators with these entries and the names of `name`.
    pub fn from_entries(
        entries: Vec<[f64; ENTRY_COUNT]>,
        mut name: impl FnMut(usize) -> Result<Option<SmolStr>, ReadErrorKind>,
    ) -> Result<Self, ReadErrorKind> {
        let mut index = HashMap::with_capacity(entries.len());
        for row in 0..entries.len() {
            if let Some(id) = name(row)? {
                index.insert(id, row as u32);
            }
        }
        Ok(Self { entries, index })
    }

    fn motion(&self, id: &str) -> Result<DAffine3, ReadErrorKind> {
        let entries = self.index.get(id);
        let entries = entries.and_then(|&index| self.entries.get(index as usize));
        let Some(entries) = entries else {
            let message = format!("the assembly operator '{id}' is not in {OPERATORS}");
            return Err(ReadErrorKind::Syntax(message));
        };
        let axis = |k: usize| DVec3::new(entries[k], entries[4 + k], entries[8 + k]);
        let rotation = DMat3::from_cols(axis(0), axis(1), axis(2));
        Ok(DAffine3::from_mat3_translation(rotation, axis(3)))
    }
}

/// The assemblies of the expressions, with the methods in the table of assemblies; none if
/// `generators` is empty.
pub fn assemblies(
    known: &OperatorTable,
    generators: &TextTable,
    methods: &TextTable,
) -> Result<Vec<Assembly>, ReadErrorKind> {
    let mut budget = OperatorBudget::for_rows(known.entries.len());
    let (Some(id), Some(expression), Some(chains)) = (
        generators.column("assembly_id"),
        generators.column("oper_expression"),
        generators.column("asym_id_list"),
    ) else {
        return Ok(Vec::new());
    };
    let methods: HashMap<&str, &str> = methods
        .pairs(["id", "method_details"])
        .map(|[id, method]| (id, method))
        .collect();
    let mut assemblies: Vec<Assembly> = Vec::new();
    let mut index_of: HashMap<&str, usize> = HashMap::new();
    for row in &generators.rows {
        let text = |column: usize| row.get(column).and_then(Option::as_deref).unwrap_or("");
        let chains: Arc<[SmolStr]> = text(chains)
            .split(',')
            .map(|name| SmolStr::new(name.trim()))
            .collect();
        let id = text(id);
        let index = *index_of.entry(id).or_insert_with(|| {
            assemblies.push(Assembly {
                id: id.to_owned(),
                method: methods.get(id).copied().unwrap_or("").to_owned(),
                operators: Vec::new(),
            });
            assemblies.len() - 1
        });
        let list = &mut assemblies[index].operators;
        expand(text(expression), known, &mut budget, &mut |id, motion| {
            list.push(Operator {
                id,
                rotation: motion.matrix3,
                translation: motion.translation,
                chains: Some(Arc::clone(&chains)),
            });
        })?;
    }
    Ok(assemblies)
}

type Motions = Vec<(SmolStr, DAffine3)>;

/// Calls `push` with all operators of an expression.
fn expand(
    expression: &str,
    known: &OperatorTable,
    budget: &mut OperatorBudget,
    push: &mut impl FnMut(SmolStr, DAffine3),
) -> Result<(), ReadErrorKind> {
    for term in split_outside_brackets(expression) {
        let factors = term.split(['(', ')']);
        let mut factors = factors.filter(|part| !part.trim().is_empty()).peekable();
        let mut product: Option<Motions> = None;
        while let Some(factor) = factors.next() {
            // Scenes have a single factor with many operators, which need not be collected.
            if product.is_none() && factors.peek().is_none() {
                expand_list(factor, known, budget, push)?;
                break;
            }
            let mut right = Motions::new();
            expand_list(factor, known, budget, &mut |id, motion| {
                right.push((id, motion));
            })?;
            product = Some(match product {
                None => right,
                Some(left) => multiply(&left, &right, budget)?,
            });
        }
        for (id, motion) in product.unwrap_or_default() {
            push(id, motion);
        }
    }
    Ok(())
}

fn multiply(
    left: &[(SmolStr, DAffine3)],
    right: &[(SmolStr, DAffine3)],
    budget: &mut OperatorBudget,
) -> Result<Motions, ReadErrorKind> {
    budget.spend(left.len().saturating_mul(right.len()))?;
    let mut product = Vec::with_capacity(left.len() * right.len());
    for (left_id, left_motion) in left {
        for (right_id, right_motion) in right {
            product.push((
                SmolStr::new(format!("{left_id}-{right_id}")),
                *left_motion * *right_motion,
            ));
        }
    }
    Ok(product)
}

/// Calls `push` with the operators of a list: 1, 3, 4 and 5 for `1,3-5`.
fn expand_list(
    list: &str,
    known: &OperatorTable,
    budget: &mut OperatorBudget,
    push: &mut impl FnMut(SmolStr, DAffine3),
) -> Result<(), ReadErrorKind> {
    let items = list.split(',').map(str::trim);
    for item in items.filter(|item| !item.is_empty()) {
        let range = item.split_once('-').and_then(|(first, last)| {
            Some((
                first.trim().parse::<u32>().ok()?,
                last.trim().parse::<u32>().ok()?,
            ))
        });
        let Some((first, last)) = range else {
            budget.spend(1)?;
            push(SmolStr::new(item), known.motion(item)?);
            continue;
        };
        let count = (u64::from(last) + 1).saturating_sub(u64::from(first));
        budget.spend(usize::try_from(count).unwrap_or(usize::MAX))?;
        for number in first..=last {
            let id = number.to_smolstr();
            let motion = known.motion(&id)?;
            push(id, motion);
        }
    }
    Ok(())
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(operators: &[(&str, DAffine3)]) -> OperatorTable {
        let mut table = OperatorTable::default();
        for (id, motion) in operators {
            let [x, y, z] = motion.matrix3.transpose().to_cols_array_2d();
            let t = motion.translation;
            let rows = [
                [x, [t.x, 0.0, 0.0]],
                [y, [t.y, 0.0, 0.0]],
                [z, [t.z, 0.0, 0.0]],
            ];
            let mut entries = [0.0; ENTRY_COUNT];
            for (row, [matrix, vector]) in rows.iter().enumerate() {
                entries[4 * row..4 * row + 3].copy_from_slice(matrix);
                entries[4 * row + 3] = vector[0];
            }
            table.push(Some(id), entries);
        }
        table
    }

    fn shifts(count: usize) -> OperatorTable {
        let shift = |k: usize| DAffine3::from_translation(DVec3::X * k as f64);
        let names = ["1", "2", "3", "4"][..count].iter().enumerate();
        table(&names.map(|(k, id)| (*id, shift(k))).collect::<Vec<_>>())
    }

    fn expanded(expression: &str, known: &OperatorTable) -> Result<Motions, ReadErrorKind> {
        let mut all = Motions::new();
        let mut budget = OperatorBudget::for_rows(known.entries.len());
        expand(expression, known, &mut budget, &mut |id, motion| {
            all.push((id, motion));
        })?;
        Ok(all)
    }

    fn ids(expression: &str) -> Vec<String> {
        let all = expanded(expression, &shifts(4)).unwrap();
        all.into_iter().map(|(id, _)| id.into()).collect()
    }

    #[test]
    fn lists_ranges_and_products_expand() {
        assert_eq!(ids("1"), ["1"]);
        assert_eq!(ids("1,3"), ["1", "3"]);
        assert_eq!(ids("(1-3)"), ["1", "2", "3"]);
        assert_eq!(ids("1,(2-3)"), ["1", "2", "3"]);
        assert_eq!(ids("(1,2)(3-4)"), ["1-3", "1-4", "2-3", "2-4"]);
        assert_eq!(ids("(3-1),"), [""; 0]);
    }

    #[test]
    fn the_right_factor_is_applied_first() {
        let turn = DAffine3::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let known = table(&[("T", turn), ("S", DAffine3::from_translation(DVec3::X))]);
        let motion = expanded("(T)(S)", &known).unwrap()[0].1;
        assert!(motion.translation.abs_diff_eq(DVec3::Y, 1e-12));
    }

    #[test]
    fn unknown_and_too_many_operators_are_rejected() {
        let known = shifts(2);
        assert!(matches!(
            expanded("9", &known),
            Err(ReadErrorKind::Syntax(_))
        ));
        let power = "(1-2)".repeat(40);
        for bomb in ["(1-4000000000)", "0-4294967295", &power] {
            assert!(matches!(
                expanded(bomb, &known),
                Err(ReadErrorKind::TooLarge { .. })
            ));
        }
    }

    #[test]
    fn operators_of_all_assemblies_are_limited_together() {
        let known = shifts(2);
        let row = |id: usize| {
            ["a", "(1-2)(1-2)(1-2)(1-2)(1-2)(1-2)(1-2)", "A"].map(|text| {
                Some(if text == "a" {
                    id.to_string()
                } else {
                    text.to_owned()
                })
            })
        };
        let table = |rows| TextTable {
            columns: ["assembly_id", "oper_expression", "asym_id_list"]
                .map(str::to_owned)
                .to_vec(),
            rows: (0..rows).map(|id| row(id).to_vec()).collect(),
        };
        let read = |rows| assemblies(&known, &table(rows), &TextTable::default());
        assert_eq!(read(10).unwrap().len(), 10);
        assert!(matches!(read(10_000), Err(ReadErrorKind::TooLarge { .. })));
    }
}
