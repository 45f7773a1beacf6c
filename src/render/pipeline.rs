//! The pipeline that draws spheres, and the draw itself.

use bevy::asset::uuid_handle;
use bevy::core_pipeline::core_3d::AlphaMask3d;
use bevy::core_pipeline::prepass::{OpaqueNoLightmap3dBatchSetKey, OpaqueNoLightmap3dBinKey};
use bevy::ecs::query::ROQueryItem;
use bevy::ecs::system::lifetimeless::{Read, SRes};
use bevy::ecs::system::{SystemParam, SystemParamItem};
use bevy::mesh::{MeshVertexBufferLayoutRef, MeshVertexBufferLayouts, PrimitiveTopology};
use bevy::pbr::{
    ExtractedDirectionalLight, ExtractedPointLight, MeshPipeline, MeshPipelineKey,
    SetMeshViewBindGroup, SetMeshViewBindingArrayBindGroup, ViewKeyCache,
};
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy::render::mesh::allocator::MeshSlabs;
use bevy::render::render_phase::{
    BinnedRenderPhaseType, DrawFunctions, InputUniformIndex, PhaseItem, RenderCommand,
    RenderCommandResult, SetItemPipeline, TrackedRenderPass, ViewBinnedRenderPhases,
};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType,
    CachedRenderPipelineId, PipelineCache, RenderPipelineDescriptor, ShaderStages,
    SpecializedMeshPipeline, SpecializedMeshPipelineError,
};
use bevy::render::view::ExtractedView;
use bevy::shader::{Shader, ShaderDefVal};

use super::colors::{COLLIDING_COLORS, DEPTH_COLORS, FREE_COLORS, KIND_COLORS};
use super::extract::ExtractedInstanceSets;
use super::style::ColorMode;
use super::upload::UploadedInstanceSets;
use super::view_draws::MoleculeDraws;

const TYPES: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b10");
const COLOR: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b11");
const LIGHT: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b12");
const VERTEX: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b13");
const FRAGMENT: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b14");

/// The bind group of molecules; those before it are the view's.
const GROUP: usize = 2;

/// Adds the shaders to the app.
pub(super) fn add_shaders(shaders: &mut Assets<Shader>) {
    for (handle, source, path) in [
        (
            TYPES,
            include_str!("../../shaders/draw/types.wgsl"),
            "shaders/draw/types.wgsl",
        ),
        (
            COLOR,
            include_str!("../../shaders/draw/color.wgsl"),
            "shaders/draw/color.wgsl",
        ),
        (
            LIGHT,
            include_str!("../../shaders/draw/light.wgsl"),
            "shaders/draw/light.wgsl",
        ),
        (
            VERTEX,
            include_str!("../../shaders/draw/vertex.wgsl"),
            "shaders/draw/vertex.wgsl",
        ),
        (
            FRAGMENT,
            include_str!("../../shaders/draw/fragment.wgsl"),
            "shaders/draw/fragment.wgsl",
        ),
    ] {
        let shader = Shader::from_wgsl_with_defs(source, path, shader_constants());
        if let Err(error) = shaders.insert(handle.id(), shader) {
            error!("molecules cannot be drawn: {error}");
        }
    }
}

/// The numbers that the shaders get from here.
fn shader_constants() -> Vec<ShaderDefVal> {
    let count = |range: &std::ops::Range<u32>| range.end - range.start;
    let mut constants = vec![
        ("PALETTE_COLORS", DEPTH_COLORS.end),
        ("KINDS_FIRST", KIND_COLORS.start),
        ("KINDS_COUNT", count(&KIND_COLORS)),
        ("FREE_FIRST", FREE_COLORS.start),
        ("COLLIDING_FIRST", COLLIDING_COLORS.start),
        ("SHADES_COUNT", count(&FREE_COLORS)),
        ("DEPTHS_FIRST", DEPTH_COLORS.start),
        ("DEPTHS_COUNT", count(&DEPTH_COLORS)),
    ];
    constants.extend([
        ("MODE_MOLECULE", ColorMode::Molecule.number()),
        ("MODE_CHAIN", ColorMode::Chain.number()),
        ("MODE_TEMPLATE", ColorMode::Template.number()),
        ("MODE_GROUP", ColorMode::Group.number()),
        ("MODE_COLLISION", ColorMode::Collision.number()),
        ("MODE_PENETRATION", ColorMode::Penetration.number()),
    ]);
    let constants = constants.into_iter();
    constants
        .map(|(name, value)| ShaderDefVal::UInt(name.into(), value))
        .collect()
}

