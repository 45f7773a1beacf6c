//! Reader of biological assemblies in PDB files: the `BIOMT` rows of `REMARK 350`.
//!
//! A block is `BIOMOLECULE: id`, one or more `APPLY THE FOLLOWING TO CHAINS:` lists (continued by
//! `AND CHAINS:`), and three rows per operator. Files without a `BIOMOLECULE` line have one
//! assembly, `1`; operators without a list apply to all chains.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use smol_str::SmolStr;

use crate::molecule::decimal::{ANGSTROM_DIGITS, parse_decimal};
use crate::molecule::error::ReadErrorKind;
use crate::molecule::structure::{Assembly, Operator};

/// Parses `REMARK 350` line by line.
#[derive(Default)]
pub(super) struct BiomtParser {
    assemblies: Vec<Assembly>,
    /// The current chain list.
    chains: Vec<SmolStr>,
    /// The current chain list once an operator has used it. The next list then replaces it.
    shared_chains: Option<Arc<[SmolStr]>>,
    rows: Vec<[f64; 4]>,
    rows_id: String,
}

impl BiomtParser {
    /// Parses one line, without `REMARK 350`.
    pub(super) fn line(&mut self, text: &str) -> Result<(), ReadErrorKind> {
        let text = text.trim();
        if let Some(id) = text.strip_prefix("BIOMOLECULE:") {
            self.start_chains();
            self.assemblies.push(Assembly {
                id: id.trim().to_owned(),
                method: String::new(),
                operators: Vec::new(),
            });
        } else if let Some((_, list)) = text.split_once("CHAINS:") {
            if text.starts_with("APPLY") || self.shared_chains.is_some() {
                self.start_chains();
            }
            let names = list.split([',', ' ']).map(str::trim);
            let names = names.filter(|name| !name.is_empty());
            self.chains
                .extend(names.map(|name| SmolStr::new(if name == "NULL" { "" } else { name })));
        } else if text.starts_with("BIOMT") {
            self.row(text)?;
        }
        Ok(())
    }

    /// The assemblies with at least one operator.
    pub(super) fn finish(self) -> Vec<Assembly> {
        let mut assemblies = self.assemblies;
        assemblies.retain(|assembly| !assembly.operators.is_empty());
        assemblies
    }

    fn start_chains(&mut self) {
        self.chains.clear();
        self.shared_chains = None;
    }

    /// `BIOMT<row> <operator> <three matrix elements> <translation>`.
    fn row(&mut self, text: &str) -> Result<(), ReadErrorKind> {
        let mut words = text.split_ascii_whitespace();
        let tag = words.next().unwrap_or_default();
        let id = words.next().unwrap_or_default();
        let expected = ["BIOMT1", "BIOMT2", "BIOMT3"][self.rows.len()];
        if tag != expected || (!self.rows.is_empty() && id != self.rows_id) {
            return Err(ReadErrorKind::Syntax(format!(
                "expected row {expected} of an assembly operator, found '{text}'; restore the row or remove REMARK 350"
            )));
        }
        let mut row = [0.0; 4];
        for (column, value) in row.iter_mut().enumerate() {
            let shift = if column == 3 { ANGSTROM_DIGITS } else { 0 };
            *value = parse_decimal(words.next().unwrap_or_default(), shift, "the BIOMT entry")?;
        }
        id.clone_into(&mut self.rows_id);
        self.rows.push(row);
        if self.rows.len() == 3 {
            self.operator()?;
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<(), ReadErrorKind> {
        if self.shared_chains.is_none() && !self.chains.is_empty() {
            self.shared_chains = Some(self.chains.as_slice().into());
        }
        let axis = |k: usize| DVec3::new(self.rows[0][k], self.rows[1][k], self.rows[2][k]);
        let operator = Operator {
            id: SmolStr::new(&self.rows_id),
            rotation: DMat3::from_cols(axis(0), axis(1), axis(2)),
            translation: axis(3),
            chains: self.shared_chains.clone(),
        };
        self.rows.clear();
        let Some(assembly) = self.assemblies.last_mut() else {
            self.assemblies.push(Assembly {
                id: "1".to_owned(),
                method: String::new(),
                operators: vec![operator],
            });
            return Ok(());
        };
        assembly.operators.push(operator);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> Result<Vec<Assembly>, ReadErrorKind> {
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
    fn rows_without_header_are_assembly_1_of_all_chains() {
        let assemblies = parse(&ROWS).unwrap();
        let operator = &assemblies[0].operators[0];
        assert_eq!(assemblies[0].id, "1");
        assert_eq!(operator.chains, None);
        assert_eq!(operator.translation, DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(operator.rotation * DVec3::X, DVec3::Y);
    }

    #[test]
    fn chain_lists_can_continue_and_be_replaced() {
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
    fn rows_out_of_order_are_rejected() {
        assert!(matches!(parse(&ROWS[1..]), Err(ReadErrorKind::Syntax(_))));
        assert!(matches!(
            parse(&["BIOMT1 1 1.0 x 0.0 0.0"]),
            Err(ReadErrorKind::InvalidNumber { .. })
        ));
    }
}
