//! Assemblies in mmCIF: which operators copy which chains.
//!
//! `_pdbx_struct_oper_list` has the operators, `_pdbx_struct_assembly_gen` the
//! chains (by `label_asym_id`) and an expression: `1,2`, `1-60`, or a product
//! such as `(X0)(1-60)`, in which the right factor is applied first.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat3, DVec3};
use smol_str::SmolStr;

use crate::molecule::error::ReadCause;
use crate::molecule::number::{ANGSTROM_DIGITS, parse_decimal};
use crate::molecule::pdb_biomt::MAX_OPERATORS;
use crate::molecule::structure::{Assembly, Operator};

/// Category of the operators.
pub(super) const OPERATORS: &str = "_pdbx_struct_oper_list";
/// Category of the expressions.
pub(super) const GENERATORS: &str = "_pdbx_struct_assembly_gen";

/// A small table as text: column names without category, and rows of known values.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallTable {
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Option<String>>>,
}

impl SmallTable {
    fn column(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Puts the two tables together. Missing tables mean no assemblies.
pub(super) fn assemblies(
    operators: &SmallTable,
    generators: &SmallTable,
) -> Result<Vec<Assembly>, ReadCause> {
    let known = read_operators(operators)?;
    let (Some(id), Some(expression), Some(chains)) = (
        generators.column("assembly_id"),
        generators.column("oper_expression"),
        generators.column("asym_id_list"),
    ) else {
        return Ok(Vec::new());
    };
    let mut assemblies: Vec<Assembly> = Vec::new();
    let mut index_of: HashMap<&str, usize> = HashMap::new();
    for row in &generators.rows {
        let text = |column: usize| row.get(column).and_then(Option::as_deref).unwrap_or("");
        let chains: Arc<[SmolStr]> = text(chains)
            .split(',')
            .map(|name| SmolStr::new(name.trim()))
            .collect();
        let index = *index_of.entry(text(id)).or_insert_with(|| {
            assemblies.push(Assembly {
                id: text(id).to_owned(),
                operators: Vec::new(),
            });
            assemblies.len() - 1
        });
        let list = &mut assemblies[index].operators;
        for (name, (rotation, translation)) in expand(text(expression), &known)? {
            if list.len() >= MAX_OPERATORS {
                return Err(too_many());
            }
            list.push(Operator {
                id: name,
                rotation,
                translation,
                chains: Some(Arc::clone(&chains)),
            });
        }
    }
    Ok(assemblies)
}

type Motion = (DMat3, DVec3);

fn read_operators(table: &SmallTable) -> Result<HashMap<&str, Motion>, ReadCause> {
    let mut known = HashMap::new();
    let Some(id) = table.column("id") else {
        return Ok(known);
    };
    let mut entries = [None; 12];
    for row in 0..3 {
        for column in 0..3 {
            entries[4 * row + column] =
                table.column(&format!("matrix[{}][{}]", row + 1, column + 1));
        }
        entries[4 * row + 3] = table.column(&format!("vector[{}]", row + 1));
    }
    for row in &table.rows {
        let text = |column: usize| row.get(column).and_then(Option::as_deref);
        let mut values = [0.0; 12];
        for (index, (value, column)) in values.iter_mut().zip(entries).enumerate() {
            let shift = if index % 4 == 3 { ANGSTROM_DIGITS } else { 0 };
            let entry = column.and_then(text).unwrap_or("?");
            *value = parse_decimal(entry, shift, "assembly operator entry")?;
        }
        let axis = |k: usize| DVec3::new(values[k], values[4 + k], values[8 + k]);
        let motion = (DMat3::from_cols(axis(0), axis(1), axis(2)), axis(3));
        if let Some(id) = text(id) {
            known.insert(id, motion);
        }
    }
    Ok(known)
}

/// All operators that an expression means.
fn expand(
    expression: &str,
    known: &HashMap<&str, Motion>,
) -> Result<Vec<(String, Motion)>, ReadCause> {
    let mut all = Vec::new();
    for term in split_outside_brackets(expression) {
        let mut product: Option<Vec<(String, Motion)>> = None;
        for factor in term
            .split(['(', ')'])
            .filter(|part| !part.trim().is_empty())
        {
            let ids = expand_list(factor)?;
            let right = ids
                .iter()
                .map(|id| {
                    let motion = known.get(id.as_str()).ok_or_else(|| {
                        ReadCause::Syntax(format!("assembly operator '{id}' is not listed"))
                    })?;
                    Ok((id.clone(), *motion))
                })
                .collect::<Result<Vec<_>, ReadCause>>()?;
            product = Some(match product {
                None => right,
                Some(left) => multiply(&left, &right)?,
            });
        }
        all.extend(product.unwrap_or_default());
        if all.len() > MAX_OPERATORS {
            return Err(too_many());
        }
    }
    Ok(all)
}

fn multiply(
    left: &[(String, Motion)],
    right: &[(String, Motion)],
) -> Result<Vec<(String, Motion)>, ReadCause> {
    if left.len().saturating_mul(right.len()) > MAX_OPERATORS {
        return Err(too_many());
    }
    let mut product = Vec::with_capacity(left.len() * right.len());
    for (left_id, (left_turn, left_shift)) in left {
        for (right_id, (right_turn, right_shift)) in right {
            let motion = (
                *left_turn * *right_turn,
                *left_turn * *right_shift + *left_shift,
            );
            product.push((format!("{left_id}-{right_id}"), motion));
        }
    }
    Ok(product)
}

/// `1,3-5` to `1`, `3`, `4`, `5`.
fn expand_list(list: &str) -> Result<Vec<String>, ReadCause> {
    let mut ids = Vec::new();
    for item in list
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        let range = item.split_once('-').and_then(|(first, last)| {
            Some((
                first.trim().parse::<u32>().ok()?,
                last.trim().parse::<u32>().ok()?,
            ))
        });
        match range {
            Some((first, last)) => {
                let count = u64::from(last).saturating_sub(u64::from(first)) + ids.len() as u64;
                if count >= MAX_OPERATORS as u64 {
                    return Err(too_many());
                }
                ids.extend((first..=last).map(|id| id.to_string()));
            }
            None => ids.push(item.to_owned()),
        }
        if ids.len() > MAX_OPERATORS {
            return Err(too_many());
        }
    }
    Ok(ids)
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

fn too_many() -> ReadCause {
    ReadCause::TooLarge {
        what: "the number of assembly operators",
        limit: MAX_OPERATORS as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifts(count: usize) -> HashMap<&'static str, Motion> {
        ["1", "2", "3", "4"][..count]
            .iter()
            .enumerate()
            .map(|(k, id)| (*id, (DMat3::IDENTITY, DVec3::X * k as f64)))
            .collect()
    }

    fn ids(expression: &str) -> Vec<String> {
        let known = shifts(4);
        let expanded = expand(expression, &known).unwrap();
        expanded.into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn expressions_expand() {
        assert_eq!(ids("1"), ["1"]);
        assert_eq!(ids("1,3"), ["1", "3"]);
        assert_eq!(ids("(1-3)"), ["1", "2", "3"]);
        assert_eq!(ids("1,(2-3)"), ["1", "2", "3"]);
        assert_eq!(ids("(1,2)(3-4)"), ["1-3", "1-4", "2-3", "2-4"]);
    }

    #[test]
    fn the_right_factor_is_applied_first() {
        let turn = DMat3::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let known = HashMap::from([
            ("T", (turn, DVec3::ZERO)),
            ("S", (DMat3::IDENTITY, DVec3::X)),
        ]);
        let (rotation, translation) = expand("(T)(S)", &known).unwrap()[0].1;
        let point = rotation * DVec3::ZERO + translation;
        assert!(point.abs_diff_eq(DVec3::Y, 1e-12));
    }

    #[test]
    fn unknown_and_endless_operators_are_errors() {
        let known = shifts(2);
        assert!(matches!(expand("9", &known), Err(ReadCause::Syntax(_))));
        for bomb in ["(1-4000000000)", "0-4294967295"] {
            assert!(matches!(
                expand(bomb, &known),
                Err(ReadCause::TooLarge { .. })
            ));
        }
    }
}
