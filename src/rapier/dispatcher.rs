//! The query dispatcher for pairs with a molecule.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::{Quat, Vec3};
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::details::{ContactManifoldsWorkspace, NormalConstraints};
use rapier3d::parry::query::{
    ClosestPoints, Contact, ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher,
    QueryDispatcher, ShapeCastHit, ShapeCastOptions, Unsupported,
};
use rapier3d::parry::shape::Shape;

use super::MoleculeShape;
use super::distance::{closest_points, intersects, nearest};
use super::manifolds::{
    self, AtomContact, ManifoldWriter, molecule_vs_molecule, molecule_vs_shape,
};
use super::nonlinear_cast::{RelativeMotion, cast_nonlinear};
use super::shape_cast::cast;

thread_local! {
    /// Contacts of the current pair, reused so that a step does not allocate.
    static CONTACTS: RefCell<Vec<AtomContact>> = const { RefCell::new(Vec::new()) };
}

/// Excludes pairs of two molecules from the narrow phase, for an engine that resolves
/// their contacts itself. Default: pairs are included, and Rapier's solver resolves them.
///
/// Clones share one state, so the filter can change while a narrow phase owns the dispatcher.
#[derive(Clone, Debug, Default)]
pub struct MoleculePairFilter(Arc<AtomicBool>);

impl MoleculePairFilter {
    /// With `true`, two molecules give no contact manifolds, no intersections and no continuous
    /// collisions.
    ///
    /// Rapier updates a pair only after its relative pose has changed enough, or a collider
    /// has changed other than by moving. In a running world, also mark the colliders as
    /// changed, for instance by setting their shape again, and wake their bodies.
    pub fn set_excluded(&self, excluded: bool) {
        self.0.store(excluded, Ordering::Relaxed);
    }

    /// Whether pairs of molecules are excluded.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Handles queries on pairs with at least one [`MoleculeShape`]; all others are `Unsupported`.
///
/// Chain it in front of parry's own dispatcher:
/// `MoleculeDispatcher::new(filter).chain(DefaultQueryDispatcher)`. The other shape may be
/// any shape of parry, another molecule, or a custom shape; a custom shape that is not
/// convex should be a composite of convex shapes.
///
/// In a manifold, the feature `Face(k)` of a point is atom `k` of the molecule on that side,
/// or part `k` of another shape (triangle, voxel, child of a compound; 0 if it has no
/// parts). `subshape1` and `subshape2` are those of the deepest point. Points and normals
/// are in the frames of the two shapes.
#[derive(Clone, Debug, Default)]
pub struct MoleculeDispatcher(MoleculePairFilter);

impl MoleculeDispatcher {
    /// A dispatcher with a filter for pairs of molecules. Queries that Rapier's narrow phase does
    /// not use ignore the filter.
    #[must_use]
    pub fn new(filter: MoleculePairFilter) -> Self {
        Self(filter)
    }

    fn excludes(&self, pair: &Pair) -> bool {
        self.0.is_excluded() && pair.other_molecule().is_some()
    }
}

/// A molecule and another shape, in that order.
struct Pair<'a> {
    molecule: &'a MoleculeShape,
    other: &'a dyn Shape,
    /// The other shape was the first of the two.
    flipped: bool,
}

impl<'a> Pair<'a> {
    fn new(g1: &'a dyn Shape, g2: &'a dyn Shape) -> Result<Self, Unsupported> {
        let (molecule, other, flipped) = match (g1.as_shape(), g2.as_shape()) {
            (Some(molecule), _) => (molecule, g2, false),
            (None, Some(molecule)) => (molecule, g1, true),
            (None, None) => return Err(Unsupported),
        };
        Ok(Self {
            molecule,
            other,
            flipped,
        })
    }

    /// Converts between the order of the caller and (molecule, other).
    fn in_order<T>(&self, value: T, flip: impl FnOnce(T) -> T) -> T {
        if self.flipped { flip(value) } else { value }
    }

    fn other_molecule(&self) -> Option<&'a MoleculeShape> {
        self.other.as_shape()
    }

    /// Pose of the other shape in the frame of the molecule.
    fn pose(&self, pos12: &Pose3) -> Pose3 {
        self.in_order(*pos12, |pose| pose.inverse())
    }

    /// Collects the contacts closer than `prediction`, in the frame of the molecule.
    fn collect(&self, pose: &Pose3, prediction: f32, contacts: &mut Vec<AtomContact>) {
        contacts.clear();
        if !(pose.is_finite() && prediction >= 0.0) {
            return;
        }
        let molecule = self.molecule;
        match self.other_molecule() {
            Some(other) => {
                molecule_vs_molecule::collect(molecule, other, pose, prediction, contacts);
            }
            None => molecule_vs_shape::collect(molecule, self.other, pose, prediction, contacts),
        }
    }

    /// The deepest contact, in the frame of the molecule.
    fn deepest(&self, pose: &Pose3, prediction: f32) -> Option<AtomContact> {
        let nearest = nearest(self.molecule, self.other, pose, prediction.next_up())?;
        if nearest.dist > 0.0 {
            return Some(nearest);
        }
        CONTACTS.with_borrow_mut(|contacts| {
            self.collect(pose, 0.0, contacts);
            let deepest = contacts.iter().min_by(|a, b| a.cmp_depth(b)).copied();
            Some(deepest.unwrap_or(nearest))
        })
    }
}

