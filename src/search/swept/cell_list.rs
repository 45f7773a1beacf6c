//! The cell algorithms A, B and C of Johnson and Whalley.

use glam::DVec3;

use super::cell_links::{Cell, CellLayout, CellLinks};
use super::{Collision, SweptError, SweptSearch, SweptWork, check, collision};
use crate::spheres::SphereSet;

/// Fraction of half a cell that a sphere may use; the rest covers the rounding of cell coordinates.
const USABLE: f64 = 0.999;

/// How much wider than necessary cells may be before they are recomputed.
const MAX_SLACK: f64 = 2.0;

/// Number of outliers that is always allowed.
const MIN_OUTLIERS: usize = 4;

/// One more outlier is allowed for each time that this divides the square root of the number of
/// spheres.
const ROOT_PER_OUTLIER: usize = 8;

/// The algorithms of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellListVersion {
    /// Cubes; links are updated after every motion.
    A,
    /// Cubes; links are updated once per step.
    B,
    /// Slices; links are updated once per step.
    C,
}

/// Cell-list search for the collisions of a step.
///
/// A sphere is compared with the spheres of its own cell and the neighboring ones. That is
/// sufficient if every sphere stays within half a cell of its start, radius included (Result 1
/// of the paper, with d half the width of a cell):
///
/// 1. choose cells of width 2 d; spheres that are too large or too fast for them are *outliers*
///    and compared with all spheres (section 5);
/// 2. link cells and spheres;
/// 3. compare each sphere with its neighboring cells, except those behind it: if it is entirely
///    in one half of its cell and moves away from the other half, nothing reaches it from
///    beyond that half (section 4.2);
/// 4. *A* updates the links of each sphere after its motion, *B* once per step. *C* is B with
///    slices across one axis instead of cubes: two neighbors instead of 26.
///
/// Sequential, as in the paper.
///
/// ```
/// use bevy_rapier_molecules::search::swept::{CellList, CellListVersion, SweptSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// // Two spheres that swap places within one step.
/// let (mut start, mut end) = (SphereSet::new(), SphereSet::new());
/// for (owner, x) in [(0, -5.0), (1, 5.0)] {
///     start.push(Vec3::X * x, 1.0, owner)?;
///     end.push(Vec3::X * -x, 1.0, owner)?;
/// }
/// let mut collisions = Vec::new();
/// let mut search = CellList::new(CellListVersion::B);
/// search.find_collisions(&start, &end, &mut collisions)?;
/// // They are 10 nm apart, approach each other by 20 nm per step, and touch at 2 nm.
/// assert_eq!(collisions.len(), 1);
/// assert!((collisions[0].time - 0.4).abs() < 1.0e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CellList {
    version: CellListVersion,
    /// Requested width of a cell, nm.
    width: Option<f32>,
    layout: Option<CellLayout>,
    links: CellLinks,
    /// Radius plus displacement of each sphere, nm.
    reaches: Vec<f64>,
    sorted_reaches: Vec<f64>,
    /// Spheres that are too large or too fast for the cells.
    outliers: Vec<u32>,
    /// The sphere that each sphere was last compared with.
    checked: Vec<u32>,
}

impl CellList {
    /// Chooses cells as narrow as the spheres and their motion allow.
    #[must_use]
    pub fn new(version: CellListVersion) -> Self {
        Self {
            version,
            width: None,
            layout: None,
            links: CellLinks::default(),
            reaches: Vec::new(),
            sorted_reaches: Vec::new(),
            outliers: Vec::new(),
            checked: Vec::new(),
        }
    }

    /// Uses cells of a given width, nm. Spheres that are too large or too fast for them are
    /// compared with all spheres.
    ///
    /// # Errors
    /// [`SweptError::BadWidth`] if the width is not positive and finite.
    pub fn with_cell_width(version: CellListVersion, width: f32) -> Result<Self, SweptError> {
        if !(width.is_finite() && width > 0.0) {
            return Err(SweptError::BadWidth { width });
        }
        Ok(Self {
            width: Some(width),
            ..Self::new(version)
        })
    }

    /// Step 1: cells for these spheres.
    fn plan(&mut self, start: &SphereSet, end: &SphereSet) -> Result<CellLayout, SweptError> {
        self.reaches.clear();
        self.reaches.extend((0..start.len()).map(|index| {
            let displacement = end.center(index).as_dvec3() - start.center(index).as_dvec3();
            f64::from(start.radius(index)) + displacement.length()
        }));
        let needed = self.ordinary_reach() / USABLE;
        let half = self.width.map_or(needed, |width| 0.5 * f64::from(width));
        let extent = start.extent()?;
        let make = |width: f64| {
            let size = (extent.high - extent.low).max(glam::Vec3::ZERO);
            match self.version {
                CellListVersion::A | CellListVersion::B => {
                    CellLayout::cubes(width, size, start.len())
                }
                CellListVersion::C => CellLayout::slices(width, size, start.len()),
            }
        };
        let same_spheres = self.checked.len() == start.len();
        let layout = match self.layout {
            // Links are valid as long as the layout is.
            Some(layout)
                if same_spheres
                    && (self.width.is_some()
                        || (half..=half * MAX_SLACK).contains(&(0.5 * layout.width))) =>
            {
                layout
            }
            _ => {
                let layout = make(2.0 * half);
                self.links.clear(&layout, start.len());
                layout
            }
        };
        self.layout = Some(layout);
        self.checked.clear();
        self.checked.resize(start.len(), u32::MAX);
        self.find_outliers(&layout);
        Ok(layout)
    }

