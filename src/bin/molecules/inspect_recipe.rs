//! `molecules inspect` of a recipe: what it asks for, and how much space that takes.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use bevy_rapier_molecules::recipe::{
    Compartment, Entry, Ingredient, IngredientShape, Population, Recipe, RecipeError,
    RecipeWarning, populate,
};
use glam::Vec3;
use serde::Serialize;

use crate::common::recipe_arguments::{RecipeArguments, print_recipe_warnings};
use crate::common::{AnyError, CommonArguments};
use crate::pack::{Filling, readable, write_filling};

/// Recipes with more molecules than this are not filled: that would take more than a moment.
const MAX_FILLED: f64 = 20_000.0;

/// Area of a lipid, nm², to estimate numbers.
const LIPID_AREA: f64 = 0.6;

/// Molecules in a nm³ at 1 mol/l: the number of Avogadro times 10⁻²⁴.
const MOLECULES_OF_A_MOLAR: f64 = 0.602_214_076;

/// The output of `--report`.
#[derive(Serialize)]
struct Output {
    file: String,
    /// `cellpack` or `bentopy`.
    format: &'static str,
    name: String,
    /// Null if the recipe has none.
    seed: Option<u64>,
    /// Least distance between atoms of different molecules.
    tolerance_nm: f32,
    /// Lowest and highest corner of the box.
    bounds_nm: [Vec3; 2],
    size_nm: Vec3,
    periodic: bool,
    /// The first is the box; parents come before their children.
    compartments: Vec<CompartmentOutput>,
    ingredients: Vec<IngredientOutput>,
    entries: Vec<EntryOutput>,
    /// The insides of the compartments with the default seed. Null if the recipe was not filled.
    regions: Option<Vec<Filling>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct CompartmentOutput {
    name: String,
    /// Null for the box.
    parent: Option<String>,
    /// Number of compartments around it.
    depth: usize,
    /// With the compartments inside. Null if it is unknown.
    volume_nm3: Option<f64>,
    bounds_nm: [Vec3; 2],
    outer_leaflet: Vec<LipidOutput>,
    inner_leaflet: Vec<LipidOutput>,
}

/// A lipid of a leaflet.
#[derive(Serialize)]
struct LipidOutput {
    object: String,
    ratio: f32,
}

#[derive(Serialize)]
struct IngredientOutput {
    name: String,
    /// `atoms`, `proxies`, `spheres`, `sphere` or `rod`.
    kind: &'static str,
    /// Number of atoms or spheres.
    atoms: usize,
    /// Radius of the smallest ball around the center of mass that encloses all of it.
    radius_nm: f32,
    /// Coarse spheres have the density of protein.
    mass_kda: f64,
    /// Of atoms with their van der Waals radii.
    volume_nm3: f32,
}

#[derive(Serialize)]
struct EntryOutput {
    name: String,
    object: String,
    /// Name of the compartment and the region, such as `vesicle.interior`.
    region: String,
    /// The number, or its distribution.
    count: String,
    /// Mean of the number, without the molecules of the concentration.
    mean_count: f64,
    /// Concentration in the region; null without one.
    molarity: Option<f64>,
    /// Radius of single spheres, or its distribution, nm; null for that of the ingredient.
    radius_nm: Option<String>,
    /// Number of given places.
    places: usize,
    fixed: bool,
    /// Where the molecules are relative to others; null without a rule.
    rule: Option<String>,
}

/// Whether a file is a recipe, by its extension.
pub fn is_recipe(file: &Path) -> bool {
    let extension = file.extension().map(OsStr::to_ascii_lowercase);
    extension.is_some_and(|extension| extension == "json" || extension == "bent")
}

/// Describes a recipe. Tables have `top` rows, or all.
pub fn run(
    file: &Path,
    recipe_arguments: &RecipeArguments,
    top: Option<usize>,
    common: &CommonArguments,
) -> Result<ExitCode, AnyError> {
    let recipe = recipe_arguments.load(file)?;
    print_recipe_warnings(&recipe, &recipe.warnings);
    let mut output = describe(&recipe)?;
    if let Some(filled) = fill(&recipe) {
        match filled {
            Ok(population) => {
                print_recipe_warnings(&recipe, &population.warnings);
                let regions = population.report.regions.iter().map(Filling::from);
                output.regions = Some(regions.collect());
                let warnings = population.warnings.iter().map(RecipeWarning::to_string);
                output.warnings.extend(warnings);
            }
            // The rest of the recipe is valid.
            Err(error) => {
                let text = format!("the recipe cannot be filled: {error}");
                // A warning that cannot be printed is no reason to stop.
                let _ = writeln!(io::stderr(), "warning: {text}");
                output.warnings.push(text);
            }
        }
    }
    common.write_report(&output)?;
    common.print(|out| write_tables(out, &output, top.unwrap_or(usize::MAX)))?;
    Ok(ExitCode::SUCCESS)
}

/// Fills a recipe if that takes only a moment.
fn fill(recipe: &Recipe) -> Option<Result<Population, RecipeError>> {
    let molecules: f64 = recipe
        .entries
        .iter()
        .map(|entry| {
            let compartment = &recipe.compartments[entry.compartment];
            let volume = volume_of(compartment, recipe).unwrap_or_default();
            let dissolved = entry.molarity * MOLECULES_OF_A_MOLAR * volume;
            (entry.count.mean() + dissolved).max(entry.places.len() as f64)
        })
        .sum();
    let lipids: f64 = recipe
        .compartments
        .iter()
        .map(|compartment| {
            let area = compartment
                .surface
                .as_ref()
                .map_or(0.0, |surface| surface.area_at(0.0));
            let leaflets = compartment
                .leaflets
                .iter()
                .filter(|leaflet| !leaflet.is_empty());
            f64::from(area) / LIPID_AREA * leaflets.count() as f64
        })
        .sum();
    (molecules + lipids <= MAX_FILLED).then(|| populate(recipe, None))
}

/// Volume of a compartment with those inside of it, nm³.
fn volume_of(compartment: &Compartment, recipe: &Recipe) -> Option<f64> {
    match &compartment.surface {
        Some(surface) => surface.volume().map(f64::from),
        None => Some(recipe.size().as_dvec3().element_product()),
    }
}

fn describe(recipe: &Recipe) -> Result<Output, AnyError> {
    let is_bent = recipe.source.to_ascii_lowercase().ends_with(".bent");
    let ingredients = recipe.ingredients.iter();
    let ingredients = ingredients.map(|ingredient| describe_ingredient(ingredient, recipe));
    let compartments = recipe.compartments.iter();
    let entries = recipe.entries.iter();
    Ok(Output {
        file: recipe.source.clone(),
        format: if is_bent { "bentopy" } else { "cellpack" },
        name: recipe.name.clone(),
        seed: recipe.seed,
        tolerance_nm: recipe.tolerance,
        bounds_nm: recipe.bounds,
        size_nm: recipe.size(),
        periodic: recipe.periodic,
        compartments: compartments
            .map(|one| describe_compartment(one, recipe))
            .collect(),
        ingredients: ingredients.collect::<Result<_, _>>()?,
        entries: entries.map(|entry| describe_entry(entry, recipe)).collect(),
        regions: None,
        warnings: recipe
            .warnings
            .iter()
            .map(RecipeWarning::to_string)
            .collect(),
    })
}

fn describe_compartment(compartment: &Compartment, recipe: &Recipe) -> CompartmentOutput {
    let parent_of = |one: &Compartment| one.parent.map(|parent| &recipe.compartments[parent]);
    let around = std::iter::successors(parent_of(compartment), |one| parent_of(one));
    let [outer_leaflet, inner_leaflet] = compartment.leaflets.each_ref().map(|leaflet| {
        let lipids = leaflet.iter().map(|(ingredient, ratio)| LipidOutput {
            object: recipe.ingredients[*ingredient].name.clone(),
            ratio: *ratio,
        });
        lipids.collect()
    });
    CompartmentOutput {
        name: compartment.name.clone(),
        parent: parent_of(compartment).map(|parent| parent.name.clone()),
        depth: around.count(),
        volume_nm3: volume_of(compartment, recipe),
        bounds_nm: compartment.bounds,
        outer_leaflet,
        inner_leaflet,
    }
}

fn describe_ingredient(
    ingredient: &Ingredient,
    recipe: &Recipe,
) -> Result<IngredientOutput, RecipeError> {
    let body = recipe.body(ingredient)?;
    let template = &body.template;
    Ok(IngredientOutput {
        name: ingredient.name.clone(),
        kind: match &ingredient.shape {
            IngredientShape::Sphere { .. } => "sphere",
            IngredientShape::Spheres(_) => "spheres",
            IngredientShape::Rod { .. } => "rod",
            IngredientShape::Atoms { proxies: None, .. } => "atoms",
            IngredientShape::Atoms { .. } => "proxies",
            _ => "unknown",
        },
        atoms: template.atom_count(),
        radius_nm: template.bounding_radius(),
        mass_kda: f64::from(template.mass()) / 1.0e3,
        volume_nm3: body.volume,
    })
}

fn describe_entry(entry: &Entry, recipe: &Recipe) -> EntryOutput {
    let compartment = &recipe.compartments[entry.compartment];
    EntryOutput {
        name: entry.name.clone(),
        object: recipe.ingredients[entry.ingredient].name.clone(),
        region: format!("{}.{}", compartment.name, entry.region.name()),
        count: entry.count.to_string(),
        mean_count: entry.count.mean(),
        molarity: Some(entry.molarity).filter(|molarity| *molarity > 0.0),
        radius_nm: entry.sizes.as_ref().map(ToString::to_string),
        places: entry.places.len(),
        fixed: entry.fixed,
        rule: entry.rule.as_ref().map(ToString::to_string),
    }
}

fn write_tables(out: &mut dyn Write, output: &Output, top: usize) -> io::Result<()> {
    writeln!(out, "{}: {}, {}", output.file, output.format, output.name)?;
    let (size, [low, _]) = (output.size_nm, output.bounds_nm);
    writeln!(
        out,
        "{}box: {} × {} × {} nm from {} {} {}",
        if output.periodic { "periodic " } else { "" },
        size.x,
        size.y,
        size.z,
        low.x,
        low.y,
        low.z
    )?;
    let seed = output
        .seed
        .map_or_else(|| "none".to_owned(), |seed| seed.to_string());
    writeln!(out, "seed: {seed}; tolerance: {} nm\n", output.tolerance_nm)?;
    write_compartments(out, &output.compartments)?;
    let longest = |names: &mut dyn Iterator<Item = &str>, head: &str| {
        names
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0)
            .max(head.len())
    };
    let width = longest(
        &mut output.ingredients.iter().map(|one| &*one.name),
        "molecule",
    );
    writeln!(
        out,
        "\n{:width$}  kind         atoms  radius nm   mass kDa  volume nm³",
        "molecule"
    )?;
    for one in output.ingredients.iter().take(top) {
        let IngredientOutput {
            name,
            kind,
            atoms,
            radius_nm,
            mass_kda,
            volume_nm3,
        } = one;
        writeln!(
            out,
            "{name:width$}  {kind:7} {atoms:10}  {radius_nm:9.3} {mass_kda:10.3}  {volume_nm3:10.3}"
        )?;
    }
    write_rest(out, output.ingredients.len(), top)?;
    let regions = longest(&mut output.entries.iter().map(|one| &*one.region), "region");
    writeln!(
        out,
        "\n{:regions$}  {:width$}  number",
        "region", "molecule"
    )?;
    for entry in output.entries.iter().take(top) {
        let EntryOutput { region, object, .. } = entry;
        writeln!(
            out,
            "{region:regions$}  {object:width$}  {}",
            amount_of(entry)
        )?;
    }
    write_rest(out, output.entries.len(), top)?;
    let Some(filled) = &output.regions else {
        return writeln!(out, "\nnot filled; 'molecules pack --dry-run' does it");
    };
    writeln!(out)?;
    filled
        .iter()
        .try_for_each(|region| write_filling(out, region))
}

