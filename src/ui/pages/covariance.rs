//! Covariances as channel × channel pictures: the steps from a segment to its features, a sample, the difference of
//! two classes.

use std::sync::Arc;

use egui::{Id, RichText, Ui};

use super::features::heads_ui;
use super::samples::Drawn;
use crate::ui::elements::{choice, help, section};
use crate::ui::numbers::percent;
use crate::ui::theme;
use crate::ui::widgets::{GramMatrix, MapLabels};
use atomscope_engine::dataset::{Dataset, FeatureGroup, GroupKind, class_difference};
use atomscope_engine::features::eeg_segments::CovarianceSteps;
use atomscope_engine::features::readable::{Square, channel_shares, readable, squares};
use atomscope_engine::math::Matrix;

/// Side of a picture.
const SIDE: f32 = 130.0;
/// Bands whose steps are shown.
const MOST_BANDS: usize = 6;
/// Channels that are named as carrying a difference.
const MOST_CHANNELS: usize = 5;

/// What each step makes of the segment, band by band.
pub(super) fn steps_ui(ui: &mut Ui, steps: &[CovarianceSteps]) {
    if steps.is_empty() {
        return;
    }
    help(
        ui,
        "Step by step: covariance as measured, free of gain and shrunk, its logarithm",
    );
    for band in steps.iter().take(MOST_BANDS) {
        let pictures = [
            ("measured", &band.measured),
            ("normalised and shrunk", &band.shrunk),
            ("logarithm", &band.logarithm),
        ];
        ui.horizontal_wrapped(|ui| {
            for (step, matrix) in pictures {
                let title = format!("{}: {step}", band.band);
                picture_ui(ui, &title, &band.channels, matrix);
            }
        });
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
        } in squares.iter().take(MOST_BANDS)
        {
            picture_ui(ui, title, names, matrix);
        }
    });
}

fn picture_ui(ui: &mut Ui, title: &str, names: &[String], matrix: &Matrix) {
    ui.vertical(|ui| {
        let weak = theme::tones(ui).weak;
        ui.label(RichText::new(title).small().color(weak));
        GramMatrix {
            gram: matrix.view(),
            labels: MapLabels::Named { title, names },
            size: SIDE,
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
    if let Some(read) = readable(groups, &difference) {
        heads_ui(ui, &Drawn::of_dataset(dataset), &read.values);
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
