//! The Features page: the recipe, what it makes of one sample, and how a feature tells the classes apart.

use egui::{RichText, Slider, Ui};

use super::covariance::{class_maps_ui, squares_ui, steps_ui};
use super::eeg_recipe::{eeg_bands_ui, eeg_groups_ui, eeg_recipe_choice_ui};
use super::fields::SettingField;
use super::samples::{SampleDrawing, drawn_values};
use super::signal::{bands_ui, signal_ui};
use crate::ui::elements::{self, button, choice, help, page_title, section};
use crate::ui::icons::color_dot;
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{Atom, AtomGrid, AtomView, ClassHistogram, ScalpMap, empty_state};
use crate::workbench::{Action, Demo, Draft, Signal, SignalChannel, Workbench, origin_text};
use atomscope_engine::dataset::{
    Dataset, GroupKind, Layout, MissingPolicy, Place, Preparation, Scaling,
};
use atomscope_engine::features::declared::{HIGHEST_HARMONIC, N_CYCLES, N_POINTS};
use atomscope_engine::features::fault::{FaultForm, PerUnit};
use atomscope_engine::features::{FaultRecipe, FeatureRecipe};
use atomscope_engine::settings::SettingProblem;

/// The Features page.
pub(in crate::ui) fn features_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    page_title(ui, "Features", "how a record becomes samples");
    let Some(loaded) = workbench.data().loaded() else {
        let text = "The features of the records appear here. Nothing is loaded yet.";
        if empty_state(ui, text, Some("Feeder demo")) {
            actions.push(Action::OpenDemo(Demo::FeederFaults));
        }
        return;
    };
    let width = ui.available_width();
    let left = (width * 0.42)
        .max(theme::body_font(ui).size * 34.0)
        .min(width * 0.6);
    let (left, right) = elements::two_columns(ui, left);
    elements::scrolling_column(ui, left, "recipe", |ui| {
        recipe_ui(ui, workbench, draft, actions);
    });
    elements::scrolling_column(ui, right, "preview", |ui| {
        sample_ui(ui, workbench, &loaded.dataset, actions);
        class_maps_ui(ui, &loaded.dataset);
        histogram_ui(ui, workbench, &loaded.dataset, actions);
    });
}

fn recipe_ui(ui: &mut Ui, workbench: &Workbench, draft: &mut Draft, actions: &mut Vec<Action>) {
    let problems = draft.experiment.data.problems();
    section(ui, "Recipe");
    eeg_recipe_choice_ui(ui, &mut draft.experiment.data);
    let channels = workbench
        .signal()
        .map_or(&[][..], |look| &look.channel_names);
    match &mut draft.experiment.data.recipe {
        None => help(
            ui,
            "Tables and arrays hold samples already: no recipe is needed",
        ),
        Some(FeatureRecipe::Eeg(recipe)) => eeg_bands_ui(ui, recipe, channels, &problems),
        Some(FeatureRecipe::EegGroups(recipe)) => eeg_groups_ui(ui, recipe, channels, &problems),
        Some(FeatureRecipe::Fault(recipe)) => fault_ui(ui, recipe, &problems),
    }
    if let Some(problem) = problems.iter().find(|p| p.field.starts_with("recipe")) {
        elements::wrong(ui, &problem.message);
    }
    let is_stale = workbench
        .data()
        .loaded()
        .is_some_and(|loaded| loaded.settings != draft.experiment.data);
    let text = "Loads the records with this recipe";
    if is_stale && problems.is_empty() && button(ui, "Recompute the samples", text) {
        actions.push(Action::LoadData);
    }
    section(ui, "Preparation");
    preparation_ui(ui, &mut draft.experiment.preparation);
}

fn fault_ui(ui: &mut Ui, recipe: &mut FaultRecipe, problems: &[SettingProblem]) {
    let current = match recipe.form {
        FaultForm::Magnitudes => 0,
        FaultForm::Waveform { .. } => 1,
        FaultForm::Phasors { .. } => 2,
    };
    let text = "What a sample consists of. Default fifteen magnitudes, which are alike on every network; the paper's feeder: waveforms.";
    let names = [
        "Fifteen magnitudes (any network)",
        "Six waveforms",
        "Phasors, sequences, harmonics",
    ];
    if let Some(chosen) = choice(ui, "Form", text, current, &names) {
        recipe.form = match chosen {
            0 => FaultForm::Magnitudes,
            1 => FaultForm::Waveform { n_points: 201 },
            _ => FaultForm::Phasors {
                highest_harmonic: 5,
            },
        };
    }
    match &mut recipe.form {
        // They are one cycle by definition, in per unit of the cycle before.
        FaultForm::Magnitudes => return,
        FaultForm::Waveform { n_points } => {
            N_POINTS.whole_ui(ui, n_points, problems);
        }
        FaultForm::Phasors { highest_harmonic } => {
            HIGHEST_HARMONIC.whole_ui(ui, highest_harmonic, problems);
        }
    }
    N_CYCLES.whole_ui(ui, &mut recipe.n_cycles, problems);
    let current = match recipe.per_unit {
        PerUnit::Off => 0,
        PerUnit::BeforeInception => 1,
        PerUnit::Base { .. } => 2,
    };
    let is_base = matches!(recipe.per_unit, PerUnit::Base { .. });
    let names = [
        "Primary volts and amperes",
        "By the cycle before the fault",
        "By given peak values",
    ];
    let names = if is_base { &names[..] } else { &names[..2] };
    let text = "What voltages and currents are divided by. Default the cycle before the fault; built-in data: given peaks.";
    if let Some(chosen) = choice(ui, "Per unit", text, current, names) {
        recipe.per_unit = [PerUnit::Off, PerUnit::BeforeInception][chosen.min(1)];
    }
}

