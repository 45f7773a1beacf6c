//! [`CombinedSolids`]: balls and boxes, combined by union, intersection and complement.
//!
//! The signed distance of an intersection is the largest of those of its parts, that of a union the
//! smallest, that of a complement the negative one. Such a combination has the right sign and
//! changes by at most the length of a step (it is 1-Lipschitz), so that it is never larger than the
//! distance. It is exact inside of intersections and outside of unions of exact parts. Boxes that
//! intersect are merged, which keeps their corners exact.

mod leaf;
mod surface;

pub use surface::CombinedSolid;

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;

use self::leaf::Leaf;
use super::{CompartmentError, SphereShell, Surface};

/// Distance from the surface of all of space or of nothing, which have none, nm: 0.1 mm.
const FAR_NM: f32 = 1.0e5;

/// Largest number of parts of a solid: each query takes the time of all of them.
const MAX_PARTS: usize = 10_000;

/// Number of parts up to which nested intersections and unions become one, and complements of unions
/// intersections: then parts that touch are found. Limits the memory of long chains.
const MAX_FLAT: usize = 64;

/// Solids inside of a box, which may repeat in space, and combinations of them.
///
/// ```
/// use bevy_rapier_molecules::compartment::{CombinedSolids, Surface};
/// use glam::Vec3;
///
/// let mut solids = CombinedSolids::new([Vec3::ZERO, Vec3::splat(40.0)], false);
/// let cell = solids.ball(Vec3::splat(20.0), 15.0)?;
/// let nucleus = solids.ball(Vec3::splat(20.0), 5.0)?;
/// let outside = solids.complement(nucleus);
/// let cytosol = solids.intersection(&[cell, outside]);
/// let (cytosol, _) = solids.surface(cytosol)?;
/// assert_eq!(cytosol.signed_distance(Vec3::splat(20.0)), 5.0, "nm: in the nucleus");
/// assert_eq!(cytosol.signed_distance(Vec3::new(28.0, 20.0, 20.0)), -3.0);
/// # Ok::<(), bevy_rapier_molecules::compartment::CompartmentError>(())
/// ```
///
/// In a periodic box, a solid is what is inside of the box and all of its images. Boxes go on across
/// the faces of the periodic box; balls that reach out of it are cut at its faces.
///
/// Where parts of a union touch without overlap, their common face remains a part of the surface.
/// This does not apply to a part and a rest defined by its complement, nor to half-spaces.
#[derive(Clone, Debug)]
pub struct CombinedSolids {
    bounds: [Vec3; 2],
    is_periodic: bool,
    /// Parts come before what they are parts of.
    nodes: Vec<Node>,
    complements: HashMap<SolidIndex, SolidIndex>,
}

/// A solid of [`CombinedSolids`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SolidIndex(u32);

/// A solid and its parts.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Nothing,
    Everything,
    Leaf(Leaf),
    Complement(SolidIndex),
    Intersection(Box<[SolidIndex]>),
    Union(Box<[SolidIndex]>),
    /// What is at most this far away, nm.
    Grown(SolidIndex, f32),
}

impl Node {
    /// Calls a function with each part.
    fn for_each_part(&self, mut call: impl FnMut(SolidIndex)) {
        match self {
            Self::Nothing | Self::Everything | Self::Leaf(_) => {}
            Self::Complement(part) | Self::Grown(part, _) => call(*part),
            Self::Intersection(parts) | Self::Union(parts) => {
                parts.iter().for_each(|part| call(*part));
            }
        }
    }
}

impl CombinedSolids {
    /// No solids yet, in a box with these corners (nm).
    #[must_use]
    pub fn new(bounds: [Vec3; 2], is_periodic: bool) -> Self {
        Self {
            bounds,
            is_periodic,
            nodes: Vec::new(),
            complements: HashMap::new(),
        }
    }

    /// The whole box.
    pub fn everything(&mut self) -> SolidIndex {
        self.add(Node::Everything)
    }

    /// A ball.
    ///
    /// # Errors
    /// [`CompartmentError`] if the center is not finite or the radius is not positive and finite.
    pub fn ball(&mut self, center: Vec3, radius: f32) -> Result<SolidIndex, CompartmentError> {
        SphereShell::new(center, radius)?;
        let [low, high] = self.bounds;
        let cut = (center - radius).cmplt(low) | (center + radius).cmpgt(high);
        Ok(self.add(Node::Leaf(Leaf::Ball {
            center,
            radius,
            cut: if self.is_periodic {
                cut.into()
            } else {
                [false; 3]
            },
        })))
    }

