// A body of a crowd as the solver sees it.

/// Set in `state` of a body that sleeps: contacts treat it as immovable.
const ASLEEP: u32 = 1u;

/// Mass, place and motion of a body. Velocities change while contacts are solved.
struct CrowdBody {
    /// Center of mass in the world, nm.
    center: vec3<f32>,
    /// Whether it sleeps.
    state: u32,
    /// Velocity of the center of mass, nm/s.
    velocity: vec3<f32>,
    /// Not used.
    spare: f32,
    /// Angular velocity, radian/s.
    angular_velocity: vec3<f32>,
    /// Not used.
    spare_too: f32,
    /// Inverse mass along each axis of the world, 1/Da.
    inverse_mass: vec3<f32>,
    /// Not used.
    spare_three: f32,
    /// Inverse inertia in the world frame, 1/(Da·nm²), elements xx, yy, zz.
    diagonal: vec3<f32>,
    /// Not used.
    spare_four: f32,
    /// Elements yz, xz, xy.
    beside: vec3<f32>,
    /// Not used.
    spare_five: f32,
    /// Acceleration that forces will cause in this substep, nm/s².
    acceleration: vec3<f32>,
    /// Not used.
    spare_six: f32,
}

/// What a body receives.
struct CrowdImpulse {
    /// Linear impulse, Da·nm/s.
    linear: vec3<f32>,
    /// Whether something acts on it that wakes it if it sleeps.
    woken: u32,
    /// Angular impulse, Da·nm²/s.
    angular: vec3<f32>,
    /// Not used.
    spare: u32,
}

fn is_asleep(state: u32) -> bool {
    return (state & ASLEEP) != 0u;
}

/// A symmetric matrix times a vector.
fn symmetric_times(diagonal: vec3<f32>, beside: vec3<f32>, vector: vec3<f32>) -> vec3<f32> {
    return vec3(
        diagonal.x * vector.x + beside.z * vector.y + beside.y * vector.z,
        beside.z * vector.x + diagonal.y * vector.y + beside.x * vector.z,
        beside.y * vector.x + beside.x * vector.y + diagonal.z * vector.z,
    );
}

/// Velocity of a body's point at `lever` from its center of mass, nm/s.
fn velocity_at(velocity: vec3<f32>, angular_velocity: vec3<f32>, lever: vec3<f32>) -> vec3<f32> {
    return velocity + cross(angular_velocity, lever);
}
