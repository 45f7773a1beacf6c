//! Files of checkpoints: numbers in little-endian order.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | [`VERSION`] |
//! | 24 | origin, hash of the molecules, hash of the config |
//! | 116 | iterations, detectors, first status, times |
//! | 5, 5 | coarse start, local motion: whether there is one, and its end or number of owners |
//! | 4 + | number of molecules; order, poses, pushes, and the owners of local motion |
//! | 8 | FNV-1a of all bytes before |

use std::hash::Hasher;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::Duration;

use glam::{Quat, Vec3};

use super::{CheckpointError, Progress, RelaxCheckpoint};
use crate::export::TemporaryFile;
use crate::fnv::Fnv;
use crate::force::Push;
use crate::pose::Pose;
use crate::relax::stall_detector::StallDetector;
use crate::relax::{CountedSpheres, RelaxStatus, StageTimes};

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"BRMRELAX";

/// Version of the format.
const VERSION: u32 = 1;

/// Most entries that memory is reserved for before they are read: the count of a damaged file
/// may be anything.
const MAX_RESERVED: usize = 1 << 16;

impl RelaxCheckpoint {
    /// Writes the checkpoint completely or not at all: a previous file is replaced by a complete
    /// one. 56 bytes a molecule.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CheckpointError> {
        let path = path.as_ref();
        let mut temporary = TemporaryFile::create(path)?;
        self.write(BufWriter::new(&mut temporary.file))?;
        Ok(temporary.rename_to(path)?)
    }

    /// Reads a checkpoint from a file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn load(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::read(BufReader::new(std::fs::File::open(path)?))
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// [`CheckpointError::Io`] if `writer` fails.
    pub fn write(&self, writer: impl Write) -> Result<(), CheckpointError> {
        let mut out = Writer {
            inner: writer,
            hash: Fnv::default(),
        };
        out.bytes(&MAGIC)?;
        out.u32(VERSION)?;
        for number in [self.origin, self.molecules, self.config] {
            out.u64(number)?;
        }
        let Progress {
            iterations,
            last_kick,
            stall,
            since_kick,
        } = self.progress;
        out.u32(iterations)?;
        out.u32(last_kick)?;
        for detector in [stall, since_kick] {
            let (window, best, since) = detector.parts();
            out.u32(window)?;
            out.u64(best.to_bits())?;
            out.u32(since)?;
        }
        let RelaxStatus {
            spheres: _,
            overlaps,
            unresolved,
            max_penetration_nm,
            out_of_place,
            strained_joints,
        } = self.start;
        for number in [overlaps, unresolved, out_of_place, strained_joints] {
            out.u64(number)?;
        }
        out.f32(max_penetration_nm)?;
        let StageTimes {
            gather,
            grid,
            search,
            respond,
            apply,
        } = self.stages;
        for time in [gather, grid, search, respond, apply] {
            out.u64(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))?;
        }
        out.optional(self.coarse_end)?;
        out.optional(self.local.as_ref().map(|until| until.len() as u32))?;
        out.u32(self.poses.len() as u32)?;
        for &member in &self.order {
            out.u32(member)?;
        }
        for pose in &self.poses {
            for number in pose.position.to_array() {
                out.f32(number)?;
            }
            for number in pose.rotation.to_array() {
                out.f32(number)?;
            }
        }
        for push in &self.pushes {
            for number in [push.linear, push.angular]
                .map(|part| part.to_array())
                .concat()
            {
                out.f32(number)?;
            }
        }
        for &until in self.local.iter().flatten() {
            out.u32(until)?;
        }
        let hash = out.hash.finish();
        out.u64(hash)?;
        Ok(out.inner.flush()?)
    }

    /// Reads a checkpoint. Memory grows with what is read, not with counts in the file.
    ///
    /// # Errors
    /// [`CheckpointError`] if `reader` fails, or if what it reads is not a complete checkpoint of
    /// this version.
    pub fn read(reader: impl Read) -> Result<Self, CheckpointError> {
        let mut file = Reader {
            inner: reader,
            hash: Fnv::default(),
            bytes: 0,
        };
        if file.array().ok() != Some(MAGIC) {
            return Err(CheckpointError::NotACheckpoint);
        }
        let found = file.u32()?;
        if found != VERSION {
            let supported = VERSION;
            return Err(CheckpointError::Version { found, supported });
        }
        let [origin, molecules, config] = [file.u64()?, file.u64()?, file.u64()?];
        let [iterations, last_kick] = [file.u32()?, file.u32()?];
        let [stall, since_kick] = [file.detector()?, file.detector()?];
        let start = RelaxStatus {
            spheres: CountedSpheres::Atoms,
            overlaps: file.u64()?,
            unresolved: file.u64()?,
            out_of_place: file.u64()?,
            strained_joints: file.u64()?,
            max_penetration_nm: file.f32()?,
        };
        let stages = StageTimes {
            gather: file.time()?,
            grid: file.time()?,
            search: file.time()?,
            respond: file.time()?,
            apply: file.time()?,
        };
        let coarse_end = file.optional()?;
        let owners = file.optional()?;
        let count = file.u32()?;
        let order = file.list(count, Reader::u32)?;
        let poses = file.list(count, Reader::pose)?;
        let pushes = file.list(count, Reader::push)?;
        let local = owners.map(|owners| file.list(owners, Reader::u32));
        let local = local.transpose()?;
        let hash = file.hash.finish();
        if file.u64()? != hash {
            let what = "its checksum does not match";
            return Err(CheckpointError::Damaged { what });
        }
        if file.inner.read(&mut [0])? != 0 {
            let what = "it goes on after its end";
            return Err(CheckpointError::Damaged { what });
        }
        let checkpoint = Self {
            origin,
            molecules,
            config,
            progress: Progress {
                iterations,
                last_kick,
                stall,
                since_kick,
            },
            start,
            stages,
            coarse_end,
            local,
            order,
            poses,
            pushes,
        };
        checkpoint.check_numbers()?;
        Ok(checkpoint)
    }

    /// Checks what the relaxer relies on, though the checksum matches.
    fn check_numbers(&self) -> Result<(), CheckpointError> {
        let damaged = |what| Err(CheckpointError::Damaged { what });
        let mut is_known = vec![false; self.order.len()];
        for &member in &self.order {
            match is_known.get_mut(member as usize) {
                Some(known) if !*known => *known = true,
                _ => return damaged("its order of the molecules is invalid"),
            }
        }
        if !self.poses.iter().all(Pose::is_rigid) {
            return damaged("a pose is invalid");
        }
        let mut pushes = self.pushes.iter();
        if !pushes.all(|push| push.linear.is_finite() && push.angular.is_finite()) {
            return damaged("a push is invalid");
        }
        if self.progress.last_kick > self.progress.iterations {
            return damaged("its number of iterations is invalid");
        }
        let owners = self.local.as_ref().map_or(self.order.len(), Vec::len);
        if owners != self.order.len() {
            return damaged("the number of moving molecules is invalid");
        }
        Ok(())
    }
}

