//! Stable radix sort of pairs of key and value, both 32 bits.

use bytemuck::{Pod, Zeroable};

use super::buffer::GpuVec;
use super::constants::{GROUP_THREADS, RADIX_BITS, SCAN_BLOCK};
use super::device::GpuDevice;
use super::kernel::{Kernel, Length, uniform};
use super::scan::{ScanPlan, Scanner};
use super::shader::RADIX;
use crate::backend::DeviceError;

/// What is sorted, and by which digit; `RadixParams` in WGSL.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct GpuRadixParams {
    /// Where in `lengths` the number of pairs is.
    pub slot: u32,
    /// How far right of the digit the lowest bit of a key is.
    pub shift: u32,
    /// Number of blocks that `table` has room for.
    pub most_blocks: u32,
}

/// Stable radix sort of pairs of key and value, both 32 bits.
///
/// Least significant digit first, eight bits a pass:
///
/// 1. count how often each digit occurs in each block of pairs;
/// 2. prefix sum, digit by digit: where each block writes each digit;
/// 3. scatter: a pair goes behind those of its block that have the same digit and come
///    before it.
///
/// For keys with few possible values the [counting sort](super::Sorter) is faster, and for
/// keys that may be anything this is the one to use.
#[derive(Debug)]
pub struct RadixSorter {
    count: Kernel,
    scatter: Kernel,
    scanner: Scanner,
}

/// A radix sort of two arrays, ready to be recorded any number of times.
#[derive(Debug)]
pub struct RadixPlan {
    passes: Vec<RadixPass>,
    scan: ScanPlan,
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
    /// [`DeviceError`] if the device refuses them or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        Ok(Self {
            count: Kernel::new(device, &RADIX, "count_digits")?,
            scatter: Kernel::new(device, &RADIX, "scatter_digits")?,
            scanner: Scanner::new(device)?,
        })
    }

    /// Prepares a sort of the first `length` of `keys` and `values`, in place, by the
    /// lowest `bits` of the keys; the others must be zero. The plan is for these arrays
    /// as they are now.
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
        let at_most = length.at_most();
        let (lengths, slot) = length.bind(device)?;
        let most_blocks = at_most.div_ceil(SCAN_BLOCK).max(1);
        // As many entries as 2³² pairs need still fit 32 bits.
        let entries = most_blocks * GROUP_THREADS;
        let table = GpuVec::<u32>::new(device, "digits", entries as usize)?;
        let other_keys = GpuVec::<u32>::new(device, "other keys", at_most as usize)?;
        let other_values = GpuVec::<u32>::new(device, "other values", at_most as usize)?;
        let mut from = (keys.buffer(), values.buffer());
        let mut to = (other_keys.buffer(), other_values.buffer());
        let mut passes = Vec::new();
        for pass in 0..pass_count(bits) {
            let params = GpuRadixParams {
                slot,
                shift: pass * RADIX_BITS,
                most_blocks,
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
            blocks: most_blocks,
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

/// Passes for keys of so many bits: an even number, so that the result is where the input
/// was. The last may have nothing to do but to copy.
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
