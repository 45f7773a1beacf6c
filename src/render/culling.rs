//! Frustum culling and level of detail: the draws of a set of instances in a view.
//!
//! 1. A molecule whose bounding sphere is outside of the frustum is skipped.
//! 2. The others get a level of detail by their size on the screen.
//! 3. Molecules with the same template and level form a batch: one draw call.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

use super::instanced_molecules::Similarity;
use super::mirrored_list::MirroredList;
use super::style::{MoleculeStyle, ProxyOverlay};
use super::template_spheres::{DetailLevel, TemplateSpheres};
use crate::gpu::GpuPose;

/// Vertices per sphere: a triangle around its disk.
pub(super) const SPHERE_VERTICES: u32 = 3;

/// Minimum distance for sizes on the screen, nm.
const MIN_DISTANCE: f32 = 1.0e-3;

/// Attributes of a molecule except its pose, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuInstance {
    /// Number that selects its color in [`ColorMode::Molecule`](super::ColorMode::Molecule).
    pub number: u32,
    /// Index of its template; the highest bit is set if it collides.
    pub template_and_state: u32,
    /// Its group.
    pub group: u32,
    /// Its deepest overlap, nm.
    pub penetration: f32,
    /// Color painted over it: alpha and the square roots of linear red, green and blue, 8-bit unorm
    /// each.
    pub tint: u32,
    /// Color of its highlight, packed like `tint`.
    pub highlight: u32,
    /// Fraction of the pixels that are drawn, from 0 to 1.
    pub opacity: f32,
}

impl GpuInstance {
    /// The bit of `template_and_state` of a colliding molecule.
    pub const COLLIDING: u32 = 1 << 31;

    pub(super) fn template(&self) -> u32 {
        self.template_and_state & !Self::COLLIDING
    }
}

/// Molecules of one template in one level of detail, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuBatch {
    /// Rotation from the frame of the instances to the world: x, y, z, w.
    pub rotation: [f32; 4],
    /// Origin of the frame of the instances in the world, nm.
    pub position: [f32; 3],
    /// Scale of the frame of the instances.
    pub scale: f32,
    /// Index of the first molecule in the list of visible molecules.
    pub first_visible: u32,
    /// Index of the first sphere.
    pub first_sphere: u32,
    /// Number of spheres per molecule.
    pub sphere_count: u32,
    /// Fraction of the pixels that are drawn, from 0 to 1.
    pub opacity: f32,
    /// Color painted over all molecules, packed like that of an instance.
    pub tint: u32,
    /// Color of the highlight of molecules without their own, packed like `tint`.
    pub highlight: u32,
    /// Padding.
    pub spare: [u32; 2],
}

/// The look that all molecules of a set share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SetLook {
    /// From 0 to 1.
    pub opacity: f32,
    /// As in [`GpuBatch`].
    pub tint: u32,
    /// As in [`GpuBatch`].
    pub highlight: u32,
}

impl Default for SetLook {
    fn default() -> Self {
        Self {
            opacity: 1.0,
            tint: 0,
            highlight: 0,
        }
    }
}

/// The frustum of a view, and its scale in pixels.
#[derive(Clone, Debug)]
pub(super) struct ViewFrustum {
    /// Half spaces with unit normals: a point `p` is inside if `normal · p + w ≥ 0`.
    planes: Vec<Vec4>,
    eye: Vec3,
    forward: Vec3,
    orthographic: bool,
    /// Pixels per nanometer: everywhere if orthographic, else at a distance of 1 nm.
    pixels: f32,
}

