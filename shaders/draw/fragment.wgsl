// Intersection of the ray through a pixel with the sphere.

#import bevy_pbr::mesh_view_bindings as bindings
#import bevy_pbr::mesh_view_bindings::view
#import bevy_rapier_molecules::draw::color::unpack_color
#import bevy_rapier_molecules::draw::light::{Surface, lit}
#import bevy_rapier_molecules::draw::types::{SphereVertex, style}
#import bevy_render::view as view_frame
#ifdef DISTANCE_FOG
#import bevy_pbr::pbr_functions
#endif
#ifdef TONEMAP_IN_SHADER
#import bevy_core_pipeline::tonemapping::{screen_space_dither, tone_mapping}
#import bevy_render::maths::powsafe
#endif

struct Fragment {
    @location(0) color: vec4<f32>,
    @builtin(frag_depth) depth: f32,
}

/// Part of a highlight in the middle of an atom; it is 1 at the rim.
const HIGHLIGHT_MIDDLE: f32 = 0.25;

/// Dither threshold of a pixel, from 0 to 1: interleaved gradient noise, which is evenly
/// distributed in any small square. Patterns are shifted, transposed and mirrored.
fn dither_threshold(pixel: vec2<f32>, pattern: u32) -> f32 {
    var place = floor(pixel) + f32(pattern >> 2u);
    place = select(place, place.yx, (pattern & 1u) != 0u);
    place.x = select(place.x, -place.x, (pattern & 2u) != 0u);
    return fract(52.9829189 * fract(dot(place, vec2(0.06711056, 0.00583715))));
}

@fragment
fn fragment(in: SphereVertex) -> Fragment {
    if in.opacity < 1.0 && dither_threshold(in.position.xy, in.dither_pattern) >= in.opacity {
        discard;
    }
    let center = in.sphere.xyz;
    let radius = in.sphere.w;

    // The ray starts in the plane of the triangle, which touches the sphere: all values are as
    // small as the sphere, at any distance. |from_center + t ray|² = r².
    var ray = vec3(0.0, 0.0, -1.0);
    if view.clip_from_view[3].w != 1.0 {
        ray = normalize(center + in.from_center);
    }
    let along = dot(in.from_center, ray);
    // Closest point of the ray to the center, without cancellation.
    let nearest = in.from_center - along * ray;
    let chord = radius * radius - dot(nearest, nearest);
    if chord < 0.0 {
        discard;
    }
    let offset = nearest - sqrt(chord) * ray;
    let normal = offset / radius;
    let position = center + offset;

    var out: Fragment;
    out.depth = view_frame::view_z_to_depth_ndc(position.z, view.clip_from_view);
    // In front of the near plane, behind the camera or beyond the far plane.
    if !(out.depth >= 0.0 && out.depth <= 1.0) {
        discard;
    }

    let occlusion = saturate(in.occlusion.w + dot(in.occlusion.xyz, normal));
    let facing = saturate(-dot(normal, ray));
    let rim = 1.0 - facing;

    var surface: Surface;
    surface.position = (view.world_from_view * vec4(position, 1.0)).xyz;
    surface.normal = (view.world_from_view * vec4(normal, 0.0)).xyz;
    surface.to_eye = -(view.world_from_view * vec4(ray, 0.0)).xyz;
    surface.color = in.color;
    surface.openness = (1.0 - style.occlusion * occlusion) * (1.0 - style.contours * rim * rim);
    surface.view_z = position.z;
    surface.pixel = in.position.xy;
    var color = lit(surface, style.headlight);

    let fog = saturate((-position.z - style.fog_start) * style.fog_per_nm) * style.fog_strength;
    color = mix(color, style.fog_color, fog);
    let highlight = unpack_color(in.highlight);
    color = mix(color, highlight.rgb, highlight.a * mix(HIGHLIGHT_MIDDLE, 1.0, rim * rim));
    out.color = vec4(color, 1.0);

#ifdef DISTANCE_FOG
    out.color = pbr_functions::apply_fog(
        bindings::fog, out.color, surface.position, view.world_position, in.position.xy,
    );
#endif
#ifdef TONEMAP_IN_SHADER
    out.color = tone_mapping(out.color, view.color_grading);
#ifdef DEBAND_DITHER
    let dithered = powsafe(out.color.rgb, 1.0 / 2.2) + screen_space_dither(in.position.xy);
    out.color = vec4(powsafe(dithered, 2.2), out.color.a);
#endif
#endif
    return out;
}
