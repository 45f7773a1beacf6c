//! A grid that remembers: neighbor lists with a skin.

use std::time::Instant;

use rayon::prelude::*;

use super::{
    GridCell, Pair, PairBuffer, PairSearch, SearchError, SearchTimes, UniformGrid, check_margin,
};
use crate::spheres::{CHUNK, SphereSet};

/// Default skin, nm: a tenth of what an atom pair reaches or so.
const DEFAULT_SKIN_NM: f32 = 0.04;

/// Part of half the skin that may be used up: the rest covers rounding, some 10⁻⁶ of a
/// distance.
const USABLE: f32 = 0.999;

/// Longest reach that a skin is good for, in skins: what is left of the skin must be more
/// than the rounding of a distance.
const MOST_SKINS: f32 = 500.0;

/// Kept pairs that one task compares.
const PAIRS_PER_TASK: usize = 16 * 1024;

/// Uniform grid that searches only when something has moved. Pairs come in the order of
/// their indices.
///
/// Verlet's lists (1967) over the uniform grid:
///
/// 1. search with a margin that is longer by the *skin*, and keep the pairs and where the
///    spheres were;
/// 2. while no sphere has moved more than half the skin since, any pair in reach is among
///    the kept ones: two spheres come nearer by no more than the skin;
/// 3. each step compares the kept pairs only, with the exact distance of now;
/// 4. as soon as something has moved further, or the spheres are others, go to 1.
///
/// Exact at every step. It pays where many steps pass between two searches, and costs
/// memory for the kept pairs, which are more than those in reach.
///
/// ```
/// use bevy_rapier_molecules::search::{PairSearch, VerletGrid};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut grid = VerletGrid::with_skin(0.1)?;
/// for step in 0..10 {
///     let mut spheres = SphereSet::new();
///     spheres.push(Vec3::ZERO, 0.17, 0)?;
///     spheres.push(Vec3::X * (0.362 - 0.004 * step as f32), 0.17, 1)?;
///     let overlap = u64::from(step > 5);
///     assert_eq!(grid.count_pairs(&spheres, 0.0)?, overlap);
/// }
/// // The second has moved by 0.036 nm, less than half the skin.
/// assert_eq!(grid.searches(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VerletGrid {
    grid: UniformGrid,
    skin: f32,
    /// The spheres of the last search of the grid; empty if nothing is kept.
    then: SphereSet,
    /// Margin that the kept pairs are good for, nm.
    margin: f32,
    found: PairBuffer,
    /// Pairs that are near enough to meet, sorted.
    kept: Vec<Pair>,
    searches: u64,
}

impl Default for VerletGrid {
    fn default() -> Self {
        Self {
            grid: UniformGrid::new(),
            skin: DEFAULT_SKIN_NM,
            then: SphereSet::new(),
            margin: 0.0,
            found: PairBuffer::new(),
            kept: Vec::new(),
            searches: 0,
        }
    }
}

impl VerletGrid {
    /// A grid with the default skin.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A grid with a skin in nm. Without one, 0 nm, the grid is searched whenever something
    /// moves.
    ///
    /// # Errors
    /// [`SearchError::BadSkin`] if it is negative or not finite.
    pub fn with_skin(skin: f32) -> Result<Self, SearchError> {
        if !(skin.is_finite() && skin >= 0.0) {
            return Err(SearchError::BadSkin { skin });
        }
        Ok(Self {
            skin,
            ..Self::default()
        })
    }

    /// How often the grid has been searched: the other steps did with what was kept.
    #[must_use]
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Makes sure that the kept pairs hold all that are in reach.
    fn refresh(&mut self, spheres: &SphereSet, margin: f32) -> Result<(), SearchError> {
        check_margin(margin)?;
        let extent = spheres.extent()?;
        // Spheres that are too large for the skin are searched in every step.
        let longest = 2.0 * extent.largest_radius + margin;
        let trusted = longest <= self.skin * MOST_SKINS;
        if trusted && margin == self.margin && self.is_near(spheres) {
            return Ok(());
        }
        self.then.clear();
        let skin = if trusted { self.skin } else { 0.0 };
        self.grid
            .find_pairs(spheres, margin + skin, &mut self.found)?;
        self.searches += 1;
        self.kept.clear();
        self.kept.extend(self.found.iter());
        // By index, so that the order does not tell when the grid was searched.
        self.kept.par_sort_unstable();
        self.then.clone_from(spheres);
        self.margin = margin;
        Ok(())
    }

    /// Whether these are the spheres of the last search, none of them far from where it
    /// was.
    fn is_near(&self, spheres: &SphereSet) -> bool {
        let limit = 0.5 * self.skin * USABLE;
        spheres.owner == self.then.owner
            && spheres.radius == self.then.radius
            && (0..spheres.len().div_ceil(CHUNK))
                .into_par_iter()
                .all(|chunk| {
                    let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(spheres.len());
                    let moved = |index| {
                        spheres
                            .center(index)
                            .distance_squared(self.then.center(index))
                    };
                    range.map(moved).fold(0.0, f32::max) <= limit * limit
                })
    }
}

impl PairSearch for VerletGrid {
    fn name(&self) -> &'static str {
        "verlet-grid"
    }

    fn find_pairs(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        self.refresh(spheres, margin)?;
        let built = Instant::now();
        pairs
            .start(self.kept.len().div_ceil(PAIRS_PER_TASK))
            .par_iter_mut()
            .zip(self.kept.par_chunks(PAIRS_PER_TASK))
            .for_each(|(list, kept)| {
                let near = kept.iter().filter(|pair| pair.overlaps(spheres, margin));
                list.extend(near);
            });
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }

    fn count_pairs(&mut self, spheres: &SphereSet, margin: f32) -> Result<u64, SearchError> {
        self.refresh(spheres, margin)?;
        let near = |pair: &&Pair| pair.overlaps(spheres, margin);
        let kept = self.kept.par_chunks(PAIRS_PER_TASK);
        Ok(kept
            .map(|kept| kept.iter().filter(near).count() as u64)
            .sum())
    }

    fn cell_around(&self, point: glam::Vec3) -> Option<GridCell> {
        self.grid.cell_around(point)
    }
}
