//! Stable radix sort of 32-bit keys and values. CPU reference: `slice::sort_by_key`.

use bytemuck::{Pod, Zeroable};

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{Kernel, Length, uniform};
use super::prefix_sum::{PrefixSum, PrefixSumPlan};
use super::shader::RADIX_SORT;
use super::shader_constants::{GROUP_THREADS, RADIX_BITS, SCAN_BLOCK};
use crate::backend::DeviceError;

/// Parameters of one pass; `RadixParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuRadixParams {
    /// Index of the number of pairs in `lengths`.
    pub slot: u32,
    /// Lowest bit of the digit.
    pub shift: u32,
    /// Capacity of `table`, blocks.
    pub max_blocks: u32,
}

/// Stable radix sort of 32-bit keys and values.
///
/// Least significant digit first, eight bits per pass:
///
/// 1. count each digit in each block of pairs;
/// 2. prefix sum, digit by digit: where each block writes each digit;
/// 3. scatter: a pair follows the earlier pairs of its block with the same digit.
///
/// For keys in a small range, a [`CountingSorter`](super::CountingSorter) is faster.
#[derive(Debug)]
pub struct RadixSorter {
    count: Kernel,
    scatter: Kernel,
    scanner: PrefixSum,
}

/// A sort of two buffers, ready to be recorded any number of times.
#[derive(Debug)]
pub struct RadixPlan {
    passes: Vec<RadixPass>,
    scan: PrefixSumPlan,
    blocks: u32,
}

/// One digit.
#[derive(Debug)]
struct RadixPass {
    count: wgpu::BindGroup,
    scatter: wgpu::BindGroup,
}

impl RadixSorter {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// [`DeviceError`] if the device rejects them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            count: Kernel::new(device, &RADIX_SORT, "count_digits")?,
            scatter: Kernel::new(device, &RADIX_SORT, "scatter_digits")?,
            scanner: PrefixSum::new(device)?,
        })
    }

    /// Prepares a sort of the first `length` of `keys` and `values`, in place, by the lowest
    /// `bits` of the keys; higher bits must be zero. The plan is valid until a buffer grows.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no memory for copies of both and for the counts.
    pub fn plan(
        &self,
        device: &GpuDevice,
        keys: &GpuVec<u32>,
        values: &GpuVec<u32>,
        length: Length<'_>,
        bits: u32,
    ) -> Result<RadixPlan, DeviceError> {
        let max_len = length.max();
        let (lengths, slot) = length.bind(device)?;
        let max_blocks = max_len.div_ceil(SCAN_BLOCK).max(1);
        // Fits 32 bits even for 2³² pairs.
        let entries = max_blocks * GROUP_THREADS;
        let table = GpuVec::<u32>::new(device, "digits", entries as usize)?;
        let other_keys = GpuVec::<u32>::new(device, "sorted keys", max_len as usize)?;
        let other_values = GpuVec::<u32>::new(device, "sorted values", max_len as usize)?;
        let mut from = (keys.buffer(), values.buffer());
        let mut to = (other_keys.buffer(), other_values.buffer());
        let mut passes = Vec::new();
        for pass in 0..pass_count(bits) {
            let params = GpuRadixParams {
                slot,
                shift: pass * RADIX_BITS,
                max_blocks,
            };
            let params = uniform(device, "radix pass", &params)?;
            let common = [
                (0, &params),
                (1, &lengths),
                (2, from.0),
                (4, table.buffer()),
            ];
            let moved = [(3, from.1), (5, to.0), (6, to.1)];
            passes.push(RadixPass {
                count: self.count.bind(device, &common)?,
                scatter: self
                    .scatter
                    .bind(device, &[&common[..], &moved[..]].concat())?,
            });
            std::mem::swap(&mut from, &mut to);
        }
        Ok(RadixPlan {
            passes,
            scan: self.scanner.plan(device, &table, Length::Host(entries))?,
            blocks: max_blocks,
        })
    }

    /// Records the sort.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, plan: &RadixPlan) {
        for digit in &plan.passes {
            self.count.record(pass, &digit.count, plan.blocks);
            self.scanner.record(pass, &plan.scan);
            self.scatter.record(pass, &digit.scatter, plan.blocks);
        }
    }
}

/// Number of passes: even, so that the result is in the input buffers. The last pass may only
/// copy.
fn pass_count(bits: u32) -> u32 {
    bits.min(u32::BITS).div_ceil(RADIX_BITS).next_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_even_and_cover_all_bits() {
        let counts = [0, 1, 8, 16, 17, 24, 32, 99].map(pass_count);
        assert_eq!(counts, [0, 2, 2, 2, 4, 4, 4, 4]);
    }
}
