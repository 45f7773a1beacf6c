//! Frames of XTC files of GROMACS: compressed coordinates of all atoms.

use std::path::Path;

use glam::Vec3;
use molly::{Frame, Magic, XTC_1995_MAX_NATOMS, XTCWriter};

use super::TrajectoryError;
use super::options::{TimeUnit, TrajectoryOptions};
use super::writer::{TrajectoryKind, TrajectoryMolecule};
use crate::export::{ANGSTROM_PER_NM, AngstromPose, ExportError, MAX_COORDINATE};

/// Steps of coordinates in a nanometer.
const PRECISION: f32 = 1000.0;

/// Picoseconds in a second.
const PS_PER_S: f64 = 1.0e12;

/// Largest number of atoms: files have 32-bit numbers, which some programs take for signed.
const MAX_ATOMS: usize = i32::MAX as usize;

/// Writes the frames.
pub(super) struct XtcFrames {
    /// The current frame, whose buffer is reused.
    frame: Frame,
    /// Id and kind of the molecules of the first frame.
    molecules: Vec<(u64, u32)>,
    /// The bytes of the current frame.
    writer: XTCWriter<Vec<u8>>,
}

impl XtcFrames {
    pub fn new(options: &TrajectoryOptions) -> Self {
        let mut frame = Frame {
            precision: PRECISION,
            ..Frame::default()
        };
        if let Some(periodic) = options.periodic_box {
            let size = periodic.size();
            [frame.boxvec[0], frame.boxvec[4], frame.boxvec[8]] = size.to_array();
        }
        Self {
            frame,
            molecules: Vec::new(),
            writer: XTCWriter::new(Vec::new()),
        }
    }

    /// Checks that the molecules are those of the first frame.
    pub fn check(
        &mut self,
        path: &Path,
        frame: u64,
        kinds: &[TrajectoryKind],
        molecules: impl Iterator<Item = TrajectoryMolecule>,
    ) -> Result<(), TrajectoryError> {
        let molecules = molecules.map(|molecule| (molecule.id, molecule.kind));
        if frame > 0 {
            let template = |kind: u32| &kinds[kind as usize].template;
            let is_same = |((id, kind), (first_id, first_kind)): ((u64, u32), (u64, u32))| {
                let is_kind = kind == first_kind
                    || std::sync::Arc::ptr_eq(template(kind), template(first_kind));
                id == first_id && is_kind
            };
            let mut first = self.molecules.iter().copied();
            let mut rest = molecules;
            let is_same = rest
                .by_ref()
                .all(|molecule| first.next().is_some_and(|first| is_same((molecule, first))));
            if !is_same || first.next().is_some() {
                return Err(TrajectoryError::MoleculesChanged {
                    path: path.to_owned(),
                    frame,
                });
            }
            return Ok(());
        }
        self.molecules.clear();
        self.molecules.extend(molecules);
        let atoms = |&(_, kind): &(u64, u32)| kinds[kind as usize].template.atom_count();
        let atoms = self.molecules.iter().map(atoms).sum();
        if !(1..=MAX_ATOMS).contains(&atoms) {
            return Err(TrajectoryError::AtomCount {
                path: path.to_owned(),
                atoms,
                max: MAX_ATOMS,
            });
        }
        self.writer.magic = match atoms <= XTC_1995_MAX_NATOMS {
            true => Magic::Xtc1995,
            false => Magic::Xtc2023,
        };
        Ok(())
    }

    /// Replaces the bytes by those of frame number `frame`.
    pub fn fill(
        &mut self,
        frame: u64,
        time: f64,
        kinds: &[TrajectoryKind],
        molecules: impl Iterator<Item = TrajectoryMolecule>,
        options: &TrajectoryOptions,
    ) -> Result<(), ExportError> {
        let positions = &mut self.frame.positions;
        positions.clear();
        for (index, molecule) in molecules.enumerate() {
            let template = &*kinds[molecule.kind as usize].template;
            let pose = AngstromPose::new(index, template, molecule.pose, options.wrapping_box())?;
            for &local in template.positions() {
                let position = pose.angstrom(local);
                // Beyond it, the integers of the format would overflow.
                if position.abs().max_element() > MAX_COORDINATE {
                    return Err(ExportError::OutOfRange {
                        molecule: index,
                        name: template.name().to_owned(),
                        position: position.as_vec3(),
                        range: "coordinates (0.1 mm from the origin)",
                    });
                }
                let position: Vec3 = (position / ANGSTROM_PER_NM).as_vec3();
                positions.extend_from_slice(&position.to_array());
            }
        }
        self.frame.step = u32::try_from(frame).unwrap_or(u32::MAX);
        self.frame.time = match options.time_unit {
            TimeUnit::Seconds => time * PS_PER_S,
            TimeUnit::Iterations => time,
        } as f32;
        self.writer.file.clear();
        self.writer.write_frame(&self.frame)?;
        Ok(())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.writer.file
    }
}
