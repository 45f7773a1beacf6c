// Half-color anaglyph: red is the luminance of the left eye, green and blue are those of the
// right eye. This causes less retinal rivalry than a full-color anaglyph.

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

// Luminance of linear colors (ITU-R BT.709).
const LUMINANCE = vec3<f32>(0.2126, 0.7152, 0.0722);

@fragment
fn fragment(in: Varyings) -> @location(0) vec4<f32> {
    let left_color = textureSample(left, left_sampler, in.uv).rgb;
    let right_color = textureSample(right, right_sampler, in.uv).rgb;
    return vec4<f32>(dot(left_color, LUMINANCE), right_color.gb, 1.0);
}
