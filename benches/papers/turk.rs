//! Turk (1989).

use crate::Options;
use crate::common::{Done, Run};

pub fn run(_: &mut Run, _: &Options) -> Done {
    Ok(())
}
