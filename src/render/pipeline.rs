//! The render pipeline of spheres, and its draw commands.

use bevy::asset::uuid_handle;
use bevy::core_pipeline::core_3d::AlphaMask3d;
use bevy::core_pipeline::prepass::{OpaqueNoLightmap3dBatchSetKey, OpaqueNoLightmap3dBinKey};
use bevy::ecs::query::ROQueryItem;
use bevy::ecs::system::SystemParamItem;
use bevy::ecs::system::lifetimeless::{Read, SRes};
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
use bevy::render::render_resource::binding_types::{
    storage_buffer_read_only_sized, uniform_buffer_sized,
};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntries, CachedRenderPipelineId, PipelineCache,
    RenderPipelineDescriptor, ShaderStages, SpecializedMeshPipeline, SpecializedMeshPipelineError,
};
use bevy::render::view::ExtractedView;
use bevy::shader::{Shader, ShaderDefVal};

use super::culling::GpuInstance;
use super::extract::ExtractedInstanceSets;
use super::style::ColorMode;
use super::upload::UploadedInstanceSets;
use super::view_draws::MoleculeDraws;

const TYPES: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b10");
const COLOR: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b11");
const LIGHT: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b12");
const VERTEX: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b13");
const FRAGMENT: Handle<Shader> = uuid_handle!("0c3ff4a1-1d6b-4e0c-9c0b-5f4c6e9a7b14");

/// Index of the bind group of molecules. Lower ones belong to the view.
const GROUP: usize = 2;

/// Handle, source and path of a shader.
macro_rules! shader {
    ($handle:expr, $file:literal) => {
        (
            $handle,
            include_str!(concat!("../../shaders/draw/", $file)),
            concat!("shaders/draw/", $file),
        )
    };
}

pub(super) fn add_shaders(shaders: &mut Assets<Shader>) {
    for (handle, source, path) in [
        shader!(TYPES, "types.wgsl"),
        shader!(COLOR, "color.wgsl"),
        shader!(LIGHT, "light.wgsl"),
        shader!(VERTEX, "vertex.wgsl"),
        shader!(FRAGMENT, "fragment.wgsl"),
    ] {
        let shader = Shader::from_wgsl_with_defs(source, path, shader_constants());
        if let Err(error) = shaders.insert(handle.id(), shader) {
            error!("molecules are not drawn: {error}");
        }
    }
}

/// Constants that the shaders share with this crate.
fn shader_constants() -> Vec<ShaderDefVal> {
    let constants = [
        ("COLLIDING_BIT", GpuInstance::COLLIDING),
        ("MODE_MOLECULE", ColorMode::Molecule as u32),
        ("MODE_CHAIN", ColorMode::Chain as u32),
        ("MODE_TEMPLATE", ColorMode::Template as u32),
        ("MODE_GROUP", ColorMode::Group as u32),
        ("MODE_COLLISION", ColorMode::Collision as u32),
        ("MODE_PENETRATION", ColorMode::Penetration as u32),
    ];
    constants
        .map(|(name, value)| ShaderDefVal::UInt(name.into(), value))
        .to_vec()
}

/// The pipeline, before specialization for a view.
#[derive(Clone, Resource)]
pub(super) struct SpherePipeline {
    mesh_pipeline: MeshPipeline,
    /// Vertex layout for Bevy's mesh pipeline, which requires one; spheres have no vertex buffer.
    mesh_layout: MeshVertexBufferLayoutRef,
    pub layout: BindGroupLayoutDescriptor,
    specialized: HashMap<SphereKey, CachedRenderPipelineId>,
}