fn preparation_ui(ui: &mut Ui, preparation: &mut Preparation) {
    let scalings = [
        (Scaling::None, "Not at all"),
        (Scaling::ZScore, "Mean 0, deviation 1"),
        (
            Scaling::ClippedZScore,
            "Mean 0, deviation 1, rare extremes clipped",
        ),
        (Scaling::MinMax, "Range 0 to 1"),
        (Scaling::UnitNorm, "Every sample to length 1"),
        (
            Scaling::Groups,
            "Deviation 1, every group of features alike",
        ),
    ];
    let names = scalings.map(|(_, name)| name);
    let current = scalings
        .iter()
        .position(|(scaling, _)| *scaling == preparation.scaling);
    let text = "How features are scaled, fitted on training samples alone. Default: none.";
    if let Some(chosen) = choice(ui, "Scaling", text, current.unwrap_or(0), &names) {
        preparation.scaling = scalings[chosen].0;
    }
    let policies = [
        (MissingPolicy::Refuse, "Refuse to train"),
        (MissingPolicy::DropSample, "Exclude the sample"),
        (MissingPolicy::TrainingMean, "Mean of the training samples"),
        (MissingPolicy::Zero, "Zero"),
    ];
    let names = policies.map(|(_, name)| name);
    let current = policies
        .iter()
        .position(|(policy, _)| *policy == preparation.missing);
    let text = "Handling of missing values. Default: refuse; the mean where settings are chosen.";
    if let Some(chosen) = choice(ui, "Missing values", text, current.unwrap_or(0), &names) {
        preparation.missing = policies[chosen].0;
    }
}

/// One sample: its signal and its features.
fn sample_ui(ui: &mut Ui, workbench: &Workbench, dataset: &Dataset, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    section(ui, "One sample");
    let last = dataset.n_samples() - 1;
    let mut sample = workbench.view().sample.min(last);
    let class = dataset.classes()[sample];
    ui.horizontal_wrapped(|ui| {
        let slider = Slider::new(&mut sample, 0..=last).show_value(true);
        let response = theme::with_slider_look(ui, |ui| ui.add(slider));
        ui.ctx()
            .accesskit_node_builder(response.id, |node| node.set_label("Sample"));
        if response.on_hover_text("Which sample is shown").changed() {
            actions.push(Action::ChooseSample(sample));
        }
        color_dot(ui, class_color(class));
        ui.label(&dataset.class_names()[class]);
        let origin = RichText::new(origin_text(dataset, sample)).color(tones.weak);
        ui.add(egui::Label::new(origin).truncate());
    });
    let source = dataset.origin(sample).source;
    match workbench.signal().filter(|look| look.source == source) {
        Some(look) if look.bands.is_empty() => {
            signal_ui(ui, look, 150.0);
            steps_ui(ui, &look.steps);
        }
        Some(look) => {
            help(ui, "Its first channel, filtered by each band");
            bands_ui(ui, look, 230.0);
        }
        // Rows of a table have none.
        None if matches!(dataset.origin(sample).place, Place::Row(_)) => {}
        None => {
            if button(ui, "Show its signal", "Reads the beginning of the record") {
                actions.push(Action::LookAtRecord(source));
            }
        }
    }
    features_ui(ui, dataset, sample);
}

