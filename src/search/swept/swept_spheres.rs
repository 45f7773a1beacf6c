//! Spheres with a search for their collisions: whole and subdivided steps.

use glam::DVec3;

use super::cell_list::CellList;
use super::moving_spheres::MovingSpheres;
use super::{Collision, SweptAlgorithm, SweptError, SweptWork};
use crate::search::Pair;
use crate::spheres::SphereSet;

/// Number of collisions per sphere in a step that is an error.
const MAX_COLLISIONS_PER_SPHERE: u64 = 1000;

/// A collision whose response is wanted. Arrays hold the spheres of the pair in its order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// The spheres, and the time of contact.
    pub collision: Collision,
    /// Positions at that time, nm.
    pub centers: [DVec3; 2],
    /// Displacements per step, nm.
    pub displacements: [DVec3; 2],
}

impl Impact {
    /// Displacements per step after an elastic collision of two equal masses.
    #[must_use]
    pub fn bounce(&self) -> [DVec3; 2] {
        let [one, other] = self.displacements;
        let offset = self.centers[1] - self.centers[0];
        let normal = offset.try_normalize().unwrap_or(DVec3::X);
        let exchanged = (one - other).dot(normal) * normal;
        [one - exchanged, other + exchanged]
    }
}

/// Spheres that move in straight lines, and the search for their collisions.
///
/// With cells, a sphere is compared with the spheres of its own cells and the neighboring ones.
/// That is sufficient if every sphere stays within half a cell of its start, radius included
/// (Result 1 of the paper, with d half the width of a cell):
///
/// 1. choose cells of width 2 d; spheres that are too large or too fast for them are *outliers*
///    and compared with all spheres (section 5);
/// 2. link cells and spheres, at the times that the algorithm prescribes;
/// 3. for each cell, and each sphere of it, compute the times of contact with the spheres of the
///    cell and its neighbors;
/// 4. move the spheres to the end of the step. In a subdivided step, move them to the earliest
///    contact, respond to it, and continue at 3.
///
/// ```
/// use bevy_rapier_molecules::search::swept::{SweptAlgorithm, SweptSpheres};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::{DVec3, Vec3};
///
/// // Two spheres that swap places within one step.
/// let mut set = SphereSet::new();
/// set.push(Vec3::X * -5.0, 1.0, 0)?;
/// set.push(Vec3::X * 5.0, 1.0, 1)?;
/// let paths = [DVec3::X * 10.0, DVec3::X * -10.0];
/// let mut spheres = SweptSpheres::new(&set, SweptAlgorithm::B)?;
/// let mut collisions = Vec::new();
/// spheres.step(&paths, &mut collisions)?;
/// // They are 10 nm apart, approach each other by 20 nm per step, and touch at 2 nm.
/// assert_eq!(collisions.len(), 1);
/// assert!((collisions[0].time - 0.4).abs() < 1.0e-12);
///
/// // If they bounce off each other, they return.
/// let mut spheres = SweptSpheres::new(&set, SweptAlgorithm::B)?;
/// spheres.subdivided_step(&paths, &mut |impact| impact.bounce())?;
/// assert!((spheres.centers()[0].x - -7.0).abs() < 1.0e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SweptSpheres {
    spheres: MovingSpheres,
    /// `None`: the naive algorithm.
    cells: Option<CellList>,
    /// The collisions of the current subdivision.
    collisions: Vec<Collision>,
}

impl SweptSpheres {
    /// Spheres in cells as narrow as their radii and motions allow.
    ///
    /// # Errors
    /// [`SweptError::Sphere`] if a sphere is invalid.
    pub fn new(spheres: &SphereSet, algorithm: SweptAlgorithm) -> Result<Self, SweptError> {
        Self::build(spheres, algorithm, None)
    }

    /// Spheres in cells of a given width, nm.
    ///
    /// # Errors
    /// [`SweptError::BadWidth`] if the width is not positive and finite, [`SweptError::Sphere`]
    /// if a sphere is invalid.
    pub fn with_cell_width(
        spheres: &SphereSet,
        algorithm: SweptAlgorithm,
        width: f32,
    ) -> Result<Self, SweptError> {
        if !(width.is_finite() && width > 0.0) {
            return Err(SweptError::BadWidth { width });
        }
        Self::build(spheres, algorithm, Some(width))
    }

