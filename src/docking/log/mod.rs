//! Sessions as text: recorded, and played back to the same pose, bit for bit.
//!
//! ```text
//! docking-log 1
//! receptor 3f0c5a1d9be87244 2603 t4_lysozyme_l99a
//! ligand 9a1be0c4d5526f13 18 p_xylene
//! energy none
//! place ligand 4.2 4.5 1.8 0.0 0.0 0.0 1.0
//! response slide
//! move 0.1 0.0 0.0 0.0 0.0 0.0
//! end 3 5bd0f1e2a3948576
//! ```
//!
//! After the head, a line is an [`SessionInput`](super::SessionInput). Numbers are written so that reading
//! them gives the same bits. What bodies of a physics engine did is recorded as the poses
//! that they reached (`carried`, receptor and ligand), so that playing needs no physics. The
//! head has the molecules' digests, numbers of atoms and names; the last line has the number
//! of inputs and a digest of where both molecules ended. A session that was not ended has no
//! such line, and is told from a whole one by that.

mod error;
mod input_text;
mod read;
mod record;

pub use error::LogError;
pub use read::SessionLog;
pub use record::Recorder;

use super::energy::EnergyGrid;
use super::{Role, Session};
use crate::molecule::MoleculeTemplate;

/// First word of a log.
const MAGIC: &str = "docking-log";

/// What is written, and all that is read.
const VERSION: u32 = 1;

/// A digest of bytes: FNV-1a with 64 bits.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    fn numbers(self, numbers: &[f32]) -> Self {
        let numbers = numbers.iter();
        numbers.fold(self, |digest, number| {
            digest.bytes(&number.to_bits().to_le_bytes())
        })
    }
}

/// A digest of all that decides how a molecule moves and what it meets.
fn molecule_digest(molecule: &MoleculeTemplate) -> u64 {
    let atoms = molecule.positions().iter().zip(molecule.radii());
    let digest = atoms.fold(Digest::new(), |digest, (position, radius)| {
        digest.numbers(&position.to_array()).numbers(&[*radius])
    });
    let elements = molecule.elements().iter();
    let digest = elements.fold(digest, |digest, element| {
        digest.bytes(&[element.atomic_number()])
    });
    digest.0
}

/// A digest of where both molecules are.
fn pose_digest(session: &Session) -> u64 {
    let parts = [Role::Receptor, Role::Ligand].into_iter();
    let digest = parts.fold(Digest::new(), |digest, part| {
        let pose = session.pose(part);
        let digest = digest.numbers(&pose.position.to_array());
        digest.numbers(&pose.rotation.to_array())
    });
    digest.0
}

/// What a log says about an energy.
fn energy_words(energy: Option<&EnergyGrid>) -> String {
    match energy {
        None => "none".to_owned(),
        Some(grid) => {
            let config = grid.config();
            format!(
                "{:?} {:?} {:?} {:?}",
                config.spacing, config.switch, config.cutoff, config.soft
            )
        }
    }
}
