//! What a grid searches, and what it knows before it writes pairs.

use rayon::prelude::*;

use super::atoms::GpuAtoms;
use super::device::GpuDevice;
use super::error::GpuError;
use super::measure::GpuMeasure;
use super::sort::SortPlan;
use crate::spheres::SphereSet;

/// Where the spheres of a search come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Searched<'a> {
    /// From the processor.
    Sent(&'a SphereSet),
    /// From templates and poses, on the device.
    Placed(&'a GpuAtoms),
}

impl Searched<'_> {
    pub fn len(self) -> usize {
        match self {
            Self::Sent(spheres) => spheres.len(),
            Self::Placed(atoms) => atoms.spheres().len(),
        }
    }

    /// The largest number of a molecule.
    pub fn last_owner(self) -> u32 {
        match self {
            Self::Sent(spheres) => spheres.owner.par_iter().copied().max().unwrap_or(0),
            Self::Placed(atoms) => atoms.molecules().saturating_sub(1),
        }
    }
}

/// What a search found out before pairs were written.
pub(super) enum Counted {
    Pairs(u64),
    /// A sphere in the fullest cell, and how many that has.
    Crowded {
        sphere: u32,
        spheres: u32,
    },
}

/// The fullest cell, for the error: the first of those that have most.
pub(super) fn find_crowd(
    device: &GpuDevice,
    sort: &SortPlan,
    crowding: GpuMeasure,
) -> Result<Counted, GpuError> {
    let starts = sort.starts().read(device)?;
    let scattered = sort.scattered().read(device)?;
    let fullest = starts
        .windows(2)
        .find(|cell| cell[1].wrapping_sub(cell[0]) == crowding.most);
    let members = fullest
        .and_then(|cell| scattered.get(cell[0] as usize..cell[1] as usize))
        .unwrap_or(&[]);
    Ok(Counted::Crowded {
        sphere: members.iter().copied().min().unwrap_or(0),
        spheres: crowding.most,
    })
}
