// Close pairs of molecules: one thread per molecule. A molecule looks for larger ones, and for
// those of its size with larger indices. Pairs are listed by their smaller index.

@group(0) @binding(1) var<storage, read> molecules: array<MoleculeEntry>;
@group(0) @binding(2) var<storage, read> poses: array<Pose>;
/// Start of each cell in `sorted`, and one entry more.
@group(0) @binding(3) var<storage, read> cell_start: array<u32>;
/// Molecules by cell, in any order within a cell.
@group(0) @binding(4) var<storage, read> sorted: array<u32>;
/// Number of pairs of each molecule; in `list_neighbors` the number listed so far.
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> found: MoleculesFound;
/// First pair of each molecule, and one entry more.
@group(0) @binding(7) var<storage, read> starts: array<u32>;
/// The pairs of each molecule in any order.
@group(0) @binding(8) var<storage, read_write> listed: array<vec2<u32>>;

/// Whether two molecules may have close spheres.
fn are_close(one: u32, other: u32) -> bool {
    let apart = poses[one].position - poses[other].position;
    let reach = molecules[one].radius + molecules[other].radius + params.margin + params.rounding;
    return dot(apart, apart) <= reach * reach;
}

/// Number of molecules in the cells around a point of a level.
fn count_around(level: MoleculeLevel, center: vec3<u32>) -> u32 {
    var count = 0u;
    for (var k = 0u; k < 27u; k++) {
        let cell = level_cell(level, neighbor_cell(level, center, k));
        count += cell_start[cell + 1u] - cell_start[cell];
    }
    return count;
}

/// Coordinates of one of the 27 cells around and including `center`.
fn neighbor_cell(level: MoleculeLevel, center: vec3<u32>, k: u32) -> vec3<u32> {
    let offset = vec3(k % 3u, k / 3u % 3u, k / 9u);
    return (center + offset + level.mask) & level.mask;
}

@compute @workgroup_size(GROUP_THREADS)
fn count_neighbors(here: Invocation) {
    let own = thread_number(here.group, here.groups, here.thread);
    if own >= params.molecules {
        return;
    }
    let molecule = molecules[own];
    for (var k = 0u; k <= molecule.level; k++) {
        let level = params.level[k];
        let center = level_coordinates(level, poses[own].position);
        if count_around(level, center) > MAX_MOLECULES_AROUND {
            atomicStore(&found.crowded, 1u);
            continue;
        }
        for (var n = 0u; n < 27u; n++) {
            let cell = level_cell(level, neighbor_cell(level, center, n));
            for (var at = cell_start[cell]; at < cell_start[cell + 1u]; at++) {
                let other = sorted[at];
                if (k < molecule.level || other > own) && are_close(own, other) {
                    atomicAdd(&counts[min(own, other)], 1u);
                }
            }
        }
    }
}

/// Whether there is no memory for all pairs, or there are too many molecules in one place.
fn is_hopeless() -> bool {
    return starts[params.molecules] > params.max_pairs || atomicLoad(&found.crowded) > 0u;
}

@compute @workgroup_size(GROUP_THREADS)
fn list_neighbors(here: Invocation) {
    let own = thread_number(here.group, here.groups, here.thread);
    if own >= params.molecules || is_hopeless() {
        return;
    }
    let molecule = molecules[own];
    for (var k = 0u; k <= molecule.level; k++) {
        let level = params.level[k];
        let center = level_coordinates(level, poses[own].position);
        for (var n = 0u; n < 27u; n++) {
            let cell = level_cell(level, neighbor_cell(level, center, n));
            for (var at = cell_start[cell]; at < cell_start[cell + 1u]; at++) {
                let other = sorted[at];
                if (k < molecule.level || other > own) && are_close(own, other) {
                    let first = min(own, other);
                    let place = starts[first] + atomicAdd(&counts[first], 1u);
                    listed[place] = vec2(first, max(own, other));
                }
            }
        }
    }
}
