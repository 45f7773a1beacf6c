// The ray through a pixel against the sphere behind it.

#import bevy_pbr::mesh_view_bindings as bindings
#import bevy_pbr::mesh_view_bindings::view
#import bevy_rapier_molecules::draw::light::{Surface, lit}
#import bevy_rapier_molecules::draw::types::{SphereVertex, look}
#import bevy_render::view as view_frame
#ifdef DISTANCE_FOG
#import bevy_pbr::pbr_functions
#endif
#ifdef TONEMAP_IN_SHADER
#import bevy_core_pipeline::tonemapping::{screen_space_dither, tone_mapping}
#import bevy_render::maths::powsafe
#endif

struct Pixel {
    @location(0) color: vec4<f32>,
    @builtin(frag_depth) depth: f32,
}

/// A number from 0 to 1 for each pixel, such that neighbors differ much: of any small
/// square the numbers are spread evenly. The figures are those of interleaved gradient noise.
fn pattern(pixel: vec2<f32>) -> f32 {
    return fract(52.9829189 * fract(dot(floor(pixel), vec2(0.06711056, 0.00583715))));
}

@fragment
fn fragment(in: SphereVertex) -> Pixel {
    if in.opacity < 1.0 && pattern(in.position.xy) >= in.opacity {
        discard;
    }
    let center = in.sphere.xyz;
    let radius = in.sphere.w;

    // From the triangle's plane on, which touches the sphere: all numbers are as small as
    // the sphere, however far away it is. |from_center + t ray|² = r².
    var ray = vec3(0.0, 0.0, -1.0);
    if view.clip_from_view[3].w != 1.0 {
        ray = normalize(center + in.from_center);
    }
    let along = dot(in.from_center, ray);
    // The square of how far the ray passes the center, without cancellation.
    let nearest = in.from_center - along * ray;
    let chord = radius * radius - dot(nearest, nearest);
    if chord < 0.0 {
        discard;
    }
    let out_of_center = nearest - sqrt(chord) * ray;
    let normal = out_of_center / radius;
    let place = center + out_of_center;

    var out: Pixel;
    out.depth = view_frame::view_z_to_depth_ndc(place.z, view.clip_from_view);
    // In front of the near plane, behind the camera or beyond the far plane.
    if !(out.depth >= 0.0 && out.depth <= 1.0) {
        discard;
    }

    let hidden = saturate(in.occlusion.w + dot(in.occlusion.xyz, normal));
    let facing = saturate(-dot(normal, ray));
    let rim = 1.0 - facing;

    var surface: Surface;
    surface.position = (view.world_from_view * vec4(place, 1.0)).xyz;
    surface.normal = (view.world_from_view * vec4(normal, 0.0)).xyz;
    surface.to_eye = -(view.world_from_view * vec4(ray, 0.0)).xyz;
    surface.color = in.color;
    surface.openness = (1.0 - look.occlusion * hidden) * (1.0 - look.contours * rim * rim);
    surface.view_z = place.z;
    surface.pixel = in.position.xy;
    var color = lit(surface, look.headlight);

    let fog = saturate((-place.z - look.fog_start) * look.fog_per_nm) * look.fog_strength;
    color = mix(color, look.fog_color, fog);
    out.color = vec4(color, 1.0);

#ifdef DISTANCE_FOG
    out.color = pbr_functions::apply_fog(
        bindings::fog, out.color, surface.position, view.world_position, in.position.xy,
    );
#endif
#ifdef TONEMAP_IN_SHADER
    out.color = tone_mapping(out.color, view.color_grading);
#ifdef DEBAND_DITHER
    let shown = powsafe(out.color.rgb, 1.0 / 2.2) + screen_space_dither(in.position.xy);
    out.color = vec4(powsafe(shown, 2.2), out.color.a);
#endif
#endif
    return out;
}
