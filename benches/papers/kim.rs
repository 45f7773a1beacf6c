//! Kim, Guibas and Shin (2005).

use crate::Options;
use crate::common::{Done, Run};

pub fn run(_: &mut Run, _: &Options) -> Done {
    Ok(())
}