    /// The largest reach of all spheres, except for a few that reach more than twice as far.
    fn ordinary_reach(&mut self) -> f64 {
        self.sorted_reaches.clone_from(&self.reaches);
        let count = self.sorted_reaches.len();
        let max_outliers = MIN_OUTLIERS + count.isqrt() / ROOT_PER_OUTLIER;
        let furthest = self.reaches.iter().copied().fold(0.0, f64::max);
        let ordinary = if count > max_outliers {
            let place = count - 1 - max_outliers;
            let (_, ordinary, _) = self
                .sorted_reaches
                .select_nth_unstable_by(place, f64::total_cmp);
            *ordinary
        } else {
            furthest
        };
        let limit = furthest.min(MAX_SLACK * ordinary);
        // Points at rest need cells, too.
        if limit > 0.0 { limit } else { 1.0 }
    }

    fn find_outliers(&mut self, layout: &CellLayout) {
        let limit = 0.5 * layout.width * USABLE;
        self.outliers.clear();
        let reaches = self.reaches.iter().zip(0..);
        // The tolerance keeps the sphere that the cells were made for.
        let outliers = reaches.filter(|(reach, _)| **reach > limit * (1.0 + 4.0 * f64::EPSILON));
        self.outliers.extend(outliers.map(|(_, index)| index));
    }

    /// Whether a sphere is compared with all spheres.
    fn is_outlier(&self, sphere: u32) -> bool {
        self.outliers.binary_search(&sphere).is_ok()
    }

    fn link(&mut self, layout: &CellLayout, spheres: &SphereSet, sphere: u32) {
        let index = sphere as usize;
        let (center, radius) = (spheres.center(index).as_dvec3(), spheres.radius(index));
        self.links.update(layout, sphere, center, f64::from(radius));
    }

    /// Step 3: compares a sphere with the spheres around it that have larger indices.
    fn check_around(
        &mut self,
        layout: &CellLayout,
        (start, end): (&SphereSet, &SphereSet),
        sphere: u32,
        work: &mut SweptWork,
        collisions: &mut Vec<Collision>,
    ) {
        let index = sphere as usize;
        let center = start.center(index).as_dvec3();
        let motion = end.center(index).as_dvec3() - center;
        let own = layout.cell(center);
        let radius = f64::from(start.radius(index));
        let steps = [0, 1, 2].map(|axis| steps_along(layout, own, axis, (center, motion, radius)));
        for x in steps[0].clone() {
            for y in steps[1].clone() {
                for z in steps[2].clone() {
                    let step = [x, y, z];
                    let cell: Cell = [0, 1, 2].map(|k| own[k].wrapping_add(step[k]));
                    work.cells += 1;
                    for &other in self.links.spheres(layout.index(cell)) {
                        if other <= sphere || self.checked[other as usize] == sphere {
                            continue;
                        }
                        self.checked[other as usize] = sphere;
                        collisions.extend(collision(start, end, index, other as usize));
                    }
                }
            }
        }
    }

    /// Compares the outliers with all spheres.
    fn check_outliers(&self, start: &SphereSet, end: &SphereSet, collisions: &mut Vec<Collision>) {
        for &outlier in &self.outliers {
            for other in 0..start.len() as u32 {
                // Compare two outliers once.
                if other == outlier || (other < outlier && self.is_outlier(other)) {
                    continue;
                }
                collisions.extend(collision(start, end, outlier as usize, other as usize));
            }
        }
    }
}

/// Neighbors along an axis that a sphere must be compared with, from −1 to 1.
fn steps_along(
    layout: &CellLayout,
    own: Cell,
    axis: usize,
    (center, motion, radius): (DVec3, DVec3, f64),
) -> std::ops::RangeInclusive<i64> {
    if !layout.is_divided(axis) {
        return 0..=0;
    }
    let middle = layout.middle(own, axis);
    let in_upper_half = center[axis] - radius >= middle;
    let in_lower_half = center[axis] + radius <= middle;
    let first = if in_upper_half && motion[axis] >= 0.0 {
        0
    } else {
        -1
    };
    let last = if in_lower_half && motion[axis] <= 0.0 {
        0
    } else {
        1
    };
    first..=last
}

impl SweptSearch for CellList {
    fn name(&self) -> &'static str {
        match self.version {
            CellListVersion::A => "cell-list-a",
            CellListVersion::B => "cell-list-b",
            CellListVersion::C => "cell-list-c",
        }
    }

    fn find_collisions(
        &mut self,
        start: &SphereSet,
        end: &SphereSet,
        collisions: &mut Vec<Collision>,
    ) -> Result<SweptWork, SweptError> {
        collisions.clear();
        check(start, end)?;
        let layout = self.plan(start, end)?;
        let mut work = SweptWork {
            outliers: self.outliers.len() as u64,
            ..SweptWork::default()
        };
        let count = start.len() as u32;
        for sphere in 0..count {
            if self.is_outlier(sphere) {
                self.links.remove(&layout, sphere);
            } else {
                self.link(&layout, start, sphere);
            }
        }
        for sphere in 0..count {
            if self.is_outlier(sphere) {
                continue;
            }
            self.check_around(&layout, (start, end), sphere, &mut work, collisions);
            if self.version == CellListVersion::A {
                self.link(&layout, end, sphere);
            }
        }
        self.check_outliers(start, end, collisions);
        collisions.sort_unstable_by_key(|collision| collision.pair);
        Ok(work)
    }
}
