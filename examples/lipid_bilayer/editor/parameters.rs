//! Sliders and menus for all parameters.

use std::ops::RangeInclusive;

use bevy_egui::egui::{
    Color32, ComboBox, DragValue, RichText, Slider, SliderClamping, TextEdit, Ui, emath::Numeric,
};
use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::force::{Projection, ThesisSteps};
use bevy_rapier_molecules::relax::capacity::CapacityWarning;
use bevy_rapier_molecules::scenes::{FilledSphereConfig, VesicleStart};

use super::super::library::{LIPIDS, PROTEINS};
use super::super::membrane_scene::{MembraneScene, ProteinCopies, Shape};
use super::super::molecule_kind::MoleculeKind;
use super::super::preset::{Color, Detail, Law, Preset};
use super::super::simulation::Snapshot;
use super::super::species_entry::SpeciesEntry;

pub const WARNING_COLOR: Color32 = Color32::from_rgb(245, 180, 60);

/// Max cell width of the slider, nm.
const MAX_CELL_NM: f32 = 3.0;

/// Max number of proxies of the slider, half the atoms of a lipid.
const MAX_PROXIES: u32 = 64;

/// Initial tolerance of the slider, nm.
const DEFAULT_TOLERANCE_NM: f32 = 0.2;

/// Max ratio of the sliders.
const MAX_RATIO: f32 = 10.0;

/// Max number of copies of a protein of the slider.
const MAX_COPIES: u32 = 40;

/// Max number of conformers of the slider, that of the bundled lipids.
const MAX_SHAPES: u32 = 16;

/// Edges of a flat patch of the sliders, nm.
const EDGES_NM: RangeInclusive<f32> = 5.0..=60.0;

/// Radius of a membrane of the slider, nm.
const RADII_NM: RangeInclusive<f32> = 4.0..=30.0;

/// Area scale of the slider.
const AREA_SCALES: RangeInclusive<f32> = 0.9..=2.0;

/// The molecules, their number and their positions at the start. Changes restart the simulation.
pub fn scene(ui: &mut Ui, preset: &mut Preset, latest: Option<&Snapshot>) {
    ui.horizontal(|ui| {
        let is_membrane = preset.membrane.is_some();
        if ui.selectable_label(is_membrane, "membrane").clicked() && !is_membrane {
            preset.membrane = Some(MembraneScene::default());
        }
        if ui
            .selectable_label(!is_membrane, "one kind of lipid")
            .clicked()
        {
            preset.membrane = None;
        }
    });
    match &mut preset.membrane {
        Some(membrane) => show_membrane(ui, membrane, latest),
        None => show_vesicle(ui, preset, latest),
    }
    ui.horizontal(|ui| {
        ui.add(DragValue::new(&mut preset.seed));
        ui.label("seed");
    });
}

/// The mid-surface, the ratios of the lipids and the numbers of the proteins.
fn show_membrane(ui: &mut Ui, membrane: &mut MembraneScene, latest: Option<&Snapshot>) {
    ui.horizontal(|ui| {
        let is_flat = membrane.shape.is_flat();
        if ui.selectable_label(!is_flat, "vesicle").clicked() && is_flat {
            membrane.shape = Shape::VESICLE;
        }
        if ui.selectable_label(is_flat, "flat patch").clicked() && !is_flat {
            membrane.shape = Shape::FLAT;
        }
    });
    match &mut membrane.shape {
        Shape::Vesicle { radius } => {
            ui.add(unclamped(nm(radius, RADII_NM, "radius")).logarithmic(true));
        }
        Shape::Flat { x, y } => {
            ui.add(unclamped(nm(x, EDGES_NM, "x")));
            ui.add(unclamped(nm(y, EDGES_NM, "y")));
        }
    }
    let scale = Slider::new(&mut membrane.area_scale, AREA_SCALES).max_decimals(3);
    ui.add(unclamped(scale).text("area scale"))
        .on_hover_text("Area per lipid over that of a real membrane");
    let conformers = Slider::new(&mut membrane.conformers, 1..=MAX_SHAPES);
    ui.add(unclamped(conformers).text("conformers"));
    show_composition(ui, &mut membrane.species);
    show_proteins(ui, membrane);
    let Some(layout) = latest.map(|latest| &latest.layout) else {
        return;
    };
    if let Some(report) = &layout.report {
        ui.collapsing("numbers and areas", |ui| {
            ui.label(
                RichText::new(report.to_string().trim_end())
                    .monospace()
                    .small(),
            );
        });
    }
    for note in &layout.notes {
        ui.weak(note);
    }
}

