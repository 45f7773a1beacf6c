//! [`Certificate`]: the result, as JSON and in one line.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::periodic_box::PeriodicBox;

/// What a structure file contains, from [`certify`](super::certify).
///
/// As text it is one line, such as `clean: 1,492 molecules, 199,928 atoms, closest 0.2003 nm, 0
/// pairs below 0.2 nm, all whole, all in place, 0 rings pierced`. Distances are rounded down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// The file.
    pub file: String,
    /// Number of molecules.
    pub molecules: usize,
    /// Number of atoms.
    pub atoms: usize,
    /// Least allowed distance between atoms of different molecules, nm.
    pub tolerance_nm: f32,
    /// Edges of the periodic box, nm; `None` without one.
    pub box_nm: Option<PeriodicBox>,
    /// Distance (nm) of the closest two atoms of different molecules or images; `None` if there is
    /// one molecule and no box.
    pub least_distance_nm: Option<f64>,
    /// Number of pairs of atoms of different molecules or images that are closer than the
    /// tolerance.
    pub pairs_below_tolerance: usize,
    /// Number of rings of up to [`MAX_RING_ATOMS`](super::rings::MAX_RING_ATOMS) atoms.
    pub rings: usize,
    /// Number of rings that a bond of another molecule or image passes through.
    pub rings_pierced: usize,
    /// The molecule of the first pierced ring, and that of the bond.
    pub first_pierced: Option<[usize; 2]>,
    /// Comparison with the crowd; `None` if it was not given.
    pub members: Option<MemberCheck>,
}

/// Comparison of the molecules of a file with the members of the crowd that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MemberCheck {
    /// Number of members.
    pub expected_molecules: usize,
    /// Number of molecules that do not have the atoms of their template, or not at their relative
    /// places.
    pub not_whole: usize,
    /// The first of them.
    pub first_not_whole: Option<usize>,
    /// Number of whole molecules that exceed the leeways of their placement. Fixed members are
    /// always in place.
    pub out_of_place: usize,
    /// The first of them.
    pub first_out_of_place: Option<usize>,
    /// Largest distance of a center of mass beyond its leeway, nm.
    pub largest_excess_nm: f32,
    /// Largest tilt beyond its leeway, radian.
    pub largest_excess_tilt_rad: f32,
}

impl MemberCheck {
    /// Whether the file has every member, whole and in place.
    #[must_use]
    pub fn is_clean(&self, molecules: usize) -> bool {
        self.expected_molecules == molecules && self.not_whole == 0 && self.out_of_place == 0
    }
}

impl Certificate {
    /// Whether no pair is below the tolerance, no ring is pierced and, if the crowd was given,
    /// every molecule is there, whole and in place.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let members = self.members.as_ref();
        self.pairs_below_tolerance == 0
            && self.rings_pierced == 0
            && members.is_none_or(|members| members.is_clean(self.molecules))
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_clean() {
            "clean: "
        } else {
            "not clean: "
        })?;
        write!(f, "{} molecules", grouped(self.molecules))?;
        let members = self.members.as_ref();
        if let Some(members) = members.filter(|m| m.expected_molecules != self.molecules) {
            write!(f, " instead of {}", grouped(members.expected_molecules))?;
        }
        write!(f, ", {} atoms", grouped(self.atoms))?;
        if let Some(distance) = self.least_distance_nm {
            write!(f, ", closest {:.4} nm", rounded_down(distance))?;
        }
        let pairs = grouped(self.pairs_below_tolerance);
        write!(f, ", {pairs} pairs below {} nm", self.tolerance_nm)?;
        if let Some(members) = members {
            match members.not_whole {
                0 => f.write_str(", all whole")?,
                count => write!(f, ", {} not whole", grouped(count))?,
            }
            match members.out_of_place {
                0 => f.write_str(", all in place")?,
                count => write!(
                    f,
                    ", {} out of place by up to {:.3} nm and {:.1}°",
                    grouped(count),
                    members.largest_excess_nm,
                    members.largest_excess_tilt_rad.to_degrees()
                )?,
            }
        }
        write!(f, ", {} rings pierced", grouped(self.rings_pierced))
    }
}

/// The number with commas between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Rounded down to four decimals: a distance below the tolerance is not shown as equal to it.
fn rounded_down(distance: f64) -> f64 {
    // The nearest number to a decimal may be just below it.
    const REPRESENTATION: f64 = 1.0e-9;
    (distance * 1.0e4 + REPRESENTATION).floor() / 1.0e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let numbers = [0, 12, 999, 1_000, 199_928, 4_000_000];
        let texts = numbers.map(grouped);
        assert_eq!(texts, ["0", "12", "999", "1,000", "199,928", "4,000,000"]);
    }

    #[test]
    fn distances_are_rounded_down() {
        for (distance, text) in [(0.199_999, "0.1999"), (0.2, "0.2000"), (0.2003, "0.2003")] {
            assert_eq!(format!("{:.4}", rounded_down(distance)), text);
        }
    }
}
