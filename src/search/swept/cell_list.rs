//! Johnson and Whalley's cell algorithms A, B and C.

use glam::DVec3;

use super::cell_links::{Cell, CellLayout, CellLinks};
use super::{Collision, SweptError, SweptSearch, SweptWork, check, collision};
use crate::spheres::SphereSet;

/// Part of half a cell that a sphere may use: rounding of cell coordinates has the rest.
const USABLE: f64 = 0.999;

/// How much wider than needed cells may be before they are made anew.
const MOST_SLACK: f64 = 2.0;

/// Spheres that may be taken out in any case.
const FEW: usize = 4;

/// One more may be taken out for each time that this goes into the root of their number.
const ROOT_PER_MISFIT: usize = 8;

/// Which of the paper's algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellListVersion {
    /// Cubes; links are kept up to date with every move.
    A,
    /// Cubes; links are made once a step.
    B,
    /// Slices; links are made once a step.
    C,
}

/// A cell-list search for collisions within a step.
///
/// Each sphere is checked against those in its own cell and the neighboring ones, where
/// the whole way of a sphere stays within half a cell of its start: then none can come
/// from further away (Result 1, with d half the width of a cell: radius plus way at most
/// d). One after the other:
///
/// 1. cells of sides 2 d; spheres that are too large or too fast for them are taken out,
///    and checked against everyone (section 5);
/// 2. links between cells and spheres, both ways;
/// 3. each sphere looks into the neighboring cells, but not into those behind it: if it is
///    wholly in one half of its cell and moves away from the other, nothing from beyond
///    that other half can reach it (section 4.2);
/// 4. *A* updates the links of each sphere as it moves on. *B* makes links once a step.
///    *C* is B with slices across one axis instead of cubes: two neighbors instead of 26.
///
/// Sequential, as in the paper.
///
/// ```
/// use bevy_rapier_molecules::search::swept::{CellList, CellListVersion, SweptSearch};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// // Two spheres that pass through each other's places within one step.
/// let (mut start, mut end) = (SphereSet::new(), SphereSet::new());
/// for (owner, x) in [(0, -5.0), (1, 5.0)] {
///     start.push(Vec3::X * x, 1.0, owner)?;
///     end.push(Vec3::X * -x, 1.0, owner)?;
/// }
/// let mut collisions = Vec::new();
/// let mut search = CellList::new(CellListVersion::B);
/// search.find_collisions(&start, &end, &mut collisions)?;
/// // They are 10 nm apart, come nearer by 20 nm a step, and touch at 2 nm.
/// assert_eq!(collisions.len(), 1);
/// assert!((collisions[0].time - 0.4).abs() < 1.0e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CellList {
    version: CellListVersion,
    /// Width of a cell that was asked for, nm.
    width: Option<f32>,
    refuses_misfits: bool,
    cut: Option<CellLayout>,
    links: CellLinks,
    /// How far each sphere gets from its start, nm.
    reaches: Vec<f64>,
    sorted_reaches: Vec<f64>,
    /// Spheres too large or too fast for the cells.
    misfits: Vec<u32>,
    /// The sphere that each was last checked against.
    checked: Vec<u32>,
}

impl CellList {
    /// Cells as narrow as the spheres and their motion allow.
    #[must_use]
    pub fn new(version: CellListVersion) -> Self {
        Self {
            version,
            width: None,
            refuses_misfits: false,
            cut: None,
            links: CellLinks::default(),
            reaches: Vec::new(),
            sorted_reaches: Vec::new(),
            misfits: Vec::new(),
            checked: Vec::new(),
        }
    }

    /// Cells of a certain width, nm. Spheres that are too large or too fast for them are
    /// treated apart.
    ///
    /// # Errors
    /// [`SweptError::BadWidth`] if it is not positive.
    pub fn with_cell_width(version: CellListVersion, width: f32) -> Result<Self, SweptError> {
        if !(width.is_finite() && width > 0.0) {
            return Err(SweptError::BadWidth { width });
        }
        Ok(Self {
            width: Some(width),
            ..Self::new(version)
        })
    }

    /// Refuses spheres that are too large or too fast for the cells
    /// ([`SweptError::TooFast`]) instead of treating them apart.
    #[must_use]
    pub fn refusing_misfits(self) -> Self {
        Self {
            refuses_misfits: true,
            ..self
        }
    }

    /// Width of the cells of the last search, nm.
    #[must_use]
    pub fn cell_width(&self) -> Option<f64> {
        self.cut.map(|cut| cut.width)
    }

