//! [`Confinement`]: where a molecule belongs, [`Placement`]: how it sits in a membrane, and how far
//! it is off ([`Deviation`], [`Excess`]).

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::whole_molecule::WholeMolecule;
use super::{DistanceAndNormal, Surface};
use crate::molecule::{Element, MoleculeTemplate};
use crate::pose::Pose;

/// Excess over the leeway that still counts as in place, nm: a picometer.
///
/// Springs remove a fraction of the excess per iteration, so that it approaches zero but never
/// reaches it.
pub(crate) const HEIGHT_SLACK_NM: f32 = 1.0e-3;

/// Excess over the leeway that still counts as upright, radian: 0.06°.
pub(crate) const TILT_SLACK: f32 = 1.0e-3;

/// Side of a surface that the head of a molecule points to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Leaflet {
    /// Heads point along the outward normal.
    #[default]
    Outer,
    /// Heads point against the outward normal.
    Inner,
}

impl Leaflet {
    /// +1 for the outer leaflet, −1 for the inner one.
    #[must_use]
    pub fn sign(self) -> f32 {
        match self {
            Self::Outer => 1.0,
            Self::Inner => -1.0,
        }
    }
}

/// Why a placement is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The depth is not finite.
    #[error("a molecule needs a finite depth, not {depth} nm")]
    BadDepth {
        /// The given depth, nm.
        depth: f32,
    },
    /// A leeway is negative or NaN.
    #[error("the {what} must not be negative, but is {value}; use 0 for no leeway")]
    BadLeeway {
        /// Which leeway.
        what: &'static str,
        /// The given leeway, nm or radian.
        value: f32,
    },
    /// A distance from the surface is not finite.
    #[error("a molecule needs a finite distance from the surface, not {distance} nm")]
    BadDistance {
        /// The given distance, nm.
        distance: f32,
    },
    /// The up vector is zero or not finite.
    #[error("a molecule needs a finite up vector other than zero, not {up}")]
    BadUp {
        /// The given vector.
        up: Vec3,
    },
}

/// Position and orientation of a molecule in the surface of a compartment.
///
/// ```
/// use bevy_rapier_molecules::compartment::{bilayer_depth, up_and_head};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let placement = Placement {
///     leaflet: Leaflet::Inner,
///     depth: bilayer_depth(&lipid),
///     up: up_and_head(&lipid).0,
///     leeway: 0.2,
///     tilt_leeway: 0.4,
/// }
/// .checked()?;
/// let vesicle = SphereShell::new(Vec3::ZERO, 5.2)?;
/// let position = Vec3::X * (5.2 + placement.offset());
/// let pose = placement.upright_pose(&vesicle, position, 0.0);
/// assert!(placement.deviation(&vesicle, &pose).is_in_place(&placement));
/// assert!((pose.rotation * placement.up).x < -0.99, "its head points inwards");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Side of the surface.
    pub leaflet: Leaflet,
    /// Distance of the center of mass from the surface towards its side, nm.
    pub depth: f32,
    /// Unit vector in the body frame that points from tail to head.
    pub up: Vec3,
    /// How far the center of mass may be from `depth` before a spring acts, nm.
    pub leeway: f32,
    /// Angle between `up` and the normal above which a spring acts, radian.
    pub tilt_leeway: f32,
}

impl Placement {
    /// Validates the placement and normalizes `up`.
    ///
    /// # Errors
    /// [`PlacementError`] if the depth is not finite, a leeway is negative, or `up` has no
    /// direction.
    pub fn checked(mut self) -> Result<Self, PlacementError> {
        if !self.depth.is_finite() {
            return Err(PlacementError::BadDepth { depth: self.depth });
        }
        for (what, value) in [("leeway", self.leeway), ("tilt leeway", self.tilt_leeway)] {
            if value.is_nan() || value < 0.0 {
                return Err(PlacementError::BadLeeway { what, value });
            }
        }
        self.up = self
            .up
            .try_normalize()
            .ok_or(PlacementError::BadUp { up: self.up })?;
        Ok(self)
    }

    /// Distance of the center of mass from the surface along the outward normal, nm.
    #[must_use]
    pub fn offset(&self) -> f32 {
        self.leaflet.sign() * self.depth
    }

    /// The deviation of a molecule at `pose`.
    #[must_use]
    pub fn deviation(&self, compartment: &dyn Surface, pose: &Pose) -> Deviation {
        let surface = compartment.distance_and_normal(pose.position);
        let normal = surface.normal;
        let up = pose.rotation * self.up;
        let target = normal * self.leaflet.sign();
        // The angle from sine and cosine: acos alone loses half the digits near zero.
        let sine = up.cross(target).length();
        Deviation {
            normal,
            height: surface.distance - self.offset(),
            up,
            target,
            tilt: sine.atan2(up.dot(target)),
        }
    }

