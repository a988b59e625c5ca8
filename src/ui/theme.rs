//! The look of the window: fonts, text sizes, spacing and the tones of the light and the dark theme.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::epaint::Shadow;
use egui::style::{HandleShape, Selection, WidgetVisuals, Widgets};
use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Stroke,
    Style, TextStyle, Theme, Ui, Visuals, vec2,
};

use super::right_to_left::RightToLeft;
use super::{palette, system_fonts};

/// One step of the grid that distances are multiples of.
pub const GRID: f32 = 8.0;
/// Distance of the content from the edge of a page.
pub const PAGE_MARGIN: i8 = 24;
/// Distance between panels.
pub const PANEL_GAP: f32 = 24.0;
/// Corner radius of controls and cells.
pub const CORNER: u8 = 4;
/// Size of ordinary text at scale 1.
pub const BASE_SIZE: f32 = 14.0;
/// The text scales that can be chosen.
pub const TEXT_SCALES: [f32; 6] = [0.85, 1.0, 1.15, 1.3, 1.5, 2.0];

/// The tones of one theme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tones {
    /// Behind everything.
    pub page: Color32,
    /// Fields to type in, plots, tooltips.
    pub surface: Color32,
    /// Lines between things.
    pub hairline: Color32,
    /// Grid lines and other things that may hardly be seen.
    pub faint: Color32,
    /// Text that must be read.
    pub text: Color32,
    /// Text that explains.
    pub weak: Color32,
    /// Titles and the value under attention.
    pub strong: Color32,
    /// What is chosen, focused or running.
    pub accent: Color32,
    /// The accent as a background.
    pub accent_wash: Color32,
    /// All is well.
    pub ok: Color32,
    /// Worth a look.
    pub warning: Color32,
    /// Wrong.
    pub error: Color32,
    /// No longer valid because something before it changed.
    pub stale: Color32,
}

const LIGHT: Tones = Tones {
    page: Color32::from_rgb(0xf8, 0xf9, 0xfa),
    surface: Color32::from_rgb(0xff, 0xff, 0xff),
    hairline: Color32::from_rgb(0xdc, 0xe0, 0xe5),
    faint: Color32::from_rgb(0xeb, 0xee, 0xf1),
    text: Color32::from_rgb(0x2a, 0x32, 0x3c),
    weak: Color32::from_rgb(0x5f, 0x69, 0x75),
    strong: Color32::from_rgb(0x12, 0x18, 0x20),
    accent: Color32::from_rgb(0x45, 0x58, 0xb8),
    accent_wash: Color32::from_rgb(0xe8, 0xec, 0xfa),
    ok: Color32::from_rgb(0x27, 0x74, 0x4a),
    warning: Color32::from_rgb(0x8c, 0x5b, 0x00),
    error: Color32::from_rgb(0xbf, 0x32, 0x2a),
    stale: Color32::from_rgb(0x74, 0x5a, 0x9f),
};

const DARK: Tones = Tones {
    page: Color32::from_rgb(0x17, 0x1a, 0x1f),
    surface: Color32::from_rgb(0x1d, 0x21, 0x27),
    hairline: Color32::from_rgb(0x31, 0x37, 0x40),
    faint: Color32::from_rgb(0x26, 0x2b, 0x32),
    text: Color32::from_rgb(0xcf, 0xd5, 0xdc),
    weak: Color32::from_rgb(0x8d, 0x97, 0xa3),
    strong: Color32::from_rgb(0xf1, 0xf4, 0xf7),
    accent: Color32::from_rgb(0x97, 0xa9, 0xf5),
    accent_wash: Color32::from_rgb(0x25, 0x2c, 0x49),
    ok: Color32::from_rgb(0x63, 0xc3, 0x8e),
    warning: Color32::from_rgb(0xe0, 0xb0, 0x50),
    error: Color32::from_rgb(0xf8, 0x80, 0x76),
    stale: Color32::from_rgb(0xb4, 0xa1, 0xe2),
};

impl Tones {
    /// The tones of a theme.
    pub fn of(theme: Theme) -> &'static Self {
        match theme {
            Theme::Dark => &DARK,
            Theme::Light => &LIGHT,
        }
    }
}

