#define_import_path bevy_rapier_molecules::draw::color

// The color of a sphere in each mode.

#import bevy_rapier_molecules::draw::types::{Sphere, Traits, look, palette}

const COLLIDES: u32 = 1u << 31u;

/// One of the colors from `first` on, always the same for a number.
fn one_of(first: u32, count: u32, number: u32) -> vec3<f32> {
    return palette[first + number % count].rgb;
}

/// Numbers in a row become numbers all over the place.
fn scattered(number: u32) -> u32 {
    let mixed = (number ^ (number >> 15u)) * 0x2c1b3c6du;
    return mixed ^ (mixed >> 12u);
}

fn element_color(sphere: Sphere) -> vec3<f32> {
    return vec3(unpack2x16unorm(sphere.red_green), unpack2x16unorm(sphere.blue).x);
}

/// The linear color of a sphere of a molecule.
fn color_of(sphere: Sphere, molecule: Traits) -> vec3<f32> {
    switch look.color_mode {
        case #{MODE_MOLECULE}u: {
            return one_of(#{KINDS_FIRST}u, #{KINDS_COUNT}u, scattered(molecule.number));
        }
        case #{MODE_CHAIN}u: {
            return one_of(#{KINDS_FIRST}u, #{KINDS_COUNT}u, sphere.chain);
        }
        case #{MODE_TEMPLATE}u: {
            let kind = molecule.template_and_state & ~COLLIDES;
            return one_of(#{KINDS_FIRST}u, #{KINDS_COUNT}u, kind);
        }
        case #{MODE_GROUP}u: {
            return one_of(#{KINDS_FIRST}u, #{KINDS_COUNT}u, molecule.group);
        }
        case #{MODE_COLLISION}u: {
            let shade = scattered(molecule.number);
            if (molecule.template_and_state & COLLIDES) != 0u {
                return one_of(#{COLLIDING_FIRST}u, #{SHADES_COUNT}u, shade);
            }
            return one_of(#{FREE_FIRST}u, #{SHADES_COUNT}u, shade);
        }
        case #{MODE_PENETRATION}u: {
            let depth = saturate(molecule.penetration * look.inverse_deep);
            let last = #{DEPTHS_COUNT}u - 1u;
            let step = min(u32(depth * f32(last) + 0.5), last);
            return palette[#{DEPTHS_FIRST}u + step].rgb;
        }
        default: {
            return element_color(sphere);
        }
    }
}
