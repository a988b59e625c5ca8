//! The atoms of a class as small multiples on one scale, most used first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use egui::{
    Align2, Color32, Rect, Response, ScrollArea, Sense, Stroke, StrokeKind, Theme, Ui, Vec2,
};
use egui::{pos2, vec2};

use super::atom_picture::{AtomPicture, Look, Manner};
use super::cache::{cached, fingerprint};
use super::cell_grid::CellGrid;
use super::chart_table::{ChartTable, extent};
use crate::ui::icons::color_dot;
use crate::ui::numbers::{percent, short};
use crate::ui::palette::phase_color;
use crate::ui::theme;
use atomscope_engine::features::Layout;

/// So many pictures are drawn again per frame; the others follow in the next frames.
const MOST_DRAWN_PER_FRAME: usize = 8;
const GAP: f32 = 16.0;
/// Room for the frame of a chosen atom.
const INSET: f32 = 5.0;

/// What stands for the atoms in the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomView {
    /// The atoms themselves: the kernel is linear.
    Itself,
    /// The sample whose image lies closest to the atom.
    PreImage,
    /// The kept sample that carries most of the atom.
    StrongestSample,
    /// No atom: the features of a sample.
    Sample,
}

impl AtomView {
    /// In words.
    pub fn caption(self) -> &'static str {
        match self {
            Self::Itself => "the atoms themselves",
            Self::PreImage => "pre-image estimates of the atoms",
            Self::StrongestSample => "the strongest kept sample of each atom",
            Self::Sample => "the features of the sample",
        }
    }
}

/// One atom as it is shown.
#[derive(Clone, Copy)]
pub struct Atom<'a> {
    /// Its place in the dictionary.
    pub index: usize,
    /// The features that are drawn.
    pub values: &'a [f64],
    /// Share of the codes that use it; not a number where it is no atom.
    pub use_share: f64,
    /// Whether it changed since it was shown last.
    pub changed: bool,
}

/// The atoms of one class.
pub struct AtomGrid<'a> {
    /// Distinguishes several grids on a page.
    pub name: &'a str,
    /// How the features lie side by side.
    pub layout: Layout,
    /// For channel × band features: the place of each channel on the head (radii; x to the right
    /// ear, y to the nose).
    pub electrodes: &'a [Option<(f64, f64)>],
    /// Names of the bands, for the heads.
    pub band_names: &'a [String],
    /// The atoms in the order they are shown.
    pub atoms: &'a [Atom<'a>],
    /// What the pictures are.
    pub view: AtomView,
    /// The index of the atom to mark.
    pub selected: Option<usize>,
    /// How large the pictures are: 1 among others, more for one alone.
    pub zoom: f32,
    /// The height to fill; more atoms can be scrolled to.
    pub height: f32,
}

/// What was done to the atoms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomAction {
    /// Index of the atom chosen by click or key.
    pub chosen: Option<usize>,
    /// Index of the atom under the pointer.
    pub hovered: Option<usize>,
}

type Pictures = Arc<Mutex<BTreeMap<usize, (u64, AtomPicture)>>>;

