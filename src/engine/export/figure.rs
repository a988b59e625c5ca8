//! Figures as plain shapes: written as SVG here, painted as pictures by the window.

use std::fmt::Write;

/// A colour: red, green, blue.
pub type Ink = [u8; 3];

/// Okabe and Ito's colours, distinguished with any common colour vision. Black gives way to
/// grey, which shows on both themes; yellow comes late because it is faint on white.
const OKABE_ITO: [Ink; 8] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0xcc, 0x79, 0xa7],
    [0x8c, 0x8c, 0x8c],
    [0xf0, 0xe4, 0x42],
];

/// The colour of a class, by its place; beyond eight the hues return darker, lighter, and mixed.
pub fn class_ink(class: usize) -> Ink {
    let base = OKABE_ITO[class % OKABE_ITO.len()];
    match class / OKABE_ITO.len() % 4 {
        0 => base,
        1 => mix_inks(base, [0, 0, 0], 0.42),
        2 => mix_inks(base, [255, 255, 255], 0.50),
        _ => mix_inks(base, OKABE_ITO[(class + 1) % OKABE_ITO.len()], 0.5),
    }
}

/// Between two colours; 0 is the first, 1 the second.
pub fn mix_inks(first: Ink, second: Ink, share: f32) -> Ink {
    let share = if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    };
    let channel = |k: usize| {
        (f32::from(first[k]) * (1.0 - share) + f32::from(second[k]) * share).round() as u8
    };
    [channel(0), channel(1), channel(2)]
}

/// Diagonals across a rectangle, each by its two ends: what is hatched is uncertain.
pub fn hatch_lines(corner: [f32; 2], size: [f32; 2], spacing: f32) -> Vec<[[f32; 2]; 2]> {
    let [width, height] = size;
    let n_lines = ((width + height) / spacing.max(0.1)) as usize;
    let diagonal = |k: usize| {
        // From the lower edge (or the left one) upwards to the right.
        let foot = spacing * (k as f32 + 0.5) - height;
        let (from, to) = ((-foot).max(0.0), height.min(width - foot));
        let at = |u: f32| [corner[0] + foot + u, corner[1] + height - u];
        (to > from).then(|| [at(from), at(to)])
    };
    (0..n_lines).filter_map(diagonal).collect()
}

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

impl Figure {
    /// The figure as a page that a browser prints whole on a sheet across.
    pub fn to_printed_page(&self, title: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n\
             <style>@page {{ size: A4 landscape; margin: 8mm }} body {{ margin: 0 }} \
             svg {{ width: 100%; height: auto; max-height: 100vh; display: block }}</style></head>\n\
             <body>\n{}</body></html>\n",
            escaped(title),
            self.to_svg()
        )
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

/// The text with what XML means otherwise written out; control characters are omitted.
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