/// Creates the pipeline for a new device.
pub(super) fn create_pipeline(mut commands: Commands, mesh_pipeline: Res<MeshPipeline>) {
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, default());
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0_f32; 3]; 3]);
    let mut layouts = MeshVertexBufferLayouts::default();
    let storage = || storage_buffer_read_only_sized(false, None);
    let style = uniform_buffer_sized(false, None).visibility(ShaderStages::VERTEX_FRAGMENT);
    // In the order of `shaders/draw/types.wgsl`.
    let entries = BindGroupLayoutEntries::sequential(
        ShaderStages::VERTEX,
        (
            style,
            storage(),
            storage(),
            storage(),
            storage(),
            storage(),
            storage(),
        ),
    );
    commands.insert_resource(SpherePipeline {
        mesh_pipeline: mesh_pipeline.clone(),
        mesh_layout: mesh.get_mesh_vertex_buffer_layout(&mut layouts),
        layout: BindGroupLayoutDescriptor::new("molecules", &entries),
        specialized: HashMap::default(),
    });
    commands.insert_resource(UploadedInstanceSets::default());
    commands.insert_resource(MoleculeDraws::default());
}

/// Specialization by view and lights. Shader code for absent lights costs time even if it never
/// runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SphereKey {
    mesh: MeshPipelineKey,
    /// Whether there are point or spot lights.
    clustered_lights: bool,
    /// Whether a light casts shadows.
    shadows: bool,
}

impl SpherePipeline {
    /// The specialized pipeline, which is queued for compilation if it is new.
    fn specialize(
        &mut self,
        cache: &PipelineCache,
        key: SphereKey,
    ) -> Result<CachedRenderPipelineId, SpecializedMeshPipelineError> {
        if let Some(known) = self.specialized.get(&key) {
            return Ok(*known);
        }
        let id = cache.queue_render_pipeline(self.describe(key)?);
        self.specialized.insert(key, id);
        Ok(id)
    }

    /// Bevy's mesh pipeline for the same view, with our shaders and no vertex buffer.
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
            for (present, name) in [
                (key.clustered_lights, "CLUSTERED_LIGHTS"),
                (key.shadows, "SHADOWS"),
            ] {
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

/// Adds the molecules to the alpha-mask phase of each view.
pub(super) fn queue_molecules(
    functions: Res<DrawFunctions<AlphaMask3d>>,
    mut phases: ResMut<ViewBinnedRenderPhases<AlphaMask3d>>,
    (mut pipeline, cache): (ResMut<SpherePipeline>, Res<PipelineCache>),
    keys: Res<ViewKeyCache>,
    views: Query<(Entity, &ExtractedView)>,
    extracted: Res<ExtractedInstanceSets>,
    (directional, clustered): (
        Query<&ExtractedDirectionalLight>,
        Query<&ExtractedPointLight>,
    ),
) {
    let mut sets = extracted.0.values();
    let is_empty = !sets.any(|set| set.visible && !set.poses.is_empty());
    let draw_function = functions.read().id::<DrawMolecules>();
    let shadows = directional.iter().any(|light| light.shadow_maps_enabled)
        || clustered.iter().any(|light| light.shadow_maps_enabled);
    let topology = MeshPipelineKey::from_primitive_topology_and_strip_index(
        PrimitiveTopology::TriangleList,
        None,
    );
    for (entity, view) in &views {
        let retained = view.retained_view_entity;
        let (Some(phase), Some(key)) = (phases.get_mut(&retained), keys.get(&retained)) else {
            continue;
        };
        // Phases retain their items, but the pipeline may differ from the previous frame.
        phase.remove(retained.main_entity);
        if is_empty {
            continue;
        }
        let key = SphereKey {
            mesh: *key | topology | MeshPipelineKey::MAY_DISCARD,
            clustered_lights: !clustered.is_empty(),
            shadows,
        };
        let id = match pipeline.specialize(&cache, key) {
            Ok(id) => id,
            Err(error) => {
                error_once!("molecules are not drawn: {error}");
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
    DrawBatches,
);

/// Binds each set of instances and draws its batches.
pub(super) struct DrawBatches;

impl<P: PhaseItem> RenderCommand<P> for DrawBatches {
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
        for (bind_group, vertices) in view.sets.values().filter_map(|set| set.draws()) {
            pass.set_bind_group(GROUP, bind_group, &[]);
            for (batch, &count) in (0..).zip(vertices) {
                pass.draw(0..count, batch..batch + 1);
            }
        }
        RenderCommandResult::Success
    }
}
