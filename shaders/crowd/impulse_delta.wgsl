// How the impulses between two bodies change in an iteration.

struct CrowdImpulseDelta {
    /// On `b`; that on `a` is its negative.
    linear: vec3<f32>,
    /// Not used.
    spare: f32,
    angular_a: vec3<f32>,
    /// Not used.
    spare_too: f32,
    angular_b: vec3<f32>,
    /// Not used.
    spare_three: f32,
}
