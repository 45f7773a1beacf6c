//! [`Composition`]: which species a leaflet has, by ratio or by number.

use super::{MAX_LIPIDS, MembraneError};
use crate::compartment::Leaflet;

/// How much of a species a leaflet has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// A part of all lipids of the leaflet, in any unit. The number of lipids follows from the
    /// area.
    Ratio(f32),
    /// A number of lipids.
    Number(u32),
}

/// The species of one leaflet, by index, with ratios or with numbers.
///
/// Shares of one species add up.
///
/// ```
/// use bevy_rapier_molecules::membrane::Composition;
///
/// // Three lipids of species 0 for each one of species 1.
/// let by_ratio = Composition::ratios(&[(0, 3.0), (1, 1.0)]);
/// let by_number = Composition::numbers(&[(0, 300), (1, 100)]);
/// assert_ne!(by_ratio, by_number);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composition {
    /// Index of a species, and its share.
    pub shares: Vec<(usize, Share)>,
}

impl Composition {
    /// Species with ratios.
    #[must_use]
    pub fn ratios(shares: &[(usize, f32)]) -> Self {
        let shares = shares.iter();
        Self {
            shares: shares.map(|&(s, r)| (s, Share::Ratio(r))).collect(),
        }
    }

    /// Species with numbers.
    #[must_use]
    pub fn numbers(shares: &[(usize, u32)]) -> Self {
        let shares = shares.iter();
        Self {
            shares: shares.map(|&(s, n)| (s, Share::Number(n))).collect(),
        }
    }

    /// Checks the composition and adds up the shares of each species.
    pub(super) fn resolve(
        &self,
        leaflet: Leaflet,
        species_count: usize,
    ) -> Result<ResolvedComposition, MembraneError> {
        let mut parts: Vec<(usize, f64)> = Vec::new();
        let is_number = |share: &Share| matches!(share, Share::Number(_));
        let by_number = self.shares.iter().all(|(_, share)| is_number(share));
        if !by_number && self.shares.iter().any(|(_, share)| is_number(share)) {
            return Err(MembraneError::MixedShares { leaflet });
        }
        for &(species, share) in &self.shares {
            if species >= species_count {
                let count = species_count;
                return Err(MembraneError::UnknownSpecies { species, count });
            }
            let part = match share {
                Share::Number(number) => f64::from(number),
                Share::Ratio(ratio) if ratio.is_finite() && ratio >= 0.0 => f64::from(ratio),
                Share::Ratio(ratio) => return Err(MembraneError::BadRatio { leaflet, ratio }),
            };
            match parts.iter_mut().find(|(known, _)| *known == species) {
                Some((_, sum)) => *sum += part,
                None => parts.push((species, part)),
            }
        }
        let total: f64 = parts.iter().map(|(_, part)| part).sum();
        if total <= 0.0 {
            return Err(MembraneError::EmptyComposition { leaflet });
        }
        if by_number && total > f64::from(MAX_LIPIDS) {
            let lipids = total;
            return Err(MembraneError::TooManyLipids { leaflet, lipids });
        }
        Ok(ResolvedComposition {
            number: by_number.then_some(total as u32),
            parts: parts.iter().map(|&(s, part)| (s, part / total)).collect(),
        })
    }
}

/// A valid composition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResolvedComposition {
    /// Index of each species once, and its part of all lipids; the parts add up to 1.
    pub parts: Vec<(usize, f64)>,
    /// Number of lipids, if given.
    pub number: Option<u32>,
}

impl ResolvedComposition {
    /// The mean over all lipids of a value that depends on the species.
    pub fn mean(&self, value: impl Fn(usize) -> f32) -> f64 {
        let parts = self.parts.iter();
        parts.map(|&(s, part)| part * f64::from(value(s))).sum()
    }

    /// The number of lipids of each species of `total`, by the method of the largest remainder:
    /// all are rounded down, and species with the largest remainders get one more until the sum is
    /// right. Of equal remainders the first comes first.
    pub fn split(&self, total: u32) -> Vec<u32> {
        let exact: Vec<f64> = self
            .parts
            .iter()
            .map(|(_, part)| {
                let exact = part * f64::from(total);
                // Parts of given numbers are whole again.
                let whole = exact.round();
                if (exact - whole).abs() < 1.0e-6 {
                    whole
                } else {
                    exact
                }
            })
            .collect();
        let mut numbers: Vec<u32> = exact.iter().map(|exact| *exact as u32).collect();
        let mut order: Vec<usize> = (0..exact.len()).collect();
        order.sort_by(|&a, &b| {
            exact[b]
                .fract()
                .total_cmp(&exact[a].fract())
                .then(a.cmp(&b))
        });
        let left = total.saturating_sub(numbers.iter().sum());
        for &index in order.iter().cycle().take(left as usize) {
            numbers[index] += 1;
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(composition: &Composition) -> ResolvedComposition {
        composition.resolve(Leaflet::Outer, 9).unwrap()
    }

    #[test]
    fn numbers_of_all_totals_sum_exactly_and_are_off_by_less_than_one() {
        let shares = [(0, 0.1), (1, 0.7), (2, 1.0 / 3.0), (5, 0.0), (7, 2.0)];
        let composition = resolved(&Composition::ratios(&shares));
        for total in (0..500).chain([99_999_999, 77_777]) {
            let numbers = composition.split(total);
            assert_eq!(numbers.iter().sum::<u32>(), total);
            assert_eq!(numbers[3], 0, "a ratio of zero");
            for (number, (_, part)) in numbers.iter().zip(&composition.parts) {
                assert!((f64::from(*number) - part * f64::from(total)).abs() < 1.0);
            }
        }
    }

    #[test]
    fn equal_remainders_go_to_the_first_species() {
        let composition = resolved(&Composition::ratios(&[(0, 1.0), (1, 1.0), (2, 1.0)]));
        assert_eq!(composition.split(10), [4, 3, 3]);
        assert_eq!(composition.split(11), [4, 4, 3]);
    }

    #[test]
    fn given_numbers_come_back_and_add_up_by_species() {
        let shares = [(0, 3), (4, 70_000_001), (0, 11), (2, 0), (1, 999)];
        let composition = resolved(&Composition::numbers(&shares));
        let total = composition.number.unwrap();
        assert_eq!(total, 70_001_014);
        assert_eq!(composition.split(total), [14, 70_000_001, 0, 999]);
    }
}
