//! [`pack`]: fills a recipe and relaxes it until nothing overlaps.

use std::fmt;
use std::ops::ControlFlow;

use super::error::RecipeProblem;
use super::population::{Population, PopulationReport, populate};
use super::{Recipe, RecipeError, RecipeWarning};
use crate::crowd::Crowd;
use crate::relax::{
    CheckpointError, RelaxCheckpoint, RelaxConfig, RelaxError, RelaxReport, Relaxer,
};

/// How a recipe is packed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackOptions {
    /// Seed instead of that of the recipe.
    pub seed: Option<u64>,
    /// Stop criteria and law of the relaxation.
    pub relax: RelaxConfig,
}

/// Molecules of one kind that did not come to rest.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Leftover {
    /// Name of the compartment and the region.
    pub region: String,
    /// Name of the object.
    pub object: String,
    /// Number of molecules of this kind.
    pub molecules: u32,
    /// Number of them that overlap others.
    pub overlapping: u32,
    /// Number of them that are out of their place.
    pub out_of_place: u32,
    /// Number of joints of fibers or rules of this kind that exceed a limit.
    pub strained_joints: u32,
    /// Deepest overlap, nm.
    pub deepest_nm: f32,
}

/// A packed recipe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Packing {
    /// The molecules.
    pub crowd: Crowd,
    /// Seed of the random choices.
    pub seed: u64,
    /// Row of the report of each member of the crowd.
    pub rows: Vec<u32>,
    /// Numbers and volumes.
    pub report: PopulationReport,
    /// What may surprise, of the recipe and of its population.
    pub warnings: Vec<RecipeWarning>,
    /// Outcome of the relaxation.
    pub relaxed: RelaxReport,
    /// The kinds of molecules that did not come to rest; empty if all did.
    pub left: Vec<Leftover>,
}

impl Packing {
    /// Whether all molecules are there, in their places and without overlaps.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.relaxed.converged()
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = &self.relaxed.end;
        let seconds = self.relaxed.elapsed.as_secs_f64();
        write!(
            f,
            "{} molecules, {} atoms: {} after {} iterations, {seconds:.1} s; {} overlaps, {} out of place",
            self.report.molecules,
            self.report.atoms,
            self.relaxed.reason,
            self.relaxed.iterations,
            end.overlaps,
            end.out_of_place,
        )?;
        if !self.crowd.joints().is_empty() {
            write!(f, ", {} joints beyond a limit", end.strained_joints)?;
        }
        for left in &self.left {
            write!(
                f,
                "\n{} {}: {} of {} overlap, by up to {:.3} nm; {} out of place",
                left.region,
                left.object,
                left.overlapping,
                left.molecules,
                left.deepest_nm,
                left.out_of_place
            )?;
            if left.strained_joints > 0 {
                write!(f, ", {} joints beyond a limit", left.strained_joints)?;
            }
        }
        Ok(())
    }
}

/// Fills a recipe and relaxes all molecules together. `watch` is called before the first and after
/// each iteration; if it breaks, the packing keeps the poses of that moment.
///
/// Nothing is dropped: what does not fit overlaps in the end, and
/// [`left`](Packing::left) says what.
///
/// # Errors
/// [`RecipeError`] if a molecule cannot be placed or the relaxation fails.
pub fn pack(
    recipe: &Recipe,
    options: &PackOptions,
    watch: impl FnMut(&Relaxer) -> ControlFlow<()>,
) -> Result<Packing, RecipeError> {
    let population = populate(recipe, options.seed)?;
    relax(recipe, population, options.relax, watch)
}

/// Relaxes a population. See [`pack`].
///
/// # Errors
/// [`RecipeError`] if the relaxation fails.
pub fn relax(
    recipe: &Recipe,
    population: Population,
    config: RelaxConfig,
    watch: impl FnMut(&Relaxer) -> ControlFlow<()>,
) -> Result<Packing, RecipeError> {
    run(
        recipe,
        population,
        |crowd| Relaxer::new(crowd, config),
        watch,
    )
}

