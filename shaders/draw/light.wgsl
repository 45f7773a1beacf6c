#define_import_path bevy_rapier_molecules::draw::light

// The lights of the scene on a matt surface with a faint gloss. World frame.

// Code for lights and shadows that the scene does not have is left out: adapters in
// software run all branches.

#import bevy_pbr::mesh_view_bindings::{clustered_lights, lights, view}
#import bevy_pbr::mesh_view_types::{
    DIRECTIONAL_LIGHT_FLAGS_SHADOWS_ENABLED_BIT,
    POINT_LIGHT_FLAGS_SHADOWS_ENABLED_BIT,
    POINT_LIGHT_FLAGS_SPOT_LIGHT_Y_NEGATIVE,
}
#ifdef LAMPS
#import bevy_pbr::clustered_forward as clustering
#endif
#ifdef SHADOWS
#import bevy_pbr::shadows
#endif

/// A point of a surface that light falls on.
struct Surface {
    /// Where it is, nm.
    position: vec3<f32>,
    /// Its outward unit normal.
    normal: vec3<f32>,
    /// Unit vector to the camera.
    to_eye: vec3<f32>,
    /// Color, linear.
    color: vec3<f32>,
    /// Fraction of the light from everywhere that arrives, from 0 to 1.
    openness: f32,
    /// z in the view frame, nm.
    view_z: f32,
    /// Position in the target, pixels.
    pixel: vec2<f32>,
}

const INVERSE_PI: f32 = 0.31830987;

/// How much light an atom's gloss reflects, as a fraction: that of plastic.
const GLOSS: f32 = 0.04;

/// Light that the surface sends to the camera for each unit that comes from `to_light`.
fn reflected(surface: Surface, to_light: vec3<f32>) -> vec3<f32> {
    let facing = saturate(dot(surface.normal, to_light));
    let half_way = normalize(to_light + surface.to_eye);
    let shine = saturate(dot(surface.normal, half_way));
    // shine to the power of 32, times what keeps the energy of the lobe.
    let square = shine * shine;
    let fourth = square * square;
    let sixteenth = fourth * fourth * fourth * fourth;
    let gloss = GLOSS * (34.0 / 8.0) * sixteenth * sixteenth;
    return (surface.color + vec3(gloss)) * (facing * INVERSE_PI);
}

#ifdef LAMPS
/// Fraction of a lamp's light that arrives: less with the square of the distance, and
/// smoothly nothing at its range.
fn with_distance(distance_square: f32, inverse_square_range: f32) -> f32 {
    let part = distance_square * inverse_square_range;
    let fading = saturate(1.0 - part * part);
    return fading * fading / max(distance_square, 0.0001);
}

fn from_lamp(surface: Surface, lamp: u32) -> vec3<f32> {
    let light = &clustered_lights.data[lamp];
    let way = (*light).position_radius.xyz - surface.position;
    let arriving = with_distance(dot(way, way), (*light).color_inverse_square_range.w);
    let color = (*light).color_inverse_square_range.rgb;
    return reflected(surface, normalize(way)) * color * arriving;
}

fn from_point_lamp(surface: Surface, lamp: u32) -> vec3<f32> {
    var lit = 1.0;
#ifdef SHADOWS
    if (clustered_lights.data[lamp].flags & POINT_LIGHT_FLAGS_SHADOWS_ENABLED_BIT) != 0u {
        let position = vec4(surface.position, 1.0);
        lit = shadows::fetch_point_shadow(lamp, position, surface.normal, surface.pixel);
    }
#endif
    return from_lamp(surface, lamp) * lit;
}

fn from_spot_lamp(surface: Surface, lamp: u32) -> vec3<f32> {
    let light = &clustered_lights.data[lamp];
    let data = (*light).light_custom_data;
    var axis = vec3(data.x, 0.0, data.y);
    axis.y = sqrt(max(0.0, 1.0 - dot(axis, axis)));
    if ((*light).flags & POINT_LIGHT_FLAGS_SPOT_LIGHT_Y_NEGATIVE) != 0u {
        axis.y = -axis.y;
    }
    let to_light = normalize((*light).position_radius.xyz - surface.position);
    let cone = saturate(dot(-axis, to_light) * data.z + data.w);
    var lit = cone * cone;
#ifdef SHADOWS
    if lit > 0.0 && ((*light).flags & POINT_LIGHT_FLAGS_SHADOWS_ENABLED_BIT) != 0u {
        let near = (*light).shadow_map_near_z;
        let position = vec4(surface.position, 1.0);
        lit *= shadows::fetch_spot_shadow(lamp, position, surface.normal, near, surface.pixel);
    }
#endif
    return from_lamp(surface, lamp) * lit;
}
#endif

/// All light that the surface sends to the camera.
fn lit(surface: Surface, headlight: f32) -> vec3<f32> {
    var light = vec3(0.0);
    for (var sun = 0u; sun < lights.n_directional_lights; sun += 1u) {
        let to_light = lights.directional_lights[sun].direction_to_light;
        var arriving = 1.0;
#ifdef SHADOWS
        if (lights.directional_lights[sun].flags & DIRECTIONAL_LIGHT_FLAGS_SHADOWS_ENABLED_BIT) != 0u {
            let position = vec4(surface.position, 1.0);
            arriving = shadows::fetch_directional_shadow(
                sun, position, surface.normal, surface.view_z, surface.pixel,
            );
        }
#endif
        let color = lights.directional_lights[sun].color.rgb * arriving;
        light += reflected(surface, to_light) * color;
    }

#ifdef LAMPS
    let orthographic = view.clip_from_view[3].w == 1.0;
    let cluster = clustering::view_fragment_cluster_index(
        surface.pixel, surface.view_z, orthographic,
    );
    let near = clustering::unpack_clusterable_object_index_ranges(cluster);
    let spots = near.first_spot_light_index_offset;
    for (var k = near.first_point_light_index_offset; k < spots; k += 1u) {
        light += from_point_lamp(surface, clustering::get_clusterable_object_id(k));
    }
    for (var k = spots; k < near.first_reflection_probe_index_offset; k += 1u) {
        light += from_spot_lamp(surface, clustering::get_clusterable_object_id(k));
    }
#endif

    light += surface.color * lights.ambient_color.rgb;
    let facing = saturate(dot(surface.normal, surface.to_eye));
    let from_camera = surface.color * (headlight * (0.25 + 0.75 * facing));
    return (light * view.exposure + from_camera) * surface.openness;
}