impl AtomGrid<'_> {
    /// Draws the atoms; tells which was chosen and which is hovered.
    pub fn show(&self, ui: &mut Ui) -> AtomAction {
        let before = ui.cursor().top();
        let manner = self.manner(ui);
        self.caption_ui(ui, &manner);
        let height = (self.height - (ui.cursor().top() - before)).max(60.0);
        let caption = theme::small_font(ui).size * 1.7;
        let tile = manner.size() * self.zoom + vec2(0.0, caption);
        let n_columns =
            (((ui.available_width() + GAP - 2.0 * INSET) / (tile.x + GAP)) as usize).max(1);
        let n_rows = self.atoms.len().div_ceil(n_columns);
        // Full rows reach from edge to edge.
        let spread = (ui.available_width() + GAP - 2.0 * INSET) / n_columns as f32;
        let gap = (spread - tile.x).clamp(GAP, GAP + tile.x / 3.0);
        let pitch = tile + vec2(gap, GAP);
        let height_needed = n_rows as f32 * pitch.y + 2.0 * INSET - GAP;
        let total = vec2(ui.available_width(), height_needed);
        ScrollArea::vertical()
            .id_salt(self.name)
            .max_height(height)
            .auto_shrink([false, true])
            .show_viewport(ui, |ui, viewport| {
                let (rect, _) = ui.allocate_exact_size(total, Sense::hover());
                let first = (viewport.top() / pitch.y).floor().max(0.0) as usize * n_columns;
                let end = (viewport.bottom() / pitch.y).ceil().max(0.0) as usize * n_columns;
                let visible = first.min(self.atoms.len())..end.min(self.atoms.len());
                self.tiles_ui(ui, rect, &manner, (n_columns, pitch), visible)
            })
            .inner
    }

    fn manner(&self, ui: &Ui) -> Manner {
        let places = self.electrodes.iter().flat_map(|place| {
            let (x, y) = place.unwrap_or((f64::NAN, f64::NAN));
            [x, y]
        });
        let sizes = match self.layout {
            Layout::Plain => [0.0; 4],
            Layout::Image {
                n_rows,
                n_columns,
                by_columns,
            } => [1.0, n_rows as f64, n_columns as f64, f64::from(by_columns)],
            Layout::Waveform {
                n_channels,
                n_points,
            } => [2.0, n_channels as f64, n_points as f64, 0.0],
            Layout::ChannelBand {
                n_channels,
                n_bands,
            } => [3.0, n_channels as f64, n_bands as f64, 0.0],
        };
        let key = fingerprint(sizes.into_iter().chain(places));
        cached(ui, ui.scope_id().with((self.name, "manner")), key, || {
            Manner::of(self.layout, self.electrodes)
        })
    }

    fn tiles_ui(
        &self,
        ui: &mut Ui,
        rect: Rect,
        manner: &Manner,
        (n_columns, pitch): (usize, Vec2),
        visible: std::ops::Range<usize>,
    ) -> AtomAction {
        let theme = theme::theme_of(ui);
        let scales = manner.scales(self.atoms.iter().map(|atom| atom.values));
        let negative = |atom: &Atom<'_>| atom.values.iter().any(|value| *value < 0.0);
        let look = Look {
            manner,
            scales: &scales,
            signed: self.atoms.iter().any(negative),
            theme,
            size: manner.size() * self.zoom,
        };
        self.refresh(ui, &look, visible.clone());

        let id = ui.scope_id().with((self.name, "atoms"));
        let pictures = self.pictures(ui);
        let mut pictures = pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let mut grid = CellGrid::begin(ui, rect, id, self.name, self.atoms.len(), n_columns);
        let caption = theme::small_font(ui).size * 1.7;
        let tile = manner.size() * self.zoom + vec2(0.0, caption);
        let place_of = |place: usize| {
            let step = vec2(
                (place % n_columns) as f32 * pitch.x,
                (place / n_columns) as f32 * pitch.y,
            );
            Rect::from_min_size(rect.min + Vec2::splat(INSET) + step, tile)
        };
        let mut action = AtomAction::default();
        for place in visible {
            let atom = &self.atoms[place];
            let tile = place_of(place);
            let response = grid.cell(ui, place, tile, || describe(atom));
            if response.hovered() {
                action.hovered = Some(atom.index);
            }
            let picture = pictures.get_mut(&atom.index).map(|(_, picture)| picture);
            self.tile_ui(ui, tile, manner, atom, picture, response.hovered());
            // Of many atoms the values of the one under attention are told.
            if self.selected == Some(atom.index) || self.atoms.len() == 1 {
                self.tell(ui, &response, atom);
            }
            response.on_hover_text(describe(atom));
        }
        let active = grid.active().map(place_of);
        if let Some(rect) = active.filter(|rect| !ui.clip_rect().contains_rect(*rect)) {
            ui.scroll_to_rect(rect, None);
        }
        let chosen = grid.end(ui, active.map(|rect| rect.expand(3.0)));
        action.chosen = chosen.map(|place| self.atoms[place].index);
        action
    }

    /// The values of one atom: points by channel, channels by band, rows by column, or one by one.
    fn tell(&self, ui: &Ui, figure: &Response, atom: &Atom<'_>) {
        let (n_places, names, by_series): (usize, Vec<String>, bool) = match self.layout {
            Layout::Waveform {
                n_channels,
                n_points,
            } => (n_points, numbered("channel", n_channels), true),
            Layout::ChannelBand {
                n_channels,
                n_bands,
            } => {
                let names = match self.band_names.len() == n_bands {
                    true => self.band_names.to_vec(),
                    false => numbered("band", n_bands),
                };
                (n_channels, names, false)
            }
            Layout::Image {
                n_rows,
                n_columns,
                by_columns,
            } => (n_rows, numbered("column", n_columns), by_columns),
            Layout::Plain => (atom.values.len(), vec!["value".to_owned()], true),
        };
        let series: Vec<&str> = names.iter().map(String::as_str).collect();
        let value = |place: usize, column: usize| {
            let index = match by_series {
                true => column * n_places + place,
                false => place * series.len() + column,
            };
            atom.values.get(index).copied().unwrap_or(f64::NAN)
        };
        ChartTable {
            n_places,
            place: &|place| format!("row {}", place + 1),
            series: &series,
            cell: &|column, places| extent(places.map(|place| value(place, column)), short),
        }
        .hang_below(ui, figure);
    }

    fn pictures(&self, ui: &Ui) -> Pictures {
        let id = ui.scope_id().with((self.name, "pictures"));
        ui.data_mut(|data| data.get_temp_mut_or_default::<Pictures>(id).clone())
    }

    /// Draws what is visible and has changed, a few atoms per frame.
    fn refresh(&self, ui: &Ui, look: &Look<'_>, visible: std::ops::Range<usize>) {
        let pictures = self.pictures(ui);
        let mut pictures = pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = [
            f64::from(look.signed),
            f64::from(u8::from(look.theme == Theme::Dark)),
            f64::from(look.size.x),
        ];
        let mut n_drawn = 0;
        for atom in &self.atoms[visible] {
            let shown = atom.values.iter().chain(look.scales).chain(&shared);
            let key = fingerprint(shown.copied());
            if pictures.get(&atom.index).is_some_and(|kept| kept.0 == key) {
                continue;
            }
            if n_drawn == MOST_DRAWN_PER_FRAME {
                ui.ctx().request_repaint();
                return;
            }
            n_drawn += 1;
            pictures.insert(atom.index, (key, AtomPicture::new(ui, atom.values, look)));
        }
    }

    fn tile_ui(
        &self,
        ui: &Ui,
        tile: Rect,
        manner: &Manner,
        atom: &Atom<'_>,
        picture: Option<&mut AtomPicture>,
        hovered: bool,
    ) {
        let tones = theme::tones(ui);
        let rect = Rect::from_min_size(tile.min, manner.size() * self.zoom);
        if let Some(picture) = picture {
            picture.paint(ui, rect, manner, tones.weak);
        }
        let font = theme::small_font(ui);
        let baseline = rect.bottom() + font.size * 0.95;
        let used = if atom.use_share > 0.0 {
            tones.text
        } else {
            tones.weak
        };
        if !atom.use_share.is_nan() {
            ui.painter().text(
                pos2(rect.left(), baseline),
                Align2::LEFT_CENTER,
                percent(atom.use_share),
                font.clone(),
                used,
            );
        }
        if atom.changed {
            let centre = pos2(rect.right() - 4.0, baseline);
            ui.painter().circle_filled(centre, 3.5, tones.accent);
        }
        let frame = if self.selected == Some(atom.index) {
            Stroke::new(2.0, tones.accent)
        } else if hovered {
            Stroke::new(1.0, tones.accent)
        } else {
            return;
        };
        let around = tile.expand(4.0);
        ui.painter()
            .rect_stroke(around, theme::CORNER, frame, StrokeKind::Inside);
    }

    fn caption_ui(&self, ui: &mut Ui, manner: &Manner) {
        let tones = theme::tones(ui);
        let weak = |ui: &mut Ui, text: &str| {
            ui.label(egui::RichText::new(text).small().color(tones.weak));
        };
        ui.horizontal_wrapped(|ui| {
            let scale = match self.atoms.len() {
                0 | 1 => "",
                _ => ", on a common scale",
            };
            weak(ui, &format!("{}{scale}", self.view.caption()));
            match manner {
                Manner::Lanes {
                    lines: 3, n_lanes, ..
                } => {
                    let theme = theme::theme_of(ui);
                    for (phase, name) in ["a", "b", "c"].into_iter().enumerate() {
                        color_dot(ui, phase_color(phase, theme));
                        weak(ui, name);
                    }
                    if *n_lanes == 2 {
                        weak(ui, "voltages above, currents below");
                    }
                }
                Manner::Heads { .. } if !self.band_names.is_empty() => {
                    weak(
                        ui,
                        &format!("from the left: {}", self.band_names.join(", ")),
                    );
                }
                _ => {}
            }
            if self.atoms.iter().any(|atom| atom.changed) {
                changed_mark(ui, tones.accent);
                weak(ui, "changed since you last looked");
            }
        });
    }
}

fn changed_mark(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
    ui.painter().circle_filled(rect.center(), 3.5, color);
}

fn numbered(what: &str, n: usize) -> Vec<String> {
    (1..=n).map(|number| format!("{what} {number}")).collect()
}

fn describe(atom: &Atom<'_>) -> String {
    if atom.use_share.is_nan() {
        return format!("sample {}", atom.index);
    }
    let changed = if atom.changed {
        ", changed since you last looked"
    } else {
        ""
    };
    format!(
        "atom {}: used by {} of the codes{changed}",
        atom.index + 1,
        percent(atom.use_share)
    )
}
