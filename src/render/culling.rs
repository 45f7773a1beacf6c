//! Which molecules a view sees, and in what detail: the draws of a view.
//!
//! 1. A molecule whose bounding ball is outside of one of the view's planes is left out.
//! 2. The others get a level of detail by their size on the screen.
//! 3. Those with the same template and level make a run: one draw.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};

use super::instanced_molecules::Similarity;
use super::style::{MoleculeStyle, ProxyOverlay};
use super::template_spheres::{Level, TemplateSpheres};
use crate::gpu::GpuPose;

/// Vertices that the shader makes for a sphere: a triangle around its disk.
pub(super) const SPHERE_VERTICES: u32 = 3;

/// Nearest distance at which sizes on the screen are told apart, nm.
const NEAREST: f32 = 1.0e-3;

/// What a molecule is, apart from its pose, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuInstance {
    /// Number that tells it from its neighbors.
    pub number: u32,
    /// Index of its template; the highest bit says that it collides.
    pub template_and_state: u32,
    /// Its group.
    pub group: u32,
    /// Its deepest overlap, nm.
    pub penetration: f32,
}

impl GpuInstance {
    /// The bit of `template_and_state` that says that a molecule collides.
    pub const COLLIDES: u32 = 1 << 31;

    pub(super) fn template(&self) -> u32 {
        self.template_and_state & !Self::COLLIDES
    }
}

/// Molecules of one template in one level of detail, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuBatch {
    /// Rotation of the crowd's frame: x, y, z, w.
    pub rotation: [f32; 4],
    /// Origin of the crowd's frame in the world, nm.
    pub position: [f32; 3],
    /// Scale of the crowd's frame.
    pub scale: f32,
    /// Where its molecules begin in the list of visible molecules.
    pub first_visible: u32,
    /// Where its spheres begin in the list of spheres.
    pub first_sphere: u32,
    /// How many spheres each molecule has.
    pub sphere_count: u32,
    /// How much of what is behind is hidden, from 0 to 1.
    pub opacity: f32,
}

/// What a view sees of space.
#[derive(Clone, Debug)]
pub(super) struct ViewSpace {
    /// Half spaces: a point `p` is in if `normal · p + w ≥ 0`. Unit normals.
    planes: Vec<Vec4>,
    eye: Vec3,
    forward: Vec3,
    orthographic: bool,
    /// Pixels of a nanometer: everywhere if orthographic, else at a distance of 1 nm.
    pixels: f32,
}

impl ViewSpace {
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

    /// Whether some of a ball may be in view.
    pub fn sees(&self, center: Vec3, radius: f32) -> bool {
        let inside = |plane: &Vec4| plane.xyz().dot(center) + plane.w >= -radius;
        self.planes.iter().all(inside)
    }

    /// Distance in front of the camera, nm.
    pub fn depth(&self, point: Vec3) -> f32 {
        (point - self.eye).dot(self.forward)
    }

    /// Pixels of a nanometer at a distance in front of the camera.
    pub fn pixels_per_nm(&self, depth: f32) -> f32 {
        if self.orthographic {
            self.pixels
        } else {
            self.pixels / depth.max(NEAREST)
        }
    }
}

/// What there is to draw of a crowd.
pub(super) struct InstanceView<'a> {
    pub poses: &'a [GpuPose],
    pub traits: &'a [GpuInstance],
    pub bodies: &'a [TemplateInSet],
    pub place: Similarity,
    /// From 0 to 1.
    pub opacity: f32,
    /// Whether molecules may be elsewhere by now.
    pub anywhere: bool,
}

/// A template's spheres, and where the crowd's list has them.
#[derive(Clone, Debug)]
pub(super) struct TemplateInSet {
    pub body: std::sync::Arc<TemplateSpheres>,
    pub first_sphere: u32,
}

/// What is drawn of a crowd in a view. Buffers are kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Visible {
    /// Molecules by index, one run after the other.
    pub molecules: Vec<u32>,
    pub runs: Vec<GpuBatch>,
    /// For each run the number of its vertices.
    pub vertices: Vec<u32>,
    /// Distances of the nearest and the farthest visible surface, nm.
    pub depths: Option<(f32, f32)>,
    /// For each level of each template the molecules that are drawn in it.
    buckets: Vec<Vec<u32>>,
}

