//! WGSL modules and the files of `shaders/` that they consist of.

use std::borrow::Cow;

use super::shader_constants::declarations;

/// A WGSL module: shared constants, then files of `shaders/`. The last file has the entry
/// points.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// Unique name, for logs and captures.
    pub name: &'static str,
    /// Concatenated files.
    files: &'static str,
}

impl Shader {
    /// The source: constants, then the files.
    #[must_use]
    pub fn source(&self) -> Cow<'static, str> {
        let mut source = declarations();
        source.push_str(self.files);
        source.into()
    }
}

/// Declares modules by their files, and [`SHADERS`], the list of all modules.
macro_rules! shaders {
    ($($(#[$doc:meta])* $shader:ident $name:literal: $($file:literal)+;)+) => {
        $(
            $(#[$doc])*
            pub(crate) const $shader: Shader = Shader {
                name: $name,
                files: concat!($(
                    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $file, ".wgsl"))
                ),+),
            };
        )+

        /// All modules, for tests without a device.
        pub const SHADERS: &[Shader] = &[$($shader),+];
    };
}

shaders! {
    /// Prefix sum.
    SCAN "scan": "common/dispatch" "sort/prefix_sum";

    /// Items per bin.
    HISTOGRAM "histogram": "common/dispatch" "sort/sort_params" "sort/histogram";

    /// Items sorted by bin.
    COUNTING_SORT "counting_sort":
        "common/dispatch" "sort/sort_params" "sort/occupancy" "sort/counting_sort";

    /// 64-bit sum and maximum.
    SUM_MAX "sum_max": "common/dispatch" "sort/occupancy" "sort/sum_max";

    /// Keys and values sorted by one digit.
    RADIX_SORT "radix_sort": "common/dispatch" "sort/radix_sort";

    /// World-space spheres from templates and poses.
    TRANSFORM "transform":
        "common/dispatch" "common/rounded" "atoms/pose" "atoms/atom_range" "atoms/transform";

    /// Cell of each sphere, and spheres in sorted order.
    BIN "bin":
        "common/dispatch" "common/rounded" "search/params" "search/folded" "search/cells" "search/bin";

    /// Pairs per sphere in a uniform grid.
    GRID_COUNT "grid_count":
        "common/dispatch" "common/rounded" "sort/occupancy" "search/params" "search/folded" "search/cells"
        "search/overlap" "search/batch" "search/shell_walk" "search/grid_walk"
        "search/count_pairs";

    /// Pairs in a uniform grid.
    GRID_WRITE "grid_write":
        "common/dispatch" "common/rounded" "sort/occupancy" "search/params" "search/folded" "search/cells"
        "search/overlap" "search/batch" "search/shell_walk" "search/grid_walk"
        "search/write_pairs";

    /// Pairs per sphere by brute force.
    BRUTE_FORCE_COUNT "brute_force_count":
        "common/dispatch" "common/rounded" "search/params" "search/overlap" "search/batch"
        "search/brute_force_walk" "search/brute_force_pairs" "search/count_pairs";

    /// Pairs by brute force.
    BRUTE_FORCE_WRITE "brute_force_write":
        "common/dispatch" "common/rounded" "search/params" "search/overlap" "search/batch"
        "search/brute_force_walk" "search/brute_force_pairs" "search/write_pairs";

    /// Cell of each molecule.
    LOCATE_MOLECULES "locate_molecules":
        "common/dispatch" "common/rounded" "atoms/pose" "molecules/params" "search/folded"
        "molecules/levels" "molecules/locate";

    /// Close pairs of molecules.
    NEIGHBOR_MOLECULES "neighbor_molecules":
        "common/dispatch" "common/rounded" "atoms/pose" "molecules/params" "search/folded"
        "molecules/levels" "molecules/found" "molecules/neighbors";

    /// Close pairs of molecules, sorted.
    RANK_MOLECULES "rank_molecules":
        "common/dispatch" "common/dispatch_size" "molecules/params" "molecules/found"
        "molecules/rank";

    /// Close spheres of pairs of molecules.
    COMPARE_MOLECULES "compare_molecules":
        "common/dispatch" "common/rounded" "atoms/pose" "molecules/params" "molecules/found"
        "molecules/no_group" "molecules/templates" "molecules/kept" "search/pair_group"
        "molecules/compare";

    /// Numbers of the pairs of molecules that have close spheres.
    NUMBER_GROUPS "number_groups":
        "common/dispatch" "molecules/params" "molecules/found" "molecules/no_group"
        "molecules/number";

    /// Mass and inertia of molecules at their poses.
    PLACE_BODIES "place_bodies":
        "common/dispatch" "common/rounded" "common/direction" "atoms/pose" "relax/law"
        "relax/law_zero" "relax/counters" "relax/placement" "relax/molecule" "relax/body"
        "relax/place_bodies";

    /// Spheres in sorted order, for contacts.
    CONTACT_GATHER "contact_gather": "common/dispatch" "search/params" "relax/contact_gather";

    /// Corrections of the contacts of each sphere, found in a uniform grid.
    CONTACTS "contacts":
        "common/dispatch" "common/rounded" "common/direction" "common/arbitrary_direction"
        "sort/occupancy" "search/params" "search/folded" "search/cells" "search/overlap" "relax/law"
        "relax/counters" "relax/body" "relax/push" "relax/contact_laws" "relax/contact_sums"
        "relax/contacts";

    /// Corrections of the contacts of each sphere, found by brute force.
    CONTACTS_BRUTE_FORCE "contacts_brute_force":
        "common/dispatch" "common/rounded" "common/direction" "common/arbitrary_direction"
        "search/params" "search/overlap" "search/brute_force_walk" "relax/law"
        "relax/counters" "relax/body" "relax/push" "relax/contact_laws" "relax/contact_sums"
        "relax/contacts_brute_force";

    /// Sums of contacts per molecule.
    SUM_MOLECULES "sum_molecules":
        "common/dispatch" "atoms/atom_range" "relax/law" "relax/push" "relax/sum_molecules";

    /// Push of each molecule.
    RESPOND "respond":
        "common/dispatch" "common/rounded" "common/direction" "common/clamp_length" "atoms/pose"
        "relax/law" "relax/law_zero" "relax/counters" "relax/placement" "relax/molecule"
        "relax/push" "relax/respond";

    /// New poses.
    APPLY "apply":
        "common/dispatch" "common/rounded" "atoms/pose" "relax/law" "relax/law_zero"
        "relax/counters" "relax/molecule" "relax/push" "relax/apply";

    /// Number of groups of a crowd.
    CROWD_COUNT_GROUPS "crowd_count_groups": "common/dispatch_size"
        "molecules/found" "crowd/count_groups";

    /// Which molecules of a crowd may touch.
    CROWD_FILTER_GROUPS "crowd_filter_groups":
        "common/dispatch" "search/pair_group" "molecules/no_group" "crowd/params" "crowd/contact" "crowd/surface_types"
        "crowd/filter_groups";

    /// Sleepers that are disturbed.
    CROWD_WAKE "crowd_wake":
        "common/dispatch" "common/direction" "molecules/kept" "crowd/params" "crowd/body"
        "crowd/contact" "crowd/wake_disturbed";

    /// Sleepers that have lost a neighbor.
    CROWD_WAKE_LOST_NEIGHBORS "crowd_wake_lost_neighbors":
        "common/dispatch" "crowd/params" "crowd/contact" "crowd/find_previous_group" "crowd/wake_lost_neighbors";

    /// Pairs of spheres to contacts.
    CROWD_PREPARE "crowd_prepare":
        "common/dispatch" "common/direction" "common/arbitrary_direction" "common/clamp_length"
        "molecules/kept" "crowd/params" "crowd/body" "crowd/contact" "crowd/surface_types" "crowd/find_previous_group" "crowd/contact_setup"
        "crowd/prepare_contacts";

    /// Contacts of the physics engine to contacts of the solver.
    CROWD_PREPARE_EXTERNALS "crowd_prepare_externals":
        "common/dispatch" "common/clamp_length" "crowd/params" "crowd/body" "crowd/contact"
        "crowd/contact_setup" "crowd/prepare_externals";

    /// Which of these are left to the physics engine.
    CROWD_SKIP_ISOLATED_EXTERNALS "crowd_skip_isolated_externals":
        "common/dispatch" "crowd/params" "crowd/body" "crowd/contact" "crowd/skip_isolated_externals";

    /// Groups by bodies.
    CROWD_BODY_SIDES "crowd_body_sides":
        "common/dispatch" "crowd/params" "crowd/contact" "crowd/mass_splitting" "crowd/body_sides";

    /// Iterations, group by group.
    CROWD_SOLVE "crowd_solve":
        "common/dispatch" "common/clamp_length" "crowd/params" "crowd/body" "crowd/contact"
        "crowd/contact_setup" "crowd/impulse_change" "crowd/mass_splitting" "crowd/solve";

    /// Iterations, body by body.
    CROWD_BODIES "crowd_bodies":
        "common/dispatch" "crowd/params" "crowd/body" "crowd/impulse_change" "crowd/update_bodies";

    /// k-means.
    KMEANS "kmeans": "common/dispatch" "kmeans";
}
