//! Timestamps of compute passes.

use std::time::Duration;

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::begin_pass;
use super::readback::Readback;
use crate::backend::DeviceError;

/// Maximum number of timed passes between two reads; further passes are not timed.
const MAX_PASSES: u32 = 512;

/// Time of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassTime {
    /// Label of the pass.
    pub label: &'static str,
    /// Time on the device.
    pub time: Duration,
}

/// Times passes if the device has timestamps.
#[derive(Debug)]
pub struct PassTimer {
    clock: Option<Clock>,
    labels: Vec<&'static str>,
}

#[derive(Debug)]
struct Clock {
    queries: wgpu::QuerySet,
    /// Target of resolved queries, whose usage excludes a [`GpuVec`].
    resolved: wgpu::Buffer,
    copy: GpuVec<u64>,
    readback: Readback,
    /// Nanoseconds per tick.
    period: f32,
}

impl PassTimer {
    /// Creates a timer, which does nothing without timestamps.
    ///
    /// # Errors
    /// [`DeviceError`] if the device has no memory left or is lost.
    pub fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        let clock = if device.has_timestamps() {
            Some(Clock::new(device)?)
        } else {
            None
        };
        Ok(Self {
            clock,
            labels: Vec::new(),
        })
    }

    /// Begins a pass, timed if possible.
    pub fn begin<'a>(
        &mut self,
        encoder: &'a mut wgpu::CommandEncoder,
        label: &'static str,
    ) -> wgpu::ComputePass<'a> {
        let at = self.labels.len() as u32 * 2;
        let Some(clock) = self.clock.as_ref().filter(|_| at < MAX_PASSES * 2) else {
            return begin_pass(encoder, label);
        };
        self.labels.push(label);
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some(label),
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &clock.queries,
                beginning_of_pass_write_index: Some(at),
                end_of_pass_write_index: Some(at + 1),
            }),
        })
    }

    /// Waits for the device and returns the times of all passes submitted since the last read;
    /// empty without timestamps.
    ///
    /// # Errors
    /// [`DeviceError`] if the device is lost.
    pub fn read(&mut self, device: &GpuDevice) -> Result<Vec<PassTime>, DeviceError> {
        let labels = std::mem::take(&mut self.labels);
        match &mut self.clock {
            Some(clock) if !labels.is_empty() => clock.read(device, &labels),
            _ => Ok(Vec::new()),
        }
    }
}

impl Clock {
    fn new(device: &GpuDevice) -> Result<Self, DeviceError> {
        let count = MAX_PASSES * 2;
        let copy = GpuVec::new(device, "pass times", count as usize)?;
        let (queries, resolved) = device.guarded(|| {
            let raw = device.raw();
            let queries = raw.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("pass times"),
                ty: wgpu::QueryType::Timestamp,
                count,
            });
            let resolved = raw.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pass times"),
                size: u64::from(count) * size_of::<u64>() as u64,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            (queries, resolved)
        })?;
        Ok(Self {
            queries,
            resolved,
            copy,
            readback: Readback::new(),
            period: device.queue().get_timestamp_period(),
        })
    }

    fn read(
        &mut self,
        device: &GpuDevice,
        labels: &[&'static str],
    ) -> Result<Vec<PassTime>, DeviceError> {
        let count = labels.len() * 2;
        let bytes = (count * size_of::<u64>()) as u64;
        let mut encoder = device.encoder("pass times");
        encoder.resolve_query_set(&self.queries, 0..count as u32, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, self.copy.buffer(), 0, bytes);
        self.readback
            .record(device, &mut encoder, &self.copy, 0..count)?;
        device.submit(encoder)?;
        let period = f64::from(self.period);
        self.readback.read(device, |ticks: &[u64]| {
            let (spans, _) = ticks.as_chunks::<2>();
            let times = labels.iter().zip(spans).map(|(&label, &[begin, end])| {
                let nanoseconds = end.saturating_sub(begin) as f64 * period;
                PassTime {
                    label,
                    time: Duration::from_nanos(nanoseconds as u64),
                }
            });
            times.collect()
        })
    }
}
