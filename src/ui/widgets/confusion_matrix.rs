//! The confusion matrix: share of the row as shade, count and percent as text, cells to click.

use egui::epaint::TextShape;
use egui::{Align2, Color32, FontId, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::cell_grid::CellGrid;
use super::short_text::{shortened, text_width};
use crate::ui::numbers::percent;
use crate::ui::palette::{class_color, mix, text_on};
use crate::ui::theme::{self, Tones};
use atomscope_engine::evaluation::Confusion;

/// Cells at least this high carry the percentage below the count, in lines of text.
const TWO_LINES: f32 = 2.1;
/// Cells at least this wide do.
const WIDE: f32 = 38.0;
/// Cells smaller than this carry no text; hovering tells.
const SMALLEST_WITH_TEXT: f32 = 13.0;
const GAP: f32 = 2.0;
/// Above and below an upright name: the mark of its class and air.
const HEADER_ROOM: f32 = 15.0;

/// A confusion matrix as it is drawn: true classes down, predicted classes across.
pub struct ConfusionMatrix<'a> {
    /// Names of the classes, in their order.
    pub class_names: &'a [String],
    /// The counts.
    pub confusion: &'a Confusion,
    /// A cell to mark: true and predicted class.
    pub selected: Option<(usize, usize)>,
    /// By true class the samples whose prediction set holds several classes, and those whose set is
    /// empty; none where that is not known.
    pub several_and_none: Option<&'a [(u64, u64)]>,
    /// The height to fill.
    pub height: f32,
}

/// Where things are.
struct Places {
    names_width: f32,
    header_height: f32,
    recall_width: f32,
    cell: egui::Vec2,
    upright: bool,
    origin: egui::Pos2,
}

impl Places {
    fn cell(&self, truth: usize, decided: usize) -> Rect {
        let step = vec2(self.cell.x * decided as f32, self.cell.y * truth as f32);
        Rect::from_min_size(self.origin + step, self.cell).shrink(GAP / 2.0)
    }
}

