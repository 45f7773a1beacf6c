// Bodies as the solver sees them.

/// Set in the `state` of a sleeping body, which contacts treat as immovable.
const ASLEEP: u32 = 1u;

/// Mass, position and velocities of a body. Velocities change while contacts are solved.
struct CrowdBody {
    /// Center of mass in the world, nm.
    center: vec3<f32>,
    /// `ASLEEP` or 0.
    state: u32,
    /// Velocity of the center of mass, nm/s.
    velocity: vec3<f32>,
    /// In contacts with a body of lower dominance it is immovable.
    dominance: i32,
    /// Angular velocity, radian/s.
    angular_velocity: vec3<f32>,
    padding_2: f32,
    /// Inverse mass along each world axis, 1/Da.
    inverse_mass: vec3<f32>,
    padding_3: f32,
    /// Inverse inertia in the world frame, 1/(Da·nm²), elements xx, yy, zz.
    diagonal: vec3<f32>,
    padding_4: f32,
    /// Elements yz, xz, xy.
    off_diagonal: vec3<f32>,
    padding_5: f32,
    /// Acceleration by forces in this substep, nm/s².
    acceleration: vec3<f32>,
    padding_6: f32,
}

/// Result for a body.
struct CrowdImpulse {
    /// Linear impulse, Da·nm/s.
    linear: vec3<f32>,
    /// 1 if the body has to wake up.
    woken: u32,
    /// Angular impulse, Da·nm²/s.
    angular: vec3<f32>,
    padding: u32,
}

/// Whether an impulse can move a body.
fn is_movable(body: CrowdBody) -> bool {
    return any(body.inverse_mass != vec3(0.0))
        || any(body.diagonal != vec3(0.0))
        || any(body.off_diagonal != vec3(0.0));
}

/// Positive if `a` dominates, negative if `b` does. Immovable bodies have no dominance.
fn relative_dominance(a: CrowdBody, b: CrowdBody) -> i32 {
    return select(0, sign(a.dominance - b.dominance), is_movable(a) && is_movable(b));
}

fn is_asleep(state: u32) -> bool {
    return (state & ASLEEP) != 0u;
}

/// Product of a symmetric matrix and a vector.
fn symmetric_times(
    diagonal: vec3<f32>,
    off_diagonal: vec3<f32>,
    vector: vec3<f32>,
) -> vec3<f32> {
    return vec3(
        diagonal.x * vector.x + off_diagonal.z * vector.y + off_diagonal.y * vector.z,
        off_diagonal.z * vector.x + diagonal.y * vector.y + off_diagonal.x * vector.z,
        off_diagonal.y * vector.x + off_diagonal.x * vector.y + diagonal.z * vector.z,
    );
}

/// Velocity of a body's point at `lever` from its center of mass, nm/s.
fn velocity_at(velocity: vec3<f32>, angular_velocity: vec3<f32>, lever: vec3<f32>) -> vec3<f32> {
    return velocity + cross(angular_velocity, lever);
}