/// The pipeline, for any view.
#[derive(Clone, Resource)]
pub(super) struct SpherePipeline {
    mesh_pipeline: MeshPipeline,
    /// The layout of a mesh, which Bevy's pipeline asks for; ours has no mesh.
    mesh_layout: MeshVertexBufferLayoutRef,
    pub layout: BindGroupLayoutDescriptor,
}

/// Makes the pipeline for a new device.
pub(super) fn create_pipeline(mut commands: Commands, mesh_pipeline: Res<MeshPipeline>) {
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, default());
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0_f32; 3]; 3]);
    let mut layouts = MeshVertexBufferLayouts::default();
    let uniform = BufferBindingType::Uniform;
    let storage = BufferBindingType::Storage { read_only: true };
    let entry = |(binding, (stages, ty))| BindGroupLayoutEntry {
        binding,
        visibility: stages,
        ty: BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..)
        .zip([
            (ShaderStages::VERTEX_FRAGMENT, uniform),
            (ShaderStages::VERTEX, uniform),
            (ShaderStages::VERTEX, storage),
            (ShaderStages::VERTEX, storage),
            (ShaderStages::VERTEX, storage),
            (ShaderStages::VERTEX, storage),
            (ShaderStages::VERTEX, storage),
        ])
        .map(entry)
        .collect();
    commands.insert_resource(SpherePipeline {
        mesh_pipeline: mesh_pipeline.clone(),
        mesh_layout: mesh.get_mesh_vertex_buffer_layout(&mut layouts),
        layout: BindGroupLayoutDescriptor::new("molecules", &entries),
    });
    commands.insert_resource(SphereVariants::default());
    commands.insert_resource(UploadedInstanceSets::default());
    commands.insert_resource(MoleculeDraws::default());
}

/// The pipelines for each kind of view.
#[derive(Default, Resource)]
pub(super) struct SphereVariants(HashMap<SphereKey, CachedRenderPipelineId>);

/// What kind of view it is, and which lights there are. Code for lights that are not
/// there costs time even if it is never run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SphereKey {
    mesh: MeshPipelineKey,
    /// There are point or spot lights.
    lamps: bool,
    /// One of the lights casts shadows.
    shadows: bool,
}

/// Makes pipelines for views.
#[derive(SystemParam)]
pub(super) struct PipelineMaker<'w> {
    variants: ResMut<'w, SphereVariants>,
    pipeline: Res<'w, SpherePipeline>,
    cache: Res<'w, PipelineCache>,
}

impl PipelineMaker<'_> {
    fn get(
        &mut self,
        key: SphereKey,
    ) -> Result<CachedRenderPipelineId, SpecializedMeshPipelineError> {
        if let Some(known) = self.variants.0.get(&key) {
            return Ok(*known);
        }
        let descriptor = self.pipeline.describe(key)?;
        let id = self.cache.queue_render_pipeline(descriptor);
        self.variants.0.insert(key, id);
        Ok(id)
    }
}

impl SpherePipeline {
    /// Bevy's pipeline for meshes in the same view, with our shaders and no mesh.
    fn describe(
        &self,
        key: SphereKey,
    ) -> Result<RenderPipelineDescriptor, SpecializedMeshPipelineError> {
        let mut descriptor = self.mesh_pipeline.specialize(key.mesh, &self.mesh_layout)?;
        descriptor.label = Some("molecules".into());
        descriptor.vertex.shader = VERTEX;
        descriptor.vertex.entry_point = Some("vertex".into());
        descriptor.vertex.buffers.clear();
        if let Some(fragment) = &mut descriptor.fragment {
            fragment.shader = FRAGMENT;
            fragment.entry_point = Some("fragment".into());
            for (present, name) in [(key.lamps, "LAMPS"), (key.shadows, "SHADOWS")] {
                if present {
                    fragment.shader_defs.push(name.into());
                }
            }
        }
        descriptor.layout.truncate(GROUP);
        descriptor.layout.push(self.layout.clone());
        descriptor.primitive.cull_mode = None;
        Ok(descriptor)
    }
}