/// Writes the compartments as a tree.
fn write_compartments(out: &mut dyn Write, compartments: &[CompartmentOutput]) -> io::Result<()> {
    writeln!(out, "compartments")?;
    for compartment in in_order_of_the_tree(compartments) {
        let indent = "  ".repeat(compartment.depth + 1);
        write!(out, "{indent}{}", compartment.name)?;
        if let Some(volume) = compartment.volume_nm3 {
            write!(out, ": {} nm³", readable(volume))?;
        }
        for (side, leaflet) in [
            ("outer", &compartment.outer_leaflet),
            ("inner", &compartment.inner_leaflet),
        ] {
            if !leaflet.is_empty() {
                let lipids = leaflet
                    .iter()
                    .map(|lipid| format!("{} {}", lipid.object, lipid.ratio));
                write!(
                    out,
                    "; {side} leaflet {}",
                    lipids.collect::<Vec<_>>().join(", ")
                )?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The compartments with their children after them. Names are unique.
fn in_order_of_the_tree(compartments: &[CompartmentOutput]) -> Vec<&CompartmentOutput> {
    let mut order = Vec::new();
    // The next one is the last.
    let mut left: Vec<_> = compartments
        .iter()
        .filter(|one| one.parent.is_none())
        .rev()
        .collect();
    while let Some(next) = left.pop() {
        order.push(next);
        let children = compartments
            .iter()
            .filter(|one| one.parent.as_ref() == Some(&next.name));
        left.extend(children.rev());
    }
    order
}

/// Number, concentration, radii and places of an entry.
fn amount_of(entry: &EntryOutput) -> String {
    let mut parts = Vec::new();
    let is_by_rule = entry.rule.is_some() && entry.mean_count <= 0.0;
    if entry.mean_count > 0.0 || (entry.molarity.is_none() && !is_by_rule) {
        parts.push(entry.count.clone());
    }
    parts.extend(entry.molarity.map(|molarity| format!("{molarity} mol/l")));
    let mut text = parts.join(" + ");
    if let Some(rule) = &entry.rule {
        text += if text.is_empty() { "" } else { ", " };
        text += rule;
    }
    if let Some(radius) = &entry.radius_nm {
        text += &format!(", radius {radius} nm");
    }
    if entry.places > 0 {
        text += &format!(", {} at given places", entry.places);
    }
    if entry.fixed {
        text += ", fixed";
    }
    text
}

/// Writes how many rows of a table are left out.
pub fn write_rest(out: &mut dyn Write, rows: usize, top: usize) -> io::Result<()> {
    match rows.saturating_sub(top) {
        0 => Ok(()),
        rest => writeln!(out, "and {rest} more"),
    }
}
