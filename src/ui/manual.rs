//! The manual in the window: the guide of the engine's documentation, with figures drawn by the
//! widgets of the pages.

use egui::text::{LayoutJob, TextFormat};
use egui::{Label, RichText, ScrollArea, Ui};

use super::palette::{class_color, phase_color};
use super::theme;
use super::widgets::{BatchFlow, ChartPlot, ClassHistogram, ProfilePanel, Trace, Waveform};
use atomscope_engine::export::{Chart, Series, Stroke};
use atomscope_engine::guide::MANUAL;

/// Width of the text: some 90 letters.
const WIDTH: f32 = 680.0;

/// A part of the text.
#[derive(Debug, PartialEq)]
enum ManualBlock {
    Title(String),
    Heading(String),
    Paragraph(String),
    Item(String),
    Figure { name: String, caption: String },
}

/// The whole manual, scrolling within `height`.
pub fn manual_ui(ui: &mut Ui, height: f32) {
    ui.set_width(WIDTH);
    ScrollArea::vertical()
        .max_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 16.0);
            for block in blocks(MANUAL) {
                block_ui(ui, &block);
            }
        });
}

/// The blocks of the Markdown that the manual is written in: headings, paragraphs, lists, figures.
fn blocks(text: &str) -> Vec<ManualBlock> {
    let mut blocks: Vec<ManualBlock> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        let figure = line.strip_prefix("![").and_then(|rest| {
            let (caption, path) = rest.strip_suffix(')')?.split_once("](")?;
            let name = path.rsplit('/').next()?.strip_prefix("manual-")?;
            let name = name.strip_suffix("-light.png")?.to_owned();
            let caption = caption.to_owned();
            Some(ManualBlock::Figure { name, caption })
        });
        let new = match line {
            "" => None,
            _ if figure.is_some() => figure,
            _ => [
                ("## ", ManualBlock::Heading as fn(String) -> ManualBlock),
                ("# ", ManualBlock::Title),
                ("- ", ManualBlock::Item),
            ]
            .into_iter()
            .find_map(|(mark, block)| Some(block(line.strip_prefix(mark)?.to_owned()))),
        };
        match (new, blocks.last_mut()) {
            (Some(block), _) => {
                is_open = matches!(block, ManualBlock::Item(_));
                blocks.push(block);
            }
            (None, _) if line.is_empty() => is_open = false,
            (None, Some(ManualBlock::Paragraph(text) | ManualBlock::Item(text))) if is_open => {
                text.push(' ');
                text.push_str(line);
            }
            (None, _) => {
                is_open = true;
                blocks.push(ManualBlock::Paragraph(line.to_owned()));
            }
        }
    }
    blocks
}

fn block_ui(ui: &mut Ui, block: &ManualBlock) {
    let tones = theme::tones(ui);
    match block {
        ManualBlock::Title(text) => {
            ui.label(RichText::new(text).heading().size(24.0).color(tones.strong));
        }
        ManualBlock::Heading(text) => {
            ui.add_space(theme::GRID * 2.0);
            ui.label(RichText::new(text).heading().color(tones.strong));
        }
        ManualBlock::Paragraph(text) => {
            ui.add(Label::new(inline(ui, text)).wrap());
            ui.add_space(theme::GRID / 2.0);
        }
        ManualBlock::Item(text) => {
            ui.horizontal_top(|ui| {
                ui.label("•");
                ui.add(Label::new(inline(ui, text)).wrap());
            });
        }
        ManualBlock::Figure { name, caption } => {
            ui.add_space(theme::GRID);
            figure_ui(ui, name);
            ui.label(RichText::new(caption).small().color(tones.weak));
            ui.add_space(theme::GRID);
        }
    }
}

/// Text with *emphasis*, **strong words** and `code`.
fn inline(ui: &Ui, text: &str) -> LayoutJob {
    let tones = theme::tones(ui);
    let font = theme::body_font(ui);
    let mut job = LayoutJob::default();
    let plain = text.replace("**", "*").replace('`', "*");
    for (place, piece) in plain.split('*').enumerate() {
        let color = if place % 2 == 1 {
            tones.strong
        } else {
            tones.text
        };
        let format = TextFormat {
            italics: place % 2 == 1 && !text.contains(&format!("**{piece}**")),
            ..TextFormat::simple(font.clone(), color)
        };
        job.append(piece, 0.0, format);
    }
    job
}

/// Draws a figure of the manual by its name.
pub fn figure_ui(ui: &mut Ui, name: &str) {
    match name {
        "atom" => atom_ui(ui),
        "profile" => profile_ui(ui),
        "forgetting" => forgetting_ui(ui),
        "margin" => margin_ui(ui),
        "prequential" => prequential_ui(ui),
        _ => {}
    }
}