/// The ratio of each species, in both leaflets or in each.
fn show_composition(ui: &mut Ui, species: &mut Vec<SpeciesEntry>) {
    let id = ui.id().with("leaflets differ");
    let asked = ui
        .data(|data| data.get_temp::<bool>(id))
        .unwrap_or_default();
    let mut differ = asked || species.iter().any(|entry| entry.outer != entry.inner);
    if ui.checkbox(&mut differ, "leaflets differ").changed() {
        ui.data_mut(|data| data.insert_temp(id, differ));
        if !differ {
            for entry in species.iter_mut() {
                entry.inner = entry.outer;
            }
        }
    }
    for entry in species.iter_mut() {
        let mut ratio = |value: &mut f32, text: String| {
            let slider = Slider::new(value, 0.0..=MAX_RATIO).max_decimals(2);
            ui.add(unclamped(slider).text(text));
        };
        if differ {
            ratio(&mut entry.outer, format!("{}, outer", entry.lipid));
            ratio(&mut entry.inner, format!("{}, inner", entry.lipid));
        } else {
            ratio(&mut entry.outer, entry.lipid.clone());
            entry.inner = entry.outer;
        }
    }
    ui.horizontal_wrapped(|ui| {
        for (name, _) in LIPIDS {
            let is_missing = species.iter().all(|entry| entry.lipid != name);
            if is_missing && ui.small_button(format!("+ {name}")).clicked() {
                species.push(SpeciesEntry::new(name, None));
            }
        }
    });
}

/// The number of copies of each protein.
fn show_proteins(ui: &mut Ui, membrane: &mut MembraneScene) {
    for entry in &mut membrane.proteins {
        let name = entry.protein.clone();
        let copies = Slider::new(&mut entry.copies, 0..=MAX_COPIES);
        ui.add(unclamped(copies).text(name));
    }
    for (name, _) in PROTEINS {
        let is_missing = membrane.proteins.iter().all(|entry| entry.protein != name);
        if is_missing && ui.small_button(format!("+ {name}")).clicked() {
            membrane.proteins.push(ProteinCopies {
                protein: name.into(),
                copies: 1,
            });
        }
    }
    if !membrane.proteins.is_empty() {
        ui.checkbox(&mut membrane.fixed_proteins, "fixed proteins");
    }
}

/// A vesicle of one kind of lipid.
fn show_vesicle(ui: &mut Ui, preset: &mut Preset, latest: Option<&Snapshot>) {
    ui.horizontal(|ui| {
        ComboBox::from_id_salt("molecule")
            .selected_text(kind_name(&preset.molecule))
            .show_ui(ui, |ui| {
                for kind in [
                    MoleculeKind::Popc,
                    MoleculeKind::Ubiquitin,
                    MoleculeKind::Lysozyme,
                ] {
                    let name = kind_name(&kind);
                    ui.selectable_value(&mut preset.molecule, kind, name);
                }
                let is_file = matches!(preset.molecule, MoleculeKind::File(_));
                if ui.selectable_label(is_file, "from a file").clicked() && !is_file {
                    preset.molecule = MoleculeKind::File("assets/molecules/popc.pdb".into());
                }
            });
        ui.label("molecule");
    });
    if let MoleculeKind::File(path) = &mut preset.molecule {
        let mut typed = path.to_string_lossy().into_owned();
        let edit = TextEdit::singleline(&mut typed).desired_width(f32::INFINITY);
        if ui.add(edit).changed() {
            *path = typed.into();
        }
    }
    let warnings = latest.map_or(&[][..], |latest| &latest.warnings);
    let outer = warnings.iter().find(|warning| warning.offset_nm > 0.0);
    let inner = warnings.iter().find(|warning| warning.offset_nm <= 0.0);
    let mut is_filled = preset.inside.is_some();
    ui.checkbox(&mut is_filled, "anywhere in the sphere");
    if is_filled {
        let molecules = FilledSphereConfig::default().molecules;
        let inside = preset.inside.get_or_insert(molecules);
        logarithmic(ui, inside, 0..=20_000, "molecules");
    } else {
        preset.inside = None;
        logarithmic(ui, &mut preset.outer, 0..=20_000, "outer leaflet");
        warn(ui, outer);
        logarithmic(ui, &mut preset.inner, 0..=20_000, "inner leaflet");
        warn(ui, inner);
    }
    let radius = Slider::new(&mut preset.radius, 2.0..=100.0).logarithmic(true);
    ui.add(radius.suffix(" nm").max_decimals(2).text("radius"));
    if outer.is_some() || inner.is_some() {
        ui.colored_label(WARNING_COLOR, "too small for this number of molecules");
    }
    if preset.inside.is_none() {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut preset.start, VesicleStart::Even, "even");
            ui.selectable_value(&mut preset.start, VesicleStart::Uniform, "uniform");
            ui.label("start");
        });
    }
}

