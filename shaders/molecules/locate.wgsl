// The cell of each molecule.

@group(0) @binding(1) var<storage, read> molecules: array<MoleculeEntry>;
@group(0) @binding(2) var<storage, read> poses: array<Pose>;
/// Cell of each molecule.
@group(0) @binding(3) var<storage, read_write> cells: array<u32>;

@compute @workgroup_size(GROUP_THREADS)
fn locate_molecules(here: Invocation) {
    let molecule = thread_number(here.group, here.groups, here.thread);
    if molecule >= params.molecules {
        return;
    }
    let level = params.level[molecules[molecule].level];
    let cell = level_coordinates(level, poses[molecule].position);
    cells[molecule] = level_cell(level, cell);
}
