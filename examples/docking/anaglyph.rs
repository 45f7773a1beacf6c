//! Both eyes' pictures in one, for red and cyan glasses.

use bevy::asset::{load_internal_asset, uuid_handle};
use bevy::camera::RenderTarget;
use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::prelude::*;
use bevy::render::render_resource::{AsBindGroup, TextureFormat};
use bevy::shader::ShaderRef;
use bevy::window::WindowRef;

use super::arguments::Stereo;
use super::view::{Eye, Front, place_eyes};
use super::view_settings::Switches;

const SHADER: Handle<Shader> = uuid_handle!("5f0f4b38-6a55-4a53-9d26-6f2f6a5f1d07");

/// Render layer of the pane.
pub const PANE_LAYER: usize = 1;

/// Lets each eye draw its own picture, and puts them together.
pub struct AnaglyphPlugin;

impl Plugin for AnaglyphPlugin {
    fn build(&self, app: &mut App) {
        load_internal_asset!(app, SHADER, "anaglyph.wgsl", Shader::from_wgsl);
        app.add_plugins(MaterialPlugin::<Glasses>::default())
            .add_systems(Startup, spawn)
            .add_systems(PostUpdate, aim_eyes.before(place_eyes));
    }
}

/// What the glasses see.
#[derive(Asset, AsBindGroup, Clone, Debug, TypePath)]
struct Glasses {
    #[texture(0)]
    #[sampler(1)]
    left: Handle<Image>,
    #[texture(2)]
    #[sampler(3)]
    right: Handle<Image>,
}

impl Material for Glasses {
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

/// The pane that shows both pictures, and their size in pixels.
#[derive(Component)]
struct Pane(UVec2);

fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
    commands.spawn((
        Pane(UVec2::ZERO),
        // The vertex shader takes its corners as clip coordinates.
        Mesh3d(meshes.add(Rectangle::new(2.0, 2.0))),
        NoFrustumCulling,
        RenderLayers::layer(PANE_LAYER),
        Visibility::Hidden,
    ));
}

/// Where each eye draws: into its own picture, or to the window.
fn aim_eyes(
    mut commands: Commands,
    switches: Res<Switches>,
    mut images: ResMut<Assets<Image>>,
    mut materials: ResMut<Assets<Glasses>>,
    front: Query<&Camera, With<Front>>,
    mut panes: Query<(Entity, &mut Pane, &mut Visibility)>,
    mut eyes: Query<(&Eye, &mut RenderTarget)>,
) {
    let Ok((entity, mut pane, mut visibility)) = panes.single_mut() else {
        return;
    };
    let size = front.iter().find_map(Camera::physical_target_size);
    let wanted = size.filter(|_| switches.stereo == Stereo::Anaglyph);
    // Pictures are made anew when the window has another size: a material keeps what it has.
    if pane.0 == wanted.unwrap_or_default() {
        return;
    }
    pane.0 = wanted.unwrap_or_default();
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
    let glasses = materials.add(Glasses { left, right });
    commands.entity(entity).insert(MeshMaterial3d(glasses));
    *visibility = Visibility::Visible;
}