/// The features of a sample: waveforms over time, or as atoms are drawn.
fn features_ui(ui: &mut Ui, dataset: &Dataset, sample: usize) {
    help(ui, "Its features");
    if let Some(look) = as_signal(dataset, sample) {
        signal_ui(ui, &look, 170.0);
        return;
    }
    let drawn = SampleDrawing::of_dataset(dataset);
    let values = drawn_values(dataset, sample);
    let has_heads = heads_ui(ui, &drawn, &values);
    squares_ui(ui, dataset.feature_groups(), &dataset.sample(sample));
    if has_heads {
        return;
    }
    if let Some(highest_hz) = delay_limit_hz(dataset) {
        help(
            ui,
            &format!("Spectrum of the delay covariance, 0 to {highest_hz:.1} Hz"),
        );
    }
    let one = [Atom {
        index: sample,
        values: &values,
        use_share: f64::NAN,
        changed: false,
    }];
    AtomGrid {
        name: "Features of the sample",
        layout: drawn.layout,
        electrodes: &drawn.places.electrodes,
        band_names: &drawn.places.band_names,
        atoms: &one,
        view: AtomView::Sample,
        selected: None,
        zoom: 2.0,
        height: 260.0,
    }
    .show(ui);
}

/// The highest frequency that the first delay covariance can tell.
fn delay_limit_hz(dataset: &Dataset) -> Option<f64> {
    let mut groups = dataset.feature_groups().iter();
    groups.find_map(|group| match group.kind {
        GroupKind::DelayCovariance { step_s, .. } => Some(0.5 / step_s),
        _ => None,
    })
}

/// Channel × band features as one head per band; false where a channel has no known place.
pub(super) fn heads_ui(ui: &mut Ui, drawn: &SampleDrawing, values: &[f64]) -> bool {
    let Layout::ChannelBand { n_bands, .. } = drawn.layout else {
        return false;
    };
    let places = &drawn.places;
    let positions: Option<Vec<(f64, f64)>> = places.electrodes.iter().copied().collect();
    let Some(positions) = positions.filter(|positions| positions.len() >= 4) else {
        return false;
    };
    let names = drawn.names.iter().step_by(n_bands.max(1));
    let names: Vec<String> = names
        .map(|name| name.split(' ').next().unwrap_or(name).to_owned())
        .collect();
    let size = values.iter().filter(|value| value.is_finite());
    let scale = size.fold(1e-12_f64, |most, value| most.max(value.abs()));
    let signed = values.iter().any(|value| *value < 0.0);
    ui.horizontal_wrapped(|ui| {
        for (band, title) in places.band_names.iter().enumerate() {
            let of_band: Vec<f64> = values
                .iter()
                .skip(band)
                .step_by(n_bands.max(1))
                .copied()
                .collect();
            ScalpMap {
                title,
                positions: &positions,
                names: &names,
                values: &of_band,
                scale,
                signed,
                unit: "",
                size: 110.0,
            }
            .show(ui);
        }
    });
    true
}

/// Waveform features as a signal over the window that they were taken from.
fn as_signal(dataset: &Dataset, sample: usize) -> Option<Signal> {
    let Layout::Waveform {
        n_channels,
        n_points,
    } = dataset.layout()
    else {
        return None;
    };
    let Place::Window { duration_s, .. } = dataset.origin(sample).place else {
        return None;
    };
    let values = dataset.sample(sample);
    let values = values.chunks(n_points.max(1));
    let names = dataset.feature_names().iter().step_by(n_points.max(1));
    let channels = names.zip(values).map(|(name, values)| SignalChannel {
        name: name.split(' ').next().unwrap_or(name).to_owned(),
        unit: String::new(),
        values: values.to_vec(),
    });
    Some(Signal {
        source: dataset.origin(sample).source,
        name: format!("Features of sample {sample}"),
        rate_hz: n_points as f64 / duration_s,
        start_s: 0.0,
        window: None,
        duration_s: Some(duration_s),
        channels: channels.collect(),
        n_channels,
        channel_names: Vec::new(),
        marks: Vec::new(),
        bands: Vec::new(),
        steps: Vec::new(),
        recipe: None,
    })
}

/// The distribution of one feature in every class.
fn histogram_ui(ui: &mut Ui, workbench: &Workbench, dataset: &Dataset, actions: &mut Vec<Action>) {
    section(ui, "One feature, class by class");
    let last = dataset.n_features() - 1;
    let mut feature = workbench.view().feature.min(last);
    let name = &dataset.feature_names()[feature];
    ui.horizontal(|ui| {
        let slider = Slider::new(&mut feature, 0..=last).show_value(true);
        let response = theme::with_slider_look(ui, |ui| ui.add(slider));
        ui.ctx()
            .accesskit_node_builder(response.id, |node| node.set_label("Feature"));
        if response.on_hover_text("Which feature is shown").changed() {
            actions.push(Action::ChooseFeature(feature));
        }
        ui.label(name);
    });
    let mut values = vec![Vec::new(); dataset.n_classes()];
    for (sample, class) in dataset.classes().iter().enumerate() {
        values[*class].push(dataset.sample(sample)[feature]);
    }
    ClassHistogram {
        feature_name: name,
        class_names: dataset.class_names(),
        values: &values,
        height: 240.0,
    }
    .show(ui);
}
