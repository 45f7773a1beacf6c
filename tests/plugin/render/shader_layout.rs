//! Struct layouts of the drawing shaders, checked without an adapter.

use std::fs;

use bevy_rapier_molecules::gpu::GpuPose;
use bevy_rapier_molecules::render::{GpuBatch, GpuInstance, GpuSphere, GpuStyle};

use crate::common::shader_layout::assert_mirrors;

/// The structs of the drawing shaders, which precede the bindings. The rest imports modules of
/// Bevy and is tested by rendering.
fn structs() -> naga::Module {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/draw/types.wgsl");
    let text = fs::read_to_string(path).unwrap();
    let (structs, _) = text.split_once("@group").unwrap();
    let plain: Vec<&str> = structs.lines().filter(|l| !l.starts_with('#')).collect();
    let plain = plain.join("\n");
    naga::front::wgsl::parse_str(&plain)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&plain)))
}

#[test]
fn structs_have_the_same_layout_in_rust_and_wgsl() {
    assert_mirrors!(GpuPose, structs(), "Pose", position, spare, rotation);
    assert_mirrors!(
        GpuInstance,
        structs(),
        "Instance",
        number,
        template_and_state,
        group,
        penetration,
        tint,
        highlight,
        opacity
    );
    assert_mirrors!(
        GpuSphere,
        structs(),
        "Sphere",
        center,
        radius,
        red_green,
        blue,
        chain,
        occlusion
    );
    assert_mirrors!(
        GpuBatch,
        structs(),
        "Batch",
        rotation,
        position,
        scale,
        first_visible,
        first_sphere,
        sphere_count,
        opacity,
        tint,
        highlight,
        spare
    );
    assert_mirrors!(
        GpuStyle,
        structs(),
        "Style",
        color_mode,
        occlusion,
        contours,
        headlight,
        radius_scale,
        inverse_max_penetration,
        fog_start,
        fog_per_nm,
        fog_color,
        fog_strength,
        first_color,
        color_count,
        first_colliding,
        colliding_count
    );
}
