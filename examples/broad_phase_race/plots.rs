//! Plots with logarithmic axes.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// Size of a plot, pixels.
const SIZE: (u32, u32) = (900, 560);

/// A line of a plot.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Colours that most people can tell apart (Okabe and Ito 2008), and two more.
const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(204, 121, 167),
    RGBColor(150, 150, 150),
    RGBColor(120, 80, 40),
    RGBColor(150, 0, 60),
];

/// Draws lines into an SVG file; both axes are logarithmic.
pub fn plot(
    file: &Path,
    title: &str,
    [x_name, y_name]: [&str; 2],
    lines: &[Line],
) -> Result<(), Box<dyn Error>> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let range = |pick: fn(&(f64, f64)) -> f64| {
        let low = points().map(pick).fold(f64::INFINITY, f64::min);
        let high = points().map(pick).fold(0.0, f64::max);
        // A little air, and something to see if there is one point only.
        low / 1.2..high * 1.2
    };
    let (x_range, y_range) = (range(|point| point.0), range(|point| point.1));
    if x_range.is_empty() || y_range.is_empty() || y_range.start <= 0.0 {
        return Ok(());
    }
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 22))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(x_range.log_scale(), y_range.log_scale())?;
    chart
        .configure_mesh()
        .x_desc(x_name)
        .y_desc(y_name)
        .light_line_style(WHITE.mix(0.0))
        .draw()?;
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let style = colour.stroke_width(2);
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), style))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        let dots = line
            .points
            .iter()
            .map(|point| Circle::new(*point, 3, colour.filled()));
        chart.draw_series(dots)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}
