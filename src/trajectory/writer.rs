//! [`TrajectoryWriter`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::TrajectoryError;
use super::growing_file::GrowingFile;
#[cfg(feature = "xtc")]
use super::options::TopologyFile;
use super::options::{TrajectoryFormat, TrajectoryOptions};
use super::simularium::SimulariumFrames;
#[cfg(feature = "xtc")]
use super::xtc::XtcFrames;
use crate::crowd::Crowd;
#[cfg(feature = "xtc")]
use crate::export::{ExportError, ExportOptions, export};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// A kind of molecules of a trajectory.
#[derive(Clone, Debug)]
pub struct TrajectoryKind {
    /// Name, such as `popc`.
    pub name: String,
    /// The structure.
    pub template: Arc<MoleculeTemplate>,
    /// Color, red, green and blue from 0 to 1.
    pub color: Option<[f32; 3]>,
}

impl From<&Arc<MoleculeTemplate>> for TrajectoryKind {
    /// A kind with the name of the template.
    fn from(template: &Arc<MoleculeTemplate>) -> Self {
        Self {
            name: template.name().to_owned(),
            template: Arc::clone(template),
            color: None,
        }
    }
}

#[cfg(feature = "recipe")]
impl From<&crate::scene_files::SceneKind> for TrajectoryKind {
    fn from(kind: &crate::scene_files::SceneKind) -> Self {
        Self {
            name: kind.name.clone(),
            template: Arc::clone(&kind.template),
            color: kind.color,
        }
    }
}

/// A molecule in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectoryMolecule {
    /// Number of the molecule, the same in all frames and of no other molecule.
    pub id: u64,
    /// Index of its kind.
    pub kind: u32,
    /// Center of mass (nm) and rotation.
    pub pose: Pose,
}

/// Number of frames and bytes written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrajectorySummary {
    /// Number of frames.
    pub frames: u64,
    /// Size of the file, bytes. Without frames there is no file.
    pub bytes: u64,
}

/// Writes a trajectory frame by frame. See the [module docs](super).
///
/// The file is complete after every frame. [`finish`](Self::finish) only waits until it is on disk;
/// a writer that is dropped instead loses nothing but an error of the disk.
///
/// The buffers of a frame are reused: the text of its poses for Simularium, and for XTC the
/// coordinates of all atoms, which with those of the compression take 40 bytes per atom.
pub struct TrajectoryWriter {
    path: PathBuf,
    options: TrajectoryOptions,
    kinds: Vec<TrajectoryKind>,
    format: Frames,
    file: GrowingFile,
    frames: u64,
}

/// Writer of the frames of a format.
enum Frames {
    #[cfg(feature = "xtc")]
    Xtc(Box<XtcFrames>),
    Simularium(Box<SimulariumFrames>),
}

