//! Comparison of blocks of spheres, bit for bit as in the grids.

use std::ops::Range;

use glam::Vec3;

use crate::search::Pair;
use crate::search::uniform_grid::pair_walk::compare_run;
#[cfg(target_arch = "x86_64")]
use crate::search::uniform_grid::simd::Avx2;
use crate::search::uniform_grid::simd::{
    Columns, Comparison, Instructions, MAX_LANES, Query, Scalar,
};
use crate::spheres::SphereSet;

/// Spheres of several blocks as arrays.
#[derive(Debug, Default)]
pub(crate) struct SphereBlocks {
    spheres: SphereSet,
    index: Vec<u32>,
    instructions: Instructions,
}

/// Two blocks that may overlap.
#[derive(Clone, Debug)]
pub(crate) struct BlockPair {
    /// Spheres of the first block.
    pub(crate) a: Range<u32>,
    /// Spheres of the second block.
    pub(crate) b: Range<u32>,
    /// Center of a sphere around the second block, nm.
    pub(crate) center: Vec3,
    /// Radius of that sphere plus the margin and a bound on rounding, nm.
    pub(crate) reach: f32,
}

impl SphereBlocks {
    /// Number of spheres.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Removes all spheres and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.spheres.clear();
        self.index.clear();
    }

    /// Adds a sphere.
    #[inline]
    pub(crate) fn push(&mut self, center: Vec3, radius: f32, owner: u32, index: u32) {
        self.spheres.push_unchecked(center, radius, owner);
        self.index.push(index);
    }

    /// Appends the overlapping spheres of different owners of all `block_pairs` to `list`. No
    /// spheres are added afterwards.
    pub(crate) fn compare(&mut self, block_pairs: &[BlockPair], margin: f32, list: &mut Vec<Pair>) {
        // Padding, so that a vector can be loaded from any sphere.
        for _ in 0..MAX_LANES {
            self.push(Vec3::INFINITY, f32::INFINITY, 0, 0);
        }
        match self.instructions {
            Instructions::Scalar => self.compare_with::<Scalar>(block_pairs, margin, list),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 | Instructions::Avx512 => {
                // SAFETY: both exist only where AVX2 was detected.
                unsafe { self.compare_avx2(block_pairs, margin, list) };
            }
        }
    }

    /// # Safety
    /// The CPU has AVX2, BMI1 and POPCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    unsafe fn compare_avx2(&self, block_pairs: &[BlockPair], margin: f32, list: &mut Vec<Pair>) {
        self.compare_with::<Avx2>(block_pairs, margin, list);
    }

    #[inline(always)]
    fn compare_with<C: Comparison>(
        &self,
        block_pairs: &[BlockPair],
        margin: f32,
        list: &mut Vec<Pair>,
    ) {
        let columns = Columns::new(&self.spheres, &self.index);
        for pair in block_pairs {
            for one in pair.a.start as usize..pair.a.end as usize {
                let (x, y, z) = (columns.x[one], columns.y[one], columns.z[one]);
                let radius = columns.radius[one];
                let (dx, dy, dz) = (x - pair.center.x, y - pair.center.y, z - pair.center.z);
                let reach = radius + pair.reach;
                if dx * dx + dy * dy + dz * dz > reach * reach {
                    continue;
                }
                let query = Query {
                    x,
                    y,
                    z,
                    owner: columns.owner[one],
                    reach: margin,
                    radius,
                };
                let run = pair.b.start as usize..pair.b.end as usize;
                // SAFETY: the columns have MAX_LANES entries after the last sphere, and
                // `compare` chose `C`.
                unsafe {
                    compare_run::<C, true, _>(&columns, &query, columns.index[one], run, list);
                }
            }
        }
    }
}