/// The theme in use.
pub fn theme_of(ui: &Ui) -> Theme {
    Theme::from_dark_mode(ui.visuals().dark_mode)
}

/// The tones of the theme in use.
pub fn tones(ui: &Ui) -> &'static Tones {
    Tones::of(theme_of(ui))
}

/// Text between body and heading: titles of panels.
pub fn panel_title() -> TextStyle {
    TextStyle::Name("panel title".into())
}

/// The font of small text: captions, ticks, help.
pub fn small_font(ui: &Ui) -> FontId {
    TextStyle::Small.resolve(ui.style())
}

/// The font of ordinary text.
pub fn body_font(ui: &Ui) -> FontId {
    TextStyle::Body.resolve(ui.style())
}

/// How large text is, 1 as usual.
pub fn text_scale(ui: &Ui) -> f32 {
    body_font(ui).size / BASE_SIZE
}

/// Sliders within: a clear rail up to the value, and a light handle.
pub fn with_slider_look<R>(ui: &mut Ui, contents: impl FnOnce(&mut Ui) -> R) -> R {
    let tones = tones(ui);
    ui.scope(|ui| {
        let visuals = ui.visuals_mut();
        visuals.selection.bg_fill = palette::mix(tones.accent, tones.page, 0.35);
        for look in [
            &mut visuals.widgets.inactive,
            &mut visuals.widgets.hovered,
            &mut visuals.widgets.active,
        ] {
            look.bg_fill = tones.hairline;
            look.fg_stroke = Stroke::new(1.5, tones.accent);
        }
        contents(ui)
    })
    .inner
}

/// Sets fonts and both themes, at text scale 1.
pub fn install(context: &Context) {
    context.set_fonts(fonts());
    system_fonts::install(context);
    context.add_plugin(RightToLeft);
    set_text_scale(context, 1.0);
}

/// Sets the size of all text, and of the controls around it, relative to 14 px.
pub fn set_text_scale(context: &Context, scale: f32) {
    for theme in [Theme::Light, Theme::Dark] {
        context.set_style_of(theme, style(theme, scale.clamp(0.5, 3.0)));
    }
}

/// Inter before egui's own fonts, which supply what it lacks.
fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let inter = FontData::from_static(include_bytes!("../../assets/Inter-Tabular-Medium.otf"));
    fonts.font_data.insert("Inter".to_owned(), Arc::new(inter));
    for family in [FontFamily::Proportional, FontFamily::Monospace] {
        let names = fonts.families.entry(family.clone()).or_default();
        let place = if family == FontFamily::Proportional {
            0
        } else {
            names.len().min(1)
        };
        names.insert(place, "Inter".to_owned());
    }
    let icons = egui_material_icons::font_insert();
    let family = FontFamily::Name(egui_material_icons::FONT_FAMILY.into());
    fonts.families.insert(family, vec![icons.name.clone()]);
    fonts.font_data.insert(icons.name, Arc::new(icons.data));
    fonts
}

fn style(theme: Theme, scale: f32) -> Style {
    let mut style = Style {
        text_styles: text_styles(scale),
        drag_value_text_style: TextStyle::Body,
        visuals: visuals(theme),
        animation_time: 0.08,
        ..Style::default()
    };
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(GRID, GRID);
    spacing.button_padding = vec2(12.0, 4.0) * scale;
    spacing.interact_size = vec2(40.0, 26.0) * scale;
    spacing.slider_width = 160.0 * scale;
    spacing.slider_rail_height = 4.0;
    spacing.combo_width = 120.0 * scale;
    spacing.icon_width = 16.0 * scale;
    spacing.icon_width_inner = 10.0 * scale;
    spacing.icon_spacing = GRID;
    spacing.window_margin = Margin::same(16);
    spacing.menu_margin = Margin::same(8);
    spacing.menu_spacing = 4.0;
    spacing.tooltip_width = 380.0 * scale;
    spacing.indent = 24.0;
    style.interaction.tooltip_delay = 0.4;
    style.interaction.selectable_labels = false;
    style
}

