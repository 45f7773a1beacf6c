// Change of the impulses between two bodies in one iteration.

struct CrowdImpulseChange {
    /// On `b`; the negative acts on `a`.
    linear: vec3<f32>,
    padding_1: f32,
    angular_a: vec3<f32>,
    padding_2: f32,
    angular_b: vec3<f32>,
    padding_3: f32,
}