    /// Step 1: cells for these spheres.
    fn plan(&mut self, start: &SphereSet, end: &SphereSet) -> Result<CellLayout, SweptError> {
        self.reaches.clear();
        self.reaches.extend((0..start.len()).map(|index| {
            let way = end.center(index).as_dvec3() - start.center(index).as_dvec3();
            f64::from(start.radius(index)) + way.length()
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
        let cut = match self.cut {
            // CellLinks last as long as the cells do.
            Some(cut)
                if same_spheres
                    && (self.width.is_some()
                        || (half..=half * MOST_SLACK).contains(&(0.5 * cut.width))) =>
            {
                cut
            }
            _ => {
                let cut = make(2.0 * half);
                self.links.clear(&cut, start.len());
                cut
            }
        };
        self.cut = Some(cut);
        self.checked.clear();
        self.checked.resize(start.len(), u32::MAX);
        self.find_misfits(&cut)?;
        Ok(cut)
    }

    /// How far all spheres get but for a few that get more than twice as far.
    fn ordinary_reach(&mut self) -> f64 {
        self.sorted_reaches.clone_from(&self.reaches);
        let count = self.sorted_reaches.len();
        let few = FEW + count.isqrt() / ROOT_PER_MISFIT;
        let furthest = self.reaches.iter().copied().fold(0.0, f64::max);
        let ordinary = if count > few {
            let place = count - 1 - few;
            let (_, ordinary, _) = self
                .sorted_reaches
                .select_nth_unstable_by(place, f64::total_cmp);
            *ordinary
        } else {
            furthest
        };
        let limit = furthest.min(MOST_SLACK * ordinary);
        // Points at rest need cells, too.
        if limit > 0.0 { limit } else { 1.0 }
    }

    fn find_misfits(&mut self, cut: &CellLayout) -> Result<(), SweptError> {
        let limit = 0.5 * cut.width * USABLE;
        self.misfits.clear();
        let reaches = self.reaches.iter().zip(0..);
        // Cells that fit exactly were made for the sphere that reaches furthest.
        let misfits = reaches.filter(|(reach, _)| **reach > limit * (1.0 + 4.0 * f64::EPSILON));
        self.misfits.extend(misfits.map(|(_, index)| index));
        let furthest = |one: &&u32, other: &&u32| {
            let [one, other] = [one, other].map(|index| self.reaches[**index as usize]);
            one.total_cmp(&other)
        };
        match self.misfits.iter().max_by(furthest) {
            Some(&sphere) if self.refuses_misfits => Err(SweptError::TooFast {
                sphere,
                reach: self.reaches[sphere as usize] as f32,
                width: cut.width as f32,
            }),
            _ => Ok(()),
        }
    }

    /// Whether a sphere is treated apart.
    fn is_misfit(&self, sphere: u32) -> bool {
        self.misfits.binary_search(&sphere).is_ok()
    }

    fn link(&mut self, cut: &CellLayout, spheres: &SphereSet, sphere: u32) {
        let index = sphere as usize;
        let (center, radius) = (spheres.center(index).as_dvec3(), spheres.radius(index));
        self.links.update(cut, sphere, center, f64::from(radius));
    }

    /// Step 3: checks a sphere against those with larger indices around it.
    fn check_around(
        &mut self,
        cut: &CellLayout,
        (start, end): (&SphereSet, &SphereSet),
        sphere: u32,
        work: &mut SweptWork,
        collisions: &mut Vec<Collision>,
    ) {
        let index = sphere as usize;
        let center = start.center(index).as_dvec3();
        let motion = end.center(index).as_dvec3() - center;
        let own = cut.cell(center);
        let radius = f64::from(start.radius(index));
        let steps = [0, 1, 2].map(|axis| steps_along(cut, own, axis, (center, motion, radius)));
        for x in steps[0].clone() {
            for y in steps[1].clone() {
                for z in steps[2].clone() {
                    let step = [x, y, z];
                    let cell: Cell = [0, 1, 2].map(|k| own[k].wrapping_add(step[k]));
                    work.cells += 1;
                    for &other in self.links.spheres(cut.place(cell)) {
                        if other <= sphere || self.checked[other as usize] == sphere {
                            continue;
                        }
                        self.checked[other as usize] = sphere;
                        work.checks += 1;
                        collisions.extend(collision(start, end, index, other as usize));
                    }
                }
            }
        }
    }

    /// Checks the misfits against everyone.
    fn check_misfits(
        &self,
        start: &SphereSet,
        end: &SphereSet,
        work: &mut SweptWork,
        collisions: &mut Vec<Collision>,
    ) {
        for &misfit in &self.misfits {
            for other in 0..start.len() as u32 {
                // Two misfits meet once, and no one itself.
                if other == misfit || (other < misfit && self.is_misfit(other)) {
                    continue;
                }
                work.checks += 1;
                collisions.extend(collision(start, end, misfit as usize, other as usize));
            }
        }
    }
}

/// Which neighbors along an axis a sphere must look at, from −1 to 1.
fn steps_along(
    cut: &CellLayout,
    own: Cell,
    axis: usize,
    (center, motion, radius): (DVec3, DVec3, f64),
) -> std::ops::RangeInclusive<i64> {
    if !cut.is_cut(axis) {
        return 0..=0;
    }
    let middle = cut.middle(own, axis);
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
        let cut = self.plan(start, end)?;
        self.links.changes = 0;
        let mut work = SweptWork {
            apart: self.misfits.len() as u64,
            ..SweptWork::default()
        };
        let count = start.len() as u32;
        for sphere in 0..count {
            if self.is_misfit(sphere) {
                self.links.remove(&cut, sphere);
            } else {
                self.link(&cut, start, sphere);
            }
        }
        for sphere in 0..count {
            if self.is_misfit(sphere) {
                continue;
            }
            self.check_around(&cut, (start, end), sphere, &mut work, collisions);
            if self.version == CellListVersion::A {
                self.link(&cut, end, sphere);
            }
        }
        self.check_misfits(start, end, &mut work, collisions);
        work.links = self.links.changes;
        collisions.sort_unstable_by_key(|collision| collision.pair);
        Ok(work)
    }
}
