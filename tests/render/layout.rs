//! What can be known about the drawing shaders without an adapter.

use std::fs;
use std::mem::offset_of;

use bevy_rapier_molecules::gpu::GpuPose;
use bevy_rapier_molecules::render::{GpuLook, GpuRun, GpuSphere, GpuTraits};
use naga::TypeInner;

/// The structs of the drawing shaders, which come before the bindings. The rest needs
/// modules of Bevy's; pictures test it.
fn structs() -> naga::Module {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/draw/types.wgsl");
    let text = fs::read_to_string(path).unwrap();
    let (structs, _) = text.split_once("@group").unwrap();
    let plain: Vec<&str> = structs.lines().filter(|l| !l.starts_with('#')).collect();
    let plain = plain.join("\n");
    naga::front::wgsl::parse_str(&plain)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&plain)))
}

/// Size and members of a struct as WGSL lays them out.
fn wgsl_layout(module: &naga::Module, name: &str) -> (u32, Vec<(String, u32)>) {
    let mut types = module.types.iter();
    let found = types.find(|(_, ty)| ty.name.as_deref() == Some(name));
    let Some((
        _,
        naga::Type {
            inner: TypeInner::Struct { members, span },
            ..
        },
    )) = found
    else {
        panic!("there is no struct {name}");
    };
    let members = members.iter();
    let members = members.map(|member| (member.name.clone().unwrap(), member.offset));
    (*span, members.collect())
}

/// Checks that a Rust struct has the members, offsets and size of its WGSL twin.
macro_rules! assert_mirrors {
    ($rust:ty, $wgsl:literal, $($member:ident),+ $(,)?) => {
        let (size, members) = wgsl_layout(&structs(), $wgsl);
        let mirror = vec![
            $((stringify!($member).to_owned(), offset_of!($rust, $member) as u32)),+
        ];
        assert_eq!(members, mirror, "{}", $wgsl);
        assert_eq!(size as usize, size_of::<$rust>(), "{}", $wgsl);
    };
}

#[test]
fn structs_have_the_same_layout_in_rust_and_wgsl() {
    assert_mirrors!(GpuPose, "Pose", position, spare, rotation);
    assert_mirrors!(
        GpuTraits,
        "Traits",
        number,
        template_and_state,
        group,
        penetration
    );
    assert_mirrors!(
        GpuSphere, "Sphere", centre, radius, red_green, blue, chain, occlusion
    );
    assert_mirrors!(
        GpuRun,
        "Run",
        rotation,
        position,
        scale,
        first_visible,
        first_sphere,
        sphere_count,
        opacity
    );
    assert_mirrors!(
        GpuLook,
        "Look",
        colour_mode,
        occlusion,
        contours,
        headlight,
        radius_scale,
        inverse_deep,
        fog_start,
        fog_per_nm,
        fog_colour,
        fog_strength
    );
}
