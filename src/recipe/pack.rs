//! [`pack`]: fills a recipe and relaxes it until nothing overlaps.

use std::fmt;
use std::ops::ControlFlow;

use super::error::RecipeProblem;
use super::population::{Population, PopulationReport, populate};
use super::{Recipe, RecipeError, RecipeWarning};
use crate::crowd::Crowd;
use crate::relax::{RelaxConfig, RelaxReport, Relaxer};

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
    let failed = |error| RecipeProblem::Relax(error).at(&recipe.source, "");
    let Population {
        crowd,
        seed,
        rows,
        report,
        warnings,
        ..
    } = population;
    let mut relaxer = Relaxer::new(crowd, config).map_err(failed)?;
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
) -> Result<Vec<Leftover>, crate::relax::RelaxError> {
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
    left.retain(|left| left.overlapping + left.out_of_place > 0);
    Ok(left)
}
