//! Words of Hebrew and Arabic in their order: the library that lays text out draws every word from right to left, but
//! puts the first one leftmost. Rows are put in order before they are drawn.
//!
//! What is done is the part of the Unicode bidirectional algorithm (UAX 9) that names and labels need: the direction of a
//! text is that of its first letter, numbers are read from left to right, and signs between words go with them. Brackets
//! are not mirrored, and the cursor of a text field moves in the order of typing.

use std::ops::Range;
use std::sync::Arc;

use egui::epaint::text::{Galley, Glyph, Row};
use egui::{Context, FullOutput, Plugin, Shape};

/// Puts the rows of all texts in order.
pub(super) struct RightToLeft;

impl Plugin for RightToLeft {
    fn debug_name(&self) -> &'static str {
        "right to left"
    }

    fn output_hook(&mut self, _context: &Context, output: &mut FullOutput) {
        for clipped in &mut output.shapes {
            put_in_order(&mut clipped.shape);
        }
    }
}

fn put_in_order(shape: &mut Shape) {
    match shape {
        Shape::Vec(shapes) => shapes.iter_mut().for_each(put_in_order),
        Shape::Text(text) if has_right_to_left(&text.galley.job.text) => {
            let galley = Arc::make_mut(&mut text.galley);
            order_rows(galley);
        }
        _ => {}
    }
}

/// Whether a text has such a letter; other texts are passed over quickly.
fn has_right_to_left(text: &str) -> bool {
    // The first byte of U+0580 in UTF-8 is 0xd6; nothing before it is written from right to left.
    text.bytes().any(|byte| byte >= 0xd6) && text.chars().any(|letter| kind(letter) == Kind::Right)
}

fn order_rows(galley: &mut Galley) {
    let strong = |kind: &Kind| matches!(kind, Kind::Left | Kind::Right);
    let first = galley.job.text.chars().map(kind).find(strong);
    let per_point = galley.pixels_per_point;
    for placed in &mut galley.rows {
        if placed.row.glyphs.iter().any(|g| kind(g.chr) == Kind::Right) {
            let row = Arc::make_mut(&mut placed.row);
            order_row(row, first == Some(Kind::Right), per_point);
        }
    }
}

/// Moves glyphs and their corners to where they are read.
fn order_row(row: &mut Row, is_right_to_left: bool, pixels_per_point: f32) {
    let kinds: Vec<Kind> = row.glyphs.iter().map(|glyph| kind(glyph.chr)).collect();
    let start = |glyph: &Glyph| glyph.pos.x;
    let end_x = row.glyphs.last().map_or(0.0, |g| g.pos.x + g.advance_width);
    let starts: Vec<f32> = row.glyphs.iter().map(start).chain([end_x]).collect();
    let mut x = starts[0];
    for piece in reading_order(&kinds, is_right_to_left) {
        // Whole pixels keep letters sharp.
        let by = ((x - starts[piece.start]) * pixels_per_point).round() / pixels_per_point;
        x += starts[piece.end] - starts[piece.start];
        for glyph in &mut row.glyphs[piece] {
            glyph.pos.x += by;
            if glyph.uv_rect.is_nothing() {
                continue;
            }
            let first = glyph.first_vertex as usize;
            for corner in row.visuals.mesh.vertices.iter_mut().skip(first).take(4) {
                corner.pos.x += by;
            }
        }
    }
}

/// How a letter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Left,
    Right,
    Number,
    /// Spaces and signs, which go with what is beside them.
    Neutral,
}

fn kind(letter: char) -> Kind {
    match u32::from(letter) {
        0x0660..=0x0669 | 0x06f0..=0x06f9 => Kind::Number,
        0x0590..=0x08ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff => Kind::Right,
        _ if letter.is_ascii_digit() => Kind::Number,
        _ if letter.is_alphanumeric() => Kind::Left,
        _ => Kind::Neutral,
    }
}

