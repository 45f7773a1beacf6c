//! Captures the log of all tests in this process.

use std::io::{self, Write};
use std::sync::{Mutex, Once, PoisonError};

use bevy::log::tracing_subscriber::fmt;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Appends to the captured log.
struct Writer;

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts capturing the log of all threads.
pub fn capture() {
    static START: Once = Once::new();
    START.call_once(|| fmt().with_ansi(false).with_writer(|| Writer).init());
}

/// Number of captured lines that contain all of `parts`. Other tests may run at the same
/// time, so the parts must be specific to one test.
pub fn count(parts: &[&str]) -> usize {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&log);
    let lines = text.lines();
    let found = lines.filter(|line| parts.iter().all(|part| line.contains(part)));
    found.count()
}