    fn build(
        spheres: &SphereSet,
        algorithm: SweptAlgorithm,
        width: Option<f32>,
    ) -> Result<Self, SweptError> {
        Ok(Self {
            spheres: MovingSpheres::new(spheres)?,
            cells: CellList::new(algorithm, width),
            collisions: Vec::new(),
        })
    }

    /// Current positions, nm.
    #[must_use]
    pub fn centers(&self) -> &[DVec3] {
        &self.spheres.centers
    }

    /// Moves all spheres by their displacements, nm, without responses to collisions. Writes the
    /// collisions on the way into `collisions`, sorted by pair.
    ///
    /// # Errors
    /// [`SweptError`] if a displacement is invalid; nothing moves then.
    pub fn step(
        &mut self,
        displacements: &[DVec3],
        collisions: &mut Vec<Collision>,
    ) -> Result<SweptWork, SweptError> {
        collisions.clear();
        let mut work = self.begin_step(displacements)?;
        self.find(&mut work, collisions);
        self.advance(1.0, &mut work);
        Ok(work)
    }

    /// Moves all spheres by their displacements, nm, from collision to collision. `respond`
    /// returns the displacements per step of both spheres after the collision.
    ///
    /// Spheres that overlap at the start and approach each other collide at time 0.
    ///
    /// # Errors
    /// [`SweptError`] if a displacement is invalid, if two spheres still approach each other
    /// after the response, or if there are too many collisions. Spheres stay where they were at
    /// that time.
    pub fn subdivided_step(
        &mut self,
        displacements: &[DVec3],
        respond: &mut dyn FnMut(&Impact) -> [DVec3; 2],
    ) -> Result<SweptWork, SweptError> {
        let mut work = self.begin_step(displacements)?;
        let most = MAX_COLLISIONS_PER_SPHERE * u64::from(self.spheres.len());
        let mut collisions = std::mem::take(&mut self.collisions);
        loop {
            self.find(&mut work, &mut collisions);
            let approaching = collisions
                .iter()
                .filter(|one| self.spheres.approach(one.pair));
            let Some(&earliest) = approaching.min_by(|a, b| a.time.total_cmp(&b.time)) else {
                break;
            };
            if work.subdivisions > most {
                return Err(SweptError::TooManyCollisions { collisions: most });
            }
            self.advance(earliest.time, &mut work);
            self.respond(earliest, respond)?;
        }
        self.collisions = collisions;
        self.advance(1.0, &mut work);
        Ok(work)
    }

    fn begin_step(&mut self, displacements: &[DVec3]) -> Result<SweptWork, SweptError> {
        let mut work = SweptWork::default();
        self.spheres.begin_step(displacements)?;
        if let Some(cells) = &mut self.cells {
            cells.begin_step(&self.spheres, &mut work);
        }
        Ok(work)
    }

    /// Finds the collisions in the rest of the step.
    fn find(&mut self, work: &mut SweptWork, collisions: &mut Vec<Collision>) {
        collisions.clear();
        work.subdivisions += 1;
        match &mut self.cells {
            Some(cells) => cells.find(&self.spheres, work, collisions),
            None => {
                let count = self.spheres.len();
                let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
                collisions.extend(pairs.filter_map(|(a, b)| self.spheres.collision(a, b)));
                work.checks += u64::from(count) * u64::from(count.saturating_sub(1)) / 2;
            }
        }
        collisions.sort_unstable_by_key(|collision| collision.pair);
        collisions.dedup_by_key(|collision| collision.pair);
    }

    fn advance(&mut self, time: f64, work: &mut SweptWork) {
        self.spheres.advance(time);
        if let Some(cells) = &mut self.cells {
            cells.moved(&self.spheres, work);
        }
    }

    fn respond(
        &mut self,
        collision: Collision,
        respond: &mut dyn FnMut(&Impact) -> [DVec3; 2],
    ) -> Result<(), SweptError> {
        let Pair { a, b } = collision.pair;
        let spheres = &self.spheres;
        let displacements = respond(&Impact {
            collision,
            centers: [a, b].map(|sphere| spheres.centers[sphere as usize]),
            displacements: [a, b].map(|sphere| spheres.displacements[sphere as usize]),
        });
        for (sphere, displacement) in [a, b].into_iter().zip(displacements) {
            self.spheres.redirect(sphere, displacement)?;
            if let Some(cells) = &mut self.cells {
                cells.redirected(&self.spheres, sphere);
            }
        }
        if self.spheres.approach(collision.pair) {
            return Err(SweptError::StillApproaching {
                pair: collision.pair,
            });
        }
        Ok(())
    }
}
