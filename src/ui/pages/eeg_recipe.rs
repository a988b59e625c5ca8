//! The recipes for EEG on the Features page: which one and why, its channels, segments, groups of features and bands.

use egui::{RichText, ScrollArea, Ui};

use super::bands::{UsualBands, bands_editor_ui};
use super::fields::SettingField;
use crate::ui::elements::{choice, fixed_label, help, lasting_menu, section, switch};
use crate::ui::theme;
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::features::declared;
use atomscope_engine::features::declared::{
    DELAY_STEP, FRAME_S, FRAMES_PER_SAMPLE, MAX_PEAK_TO_PEAK, N_DELAYS, OFFSET_S, OVERLAP,
    SEGMENT_OVERLAP, SEGMENT_S, SHRINKAGE,
};
use atomscope_engine::features::eeg::{ChannelChoice, EegMeasure};
use atomscope_engine::features::eeg_groups::{
    CovarianceGroup, EegGroup, Placement, Recentring, Reference,
};
use atomscope_engine::features::{EegGroupsRecipe, EegRecipe, FeatureRecipe};
use atomscope_engine::records::counted;
use atomscope_engine::settings::SettingProblem;

/// The limit of swings that is offered when it is switched on, in µV: blinks stay, loose electrodes go.
const USUAL_PEAK_LIMIT: f64 = 500.0;

/// Which of the recipes for EEG, and why it suits the labels.
pub(super) fn eeg_recipe_choice_ui(ui: &mut Ui, data: &mut DataSettings) {
    let (current, channels) = match &data.recipe {
        Some(FeatureRecipe::Eeg(recipe)) => (0, recipe.channels.clone()),
        Some(FeatureRecipe::EegGroups(recipe)) => {
            let current = match &recipe.groups[..] {
                _ if recipe.is_recentred() => 2,
                [EegGroup::Covariance(_), ..] => 1,
                _ => 3,
            };
            (current, recipe.channels.clone())
        }
        _ => return,
    };
    let names = [
        "Bands of every channel",
        "Covariance, class of the recording",
        "Covariance, class changes within",
        "Single channel",
    ];
    let text = "What a sample is made of. Opening data chooses by itself: covariance where there are several channels, re-centred only where the class changes within recordings.";
    if let Some(chosen) = choice(ui, "Samples", text, current, &names) {
        let recipe = match chosen {
            1 => EegGroupsRecipe::for_traits(),
            2 => EegGroupsRecipe::for_states(EegGroupsRecipe::trial_bands(), 2.0, 0.0),
            _ => EegGroupsRecipe::for_single_channel(),
        };
        data.recipe = Some(match chosen {
            0 => FeatureRecipe::Eeg(EegRecipe {
                channels,
                ..EegRecipe::default()
            }),
            _ => FeatureRecipe::EegGroups(EegGroupsRecipe { channels, ..recipe }),
        });
    }
    if let Some(reason) = data.recipe_reason() {
        ui.label(RichText::new(reason).color(theme::tones(ui).strong));
    }
}

/// Band features of frames.
pub(super) fn eeg_bands_ui(
    ui: &mut Ui,
    recipe: &mut EegRecipe,
    channels: &[String],
    problems: &[SettingProblem],
) {
    channels_ui(ui, channels, &mut recipe.channels);
    FRAME_S.ui(ui, &mut recipe.frame_s, problems);
    OVERLAP.ui(ui, &mut recipe.overlap, problems);
    FRAMES_PER_SAMPLE.whole_ui(ui, &mut recipe.frames_per_sample, problems);
    let current = usize::from(matches!(recipe.measure, EegMeasure::Power { .. }));
    let text = "What is measured in each band. Default amplitude, as in the paper.";
    let names = [
        "Amplitude of the filtered frame",
        "Power in Welch's spectrum",
    ];
    if let Some(chosen) = choice(ui, "Measure", text, current, &names) {
        recipe.measure = match chosen {
            0 => EegRecipe::as_published().measure,
            _ => EegMeasure::Power {
                segment_s: recipe.frame_s,
                segment_overlap: 0.5,
                relative: false,
            },
        };
    }
    let text =
        "Natural logarithm of every feature, which makes their sizes comparable. Default: on.";
    switch(ui, "Logarithm", text, &mut recipe.logarithm);
    peak_limit_ui(ui, &mut recipe.max_peak_to_peak, problems);
    let usual = UsualBands {
        name: "Bands of the paper",
        help: "The four bands that the paper measures: the default",
        bands: EegRecipe::as_published().bands,
    };
    let text = "Every channel gives one feature per band";
    bands_editor_ui(ui, &mut recipe.bands, text, usual);
}

