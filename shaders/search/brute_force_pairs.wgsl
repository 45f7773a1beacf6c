// Pairs of each sphere with those that follow it, so that each pair is found once.

fn index_of(sphere: u32) -> u32 {
    return sphere;
}

fn is_partner(own: u32, other: u32) -> bool {
    return other > own;
}

/// Passes all spheres that follow and overlap `own` to `hit`. `first` is the first sphere of the
/// workgroup.
fn visit_partners(own: u32, first: u32) {
    visit_spheres(own, first, search.spheres);
}
