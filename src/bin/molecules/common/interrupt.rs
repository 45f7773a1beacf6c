//! Ctrl-C: the first one asks the program to stop, the second one ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code after a second interruption: 128 + SIGINT, as in shells.
const KILLED: i32 = 130;

/// A flag that Ctrl-C or a termination signal sets. A second one ends the program.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, ctrlc::Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
    })?;
    Ok(stop)
}
