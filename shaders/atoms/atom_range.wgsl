// Atoms and spheres of a molecule.

/// Start of the atoms and spheres of a molecule, which end at the next entry. The array has one
/// entry more than there are molecules.
struct AtomRange {
    /// First atom, among those of all templates.
    first_atom: u32,
    /// First sphere.
    first_sphere: u32,
}
