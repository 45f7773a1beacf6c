// A direction for coincident molecules.

/// A unit vector for two molecules with the same center, hashed from their indices; opposite if
/// the indices are swapped.
fn arbitrary_direction(owners: vec2<u32>) -> vec3<f32> {
    let low = min(owners.x, owners.y);
    let high = max(owners.x, owners.y);
    let first = ((low * DIRECTION_HASH.x) ^ high) * DIRECTION_HASH.y;
    let second = (first ^ (first >> 15u)) * DIRECTION_HASH.z;
    let around = 2.0 * PI * (f32(first >> 8u) / 16777216.0);
    let height = 2.0 * (f32(second >> 8u) / 16777216.0) - 1.0;
    let width = sqrt(max(1.0 - height * height, 0.0));
    let found = vec3(width * cos(around), width * sin(around), height);
    return select(-found, found, owners.x < owners.y);
}
