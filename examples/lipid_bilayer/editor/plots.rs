//! Plots of overlaps and penetration over iterations, and a bar of the stage times.

use bevy_egui::egui::{self, Color32, Ui};
use bevy_rapier_molecules::relax::{CountedSpheres, StageTimes};
use egui_plot::{Line, Plot, PlotPoints, uniform_grid_spacer};

use super::super::simulation::Sample;

/// Max points per line, about one per pixel.
const MAX_POINTS: usize = 600;

/// Height of a plot, points.
const HEIGHT: f32 = 120.0;

/// Width of the labels of the y axis, points.
const AXIS_WIDTH: f32 = 34.0;

/// Powers of ten between grid lines of the logarithmic axis, from fine to bold, with space for
/// the labels.
const GRID_POWERS: [f64; 3] = [2.0, 4.0, 8.0];

const OVERLAP_COLOR: Color32 = Color32::from_rgb(232, 104, 88);
/// Color of proxies, which replace the atoms during a coarse start.
const PROXY_COLOR: Color32 = Color32::GRAY;
const DEPTH_COLOR: Color32 = Color32::from_rgb(240, 190, 80);

/// Colors of the stages, in order.
const STAGE_COLORS: [Color32; 5] = [
    Color32::from_rgb(96, 140, 220),
    Color32::from_rgb(80, 180, 170),
    Color32::from_rgb(120, 200, 100),
    Color32::from_rgb(240, 190, 80),
    Color32::from_rgb(232, 104, 88),
];

/// Shows both plots side by side.
pub fn plots(ui: &mut Ui, history: &[Sample]) {
    let stride = history.len().div_ceil(MAX_POINTS).max(1);
    let points = |spheres: CountedSpheres, value: fn(&Sample) -> f64| -> PlotPoints<'_> {
        let last = history.last().into_iter();
        let samples = history.iter().step_by(stride).chain(last);
        samples
            .filter(|sample| sample.status.spheres == spheres)
            .map(|sample| [f64::from(sample.iteration), value(sample)])
            .collect()
    };
    // Logarithmic, since overlaps range from one to millions.
    let log_overlaps = |sample: &Sample| (sample.status.overlaps as f64).ln_1p() / 10.0_f64.ln();
    let depth = |sample: &Sample| f64::from(sample.status.max_penetration_nm);
    ui.columns(2, |columns| {
        columns[0].strong("Overlaps over iterations");
        plot("overlaps")
            .y_grid_spacer(uniform_grid_spacer(|_| GRID_POWERS))
            .y_axis_formatter(|mark, _| power_of_ten(mark.value))
            .show(&mut columns[0], |plot| {
                plot.line(
                    Line::new("proxies", points(CountedSpheres::Proxies, log_overlaps))
                        .color(PROXY_COLOR),
                );
                plot.line(
                    Line::new("atoms", points(CountedSpheres::Atoms, log_overlaps))
                        .color(OVERLAP_COLOR),
                );
            });
        columns[1].strong("Deepest penetration, nm");
        plot("depths").show(&mut columns[1], |plot| {
            plot.line(
                Line::new("proxies", points(CountedSpheres::Proxies, depth)).color(PROXY_COLOR),
            );
            plot.line(Line::new("atoms", points(CountedSpheres::Atoms, depth)).color(DEPTH_COLOR));
        });
    });
}

fn plot(name: &'static str) -> Plot<'static> {
    Plot::new(name)
        .height(HEIGHT)
        .include_y(0.0)
        .include_x(0.0)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_zoom(false)
        .allow_boxed_zoom(false)
        .y_axis_min_width(AXIS_WIDTH)
}

/// A label of the logarithmic axis, such as 10k; empty between powers of ten.
fn power_of_ten(exponent: f64) -> String {
    const NAMES: [&str; 9] = ["0", "10", "100", "1k", "10k", "100k", "1M", "10M", "100M"];
    let is_whole = (exponent - exponent.round()).abs() < 1e-6;
    let name = NAMES.get(exponent.round() as usize).filter(|_| is_whole);
    name.map_or_else(String::new, ToString::to_string)
}

/// Shows the times of the stages of an iteration, as a bar and as numbers.
pub fn stages(ui: &mut Ui, stages: &StageTimes) {
    let parts = [
        ("gather", stages.gather),
        ("grid", stages.grid),
        ("search", stages.search),
        ("respond", stages.respond),
        ("apply", stages.apply),
    ];
    let total = stages.total().as_secs_f32();
    ui.label(format!("{:.2} ms per iteration", total * 1e3));
    let (area, _) =
        ui.allocate_exact_size(egui::vec2(ui.available_width(), 12.0), egui::Sense::hover());
    let mut left = area.left();
    for ((_, time), color) in parts.iter().zip(STAGE_COLORS) {
        if total > 0.0 {
            let width = area.width() * time.as_secs_f32() / total;
            let bar = egui::Rect::from_min_size(
                egui::pos2(left, area.top()),
                egui::vec2(width, area.height()),
            );
            ui.painter().rect_filled(bar, 0.0, color);
            left += width;
        }
    }
    ui.horizontal_wrapped(|ui| {
        for ((name, time), color) in parts.iter().zip(STAGE_COLORS) {
            ui.colored_label(color, format!("{name} {:.2}", time.as_secs_f32() * 1e3));
        }
    });
}
