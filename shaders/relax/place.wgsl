// Where a molecule belongs, and how it misses that.

/// A place in a membrane around a sphere.
struct Placement {
    /// Center of the sphere, nm.
    center: vec3<f32>,
    /// Its radius, nm.
    radius: f32,
    /// Unit vector in the body frame that points from tail to head.
    up: vec3<f32>,
    /// Where the center of mass belongs, nm from the sphere along its outward normal.
    offset: f32,
    /// +1 if the head looks outwards, −1 if inwards.
    sign: f32,
    /// How far the center of mass may be from there, nm.
    leeway: f32,
    /// How far `up` may lean away from the normal, radian.
    tilt_leeway: f32,
    /// Not used.
    spare: f32,
}

/// How a molecule misses its place.
struct Deviation {
    /// Vector from the center of the sphere, nm.
    arm: vec3<f32>,
    /// Outward normal.
    normal: vec3<f32>,
    /// Height above where it belongs, nm.
    height: f32,
    /// Unit axis of the shortest turn to where the head should point; zero if it does.
    axis: vec3<f32>,
    /// Angle of that turn, radian.
    tilt: f32,
}

/// The outward normal of a sphere at a point `arm` from its center, however near or far.
fn outward(arm: vec3<f32>) -> vec3<f32> {
    let largest = max(max(abs(arm.x), abs(arm.y)), abs(arm.z));
    if largest < 1.0e-37 {
        // At the very center every direction is as good as another.
        return vec3(0.0, 1.0, 0.0);
    }
    if largest > 1.0e-15 && largest < 1.0e15 {
        return arm / sqrt(dot(arm, arm));
    }
    return direction_of(arm / largest);
}

/// The angle in [0, π] with this sine and cosine, or multiples of them; the sine must not be
/// negative. Built-in functions may lose half the digits.
///
/// With x = tan(θ/2) = sine / (1 + cosine) and twice tan(θ/2) = x / (1 + √(1 + x²)) the
/// angle is an eighth, below π/16, where five terms of the series of the arc tangent do.
fn angle_of(sine: f32, cosine: f32) -> f32 {
    let whole = sqrt(sine * sine + cosine * cosine);
    if whole == 0.0 {
        return 0.0;
    }
    var x = sine / (whole + abs(cosine));
    x = x / (1.0 + sqrt(1.0 + x * x));
    x = x / (1.0 + sqrt(1.0 + x * x));
    let q = x * x;
    let series = 1.0 - q * (1.0 / 3.0 - q * (1.0 / 5.0 - q * (1.0 / 7.0 - q / 9.0)));
    let angle = 8.0 * x * series;
    return select(angle, PI - angle, cosine < 0.0);
}

/// A unit vector across a unit vector (Duff et al. 2017).
fn across(vector: vec3<f32>) -> vec3<f32> {
    let sign = select(1.0, -1.0, vector.z < 0.0);
    let a = -1.0 / (sign + vector.z);
    let b = vector.x * vector.y * a;
    return vec3(b, sign + vector.y * vector.y * a, -vector.y);
}

fn deviation_of(placement: Placement, pose: Pose) -> Deviation {
    var found: Deviation;
    found.arm = pose.position - placement.center;
    found.normal = outward(found.arm);
    let distance = sqrt(dot(found.arm, found.arm)) - placement.radius;
    found.height = distance - placement.offset;
    let up = turned(rotation_matrix(pose.rotation), placement.up);
    let target_up = found.normal * placement.sign;
    let turn = cross(up, target_up);
    let cosine = dot(up, target_up);
    found.tilt = angle_of(sqrt(dot(turn, turn)), cosine);
    if has_direction(turn) {
        found.axis = direction_of(turn);
    } else if cosine < 0.0 {
        // Head down: every axis across will do.
        found.axis = across(up);
    }
    return found;
}

/// Whether a molecule is within its leeways, give or take rounding.
fn is_in_place(placement: Placement, found: Deviation) -> bool {
    return abs(found.height) <= placement.leeway + HEIGHT_SLACK_NM
        && found.tilt <= placement.tilt_leeway + TILT_SLACK;
}
