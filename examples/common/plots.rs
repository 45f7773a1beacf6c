//! Plots of lines, as SVG and PNG files.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::register_font;

/// Size of a plot, pixels.
const SIZE: (u32, u32) = (900, 560);

/// Height of letters, pixels.
const LETTERS: u32 = 15;

/// Name of the font, which an SVG leaves to the viewer.
const FONT: &str = "sans-serif";

/// Colors that most people can tell apart (Okabe and Ito 2008), and three more.
const COLORS: [RGBColor; 11] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(150, 150, 150),
    RGBColor(120, 80, 40),
    RGBColor(150, 0, 60),
    RGBColor(90, 60, 180),
];

/// A number at an axis, without digits that rounding made.
fn label(value: &f64) -> String {
    format!("{}", (value * 1.0e6).round() / 1.0e6)
}

/// A line of a plot.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// A line without points yet.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            points: Vec::new(),
        }
    }
}

/// Lines over two axes.
pub struct Plot<'a> {
    pub title: &'a str,
    /// Names of the axes, with units.
    pub names: [&'a str; 2],
    /// Whether both axes are logarithmic; if not, they start at zero.
    pub logarithmic: bool,
    pub lines: &'a [Line],
}

impl Plot<'_> {
    /// Draws into `stem`.svg and `stem`.png; nothing if there is nothing to draw.
    pub fn write(&self, stem: &Path) -> Result<(), Box<dyn Error>> {
        let (x, y) = (self.range(|point| point.0), self.range(|point| point.1));
        if x.is_empty() || y.is_empty() {
            return Ok(());
        }
        register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|_| "the font of the plots is broken")?;
        let svg = stem.with_extension("svg");
        self.draw(&SVGBackend::new(&svg, SIZE).into_drawing_area(), &x, &y)?;
        let mut pixels = vec![0; 3 * (SIZE.0 * SIZE.1) as usize];
        let backend = BitMapBackend::with_buffer(&mut pixels, SIZE);
        self.draw(&backend.into_drawing_area(), &x, &y)?;
        let picture = image::RgbImage::from_raw(SIZE.0, SIZE.1, pixels);
        let picture = picture.ok_or("the picture has another size than its pixels")?;
        picture.save(stem.with_extension("png"))?;
        Ok(())
    }

    /// From where to where an axis goes; empty if no line says.
    fn range(&self, pick: fn(&(f64, f64)) -> f64) -> Range<f64> {
        let values = || self.lines.iter().flat_map(|line| &line.points).map(pick);
        let high = values().fold(0.0, f64::max);
        if !self.logarithmic {
            return 0.0..1.05 * high;
        }
        let positive = values().filter(|value| *value > 0.0);
        let low = positive.fold(f64::INFINITY, f64::min);
        // A little air, and something to see if there is one point only.
        low / 1.2..high * 1.2
    }

    fn draw<DB>(
        &self,
        area: &DrawingArea<DB, Shift>,
        x: &Range<f64>,
        y: &Range<f64>,
    ) -> Result<(), Box<dyn Error>>
    where
        DB: DrawingBackend,
        DB::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        if self.logarithmic {
            self.draw_chart(area, x.clone().log_scale(), y.clone().log_scale())?;
        } else {
            self.draw_chart(area, x.clone(), y.clone())?;
        }
        area.present()?;
        Ok(())
    }

    fn draw_chart<DB, A>(
        &self,
        area: &DrawingArea<DB, Shift>,
        x: A,
        y: A,
    ) -> Result<(), Box<dyn Error>>
    where
        DB: DrawingBackend,
        DB::ErrorType: 'static,
        A: AsRangedCoord<Value = f64>,
        A::CoordDescType: ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(self.title, (FONT, 22))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(80)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(self.names[0])
            .y_desc(self.names[1])
            .x_label_formatter(&label)
            .y_label_formatter(&label)
            .label_style((FONT, LETTERS))
            .axis_desc_style((FONT, LETTERS))
            .light_line_style(WHITE.mix(0.0))
            .draw()?;
        for (line, color) in self.lines.iter().zip(COLORS.iter().cycle()) {
            let style = color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
            let dots = line.points.iter();
            chart.draw_series(dots.map(|point| Circle::new(*point, 3, color.filled())))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font((FONT, LETTERS))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        Ok(())
    }
}
