// Placements, and the deviation of a molecule. CPU reference: `Placement::deviation`.

/// A placement relative to a spherical compartment.
struct Placement {
    /// Center of the sphere, nm.
    center: vec3<f32>,
    /// Its radius, nm.
    radius: f32,
    /// Unit vector in the body frame that points from tail to head.
    up: vec3<f32>,
    /// Target distance of the center of mass from the sphere along its outward normal, nm.
    offset: f32,
    /// +1 if the head points outward, −1 if inward.
    sign: f32,
    /// Maximum deviation of the center of mass from `offset`, nm.
    leeway: f32,
    /// Maximum angle between `up` and the normal, radian.
    tilt_leeway: f32,
    /// Padding.
    spare: f32,
}

/// Deviation of a molecule from its placement.
struct Deviation {
    /// Vector from the center of the sphere, nm.
    arm: vec3<f32>,
    /// Outward normal.
    normal: vec3<f32>,
    /// Height above the target, nm.
    height: f32,
    /// Unit axis of the shortest rotation to the target direction; zero without one.
    axis: vec3<f32>,
    /// Angle of that rotation, radian.
    tilt: f32,
}

/// Outward normal of a sphere at `arm` from its center, without overflow.
fn outward_normal(arm: vec3<f32>) -> vec3<f32> {
    let largest = max(max(abs(arm.x), abs(arm.y)), abs(arm.z));
    if largest < 1.0e-37 {
        // Arbitrary at the center.
        return vec3(0.0, 1.0, 0.0);
    }
    if largest > 1.0e-15 && largest < 1.0e15 {
        return arm / sqrt(dot(arm, arm));
    }
    return direction_of(arm / largest);
}

/// The angle in [0, π] with a multiple of this sine and cosine; the sine must not be negative.
/// Built-in functions may lose half the digits.
///
/// x = tan(θ/2) = sine / (1 + cosine), and tan(θ/2) = x / (1 + √(1 + x²)) twice, reduce the angle
/// to an eighth, below π/16, where five terms of the series of the arc tangent suffice.
fn angle_of(sine: f32, cosine: f32) -> f32 {
    let length = sqrt(sine * sine + cosine * cosine);
    if length == 0.0 {
        return 0.0;
    }
    var x = sine / (length + abs(cosine));
    x = x / (1.0 + sqrt(1.0 + x * x));
    x = x / (1.0 + sqrt(1.0 + x * x));
    let q = x * x;
    let series = 1.0 - q * (1.0 / 3.0 - q * (1.0 / 5.0 - q * (1.0 / 7.0 - q / 9.0)));
    let angle = 8.0 * x * series;
    return select(angle, PI - angle, cosine < 0.0);
}

/// A unit vector orthogonal to a unit vector (Duff et al. 2017).
fn orthogonal(vector: vec3<f32>) -> vec3<f32> {
    let sign = select(1.0, -1.0, vector.z < 0.0);
    let a = -1.0 / (sign + vector.z);
    let b = vector.x * vector.y * a;
    return vec3(b, sign + vector.y * vector.y * a, -vector.y);
}

fn deviation_of(placement: Placement, pose: Pose) -> Deviation {
    var found: Deviation;
    found.arm = pose.position - placement.center;
    found.normal = outward_normal(found.arm);
    let distance = sqrt(dot(found.arm, found.arm)) - placement.radius;
    found.height = distance - placement.offset;
    let up = rotate(rotation_matrix(pose.rotation), placement.up);
    let target_up = found.normal * placement.sign;
    let turn = cross(up, target_up);
    let cosine = dot(up, target_up);
    found.tilt = angle_of(sqrt(dot(turn, turn)), cosine);
    if has_direction(turn) {
        found.axis = direction_of(turn);
    } else if cosine < 0.0 {
        // Upside down: any orthogonal axis.
        found.axis = orthogonal(up);
    }
    return found;
}

/// Whether a molecule is within its leeways, up to the slack.
fn is_in_place(placement: Placement, found: Deviation) -> bool {
    return abs(found.height) <= placement.leeway + HEIGHT_SLACK_NM
        && found.tilt <= placement.tilt_leeway + TILT_SLACK;
}
