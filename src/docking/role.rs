//! The roles of molecules in a session.

use std::fmt;

/// The role of a molecule in a session. Displayed as in logs: `receptor`, `ligand`, `ligand2`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The molecule that the ligands bind to. Usually the largest one. Rigid.
    Receptor,
    /// A molecule that binds to the receptor: 0 for the first one.
    Ligand(u32),
}

impl Role {
    /// The first ligand.
    pub const LIGAND: Self = Self::Ligand(0);

    /// The index of the molecule: 0 for the receptor.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Receptor => 0,
            Self::Ligand(ligand) => ligand as usize + 1,
        }
    }

    /// The role of the molecule with an index: the receptor for 0.
    #[must_use]
    pub const fn of(index: usize) -> Self {
        match index {
            0 => Self::Receptor,
            ligand => Self::Ligand(ligand as u32 - 1),
        }
    }

    /// The role with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "receptor" => Some(Self::Receptor),
            "ligand" => Some(Self::LIGAND),
            _ => {
                let number: u32 = name.strip_prefix("ligand")?.parse().ok()?;
                let role = Self::Ligand(number.checked_sub(1)?);
                // Each role has one name only.
                (role.to_string() == name).then_some(role)
            }
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receptor => f.write_str("receptor"),
            Self::Ligand(0) => f.write_str("ligand"),
            Self::Ligand(ligand) => write!(f, "ligand{}", u64::from(*ligand) + 1),
        }
    }
}
