#define_import_path bevy_rapier_molecules::draw::types

// What the renderer sends for molecules, and what vertices tell fragments.

/// Position and rotation of a molecule.
struct Pose {
    /// Center of mass, nm.
    position: vec3<f32>,
    /// Not used.
    spare: f32,
    /// Rotation as a unit quaternion: x, y, z, w.
    rotation: vec4<f32>,
}

/// What a molecule is, apart from its pose.
struct Traits {
    /// Number that tells it from its neighbors.
    number: u32,
    /// Index of its template; the highest bit says that it collides.
    template_and_state: u32,
    /// Its group.
    group: u32,
    /// Its deepest overlap, nm.
    penetration: f32,
}

/// A sphere of a template.
struct Sphere {
    /// Center in the body frame, nm.
    center: vec3<f32>,
    /// Radius, nm.
    radius: f32,
    /// Red and green of its elements, linear, 16 bits each from 0 to 1.
    red_green: u32,
    /// Blue of its elements, in the lower 16 bits.
    blue: u32,
    /// Number of its chain in the template, from 0.
    chain: u32,
    /// What neighbors hide: a vector and a number, 8 bits each from -1 to 1.
    occlusion: u32,
}

/// Molecules of one template in one level of detail.
struct Run {
    /// Rotation of the crowd's frame: x, y, z, w.
    rotation: vec4<f32>,
    /// Origin of the crowd's frame in the world, nm.
    position: vec3<f32>,
    /// Scale of the crowd's frame.
    scale: f32,
    /// Where its molecules begin in the list of visible molecules.
    first_visible: u32,
    /// Where its spheres begin in the list of spheres.
    first_sphere: u32,
    /// How many spheres each molecule has.
    sphere_count: u32,
    /// How much of what is behind is hidden, from 0 to 1.
    opacity: f32,
}

/// How molecules look in this view.
struct Look {
    /// Number of the color mode.
    color_mode: u32,
    /// How dark hidden places are, from 0 to 1.
    occlusion: f32,
    /// How dark rims are, from 0 to 1.
    contours: f32,
    /// Brightness of the light from the camera.
    headlight: f32,
    /// Factor of all radii.
    radius_scale: f32,
    /// One over the overlap that has the last color, 1/nm.
    inverse_deep: f32,
    /// Distance where fog begins, nm.
    fog_start: f32,
    /// One over the distance from there to where it is full, 1/nm.
    fog_per_nm: f32,
    /// Color of the fog, linear.
    fog_color: vec3<f32>,
    /// How much of what is farthest is fog, from 0 to 1.
    fog_strength: f32,
}

@group(2) @binding(0) var<uniform> look: Look;
@group(2) @binding(1) var<uniform> palette: array<vec4<f32>, #{PALETTE_COLORS}>;
@group(2) @binding(2) var<storage, read> spheres: array<Sphere>;
@group(2) @binding(3) var<storage, read> poses: array<Pose>;
@group(2) @binding(4) var<storage, read> traits: array<Traits>;
@group(2) @binding(5) var<storage, read> visible: array<u32>;
@group(2) @binding(6) var<storage, read> runs: array<Run>;

/// A vertex of the triangle around a sphere. View frame: the camera looks along -z.
struct SphereVertex {
    @builtin(position) position: vec4<f32>,
    /// From the center of the sphere to the vertex, nm.
#ifdef MULTISAMPLED
    // Each sample of a pixel has its own ray, so that rims are smooth.
    @location(0) @interpolate(perspective, sample) from_center: vec3<f32>,
#else
    @location(0) from_center: vec3<f32>,
#endif
    /// Center of the sphere, and its radius, nm.
    @location(1) @interpolate(flat) sphere: vec4<f32>,
    /// Color, linear.
    @location(2) @interpolate(flat) color: vec3<f32>,
    /// What neighbors hide: a vector and a number.
    @location(3) @interpolate(flat) occlusion: vec4<f32>,
    /// Fraction of the pixels that are drawn.
    @location(4) @interpolate(flat) opacity: f32,
}
