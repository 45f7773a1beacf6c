// Two pictures as one for red and cyan glasses: the left eye's brightness is red, the right
// eye's colors are green and blue ("half color", which tires less than red colors that
// one eye does not see).

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var left: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(1) var left_sampler: sampler;
@group(#{MATERIAL_BIND_GROUP}) @binding(2) var right: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(3) var right_sampler: sampler;

struct Varyings {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

@vertex
fn vertex(@location(0) position: vec3<f32>, @location(2) uv: vec2<f32>) -> Varyings {
    return Varyings(vec4(position.xy, 0.5, 1.0), uv);
}

// Brightness of linear colors (ITU-R BT.709).
const BRIGHTNESS = vec3<f32>(0.2126, 0.7152, 0.0722);

@fragment
fn fragment(in: Varyings) -> @location(0) vec4<f32> {
    let seen_left = textureSample(left, left_sampler, in.uv).rgb;
    let seen_right = textureSample(right, right_sampler, in.uv).rgb;
    return vec4<f32>(dot(seen_left, BRIGHTNESS), seen_right.gb, 1.0);
}