impl ViewFrustum {
    /// From the projection, the camera's matrix and the height of the view in pixels.
    pub fn new(clip_from_view: Mat4, world_from_view: Mat4, height: f32) -> Self {
        let clip_from_world = clip_from_view * world_from_view.inverse();
        let [x, y, z, w] = [0, 1, 2, 3].map(|row| clip_from_world.row(row));
        // −w ≤ x ≤ w, −w ≤ y ≤ w and 0 ≤ z ≤ w; a far plane at infinity has no normal.
        let planes = [w + x, w - x, w + y, w - y, w - z, z];
        let unit = |plane: Vec4| {
            let length = plane.xyz().length();
            (length > 1.0e-12 && length.is_finite()).then(|| plane / length)
        };
        Self {
            planes: planes.into_iter().filter_map(unit).collect(),
            eye: world_from_view.w_axis.xyz(),
            forward: -world_from_view.z_axis.xyz().normalize_or_zero(),
            orthographic: clip_from_view.w_axis.w == 1.0,
            pixels: 0.5 * height * clip_from_view.y_axis.y.abs(),
        }
    }

    pub fn intersects(&self, center: Vec3, radius: f32) -> bool {
        let inside = |plane: &Vec4| plane.xyz().dot(center) + plane.w >= -radius;
        self.planes.iter().all(inside)
    }

    /// Distance in front of the camera, nm.
    pub fn depth(&self, point: Vec3) -> f32 {
        (point - self.eye).dot(self.forward)
    }

    /// Pixels per nanometer at a distance in front of the camera.
    pub fn pixels_per_nm(&self, depth: f32) -> f32 {
        if self.orthographic {
            self.pixels
        } else {
            self.pixels / depth.max(MIN_DISTANCE)
        }
    }
}

/// A set of instances to cull.
#[derive(Clone, Copy)]
pub(super) struct CullingInput<'a> {
    pub poses: &'a [GpuPose],
    pub instances: &'a [GpuInstance],
    pub templates: &'a [TemplateInSet],
    /// From the frame of the instances to the world.
    pub transform: Similarity,
    pub look: SetLook,
    /// Whether the GPU has newer poses, so that nothing may be culled.
    pub poses_are_outdated: bool,
}

/// The spheres of a template, and their position in the sphere buffer of a set.
#[derive(Clone, Debug)]
pub(super) struct TemplateInSet {
    pub spheres: std::sync::Arc<TemplateSpheres>,
    pub first_sphere: u32,
}

/// The visible molecules of a set in a view. Buffers are reused across frames.
#[derive(Clone, Debug, Default)]
pub(super) struct VisibleMolecules {
    /// Indices of the molecules, batch by batch.
    pub molecules: MirroredList<u32>,
    pub batches: MirroredList<GpuBatch>,
    /// Number of vertices of each batch.
    pub vertices: Vec<u32>,
    /// Distances of the nearest and the farthest visible surface, nm.
    pub depths: Option<(f32, f32)>,
    /// Molecules of each level of each template.
    buckets: Vec<Vec<u32>>,
}

impl VisibleMolecules {
    /// Culls `input` and forms batches.
    pub fn update(&mut self, view: &ViewFrustum, input: &CullingInput, style: &MoleculeStyle) {
        let first_buckets = self.clear(input.templates);
        let transform = &input.transform;
        for (index, (pose, instance)) in input.poses.iter().zip(input.instances).enumerate() {
            let template = instance.template() as usize;
            let Some(TemplateInSet { spheres, .. }) = input.templates.get(template) else {
                continue;
            };
            let center = transform.transform_point(Vec3::from(pose.position));
            let radius = spheres.scaled_radius(style.radius_scale) * transform.scale;
            if !input.poses_are_outdated && !view.intersects(center, radius) {
                continue;
            }
            let depth = view.depth(center);
            let (near, far) = self.depths.unwrap_or((f32::MAX, f32::MIN));
            self.depths = Some((near.min(depth - radius), far.max(depth + radius)));
            let pixels = view.pixels_per_nm(depth - radius) * transform.scale;
            let level = spheres.level(style.detail, pixels);
            self.buckets[first_buckets[template] + level].push(index as u32);
        }
        self.collect_batches(input, &first_buckets, style.proxies);
    }