/// A damped oscillation and a half wave add up to the sample.
fn atom_ui(ui: &mut Ui) {
    let shown = theme::theme_of(ui);
    let at = |place: usize| place as f64 / 200.0;
    let wave = |cycles: f64, damping: f64| -> Vec<f64> {
        let value = |t: f64| (std::f64::consts::TAU * cycles * t).sin() * (-damping * t).exp();
        (0..=200).map(|place| value(at(place))).collect()
    };
    let (first, second) = (wave(1.0, 0.0), wave(5.0, 3.0));
    let both = first.iter().zip(&second);
    let sample: Vec<f64> = both.map(|(a, b)| 0.8 * a + 0.5 * b).collect();
    let trace = |name, values, color, lane| Trace {
        name,
        values,
        color,
        lane,
    };
    Waveform {
        name: "A sample as the sum of two atoms",
        traces: &[
            trace("sample", &sample, theme::tones(ui).text, 0),
            trace("0.8 ×", &first, phase_color(0, shown), 1),
            trace("0.5 ×", &second, phase_color(2, shown), 2),
        ],
        rate_hz: 10_000.0,
        start_s: 0.0,
        lane_units: &["", "", ""],
        marks: &[],
        height: 190.0,
    }
    .show(ui);
}

fn profile_ui(ui: &mut Ui) {
    let batches: Vec<BatchFlow> = (0..40)
        .map(|batch| {
            let admitted = if batch < 14 {
                8.0 - 0.2 * f64::from(batch)
            } else {
                3.0
            };
            BatchFlow {
                admitted,
                rejected: 10.0 - admitted,
                removed: if batch < 14 { 0.0 } else { 3.0 },
            }
        })
        .collect();
    let ages: Vec<f64> = (0..100).map(|n| f64::from(n * n) / 260.0).collect();
    ProfilePanel {
        class_name: "SLG",
        class_color: class_color(1),
        n_kept: 100,
        budget: 100,
        batches: &batches,
        ages: &ages,
        height: 150.0,
    }
    .show(ui);
}

fn series(name: &str, points: Vec<[f64; 2]>, stroke: Stroke, place: usize) -> Series {
    Series {
        points,
        stroke,
        ..Series::of_curve(name, &[], place)
    }
}

fn forgetting_ui(ui: &mut Ui) {
    let curves = [0.9_f64, 0.95, 0.98].into_iter().enumerate();
    let curves = curves.map(|(place, factor)| {
        let points = (0..=60).map(|k| [f64::from(k), factor.powi(k)]).collect();
        series(&format!("λ = {factor}"), points, Stroke::Solid, place)
    });
    let label = "mini-batches ago";
    ChartPlot {
        chart: &Chart::over_batches("Weight of a past mini-batch", label, curves.collect()),
        height: 180.0,
    }
    .show(ui);
}

fn margin_ui(ui: &mut Ui) {
    // Quantiles of two distributions: few decisions are wrong, and those have small margins.
    let right =
        (1..200).map(|n| 2.6 + 1.1 * (f64::from(n) / 200.0 / (1.0 - f64::from(n) / 200.0)).ln());
    let wrong = (1..40).map(|n| -0.5 * (1.0 - f64::from(n) / 40.0).ln());
    ClassHistogram {
        feature_name: "margin",
        class_names: &["correct decisions".into(), "wrong decisions".into()],
        values: &[
            right.filter(|margin| *margin > 0.0).collect(),
            wrong.collect(),
        ],
        height: 170.0,
    }
    .show(ui);
}

fn prequential_ui(ui: &mut Ui) {
    // Shares of ten samples, rising with the mini-batches.
    let right = [
        4, 5, 5, 7, 6, 8, 7, 8, 9, 8, 9, 8, 9, 10, 9, 9, 10, 9, 10, 9, 10, 10, 9, 10,
    ];
    let mut sum = 0;
    let (mut each, mut all) = (Vec::new(), Vec::new());
    for (batch, right) in right.into_iter().enumerate() {
        sum += right;
        let at = (batch + 1) as f64;
        each.push([at, f64::from(right) / 10.0]);
        all.push([at, f64::from(sum) / (10.0 * at)]);
    }
    let series = vec![
        series("each mini-batch", each, Stroke::Dots, 0),
        series("all so far", all, Stroke::Solid, 1),
    ];
    ChartPlot {
        chart: &Chart::over_batches("Prequential score", "mini-batches", series),
        height: 180.0,
    }
    .show(ui);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_a_figure_for_each_of_its_terms() {
        let blocks = blocks(MANUAL);
        let figures: Vec<&str> = blocks
            .iter()
            .filter_map(|block| match block {
                ManualBlock::Figure { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let terms = ["atom", "profile", "forgetting", "margin", "prequential"];
        assert_eq!(figures, terms);
        let headings = blocks
            .iter()
            .filter(|b| matches!(b, ManualBlock::Heading(_)));
        assert!(headings.count() >= 8);
    }

    #[test]
    fn lines_of_a_paragraph_and_of_an_item_are_joined() {
        let found = blocks("one\ntwo\n\n- three\n  four\n\nfive");
        let text = |text: &str| text.to_owned();
        assert_eq!(
            found,
            [
                ManualBlock::Paragraph(text("one two")),
                ManualBlock::Item(text("three four")),
                ManualBlock::Paragraph(text("five")),
            ]
        );
    }
}