impl Visible {
    /// Finds out what `view` sees of `shown`.
    pub fn update(&mut self, view: &ViewSpace, shown: &InstanceView, look: &MoleculeStyle) {
        let firsts = self.clear(shown.bodies);
        let place = &shown.place;
        for (index, (pose, traits)) in shown.poses.iter().zip(shown.traits).enumerate() {
            let template = traits.template() as usize;
            let Some(TemplateInSet { body, .. }) = shown.bodies.get(template) else {
                continue;
            };
            let center = place.transform_point(Vec3::from(pose.position));
            let radius = body.scaled_radius(look.radius_scale) * place.scale;
            if !shown.anywhere && !view.sees(center, radius) {
                continue;
            }
            let depth = view.depth(center);
            let (near, far) = self.depths.unwrap_or((f32::MAX, f32::MIN));
            self.depths = Some((near.min(depth - radius), far.max(depth + radius)));
            let pixels = view.pixels_per_nm(depth - radius) * place.scale;
            let level = body.level(look.detail, pixels);
            self.buckets[firsts[template] + level].push(index as u32);
        }
        self.collect_runs(shown, &firsts, look.proxies);
    }

    /// Empties everything and returns the first bucket of each template.
    fn clear(&mut self, bodies: &[TemplateInSet]) -> Vec<usize> {
        self.molecules.clear();
        self.runs.clear();
        self.vertices.clear();
        self.depths = None;
        let mut firsts = Vec::with_capacity(bodies.len());
        let mut count = 0;
        for body in bodies {
            firsts.push(count);
            count += body.body.levels.len();
        }
        self.buckets.iter_mut().for_each(Vec::clear);
        self.buckets.resize_with(count, Vec::new);
        firsts
    }

    fn collect_runs(
        &mut self,
        shown: &InstanceView,
        firsts: &[usize],
        overlay: Option<ProxyOverlay>,
    ) {
        let mut buckets = std::mem::take(&mut self.buckets);
        for (known, &first) in shown.bodies.iter().zip(firsts) {
            let buckets = &mut buckets[first..][..known.body.levels.len()];
            for (level, bucket) in known.body.levels.iter().zip(&*buckets) {
                self.push_runs(shown, known, level, bucket, shown.opacity);
            }
            let proxies = overlay.and_then(|overlay| {
                let mut sets = known.body.proxies.iter();
                let (_, level) = sets.find(|(count, _)| *count == overlay.count)?;
                Some((level, overlay.opacity))
            });
            if let Some((level, opacity)) = proxies {
                // Whatever the atoms look like.
                for bucket in buckets {
                    self.push_runs(shown, known, level, bucket, opacity * shown.opacity);
                }
            }
        }
        self.buckets = buckets;
    }