impl QueryDispatcher for MoleculeDispatcher {
    fn intersection_test(
        &self,
        pos12: &Pose3,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<bool, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        if self.excludes(&pair) {
            return Ok(false);
        }
        Ok(intersects(pair.molecule, pair.other, &pair.pose(pos12)))
    }

    fn distance(&self, pos12: &Pose3, g1: &dyn Shape, g2: &dyn Shape) -> Result<f32, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        let found = nearest(pair.molecule, pair.other, &pair.pose(pos12), f32::MAX);
        Ok(found.map_or(f32::MAX, |found| found.dist.max(0.0)))
    }

    fn contact(
        &self,
        pos12: &Pose3,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: f32,
    ) -> Result<Option<Contact>, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        let pose = pair.pose(pos12);
        Ok(pair.deepest(&pose, prediction).map(|found| {
            let contact = Contact::new(
                found.on_atom,
                pose.inverse_transform_point(found.on_other),
                found.normal,
                pose.rotation.inverse() * -found.normal,
                found.dist,
            );
            pair.in_order(contact, Contact::flipped)
        }))
    }

    fn closest_points(
        &self,
        pos12: &Pose3,
        g1: &dyn Shape,
        g2: &dyn Shape,
        max_dist: f32,
    ) -> Result<ClosestPoints, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        let points = closest_points(pair.molecule, pair.other, &pair.pose(pos12), max_dist);
        Ok(pair.in_order(points, |points| points.flipped()))
    }

    fn cast_shapes(
        &self,
        pos12: &Pose3,
        local_vel12: Vec3,
        g1: &dyn Shape,
        g2: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        let pose = pair.pose(pos12);
        // The velocity of the other shape in the frame of the molecule.
        let velocity = pair.in_order(local_vel12, |v| -(pos12.rotation.inverse() * v));
        let hit = cast(pair.molecule, pair.other, &pose, velocity, options).map(|found| found.1);
        Ok(hit.map(|hit| pair.in_order(hit, ShapeCastHit::swapped)))
    }

    fn cast_shapes_nonlinear(
        &self,
        motion1: &NonlinearRigidMotion,
        g1: &dyn Shape,
        motion2: &NonlinearRigidMotion,
        g2: &dyn Shape,
        start_time: f32,
        end_time: f32,
        stop_at_penetration: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        if self.excludes(&pair) {
            return Ok(None);
        }
        let (molecule, other) = pair.in_order((motion1, motion2), |(one, two)| (two, one));
        let motion = RelativeMotion {
            molecule,
            other,
            start: start_time,
            end: end_time,
            stop_at_penetration,
        };
        let hit = cast_nonlinear(pair.molecule, pair.other, &motion);
        Ok(hit.map(|hit| pair.in_order(hit, ShapeCastHit::swapped)))
    }
}

impl<M, C> PersistentQueryDispatcher<M, C> for MoleculeDispatcher
where
    M: Default + Clone,
    C: Default + Copy,
{
    fn contact_manifolds(
        &self,
        pos12: &Pose3,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: f32,
        manifolds: &mut Vec<ContactManifold<M, C>>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let pair = Pair::new(g1, g2)?;
        if self.excludes(&pair) {
            manifolds::clear(manifolds, workspace);
            return Ok(());
        }
        let pose = pair.pose(pos12);
        // In the frame of an ordinary shape, all contacts with one of its faces have the
        // same direction.
        let direction_frame = match pair.other_molecule() {
            Some(_) => Quat::IDENTITY,
            None => pose.rotation,
        };
        let writer = ManifoldWriter {
            pose,
            flipped: pair.flipped,
            prediction,
            direction_frame,
        };
        CONTACTS.with_borrow_mut(|contacts| {
            pair.collect(&pose, prediction, contacts);
            if let Some(other) = pair.other_molecule() {
                molecule_vs_molecule::blend_deep_normals(pair.molecule, other, &pose, contacts);
            }
            writer.write(contacts, manifolds, workspace);
        });
        Ok(())
    }

    /// A molecule is never convex.
    fn contact_manifold_convex_convex(
        &self,
        _: &Pose3,
        _: &dyn Shape,
        _: &dyn Shape,
        _: Option<&dyn NormalConstraints>,
        _: Option<&dyn NormalConstraints>,
        _: f32,
        _: &mut ContactManifold<M, C>,
    ) -> Result<(), Unsupported> {
        Err(Unsupported)
    }
}
