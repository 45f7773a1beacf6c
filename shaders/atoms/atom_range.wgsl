// Which atoms and spheres a molecule has.

/// Where the atoms and the spheres of a molecule start. Both are side by side, and there is
/// an entry more than there are molecules, so that the next one says where they end.
struct AtomRange {
    /// First of its atoms among those of all templates.
    first_atom: u32,
    /// First of its spheres.
    first_sphere: u32,
}