/// Continues to relax a population from a checkpoint with its number as the
/// [origin](RelaxCheckpoint::origin), as [`relax`] would without an interruption.
///
/// ```
/// use std::ops::ControlFlow;
/// use bevy_rapier_molecules::recipe::{ReadOptions, Recipe, populate, relax, resume};
/// use bevy_rapier_molecules::relax::RelaxConfig;
///
/// let options = ReadOptions::default();
/// let recipe = Recipe::load("assets/recipes/proteins_in_a_box.json", &options)?;
/// let population = populate(&recipe, None)?;
/// let number = population.number();
/// let mut saved = None;
/// let config = RelaxConfig::default();
/// relax(&recipe, population.clone(), config, |relaxer| {
///     saved = Some(relaxer.checkpoint().with_origin(number));
///     ControlFlow::Break(())
/// })?;
///
/// let saved = saved.expect("called before the first iteration");
/// let packing = resume(&recipe, population, config, &saved, |_| ControlFlow::Continue(()))?;
/// assert!(packing.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RecipeError`] if the checkpoint is of another population or config, or the relaxation fails.
pub fn resume(
    recipe: &Recipe,
    population: Population,
    config: RelaxConfig,
    checkpoint: &RelaxCheckpoint,
    watch: impl FnMut(&Relaxer) -> ControlFlow<()>,
) -> Result<Packing, RecipeError> {
    let is_of_population = checkpoint.origin == population.number();
    let resumed = |crowd| {
        if !is_of_population {
            return Err(CheckpointError::OtherOrigin.into());
        }
        Relaxer::resume(crowd, config, checkpoint)
    };
    run(recipe, population, resumed, watch)
}

fn run(
    recipe: &Recipe,
    population: Population,
    relaxer: impl FnOnce(Crowd) -> Result<Relaxer, RelaxError>,
    watch: impl FnMut(&Relaxer) -> ControlFlow<()>,
) -> Result<Packing, RecipeError> {
    let failed = |error| RecipeProblem::Relax(error).at(&recipe.source, "");
    let Population {
        crowd,
        seed,
        rows,
        report,
        warnings,
        ..
    } = population;
    let mut relaxer = relaxer(crowd).map_err(failed)?;
    let relaxed = relaxer.run(watch).map_err(failed)?;
    let left = if relaxed.converged() {
        Vec::new()
    } else {
        leftovers(&mut relaxer, &rows, &report).map_err(failed)?
    };
    Ok(Packing {
        crowd: relaxer.into_crowd(),
        seed,
        rows,
        report,
        warnings: recipe.warnings.iter().cloned().chain(warnings).collect(),
        relaxed,
        left,
    })
}

fn leftovers(
    relaxer: &mut Relaxer,
    rows: &[u32],
    report: &PopulationReport,
) -> Result<Vec<Leftover>, RelaxError> {
    let depths = relaxer.penetrations()?;
    let crowd = relaxer.crowd();
    let mut left: Vec<Leftover> = report
        .entries
        .iter()
        .map(|entry| Leftover {
            region: entry.region.clone(),
            object: entry.object.clone(),
            molecules: entry.placed,
            overlapping: 0,
            out_of_place: 0,
            strained_joints: 0,
            deepest_nm: 0.0,
        })
        .collect();
    for ((member, row), depth) in crowd.members().iter().zip(rows).zip(depths) {
        let left = &mut left[*row as usize];
        left.overlapping += u32::from(depth > 0.0);
        left.deepest_nm = left.deepest_nm.max(depth);
        let template = crowd.template_of(member);
        if let Some((surface, confinement)) = crowd.confinement_of(member)
            && !member.fixed
        {
            let excess = confinement.excess(surface, template, &member.pose);
            left.out_of_place += u32::from(!excess.is_in_place());
        }
    }
    for joint in crowd.joints() {
        let is_strained = crowd.state_of(joint).excess(&joint.limits).is_strained();
        let row = rows[joint.members[0] as usize] as usize;
        left[row].strained_joints += u32::from(is_strained);
    }
    left.retain(|left| left.overlapping + left.out_of_place + left.strained_joints > 0);
    Ok(left)
}
