// Pairs of molecules without close spheres.

/// Group of a pair of molecules without close spheres.
const NO_GROUP: u32 = 0xffffffffu;
