//! A figure as a PDF of one A4 page across: lines and letters stay sharp on any printer (ISO 32000, version 1.4).

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::figure::{Anchor, Figure, Ink, Shape};

/// A4 across, in points of 1/72 inch, and the margin that printers leave white.
const PAGE: [f32; 2] = [841.89, 595.28];
const MARGIN: f32 = 24.0;
/// Widths of Helvetica's letters from the space on, in thousandths of their size (Adobe's metrics).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
/// Width of the letters beyond them.
const USUAL_WIDTH: u16 = 556;

impl Figure {
    /// The figure as PDF. The error is a letter that the fonts of every printer lack: those of the western languages
    /// are there, others are not.
    pub fn to_pdf(&self) -> Result<Vec<u8>, char> {
        let [width, height] = self.size;
        let [room_x, room_y] = PAGE.map(|side| side - 2.0 * MARGIN);
        let scale = (room_x / width.max(1.0)).min(room_y / height.max(1.0));
        let left = (PAGE[0] - width * scale) / 2.0;
        let top = (PAGE[1] + height * scale) / 2.0;
        // Figures count downwards, pages upwards.
        let mut content = format!("{scale} 0 0 {scale} {left} {top} cm 1 J 1 j\n");
        for shape in &self.shapes {
            write_shape(shape, &mut content)?;
        }
        Ok(file(&content))
    }
}

fn write_shape(shape: &Shape, out: &mut String) -> Result<(), char> {
    match shape {
        Shape::Line { points, width, ink } => {
            out.push_str(&format!("{} RG {width} w ", color(*ink)));
            for (place, [x, y]) in points.iter().enumerate() {
                let step = if place == 0 { 'm' } else { 'l' };
                out.push_str(&format!("{x:.2} {:.2} {step} ", -y));
            }
            out.push_str("S\n");
        }
        Shape::Block { corner, size, ink } => {
            let [x, y] = *corner;
            let [width, height] = *size;
            let low = -y - height;
            let ink = color(*ink);
            out.push_str(&format!(
                "{ink} rg {x:.2} {low:.2} {width:.2} {height:.2} re f\n"
            ));
        }
        Shape::Text {
            place: [x, y],
            size,
            anchor,
            text,
            ink,
        } => {
            let letters = encoded(text)?;
            let share = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            };
            let x = x - share * width_of(&letters) * size;
            let ink = color(*ink);
            out.push_str(&format!("BT {ink} rg /F {size} Tf {x:.2} {:.2} Td <", -y));
            for letter in letters {
                out.push_str(&format!("{letter:02x}"));
            }
            out.push_str("> Tj ET\n");
        }
    }
    Ok(())
}

fn color(ink: Ink) -> String {
    let [red, green, blue] = ink.map(|part| f32::from(part) / 255.0);
    format!("{red:.3} {green:.3} {blue:.3}")
}

/// The width of a text of size 1.
fn width_of(letters: &[u8]) -> f32 {
    let width = |letter: &u8| {
        let place = usize::from(*letter).checked_sub(32);
        let known = place.and_then(|place| WIDTHS.get(place));
        f32::from(*known.unwrap_or(&USUAL_WIDTH)) / 1000.0
    };
    letters.iter().map(width).sum()
}

/// The letters in WinAnsiEncoding; control characters are omitted.
fn encoded(text: &str) -> Result<Vec<u8>, char> {
    let letters = text.chars().filter(|letter| !letter.is_control());
    letters
        .map(|letter| match letter {
            ' '..='~' | '\u{a0}'..='ÿ' => Ok(letter as u8),
            '€' => Ok(0x80),
            '…' => Ok(0x85),
            '‘' => Ok(0x91),
            '’' => Ok(0x92),
            '“' => Ok(0x93),
            '”' => Ok(0x94),
            '•' => Ok(0x95),
            '–' | '−' => Ok(0x96),
            '—' => Ok(0x97),
            'μ' => Ok(0xb5),
            other => Err(other),
        })
        .collect()
}

/// The objects of the file with the table of their places.
fn file(content: &str) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let stored = packed.write_all(content.as_bytes());
    // Writing to memory cannot fail.
    let packed = stored.and_then(|()| packed.finish()).unwrap_or_default();
    let [width, height] = PAGE;
    let head = format!(
        "<< /Length {} /Filter /FlateDecode >>\nstream\n",
        packed.len()
    );
    let stream = [head.as_bytes(), &packed, b"\nendstream"].concat();
    let objects: [Vec<u8>; 5] = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] \
             /Resources << /Font << /F 5 0 R >> >> /Contents 4 0 R >>"
        )
        .into_bytes(),
        stream,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    ];
    let mut out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let table_at = out.len();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1);
    for place in places {
        table.push_str(&format!("{place:010} 00000 n \n"));
    }
    table.push_str(&format!(
        "trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table_at}\n%%EOF\n"
    ));
    out.extend_from_slice(table.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, anchor: Anchor) -> Shape {
        Shape::Text {
            place: [100.0, 50.0],
            size: 10.0,
            anchor,
            text: text.to_owned(),
            ink: [0, 0, 0],
        }
    }

    #[test]
    fn objects_lie_where_the_table_says_and_other_scripts_are_refused() {
        let line = Shape::Line {
            points: vec![[0.0, 0.0], [200.0, 100.0]],
            width: 1.0,
            ink: [255, 0, 0],
        };
        let figure = Figure {
            size: [200.0, 100.0],
            shapes: vec![line, text("Fp1 – 50 µV", Anchor::End)],
        };
        let bytes = figure.to_pdf().expect("western letters");
        let find = |wanted: &[u8]| bytes.windows(wanted.len()).position(|at| at == wanted);
        let table = find(b"xref\n0 6\n").expect("a table");
        for number in 1..=5_usize {
            let at = table + "xref\n0 6\n".len() + 20 * number;
            let place = std::str::from_utf8(&bytes[at..at + 10]).expect("digits");
            let place: usize = place.parse().expect("a number");
            let wanted = format!("{number} 0 obj");
            assert!(bytes[place..].starts_with(wanted.as_bytes()), "{number}");
        }
        let figure = Figure {
            size: [200.0, 100.0],
            shapes: vec![text("Иванов", Anchor::Start)],
        };
        assert_eq!(figure.to_pdf(), Err('И'));
    }

    #[test]
    fn texts_end_where_they_are_told() {
        let mut out = String::new();
        write_shape(&text("00", Anchor::End), &mut out).expect("digits");
        // Two digits of 5.56 points each.
        assert!(out.contains("88.88 -50.00 Td <3030>"), "{out}");
    }
}
