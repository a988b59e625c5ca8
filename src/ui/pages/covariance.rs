//! Covariances as channel × channel pictures: the steps from a segment to its features, a sample, the difference of
//! two classes.

use std::sync::Arc;

use egui::{Align, Id, Layout, RichText, Ui, vec2};

use super::features::heads_ui;
use super::samples::SampleDrawing;
use crate::ui::elements::{choice, help, section};
use crate::ui::numbers::percent;
use crate::ui::theme;
use crate::ui::widgets::{GramMatrix, MapLabels};
use atomscope_engine::dataset::{Dataset, FeatureGroup, GroupKind, class_difference};
use atomscope_engine::features::eeg_segments::CovarianceSteps;
use atomscope_engine::features::readable::{
    Square, band_powers, channel_shares, readable, squares,
};
use atomscope_engine::math::Matrix;
use atomscope_engine::records::counted;

/// Largest and smallest side of a picture.
const SIDES: (f32, f32) = (130.0, 70.0);
/// Pictures side by side: the three steps of a band fit.
const PER_ROW: f32 = 3.0;
/// Bands whose steps are shown.
const MOST_STEPS: usize = 3;
/// Bands whose covariances are shown.
const MOST_SQUARES: usize = 12;
/// Channels that are named as carrying a difference.
const MOST_CHANNELS: usize = 5;

/// What each step makes of the segment, band by band.
pub(super) fn steps_ui(ui: &mut Ui, steps: &[CovarianceSteps]) {
    if steps.is_empty() {
        return;
    }
    help(
        ui,
        "Step by step, channel × channel: the covariance as measured, free of gain (where asked for) and shrunk, its logarithm",
    );
    for band in steps.iter().take(MOST_STEPS) {
        let pictures = [
            ("measured", &band.measured),
            ("shrunk", &band.shrunk),
            ("logarithm", &band.logarithm),
        ];
        ui.horizontal_wrapped(|ui| {
            for (step, matrix) in pictures {
                let title = format!("{}: {step}", band.band);
                picture_ui(ui, &title, &band.channels, matrix);
            }
        });
    }
    unshown_ui(ui, steps.len().saturating_sub(MOST_STEPS));
}

/// Says how many bands are not shown.
fn unshown_ui(ui: &mut Ui, n_more: usize) {
    if n_more > 0 {
        help(ui, &format!("and {}", counted(n_more, "more band")));
    }
}

/// The covariances of a sample or an atom.
pub(super) fn squares_ui(ui: &mut Ui, groups: &[FeatureGroup], values: &[f64]) {
    let squares = squares(groups, values);
    ui.horizontal_wrapped(|ui| {
        for Square {
            title,
            names,
            matrix,
        } in squares.iter().take(MOST_SQUARES)
        {
            picture_ui(ui, title, names, matrix);
        }
    });
    unshown_ui(ui, squares.len().saturating_sub(MOST_SQUARES));
}

fn picture_ui(ui: &mut Ui, title: &str, names: &[String], matrix: &Matrix) {
    // The map has its colour bar beside it and its title above.
    let letter = theme::small_font(ui).size;
    let bar = letter * 6.0;
    let room = ui.max_rect().width() / PER_ROW - ui.spacing().item_spacing.x - bar;
    let side = room.clamp(SIDES.1, SIDES.0);
    let size = vec2(side + bar, side + letter * 2.0);
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_min_size(size);
        let weak = theme::tones(ui).weak;
        let text = RichText::new(title).small().color(weak);
        ui.add(egui::Label::new(text).truncate());
        GramMatrix {
            gram: matrix.view(),
            labels: MapLabels::Named { title, names },
            size: side,
        }
        .show(ui);
    });
}

/// Where two classes differ on the head, in standard deviations within the classes, and which channels carry it.
pub(super) fn class_maps_ui(ui: &mut Ui, dataset: &Arc<Dataset>) {
    let names = dataset.class_names();
    let is_covariance = |group: &FeatureGroup| matches!(group.kind, GroupKind::Covariance { .. });
    if names.len() < 2 || !dataset.feature_groups().iter().any(is_covariance) {
        return;
    }
    section(ui, "Difference of the classes");
    let (first, second) = classes_ui(ui, names);
    let difference = difference_of(ui, dataset, (first, second));
    let text = format!(
        "{} minus {}, in standard deviations within the classes",
        names[second], names[first]
    );
    help(ui, &text);
    let groups = dataset.feature_groups();
    for read in [
        readable(groups, &difference),
        band_powers(groups, &difference),
    ]
    .into_iter()
    .flatten()
    {
        heads_ui(ui, &SampleDrawing::of_readable(&read), &read.values);
    }
    let shares = channel_shares(groups, &difference);
    let named: Vec<String> = shares
        .iter()
        .take(MOST_CHANNELS)
        .map(|(channel, share)| format!("{channel} {}", percent(*share)))
        .collect();
    let text = format!(
        "Channels that carry the decision, by their share of the squared difference: {}",
        named.join(", ")
    );
    help(ui, &text);
    squares_ui(ui, groups, &difference);
}

/// Which two classes are compared; of two classes there is no choice.
fn classes_ui(ui: &mut Ui, names: &[String]) -> (usize, usize) {
    let id = Id::unique("classes that are compared");
    let kept = ui.data(|data| data.get_temp::<(usize, usize)>(id));
    let (mut first, mut second) = kept.unwrap_or((0, 1));
    if names.len() > 2 {
        let shown: Vec<&str> = names.iter().map(String::as_str).collect();
        let last = names.len() - 1;
        let text = "The class whose mean is looked at";
        second = choice(ui, "Class", text, second.min(last), &shown).unwrap_or(second);
        let text = "The class whose mean is taken away";
        first = choice(ui, "Against", text, first.min(last), &shown).unwrap_or(first);
        ui.data_mut(|data| data.insert_temp(id, (first, second)));
    }
    let is_there = first < names.len() && second < names.len() && first != second;
    if is_there { (first, second) } else { (0, 1) }
}

/// The difference of two class means, computed once for every choice.
fn difference_of(ui: &Ui, dataset: &Arc<Dataset>, classes: (usize, usize)) -> Arc<Vec<f64>> {
    type Kept = ((usize, (usize, usize)), Arc<Vec<f64>>);
    let id = Id::unique("difference of class means");
    let key = (Arc::as_ptr(dataset) as usize, classes);
    if let Some((known, difference)) = ui.data(|data| data.get_temp::<Kept>(id))
        && known == key
    {
        return difference;
    }
    let difference = Arc::new(class_difference(dataset, classes.0, classes.1));
    ui.data_mut(|data| data.insert_temp(id, (key, difference.clone())));
    difference
}
