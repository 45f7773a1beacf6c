//! How much memory the program has used.

use std::fmt::{self, Display};

/// Most physical memory that this process ever held, bytes; `None` where the system
/// does not tell.
pub fn peak_bytes() -> Option<u64> {
    // Linux only. Elsewhere there is no such file.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Bytes for people, such as `12.3 MiB`.
pub struct Bytes(pub u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEBIBYTE: f64 = 1024.0 * 1024.0;
        write!(f, "{:.1} MiB", self.0 as f64 / MEBIBYTE)
    }
}
