//! [`WatchedFile`]: whether a file has changed on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file, and its time of modification and its size when it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WatchedFile {
    path: PathBuf,
    stamp: Option<(SystemTime, u64)>,
}

impl WatchedFile {
    /// The file as it is now.
    pub fn new(path: PathBuf) -> Self {
        Self {
            stamp: stamp_of(&path),
            path,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has changed since the last call. A file that is gone, as while an editor
    /// replaces it, has not.
    pub fn has_changed(&mut self) -> bool {
        let now = stamp_of(&self.path);
        let changed = now.is_some() && now != self.stamp;
        if changed {
            self.stamp = now;
        }
        changed
    }
}

fn stamp_of(path: &Path) -> Option<(SystemTime, u64)> {
    let data = fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}
