//! Figures as plain shapes: written as SVG here, painted as pictures by the window.

use std::fmt::Write;

/// A colour: red, green, blue.
pub type Ink = [u8; 3];

/// Where the given place of a text lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Start,
    /// In its middle.
    Middle,
    /// At its right end.
    End,
}

/// A part of a figure; places in points from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line through points.
    Line {
        /// The points.
        points: Vec<[f32; 2]>,
        /// Its width.
        width: f32,
        /// Its colour.
        ink: Ink,
    },
    /// A filled rectangle.
    Block {
        /// Upper left corner.
        corner: [f32; 2],
        /// Width and height.
        size: [f32; 2],
        /// Its colour.
        ink: Ink,
    },
    /// A line of text; the place is that of its baseline.
    Text {
        /// The place.
        place: [f32; 2],
        /// Height of the letters.
        size: f32,
        /// Where the place lies in the text.
        anchor: Anchor,
        /// The text.
        text: String,
        /// Its colour.
        ink: Ink,
    },
}

/// A figure on white ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Width and height in points.
    pub size: [f32; 2],
    /// What is drawn, the last on top.
    pub shapes: Vec<Shape>,
}

impl Figure {
    /// The figure as SVG.
    pub fn to_svg(&self) -> String {
        let [width, height] = self.size;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"Inter, Helvetica, Arial, sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        for shape in &self.shapes {
            // Writing to a string cannot fail.
            shape.write_svg(&mut svg).unwrap_or_default();
        }
        svg.push_str("</svg>\n");
        svg
    }
}

impl Shape {
    fn write_svg(&self, svg: &mut String) -> std::fmt::Result {
        match self {
            Self::Line { points, width, ink } => {
                svg.push_str("<polyline fill=\"none\" points=\"");
                for [x, y] in points {
                    write!(svg, "{x:.2},{y:.2} ")?;
                }
                let color = hex(*ink);
                writeln!(svg, "\" stroke=\"{color}\" stroke-width=\"{width}\"/>")
            }
            Self::Block { corner, size, ink } => writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"/>",
                corner[0],
                corner[1],
                size[0],
                size[1],
                hex(*ink)
            ),
            Self::Text {
                place,
                size,
                anchor,
                text,
                ink,
            } => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                writeln!(
                    svg,
                    "<text x=\"{:.2}\" y=\"{:.2}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{}\">{}</text>",
                    place[0],
                    place[1],
                    hex(*ink),
                    escaped(text)
                )
            }
        }
    }
}

fn hex([red, green, blue]: Ink) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The text with what XML means otherwise written out; control characters are left out.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}
