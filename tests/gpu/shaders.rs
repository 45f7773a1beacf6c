//! Checks of the shaders that need no adapter.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::gpu::shader_types::{
    GpuAtomRange, GpuCrowdBody, GpuCrowdContact, GpuCrowdExternal, GpuCrowdGroup, GpuCrowdImpulse,
    GpuCrowdImpulseChange, GpuCrowdParams, GpuCrowdSurface, GpuCrowdTouch, GpuGroupLimits,
    GpuKMeansParams, GpuKeptPair, GpuMoleculeEntry, GpuMoleculeLevel, GpuMoleculeParams,
    GpuMoleculesFound, GpuPairGroup, GpuPrefixSumParams, GpuRadixParams, GpuSearchBatch,
    GpuSearchParams, GpuSortParams, GpuSumMaxParams, GpuTransformParams,
};
use bevy_rapier_molecules::gpu::{GpuPose, GpuSumMax, SHADERS, Shader};
use bevy_rapier_molecules::relax::shader_types::{
    GpuBody, GpuContactBatch, GpuLawParams, GpuMolecule, GpuPlacement, GpuPush, GpuRelaxCounters,
};
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::common::shader_layout::assert_mirrors;

fn parse(source: &str, name: &str) -> naga::Module {
    naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(source)))
}

#[test]
fn every_shader_is_valid() {
    for shader in SHADERS {
        let source = shader.source();
        let module = parse(&source, shader.name);
        assert!(!module.entry_points.is_empty(), "{}", shader.name);
        // No capabilities beyond those that WebGPU guarantees.
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}: {}", shader.name, error.emit_to_string(&source)));
    }
}

