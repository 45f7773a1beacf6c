#define_import_path bevy_rapier_molecules::draw::color

// Color of a sphere in each color mode, and its tint.

#import bevy_rapier_molecules::draw::types::{Instance, Sphere, palette, style}

const COLLIDING: u32 = #{COLLIDING_BIT}u;

/// Linear color and alpha of a packed color.
fn unpack_color(packed: u32) -> vec4<f32> {
    let parts = unpack4x8unorm(packed);
    return vec4(parts.rgb * parts.rgb, parts.a);
}

/// A color with a packed color painted over it.
fn tinted(color: vec3<f32>, packed: u32) -> vec3<f32> {
    let tint = unpack_color(packed);
    return mix(color, tint.rgb, tint.a);
}

/// One of the `count` palette colors from `first` on.
fn palette_color(first: u32, count: u32, number: u32) -> vec3<f32> {
    return palette[first + number % count].rgb;
}

/// Hash that decorrelates consecutive numbers.
fn hash(number: u32) -> u32 {
    let mixed = (number ^ (number >> 15u)) * 0x2c1b3c6du;
    return mixed ^ (mixed >> 12u);
}

fn element_color(sphere: Sphere) -> vec3<f32> {
    return vec3(unpack2x16unorm(sphere.red_green), unpack2x16unorm(sphere.blue).x);
}

/// Linear color of a sphere of a molecule, without tints.
fn color_of(sphere: Sphere, molecule: Instance) -> vec3<f32> {
    switch style.color_mode {
        case #{MODE_MOLECULE}u: {
            return palette_color(style.first_color, style.color_count, hash(molecule.number));
        }
        case #{MODE_CHAIN}u: {
            return palette_color(style.first_color, style.color_count, sphere.chain);
        }
        case #{MODE_TEMPLATE}u: {
            let kind = molecule.template_and_state & ~COLLIDING;
            return palette_color(style.first_color, style.color_count, kind);
        }
        case #{MODE_GROUP}u: {
            return palette_color(style.first_color, style.color_count, molecule.group);
        }
        case #{MODE_COLLISION}u: {
            let shade = hash(molecule.number);
            if (molecule.template_and_state & COLLIDING) != 0u {
                return palette_color(style.first_colliding, style.colliding_count, shade);
            }
            return palette_color(style.first_color, style.color_count, shade);
        }
        case #{MODE_PENETRATION}u: {
            let depth = saturate(molecule.penetration * style.inverse_max_penetration);
            let last = style.color_count - 1u;
            let step = min(u32(depth * f32(last) + 0.5), last);
            return palette[style.first_color + step].rgb;
        }
        default: {
            return element_color(sphere);
        }
    }
}
