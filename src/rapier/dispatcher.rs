//! Answers parry's questions about pairs with a molecule.

use std::cell::RefCell;

use glam::{Quat, Vec3};
use rapier3d::parry::math::Pose3;
use rapier3d::parry::query::details::{ContactManifoldsWorkspace, NormalConstraints};
use rapier3d::parry::query::{
    ClosestPoints, Contact, ContactManifold, NonlinearRigidMotion, PersistentQueryDispatcher,
    QueryDispatcher, ShapeCastHit, ShapeCastOptions, Unsupported,
};
use rapier3d::parry::shape::Shape;

use super::distance::{closest_points, intersects, nearest};
use super::manifolds::{self, AtomContact, Written};
use super::nonlinear_cast::{Sweep, sweep};
use super::shape_cast::cast;
use super::{MoleculePairFilter, MoleculeShape};

thread_local! {
    /// Contacts of the pair at hand; kept so that a step allocates nothing for them.
    static CONTACTS: RefCell<Vec<AtomContact>> = const { RefCell::new(Vec::new()) };
}

/// Answers parry's questions about pairs with a [`MoleculeShape`], and about no others.
///
/// Put it in front of parry's own dispatcher:
/// `MoleculeDispatcher::new(switch).chain(DefaultQueryDispatcher)`. The other shape
/// may be any shape of parry, another molecule, or any custom shape; a custom shape
/// that is not convex should be a composite of shapes that are.
///
/// In a manifold, `Face(k)` as feature of a point stands for atom `k` of the molecule
/// on that side, and for part `k` of another shape (triangle, voxel, child of a
/// compound; 0 if it has no parts). `subshape1` and `subshape2` are those of the
/// deepest point. Points and normals are in the frames of the whole shapes.
#[derive(Clone, Debug, Default)]
pub struct MoleculeDispatcher {
    crowd: MoleculePairFilter,
}

impl MoleculeDispatcher {
    /// A dispatcher that heeds `crowd`: while it is on, pairs of molecules give no
    /// manifolds and no hits of continuous collision detection. Other questions are
    /// answered as ever.
    #[must_use]
    pub fn new(crowd: MoleculePairFilter) -> Self {
        Self { crowd }
    }

    /// The switch that this dispatcher heeds.
    #[must_use]
    pub fn crowd(&self) -> &MoleculePairFilter {
        &self.crowd
    }

    /// Whether contacts of this pair are handled by the crowd.
    fn left_to_crowd(&self, pair: &Pair) -> bool {
        self.crowd.get() && pair.other_molecule().is_some()
    }
}

/// A molecule and another shape, and which of them came first.
struct Pair<'a> {
    molecule: &'a MoleculeShape,
    other: &'a dyn Shape,
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

    fn other_molecule(&self) -> Option<&'a MoleculeShape> {
        self.other.as_shape()
    }

    /// Pose of the other shape in the frame of the molecule.
    fn pose(&self, pos12: &Pose3) -> Pose3 {
        if self.flipped {
            pos12.inverse()
        } else {
            *pos12
        }
    }

    /// Collects the contacts nearer than `prediction` in the frame of the molecule.
    fn collect(&self, pose: &Pose3, prediction: f32, contacts: &mut Vec<AtomContact>) {
        contacts.clear();
        if !(pose.is_finite() && prediction >= 0.0) {
            return;
        }
        match self.other_molecule() {
            Some(other) => {
                manifolds::molecule_vs_molecule::collect(
                    self.molecule,
                    other,
                    pose,
                    prediction,
                    contacts,
                );
            }
            None => {
                manifolds::molecule_vs_shape::collect(
                    self.molecule,
                    self.other,
                    pose,
                    prediction,
                    contacts,
                );
            }
        }
    }

    /// The deepest contact, in the frame of the molecule.
    fn deepest(&self, pose: &Pose3, prediction: f32) -> Option<AtomContact> {
        let found = nearest(self.molecule, self.other, pose, prediction.next_up())?;
        let apart = AtomContact {
            atom: found.atom,
            other: 0,
            on_atom: found.on_atom,
            on_other: found.on_other,
            normal: found.normal,
            dist: found.gap,
            direction: 0,
        };
        if found.gap > 0.0 {
            return Some(apart);
        }
        CONTACTS.with_borrow_mut(|contacts| {
            self.collect(pose, 0.0, contacts);
            let deepest = contacts.iter().min_by(|a, b| a.deeper(b)).copied();
            Some(deepest.unwrap_or(apart))
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
        Ok(intersects(pair.molecule, pair.other, &pair.pose(pos12)))
    }

    fn distance(&self, pos12: &Pose3, g1: &dyn Shape, g2: &dyn Shape) -> Result<f32, Unsupported> {
        let pair = Pair::new(g1, g2)?;
        let found = nearest(pair.molecule, pair.other, &pair.pose(pos12), f32::MAX);
        Ok(found.map_or(f32::MAX, |found| found.gap.max(0.0)))
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
            if pair.flipped {
                contact.flipped()
            } else {
                contact
            }
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
        Ok(if pair.flipped {
            points.flipped()
        } else {
            points
        })
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
        // The velocity of the other shape, seen from the molecule.
        let velocity = if pair.flipped {
            -(pos12.rotation.inverse() * local_vel12)
        } else {
            local_vel12
        };
        let hit = cast(pair.molecule, pair.other, &pose, velocity, options).map(|found| found.1);
        Ok(if pair.flipped {
            hit.map(ShapeCastHit::swapped)
        } else {
            hit
        })
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
        if self.left_to_crowd(&pair) {
            return Ok(None);
        }
        let (of_molecule, of_other) = if pair.flipped {
            (motion2, motion1)
        } else {
            (motion1, motion2)
        };
        let motions = Sweep {
            molecule: of_molecule,
            other: of_other,
            start: start_time,
            end: end_time,
            stop_at_penetration,
        };
        let hit = sweep(pair.molecule, pair.other, &motions);
        Ok(if pair.flipped {
            hit.map(ShapeCastHit::swapped)
        } else {
            hit
        })
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
        if self.left_to_crowd(&pair) {
            manifolds::clear(manifolds, workspace);
            return Ok(());
        }
        let pose = pair.pose(pos12);
        // Faces of ordinary shapes lie along their axes, so that the contacts with one
        // face have one direction there.
        let directions = match pair.other_molecule() {
            Some(_) => Quat::IDENTITY,
            None => pose.rotation,
        };
        let how = Written {
            pose,
            flipped: pair.flipped,
            prediction,
            directions,
        };
        CONTACTS.with_borrow_mut(|contacts| {
            pair.collect(&pose, prediction, contacts);
            if let Some(other) = pair.other_molecule() {
                manifolds::molecule_vs_molecule::turn_deep_contacts(
                    pair.molecule,
                    other,
                    &pose,
                    contacts,
                );
            }
            manifolds::write(contacts, &how, manifolds, workspace);
        });
        Ok(())
    }

    /// A molecule is never convex, so this is for other dispatchers.
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