    /// Clears all buffers and returns the first bucket of each template.
    fn clear(&mut self, templates: &[TemplateInSet]) -> Vec<usize> {
        self.molecules.restart();
        self.batches.restart();
        self.vertices.clear();
        self.depths = None;
        let mut first_buckets = Vec::with_capacity(templates.len());
        let mut count = 0;
        for template in templates {
            first_buckets.push(count);
            count += template.spheres.levels.len();
        }
        self.buckets.iter_mut().for_each(Vec::clear);
        self.buckets.resize_with(count, Vec::new);
        first_buckets
    }

    fn collect_batches(
        &mut self,
        input: &CullingInput,
        first_buckets: &[usize],
        overlay: Option<ProxyOverlay>,
    ) {
        let buckets = std::mem::take(&mut self.buckets);
        for (template, &first) in input.templates.iter().zip(first_buckets) {
            let levels = &template.spheres.levels;
            let buckets = &buckets[first..][..levels.len()];
            for (level, bucket) in levels.iter().zip(buckets) {
                self.push_batches(input, template, level, bucket, 1.0);
            }
            if let Some(overlay) = overlay {
                let mut sets = template.spheres.proxies.iter();
                if let Some((_, level)) = sets.find(|(count, _)| *count == overlay.count) {
                    // Over the molecules of all levels.
                    for bucket in buckets {
                        self.push_batches(input, template, level, bucket, overlay.opacity);
                    }
                }
            }
        }
        self.buckets = buckets;
    }