    /// The part of the box between two opposite corners (nm), which may be infinite.
    pub fn cuboid(&mut self, low: Vec3, high: Vec3) -> SolidIndex {
        let [start, end] = self.bounds;
        let is_empty = low.max(start).cmpge(high.min(end)).any();
        if is_empty || low.is_nan() || high.is_nan() {
            return self.add(Node::Nothing);
        }
        // Sides at the faces of the box or outside of it are no limits.
        let (mut open_low, mut open_high) = (low.cmple(start), high.cmpge(end));
        if (open_low & open_high).all() {
            return self.everything();
        }
        let mut corners = [low, high];
        if self.is_periodic {
            // Unless the other side is one: then the images of the box end there.
            let both = open_low & open_high;
            (open_low, open_high) = (both, both);
            corners = [low.max(start), high.min(end)];
        }
        self.add(Node::Leaf(Leaf::Cuboid {
            low: Vec3::select(open_low, Vec3::NEG_INFINITY, corners[0]),
            high: Vec3::select(open_high, Vec3::INFINITY, corners[1]),
        }))
    }

    /// What is not inside of a solid.
    pub fn complement(&mut self, solid: SolidIndex) -> SolidIndex {
        if let Some(known) = self.complements.get(&solid) {
            return *known;
        }
        let added = match *self.node(solid) {
            Node::Nothing => self.everything(),
            Node::Everything => self.add(Node::Nothing),
            Node::Leaf(leaf) => match self.other_half(leaf) {
                Some([low, high]) => self.cuboid(low, high),
                None => self.add(Node::Complement(solid)),
            },
            _ => match self.few_parts(solid) {
                // Of a union: what is outside of all parts.
                Some(parts) => {
                    let outside = parts.iter().map(|part| self.complement(*part));
                    let outside: Vec<SolidIndex> = outside.collect();
                    self.intersection(&outside)
                }
                None => self.add(Node::Complement(solid)),
            },
        };
        self.complements.insert(solid, added);
        self.complements.insert(added, solid);
        added
    }

    /// What is inside of all solids; everything if there are none.
    pub fn intersection(&mut self, solids: &[SolidIndex]) -> SolidIndex {
        let mut parts = Vec::with_capacity(solids.len());
        let mut corners: Option<[Vec3; 2]> = None;
        let solids = self.flat(solids, |node| match node {
            Node::Intersection(parts) => Some(parts),
            _ => None,
        });
        for solid in &solids {
            match self.node(*solid) {
                Node::Nothing => return *solid,
                Node::Everything => {}
                Node::Leaf(Leaf::Cuboid { low, high }) => {
                    let [lowest, highest] = corners.unwrap_or([Vec3::NEG_INFINITY, Vec3::INFINITY]);
                    corners = Some([lowest.max(*low), highest.min(*high)]);
                }
                _ => parts.push(*solid),
            }
        }
        if let Some([low, high]) = corners {
            let merged = self.cuboid(low, high);
            if *self.node(merged) == Node::Nothing {
                return merged;
            }
            parts.push(merged);
        }
        parts.sort_unstable();
        parts.dedup();
        if self.has_opposites(&parts) {
            return self.add(Node::Nothing);
        }
        match *parts {
            [] => self.everything(),
            [only] => only,
            _ => self.add(Node::Intersection(parts.into())),
        }
    }

    /// What is inside of at least one of the solids; nothing if there are none.
    pub fn union(&mut self, solids: &[SolidIndex]) -> SolidIndex {
        let mut parts = Vec::with_capacity(solids.len());
        // The rest of all half-spaces is a box.
        let mut rest: Option<[Vec3; 2]> = None;
        let solids = self.flat(solids, |node| match node {
            Node::Union(parts) => Some(parts),
            _ => None,
        });
        for solid in &solids {
            match *self.node(*solid) {
                Node::Nothing => {}
                Node::Everything => return *solid,
                Node::Leaf(leaf) => match self.other_half(leaf) {
                    Some([low, high]) => {
                        let [lowest, highest] =
                            rest.unwrap_or([Vec3::NEG_INFINITY, Vec3::INFINITY]);
                        rest = Some([lowest.max(low), highest.min(high)]);
                    }
                    None => parts.push(*solid),
                },
                _ => parts.push(*solid),
            }
        }
        if let Some([low, high]) = rest {
            let rest = self.cuboid(low, high);
            let halves = self.complement(rest);
            if *self.node(halves) == Node::Everything {
                return halves;
            }
            parts.push(halves);
        }
        parts.sort_unstable();
        parts.dedup();
        if self.has_opposites(&parts) {
            return self.everything();
        }
        let parts = self.without_inner_faces(&parts);
        if let Some(whole) = parts.iter().find(|part| self.is_everything(**part)) {
            return *whole;
        }
        match *parts {
            [] => self.add(Node::Nothing),
            [only] => only,
            _ => self.add(Node::Union(parts.into())),
        }
    }

    /// What is inside of a solid or at most `distance` nm away from it.
    ///
    /// Exact if the distance to the solid is: outside of balls, boxes and their unions. At sharp
    /// edges of other intersections it reaches further out.
    pub fn within(&mut self, distance: f32, solid: SolidIndex) -> SolidIndex {
        match self.node(solid) {
            Node::Nothing | Node::Everything => solid,
            _ => self.add(Node::Grown(solid, distance)),
        }
    }