    /// How far a molecule at `pose` exceeds its leeways.
    #[must_use]
    pub fn excess(&self, compartment: &dyn Surface, pose: &Pose) -> Excess {
        let deviation = self.deviation(compartment, pose);
        let beyond = (deviation.height.abs() - self.leeway).max(0.0);
        Excess {
            normal: deviation.normal,
            height: beyond.copysign(deviation.height),
            arm: spring_arm(compartment, pose.position, deviation.normal),
            up: deviation.up,
            axis: deviation.upright_axis(),
            tilt: (deviation.tilt - self.tilt_leeway).max(0.0),
            total_tilt: deviation.tilt,
        }
    }

    /// The upright pose at `position`, rotated by `spin` radian about `up`.
    #[must_use]
    pub fn upright_pose(&self, compartment: &dyn Surface, position: Vec3, spin: f32) -> Pose {
        let target = compartment.normal(position) * self.leaflet.sign();
        let rotation =
            Quat::from_rotation_arc(self.up, target) * Quat::from_axis_angle(self.up, spin);
        Pose::new(position, rotation.normalize())
    }
}

/// How far a molecule is from its placement. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// Outward normal of the surface.
    pub normal: Vec3,
    /// Height of the center of mass above its target, along `normal`, nm.
    pub height: f32,
    /// The molecule's up vector in the world.
    pub up: Vec3,
    /// Where `up` should point.
    pub target: Vec3,
    /// Angle between `up` and `target`, radian.
    pub tilt: f32,
}

impl Deviation {
    /// Unit axis of the shortest rotation from `up` to `target`; zero if they agree.
    #[must_use]
    pub fn upright_axis(&self) -> Vec3 {
        let axis = self.up.cross(self.target);
        if let Some(axis) = axis.try_normalize() {
            axis
        } else if self.up.dot(self.target) < 0.0 {
            // Upside down: any perpendicular axis.
            self.up.any_orthonormal_vector()
        } else {
            Vec3::ZERO
        }
    }

    /// Whether the molecule is within its leeways, up to rounding.
    #[must_use]
    pub fn is_in_place(&self, placement: &Placement) -> bool {
        self.height.abs() <= placement.leeway + HEIGHT_SLACK_NM
            && self.tilt <= placement.tilt_leeway + TILT_SLACK
    }
}

/// Where a molecule belongs relative to a compartment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Confinement {
    /// In the surface, upright: a lipid or a membrane protein.
    Surface(Placement),
    /// In the volume, with any orientation: a protein in a cell.
    ///
    /// If the compartment is nowhere that deep, the molecule is pulled to the deepest point and
    /// jitters there.
    Inside {
        /// Minimum depth of the center of mass below the surface, nm. Negative if the center
        /// of mass may be outside by as much.
        distance: f32,
    },
    /// Outside the volume, with any orientation.
    Outside {
        /// Minimum height of the center of mass above the surface, nm. Negative if the center
        /// of mass may be inside by as much.
        distance: f32,
    },
    /// Inside the volume with every atom, with any orientation: a protein in an organelle.
    ///
    /// The molecule is moved, but not turned. If it is larger than the compartment, it stays out of
    /// place.
    WholeInside {
        /// Minimum gap between the surfaces of the atoms and of the compartment, nm. Negative if
        /// atoms may reach outside by as much.
        clearance: f32,
    },
    /// Outside the volume with every atom, with any orientation.
    WholeOutside {
        /// Minimum gap between the surfaces of the atoms and of the compartment, nm. Negative if
        /// atoms may reach inside by as much.
        clearance: f32,
    },
}

impl Confinement {
    /// Validates the distance, clearance or placement.
    ///
    /// # Errors
    /// [`PlacementError`] if the distance or clearance is not finite or the placement is invalid.
    pub fn checked(self) -> Result<Self, PlacementError> {
        match self {
            Self::Surface(placement) => placement.checked().map(Self::Surface),
            Self::Inside { distance }
            | Self::Outside { distance }
            | Self::WholeInside {
                clearance: distance,
            }
            | Self::WholeOutside {
                clearance: distance,
            } => {
                if distance.is_finite() {
                    Ok(self)
                } else {
                    Err(PlacementError::BadDistance { distance })
                }
            }
        }
    }

    /// The placement in the surface; none inside and outside.
    #[must_use]
    pub fn placement(&self) -> Option<&Placement> {
        match self {
            Self::Surface(placement) => Some(placement),
            _ => None,
        }
    }

    /// As [`placement`](Self::placement), mutable.
    #[must_use]
    pub fn placement_mut(&mut self) -> Option<&mut Placement> {
        match self {
            Self::Surface(placement) => Some(placement),
            _ => None,
        }
    }

