//! Icons drawn as shapes, so that they look the same with every font.

use egui::{Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo};
use egui::{pos2, vec2};

use super::theme;

/// What an icon shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// A triangle to the right.
    Play,
    /// Two bars.
    Pause,
    /// A triangle to the right before a bar.
    Step,
    /// A square.
    Stop,
    /// A tick.
    Check,
    /// A triangle with an exclamation mark.
    Warning,
    /// A cross in a circle.
    Error,
    /// A crescent.
    Moon,
    /// A disc with rays.
    Sun,
    /// Two arrows outwards.
    Enlarge,
    /// Two arrows inwards.
    Shrink,
    /// A crossed eye.
    Hide,
    /// Points left.
    ChevronLeft,
    /// Points right.
    ChevronRight,
    /// Points up.
    ChevronUp,
    /// Points down.
    ChevronDown,
    /// A cross.
    Close,
    /// An arrow running back.
    Undo,
    /// An arrow running forth.
    Redo,
    /// An empty circle: nothing there yet.
    Empty,
    /// A filled circle: there.
    Full,
    /// Three dots.
    More,
}

impl Icon {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Play,
        Self::Pause,
        Self::Step,
        Self::Stop,
        Self::Check,
        Self::Warning,
        Self::Error,
        Self::Moon,
        Self::Sun,
        Self::Enlarge,
        Self::Shrink,
        Self::Hide,
        Self::ChevronLeft,
        Self::ChevronRight,
        Self::ChevronUp,
        Self::ChevronDown,
        Self::Close,
        Self::Undo,
        Self::Redo,
        Self::Empty,
        Self::Full,
        Self::More,
    ];

    /// Draws the icon into the middle of `rect`.
    pub fn paint(self, painter: &Painter, rect: Rect, color: Color32) {
        let pen = Pen {
            painter,
            rect: Rect::from_center_size(rect.center(), egui::Vec2::splat(rect.size().min_elem())),
            color,
        };
        match self {
            Self::Play => pen.polygon(&[(0.22, 0.12), (0.88, 0.5), (0.22, 0.88)]),
            Self::Pause => {
                pen.block((0.2, 0.14), (0.4, 0.86));
                pen.block((0.6, 0.14), (0.8, 0.86));
            }
            Self::Step => {
                pen.polygon(&[(0.14, 0.14), (0.66, 0.5), (0.14, 0.86)]);
                pen.block((0.7, 0.14), (0.84, 0.86));
            }
            Self::Stop => pen.block((0.18, 0.18), (0.82, 0.82)),
            Self::Check => pen.line(&[(0.14, 0.54), (0.4, 0.8), (0.88, 0.24)]),
            Self::Warning => pen.warning(),
            Self::Error => {
                pen.circle((0.5, 0.5), 0.42);
                pen.line(&[(0.35, 0.35), (0.65, 0.65)]);
                pen.line(&[(0.65, 0.35), (0.35, 0.65)]);
            }
            Self::Moon => pen.moon(),
            Self::Sun => pen.sun(),
            Self::Enlarge => {
                pen.line(&[(0.58, 0.14), (0.86, 0.14), (0.86, 0.42)]);
                pen.line(&[(0.86, 0.14), (0.58, 0.42)]);
                pen.line(&[(0.42, 0.86), (0.14, 0.86), (0.14, 0.58)]);
                pen.line(&[(0.14, 0.86), (0.42, 0.58)]);
            }
            Self::Shrink => {
                pen.line(&[(0.56, 0.16), (0.56, 0.44), (0.84, 0.44)]);
                pen.line(&[(0.56, 0.44), (0.86, 0.14)]);
                pen.line(&[(0.16, 0.56), (0.44, 0.56), (0.44, 0.84)]);
                pen.line(&[(0.44, 0.56), (0.14, 0.86)]);
            }
            Self::Hide => pen.hide(),
            Self::ChevronLeft => pen.line(&[(0.62, 0.2), (0.34, 0.5), (0.62, 0.8)]),
            Self::ChevronRight => pen.line(&[(0.38, 0.2), (0.66, 0.5), (0.38, 0.8)]),
            Self::ChevronUp => pen.line(&[(0.2, 0.62), (0.5, 0.34), (0.8, 0.62)]),
            Self::ChevronDown => pen.line(&[(0.2, 0.38), (0.5, 0.66), (0.8, 0.38)]),
            Self::Close => {
                pen.line(&[(0.2, 0.2), (0.8, 0.8)]);
                pen.line(&[(0.8, 0.2), (0.2, 0.8)]);
            }
            Self::Undo => pen.turn(false),
            Self::Redo => pen.turn(true),
            Self::Empty => pen.circle((0.5, 0.5), 0.3),
            Self::Full => pen.disc((0.5, 0.5), 0.32),
            Self::More => {
                for x in [0.2, 0.5, 0.8] {
                    pen.disc((x, 0.5), 0.09);
                }
            }
        }
    }
}

/// Draws in units of the icon: 0 to 1 from the upper left corner.
struct Pen<'a> {
    painter: &'a Painter,
    rect: Rect,
    color: Color32,
}