/// Warns below a slider that the molecules may not fit.
fn warn(ui: &mut Ui, warning: Option<&CapacityWarning>) {
    if let Some(warning) = warning {
        let text = format!(
            "{} may not fit, about {} do",
            warning.molecules, warning.fitting
        );
        ui.colored_label(WARNING_COLOR, text)
            .on_hover_text(warning.to_string());
    }
}

fn kind_name(kind: &MoleculeKind) -> &'static str {
    match kind {
        MoleculeKind::Popc => "POPC",
        MoleculeKind::Ubiquitin => "ubiquitin",
        MoleculeKind::Lysozyme => "T4 lysozyme",
        MoleculeKind::File(_) => "from a file",
    }
}

/// Tolerance, clearance and leeways.
pub fn overlaps(ui: &mut Ui, preset: &mut Preset) {
    let mut uniform = preset.tolerance.is_some();
    ui.checkbox(&mut uniform, "one tolerance for all atoms");
    if uniform {
        let tolerance = preset.tolerance.get_or_insert(DEFAULT_TOLERANCE_NM);
        ui.add(nm(tolerance, 0.02..=0.5, "tolerance"));
    } else {
        preset.tolerance = None;
    }
    ui.add(nm(&mut preset.clearance, 0.0..=0.02, "clearance").max_decimals(4));
    ui.add(nm(&mut preset.leeway, 0.0..=5.0, "leeway").logarithmic(true));
    let tilt = Slider::new(&mut preset.tilt_leeway, 0.0..=180.0);
    ui.add(tilt.suffix("°").max_decimals(1).text("tilt leeway"));
}

/// The response law and its step sizes.
pub fn law(ui: &mut Ui, preset: &mut Preset) {
    ui.horizontal(|ui| {
        ui.selectable_value(&mut preset.law, Law::Projection, "projection");
        ui.selectable_value(&mut preset.law, Law::Thesis, "thesis");
    });
    match preset.law {
        Law::Thesis => thesis(ui, &mut preset.thesis),
        Law::Projection => projection(ui, &mut preset.projection),
    }
    ui.checkbox(&mut preset.coarse_start, "coarse to fine")
        .on_hover_text("Replaces the atoms by a few proxies in the first iterations");
    logarithmic(
        ui,
        &mut preset.max_iterations,
        1..=100_000,
        "max iterations",
    );
}

fn thesis(ui: &mut Ui, steps: &mut ThesisSteps) {
    let mut slider = |value: &mut f32, max: f32, text: &str| {
        let slider = Slider::new(value, 0.0..=max).logarithmic(true);
        ui.add(slider.smallest_positive(1e-7).text(text));
    };
    slider(&mut steps.force, 0.1, "reaction force, nm³");
    slider(&mut steps.torque, 0.1, "reaction torque, 1/nm");
    slider(&mut steps.spring_force, 1.0, "spring force");
    slider(&mut steps.spring_torque, 1.0, "spring torque");
}

