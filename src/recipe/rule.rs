//! [`Rule`]: where the molecules of an entry are relative to others.

use std::fmt;

use glam::Vec3;

/// Where the molecules of an entry are relative to others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// Its place in the file, for errors.
    pub place: String,
    /// Name of the entry or object that the rule refers to; empty if it refers to none.
    pub of: String,
    /// Indices of the entries with that name.
    pub entries: Vec<usize>,
    /// The kind.
    pub kind: RuleKind,
}

/// Kind of a [`Rule`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleKind {
    /// Touching the atoms of others.
    OnSurfaceOf {
        /// Number at each of the others; none for the count of the entry at random ones.
        per_instance: Option<u32>,
    },
    /// The center of mass at a distance from that of another molecule.
    DistanceFrom {
        /// Least distance.
        min: f32,
        /// Largest distance.
        max: f32,
    },
    /// Fixed to a site of each of the others.
    AttachedTo(Attachment),
    /// Beside fibers.
    Along {
        /// Distance between two molecules.
        every: Interval,
        /// Distance of the center of mass from the axis; none if the molecule touches the fiber.
        distance: Option<f32>,
        /// Angle of the first molecule about the axis and turn from one to the next, radian; none
        /// for random angles.
        turn: Option<[f32; 2]>,
    },
    /// As many as there is room for.
    Fill {
        /// Number of random places without room after which it ends.
        failures: u32,
    },
}

/// Where a molecule is fixed to another one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attachment {
    /// Whether there is one at each of the others, instead of the count of the entry.
    pub at_each: bool,
    /// The site in the frame of the file of the other molecule.
    pub site: Vec3,
    /// Unit vector out of the other molecule, in the frame of its file; none for that from its center
    /// of mass to the site.
    pub axis: Option<Vec3>,
    /// The own site in the frame of the own file; none for the center of mass.
    pub own_site: Option<Vec3>,
    /// Own unit vector along the axis; none for that from the own site to the center of mass, or any
    /// if the site is the center.
    pub own_axis: Option<Vec3>,
}

/// Distance between two molecules along a fiber.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    /// Number of links.
    Links(u32),
    /// Contour length, nm.
    Spacing(f32),
}

impl Rule {
    /// Whether the number of molecules follows from the rule, not from the count of the entry.
    #[must_use]
    pub fn determines_count(&self) -> bool {
        match self.kind {
            RuleKind::OnSurfaceOf { per_instance } => per_instance.is_some(),
            RuleKind::AttachedTo(attachment) => attachment.at_each,
            RuleKind::DistanceFrom { .. } => false,
            RuleKind::Along { .. } | RuleKind::Fill { .. } => true,
        }
    }

    /// Whether molecules fill a region, without others that they depend on.
    #[must_use]
    pub fn is_fill(&self) -> bool {
        matches!(self.kind, RuleKind::Fill { .. })
    }

    /// Name of the kind in recipes.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.kind {
            RuleKind::OnSurfaceOf { .. } => "on_surface_of",
            RuleKind::DistanceFrom { .. } => "distance_from",
            RuleKind::AttachedTo(_) => "attached_to",
            RuleKind::Along { .. } => "along",
            RuleKind::Fill { .. } => "fill",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = &self.of;
        match self.kind {
            RuleKind::OnSurfaceOf { per_instance: None } => write!(f, "on the surface of {of}"),
            RuleKind::OnSurfaceOf {
                per_instance: Some(number),
            } => write!(f, "{number} on the surface of each {of}"),
            RuleKind::DistanceFrom { min, max } => write!(f, "{min} to {max} nm from {of}"),
            RuleKind::AttachedTo(Attachment { at_each: false, .. }) => {
                write!(f, "attached to {of}")
            }
            RuleKind::AttachedTo(_) => write!(f, "attached to each {of}"),
            RuleKind::Along { every, .. } => match every {
                Interval::Links(1) => write!(f, "at each link of {of}"),
                Interval::Links(links) => write!(f, "every {links} links of {of}"),
                Interval::Spacing(nm) => write!(f, "every {nm} nm along {of}"),
            },
            RuleKind::Fill { failures } => write!(f, "until {failures} places fail"),
        }
    }
}
