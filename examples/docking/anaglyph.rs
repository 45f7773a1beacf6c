//! Anaglyph stereo: both eyes in one image, for red and cyan glasses.

use bevy::asset::{load_internal_asset, uuid_handle};
use bevy::camera::RenderTarget;
use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, TextureFormat};
use bevy::shader::ShaderRef;
use bevy::window::WindowRef;

use super::arguments::Stereo;
use super::view::{Eye, OverlayCamera, place_eyes};
use super::view_settings::ViewSettings;

const SHADER: Handle<Shader> = uuid_handle!("5f0f4b38-6a55-4a53-9d26-6f2f6a5f1d07");

/// Render layer of the quad.
pub const ANAGLYPH_LAYER: usize = 1;

/// Renders each eye to an image and combines the images.
pub struct AnaglyphPlugin;

impl Plugin for AnaglyphPlugin {
    fn build(&self, app: &mut App) {
        load_internal_asset!(app, SHADER, "anaglyph.wgsl", Shader::from_wgsl);
        app.add_plugins(MaterialPlugin::<AnaglyphMaterial>::default())
            .add_systems(Startup, spawn)
            .add_systems(PostUpdate, set_render_targets.before(place_eyes));
    }
}

/// Combines the images of both eyes.
#[derive(Asset, AsBindGroup, Clone, Debug, TypePath)]
struct AnaglyphMaterial {
    #[texture(0)]
    #[sampler(1)]
    left: Handle<Image>,
    #[texture(2)]
    #[sampler(3)]
    right: Handle<Image>,
}

impl Material for AnaglyphMaterial {
    fn vertex_shader() -> ShaderRef {
        SHADER.into()
    }

    fn fragment_shader() -> ShaderRef {
        SHADER.into()
    }

    fn enable_prepass() -> bool {
        false
    }

    fn enable_shadows() -> bool {
        false
    }
}

/// The full-screen quad that shows the images, and their size in pixels.
#[derive(Component)]
struct AnaglyphQuad(UVec2);

fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
    commands.spawn((
        AnaglyphQuad(UVec2::ZERO),
        // The vertex shader takes its corners as clip coordinates.
        Mesh3d(meshes.add(Rectangle::new(2.0, 2.0))),
        NoFrustumCulling,
        RenderLayers::layer(ANAGLYPH_LAYER),
        Visibility::Hidden,
    ));
}

/// Sets the render target of each eye: an image, or the window.
fn set_render_targets(
    mut commands: Commands,
    settings: Res<ViewSettings>,
    mut images: ResMut<Assets<Image>>,
    mut materials: ResMut<Assets<AnaglyphMaterial>>,
    overlay: Query<&Camera, With<OverlayCamera>>,
    mut quads: Query<(Entity, &mut AnaglyphQuad, &mut Visibility)>,
    mut eyes: Query<(&Eye, &mut RenderTarget)>,
) {
    let Ok((entity, mut anaglyph, mut visibility)) = quads.single_mut() else {
        return;
    };
    let size = overlay.iter().find_map(Camera::physical_target_size);
    let wanted = size.filter(|_| settings.stereo == Stereo::Anaglyph);
    // Recreate the images when the window is resized.
    if anaglyph.0 == wanted.unwrap_or_default() {
        return;
    }
    anaglyph.0 = wanted.unwrap_or_default();
    let Some(size) = wanted.filter(|size| size.min_element() > 0) else {
        *visibility = Visibility::Hidden;
        for (_, mut target) in &mut eyes {
            *target = RenderTarget::Window(WindowRef::Primary);
        }
        return;
    };
    let format = TextureFormat::Rgba8UnormSrgb;
    let [left, right] =
        [(); 2].map(|()| images.add(Image::new_target_texture(size.x, size.y, format, None)));
    for (eye, mut target) in &mut eyes {
        let image = if eye.is_left() { &left } else { &right };
        *target = RenderTarget::Image(image.clone().into());
    }
    let material = materials.add(AnaglyphMaterial { left, right });
    commands.entity(entity).insert(MeshMaterial3d(material));
    *visibility = Visibility::Visible;
}