impl Pen<'_> {
    fn at(&self, (x, y): (f32, f32)) -> Pos2 {
        self.rect.min + vec2(x, y) * self.rect.width()
    }

    fn stroke(&self) -> Stroke {
        Stroke::new((self.rect.width() * 0.1).clamp(1.2, 3.0), self.color)
    }

    fn line(&self, points: &[(f32, f32)]) {
        let points = points.iter().map(|&point| self.at(point)).collect();
        self.painter.add(Shape::line(points, self.stroke()));
    }

    fn polygon(&self, points: &[(f32, f32)]) {
        let points = points.iter().map(|&point| self.at(point)).collect();
        let shape = Shape::convex_polygon(points, self.color, Stroke::NONE);
        self.painter.add(shape);
    }

    fn block(&self, from: (f32, f32), to: (f32, f32)) {
        let rect = Rect::from_min_max(self.at(from), self.at(to));
        self.painter.rect_filled(rect, 1.0, self.color);
    }

    fn circle(&self, centre: (f32, f32), radius: f32) {
        let radius = radius * self.rect.width();
        self.painter
            .circle_stroke(self.at(centre), radius, self.stroke());
    }

    fn disc(&self, centre: (f32, f32), radius: f32) {
        let radius = radius * self.rect.width();
        self.painter
            .circle_filled(self.at(centre), radius, self.color);
    }

    /// Points of an arc; angles in turns, clockwise from the right.
    fn arc(centre: (f32, f32), radius: f32, from: f32, to: f32) -> Vec<(f32, f32)> {
        (0..=16)
            .map(|step| {
                let turn = from + (to - from) * step as f32 / 16.0;
                let (sine, cosine) = (turn * std::f32::consts::TAU).sin_cos();
                (centre.0 + radius * cosine, centre.1 + radius * sine)
            })
            .collect()
    }

    fn warning(&self) {
        self.line(&[
            (0.5, 0.12),
            (0.92, 0.86),
            (0.08, 0.86),
            (0.5, 0.12),
            (0.92, 0.86),
        ]);
        self.line(&[(0.5, 0.4), (0.5, 0.6)]);
        self.disc((0.5, 0.73), 0.06);
    }

    fn moon(&self) {
        // The two arcs end where their circles meet.
        let mut outline = Self::arc((0.5, 0.5), 0.38, 0.057, 0.738);
        outline.extend(Self::arc((0.66, 0.38), 0.32, 0.65, 0.145));
        outline.push(outline[0]);
        self.line(&outline);
    }

    fn sun(&self) {
        self.disc((0.5, 0.5), 0.2);
        for ray in 0..8 {
            let (sine, cosine) = (ray as f32 / 8.0 * std::f32::consts::TAU).sin_cos();
            let at = |radius: f32| (0.5 + radius * cosine, 0.5 + radius * sine);
            self.line(&[at(0.32), at(0.44)]);
        }
    }

    fn hide(&self) {
        let mut eye = Self::arc((0.5, 0.78), 0.5, -0.38, -0.12);
        eye.extend(Self::arc((0.5, 0.22), 0.5, 0.12, 0.38));
        eye.push(eye[0]);
        self.line(&eye);
        self.disc((0.5, 0.5), 0.11);
        self.line(&[(0.16, 0.86), (0.84, 0.14)]);
    }

    fn turn(&self, forth: bool) {
        let side = |(x, y): (f32, f32)| if forth { (1.0 - x, y) } else { (x, y) };
        let arc: Vec<_> = Self::arc((0.52, 0.6), 0.3, -0.5, 0.1)
            .into_iter()
            .map(side)
            .collect();
        self.line(&arc);
        self.line(&[(0.06, 0.44), (0.22, 0.62), (0.4, 0.46)].map(side));
    }
}

/// A button with an icon alone; `label` is its accessible name.
pub fn icon_button(ui: &mut Ui, icon: Icon, label: &str) -> Response {
    let side = ui.spacing().interact_size.y;
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::click());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, label));
    if ui.is_rect_visible(rect) {
        let look = ui.style().interact(&response);
        if response.hovered() || response.has_focus() {
            ui.painter()
                .rect_filled(rect, look.corner_radius, look.weak_bg_fill);
        }
        if response.has_focus() {
            focus_ring(ui, rect);
        }
        let color = if enabled {
            look.text_color()
        } else {
            theme::tones(ui).weak.gamma_multiply(0.5)
        };
        icon.paint(ui.painter(), rect.shrink(side * 0.22), color);
    }
    response
}

/// An icon among text, without interaction.
pub fn icon_mark(ui: &mut Ui, icon: Icon, color: Color32) -> Response {
    let side = theme::body_font(ui).size;
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    icon.paint(ui.painter(), rect, color);
    response
}

/// The frame around what has the keyboard focus.
pub fn focus_ring(ui: &Ui, rect: Rect) {
    let stroke = Stroke::new(2.0, theme::tones(ui).accent);
    ui.painter()
        .rect_stroke(rect, theme::CORNER, stroke, egui::StrokeKind::Outside);
}

/// While something has the focus, the arrow keys are its own and do not move the focus on.
pub fn hold_arrows(ui: &Ui, id: egui::Id) {
    let arrows = egui::EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..egui::EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, arrows));
}

/// Width of a dot of colour.
const DOT_WIDTH: f32 = 10.0;

/// A name behind its colour, for legends that wrap: both stay on one line.
pub(super) fn named_dot(ui: &mut Ui, color: Color32, name: impl Into<egui::WidgetText>) {
    let name: egui::WidgetText = name.into();
    let wrap = Some(egui::TextWrapMode::Extend);
    let galley = name.into_galley(ui, wrap, f32::INFINITY, egui::TextStyle::Body);
    let width = DOT_WIDTH + ui.spacing().item_spacing.x + galley.size().x;
    if ui.available_size_before_wrap().x < width {
        ui.end_row();
    }
    color_dot(ui, color);
    ui.label(galley);
}

/// A dot of a colour in front of a name, as in legends.
pub fn color_dot(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(DOT_WIDTH, DOT_WIDTH), Sense::hover());
    let centre = pos2(rect.center().x, rect.center().y);
    ui.painter().circle_filled(centre, 4.5, color);
}