/// Pieces of a row from left to right as they are to stand; inside a piece nothing moves.
fn reading_order(kinds: &[Kind], is_right_to_left: bool) -> Vec<Range<usize>> {
    let directions = directions(kinds, is_right_to_left);
    let mut at = 0;
    let alike = directions.chunk_by(|one, next| one == next);
    let mut pieces: Vec<Vec<Range<usize>>> = alike
        .map(|alike| {
            let of = at..at + alike.len();
            at = of.end;
            match alike[0] {
                true => words(kinds, of),
                false => vec![of],
            }
        })
        .collect();
    if is_right_to_left {
        pieces.reverse();
    }
    pieces.concat()
}

/// Whether letters are read from right to left: a number as the letters before it, signs as what is on both sides of
/// them, else as the whole text.
fn directions(kinds: &[Kind], of_text: bool) -> Vec<bool> {
    let mut before = of_text;
    let forward = kinds.iter().map(|kind| {
        before = match kind {
            Kind::Left => false,
            Kind::Right => true,
            Kind::Number | Kind::Neutral => before,
        };
        before
    });
    let mut directions: Vec<bool> = forward.collect();
    let mut after = of_text;
    for (direction, kind) in directions.iter_mut().zip(kinds).rev() {
        match kind {
            Kind::Neutral if *direction != after => *direction = of_text,
            Kind::Neutral => {}
            _ => after = *direction,
        }
    }
    directions
}

/// Words, numbers and signs of a stretch that is read from right to left, the last one first. A sign inside a number
/// belongs to it.
fn words(kinds: &[Kind], of: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for at in of {
        let is_inside = |ahead: usize| kinds.get(at + ahead) == Some(&Kind::Number);
        match pieces.last_mut() {
            Some(last) if kinds[at] != Kind::Neutral && kinds[at] == kinds[at - 1] => {
                last.end = at + 1;
            }
            Some(last)
                if kinds[at] == Kind::Number
                    && last.len() > 1
                    && kinds[last.start] == Kind::Number =>
            {
                last.end = at + 1;
            }
            Some(last)
                if kinds[at] == Kind::Neutral && kinds[at - 1] == Kind::Number && is_inside(1) =>
            {
                last.end = at + 1;
            }
            _ => pieces.push(at..at + 1),
        }
    }
    pieces.reverse();
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text as it stands from left to right, where the letters of every Hebrew word were turned already.
    fn shown(text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        let kinds: Vec<Kind> = letters.iter().copied().map(kind).collect();
        let strong = kinds
            .iter()
            .find(|kind| matches!(kind, Kind::Left | Kind::Right));
        let order = reading_order(&kinds, strong == Some(&Kind::Right));
        order.into_iter().flatten().map(|at| letters[at]).collect()
    }

    #[test]
    fn words_stand_in_the_order_in_which_they_are_read() {
        for (text, expected) in [
            ("one two 3", "one two 3"),
            ("אב גד", "גד אב"),
            ("אב 12.5 גד", "גד 12.5 אב"),
            ("אב 2", "2 אב"),
            ("class: אב גד", "class: גד אב"),
            ("class: אב גד, next", "class: גד אב, next"),
            ("אב one two גד", "גד one two אב"),
            ("אב: 400", "400 :אב"),
            ("2 אב", "אב 2"),
            ("a 2 אב", "a 2 אב"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn letters_move_with_their_corners() {
        let context = Context::default();
        crate::ui::theme::install(&context);
        let output = context.run_ui(egui::RawInput::default(), |ui| {
            ui.label("אב גד");
        });
        let mut texts = output
            .shapes
            .iter()
            .filter_map(|clipped| match &clipped.shape {
                Shape::Text(text) => Some(&text.galley.rows[0].row),
                _ => None,
            });
        let row = texts.next().expect("it is drawn");
        let x: Vec<f32> = row.glyphs.iter().map(|glyph| glyph.pos.x).collect();
        assert!(x[..2].iter().all(|first| *first > x[3].max(x[4])), "{x:?}");
        for glyph in row
            .glyphs
            .iter()
            .filter(|glyph| !glyph.uv_rect.is_nothing())
        {
            let corner = row.visuals.mesh.vertices[glyph.first_vertex as usize].pos.x;
            let expected = glyph.pos.x + glyph.uv_rect.offset.x;
            assert!((corner - expected).abs() <= 1.0, "{corner} {expected}");
        }
    }
}
