//! Sources of the shaders: which files of `shaders/` make up which module.

use std::borrow::Cow;

use super::constants::declarations;

/// A module of WGSL: a block of constants, then files of the folder `shaders/`, each of one
/// concept. The last of the files has the kernels.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// What it is called in logs and captures.
    pub name: &'static str,
    /// Content of the files, one behind the other.
    files: &'static str,
}

impl Shader {
    /// The whole source: constants, then the files.
    #[must_use]
    pub fn source(&self) -> Cow<'static, str> {
        let mut source = declarations();
        source.push_str(self.files);
        source.into()
    }
}

/// Declares modules by the files that they are made of, and [`SHADERS`], the list of all.
macro_rules! shaders {
    ($($(#[$doc:meta])* $shader:ident $name:literal: $($file:literal)+;)+) => {
        $(
            $(#[$doc])*
            pub(super) const $shader: Shader = Shader {
                name: $name,
                files: concat!($(
                    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $file, ".wgsl"))
                ),+),
            };
        )+

        /// All modules, for tests that need no device.
        pub const SHADERS: &[Shader] = &[$($shader),+];
    };
}

shaders! {
    /// Prefix sum.
    SCAN "scan": "common/dispatch" "sort/scan";

    /// Counts the items of bins.
    HISTOGRAM "histogram": "common/dispatch" "sort/sort_params" "sort/histogram";

    /// Items to bins.
    SORT "sort": "common/dispatch" "sort/sort_params" "sort/crowding" "sort/sort";

    /// Sums of 64 bits.
    MEASURE "measure": "common/dispatch" "sort/crowding" "sort/measure";

    /// Pairs of key and value by one digit.
    RADIX "radix": "common/dispatch" "sort/radix";

    /// Atoms of templates to the poses of molecules.
    TRANSFORM "transform":
        "common/dispatch" "common/rounded" "atoms/pose" "atoms/atom_range" "atoms/transform";

    /// Spheres to cells, and sorted spheres to their places.
    BIN "bin":
        "common/dispatch" "common/rounded" "search/params" "search/cells" "search/bin";

    /// Number of pairs of each sphere of a grid.
    GRID_COUNT "grid_count":
        "common/dispatch" "common/rounded" "sort/crowding" "search/params" "search/cells"
        "search/overlap" "search/batch" "search/shell_walk" "search/grid_walk"
        "search/count_pairs";

    /// The pairs of a grid.
    GRID_WRITE "grid_write":
        "common/dispatch" "common/rounded" "sort/crowding" "search/params" "search/cells"
        "search/overlap" "search/batch" "search/shell_walk" "search/grid_walk"
        "search/write_pairs";

    /// Spheres to the cells of their levels.
    LEVEL_BIN "level_bin":
        "common/dispatch" "common/rounded" "search/params" "search/cells" "search/levels"
        "search/level_bin";

    /// Number of pairs of each sphere of a hierarchy of grids.
    LEVEL_COUNT "level_count":
        "common/dispatch" "common/rounded" "sort/crowding" "search/params" "search/cells"
        "search/levels" "search/overlap" "search/batch" "search/shell_walk"
        "search/level_walk" "search/count_pairs";

    /// The pairs of a hierarchy of grids.
    LEVEL_WRITE "level_write":
        "common/dispatch" "common/rounded" "sort/crowding" "search/params" "search/cells"
        "search/levels" "search/overlap" "search/batch" "search/shell_walk"
        "search/level_walk" "search/write_pairs";

    /// Number of pairs of each sphere, by brute force.
    BRUTE_FORCE_COUNT "brute_force_count":
        "common/dispatch" "common/rounded" "search/params" "search/overlap" "search/batch"
        "search/brute_force_walk" "search/count_pairs";

    /// The pairs, by brute force.
    BRUTE_FORCE_WRITE "brute_force_write":
        "common/dispatch" "common/rounded" "search/params" "search/overlap" "search/batch"
        "search/brute_force_walk" "search/write_pairs";

    /// Pairs by molecules.
    GROUPS "groups":
        "common/dispatch" "common/rounded" "search/params" "search/pair_group" "search/groups";

    /// Bodies of molecules at their poses.
    BODIES "bodies":
        "common/dispatch" "common/rounded" "common/direction" "atoms/pose" "relax/law"
        "relax/law_zero" "relax/counters" "relax/place" "relax/molecule" "relax/body"
        "relax/bodies";

    /// Sorted spheres, for a walk over contacts.
    CONTACT_GATHER "contact_gather": "common/dispatch" "search/params" "relax/contact_gather";

    /// Contacts of each sphere.
    CONTACTS "contacts":
        "common/dispatch" "common/rounded" "common/direction" "common/arbitrary_direction"
        "sort/crowding" "search/params" "search/cells" "search/overlap" "relax/law"
        "relax/counters" "relax/body" "relax/push" "relax/contact_laws" "relax/contacts";

    /// Contacts of each molecule.
    SUM_MOLECULES "sum_molecules":
        "common/dispatch" "atoms/atom_range" "relax/law" "relax/push" "relax/sum_molecules";

    /// Contacts, springs and momentum of each molecule.
    RESPOND "respond":
        "common/dispatch" "common/rounded" "common/direction" "common/shortened" "atoms/pose"
        "relax/law" "relax/law_zero" "relax/counters" "relax/place" "relax/molecule"
        "relax/push" "relax/respond";

    /// New poses.
    APPLY "apply":
        "common/dispatch" "common/rounded" "atoms/pose" "relax/law" "relax/law_zero"
        "relax/counters" "relax/molecule" "relax/push" "relax/apply";

    /// Which molecules of a crowd may touch.
    CROWD_FILTER_GROUPS "crowd_filter_groups":
        "common/dispatch" "search/pair_group" "crowd/params" "crowd/contact" "crowd/surface_types"
        "crowd/filter_groups";

    /// Sleepers that are disturbed.
    CROWD_WAKE "crowd_wake":
        "common/dispatch" "common/direction" "crowd/params" "crowd/body" "crowd/contact"
        "crowd/wake_disturbed";

    /// Sleepers that have lost a neighbor.
    CROWD_WAKE_LOST_NEIGHBORS "crowd_wake_lost_neighbors":
        "common/dispatch" "crowd/params" "crowd/contact" "crowd/find_previous_group" "crowd/wake_lost_neighbors";

    /// Pairs of spheres to contacts.
    CROWD_PREPARE "crowd_prepare":
        "common/dispatch" "common/direction" "common/arbitrary_direction" "common/shortened"
        "crowd/params" "crowd/body" "crowd/contact" "crowd/surface_types" "crowd/find_previous_group" "crowd/contact_setup"
        "crowd/prepare_contacts";

    /// Contacts of the physics engine to contacts of the solver.
    CROWD_PREPARE_EXTERNALS "crowd_prepare_externals":
        "common/dispatch" "common/shortened" "crowd/params" "crowd/body" "crowd/contact"
        "crowd/contact_setup" "crowd/prepare_externals";

    /// Which of these are left to the physics engine.
    CROWD_SKIP_ISOLATED_EXTERNALS "crowd_skip_isolated_externals":
        "common/dispatch" "crowd/params" "crowd/body" "crowd/contact" "crowd/skip_isolated_externals";

    /// Groups by bodies.
    CROWD_BODY_SIDES "crowd_body_sides":
        "common/dispatch" "crowd/params" "crowd/contact" "crowd/mass_splitting" "crowd/body_sides";

    /// Iterations, group by group.
    CROWD_SOLVE "crowd_solve":
        "common/dispatch" "common/shortened" "crowd/params" "crowd/body" "crowd/contact"
        "crowd/contact_setup" "crowd/impulse_change" "crowd/mass_splitting" "crowd/solve";

    /// Iterations, body by body.
    CROWD_BODIES "crowd_bodies":
        "common/dispatch" "crowd/params" "crowd/body" "crowd/impulse_change" "crowd/update_bodies";

    /// k-means.
    CLUSTERS "clusters": "common/dispatch" "clusters";
}
