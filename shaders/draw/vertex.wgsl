// A triangle around each sphere of each visible molecule.
//
// The instance is the run; the vertex number tells molecule, sphere and corner.

#import bevy_pbr::mesh_view_bindings::view
#import bevy_rapier_molecules::draw::color::color_of
#import bevy_rapier_molecules::draw::types::{
    SphereVertex, look, poses, runs, spheres, traits, visible,
}

/// A vector turned by a unit quaternion.
fn turned(turn: vec4<f32>, vector: vec3<f32>) -> vec3<f32> {
    let twice = 2.0 * cross(turn.xyz, vector);
    return vector + turn.w * twice + cross(turn.xyz, twice);
}

/// Corners of the triangle whose inscribed circle has radius 1.
const CORNERS = array<vec2<f32>, 3>(
    vec2(0.0, 2.0),
    vec2(-1.7320508, -1.0),
    vec2(1.7320508, -1.0),
);

@vertex
fn vertex(
    @builtin(vertex_index) vertex_number: u32,
    @builtin(instance_index) run_number: u32,
) -> SphereVertex {
    let run = runs[run_number];
    let number = vertex_number / 3u;
    let slot = number / run.sphere_count;
    let molecule = visible[run.first_visible + slot];
    let sphere = spheres[run.first_sphere + number - slot * run.sphere_count];
    let pose = poses[molecule];

    let in_crowd = turned(pose.rotation, sphere.center) + pose.position;
    let in_world = turned(run.rotation, in_crowd * run.scale) + run.position;
    let center = (view.view_from_world * vec4(in_world, 1.0)).xyz;
    let radius = sphere.radius * run.scale * look.radius_scale;

    // The triangle lies in the plane that touches the sphere where it is nearest to the
    // camera: nothing of the sphere is in front of it. `size` is the radius of the
    // circle in that plane behind which the sphere hides. With the distance d of the
    // center that is (d - r) tan a for sin a = r / d, or r sqrt((d - r) / (d + r)).
    let orthographic = view.clip_from_view[3].w == 1.0;
    let distance = length(center);
    var towards = vec3(0.0, 0.0, 1.0);
    var size = radius;
    if !orthographic {
        towards = -center / distance;
        size = radius * sqrt((distance - radius) / (distance + radius));
    }
    // Any two directions across; y is up unless the sphere is above the camera.
    let up = select(vec3(0.0, 1.0, 0.0), vec3(1.0, 0.0, 0.0), abs(towards.y) > 0.9);
    let right = normalize(cross(up, towards));
    var corners = CORNERS;
    let corner = corners[vertex_number % 3u] * size;
    let from_center = towards * radius + right * corner.x + cross(towards, right) * corner.y;

    var out: SphereVertex;
    out.position = view.clip_from_view * vec4(center + from_center, 1.0);
    // A sphere that reaches through the near plane is cut by the fragments, not here.
    out.position.z = min(out.position.z, out.position.w);
    out.from_center = from_center;
    out.sphere = vec4(center, radius);
    out.color = color_of(sphere, traits[molecule]);
    out.opacity = run.opacity;
    let hidden = unpack4x8snorm(sphere.occlusion);
    let hidden_world = turned(run.rotation, turned(pose.rotation, hidden.xyz));
    out.occlusion = vec4((view.view_from_world * vec4(hidden_world, 0.0)).xyz, hidden.w);
    // Nothing is seen from inside of a sphere.
    if !orthographic && distance <= radius {
        out.position = vec4(0.0, 0.0, -1.0, 1.0);
    }
    return out;
}
