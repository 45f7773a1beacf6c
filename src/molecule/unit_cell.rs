//! [`UnitCell`]: the cell of a crystal or a simulation, as structure files give it.

use glam::{DVec3, Vec3};

use super::decimal::{ANGSTROM_DIGITS, parse_decimal};
use super::mmcif::assemblies::TextTable;
use super::template::MAX_COORDINATE_NM;
use crate::periodic_box::PeriodicBox;

/// Largest difference from 90° of a right angle, degree: half of the last decimal in PDB files.
const RIGHT_ANGLE_ROUNDING: f64 = 0.005;

/// The edges (nm) that stand for "no cell", as in structures solved without a crystal: 1 Å.
const PLACEHOLDER_NM: f64 = 0.1;

/// Columns of the category [`CELL`] in mmCIF and `BinaryCIF` files.
const COLUMNS: [&str; 6] = [
    "length_a",
    "length_b",
    "length_c",
    "angle_alpha",
    "angle_beta",
    "angle_gamma",
];

/// Category of the unit cell in mmCIF and `BinaryCIF` files.
pub(super) const CELL: &str = "_cell";

/// Edges and angles of a unit cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitCell {
    /// The edges a, b and c, nm.
    pub lengths: DVec3,
    /// The angles α (between b and c), β (between a and c) and γ (between a and b), degree.
    pub angles: DVec3,
}

/// The cell has missing, invalid or impossible values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidCell;

impl UnitCell {
    /// The periodic box with these edges; `None` if the cell is not orthorhombic, or a cube of 1 Å,
    /// which files use as a placeholder.
    #[must_use]
    pub fn orthorhombic(&self) -> Option<PeriodicBox> {
        let is_right = (self.angles - 90.0).abs().max_element() <= RIGHT_ANGLE_ROUNDING;
        if !is_right || self.is_placeholder() {
            return None;
        }
        let size: Vec3 = self.lengths.as_vec3();
        PeriodicBox::new(size).ok()
    }

    /// Whether this is a cube of 1 Å, which files use if there is no cell.
    #[must_use]
    pub fn is_placeholder(&self) -> bool {
        self.lengths == DVec3::splat(PLACEHOLDER_NM)
    }

    /// The cell of six fields: edges in ångström, angles in degree. `None` if all edges are
    /// missing; angles that are missing are right angles.
    pub(super) fn parse(fields: [Option<&str>; 6]) -> Result<Option<Self>, InvalidCell> {
        let [a, b, c, angles @ ..] = fields;
        if [a, b, c] == [None; 3] {
            return Ok(None);
        }
        let number = |text: &str, shift| parse_decimal(text, shift, "").map_err(|_| InvalidCell);
        let length = |text: Option<&str>| number(text.ok_or(InvalidCell)?, ANGSTROM_DIGITS);
        let angle = |text: Option<&str>| text.map_or(Ok(90.0), |text| number(text, 0));
        let lengths = DVec3::new(length(a)?, length(b)?, length(c)?);
        let [alpha, beta, gamma] = angles;
        let angles = DVec3::new(angle(alpha)?, angle(beta)?, angle(gamma)?);
        let is_length = |length: f64| length > 0.0 && length <= f64::from(MAX_COORDINATE_NM);
        let is_angle = |angle: f64| angle > 0.0 && angle < 180.0;
        if lengths.to_array().into_iter().all(is_length)
            && angles.to_array().into_iter().all(is_angle)
        {
            Ok(Some(Self { lengths, angles }))
        } else {
            Err(InvalidCell)
        }
    }

    /// The cell in the first row of the category [`CELL`].
    pub(super) fn of_table(table: &TextTable) -> Result<Option<Self>, InvalidCell> {
        let Some(row) = table.rows.first() else {
            return Ok(None);
        };
        let text = |name| row.get(table.column(name)?)?.as_deref();
        Self::parse(COLUMNS.map(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_right_angles_are_boxes() {
        let parse = |fields: [&str; 6]| UnitCell::parse(fields.map(Some));
        let cell = parse(["63.701", "66.874", "73.136", "90.00", "90", "90.0"]);
        let periodic = cell.unwrap().unwrap().orthorhombic().unwrap();
        assert_eq!(periodic.size(), Vec3::new(6.3701, 6.6874, 7.3136));
        for fields in [
            ["1.000", "1.0", "1", "90.00", "90.00", "90.00"],
            ["50.0", "50.0", "50.0", "90.00", "90.00", "120.00"],
            ["50.0", "50.0", "50.0", "90.00", "90.02", "90.00"],
        ] {
            let cell = parse(fields).unwrap().unwrap();
            assert_eq!(cell.orthorhombic(), None, "{fields:?}");
        }
    }

    #[test]
    fn impossible_cells_are_invalid() {
        let right = ["90"; 3].map(Some);
        for lengths in [
            [Some("0.000"); 3],
            [Some("5"), Some("-5"), Some("5")],
            [Some("5"), None, Some("5")],
            [Some("5"), Some("NaN"), Some("5")],
            [Some("5"), Some("1e30"), Some("5")],
        ] {
            let [[a, b, c], [alpha, beta, gamma]] = [lengths, right];
            let cell = UnitCell::parse([a, b, c, alpha, beta, gamma]);
            assert_eq!(cell, Err(InvalidCell), "{lengths:?}");
        }
        let five = Some("5");
        for angle in ["0", "180", "x"] {
            let cell = UnitCell::parse([five, five, five, Some(angle), None, None]);
            assert_eq!(cell, Err(InvalidCell), "{angle}");
        }
        assert_eq!(UnitCell::parse([None; 6]), Ok(None));
    }
}