/// Groups of features of segments.
pub(super) fn eeg_groups_ui(
    ui: &mut Ui,
    recipe: &mut EegGroupsRecipe,
    channels: &[String],
    problems: &[SettingProblem],
) {
    channels_ui(ui, channels, &mut recipe.channels);
    let names = ["As recorded", "Average of the channels"];
    let current = usize::from(recipe.reference == Reference::Average);
    let help_text = declared::REFERENCE.help;
    if let Some(chosen) = choice(ui, declared::REFERENCE.label, help_text, current, &names) {
        recipe.reference = [Reference::AsRecorded, Reference::Average][chosen.min(1)];
    }
    SEGMENT_S.ui(ui, &mut recipe.segment_s, problems);
    placement_ui(ui, &mut recipe.placement, problems);
    for group in &mut recipe.groups {
        match group {
            EegGroup::Covariance(group) => covariance_ui(ui, group, problems),
            EegGroup::DelayCovariance { n_delays, step, .. } => {
                section(ui, "Delay covariance");
                N_DELAYS.whole_ui(ui, n_delays, problems);
                DELAY_STEP.whole_ui(ui, step, problems);
            }
            EegGroup::LogBands { .. } | EegGroup::Shape => {}
        }
    }
    section(ui, "Groups of features");
    group_switches_ui(ui, &mut recipe.groups);
    peak_limit_ui(ui, &mut recipe.max_peak_to_peak, problems);
}

/// Where the segments lie in a recording.
fn placement_ui(ui: &mut Ui, placement: &mut Placement, problems: &[SettingProblem]) {
    let names = ["One after the other", "In each labelled section"];
    let current = usize::from(matches!(placement, Placement::Stretches { .. }));
    let text = "Where segments lie: from the start of the recording on, or from the start of each labelled section, such as a trial";
    if let Some(chosen) = choice(ui, "Place", text, current, &names) {
        *placement = match chosen {
            0 => Placement::Consecutive { overlap: 0.0 },
            _ => Placement::Stretches { offset_s: 0.0 },
        };
    }
    let (field, value) = match placement {
        Placement::Consecutive { overlap } => (&SEGMENT_OVERLAP, overlap),
        Placement::Stretches { offset_s } => (&OFFSET_S, offset_s),
    };
    field.ui(ui, value, problems);
}

fn covariance_ui(ui: &mut Ui, group: &mut CovarianceGroup, problems: &[SettingProblem]) {
    section(ui, "Channel covariance");
    let names = ["Off", "Whole recording", "Up to the segment"];
    let kinds = [
        Recentring::Off,
        Recentring::WholeRecording,
        Recentring::Causal,
    ];
    let current = kinds.iter().position(|kind| *kind == group.recentring);
    let help_text = declared::RECENTRING.help;
    let label = declared::RECENTRING.label;
    if let Some(chosen) = choice(ui, label, help_text, current.unwrap_or(0), &names) {
        group.recentring = kinds[chosen.min(2)];
    }
    let gain = declared::GAIN_NORMALISED;
    switch(ui, gain.label, gain.help, &mut group.gain_normalised);
    SHRINKAGE.ui(ui, &mut group.shrinkage, problems);
    let usual = match group.recentring {
        Recentring::Off => UsualBands {
            name: "One band",
            help: "1 to 45 Hz: the default where the class belongs to the recording",
            bands: EegGroupsRecipe::trait_bands(),
        },
        Recentring::WholeRecording | Recentring::Causal => UsualBands {
            name: "Filter bank",
            help: "Nine bands of 4 Hz from 4 to 40 Hz: the default for trials",
            bands: EegGroupsRecipe::trial_bands(),
        },
    };
    let text = "Every band gives one covariance of all channels, a group of features of its own";
    bands_editor_ui(ui, &mut group.bands, text, usual);
}

