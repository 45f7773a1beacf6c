// The walk over one grid.

/// Passes all partners of a sphere that follow it to `hit`; threads walk alone.
fn walk_together(own: u32, _first: u32) {
    if is_crowded(measured[CROWDING_SLOT]) {
        return;
    }
    walk_shell(own, search_grid(), 0u);
}