    /// How far a molecule at `pose` exceeds its leeways.
    ///
    /// Only the whole molecule inside or outside depends on the atoms of `molecule`.
    #[must_use]
    pub fn excess(
        &self,
        compartment: &dyn Surface,
        molecule: &MoleculeTemplate,
        pose: &Pose,
    ) -> Excess {
        let whole = |forbidden: f32, clearance| {
            let molecule = WholeMolecule {
                surface: compartment,
                molecule,
                pose,
                forbidden,
                clearance,
            };
            let atom = molecule.furthest_atom();
            Excess {
                normal: atom.normal,
                height: forbidden * atom.excess,
                arm: spring_arm(compartment, atom.center, atom.normal),
                ..Excess::default()
            }
        };
        let surface = || compartment.distance_and_normal(pose.position);
        let (DistanceAndNormal { normal, .. }, height) = match *self {
            Self::Surface(placement) => return placement.excess(compartment, pose),
            Self::Inside { distance } => {
                let surface = surface();
                (surface, (surface.distance + distance).max(0.0))
            }
            Self::Outside { distance } => {
                let surface = surface();
                (surface, (surface.distance - distance).min(0.0))
            }
            Self::WholeInside { clearance } => return whole(1.0, clearance),
            Self::WholeOutside { clearance } => return whole(-1.0, clearance),
        };
        Excess {
            normal,
            height,
            arm: spring_arm(compartment, pose.position, normal),
            ..Excess::default()
        }
    }
}

impl From<Placement> for Confinement {
    fn from(placement: Placement) -> Self {
        Self::Surface(placement)
    }
}

/// How far a molecule exceeds its leeways. World frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// Outward unit normal of the surface, at the center of mass. For a whole molecule: at the atom
    /// that is furthest out of place, if there is one.
    pub normal: Vec3,
    /// Distance of the center of mass, or of that atom, beyond its leeway along `normal`, nm:
    /// positive if it is too far out, negative if too far in, zero if it is in place.
    pub height: f32,
    /// Outwards along the normal, as long as the distance of the center of mass, or of that atom,
    /// from the center of the compartment, nm. In a sphere, the vector from the center: Algorithm
    /// 4.5 of the thesis.
    pub arm: Vec3,
    /// The molecule's up vector; zero if any orientation is allowed.
    pub up: Vec3,
    /// Unit axis of the shortest rotation that turns the molecule upright; zero if it is upright.
    pub axis: Vec3,
    /// Tilt beyond its leeway, radian: zero if it is in place.
    pub tilt: f32,
    /// Total tilt, radian.
    pub total_tilt: f32,
}

impl Excess {
    /// Whether the molecule is within its leeways, up to rounding.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.is_in_place_within(0.0, 0.0)
    }

    /// As [`is_in_place`](Self::is_in_place), for a pose that is rounded by up to `height` nm and
    /// `tilt` radian.
    pub(crate) fn is_in_place_within(&self, height: f32, tilt: f32) -> bool {
        self.height.abs() <= HEIGHT_SLACK_NM + height && self.tilt <= TILT_SLACK + tilt
    }
}

/// [`Excess::arm`]. The vector from the center does not always point outwards: not in the hole of a
/// ring, nor below a plane.
fn spring_arm(compartment: &dyn Surface, position: Vec3, normal: Vec3) -> Vec3 {
    let arm = position - compartment.center();
    match compartment.as_sphere() {
        Some(_) => arm,
        None => normal * arm.length(),
    }
}

/// Fraction of a lipid's length, from tail end to head, by which its tails reach past the
/// mid-surface. Puts the phosphate of POPC 1.8 nm from it.
const TAIL_OVERLAP: f32 = 0.11;

/// Distance of a lipid's center of mass from the mid-surface of a bilayer, nm, at which the
/// tails of the two leaflets meet.
#[must_use]
pub fn bilayer_depth(template: &MoleculeTemplate) -> f32 {
    let (up, head) = up_and_head(template);
    bilayer_depth_along(template, up, head)
}

/// As [`bilayer_depth`], for a lipid with a known axis: `up` points from tail to head (unit vector,
/// body frame), and the head is `head` nm above the center of mass.
#[must_use]
pub fn bilayer_depth_along(template: &MoleculeTemplate, up: Vec3, head: f32) -> f32 {
    let heights = template.positions().iter().map(|position| position.dot(up));
    let tail = heights.fold(0.0, f32::min);
    (head - tail) * (1.0 - TAIL_OVERLAP) - head
}

/// Direction from tail to head of a lipid along its longest axis (unit vector, body frame),
/// and the height of the head above the center of mass (nm).
///
/// The head is the phosphorus atom, or else the nitrogen, oxygen or sulfur atom that is
/// furthest from the center along the axis. A molecule without any of these points in the
/// direction of its longest axis.
#[must_use]
pub fn up_and_head(template: &MoleculeTemplate) -> (Vec3, f32) {
    // The moment of inertia about the longest axis is the smallest.
    let axis = template.principal_axes() * Vec3::X;
    let heights = |wanted: fn(Element) -> bool| {
        template
            .elements()
            .iter()
            .zip(template.positions())
            .filter(move |(element, _)| wanted(**element))
            .map(move |(_, position)| position.dot(axis))
    };
    let furthest = |wanted| heights(wanted).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let head = furthest(|element| element == Element::P)
        .or_else(|| furthest(|element| [Element::N, Element::O, Element::S].contains(&element)))
        .unwrap_or_else(|| heights(|_| true).fold(0.0, f32::max));
    (axis * 1.0_f32.copysign(head), head.abs())
}
