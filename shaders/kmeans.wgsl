// k-means of lattice points in integer arithmetic: the same result on every device.

/// Parameters of the kernels.
struct KMeansParams {
    /// Number of points.
    points: u32,
    /// Number of centers.
    centers: u32,
    /// The seed to add, packed like the points.
    seed: vec2<u32>,
}

@group(0) @binding(0) var<uniform> params: KMeansParams;
/// Lattice points: x in the lower and y in the upper half of the first word, z in the second.
@group(0) @binding(1) var<storage, read> points: array<vec2<u32>>;
/// Squared distance of each point from the nearest seed.
@group(0) @binding(2) var<storage, read_write> weights: array<u32>;
/// Sum of the weights of each block: lower and upper word.
@group(0) @binding(3) var<storage, read_write> block_sums: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> centers: array<vec2<u32>>;
/// Nearest center of each point.
@group(0) @binding(5) var<storage, read_write> nearest: array<u32>;
/// For each center: sums of the lower bytes of the coordinates of its points, sums of the upper
/// bytes, and the number of points.
@group(0) @binding(6) var<storage, read_write> sums: array<atomic<u32>>;

/// Sum of each thread.
var<workgroup> parts: array<vec2<u32>, GROUP_THREADS>;

fn coordinates(point: vec2<u32>) -> vec3<i32> {
    return vec3<i32>(vec3(point.x & 0xffffu, point.x >> 16u, point.y));
}

fn squared_distance(a: vec2<u32>, b: vec2<u32>) -> u32 {
    let apart = coordinates(a) - coordinates(b);
    let squares = vec3<u32>(apart * apart);
    return squares.x + squares.y + squares.z;
}

/// Adds two 64-bit integers.
fn sum_of(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2(low, a.y + b.y + u32(low < a.x));
}

/// Adds a seed; one workgroup per block of points.
@compute @workgroup_size(GROUP_THREADS)
fn weigh_points(here: Invocation) {
    let thread = here.thread;
    let block = group_number(here.group, here.groups);
    var sum = vec2(0u);
    for (var k = thread; k < SEED_BLOCK; k += GROUP_THREADS) {
        let point = block * SEED_BLOCK + k;
        if point < params.points {
            let weight = min(weights[point], squared_distance(points[point], params.seed));
            weights[point] = weight;
            sum = sum_of(sum, vec2(weight, 0u));
        }
    }
    parts[thread] = sum;
    workgroupBarrier();
    for (var half = GROUP_THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            parts[thread] = sum_of(parts[thread], parts[thread + half]);
        }
        workgroupBarrier();
    }
    if thread == 0u && block * SEED_BLOCK < params.points {
        block_sums[block] = parts[0];
    }
}

/// Assigns each point to the nearest center, or to the first of equally near ones.
@compute @workgroup_size(GROUP_THREADS)
fn assign_points(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.points {
        return;
    }
    let point = points[index];
    var best = 0xffffffffu;
    var chosen = 0u;
    for (var k = 0u; k < params.centers; k++) {
        let squared = squared_distance(point, centers[k]);
        if squared < best {
            best = squared;
            chosen = k;
        }
    }
    nearest[index] = chosen;
    let position = vec3<u32>(coordinates(point));
    let first = chosen * CLUSTER_WORDS;
    atomicAdd(&sums[first], position.x & 0xffu);
    atomicAdd(&sums[first + 1u], position.y & 0xffu);
    atomicAdd(&sums[first + 2u], position.z & 0xffu);
    atomicAdd(&sums[first + 3u], position.x >> 8u);
    atomicAdd(&sums[first + 4u], position.y >> 8u);
    atomicAdd(&sums[first + 5u], position.z >> 8u);
    atomicAdd(&sums[first + 6u], 1u);
}
