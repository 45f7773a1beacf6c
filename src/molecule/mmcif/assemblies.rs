//! Biological assemblies in mmCIF and `BinaryCIF` files.
//!
//! `_pdbx_struct_oper_list` contains the operators, `_pdbx_struct_assembly_gen` the chains (by
//! `label_asym_id`) and an expression: `1,2`, `1-60`, or a product such as `(X0)(1-60)`, whose
//! right factor is applied first.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DAffine3, DMat3, DVec3};
use smol_str::SmolStr;

use crate::molecule::decimal::{ANGSTROM_DIGITS, parse_decimal};
use crate::molecule::error::ReadErrorKind;
use crate::molecule::structure::{Assembly, MAX_OPERATORS, Operator, too_many_operators};

/// Category of the operators.
pub const OPERATORS: &str = "_pdbx_struct_oper_list";
/// Category of the expressions.
pub const GENERATORS: &str = "_pdbx_struct_assembly_gen";

/// A table as text: column names without category, and rows of values, `None` if unknown.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

impl TextTable {
    /// The index of a column, in any letter case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The assemblies of the two tables; none if a table is missing.
pub fn assemblies(
    operators: &TextTable,
    generators: &TextTable,
) -> Result<Vec<Assembly>, ReadErrorKind> {
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
        for (id, motion) in expand(text(expression), &known)? {
            if list.len() >= MAX_OPERATORS {
                return Err(too_many_operators());
            }
            list.push(Operator {
                id,
                rotation: motion.matrix3,
                translation: motion.translation,
                chains: Some(Arc::clone(&chains)),
            });
        }
    }
    Ok(assemblies)
}

fn read_operators(table: &TextTable) -> Result<HashMap<&str, DAffine3>, ReadErrorKind> {
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
            *value = parse_decimal(entry, shift, "the assembly operator entry")?;
        }
        let axis = |k: usize| DVec3::new(values[k], values[4 + k], values[8 + k]);
        let rotation = DMat3::from_cols(axis(0), axis(1), axis(2));
        let motion = DAffine3::from_mat3_translation(rotation, axis(3));
        if let Some(id) = text(id) {
            known.insert(id, motion);
        }
    }
    Ok(known)
}

/// All operators of an expression.
fn expand(
    expression: &str,
    known: &HashMap<&str, DAffine3>,
) -> Result<Vec<(String, DAffine3)>, ReadErrorKind> {
    let mut all = Vec::new();
    for term in split_outside_brackets(expression) {
        let mut product: Option<Vec<(String, DAffine3)>> = None;
        for factor in term
            .split(['(', ')'])
            .filter(|part| !part.trim().is_empty())
        {
            let ids = expand_list(factor)?;
            let right = ids
                .iter()
                .map(|id| {
                    let motion = known.get(id.as_str()).ok_or_else(|| {
                        ReadErrorKind::Syntax(format!(
                            "the assembly operator '{id}' is not in {OPERATORS}"
                        ))
                    })?;
                    Ok((id.clone(), *motion))
                })
                .collect::<Result<Vec<_>, ReadErrorKind>>()?;
            product = Some(match product {
                None => right,
                Some(left) => multiply(&left, &right)?,
            });
        }
        all.extend(product.unwrap_or_default());
        if all.len() > MAX_OPERATORS {
            return Err(too_many_operators());
        }
    }
    Ok(all)
}

fn multiply(
    left: &[(String, DAffine3)],
    right: &[(String, DAffine3)],
) -> Result<Vec<(String, DAffine3)>, ReadErrorKind> {
    if left.len().saturating_mul(right.len()) > MAX_OPERATORS {
        return Err(too_many_operators());
    }
    let mut product = Vec::with_capacity(left.len() * right.len());
    for (left_id, left_motion) in left {
        for (right_id, right_motion) in right {
            product.push((
                format!("{left_id}-{right_id}"),
                *left_motion * *right_motion,
            ));
        }
    }
    Ok(product)
}

/// Expands `1,3-5` to `1`, `3`, `4`, `5`.
fn expand_list(list: &str) -> Result<Vec<String>, ReadErrorKind> {
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
                    return Err(too_many_operators());
                }
                ids.extend((first..=last).map(|id| id.to_string()));
            }
            None => ids.push(item.to_owned()),
        }
        if ids.len() > MAX_OPERATORS {
            return Err(too_many_operators());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shifts(count: usize) -> HashMap<&'static str, DAffine3> {
        ["1", "2", "3", "4"][..count]
            .iter()
            .enumerate()
            .map(|(k, id)| (*id, DAffine3::from_translation(DVec3::X * k as f64)))
            .collect()
    }

    fn ids(expression: &str) -> Vec<String> {
        let known = shifts(4);
        let expanded = expand(expression, &known).unwrap();
        expanded.into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn lists_ranges_and_products_expand() {
        assert_eq!(ids("1"), ["1"]);
        assert_eq!(ids("1,3"), ["1", "3"]);
        assert_eq!(ids("(1-3)"), ["1", "2", "3"]);
        assert_eq!(ids("1,(2-3)"), ["1", "2", "3"]);
        assert_eq!(ids("(1,2)(3-4)"), ["1-3", "1-4", "2-3", "2-4"]);
    }

    #[test]
    fn the_right_factor_is_applied_first() {
        let turn = DAffine3::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let known = HashMap::from([("T", turn), ("S", DAffine3::from_translation(DVec3::X))]);
        let motion = expand("(T)(S)", &known).unwrap()[0].1;
        assert!(motion.translation.abs_diff_eq(DVec3::Y, 1e-12));
    }

    #[test]
    fn unknown_and_too_many_operators_are_rejected() {
        let known = shifts(2);
        assert!(matches!(expand("9", &known), Err(ReadErrorKind::Syntax(_))));
        for bomb in ["(1-4000000000)", "0-4294967295"] {
            assert!(matches!(
                expand(bomb, &known),
                Err(ReadErrorKind::TooLarge { .. })
            ));
        }
    }
}