    /// Draws molecules of one template as the spheres of `level`, with this fraction of the
    /// opacity of the set.
    fn push_batches(
        &mut self,
        input: &CullingInput,
        template: &TemplateInSet,
        level: &DetailLevel,
        molecules: &[u32],
        opacity: f32,
    ) {
        // A draw has less than 2³² vertices.
        let max_molecules = (u32::MAX / SPHERE_VERTICES / level.count).max(1);
        let Similarity { pose, scale } = input.transform;
        for part in molecules.chunks(max_molecules as usize) {
            self.batches.push(GpuBatch {
                rotation: pose.rotation.to_array(),
                position: pose.position.to_array(),
                scale,
                first_visible: self.molecules.len() as u32,
                first_sphere: template.first_sphere + level.first,
                sphere_count: level.count,
                opacity: opacity * input.look.opacity,
                tint: input.look.tint,
                highlight: input.look.highlight,
                spare: [0; 2],
            });
            self.vertices
                .push(part.len() as u32 * level.count * SPHERE_VERTICES);
            self.molecules.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;
    use std::sync::Arc;

    use glam::Quat;

    use super::*;
    use crate::molecule::{LoadOptions, load};
    use crate::pose::Pose;
    use crate::render::palette::MoleculePalette;
    use crate::render::style::DrawDetail;

    const HEIGHT: f32 = 360.0;
    const PROXIES: u32 = 5;

    fn perspective() -> ViewFrustum {
        let projection = Mat4::perspective_infinite_reverse_rh(FRAC_PI_2, 1.0, 0.1);
        ViewFrustum::new(projection, Mat4::from_translation(Vec3::Z * 10.0), HEIGHT)
    }

    fn orthographic() -> ViewFrustum {
        // Reversed depth, as in Bevy.
        let projection = Mat4::orthographic_rh(-5.0, 5.0, -5.0, 5.0, 100.0, 0.0);
        ViewFrustum::new(projection, Mat4::from_translation(Vec3::Z * 10.0), HEIGHT)
    }

    #[test]
    fn balls_are_visible_if_they_reach_into_the_frustum() {
        let view = perspective();
        assert!(view.intersects(Vec3::ZERO, 0.1));
        assert!(!view.intersects(Vec3::Z * 11.0, 0.5), "behind the camera");
        assert!(view.intersects(Vec3::Z * 11.0, 1.2), "around the camera");
        // At a distance of 10 nm the view is 10 nm wide to either side.
        let side = 1.0 / 2.0_f32.sqrt();
        assert!(view.intersects(Vec3::X * 11.0, side + 0.01));
        assert!(!view.intersects(Vec3::X * 11.0, side - 0.01));
        assert!(view.intersects(Vec3::Z * -1.0e6, 0.1), "no far plane");
        let view = orthographic();
        assert!(view.intersects(Vec3::X * 5.5, 0.51) && !view.intersects(Vec3::X * 5.5, 0.49));
        assert!(
            !view.intersects(Vec3::Z * -91.0, 0.9),
            "beyond the far plane"
        );
        assert!(
            !view.intersects(Vec3::Z * 10.6, 0.5),
            "before the near plane"
        );
    }

    #[test]
    fn sizes_on_the_screen_follow_the_projection() {
        // 20 nm are 360 pixels high at a distance of 10 nm.
        assert!((perspective().pixels_per_nm(10.0) - 18.0).abs() < 1.0e-4);
        assert!((orthographic().pixels_per_nm(3.0) - 36.0).abs() < 1.0e-4);
        assert!(perspective().pixels_per_nm(-1.0).is_finite());
    }

    /// Molecules of two alternating templates.
    struct Row {
        poses: Vec<GpuPose>,
        instances: Vec<GpuInstance>,
        templates: Vec<TemplateInSet>,
    }

    impl Row {
        /// Along x, 1 nm apart.
        fn new(count: u32) -> Self {
            let mut first_sphere = 0;
            let templates = ["p_xylene.pdb", "popc.pdb"].map(|file| {
                let path = format!("assets/molecules/{file}");
                let template = load(path, &LoadOptions::default()).unwrap();
                let template = TemplateInSet {
                    first_sphere,
                    spheres: Arc::new(TemplateSpheres::new(
                        &template,
                        &[PROXIES],
                        &MoleculePalette::default(),
                    )),
                };
                first_sphere += template.spheres.spheres.len() as u32;
                template
            });
            let pose = |k| Pose::from_translation(Vec3::X * (k as f32 - 0.5 * count as f32));
            let colliding = |k: u32| k.is_multiple_of(3).then_some(GpuInstance::COLLIDING);
            let instance = |k| GpuInstance {
                number: k,
                template_and_state: (k % 2) | colliding(k).unwrap_or(0),
                ..GpuInstance::default()
            };
            Self {
                poses: (0..count).map(|k| GpuPose::from(pose(k))).collect(),
                instances: (0..count).map(instance).collect(),
                templates: templates.to_vec(),
            }
        }

        fn input(&self) -> CullingInput<'_> {
            CullingInput {
                poses: &self.poses,
                instances: &self.instances,
                templates: &self.templates,
                transform: Similarity::default(),
                look: SetLook::default(),
                poses_are_outdated: false,
            }
        }

        fn template_of(&self, molecule: u32) -> &TemplateInSet {
            &self.templates[self.instances[molecule as usize].template() as usize]
        }
    }

    #[test]
    fn batches_contain_exactly_the_visible_molecules() {
        let row = Row::new(101);
        let transform = Similarity {
            pose: Pose::new(Vec3::new(1.0, 2.0, -3.0), Quat::from_rotation_z(0.4)),
            scale: 1.5,
        };
        let input = CullingInput {
            transform,
            ..row.input()
        };
        let style = MoleculeStyle::default();
        let mut visible = VisibleMolecules::default();
        for view in [perspective(), orthographic()] {
            // Twice, to check that state from the previous frame is cleared.
            visible.update(&view, &input, &style);
            visible.update(&view, &input, &style);
            let mut found = visible.molecules.to_vec();
            found.sort_unstable();
            let expected = (0..101).filter(|&k| {
                let center = transform.transform_point(row.poses[k as usize].position.into());
                view.intersects(center, row.template_of(k).spheres.bounding_radius * 1.5)
            });
            assert_eq!(found, expected.collect::<Vec<u32>>());
            assert!((1..100).contains(&found.len()));
            let mut covered = 0;
            for (batch, vertices) in visible.batches.iter().zip(&visible.vertices) {
                let count = vertices / SPHERE_VERTICES / batch.sphere_count;
                assert_eq!(batch.first_visible, covered);
                covered += count;
                for k in batch.first_visible..covered {
                    let template = row.template_of(visible.molecules[k as usize]);
                    assert!(template.spheres.levels.iter().any(|level| {
                        batch.first_sphere == template.first_sphere + level.first
                            && batch.sphere_count == level.count
                    }));
                }
            }
            assert_eq!(covered as usize, visible.molecules.len());
        }
    }

    #[test]
    fn proxies_are_drawn_over_all_levels() {
        let row = Row::new(40);
        let input = CullingInput {
            look: SetLook {
                opacity: 0.5,
                tint: 7,
                highlight: 9,
            },
            ..row.input()
        };
        let mut style = MoleculeStyle::default();
        let mut visible = VisibleMolecules::default();
        visible.update(&perspective(), &input, &style);
        let plain = visible.clone();
        let overlay = ProxyOverlay {
            count: PROXIES,
            opacity: 0.5,
        };
        style.proxies = Some(overlay);
        visible.update(&perspective(), &input, &style);
        let is_proxies = |batch: &GpuBatch| batch.opacity == 0.25;
        let batches = visible.batches.iter();
        let atoms: Vec<_> = batches.filter(|batch| !is_proxies(batch)).collect();
        assert_eq!(atoms.len(), plain.batches.len());
        assert!(atoms.iter().all(|batch| batch.opacity == 0.5));
        let mut batches = visible.batches.iter();
        assert!(batches.all(|batch| (batch.tint, batch.highlight) == (7, 9)));
        let mut drawn = 0;
        for (batch, vertices) in visible.batches.iter().zip(&visible.vertices) {
            if is_proxies(batch) {
                assert_eq!(batch.sphere_count, PROXIES);
                drawn += vertices / SPHERE_VERTICES / PROXIES;
            }
        }
        assert_eq!(drawn as usize, plain.molecules.len());
        // A number of proxies that was not prepared shows none.
        style.proxies = Some(ProxyOverlay {
            count: PROXIES + 1,
            ..overlay
        });
        visible.update(&perspective(), &input, &style);
        assert_eq!(*visible.molecules, *plain.molecules);
    }

    #[test]
    fn distant_molecules_have_fewer_spheres() {
        let row = Row::new(2);
        let spheres = |distance: f32, detail| {
            let input = CullingInput {
                transform: Similarity {
                    pose: Pose::from_translation(Vec3::Z * -distance),
                    scale: 1.0,
                },
                ..row.input()
            };
            let style = MoleculeStyle {
                detail,
                ..MoleculeStyle::default()
            };
            let mut visible = VisibleMolecules::default();
            visible.update(&perspective(), &input, &style);
            visible.vertices.iter().sum::<u32>() / SPHERE_VERTICES
        };
        let auto = DrawDetail::default();
        assert_eq!(spheres(0.0, auto), 18 + 134);
        assert!(spheres(200.0, auto) < 40);
        assert!(spheres(2000.0, auto) <= spheres(200.0, auto));
        assert_eq!(spheres(2000.0, DrawDetail::Atoms), 18 + 134);
    }

    #[test]
    fn an_empty_set_has_no_draws() {
        let mut visible = VisibleMolecules::default();
        let empty = Row {
            poses: Vec::new(),
            instances: Vec::new(),
            templates: Vec::new(),
        };
        visible.update(&perspective(), &empty.input(), &MoleculeStyle::default());
        assert!(visible.batches.is_empty() && visible.depths.is_none());
    }
}