    /// What is at most `distance` nm away from a solid, but not inside of it.
    pub fn around(&mut self, distance: f32, solid: SolidIndex) -> SolidIndex {
        let within = self.within(distance, solid);
        let outside = self.complement(solid);
        self.intersection(&[within, outside])
    }

    /// Whether a solid is the whole box.
    #[must_use]
    pub fn is_everything(&self, solid: SolidIndex) -> bool {
        *self.node(solid) == Node::Everything
    }

    /// The surface of a solid inside of the box, and the corners of a box around it. It is a
    /// [`SphereShell`] if the solid is a whole ball, else a [`CombinedSolid`].
    ///
    /// # Errors
    /// [`CompartmentError::Empty`] if no point of the box is inside of the solid;
    /// [`CompartmentError::TooManyParts`] if it has more than 10,000.
    pub fn surface(
        &mut self,
        solid: SolidIndex,
    ) -> Result<(Arc<dyn Surface>, [Vec3; 2]), CompartmentError> {
        if let Node::Leaf(Leaf::Ball { center, radius, .. }) = *self.node(solid) {
            let [low, high] = self.bounds;
            let bounds = [center - radius, center + radius];
            if bounds[0].cmpge(low).all() && bounds[1].cmple(high).all() {
                return Ok((Arc::new(SphereShell::new(center, radius)?), bounds));
            }
        }
        let surface = CombinedSolid::new(self, solid)?;
        let bounds = surface.bounds();
        Ok((Arc::new(surface), bounds))
    }

    /// The box as a solid with faces.
    fn frame(&mut self) -> SolidIndex {
        let [low, high] = self.bounds;
        self.add(Node::Leaf(Leaf::Cuboid { low, high }))
    }

    fn node(&self, solid: SolidIndex) -> &Node {
        &self.nodes[solid.0 as usize]
    }

    fn add(&mut self, node: Node) -> SolidIndex {
        let index = SolidIndex(self.nodes.len() as u32);
        self.nodes.push(node);
        index
    }

    /// The parts of a union that has few of them and none that is a union.
    fn few_parts(&self, solid: SolidIndex) -> Option<Box<[SolidIndex]>> {
        let is_union = |part: &SolidIndex| matches!(self.node(*part), Node::Union(_));
        match self.node(solid) {
            Node::Union(parts) if parts.len() <= MAX_FLAT && !parts.iter().any(is_union) => {
                Some(parts.clone())
            }
            _ => None,
        }
    }

    /// The solids, with the parts of those that have few in their place.
    fn flat(
        &self,
        solids: &[SolidIndex],
        parts_of: impl Fn(&Node) -> Option<&[SolidIndex]>,
    ) -> Vec<SolidIndex> {
        let mut flat = Vec::with_capacity(solids.len());
        for solid in solids {
            match parts_of(self.node(*solid)) {
                Some(parts) if parts.len() + solids.len() <= MAX_FLAT => flat.extend(parts),
                _ => flat.push(*solid),
            }
        }
        flat
    }

    /// The corners of the rest of the box beside a box with a single inner face.
    fn other_half(&self, leaf: Leaf) -> Option<[Vec3; 2]> {
        let Leaf::Cuboid { low, high } = leaf else {
            return None;
        };
        let [start, end] = self.bounds;
        let (from, to) = (low.cmpgt(start), high.cmplt(end));
        let faces = from.bitmask().count_ones() + to.bitmask().count_ones();
        (faces == 1).then(|| {
            [
                Vec3::select(to, high, Vec3::NEG_INFINITY),
                Vec3::select(from, low, Vec3::INFINITY),
            ]
        })
    }

    /// Whether one part is the complement of another; parts are sorted.
    fn has_opposites(&self, parts: &[SolidIndex]) -> bool {
        let opposites = parts.iter().filter_map(|part| self.complements.get(part));
        let mut opposites = opposites.filter(|opposite| parts.binary_search(opposite).is_ok());
        opposites.next().is_some()
    }

    /// The parts of a union; where one of them is an intersection with the complement of another,
    /// without that complement: (a and not b) or b is a or b. Parts are sorted.
    fn without_inner_faces(&mut self, parts: &[SolidIndex]) -> Vec<SolidIndex> {
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            let Node::Intersection(factors) = self.node(*part) else {
                kept.push(*part);
                continue;
            };
            let is_outside_of_a_part = |factor: &SolidIndex| {
                let opposite = self.complements.get(factor);
                opposite.is_some_and(|opposite| parts.binary_search(opposite).is_ok())
            };
            let rest = factors.iter().copied();
            let rest: Vec<SolidIndex> = rest.filter(|f| !is_outside_of_a_part(f)).collect();
            kept.push(if rest.len() == factors.len() {
                *part
            } else {
                self.intersection(&rest)
            });
        }
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}