fn text_styles(scale: f32) -> BTreeMap<TextStyle, FontId> {
    let proportional = |size: f32| FontId::new(size * scale, FontFamily::Proportional);
    BTreeMap::from([
        (TextStyle::Small, proportional(12.0)),
        (TextStyle::Body, proportional(BASE_SIZE)),
        (TextStyle::Button, proportional(BASE_SIZE)),
        (panel_title(), proportional(15.0)),
        (TextStyle::Heading, proportional(20.0)),
        (
            TextStyle::Monospace,
            FontId::new(13.0 * scale, FontFamily::Monospace),
        ),
    ])
}

fn visuals(theme: Theme) -> Visuals {
    let tones = Tones::of(theme);
    let dark = theme == Theme::Dark;
    let base = if dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    let shadow = Shadow {
        offset: [0, 4],
        blur: 16,
        spread: 0,
        color: Color32::from_black_alpha(if dark { 110 } else { 32 }),
    };
    Visuals {
        weak_text_color: Some(tones.weak),
        widgets: widgets(tones, dark),
        selection: Selection {
            bg_fill: tones.accent_wash,
            stroke: Stroke::new(1.0, tones.accent),
        },
        hyperlink_color: tones.accent,
        faint_bg_color: tones.faint,
        extreme_bg_color: tones.surface,
        code_bg_color: tones.faint,
        warn_fg_color: tones.warning,
        error_fg_color: tones.error,
        window_corner_radius: CornerRadius::same(8),
        menu_corner_radius: CornerRadius::same(6),
        window_shadow: shadow,
        popup_shadow: shadow,
        window_fill: tones.surface,
        window_stroke: Stroke::new(1.0, tones.hairline),
        panel_fill: tones.page,
        indent_has_left_vline: false,
        slider_trailing_fill: true,
        handle_shape: HandleShape::Circle,
        ..base
    }
}

fn widgets(tones: &Tones, dark: bool) -> Widgets {
    let button = if dark {
        Color32::from_rgb(0x2b, 0x31, 0x39)
    } else {
        Color32::from_rgb(0xec, 0xef, 0xf2)
    };
    let hovered = if dark {
        Color32::from_rgb(0x36, 0x3d, 0x47)
    } else {
        Color32::from_rgb(0xe1, 0xe5, 0xea)
    };
    let look = |fill: Color32, border: Color32, text: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, border),
        fg_stroke: Stroke::new(1.0, text),
        corner_radius: CornerRadius::same(CORNER),
        expansion: 0.0,
    };
    Widgets {
        noninteractive: look(tones.page, tones.hairline, tones.text),
        inactive: look(button, Color32::TRANSPARENT, tones.text),
        hovered: look(hovered, tones.hairline, tones.strong),
        active: look(tones.accent_wash, tones.accent, tones.strong),
        open: look(hovered, tones.hairline, tones.strong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::palette::contrast;

    #[test]
    fn every_text_tone_can_be_read_on_page_and_surface() {
        for theme in [Theme::Light, Theme::Dark] {
            let tones = Tones::of(theme);
            for tone in [
                tones.text,
                tones.weak,
                tones.strong,
                tones.accent,
                tones.ok,
                tones.warning,
                tones.error,
                tones.stale,
            ] {
                for ground in [tones.page, tones.surface, tones.accent_wash] {
                    let found = contrast(tone, ground);
                    assert!(found >= 4.5, "{theme:?}: {tone:?} on {ground:?}: {found}");
                }
            }
        }
    }

    #[test]
    fn figures_have_one_width_so_that_changing_numbers_do_not_jump() {
        let context = Context::default();
        install(&context);
        let mut widths = Vec::new();
        let output = context.run_ui(egui::RawInput::default(), |ui| {
            let font = body_font(ui);
            widths = (0..10)
                .map(|digit| {
                    let text = digit.to_string().repeat(12);
                    let galley = ui
                        .painter()
                        .layout_no_wrap(text, font.clone(), Color32::RED);
                    galley.size().x
                })
                .collect();
        });
        output.drop_without_applying_deltas();
        assert!(widths.iter().all(|width| (width - widths[0]).abs() < 1.0));
        assert!(widths[0] > 0.0);
    }
}