fn projection(ui: &mut Ui, law: &mut Projection) {
    let mut slider = |value: &mut f32, max: f32, text: &str| {
        ui.add(Slider::new(value, 0.0..=max).max_decimals(3).text(text));
    };
    slider(&mut law.relaxation, 3.0, "relaxation");
    slider(&mut law.momentum, 0.99, "momentum");
    slider(&mut law.max_shift, 0.5, "max shift, nm");
    slider(&mut law.max_turn, 1.0, "max turn, rad");
    slider(&mut law.spring, 1.0, "spring");
    slider(&mut law.center_weight, 10.0, "center weight");
    ui.add(Slider::new(&mut law.fade_iterations, 0..=500).text("fades over"));
    ui.add(Slider::new(&mut law.kick_after, 0..=1000).text("kick after"));
}

/// Backend and cell width.
pub fn computation(ui: &mut Ui, preset: &mut Preset, latest: Option<&Snapshot>) {
    ui.horizontal(|ui| {
        for backend in Backend::ALL {
            ui.selectable_value(&mut preset.backend, backend, backend.name());
        }
        ui.label("backend");
    });
    if let Some(latest) = latest {
        let device = match (latest.backend, &latest.adapter) {
            (Backend::Gpu, Some(adapter)) => adapter.clone(),
            _ => format!("CPU, {} threads", rayon::current_num_threads()),
        };
        ui.weak(device);
        if let Some(why) = &latest.fell_back {
            ui.colored_label(WARNING_COLOR, format!("fell back to the CPU: {why}"));
        }
    }
    if preset
        .membrane
        .as_ref()
        .is_some_and(|membrane| membrane.shape.is_flat())
    {
        // The grid does not find periodic images.
        preset.cell_width = None;
        return;
    }
    let mut has_width = preset.cell_width.is_some();
    ui.checkbox(&mut has_width, "wider grid cells");
    if has_width {
        // About the default of the grid, the max distance of overlapping atoms.
        let width = preset.cell_width.get_or_insert(0.5);
        ui.add(nm(width, 0.1..=MAX_CELL_NM, "cell"));
        if preset.backend == Backend::Gpu {
            ui.weak("on the CPU only");
        }
    } else {
        preset.cell_width = None;
    }
}

/// Colors, level of detail and proxies.
pub fn style(ui: &mut Ui, preset: &mut Preset) {
    choice(ui, "color", &mut preset.color, &Color::ALL);
    choice(ui, "detail", &mut preset.detail, &Detail::ALL);
    let proxies = Slider::new(&mut preset.proxies, 0..=MAX_PROXIES);
    ui.add(proxies.text("proxies"))
        .on_hover_text("Spheres of k-means clusters, drawn over the atoms of each molecule");
    ui.checkbox(&mut preset.cut_open, "cut open");
}

fn choice<T: Copy + PartialEq + std::fmt::Debug>(
    ui: &mut Ui,
    name: &str,
    value: &mut T,
    all: &[T],
) {
    ui.horizontal(|ui| {
        ComboBox::from_id_salt(name)
            .selected_text(format!("{value:?}").to_lowercase())
            .show_ui(ui, |ui| {
                for &one in all {
                    ui.selectable_value(value, one, format!("{one:?}").to_lowercase());
                }
            });
        ui.label(name);
    });
}

/// A slider that keeps values of presets outside of its range.
fn unclamped(slider: Slider<'_>) -> Slider<'_> {
    slider.clamping(SliderClamping::Edits)
}

/// A slider for lengths.
fn nm<'a>(value: &'a mut f32, range: RangeInclusive<f32>, text: &str) -> Slider<'a> {
    Slider::new(value, range)
        .suffix(" nm")
        .max_decimals(3)
        .text(text)
}

/// A slider for numbers over several orders of magnitude.
fn logarithmic<T: Numeric>(ui: &mut Ui, value: &mut T, range: RangeInclusive<T>, text: &str) {
    ui.add(Slider::new(value, range).logarithmic(true).text(text));
}
