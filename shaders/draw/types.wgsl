#define_import_path bevy_rapier_molecules::draw::types

// Bindings of molecules, and the interface between the vertex and the fragment stage.

/// Position and rotation of a molecule.
struct Pose {
    /// Center of mass, nm.
    position: vec3<f32>,
    /// Padding.
    spare: f32,
    /// Rotation as a unit quaternion: x, y, z, w.
    rotation: vec4<f32>,
}

/// Attributes of a molecule except its pose.
struct Instance {
    /// Number that selects its color in the mode that colors molecules.
    number: u32,
    /// Index of its template; the highest bit is set if it collides.
    template_and_state: u32,
    /// Its group.
    group: u32,
    /// Its deepest overlap, nm.
    penetration: f32,
    /// Color painted over it: alpha and the square roots of linear red, green and blue, 8-bit unorm
    /// each.
    tint: u32,
    /// Color of its highlight, packed like `tint`.
    highlight: u32,
    /// Fraction of the pixels that are drawn, from 0 to 1.
    opacity: f32,
}

/// A sphere of a template.
struct Sphere {
    /// Center in the body frame, nm.
    center: vec3<f32>,
    /// Radius, nm.
    radius: f32,
    /// Red and green of the element color, linear, 16-bit unorm each.
    red_green: u32,
    /// Blue of the element color, in the lower 16 bits.
    blue: u32,
    /// Index of the chain in the template.
    chain: u32,
    /// Ambient occlusion by neighbors: a vector and a scalar, 8-bit snorm each.
    occlusion: u32,
}

/// Molecules of one template in one level of detail.
struct Batch {
    /// Rotation from the frame of the instances to the world: x, y, z, w.
    rotation: vec4<f32>,
    /// Origin of the frame of the instances in the world, nm.
    position: vec3<f32>,
    /// Scale of the frame of the instances.
    scale: f32,
    /// Index of the first molecule in the list of visible molecules.
    first_visible: u32,
    /// Index of the first sphere.
    first_sphere: u32,
    /// Number of spheres per molecule.
    sphere_count: u32,
    /// Fraction of the pixels that are drawn, from 0 to 1.
    opacity: f32,
    /// Color painted over all molecules, packed like that of an instance.
    tint: u32,
    /// Color of the highlight of molecules without their own, packed like `tint`.
    highlight: u32,
    /// Padding.
    spare: vec2<u32>,
}

/// Style of molecules in this view.
struct Style {
    /// Index of the color mode.
    color_mode: u32,
    /// Strength of the ambient occlusion, from 0 to 1.
    occlusion: f32,
    /// Darkness of the rims, from 0 to 1.
    contours: f32,
    /// Brightness of the light at the camera.
    headlight: f32,
    /// Factor of all radii.
    radius_scale: f32,
    /// Inverse of the overlap with the last color, 1/nm.
    inverse_max_penetration: f32,
    /// Distance where fog begins, nm.
    fog_start: f32,
    /// Inverse of the distance from there to full fog, 1/nm.
    fog_per_nm: f32,
    /// Color of the fog, linear.
    fog_color: vec3<f32>,
    /// Fraction of fog at the far end, from 0 to 1.
    fog_strength: f32,
    /// Index of the first color of the mode in the palette.
    first_color: u32,
    /// Number of colors of the mode.
    color_count: u32,
    /// Index of the first color of colliding molecules in the palette.
    first_colliding: u32,
    /// Number of colors of colliding molecules.
    colliding_count: u32,
}

@group(2) @binding(0) var<uniform> style: Style;
@group(2) @binding(1) var<storage, read> palette: array<vec4<f32>>;
@group(2) @binding(2) var<storage, read> spheres: array<Sphere>;
@group(2) @binding(3) var<storage, read> poses: array<Pose>;
@group(2) @binding(4) var<storage, read> instances: array<Instance>;
@group(2) @binding(5) var<storage, read> visible: array<u32>;
@group(2) @binding(6) var<storage, read> batches: array<Batch>;

/// A vertex of the triangle around a sphere. View frame: the camera looks along -z.
struct SphereVertex {
    @builtin(position) position: vec4<f32>,
    /// From the center of the sphere to the vertex, nm.
#ifdef MULTISAMPLED
    // One ray per sample, for antialiased rims.
    @location(0) @interpolate(perspective, sample) from_center: vec3<f32>,
#else
    @location(0) from_center: vec3<f32>,
#endif
    /// Center of the sphere, and its radius, nm.
    @location(1) @interpolate(flat) sphere: vec4<f32>,
    /// Color, linear.
    @location(2) @interpolate(flat) color: vec3<f32>,
    /// Ambient occlusion by neighbors: a vector and a scalar.
    @location(3) @interpolate(flat) occlusion: vec4<f32>,
    /// Fraction of the pixels that are drawn, from 0 to 1.
    @location(4) @interpolate(flat) opacity: f32,
    /// Number of the dither pattern.
    @location(5) @interpolate(flat) dither_pattern: u32,
    /// Color of the highlight, packed like that of an instance.
    @location(6) @interpolate(flat) highlight: u32,
}