/// Every WGSL file except those of the renderer.
fn kernel_files() -> Vec<PathBuf> {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() && !path.ends_with("draw") {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "wgsl") {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn every_file_is_part_of_a_shader_module() {
    let sources: Vec<_> = SHADERS.iter().map(Shader::source).collect();
    let files = kernel_files();
    for path in &files {
        let text = fs::read_to_string(path).expect("shaders are text");
        assert!(
            sources.iter().any(|source| source.contains(&text)),
            "{} is in no shader",
            path.display()
        );
    }
    assert!(files.len() >= SHADERS.len());
}

#[test]
fn the_readme_lists_every_kernel_and_folder() {
    let page = include_str!("../../shaders/README.md");
    for shader in SHADERS {
        let module = parse(&shader.source(), shader.name);
        for entry in &module.entry_points {
            let name = format!("`{}`", entry.name);
            assert!(page.contains(&name), "{name} of {}", shader.name);
        }
    }
    for path in kernel_files() {
        let folder = path.parent().and_then(Path::file_name);
        let folder = folder.and_then(OsStr::to_str).expect("names are text");
        assert!(folder == "shaders" || page.contains(&format!("`{folder}/`")));
    }
}

/// Direct3D provides the number of workgroups only where an entry point reads it; functions that
/// take the whole struct would see another number.
#[test]
fn no_function_takes_an_invocation() {
    for shader in SHADERS {
        let module = parse(&shader.source(), shader.name);
        for (_, function) in module.functions.iter() {
            for argument in &function.arguments {
                let name = module.types[argument.ty].name.as_deref();
                assert_ne!(name, Some("Invocation"), "{:?}", function.name);
            }
        }
    }
}

/// WebGPU guarantees eight storage buffers.
#[test]
fn no_kernel_binds_more_than_eight_storage_buffers() {
    for shader in SHADERS {
        let module = parse(&shader.source(), shader.name);
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .expect("tested above");
        for (k, entry) in module.entry_points.iter().enumerate() {
            let used = module.global_variables.iter().filter(|(handle, variable)| {
                matches!(variable.space, naga::AddressSpace::Storage { .. })
                    && !info.get_entry_point(k)[*handle].is_empty()
            });
            let used = used.count();
            assert!(used <= 8, "{} binds {used} storage buffers", entry.name);
        }
    }
}

/// A shader by its name.
fn module(name: &str) -> naga::Module {
    let shader = SHADERS.iter().find(|shader| shader.name == name);
    let shader = shader.unwrap_or_else(|| panic!("no shader is named {name}"));
    parse(&shader.source(), name)
}

#[test]
fn structs_have_the_same_layout_in_rust_and_wgsl() {
    assert_mirrors!(
        GpuPrefixSumParams,
        module("scan"),
        "ScanParams",
        level,
        slot,
        based
    );
    assert_mirrors!(
        GpuRadixParams,
        module("radix_sort"),
        "RadixParams",
        slot,
        shift,
        max_blocks,
    );
    assert_mirrors!(
        GpuTransformParams,
        module("transform"),
        "TransformParams",
        spheres,
        zero,
    );
    assert_mirrors!(
        GpuAtomRange,
        module("transform"),
        "AtomRange",
        first_atom,
        first_sphere
    );
    assert_mirrors!(
        GpuKMeansParams,
        module("kmeans"),
        "KMeansParams",
        points,
        centers,
        seed
    );
    assert_mirrors!(
        GpuPose,
        module("transform"),
        "Pose",
        position,
        spare,
        rotation
    );
    assert_mirrors!(
        GpuLawParams,
        module("contacts"),
        "LawParams",
        molecules,
        law,
        gap,
        clearance,
        center_weight,
        relaxation,
        momentum,
        max_shift,
        max_turn,
        spring,
        force,
        torque,
        spring_force,
        spring_torque,
        zero,
    );
    assert_mirrors!(
        GpuBody,
        module("contacts"),
        "Body",
        center,
        inverse_mass,
        inverse_inertia
    );
    for shader in ["sum_molecules", "respond", "apply"] {
        assert_mirrors!(
            GpuPush,
            module(shader),
            "Push",
            linear,
            contacts,
            angular,
            spare,
        );
    }
    assert_mirrors!(
        GpuMolecule,
        module("respond"),
        "Molecule",
        inverse_inertia,
        inverse_mass,
        principal_axes,
        placement,
        spare,
    );
    assert_mirrors!(
        GpuPlacement,
        module("respond"),
        "Placement",
        center,
        radius,
        up,
        offset,
        sign,
        leeway,
        tilt_leeway,
        spare,
    );
    assert_mirrors!(
        GpuContactBatch,
        module("contacts_brute_force"),
        "ContactBatch",
        first_sphere,
        end_sphere,
        first_other,
        end_other,
    );
    assert_mirrors!(
        GpuRelaxCounters,
        module("contacts"),
        "RelaxCounters",
        overlaps,
        overlaps_high,
        unresolved,
        unresolved_high,
        deepest,
        out_of_place,
        diverged,
        spare,
    );
    assert_mirrors!(
        GpuGroupLimits,
        module("crowd_count_groups"),
        "GroupLimits",
        max_pairs,
        max_groups,
        external_groups,
        max_dispatch,
    );
    for shader in ["neighbor_molecules", "compare_molecules", "rank_molecules"] {
        assert_mirrors!(
            GpuMoleculeParams,
            module(shader),
            "MoleculeParams",
            molecules,
            levels,
            max_pairs,
            max_groups,
            margin,
            rounding,
            max_dispatch,
            zero,
            level,
        );
    }
    assert_mirrors!(
        GpuMoleculeLevel,
        module("locate_molecules"),
        "MoleculeLevel",
        mask,
        first_cell,
        per_nm,
        padding_1,
        padding_2,
        padding_3,
    );
    assert_mirrors!(
        GpuMoleculeEntry,
        module("compare_molecules"),
        "MoleculeEntry",
        template_start,
        first_sphere,
        level,
        radius,
    );
    for shader in [
        "neighbor_molecules",
        "compare_molecules",
        "crowd_count_groups",
    ] {
        assert_mirrors!(
            GpuMoleculesFound,
            module(shader),
            "MoleculesFound",
            pairs,
            compared_pairs,
            groups,
            candidates,
            candidates_high,
            compared,
            compared_high,
            crowded,
        );
    }
    for shader in ["compare_molecules", "crowd_prepare", "crowd_wake"] {
        assert_mirrors!(
            GpuKeptPair,
            module(shader),
            "KeptPair",
            first,
            second,
            spheres,
            padding,
        );
    }
    for shader in ["histogram", "counting_sort"] {
        assert_mirrors!(
            GpuSortParams,
            module(shader),
            "SortParams",
            item_slot,
            bin_slot
        );
    }
    for shader in ["counting_sort", "sum_max", "grid_count", "grid_write"] {
        assert_mirrors!(GpuSumMax, module(shader), "SumMax", low, high, max);
    }
    assert_mirrors!(
        GpuSumMaxParams,
        module("sum_max"),
        "SumMaxParams",
        length_slot,
        squares,
        result_slot,
        max_blocks,
    );
    for shader in ["bin", "grid_count", "brute_force_write"] {
        assert_mirrors!(
            GpuSearchParams,
            module(shader),
            "SearchParams",
            cells,
            folded,
            low,
            per_nm,
            spheres,
            mixed,
            reach,
            zero,
        );
    }
    for shader in ["grid_count", "brute_force_write"] {
        assert_mirrors!(
            GpuSearchBatch,
            module(shader),
            "SearchBatch",
            first_sphere,
            spheres,
            first_pair,
            pairs,
        );
    }
}

#[test]
fn structs_of_crowds_have_the_same_layout_in_rust_and_wgsl() {
    for shader in [
        "crowd_filter_groups",
        "crowd_solve",
        "crowd_skip_isolated_externals",
    ] {
        assert_mirrors!(
            GpuCrowdParams,
            module(shader),
            "CrowdParams",
            member_groups,
            groups,
            previous_member_groups,
            unused,
            bodies,
            owners,
            ignored_pairs,
            push_out,
            dt,
            slop,
            max_push_speed,
            restitution_threshold,
        );
    }
    for shader in ["crowd_prepare", "crowd_solve", "crowd_bodies"] {
        assert_mirrors!(
            GpuCrowdBody,
            module(shader),
            "CrowdBody",
            center,
            state,
            velocity,
            dominance,
            angular_velocity,
            padding_2,
            inverse_mass,
            padding_3,
            diagonal,
            padding_4,
            off_diagonal,
            padding_5,
            acceleration,
            padding_6,
        );
    }
    assert_mirrors!(
        GpuCrowdImpulse,
        module("crowd_bodies"),
        "CrowdImpulse",
        linear,
        woken,
        angular,
        padding,
    );
    for shader in [
        "crowd_prepare",
        "crowd_prepare_externals",
        "crowd_body_sides",
        "crowd_solve",
    ] {
        assert_mirrors!(
            GpuCrowdContact,
            module(shader),
            "CrowdContact",
            normal,
            normal_impulse,
            lever_a,
            normal_mass,
            lever_b,
            friction_mass,
            friction_impulse,
            friction,
            mobility,
            spheres,
            gap,
            restitution_speed,
            bias_rate,
            mass_scale,
            impulse_scale,
            dominance,
        );
    }
    for shader in [
        "crowd_filter_groups",
        "crowd_prepare",
        "crowd_wake",
        "crowd_wake_lost_neighbors",
    ] {
        assert_mirrors!(
            GpuCrowdGroup,
            module(shader),
            "CrowdGroup",
            a,
            b,
            start,
            stride,
            contacts,
            active_contacts,
            pushes,
            penetration,
        );
    }
    for shader in ["crowd_filter_groups", "crowd_prepare"] {
        assert_mirrors!(
            GpuCrowdSurface,
            module(shader),
            "CrowdSurface",
            restitution,
            friction,
            frequency_hz,
            damping_ratio,
            restitution_rule,
            friction_rule,
            memberships,
            filter_mask,
            solver_memberships,
            solver_filter_mask,
            sensor,
            body_type,
            meets,
            padding,
        );
    }
    assert_mirrors!(
        GpuCrowdTouch,
        module("crowd_filter_groups"),
        "CrowdTouch",
        a,
        b,
        overlaps,
        penetration,
    );
    assert_mirrors!(
        GpuCrowdExternal,
        module("crowd_prepare_externals"),
        "CrowdExternal",
        normal,
        gap,
        point,
        friction,
        restitution,
        previous,
        key,
    );
    for shader in ["crowd_solve", "crowd_bodies"] {
        assert_mirrors!(
            GpuCrowdImpulseChange,
            module(shader),
            "CrowdImpulseChange",
            linear,
            padding_1,
            angular_a,
            padding_2,
            angular_b,
            padding_3,
        );
    }
    for shader in ["compare_molecules", "crowd_filter_groups"] {
        assert_mirrors!(
            GpuPairGroup,
            module(shader),
            "PairGroup",
            a,
            b,
            kept,
            overlaps,
            max_penetration,
        );
    }
}
