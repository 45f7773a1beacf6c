//! Line plots as SVG and PNG files.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::register_font;

/// Size of a plot, pixels.
const SIZE: (u32, u32) = (900, 560);

/// Font size, pixels.
const FONT_SIZE: u32 = 15;

/// Font family. The PNG uses the font registered in [`Plot::write`], the SVG the viewer's.
const FONT: &str = "sans-serif";

/// Colors for the color-blind (Okabe and Ito 2008), and four more.
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

/// Formats a tick label without rounding noise.
fn label(value: &f64) -> String {
    format!("{}", (value * 1.0e6).round() / 1.0e6)
}

/// A named line.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// A line without points.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            points: Vec::new(),
        }
    }
}

/// A plot of lines over two axes.
pub struct Plot<'a> {
    pub title: &'a str,
    /// Labels of the axes, with units.
    pub names: [&'a str; 2],
    /// Whether both axes are logarithmic. Linear axes start at zero.
    pub logarithmic: bool,
    pub lines: &'a [Line],
}

impl Plot<'_> {
    /// Writes `stem`.svg and `stem`.png, unless there are no points.
    pub fn write(&self, stem: &Path) -> Result<(), Box<dyn Error>> {
        let (x, y) = (self.range(|point| point.0), self.range(|point| point.1));
        if x.is_empty() || y.is_empty() {
            return Ok(());
        }
        register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|_| "the font of the plots is invalid")?;
        let svg = stem.with_extension("svg");
        self.draw(&SVGBackend::new(&svg, SIZE).into_drawing_area(), &x, &y)?;
        let mut pixels = vec![0; 3 * (SIZE.0 * SIZE.1) as usize];
        let backend = BitMapBackend::with_buffer(&mut pixels, SIZE);
        self.draw(&backend.into_drawing_area(), &x, &y)?;
        let image = image::RgbImage::from_raw(SIZE.0, SIZE.1, pixels);
        let image = image.ok_or("the pixel buffer does not match the size of the plot")?;
        image.save(stem.with_extension("png"))?;
        Ok(())
    }

    /// Range of an axis; empty without points.
    fn range(&self, pick: fn(&(f64, f64)) -> f64) -> Range<f64> {
        let values = || self.lines.iter().flat_map(|line| &line.points).map(pick);
        let high = values().fold(0.0, f64::max);
        if !self.logarithmic {
            return 0.0..1.05 * high;
        }
        let positive = values().filter(|value| *value > 0.0);
        let low = positive.fold(f64::INFINITY, f64::min);
        // A margin, which also keeps the range of a single point from being empty.
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
            .label_style((FONT, FONT_SIZE))
            .axis_desc_style((FONT, FONT_SIZE))
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
            .label_font((FONT, FONT_SIZE))
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        Ok(())
    }
}
