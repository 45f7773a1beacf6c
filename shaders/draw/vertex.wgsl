// A triangle around each sphere of each visible molecule.
//
// The instance index is the batch; the vertex index encodes molecule, sphere and corner.

#import bevy_pbr::mesh_view_bindings::view
#import bevy_rapier_molecules::draw::color::{color_of, hash, tinted}
#import bevy_rapier_molecules::draw::types::{
    SphereVertex, batches, instances, poses, spheres, style, visible,
}

/// Rotates a vector by a unit quaternion.
fn rotate(rotation: vec4<f32>, vector: vec3<f32>) -> vec3<f32> {
    let twice = 2.0 * cross(rotation.xyz, vector);
    return vector + rotation.w * twice + cross(rotation.xyz, twice);
}

/// Corners of the triangle with inscribed radius 1.
const CORNERS = array<vec2<f32>, 3>(
    vec2(0.0, 2.0),
    vec2(-1.7320508, -1.0),
    vec2(1.7320508, -1.0),
);

@vertex
fn vertex(
    @builtin(vertex_index) corner_index: u32,
    @builtin(instance_index) batch_index: u32,
) -> SphereVertex {
    let batch = batches[batch_index];
    let sphere_index = corner_index / 3u;
    let slot = sphere_index / batch.sphere_count;
    let molecule = visible[batch.first_visible + slot];
    let sphere = spheres[batch.first_sphere + sphere_index - slot * batch.sphere_count];
    let pose = poses[molecule];

    let local = rotate(pose.rotation, sphere.center) + pose.position;
    let in_world = rotate(batch.rotation, local * batch.scale) + batch.position;
    let center = (view.view_from_world * vec4(in_world, 1.0)).xyz;
    let radius = sphere.radius * batch.scale * style.radius_scale;

    // The triangle lies in the tangent plane at the point of the sphere closest to the camera,
    // so that no part of the sphere is in front of it. `size` is the radius of the sphere's
    // projection onto that plane. With the distance d of the center, it is (d - r) tan a for
    // sin a = r / d, or r sqrt((d - r) / (d + r)).
    let orthographic = view.clip_from_view[3].w == 1.0;
    let distance = length(center);
    var towards = vec3(0.0, 0.0, 1.0);
    var size = radius;
    if !orthographic {
        towards = -center / distance;
        size = radius * sqrt((distance - radius) / (distance + radius));
    }
    // Any two perpendicular directions; y is up unless the sphere is above the camera.
    let up = select(vec3(0.0, 1.0, 0.0), vec3(1.0, 0.0, 0.0), abs(towards.y) > 0.9);
    let right = normalize(cross(up, towards));
    var corners = CORNERS;
    let corner = corners[corner_index % 3u] * size;
    let from_center = towards * radius + right * corner.x + cross(towards, right) * corner.y;

    var out: SphereVertex;
    out.position = view.clip_from_view * vec4(center + from_center, 1.0);
    // Spheres are clipped at the near plane per fragment, not here.
    out.position.z = min(out.position.z, out.position.w);
    out.from_center = from_center;
    out.sphere = vec4(center, radius);
    let instance = instances[molecule];
    out.color = tinted(tinted(color_of(sphere, instance), batch.tint), instance.tint);
    out.opacity = batch.opacity * instance.opacity;
    // Each translucent molecule has its own pattern: others are seen through it.
    out.dither_pattern = select(0u, hash(instance.number) & 4095u, instance.opacity < 1.0);
    let has_highlight = (instance.highlight >> 24u) != 0u;
    out.highlight = select(batch.highlight, instance.highlight, has_highlight);
    let occlusion = unpack4x8snorm(sphere.occlusion);
    let world_occlusion = rotate(batch.rotation, rotate(pose.rotation, occlusion.xyz));
    out.occlusion = vec4((view.view_from_world * vec4(world_occlusion, 0.0)).xyz, occlusion.w);
    // A sphere around the camera is not visible.
    if !orthographic && distance <= radius {
        out.position = vec4(0.0, 0.0, -1.0, 1.0);
    }
    return out;
}