    /// Draws molecules of one template as the spheres of `level`.
    fn push_runs(
        &mut self,
        shown: &InstanceView,
        known: &TemplateInSet,
        level: &Level,
        molecules: &[u32],
        opacity: f32,
    ) {
        // A draw has at most 2³² vertices.
        let most = (u32::MAX / SPHERE_VERTICES / level.count).max(1);
        for part in molecules.chunks(most as usize) {
            let Similarity { pose, scale } = shown.place;
            self.runs.push(GpuBatch {
                rotation: pose.rotation.to_array(),
                position: pose.position.to_array(),
                scale,
                first_visible: self.molecules.len() as u32,
                first_sphere: known.first_sphere + level.first,
                sphere_count: level.count,
                opacity,
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
    use crate::render::style::DrawDetail;

    const HEIGHT: f32 = 360.0;
    const PROXIES: u32 = 5;

    fn perspective() -> ViewSpace {
        let projection = Mat4::perspective_infinite_reverse_rh(FRAC_PI_2, 1.0, 0.1);
        ViewSpace::new(projection, Mat4::from_translation(Vec3::Z * 10.0), HEIGHT)
    }

    fn orthographic() -> ViewSpace {
        // Near and far change places, as Bevy has them.
        let projection = Mat4::orthographic_rh(-5.0, 5.0, -5.0, 5.0, 100.0, 0.0);
        ViewSpace::new(projection, Mat4::from_translation(Vec3::Z * 10.0), HEIGHT)
    }

    #[test]
    fn balls_are_seen_if_they_reach_into_the_view() {
        let view = perspective();
        assert!(view.sees(Vec3::ZERO, 0.1));
        assert!(!view.sees(Vec3::Z * 11.0, 0.5), "behind");
        assert!(view.sees(Vec3::Z * 11.0, 1.2), "reaches past the camera");
        // At a distance of 10 nm the view is 10 nm wide to either side.
        let side = 1.0 / 2.0_f32.sqrt();
        assert!(view.sees(Vec3::X * 11.0, side + 0.01));
        assert!(!view.sees(Vec3::X * 11.0, side - 0.01));
        assert!(view.sees(Vec3::Z * -1.0e6, 0.1), "there is no far plane");
        let view = orthographic();
        assert!(view.sees(Vec3::X * 5.5, 0.51) && !view.sees(Vec3::X * 5.5, 0.49));
        assert!(!view.sees(Vec3::Z * -91.0, 0.9), "beyond the far plane");
        assert!(!view.sees(Vec3::Z * 10.6, 0.5), "before the near plane");
    }

    #[test]
    fn sizes_on_the_screen_are_those_of_the_projection() {
        // 20 nm are 360 pixels high at a distance of 10 nm.
        assert!((perspective().pixels_per_nm(10.0) - 18.0).abs() < 1.0e-4);
        assert!((orthographic().pixels_per_nm(3.0) - 36.0).abs() < 1.0e-4);
        assert!(perspective().pixels_per_nm(-1.0).is_finite());
    }

    /// Molecules of two templates in a row along x, 1 nm apart, alternating.
    fn row(count: u32) -> (Vec<GpuPose>, Vec<GpuInstance>, Vec<TemplateInSet>) {
        let mut first_sphere = 0;
        let bodies = ["p_xylene.pdb", "popc.pdb"].map(|file| {
            let path = format!("assets/molecules/{file}");
            let template = load(path, &LoadOptions::default()).unwrap();
            let body = TemplateSpheres::new(&template, &[PROXIES]);
            let known = TemplateInSet {
                first_sphere,
                body: Arc::new(body),
            };
            first_sphere += known.body.spheres.len() as u32;
            known
        });
        let pose = |k| Pose::from_translation(Vec3::X * (k as f32 - 0.5 * count as f32));
        let traits = |k| GpuInstance {
            number: k,
            template_and_state: (k % 2) | if k % 3 == 0 { GpuInstance::COLLIDES } else { 0 },
            ..GpuInstance::default()
        };
        (
            (0..count).map(|k| GpuPose::from(pose(k))).collect(),
            (0..count).map(traits).collect(),
            bodies.to_vec(),
        )
    }

    #[test]
    fn runs_have_all_that_is_seen_and_nothing_else() {
        let (poses, traits, bodies) = row(101);
        let place = Similarity {
            pose: Pose::new(Vec3::new(1.0, 2.0, -3.0), Quat::from_rotation_z(0.4)),
            scale: 1.5,
        };
        let shown = InstanceView {
            poses: &poses,
            traits: &traits,
            bodies: &bodies,
            place,
            opacity: 1.0,
            anywhere: false,
        };
        let look = MoleculeStyle::default();
        let mut visible = Visible::default();
        for view in [perspective(), orthographic()] {
            // Twice, so that what is kept from the last frame does no harm.
            visible.update(&view, &shown, &look);
            visible.update(&view, &shown, &look);
            let mut found = visible.molecules.clone();
            found.sort_unstable();
            let seen = (0..101).filter(|&k| {
                let body = &bodies[traits[k as usize].template() as usize].body;
                let center = place.transform_point(poses[k as usize].position.into());
                view.sees(center, body.bounding_radius * 1.5)
            });
            assert_eq!(found, seen.collect::<Vec<u32>>());
            assert!((1..100).contains(&found.len()));
            let mut covered = 0;
            for (run, vertices) in visible.runs.iter().zip(&visible.vertices) {
                let count = vertices / SPHERE_VERTICES / run.sphere_count;
                assert_eq!(run.first_visible, covered);
                covered += count;
                for k in run.first_visible..covered {
                    let molecule = visible.molecules[k as usize];
                    let known = &bodies[traits[molecule as usize].template() as usize];
                    let levels = &known.body.levels;
                    assert!(levels.iter().any(|level| {
                        run.first_sphere == known.first_sphere + level.first
                            && run.sphere_count == level.count
                    }));
                }
            }
            assert_eq!(covered as usize, visible.molecules.len());
        }
    }

    #[test]
    fn proxies_lie_over_atoms_of_any_detail() {
        let (poses, traits, bodies) = row(40);
        let shown = InstanceView {
            poses: &poses,
            traits: &traits,
            bodies: &bodies,
            place: Similarity::IDENTITY,
            opacity: 0.5,
            anywhere: false,
        };
        let mut look = MoleculeStyle::default();
        let mut visible = Visible::default();
        visible.update(&perspective(), &shown, &look);
        let plain = visible.clone();
        let overlay = ProxyOverlay {
            count: PROXIES,
            opacity: 0.5,
        };
        look.proxies = Some(overlay);
        visible.update(&perspective(), &shown, &look);
        let is_proxies = |run: &GpuBatch| run.opacity == 0.25;
        let runs = visible.runs.iter();
        let atoms: Vec<_> = runs.filter(|run| !is_proxies(run)).collect();
        assert_eq!(atoms.len(), plain.runs.len());
        assert!(atoms.iter().all(|run| run.opacity == 0.5));
        let runs = visible.runs.iter().zip(&visible.vertices);
        let proxies = runs.filter(|(run, _)| is_proxies(run));
        let mut drawn = 0;
        for (run, vertices) in proxies {
            assert_eq!(run.sphere_count, PROXIES);
            drawn += vertices / SPHERE_VERTICES / PROXIES;
        }
        assert_eq!(drawn as usize, plain.molecules.len());
        // A number that was not prepared shows none.
        look.proxies = Some(ProxyOverlay {
            count: PROXIES + 1,
            ..overlay
        });
        visible.update(&perspective(), &shown, &look);
        assert_eq!(visible.molecules, plain.molecules);
    }

    #[test]
    fn far_molecules_have_fewer_spheres() {
        let (poses, traits, bodies) = row(2);
        let spheres = |away: f32, detail| {
            let shown = InstanceView {
                poses: &poses,
                traits: &traits,
                bodies: &bodies,
                place: Similarity {
                    pose: Pose::from_translation(Vec3::Z * -away),
                    scale: 1.0,
                },
                opacity: 1.0,
                anywhere: false,
            };
            let look = MoleculeStyle {
                detail,
                ..MoleculeStyle::default()
            };
            let mut visible = Visible::default();
            visible.update(&perspective(), &shown, &look);
            visible.vertices.iter().sum::<u32>() / SPHERE_VERTICES
        };
        let auto = DrawDetail::default();
        assert_eq!(spheres(0.0, auto), 18 + 134);
        assert!(spheres(200.0, auto) < 40);
        assert!(spheres(2000.0, auto) <= spheres(200.0, auto));
        assert_eq!(spheres(2000.0, DrawDetail::Atoms), 18 + 134);
    }

    #[test]
    fn an_empty_crowd_has_no_draws() {
        let mut visible = Visible::default();
        let shown = InstanceView {
            poses: &[],
            traits: &[],
            bodies: &[],
            place: Similarity::IDENTITY,
            opacity: 1.0,
            anywhere: false,
        };
        visible.update(&perspective(), &shown, &MoleculeStyle::default());
        assert!(visible.runs.is_empty() && visible.depths.is_none());
    }
}