impl ConfusionMatrix<'_> {
    /// Draws the matrix; gives the true and predicted class of a cell that was chosen.
    pub fn show(&self, ui: &mut Ui) -> Option<(usize, usize)> {
        let n_classes = self.confusion.n_classes().min(self.class_names.len());
        let size = vec2(ui.available_width(), self.height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        if n_classes == 0 || !ui.is_rect_visible(rect) {
            return None;
        }
        let places = self.places(ui, rect, n_classes);
        self.paint_headers(ui, rect, &places, n_classes);

        let mut grid = CellGrid::begin(
            ui,
            rect,
            response.id.with("cells"),
            "Confusion matrix",
            n_classes * n_classes,
            n_classes,
        );
        for truth in 0..n_classes {
            let of_class = self.confusion.of_class(truth);
            for decided in 0..n_classes {
                self.cell_ui(ui, &mut grid, &places, (truth, decided), of_class);
            }
        }
        let active = grid
            .active()
            .map(|n| places.cell(n / n_classes, n % n_classes));
        grid.end(ui, active)
            .map(|place| (place / n_classes, place % n_classes))
    }

    fn places(&self, ui: &Ui, rect: Rect, n_classes: usize) -> Places {
        let font = theme::small_font(ui);
        let longest = self
            .class_names
            .iter()
            .map(|name| text_width(ui, name, &font))
            .fold(0.0, f32::max);
        let names_width = (longest + 24.0).clamp(40.0, rect.width() * 0.25);
        let recall_width = font.size * 4.4;
        let texts_width = self.titles().len() as f32 * recall_width;
        let across = (rect.width() - names_width - texts_width) / n_classes as f32;
        let cell_width = across.clamp(8.0, (longest + 16.0).max(104.0));
        let upright = longest + 8.0 > cell_width;
        let header_height = if upright {
            (longest + HEADER_ROOM).min(rect.height() * 0.36)
        } else {
            font.size * 2.0
        };
        let down = (rect.height() - header_height) / n_classes as f32;
        Places {
            names_width,
            header_height,
            recall_width,
            cell: vec2(cell_width, down.clamp(4.0, 52.0)),
            upright,
            origin: rect.min + vec2(names_width, header_height),
        }
    }

    fn paint_headers(&self, ui: &Ui, rect: Rect, places: &Places, n_classes: usize) {
        let tones = theme::tones(ui);
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let font = self.header_font(ui, places);
        let recall_x =
            places.origin.x + places.cell.x * n_classes as f32 + places.recall_width - 4.0;
        let header_y = places.origin.y - font.size * 0.9;
        for class in 0..n_classes {
            let name = &self.class_names[class];
            let row = places.cell(class, 0);
            let column = places.cell(0, class);
            let row_mark = Rect::from_min_max(
                pos2(row.left() - 7.0, row.top()),
                pos2(row.left() - 4.0, row.bottom()),
            );
            painter.rect_filled(row_mark, 1.0, class_color(class));
            let column_mark = Rect::from_min_max(
                pos2(column.left(), column.top() - 7.0),
                pos2(column.right(), column.top() - 4.0),
            );
            painter.rect_filled(column_mark, 1.0, class_color(class));
            painter.text(
                pos2(row.left() - 13.0, row.center().y),
                Align2::RIGHT_CENTER,
                shortened(ui, name, &font, places.names_width - 16.0),
                font.clone(),
                tones.text,
            );
            self.paint_column_name(ui, &painter, places, (class, name), &font);
            for (column, text) in self.texts_of(class).into_iter().enumerate() {
                let x = recall_x + column as f32 * places.recall_width;
                painter.text(
                    pos2(x, row.center().y),
                    Align2::RIGHT_CENTER,
                    text,
                    font.clone(),
                    tones.text,
                );
            }
        }
        for (column, title) in self.titles().iter().enumerate() {
            let corner = pos2(recall_x + column as f32 * places.recall_width, header_y);
            let font = font.clone();
            painter.text(corner, Align2::RIGHT_CENTER, title, font, tones.weak);
        }
    }

    /// The titles of the columns behind the cells.
    fn titles(&self) -> &'static [&'static str] {
        match self.several_and_none {
            Some(_) => &["recall", "several", "none"],
            None => &["recall"],
        }
    }

    /// What stands in them: the recall, and how many samples got several classes or none.
    fn texts_of(&self, class: usize) -> Vec<String> {
        let recall = self.confusion.recall(class);
        let mut texts = vec![recall.map_or(String::new(), percent)];
        if let Some((several, none)) = self.several_and_none.and_then(|sets| sets.get(class)) {
            texts.extend([several.to_string(), none.to_string()]);
        }
        texts
    }

    /// Names shrink with the rows when there are many classes.
    fn header_font(&self, ui: &Ui, places: &Places) -> FontId {
        let small = theme::small_font(ui);
        FontId::new(small.size.min(places.cell.y.max(8.0) * 0.85), small.family)
    }

    fn paint_column_name(
        &self,
        ui: &Ui,
        painter: &egui::Painter,
        places: &Places,
        (class, name): (usize, &str),
        font: &FontId,
    ) {
        let color = theme::tones(ui).text;
        let column = places.cell(0, class);
        if places.upright {
            let text = shortened(ui, name, font, places.header_height - HEADER_ROOM + 1.0);
            let galley = painter.layout_no_wrap(text, font.clone(), color);
            let start = pos2(
                column.center().x - galley.size().y / 2.0,
                column.top() - 11.0,
            );
            let upward = -std::f32::consts::FRAC_PI_2;
            painter.add(TextShape::new(start, galley, color).with_angle(upward));
        } else {
            let place = pos2(column.center().x, column.top() - 9.0);
            painter.text(place, Align2::CENTER_BOTTOM, name, font.clone(), color);
        }
    }

    fn cell_ui(
        &self,
        ui: &mut Ui,
        grid: &mut CellGrid,
        places: &Places,
        (truth, decided): (usize, usize),
        of_class: u64,
    ) {
        let count = self.confusion.count(truth, decided);
        let share = if of_class > 0 {
            count as f64 / of_class as f64
        } else {
            0.0
        };
        let rect = places.cell(truth, decided);
        let (true_name, name) = (&self.class_names[truth], &self.class_names[decided]);
        let describe = || format!("true {true_name}, predicted {name}: {count} of {of_class}");
        let place = truth * self.confusion.n_classes() + decided;
        let response = grid.cell(ui, place, rect, describe);

        let tones = theme::tones(ui);
        let ground = shade(tones, share as f32, truth == decided);
        ui.painter().rect_filled(rect, 3.0, ground);
        paint_numbers(ui, rect, count, share, ground);
        if truth == decided {
            let frame = Stroke::new(1.0, mix(tones.strong, ground, 0.35));
            ui.painter()
                .rect_stroke(rect, 3.0, frame, StrokeKind::Inside);
        }
        if self.selected == Some((truth, decided)) {
            let frame = Stroke::new(2.0, tones.accent);
            ui.painter()
                .rect_stroke(rect, 3.0, frame, StrokeKind::Inside);
        }
        if response.hovered() {
            let frame = Stroke::new(1.5, tones.accent);
            ui.painter()
                .rect_stroke(rect, 3.0, frame, StrokeKind::Inside);
            response.on_hover_text(format!("{} ({})", describe(), percent(share)));
        }
    }
}

