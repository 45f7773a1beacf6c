//! [`Scene`]: the molecules of a preset, as a membrane of several species or as a vesicle of one
//! kind of lipid.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{
    CompartmentError, Confinement, FlatPatch, Leaflet, SphereShell, Surface,
};
use bevy_rapier_molecules::crowd::{Crowd, CrowdError, CrowdPlacement};
use bevy_rapier_molecules::membrane::{
    Composition, MemberKind, Membrane, MembraneConfig, MembraneError, MembraneReport, ProteinEntry,
    ProteinPlaces, Species, membrane,
};
use bevy_rapier_molecules::molecule::{MoleculeTemplate, TemplateError};
use bevy_rapier_molecules::periodic_box::{PeriodicBox, PeriodicBoxError};
use bevy_rapier_molecules::scenes::{
    FilledSphereConfig, FilledSphereError, VesicleError, filled_sphere, vesicle,
};
use glam::{Vec2, Vec3};
use thiserror::Error;

use super::library::{Library, LibraryError, load_protein};
use super::membrane_scene::{MembraneScene, Shape};
use super::molecule_kind::KindError;
use super::preset::Preset;
use super::species_entry::SpeciesEntry;

/// Max number of atoms: indices have 32 bits.
const MAX_ATOMS: u64 = u32::MAX as u64;

/// Height of the water above and below a flat patch, without the leeway of the lipids, nm.
const WATER_NM: f32 = 1.0;

/// Free space beside the longest molecule in a periodic box, nm.
const BOX_SLACK_NM: f32 = 0.1;

/// The label of the inner leaflet, that of the outer one is 0.
const INNER: u32 = 1;

/// The label of molecules in both leaflets or in none.
const BOTH: u32 = 2;

