//! Compares structs in Rust with their counterparts in WGSL.

use naga::TypeInner;

/// Size and member offsets of a WGSL struct.
pub fn layout(module: &naga::Module, name: &str) -> (u32, Vec<(String, u32)>) {
    let mut types = module.types.iter();
    let found = types.find(|(_, ty)| ty.name.as_deref() == Some(name));
    let Some((_, found)) = found else {
        panic!("no struct is named {name}");
    };
    let TypeInner::Struct { members, span } = &found.inner else {
        panic!("{name} is not a struct");
    };
    let members = members.iter().map(|member| {
        let name = member.name.clone().expect("members have names");
        (name, member.offset)
    });
    (*span, members.collect())
}

/// Asserts that a Rust struct has the members, offsets and size of a WGSL struct.
#[allow(unused_macros, reason = "only test binaries with shaders use it")]
macro_rules! assert_mirrors {
    ($rust:ty, $module:expr, $wgsl:literal, $($member:ident),+ $(,)?) => {
        let (size, members) = $crate::common::shader_layout::layout(&$module, $wgsl);
        let mirror = vec![
            $((stringify!($member).to_owned(), std::mem::offset_of!($rust, $member) as u32)),+
        ];
        assert_eq!(members, mirror, "{}", $wgsl);
        assert_eq!(size as usize, size_of::<$rust>(), "{}", $wgsl);
    };
}
pub(crate) use assert_mirrors;