/// The lights of the scene.
#[derive(SystemParam)]
pub(super) struct SceneLights<'w, 's> {
    suns: Query<'w, 's, &'static ExtractedDirectionalLight>,
    lamps: Query<'w, 's, &'static ExtractedPointLight>,
}

impl SceneLights<'_, '_> {
    fn key(&self, mesh: MeshPipelineKey) -> SphereKey {
        SphereKey {
            mesh,
            lamps: !self.lamps.is_empty(),
            shadows: self.suns.iter().any(|sun| sun.shadow_maps_enabled)
                || self.lamps.iter().any(|lamp| lamp.shadow_maps_enabled),
        }
    }
}

/// Puts the molecules among the things that each view draws.
pub(super) fn queue_molecules(
    functions: Res<DrawFunctions<AlphaMask3d>>,
    mut phases: ResMut<ViewBinnedRenderPhases<AlphaMask3d>>,
    mut pipelines: PipelineMaker,
    keys: Res<ViewKeyCache>,
    views: Query<(Entity, &ExtractedView)>,
    crowds: Res<ExtractedInstanceSets>,
    lights: SceneLights,
) {
    let mut crowds = crowds.0.values();
    let nothing = !crowds.any(|crowd| crowd.visible && !crowd.poses.is_empty());
    let draw_function = functions.read().id::<DrawMolecules>();
    let topology = MeshPipelineKey::from_primitive_topology_and_strip_index(
        PrimitiveTopology::TriangleList,
        None,
    );
    for (entity, view) in &views {
        let retained = view.retained_view_entity;
        let (Some(phase), Some(key)) = (phases.get_mut(&retained), keys.get(&retained)) else {
            continue;
        };
        // Phases keep their items; ours may need another pipeline than in the last frame.
        phase.remove(retained.main_entity);
        if nothing {
            continue;
        }
        let key = lights.key(*key | topology | MeshPipelineKey::MAY_DISCARD);
        let id = match pipelines.get(key) {
            Ok(id) => id,
            Err(error) => {
                error_once!("molecules cannot be drawn: {error}");
                continue;
            }
        };
        phase.add(
            OpaqueNoLightmap3dBatchSetKey {
                draw_function,
                pipeline: id,
                material_bind_group_index: None,
                slabs: MeshSlabs::default(),
            },
            OpaqueNoLightmap3dBinKey {
                asset_id: AssetId::<Mesh>::invalid().untyped(),
            },
            (entity, retained.main_entity),
            InputUniformIndex::default(),
            BinnedRenderPhaseType::NonMesh,
        );
    }
}

/// Draws all molecules of a view.
pub(super) type DrawMolecules = (
    SetItemPipeline,
    SetMeshViewBindGroup<0>,
    SetMeshViewBindingArrayBindGroup<1>,
    DrawRuns,
);

/// Binds each crowd and draws its runs.
pub(super) struct DrawRuns;

impl<P: PhaseItem> RenderCommand<P> for DrawRuns {
    type Param = SRes<MoleculeDraws>;
    type ViewQuery = Read<ExtractedView>;
    type ItemQuery = ();

    fn render<'w>(
        _item: &P,
        view: ROQueryItem<'w, '_, Self::ViewQuery>,
        _entity: Option<()>,
        draws: SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let draws = draws.into_inner();
        let Some(view) = draws.views.get(&view.retained_view_entity) else {
            return RenderCommandResult::Skip;
        };
        for (bindings, vertices) in view.crowds.values().filter_map(|crowd| crowd.draws()) {
            pass.set_bind_group(GROUP, bindings, &[]);
            for (run, &count) in (0..).zip(vertices) {
                pass.draw(0..count, run..run + 1);
            }
        }
        RenderCommandResult::Success
    }
}