/// Why there is no scene.
#[derive(Debug, Error)]
pub enum SceneError {
    /// The molecule of the vesicle cannot be loaded.
    #[error(transparent)]
    Molecule(#[from] KindError),
    /// A lipid or a protein cannot be loaded.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The vesicle cannot be built.
    #[error(transparent)]
    Vesicle(#[from] VesicleError),
    /// The filled sphere is invalid.
    #[error(transparent)]
    FilledSphere(#[from] FilledSphereError),
    /// The membrane cannot be built.
    #[error(transparent)]
    Membrane(#[from] MembraneError),
    /// The mid-surface is invalid.
    #[error(transparent)]
    Surface(#[from] CompartmentError),
    /// The periodic box is invalid.
    #[error(transparent)]
    Box(#[from] PeriodicBoxError),
    /// The molecules cannot be copied with other parameters.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// The tolerance is invalid.
    #[error(transparent)]
    Tolerance(#[from] TemplateError),
    /// More atoms than 32-bit indices.
    #[error("{molecules} molecules of {atoms} atoms are too many: the limit is {max} molecules")]
    TooMany {
        /// Requested number of molecules.
        molecules: u64,
        /// Atoms per molecule.
        atoms: usize,
        /// Max number of molecules with this many atoms.
        max: u64,
    },
    /// More atoms of several kinds than 32-bit indices.
    #[error("{atoms} atoms are too many: the limit is {MAX_ATOMS}")]
    TooManyAtoms {
        /// Requested number of atoms.
        atoms: u64,
    },
}

/// What a molecule is, for its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// 0 in the outer leaflet, 1 in the inner one, 2 in both or in none.
    pub leaflet: u32,
    /// Index of its species; proteins come after the lipids.
    pub species: u32,
}

/// What does not change during the relaxation of a scene.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Names of the lipids, such as `popc, pope`.
    pub lipids: String,
    /// Lipids of the outer leaflet.
    pub outer: u32,
    /// Lipids of the inner leaflet.
    pub inner: u32,
    /// The mid-surface.
    pub shape: Shape,
    /// Middle of the molecules at the start, nm.
    pub center: Vec3,
    /// Distance of the farthest atom from the middle, nm.
    pub reach: f32,
    /// What each member of the crowd is.
    pub labels: Vec<Label>,
    /// Numbers and areas, if this is a membrane of several species.
    pub report: Option<MembraneReport>,
    /// What the user should know about the molecules.
    pub notes: Vec<String>,
    /// The templates of the crowd with the radii of their elements.
    originals: Vec<Arc<MoleculeTemplate>>,
    /// Whether a placement of the crowd is that of proteins, which have their own leeways.
    is_of_proteins: Vec<bool>,
}

/// Molecules that are not yet relaxed.
#[derive(Clone, Debug)]
pub struct Scene {
    pub crowd: Crowd,
    pub layout: Layout,
}

impl Scene {
    /// The molecules of a preset.
    pub fn new(preset: &Preset, library: &mut Library) -> Result<Self, SceneError> {
        match &preset.membrane {
            Some(scene) => build_membrane(preset, scene, library),
            None => match preset.filled_sphere() {
                Some(config) => build_filled_sphere(preset, &config),
                None => build_vesicle(preset),
            },
        }
    }
}

impl Layout {
    /// The middle of the molecules, and the distance of the farthest atom from it.
    fn with_extent_of(self, crowd: &Crowd, center: Vec3) -> Self {
        let reach = crowd.members().iter().map(|member| {
            let radius = crowd.template_of(member).bounding_radius();
            member.pose.position.distance(center) + radius
        });
        Self {
            center,
            reach: reach.fold(0.0, f32::max),
            ..self
        }
    }

    /// Copies a crowd with the radii and leeways of a preset. The poses stay.
    pub fn adjusted(&self, old: &Crowd, preset: &Preset) -> Result<Crowd, SceneError> {
        let mut crowd = Crowd::new();
        crowd.set_periodic_box(old.periodic_box());
        for original in &self.originals {
            let template = match preset.tolerance {
                Some(tolerance) => {
                    let copy = MoleculeTemplate::clone(original);
                    Arc::new(copy.with_uniform_radius(tolerance / 2.0)?)
                }
                None => Arc::clone(original),
            };
            crowd.add_template(template);
        }
        for compartment in old.compartments() {
            crowd.add_compartment(Arc::clone(compartment));
        }
        let mut set_leeways = self.leeways(preset);
        for &CrowdPlacement {
            compartment,
            mut confinement,
        } in old.placements()
        {
            set_leeways(&mut confinement);
            crowd.add_placement(compartment, confinement)?;
        }
        for &member in old.members() {
            crowd.add_member(member)?;
        }
        Ok(crowd)
    }

    /// Sets the leeways of a preset. To be called with all placements of the crowd, in order.
    pub fn leeways(&self, preset: &Preset) -> impl FnMut(&mut Confinement) {
        let (leeway, tilt_leeway) = (preset.leeway, preset.tilt_leeway.to_radians());
        let mut is_of_proteins = self.is_of_proteins.iter();
        move |confinement| {
            let is_of_proteins = is_of_proteins.next().copied().unwrap_or_default();
            if let Some(placement) = confinement.placement_mut().filter(|_| !is_of_proteins) {
                placement.leeway = leeway;
                placement.tilt_leeway = tilt_leeway;
            }
        }
    }
}

/// A vesicle of one kind of lipid.
fn build_vesicle(preset: &Preset) -> Result<Scene, SceneError> {
    let original = preset.molecule.template(None)?;
    let molecules = u64::from(preset.outer) + u64::from(preset.inner);
    check_count(molecules, &original)?;
    let original = Arc::new(original);
    let vesicle = vesicle(Arc::clone(&original), &preset.vesicle())?;
    let label = |member: usize| Label {
        leaflet: u32::from(member >= vesicle.outer as usize),
        species: 0,
    };
    let layout = Layout {
        lipids: preset.molecule.name(),
        outer: vesicle.outer,
        inner: vesicle.inner,
        shape: Shape::Vesicle {
            radius: vesicle.radius,
        },
        center: Vec3::ZERO,
        reach: 0.0,
        labels: (0..vesicle.crowd.members().len()).map(label).collect(),
        report: None,
        notes: Vec::new(),
        originals: vec![original],
        is_of_proteins: vec![false; vesicle.crowd.placements().len()],
    };
    let layout = layout.with_extent_of(&vesicle.crowd, Vec3::ZERO);
    Ok(Scene {
        crowd: layout.adjusted(&vesicle.crowd, preset)?,
        layout,
    })
}

/// Molecules of one kind anywhere inside a sphere.
fn build_filled_sphere(preset: &Preset, config: &FilledSphereConfig) -> Result<Scene, SceneError> {
    let original = preset.molecule.template(None)?;
    check_count(config.molecules.into(), &original)?;
    let original = Arc::new(original);
    let crowd = filled_sphere(Arc::clone(&original), config)?;
    let label = Label {
        leaflet: BOTH,
        species: 0,
    };
    let layout = Layout {
        lipids: preset.molecule.name(),
        outer: 0,
        inner: 0,
        shape: Shape::Vesicle {
            radius: config.radius,
        },
        center: Vec3::ZERO,
        reach: 0.0,
        labels: vec![label; crowd.members().len()],
        report: None,
        notes: Vec::new(),
        originals: vec![original],
        is_of_proteins: vec![false; crowd.placements().len()],
    };
    let layout = layout.with_extent_of(&crowd, Vec3::ZERO);
    Ok(Scene {
        crowd: layout.adjusted(&crowd, preset)?,
        layout,
    })
}

/// Checks that 32-bit indices suffice for the atoms of `count` molecules.
pub fn check_count(count: u64, template: &MoleculeTemplate) -> Result<(), SceneError> {
    let atoms = template.atom_count();
    let max = MAX_ATOMS / atoms as u64;
    if count > max {
        return Err(SceneError::TooMany {
            molecules: count,
            atoms,
            max,
        });
    }
    Ok(())
}

/// A membrane of several species.
fn build_membrane(
    preset: &Preset,
    scene: &MembraneScene,
    library: &mut Library,
) -> Result<Scene, SceneError> {
    let mut species = Vec::new();
    for entry in scene.species.iter().filter(|entry| entry.is_used()) {
        species.push((library.species(entry, scene.conformers)?, entry));
    }
    let mut notes = Vec::new();
    let mut proteins = Vec::new();
    for copies in scene.proteins.iter().filter(|copies| copies.copies > 0) {
        let (protein, is_guess) = load_protein(&copies.protein)?;
        if is_guess {
            let name = &copies.protein;
            notes.push(format!(
                "the orientation of '{name}' in the membrane is a guess, as its file has no OPM header"
            ));
        }
        proteins.push(ProteinEntry {
            fixed: scene.fixed_proteins,
            ..ProteinEntry::new(protein, ProteinPlaces::Random(copies.copies))
        });
    }
    let ratios = |ratio: fn(&SpeciesEntry) -> f32| {
        let shares = species.iter().enumerate();
        let shares = shares.map(|(index, (_, entry))| (index, ratio(entry)));
        let shares: Vec<(usize, f32)> = shares.filter(|(_, ratio)| *ratio != 0.0).collect();
        Some(Composition::ratios(&shares))
    };
    let (outer, inner) = (ratios(|entry| entry.outer), ratios(|entry| entry.inner));
    let species: Vec<Species> = species.into_iter().map(|(species, _)| species).collect();
    let (surface, periodic_box) = surface(scene.shape, preset.leeway, &species, &proteins)?;
    let config = MembraneConfig {
        periodic_box,
        outer,
        inner,
        area_scale: scene.area_scale,
        proteins,
        leeway: preset.leeway,
        tilt_leeway: preset.tilt_leeway.to_radians(),
        seed: preset.seed,
        ..MembraneConfig::new(Arc::clone(&surface))
    };
    let built = membrane(&species, &config)?;
    let atoms = built.crowd.atom_count() as u64;
    if atoms > MAX_ATOMS {
        return Err(SceneError::TooManyAtoms { atoms });
    }
    let layout = Layout {
        lipids: species
            .iter()
            .map(Species::name)
            .collect::<Vec<_>>()
            .join(", "),
        outer: built.outer.len() as u32,
        inner: built.inner.len() as u32,
        shape: scene.shape,
        center: Vec3::ZERO,
        reach: 0.0,
        labels: labels(&built, species.len()),
        notes,
        originals: built.crowd.templates().to_vec(),
        is_of_proteins: is_of_proteins(&built),
        report: Some(built.report),
    };
    let layout = layout.with_extent_of(&built.crowd, surface.center());
    Ok(Scene {
        crowd: layout.adjusted(&built.crowd, preset)?,
        layout,
    })
}

fn labels(built: &Membrane, species_count: usize) -> Vec<Label> {
    let label = |kind: &MemberKind| match *kind {
        MemberKind::Lipid { species, leaflet } => Label {
            leaflet: match leaflet {
                Leaflet::Outer => 0,
                Leaflet::Inner => INNER,
            },
            species,
        },
        MemberKind::Protein { entry } => Label {
            leaflet: BOTH,
            species: species_count as u32 + entry,
        },
    };
    built.kinds.iter().map(label).collect()
}

/// Whether proteins have a placement, for each placement.
fn is_of_proteins(built: &Membrane) -> Vec<bool> {
    let mut is_of_proteins = vec![false; built.crowd.placements().len()];
    for member in &built.crowd.members()[built.proteins.clone()] {
        if let Some(placement) = member.placement {
            is_of_proteins[placement as usize] = true;
        }
    }
    is_of_proteins
}

/// The mid-surface, and the box of a flat patch: as high as the molecules with water above and
/// below.
fn surface(
    shape: Shape,
    leeway: f32,
    species: &[Species],
    proteins: &[ProteinEntry],
) -> Result<(Arc<dyn Surface>, Option<PeriodicBox>), SceneError> {
    let (x, y) = match shape {
        Shape::Vesicle { radius } => {
            return Ok((Arc::new(SphereShell::new(Vec3::ZERO, radius)?), None));
        }
        Shape::Flat { x, y } => (x, y),
    };
    let (mut low, mut high, mut longest) = (0.0_f32, 0.0_f32, 0.0_f32);
    let mut add = |template: &MoleculeTemplate, up: Vec3, depth: f32, sides: &[f32]| {
        for position in template.positions() {
            let height = position.dot(up) + depth;
            for side in sides {
                low = low.min(side * height);
                high = high.max(side * height);
            }
        }
        longest = longest.max(2.0 * template.bounding_radius());
    };
    for conformer in species.iter().flat_map(Species::conformers) {
        add(
            &conformer.template,
            conformer.up,
            conformer.depth,
            &[1.0, -1.0],
        );
    }
    for entry in proteins {
        let protein = &entry.protein;
        add(&protein.template, protein.up, protein.depth, &[1.0]);
    }
    let height = high - low + 2.0 * (WATER_NM + leeway);
    let height = height.max(longest + BOX_SLACK_NM);
    let middle = 0.5 * (height - low - high);
    let patch = FlatPatch::new(Vec2::new(x, y), middle)?;
    let periodic = PeriodicBox::new(Vec3::new(x, y, height))?;
    Ok((Arc::new(patch), Some(periodic)))
}