/// The ground of a cell: blue for what is right, orange for what is not, the fuller the larger
/// the share of the row. A single case is tinted so that it is seen.
fn shade(tones: &Tones, share: f32, right: bool) -> Color32 {
    let full = if right {
        Color32::from_rgb(0x1e, 0x5a, 0x96)
    } else {
        Color32::from_rgb(0xd0, 0x66, 0x1c)
    };
    if share <= 0.0 {
        return mix(tones.surface, tones.faint, 0.5);
    }
    mix(tones.surface, full, 0.10 + 0.85 * share.sqrt().max(share))
}

fn paint_numbers(ui: &Ui, rect: Rect, count: u64, share: f64, ground: Color32) {
    if rect.width() < SMALLEST_WITH_TEXT || rect.height() < SMALLEST_WITH_TEXT * 0.7 {
        return;
    }
    // Among many classes zeros would only be clutter.
    if count == 0 && rect.width() < WIDE {
        return;
    }
    let tones = theme::tones(ui);
    let body = theme::body_font(ui);
    let is_high = rect.height() >= TWO_LINES * body.size;
    let two_lines = is_high && rect.width() >= WIDE && count > 0;
    let digits = count.to_string().len().max(2) as f32;
    let size = body
        .size
        .min(rect.height() * 0.85)
        .min((rect.width() - 5.0) / (digits * 0.62));
    let color = if count == 0 {
        tones.weak
    } else {
        text_on(ground)
    };
    let middle = if two_lines {
        rect.center() - vec2(0.0, body.size * 0.52)
    } else {
        rect.center()
    };
    let font = FontId::new(size, body.family);
    ui.painter()
        .text(middle, Align2::CENTER_CENTER, count, font, color);
    if two_lines {
        let small = theme::small_font(ui);
        let below = rect.center() + vec2(0.0, small.size * 0.72);
        let font = FontId::new(small.size * 0.92, small.family);
        let text = percent(share);
        ui.painter()
            .text(below, Align2::CENTER_CENTER, text, font, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::palette::contrast;
    use egui::Theme;

    #[test]
    fn numbers_have_contrast_on_every_shade() {
        for theme in [Theme::Light, Theme::Dark] {
            for step in 0..=50 {
                for right in [true, false] {
                    let ground = shade(Tones::of(theme), step as f32 / 50.0, right);
                    let found = contrast(text_on(ground), ground);
                    assert!(found >= 4.5, "{theme:?}, {step}, {right}: {found}");
                }
            }
        }
    }
}