impl TrajectoryWriter {
    /// Starts a trajectory in the format of the extension of `path`. Until its first frame, the
    /// file has a hidden name, and an older file at `path` stays.
    ///
    /// # Errors
    /// [`TrajectoryError`] if the format is unknown or the file cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        kinds: impl IntoIterator<Item = TrajectoryKind>,
        options: TrajectoryOptions,
    ) -> Result<Self, TrajectoryError> {
        let path = path.as_ref();
        let format = match TrajectoryFormat::of(path)? {
            #[cfg(feature = "xtc")]
            TrajectoryFormat::Xtc => Frames::Xtc(Box::new(XtcFrames::new(&options))),
            _ => Frames::Simularium(Box::default()),
        };
        let file = GrowingFile::create(path).map_err(|source| TrajectoryError::File {
            path: path.to_owned(),
            source,
        })?;
        let mut writer = Self {
            path: path.to_owned(),
            options,
            kinds: Vec::new(),
            format,
            file,
            frames: 0,
        };
        for kind in kinds {
            writer.add_kind(kind);
        }
        Ok(writer)
    }

    /// Starts a trajectory of a crowd, in its periodic box unless the options have another.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn of_crowd(
        path: impl AsRef<Path>,
        crowd: &Crowd,
        options: TrajectoryOptions,
    ) -> Result<Self, TrajectoryError> {
        let options = TrajectoryOptions {
            periodic_box: options.periodic_box.or(crowd.periodic_box()),
            ..options
        };
        let kinds = crowd.templates().iter().map(TrajectoryKind::from);
        Self::create(path, kinds, options)
    }

    /// Adds a kind of molecules and returns its index.
    pub fn add_kind(&mut self, kind: TrajectoryKind) -> u32 {
        match &mut self.format {
            Frames::Simularium(frames) => frames.add_kind(&kind),
            #[cfg(feature = "xtc")]
            Frames::Xtc(_) => {}
        }
        self.kinds.push(kind);
        self.kinds.len() as u32 - 1
    }

    /// The kinds of molecules.
    #[must_use]
    pub fn kinds(&self) -> &[TrajectoryKind] {
        &self.kinds
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of frames written.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Writes a frame. `time` is in the [unit](TrajectoryOptions::time_unit) of the options.
    ///
    /// # Errors
    /// [`TrajectoryError`] if a molecule is invalid, or a file cannot be written. The file then has
    /// the frames before this one, and more may follow.
    pub fn write<I>(&mut self, time: f64, molecules: I) -> Result<(), TrajectoryError>
    where
        I: IntoIterator<Item = TrajectoryMolecule, IntoIter: Clone>,
    {
        let frame = self.frames;
        if !time.is_finite() {
            return Err(TrajectoryError::InvalidTime { frame, time });
        }
        let molecules = molecules.into_iter();
        let count = self.kinds.len();
        let mut kinds = molecules.clone().map(|molecule| molecule.kind);
        if let Some(kind) = kinds.find(|&kind| kind as usize >= count) {
            return Err(TrajectoryError::UnknownKind { frame, kind, count });
        }
        let invalid = |error| TrajectoryError::Molecule { frame, error };
        let (kinds, options) = (&self.kinds, &self.options);
        let (bytes, end) = match &mut self.format {
            #[cfg(feature = "xtc")]
            Frames::Xtc(frames) => {
                frames.check(&self.path, frame, kinds, molecules.clone())?;
                frames
                    .fill(frame, time, kinds, molecules.clone(), options)
                    .map_err(invalid)?;
                if frame == 0 {
                    write_topology(&self.path, kinds, molecules, options)?;
                }
                (frames.bytes(), 0)
            }
            Frames::Simularium(frames) => {
                frames
                    .fill(frame, time, kinds, molecules, options)
                    .map_err(invalid)?;
                frames.bytes()
            }
        };
        let written = self.file.write_frame(bytes, end);
        written.map_err(|source| self.failed(source))?;
        self.frames += 1;
        Ok(())
    }

    /// Writes a frame with the members of a crowd, whose templates are the kinds.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_crowd(&mut self, time: f64, crowd: &Crowd) -> Result<(), TrajectoryError> {
        let members = crowd.members().iter().zip(0..);
        let molecules = members.map(|(member, id)| TrajectoryMolecule {
            id,
            kind: member.template,
            pose: member.pose,
        });
        self.write(time, molecules)
    }

    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// [`TrajectoryError::File`] if the operating system reports an error.
    pub fn finish(self) -> Result<TrajectorySummary, TrajectoryError> {
        self.file.sync().map_err(|source| self.failed(source))?;
        Ok(TrajectorySummary {
            frames: self.frames,
            bytes: self.file.size(),
        })
    }

    fn failed(&self, source: std::io::Error) -> TrajectoryError {
        TrajectoryError::File {
            path: self.path.clone(),
            source,
        }
    }
}

impl fmt::Debug for TrajectoryWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrajectoryWriter")
            .field("path", &self.path)
            .field("kinds", &self.kinds.len())
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

/// Writes the structure file of the first frame.
#[cfg(feature = "xtc")]
fn write_topology(
    path: &Path,
    kinds: &[TrajectoryKind],
    molecules: impl Iterator<Item = TrajectoryMolecule> + Clone,
    options: &TrajectoryOptions,
) -> Result<(), TrajectoryError> {
    let molecules = molecules.map(|molecule| {
        let template = &*kinds[molecule.kind as usize].template;
        (template, molecule.pose)
    });
    let export_options = ExportOptions {
        title: options.title.clone(),
        periodic_box: options.periodic_box,
        wrap: options.wrap,
        ..ExportOptions::default()
    };
    let write = |path: &Path| export(path, molecules.clone(), &export_options).map(|_| ());
    let written = match &options.topology {
        TopologyFile::None => Ok(()),
        TopologyFile::At(path) => write(path),
        TopologyFile::Beside => match write(&path.with_extension("first.pdb")) {
            Err(
                ExportError::OutOfRange { .. }
                | ExportError::BoxOutOfRange { .. }
                | ExportError::UnsupportedName { .. }
                | ExportError::PdbFull { .. },
            ) => write(&path.with_extension("first.cif")),
            written => written,
        },
    };
    written.map_err(TrajectoryError::Topology)
}
