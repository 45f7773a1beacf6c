//! [`GrowingFile`]: a file that is complete after every frame.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::export::TemporaryFile;

/// A file of frames, with an end after the last one that each frame replaces.
///
/// It has a temporary name until its first frame is written. A frame that cannot be written leaves
/// the file as it was.
pub(super) struct GrowingFile {
    target: PathBuf,
    file: File,
    /// Deletes the file unless it has a frame.
    temporary: Option<TemporaryFile>,
    /// Bytes of all frames.
    frames: u64,
    /// What follows the frames.
    end: Vec<u8>,
}

impl GrowingFile {
    /// A file without frames, which is deleted when dropped.
    pub fn create(target: &Path) -> io::Result<Self> {
        if target.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let temporary = TemporaryFile::create(target)?;
        Ok(Self {
            target: target.to_owned(),
            file: temporary.file.try_clone()?,
            temporary: Some(temporary),
            frames: 0,
            end: Vec::new(),
        })
    }

    /// Size, bytes.
    pub fn size(&self) -> u64 {
        self.frames + self.end.len() as u64
    }

    /// Writes a frame and the new end, the last `end` bytes of `bytes`, over the old end.
    pub fn write_frame(&mut self, bytes: &[u8], end: usize) -> io::Result<()> {
        let end = bytes.len().saturating_sub(end);
        if self.frames == 0 && self.temporary.is_none() {
            // The first frame could not be renamed.
            *self = Self::create(&self.target)?;
        }
        replace_end(&mut self.file, self.frames, &self.end, bytes)?;
        if let Some(temporary) = self.temporary.take() {
            temporary.rename_to(&self.target)?;
        }
        self.frames += end as u64;
        self.end.clear();
        self.end.extend_from_slice(&bytes[end..]);
        Ok(())
    }

    /// Waits until all frames are on disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// A file whose end can be cut off.
trait Shorten: Write + Seek {
    fn shorten_to(&mut self, size: u64) -> io::Result<()>;
}

impl Shorten for File {
    fn shorten_to(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}

/// Writes `bytes` over `old`, which starts at `from` and ends the file. If that fails, the file ends
/// with `old` again.
fn replace_end(file: &mut impl Shorten, from: u64, old: &[u8], bytes: &[u8]) -> io::Result<()> {
    let mut written = write_at(file, from, bytes);
    if bytes.len() < old.len() && written.is_ok() {
        written = file.shorten_to(from + bytes.len() as u64);
    }
    if written.is_err() {
        // The disk has held these bytes before. If it fails altogether, the first error is reported.
        let _ = write_at(file, from, old);
        let _ = file.shorten_to(from + old.len() as u64);
    }
    written
}

fn write_at(file: &mut impl Shorten, from: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(from))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A disk with space for some bytes.
    struct SmallDisk {
        file: Cursor<Vec<u8>>,
        capacity: usize,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let rest = self.capacity - self.file.position() as usize;
            match rest.min(bytes.len()) {
                0 => Err(io::ErrorKind::StorageFull.into()),
                fitting => self.file.write(&bytes[..fitting]),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for SmallDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    impl Shorten for SmallDisk {
        fn shorten_to(&mut self, size: u64) -> io::Result<()> {
            self.file.get_mut().truncate(size as usize);
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_keeps_the_frames_before() {
        for capacity in 9..15 {
            let file = Cursor::new(b"frame,end".to_vec());
            let mut disk = SmallDisk { file, capacity };
            let written = replace_end(&mut disk, 6, b"end", b"frame,end");
            assert!(written.is_err(), "{capacity}");
            assert_eq!(disk.file.get_ref(), b"frame,end", "{capacity}");
        }
    }

    #[test]
    fn a_shorter_end_leaves_nothing_of_the_old_one() {
        let file = Cursor::new(b"frame,a long end".to_vec());
        let mut disk = SmallDisk {
            file,
            capacity: 100,
        };
        replace_end(&mut disk, 6, b"a long end", b"f,end").unwrap();
        assert_eq!(disk.file.get_ref(), b"frame,f,end");
    }
}
