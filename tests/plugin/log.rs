//! What the log says, in all tests of this process.

use std::io::{self, Write};
use std::sync::{Mutex, Once, PoisonError};

use bevy::log::tracing_subscriber::fmt;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Writes to the log.
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

/// Begins to listen to the log. Systems run on any thread, so all of them are heard.
pub fn listen() {
    static BEGIN: Once = Once::new();
    BEGIN.call_once(|| fmt().with_ansi(false).with_writer(|| Writer).init());
}

/// How many lines say all of `words`, since the first test listened. Other tests may run
/// at the same time: the words have to be those of one.
pub fn count(words: &[&str]) -> usize {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&log);
    let lines = text.lines();
    let found = lines.filter(|line| words.iter().all(|word| line.contains(word)));
    found.count()
}
