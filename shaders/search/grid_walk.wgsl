// Walk over a uniform grid.

/// Passes all spheres that follow and overlap `own` to `hit`.
fn visit_partners(own: u32, _first: u32) {
    if is_overcrowded(totals[OCCUPANCY_SLOT]) {
        return;
    }
    walk_shell(own, search_grid(), 0u);
}
