// How a molecule is moved in one iteration.

/// A shift of the center of mass, and a turn about it.
struct Push {
    /// Shift, nm.
    linear: vec3<f32>,
    /// Number of contacts where it is a sum of them, else not used.
    contacts: f32,
    /// Rotation vector in the world frame, radian.
    angular: vec3<f32>,
    /// Not used.
    spare: f32,
}
