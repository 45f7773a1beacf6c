//! How molecules look in a view, for the shader.

use bevy::color::ColorToComponents;
use bytemuck::{Pod, Zeroable};

use super::look::MoleculeLook;

/// How molecules look in a view, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuLook {
    /// Number of the color mode.
    pub color_mode: u32,
    /// How dark hidden places are, from 0 to 1.
    pub occlusion: f32,
    /// How dark rims are, from 0 to 1.
    pub contours: f32,
    /// Brightness of the light from the camera.
    pub headlight: f32,
    /// Factor of all radii.
    pub radius_scale: f32,
    /// One over the overlap that has the last color, 1/nm.
    pub inverse_deep: f32,
    /// Distance where fog begins, nm.
    pub fog_start: f32,
    /// One over the distance from there to where it is full, 1/nm.
    pub fog_per_nm: f32,
    /// Color of the fog, linear.
    pub fog_color: [f32; 3],
    /// How much of what is farthest is fog, from 0 to 1.
    pub fog_strength: f32,
}

impl GpuLook {
    /// `depths` are the distances of the nearest and the farthest surface in view, nm.
    pub(super) fn new(look: &MoleculeLook, depths: Option<(f32, f32)>) -> Self {
        let cue = &look.depth_cue;
        let (start, end) = cue.range.or(depths).unwrap_or((0.0, 1.0));
        let start = if start.is_finite() {
            start.max(0.0)
        } else {
            0.0
        };
        let length = (end - start).max(1.0e-3);
        Self {
            color_mode: look.color.number(),
            occlusion: look.ambient_occlusion,
            contours: look.contours,
            headlight: look.headlight,
            radius_scale: look.radius_scale,
            inverse_deep: 1.0 / look.deep,
            fog_start: start,
            fog_per_nm: if length.is_finite() {
                1.0 / length
            } else {
                0.0
            },
            fog_color: cue.color.to_linear().to_f32_array_no_alpha(),
            fog_strength: cue.strength,
        }
    }
}
