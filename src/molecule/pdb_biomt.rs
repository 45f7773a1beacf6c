//! Assemblies in PDB files: the `BIOMT` rows of `REMARK 350`.
//!
//! A block is `BIOMOLECULE: id`, one or more `APPLY THE FOLLOWING TO CHAINS:`
//! lists (continued by `AND CHAINS:`), and three rows an operator. Files without
//! a `BIOMOLECULE` line have one assembly, `1`; rows without a list copy all chains.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use smol_str::SmolStr;

use super::error::ReadCause;
use super::number::{ANGSTROM_DIGITS, parse_decimal};
use super::structure::{Assembly, Operator};

/// Most operators of an assembly: far more than any virus has.
pub(super) const MAX_OPERATORS: usize = 20_000;

/// Collects `REMARK 350` lines.
#[derive(Default)]
pub(super) struct BiomtParser {
    assemblies: Vec<Assembly>,
    /// The chain list as read so far.
    chains: Vec<SmolStr>,
    /// The chain list once an operator has used it; a further list is a new one.
    shared_chains: Option<Arc<[SmolStr]>>,
    rows: Vec<[f64; 4]>,
    rows_id: String,
}

impl BiomtParser {
    /// One line, without `REMARK 350`.
    pub(super) fn line(&mut self, text: &str) -> Result<(), ReadCause> {
        let text = text.trim();
        if let Some(id) = text.strip_prefix("BIOMOLECULE:") {
            self.start_chains();
            self.assemblies.push(Assembly {
                id: id.trim().to_owned(),
                operators: Vec::new(),
            });
        } else if let Some((_, list)) = text.split_once("CHAINS:") {
            let starts = text.starts_with("APPLY");
            self.add_chains(list, starts);
        } else if text.starts_with("BIOMT") {
            self.row(text)?;
        }
        Ok(())
    }

    /// The assemblies that have operators.
    pub(super) fn finish(self) -> Vec<Assembly> {
        let mut assemblies = self.assemblies;
        assemblies.retain(|assembly| !assembly.operators.is_empty());
        assemblies
    }

    fn start_chains(&mut self) {
        self.chains.clear();
        self.shared_chains = None;
    }

    fn add_chains(&mut self, list: &str, starts: bool) {
        if starts || self.shared_chains.is_some() {
            self.start_chains();
        }
        self.chains.extend(
            list.split([',', ' '])
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(|name| SmolStr::new(if name == "NULL" { "" } else { name })),
        );
    }

    /// `BIOMT<row> <operator> <three matrix elements> <translation>`.
    fn row(&mut self, text: &str) -> Result<(), ReadCause> {
        let mut words = text.split_ascii_whitespace();
        let tag = words.next().unwrap_or_default();
        let id = words.next().unwrap_or_default();
        let expected = ["BIOMT1", "BIOMT2", "BIOMT3"][self.rows.len()];
        if tag != expected || (!self.rows.is_empty() && id != self.rows_id) {
            return Err(ReadCause::Syntax(format!(
                "expected row {expected} of an assembly operator, found '{text}'"
            )));
        }
        let mut row = [0.0; 4];
        for (column, value) in row.iter_mut().enumerate() {
            let shift = if column == 3 { ANGSTROM_DIGITS } else { 0 };
            *value = parse_decimal(words.next().unwrap_or_default(), shift, "BIOMT entry")?;
        }
        id.clone_into(&mut self.rows_id);
        self.rows.push(row);
        if self.rows.len() == 3 {
            self.operator()?;
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<(), ReadCause> {
        if self.shared_chains.is_none() && !self.chains.is_empty() {
            self.shared_chains = Some(self.chains.as_slice().into());
        }
        let axis = |k: usize| DVec3::new(self.rows[0][k], self.rows[1][k], self.rows[2][k]);
        let operator = Operator {
            id: self.rows_id.clone(),
            rotation: DMat3::from_cols(axis(0), axis(1), axis(2)),
            translation: axis(3),
            chains: self.shared_chains.clone(),
        };
        self.rows.clear();
        if self.assemblies.is_empty() {
            self.assemblies.push(Assembly {
                id: "1".to_owned(),
                operators: Vec::new(),
            });
        }
        if let Some(assembly) = self.assemblies.last_mut() {
            if assembly.operators.len() >= MAX_OPERATORS {
                return Err(ReadCause::TooLarge {
                    what: "the number of assembly operators",
                    limit: MAX_OPERATORS as u64,
                });
            }
            assembly.operators.push(operator);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> Result<Vec<Assembly>, ReadCause> {
        let mut parser = BiomtParser::default();
        for line in lines {
            parser.line(line)?;
        }
        Ok(parser.finish())
    }

    const ROWS: [&str; 3] = [
        "  BIOMT1   1  0.0 -1.0  0.0   10.0",
        "  BIOMT2   1  1.0  0.0  0.0   20.0",
        "  BIOMT3   1  0.0  0.0  1.0   30.0",
    ];

    #[test]
    fn rows_without_header_are_assembly_one_of_all_chains() {
        let assemblies = parse(&ROWS).unwrap();
        let operator = &assemblies[0].operators[0];
        assert_eq!(assemblies[0].id, "1");
        assert_eq!(operator.chains, None);
        assert_eq!(operator.translation, DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(operator.rotation * DVec3::X, DVec3::Y);
    }

    #[test]
    fn chain_lists_continue_and_start_anew() {
        let mut lines = vec![
            "BIOMOLECULE: 1",
            "APPLY THE FOLLOWING TO CHAINS: A, B,",
            " AND CHAINS: C",
        ];
        lines.extend(ROWS);
        lines.extend(["APPLY THE FOLLOWING TO CHAINS: D"]);
        lines.extend(ROWS);
        lines.extend(["BIOMOLECULE: 2", "APPLY THE FOLLOWING TO CHAINS: NULL"]);
        lines.extend(ROWS);
        let assemblies = parse(&lines).unwrap();
        let chains = |assembly: usize, operator: usize| {
            let operator = &assemblies[assembly].operators[operator];
            operator.chains.as_deref().unwrap().to_vec()
        };
        assert_eq!(chains(0, 0), ["A", "B", "C"]);
        assert_eq!(chains(0, 1), ["D"]);
        assert_eq!(chains(1, 0), [""]);
    }

    #[test]
    fn rows_out_of_order_are_an_error() {
        assert!(matches!(parse(&ROWS[1..]), Err(ReadCause::Syntax(_))));
        assert!(matches!(
            parse(&["BIOMT1 1 1.0 x 0.0 0.0"]),
            Err(ReadCause::BadNumber { .. })
        ));
    }
}
