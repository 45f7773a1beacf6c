//! Plots of events and times.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// Size of a plot, pixels.
const SIZE: (u32, u32) = (900, 560);

/// Colours that most people can tell apart (Okabe and Ito 2008).
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];

/// A line of a plot.
pub struct Line {
    name: String,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            points: Vec::new(),
        }
    }
}

/// Draws lines into an SVG file.
pub fn plot(
    file: &Path,
    title: &str,
    [x_name, y_name]: [&str; 2],
    lines: &[Line],
) -> Result<(), Box<dyn Error>> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let most = |pick: fn(&(f64, f64)) -> f64| 1.05 * points().map(pick).fold(0.0, f64::max);
    let (right, top) = (most(|point| point.0), most(|point| point.1));
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 22))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    chart
        .configure_mesh()
        .x_desc(x_name)
        .y_desc(y_name)
        .light_line_style(WHITE.mix(0.0))
        .draw()?;
    for (line, colour) in lines.iter().zip(COLOURS) {
        let style = colour.stroke_width(2);
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), style))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        let dots = line
            .points
            .iter()
            .map(|point| Circle::new(*point, 4, colour.filled()));
        chart.draw_series(dots)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    println!("\nPlot: {}", file.display());
    Ok(())
}
