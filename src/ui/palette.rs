//! Colours with a meaning: classes, folds, phases, sequential and signed data.

use egui::{Color32, Theme};

use atomscope_engine::export::{class_ink, mix_inks};

/// Nine support points of the viridis map.
const VIRIDIS: [Color32; 9] = [
    Color32::from_rgb(68, 1, 84),
    Color32::from_rgb(71, 44, 122),
    Color32::from_rgb(59, 81, 139),
    Color32::from_rgb(44, 113, 142),
    Color32::from_rgb(33, 144, 141),
    Color32::from_rgb(39, 173, 129),
    Color32::from_rgb(92, 200, 99),
    Color32::from_rgb(170, 220, 50),
    Color32::from_rgb(253, 231, 37),
];

/// The colour of a class, by its place: that of figures in files.
pub fn class_color(class: usize) -> Color32 {
    let [red, green, blue] = class_ink(class);
    Color32::from_rgb(red, green, blue)
}

/// The colour of fold `fold` out of `n_folds`.
pub fn fold_color(fold: usize, n_folds: usize) -> Color32 {
    let last = n_folds.saturating_sub(1).max(1) as f32;
    // The ends of the map are too dark and too bright beside text.
    sequential(0.15 + 0.75 * (fold as f32 / last).min(1.0))
}

/// The hue of a phase: a red, b gold, c blue.
pub fn phase_color(phase: usize, theme: Theme) -> Color32 {
    let hues = match theme {
        Theme::Light => [(0xc4, 0x40, 0x2f), (0xc8, 0x8f, 0x00), (0x2a, 0x74, 0xb5)],
        Theme::Dark => [(0xf0, 0x7a, 0x66), (0xe6, 0xb9, 0x4c), (0x6c, 0xb2, 0xee)],
    };
    let (red, green, blue) = hues[phase % 3];
    Color32::from_rgb(red, green, blue)
}

/// The viridis-like map of 0 to 1.
pub fn sequential(share: f32) -> Color32 {
    along(&VIRIDIS, share)
}

/// The signed map of −1 to 1: blue, neutral at zero, red. Neutral is white on the light
/// theme and close to the background on the dark one.
pub fn signed(value: f32, theme: Theme) -> Color32 {
    let value = if value.is_nan() { 0.0 } else { value };
    let stops = match theme {
        Theme::Light => &[
            Color32::from_rgb(0x1f, 0x5f, 0xa8),
            Color32::from_rgb(0x8c, 0xbf, 0xdf),
            Color32::from_rgb(0xff, 0xff, 0xff),
            Color32::from_rgb(0xf3, 0xa6, 0x87),
            Color32::from_rgb(0xb1, 0x1d, 0x2c),
        ],
        Theme::Dark => &[
            Color32::from_rgb(0x8f, 0xc6, 0xf5),
            Color32::from_rgb(0x3b, 0x72, 0xad),
            Color32::from_rgb(0x24, 0x28, 0x2f),
            Color32::from_rgb(0xb4, 0x4f, 0x40),
            Color32::from_rgb(0xfb, 0xa1, 0x8c),
        ],
    };
    along(stops, value * 0.5 + 0.5)
}

/// Between two colours; 0 is the first, 1 the second.
pub fn mix(first: Color32, second: Color32, share: f32) -> Color32 {
    let ink = |color: Color32| [color.r(), color.g(), color.b()];
    let [red, green, blue] = mix_inks(ink(first), ink(second), share);
    Color32::from_rgb(red, green, blue)
}

fn along(stops: &[Color32], share: f32) -> Color32 {
    let share = if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    };
    let place = share * (stops.len() - 1) as f32;
    let below = (place as usize).min(stops.len() - 2);
    mix(stops[below], stops[below + 1], place - below as f32)
}

/// Relative luminance as WCAG 2 defines it.
fn luminance(color: Color32) -> f32 {
    let linear = |channel: u8| {
        let share = f32::from(channel) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
}

/// Contrast of two colours as WCAG 2 defines it: 1 to 21, at least 4.5 for text.
pub fn contrast(first: Color32, second: Color32) -> f32 {
    let (first, second) = (luminance(first), luminance(second));
    (first.max(second) + 0.05) / (first.min(second) + 0.05)
}

/// A colour as text on `ground`: mixed with `ink` until it can be read.
pub fn legible(color: Color32, ground: Color32, ink: Color32) -> Color32 {
    let mixed = (0..=10).map(|tenths| mix(color, ink, tenths as f32 / 10.0));
    let mut enough = mixed.filter(|mixed| contrast(*mixed, ground) >= 4.5);
    enough.next().unwrap_or(ink)
}

/// Black or white, whichever reads better on `ground`: one of them has a contrast of √21 ≈ 4.58
/// on any colour.
pub fn text_on(ground: Color32) -> Color32 {
    if contrast(Color32::BLACK, ground) >= contrast(Color32::WHITE, ground) {
        Color32::BLACK
    } else {
        Color32::WHITE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: Color32, b: Color32) -> f32 {
        let part = |a: u8, b: u8| (f32::from(a) - f32::from(b)).powi(2);
        (part(a.r(), b.r()) + part(a.g(), b.g()) + part(a.b(), b.b())).sqrt()
    }

    #[test]
    fn twenty_six_classes_have_colours_that_differ() {
        for first in 0..26 {
            for second in 0..first {
                let apart = distance(class_color(first), class_color(second));
                assert!(apart > 24.0, "classes {first} and {second}: {apart}");
            }
        }
    }

    #[test]
    fn the_signed_map_is_neutral_at_zero_and_opposite_at_the_ends() {
        assert_eq!(signed(0.0, Theme::Light), Color32::WHITE);
        for theme in [Theme::Light, Theme::Dark] {
            let (low, high) = (signed(-1.0, theme), signed(1.0, theme));
            assert!(low.b() > low.r() && high.r() > high.b());
            assert_eq!(signed(f32::NAN, theme), signed(0.0, theme));
            assert_eq!(signed(9.0, theme), high);
        }
    }

    #[test]
    fn the_sequential_map_grows_lighter_all_the_way() {
        let lights: Vec<f32> = (0..=100)
            .map(|step| luminance(sequential(step as f32 / 100.0)))
            .collect();
        assert!(lights.windows(2).all(|pair| pair[0] <= pair[1] + 1e-4));
    }

    #[test]
    fn text_reads_on_every_colour_of_every_map() {
        for step in 0..=40 {
            let share = step as f32 / 40.0;
            for ground in [
                sequential(share),
                signed(share * 2.0 - 1.0, Theme::Light),
                signed(share * 2.0 - 1.0, Theme::Dark),
                class_color(step),
            ] {
                assert!(contrast(text_on(ground), ground) >= 4.5, "{ground:?}");
            }
        }
    }
}
