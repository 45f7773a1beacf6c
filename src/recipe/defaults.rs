//! Defaults and limits of recipes of all formats.

/// Default least distance of atoms of different molecules, nm.
pub(super) const TOLERANCE: f32 = 0.2;

/// Default number of conformers of a lipid.
pub(super) const CONFORMERS: u32 = 16;

/// Default random tilt of the axis on a surface, radian: `perturb_axis_amplitude` of cellPACK.
pub(super) const TILT: f64 = 0.1;

/// Default persistence length of fibers, nm: that of DNA.
pub(super) const PERSISTENCE_LENGTH: f32 = 50.0;

/// Default deviation of a joint from the twist of a double helix, radian.
pub(super) const MAX_TWIST: f32 = 0.5;

/// How far molecules with a rule may be from their places, nm.
pub(super) const RULE_TOLERANCE_NM: f32 = 0.1;

/// Largest angle between two axes that a rule aligns, radian.
pub(super) const RULE_ANGLE: f32 = 0.1;

/// Largest number of molecules of an entry.
pub(super) const MAX_COUNT: f64 = 1.0e8;

/// Largest coordinate or length of a recipe, nm.
pub(super) const MAX_LENGTH_NM: f32 = crate::molecule::MAX_COORDINATE_NM;