/// Writes numbers and hashes them.
struct Writer<W> {
    inner: W,
    hash: Fnv,
}

impl<W: Write> Writer<W> {
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.hash.write(bytes);
        Ok(self.inner.write_all(bytes)?)
    }

    fn u32(&mut self, number: u32) -> Result<(), CheckpointError> {
        self.bytes(&number.to_le_bytes())
    }

    fn u64(&mut self, number: u64) -> Result<(), CheckpointError> {
        self.bytes(&number.to_le_bytes())
    }

    fn f32(&mut self, number: f32) -> Result<(), CheckpointError> {
        self.bytes(&number.to_le_bytes())
    }

    fn optional(&mut self, number: Option<u32>) -> Result<(), CheckpointError> {
        self.bytes(&[u8::from(number.is_some())])?;
        self.u32(number.unwrap_or_default())
    }
}

/// Reads numbers and hashes them.
struct Reader<R> {
    inner: R,
    hash: Fnv,
    /// Number of bytes that were read.
    bytes: u64,
}

impl<R: Read> Reader<R> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let mut bytes = [0; N];
        self.inner
            .read_exact(&mut bytes)
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    CheckpointError::Truncated { bytes: self.bytes }
                }
                _ => error.into(),
            })?;
        self.hash.write(&bytes);
        self.bytes += N as u64;
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32, CheckpointError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, CheckpointError> {
        self.array().map(u64::from_le_bytes)
    }

    fn f32(&mut self) -> Result<f32, CheckpointError> {
        self.array().map(f32::from_le_bytes)
    }

    fn vec3(&mut self) -> Result<Vec3, CheckpointError> {
        Ok(Vec3::new(self.f32()?, self.f32()?, self.f32()?))
    }

    fn time(&mut self) -> Result<Duration, CheckpointError> {
        self.u64().map(Duration::from_nanos)
    }

    fn optional(&mut self) -> Result<Option<u32>, CheckpointError> {
        let [is_there] = self.array()?;
        let number = self.u32()?;
        Ok((is_there != 0).then_some(number))
    }

    fn detector(&mut self) -> Result<StallDetector, CheckpointError> {
        let window = self.u32()?;
        let best = f64::from_bits(self.u64()?);
        let since = self.u32()?;
        Ok(StallDetector::from_parts(window, best, since))
    }

    fn pose(&mut self) -> Result<Pose, CheckpointError> {
        let position = self.vec3()?;
        let [x, y, z, w] = [self.f32()?, self.f32()?, self.f32()?, self.f32()?];
        Ok(Pose::new(position, Quat::from_xyzw(x, y, z, w)))
    }

    fn push(&mut self) -> Result<Push, CheckpointError> {
        Ok(Push {
            linear: self.vec3()?,
            angular: self.vec3()?,
        })
    }

    fn list<T>(
        &mut self,
        count: u32,
        mut read: impl FnMut(&mut Self) -> Result<T, CheckpointError>,
    ) -> Result<Vec<T>, CheckpointError> {
        let mut list = Vec::with_capacity((count as usize).min(MAX_RESERVED));
        for _ in 0..count {
            list.push(read(self)?);
        }
        Ok(list)
    }
}