/// Which groups of features are combined; one that is switched on comes with its usual settings.
fn group_switches_ui(ui: &mut Ui, groups: &mut Vec<EegGroup>) {
    let usual = EegGroupsRecipe::for_traits().groups.into_iter();
    let usual = usual.chain(EegGroupsRecipe::for_single_channel().groups);
    for group in usual {
        let (name, text) = match group {
            EegGroup::Covariance(_) => (
                "Channel covariance",
                "Covariance of the channels in each band, in the log-Euclidean metric",
            ),
            EegGroup::LogBands { .. } => (
                "Fine bands",
                "Logarithm of the power of each channel in fine bands, as far as the sampling rate carries them",
            ),
            EegGroup::Shape => (
                "Shape measures",
                "Variances, slopes, peaks, kurtosis and skewness of each channel",
            ),
            EegGroup::DelayCovariance { .. } => (
                "Delay covariance",
                "Covariance of each channel with its own past",
            ),
        };
        let is_same =
            |own: &EegGroup| std::mem::discriminant(own) == std::mem::discriminant(&group);
        let mut is_on = groups.iter().any(is_same);
        if switch(ui, name, text, &mut is_on) {
            match is_on {
                true => groups.push(group),
                false => groups.retain(|own| !is_same(own)),
            }
        }
    }
}

/// Which channels are used. `names` are those of the recording that is looked at.
fn channels_ui(ui: &mut Ui, names: &[String], chosen: &mut ChannelChoice) {
    let text = "Which channels samples are made of. Default all signal channels, or where their rates differ those of the commonest rate.";
    let is_used = |name: &String| match chosen {
        ChannelChoice::All => true,
        ChannelChoice::Named(used) => used.contains(name),
    };
    let used: Vec<bool> = names.iter().map(is_used).collect();
    let title = match chosen {
        ChannelChoice::All if names.is_empty() => "All channels".to_owned(),
        ChannelChoice::All => format!("All {}", counted(names.len(), "channel")),
        ChannelChoice::Named(used) if names.is_empty() => counted(used.len(), "channel"),
        ChannelChoice::Named(used) => format!("{} of {} channels", used.len(), names.len()),
    };
    let mut toggled = None;
    ui.horizontal(|ui| {
        fixed_label(ui, "Channels").on_hover_text(text);
        let menu = lasting_menu(ui, title, |ui| {
            if ui.button("Use all").clicked() {
                *chosen = ChannelChoice::All;
            }
            ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                ui.set_min_width(theme::body_font(ui).size * 12.0);
                for (place, name) in names.iter().enumerate() {
                    let mut is_on = used[place];
                    if ui.checkbox(&mut is_on, name).changed() {
                        toggled = Some(place);
                    }
                }
            });
        });
        menu.on_hover_text(text);
    });
    help(ui, text);
    if let Some(toggled) = toggled {
        let places = 0..names.len();
        let kept: Vec<String> = places
            .filter(|place| used[*place] != (*place == toggled))
            .map(|place| names[place].clone())
            .collect();
        // At least one channel is needed: the last one stays.
        if !kept.is_empty() {
            *chosen = match kept.len() == names.len() {
                true => ChannelChoice::All,
                false => ChannelChoice::Named(kept),
            };
        }
    }
}

/// Whether sections with large swings are left out, and from which size on.
fn peak_limit_ui(ui: &mut Ui, limit: &mut Option<f64>, problems: &[SettingProblem]) {
    let mut is_on = limit.is_some();
    let text = "Leaves out sections in which a channel swings by more than the limit: artefacts, loose electrodes. Default off.";
    if switch(ui, "Leave out large swings", text, &mut is_on) {
        *limit = is_on.then_some(USUAL_PEAK_LIMIT);
    }
    if let Some(limit) = limit {
        MAX_PEAK_TO_PEAK.ui(ui, limit, problems);
    }
}
