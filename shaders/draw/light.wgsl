#define_import_path bevy_rapier_molecules::draw::light

// Lighting of a matte surface with a faint specular lobe. World frame.

// Code for lights and shadows that the scene does not have is not compiled: software adapters
// execute all branches.

#import bevy_pbr::mesh_view_bindings::{clustered_lights, lights, view}
#import bevy_pbr::mesh_view_types::{
    DIRECTIONAL_LIGHT_FLAGS_SHADOWS_ENABLED_BIT,
    POINT_LIGHT_FLAGS_SHADOWS_ENABLED_BIT,
    POINT_LIGHT_FLAGS_SPOT_LIGHT_Y_NEGATIVE,
}
#ifdef CLUSTERED_LIGHTS
#import bevy_pbr::clustered_forward as clustering
#endif
#ifdef SHADOWS
#import bevy_pbr::shadows
#endif

/// A lit surface point.
struct Surface {
    /// Position, nm.
    position: vec3<f32>,
    /// Outward unit normal.
    normal: vec3<f32>,
    /// Unit vector to the camera.
    to_eye: vec3<f32>,
    /// Color, linear.
    color: vec3<f32>,
    /// Fraction of the light that is not occluded, from 0 to 1.
    openness: f32,
    /// z in the view frame, nm.
    view_z: f32,
    /// Position in the render target, pixels.
    pixel: vec2<f32>,
}

const INVERSE_PI: f32 = 0.31830987;

/// Specular reflectance, that of plastic.
const SPECULAR: f32 = 0.04;

/// Light that the surface reflects to the camera per unit of light from `to_light`.
fn reflected(surface: Surface, to_light: vec3<f32>) -> vec3<f32> {
    let facing = saturate(dot(surface.normal, to_light));
    let half_way = normalize(to_light + surface.to_eye);
    let specular = saturate(dot(surface.normal, half_way));
    // Blinn-Phong with exponent 32, normalized.
    let square = specular * specular;
    let fourth = square * square;
    let sixteenth = fourth * fourth * fourth * fourth;
    let lobe = SPECULAR * (34.0 / 8.0) * sixteenth * sixteenth;
    return (surface.color + vec3(lobe)) * (facing * INVERSE_PI);
}

#ifdef CLUSTERED_LIGHTS
/// Attenuation with the square of the distance, and smoothly to zero at the range.
fn attenuation(distance_square: f32, inverse_square_range: f32) -> f32 {
    let ratio = distance_square * inverse_square_range;
    let window = saturate(1.0 - ratio * ratio);
    return window * window / max(distance_square, 0.0001);
}

fn unshadowed_light(surface: Surface, index: u32) -> vec3<f32> {
    let light = &clustered_lights.data[index];
    let to_light = (*light).position_radius.xyz - surface.position;
    let fraction = attenuation(dot(to_light, to_light), (*light).color_inverse_square_range.w);
    let color = (*light).color_inverse_square_range.rgb;
    return reflected(surface, normalize(to_light)) * color * fraction;
}

fn point_light(surface: Surface, index: u32) -> vec3<f32> {
    var visibility = 1.0;
#ifdef SHADOWS
    if (clustered_lights.data[index].flags & POINT_LIGHT_FLAGS_SHADOWS_ENABLED_BIT) != 0u {
        let position = vec4(surface.position, 1.0);
        visibility = shadows::fetch_point_shadow(index, position, surface.normal, surface.pixel);
    }
#endif
    return unshadowed_light(surface, index) * visibility;
}

fn spot_light(surface: Surface, index: u32) -> vec3<f32> {
    let light = &clustered_lights.data[index];
    let data = (*light).light_custom_data;
    var axis = vec3(data.x, 0.0, data.y);
    axis.y = sqrt(max(0.0, 1.0 - dot(axis, axis)));
    if ((*light).flags & POINT_LIGHT_FLAGS_SPOT_LIGHT_Y_NEGATIVE) != 0u {
        axis.y = -axis.y;
    }
    let to_light = normalize((*light).position_radius.xyz - surface.position);
    let cone = saturate(dot(-axis, to_light) * data.z + data.w);
    var visibility = cone * cone;
#ifdef SHADOWS
    if visibility > 0.0 && ((*light).flags & POINT_LIGHT_FLAGS_SHADOWS_ENABLED_BIT) != 0u {
        let near = (*light).shadow_map_near_z;
        let position = vec4(surface.position, 1.0);
        visibility *= shadows::fetch_spot_shadow(index, position, surface.normal, near, surface.pixel);
    }
#endif
    return unshadowed_light(surface, index) * visibility;
}
#endif

/// Total light that the surface reflects to the camera.
fn lit(surface: Surface, headlight: f32) -> vec3<f32> {
    var light = vec3(0.0);
    for (var index = 0u; index < lights.n_directional_lights; index += 1u) {
        let to_light = lights.directional_lights[index].direction_to_light;
        var visibility = 1.0;
#ifdef SHADOWS
        if (lights.directional_lights[index].flags & DIRECTIONAL_LIGHT_FLAGS_SHADOWS_ENABLED_BIT) != 0u {
            let position = vec4(surface.position, 1.0);
            visibility = shadows::fetch_directional_shadow(
                index, position, surface.normal, surface.view_z, surface.pixel,
            );
        }
#endif
        let color = lights.directional_lights[index].color.rgb * visibility;
        light += reflected(surface, to_light) * color;
    }

#ifdef CLUSTERED_LIGHTS
    let orthographic = view.clip_from_view[3].w == 1.0;
    let cluster = clustering::view_fragment_cluster_index(
        surface.pixel, surface.view_z, orthographic,
    );
    let ranges = clustering::unpack_clusterable_object_index_ranges(cluster);
    let spots = ranges.first_spot_light_index_offset;
    for (var k = ranges.first_point_light_index_offset; k < spots; k += 1u) {
        light += point_light(surface, clustering::get_clusterable_object_id(k));
    }
    for (var k = spots; k < ranges.first_reflection_probe_index_offset; k += 1u) {
        light += spot_light(surface, clustering::get_clusterable_object_id(k));
    }
#endif

    light += surface.color * lights.ambient_color.rgb;
    let facing = saturate(dot(surface.normal, surface.to_eye));
    let from_camera = surface.color * (headlight * (0.25 + 0.75 * facing));
    return (light * view.exposure + from_camera) * surface.openness;
}
