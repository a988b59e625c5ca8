//! The icons of the window, from the Material Symbols font.

use egui::{Align2, Color32, FontId, Painter, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo};
use egui::{pos2, vec2};
use egui_material_icons::{MaterialIcon, icons};

use super::theme;

/// What an icon means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Start or resume.
    Play,
    /// Pause.
    Pause,
    /// One step.
    Step,
    /// Stop.
    Stop,
    /// In order.
    Check,
    /// Needs attention.
    Warning,
    /// Failed.
    Error,
    /// The dark theme.
    Moon,
    /// The light theme.
    Sun,
    /// Fill the page.
    Enlarge,
    /// Return to the usual size.
    Shrink,
    /// Close, hide or dismiss.
    Close,
    /// Undo.
    Undo,
    /// Redo.
    Redo,
    /// Nothing there yet.
    Empty,
    /// There.
    Full,
    /// A menu.
    More,
}

impl Icon {
    /// All of them.
    pub const ALL: [Self; 17] = [
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
        Self::Close,
        Self::Undo,
        Self::Redo,
        Self::Empty,
        Self::Full,
        Self::More,
    ];

    fn symbol(self) -> MaterialIcon {
        match self {
            Self::Play => icons::ICON_PLAY_ARROW,
            Self::Pause => icons::ICON_PAUSE,
            Self::Step => icons::ICON_SKIP_NEXT,
            Self::Stop => icons::ICON_STOP,
            Self::Check => icons::ICON_CHECK,
            Self::Warning => icons::ICON_WARNING,
            Self::Error => icons::ICON_ERROR,
            Self::Moon => icons::ICON_DARK_MODE,
            Self::Sun => icons::ICON_LIGHT_MODE,
            Self::Enlarge => icons::ICON_OPEN_IN_FULL,
            Self::Shrink => icons::ICON_CLOSE_FULLSCREEN,
            Self::Close => icons::ICON_CLOSE,
            Self::Undo => icons::ICON_UNDO,
            Self::Redo => icons::ICON_REDO,
            Self::Empty => icons::ICON_RADIO_BUTTON_UNCHECKED,
            Self::Full => icons::ICON_CIRCLE,
            Self::More => icons::ICON_MORE_HORIZ,
        }
    }

    /// Draws the icon into the middle of `rect`.
    pub fn paint(self, painter: &Painter, rect: Rect, color: Color32) {
        let symbol = self.symbol();
        let font = FontId::new(rect.size().min_elem() * 1.2, symbol.font_family());
        painter.text(
            rect.center(),
            Align2::CENTER_CENTER,
            symbol.codepoint,
            font,
            color,
        );
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
