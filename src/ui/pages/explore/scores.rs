//! Scoring beside the traces: states by one key each, agreement with the model and a second rater, scores of events.

use egui::{Grid, Key, Modifiers, RichText, ScrollArea, TextEdit, Ui};

use super::traces::HeardTraces;
use crate::ui::app::Typing;
use crate::ui::elements::{help, section, wrong};
use crate::ui::numbers::{clock, percent};
use crate::ui::theme;
use crate::workbench::explore::{
    EegView, EventQuestion, EventSource, ExploreAction, KeyUse, RibbonAction, ScoringAction,
    last_part, state_keys,
};
use crate::workbench::{Action, Ask, Workbench, number_of};
use atomscope_engine::evaluation::{
    Agreement, DetectionCounts, EpochScores, EventScoring, TimeSpan,
};

/// Misses or false alarms seen at once.
const SPANS_SEEN: usize = 5;
/// Epochs may be between these lengths.
const EPOCH_RANGE_S: std::ops::RangeInclusive<f64> = 0.5..=3600.0;
const USUAL_STATES: &str = "W, N1, N2, N3, R";

fn ask(action: ScoringAction) -> Action {
    Action::Explore(ExploreAction::Scoring(action))
}

/// The epoch in the middle of the page.
fn epoch_of(view: &EegView, scores: &EpochScores) -> usize {
    let middle_s = view.start_s + view.span_s / 2.0;
    let last = scores.epochs.len().saturating_sub(1);
    ((middle_s / scores.epoch_s).max(0.0) as usize).min(last)
}

/// Puts an epoch on the page, whole.
fn show_epoch(view: &mut EegView, scores: &EpochScores, epoch: usize) {
    view.span_s = scores.epoch_s;
    view.start_s = epoch as f64 * scores.epoch_s;
}

/// Scores the epoch in the middle of the page, and goes to the next.
fn score(view: &mut EegView, scores: &EpochScores, state: Option<u16>, actions: &mut Vec<Action>) {
    let epoch = epoch_of(view, scores);
    actions.push(ask(ScoringAction::Score { epoch, state }));
    if state.is_some() && epoch + 1 < scores.epochs.len() {
        show_epoch(view, scores, epoch + 1);
    }
}

/// The keys of the states, Delete and Escape, while scoring is on.
pub(super) fn score_keys(
    ui: &Ui,
    workbench: &Workbench,
    heard: &HeardTraces,
    view: &mut EegView,
    actions: &mut Vec<Action>,
) {
    let Some(scores) = workbench.epoch_scores() else {
        if view.keys == KeyUse::Scores {
            view.keys = KeyUse::Pages;
        }
        return;
    };
    if view.keys != KeyUse::Scores || !heard.hears {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::Escape) {
        view.keys = KeyUse::Pages;
        return;
    }
    if pressed(Key::Delete) || pressed(Key::Backspace) {
        score(view, scores, None, actions);
    }
    for (state, key) in state_keys(&scores.states).into_iter().enumerate() {
        let key = Key::from_name(&key.to_string());
        if key.is_some_and(pressed) {
            score(view, scores, Some(state as u16), actions);
        }
    }
}

/// Everything about scores.
pub(super) fn scores_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    view: &mut EegView,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    ScrollArea::vertical()
        .id_salt("scores")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            section(ui, "Scores of epochs");
            match workbench.epoch_scores() {
                Some(scores) => {
                    states_ui(ui, scores, view, actions);
                    agreements_ui(ui, workbench, scores, view, actions);
                }
                None => begin_ui(ui, workbench, view, typing, actions),
            }
            ui.add_space(theme::PANEL_GAP);
            section(ui, "Scores of events");
            events_ui(ui, workbench, view, actions);
        });
}

/// Length of epochs and names of states, before anything is scored.
fn begin_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    view: &mut EegView,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let typed_states = typing.states.get_or_insert_with(|| USUAL_STATES.to_owned());
    let typed_epoch = typing.epoch_s.get_or_insert_with(|| "30".to_owned());
    Grid::new("a new scoring").num_columns(2).show(ui, |ui| {
        let label = ui.label("Epochs in s");
        let field = TextEdit::singleline(typed_epoch).desired_width(60.0);
        ui.add(field)
            .labelled_by(label.id)
            .on_hover_text("Length of an epoch, 0.5 to 3600 s. Default 30.");
        ui.end_row();
        let label = ui.label("States");
        let field = TextEdit::singleline(typed_states).desired_width(170.0);
        ui.add(field)
            .labelled_by(label.id)
            .on_hover_text("Names with commas between them; each has a key, which is shown when scoring begins. Default: the stages of sleep.");
        ui.end_row();
    });
    let states = typed_states.split(',').map(|state| state.trim().to_owned());
    let mut states: Vec<String> = states.filter(|state| !state.is_empty()).collect();
    states.dedup();
    let epoch_s: Option<f64> = typed_epoch.trim().parse().ok();
    let epoch_s = epoch_s.filter(|epoch_s| EPOCH_RANGE_S.contains(epoch_s));
    let duration_s = workbench
        .explore()
        .eeg()
        .map_or(0.0, |eeg| eeg.duration_s());
    let problem = match epoch_s {
        None => Some("an epoch has 0.5 to 3600 s".to_owned()),
        Some(epoch_s) if epoch_s > duration_s => Some(format!(
            "the recording has {duration_s:.1} s, less than an epoch"
        )),
        Some(_) if states.len() < 2 => Some("there are at least two states".to_owned()),
        Some(_) if states.len() > 30 => Some("there are at most 30 states".to_owned()),
        Some(_) => None,
    };
    if let Some(problem) = &problem {
        wrong(ui, problem);
    }
    let begin = ui.add_enabled(problem.is_none(), egui::Button::new("Start scoring"));
    let begin = begin
        .on_hover_text(
            "Epochs are scored by keys from now on; Ctrl+Z takes each score back, Esc ends it",
        )
        .on_disabled_hover_text("Correct the values above first");
    if let Some(epoch_s) = epoch_s
        && begin.clicked()
    {
        let scores = EpochScores::new(epoch_s, states, duration_s);
        show_epoch(view, &scores, 0);
        view.keys = KeyUse::Scores;
        // The letters are for the traces now.
        begin.surrender_focus();
        actions.push(ask(ScoringAction::Set(Some(scores))));
    }
    let other = ui.button("Compare with a file…");
    if other
        .on_hover_text("Scores or events of a second rater")
        .clicked()
    {
        actions.push(Action::Ask(Ask::OpenRater));
    }
}

/// The states with their keys, the epoch, and how many are scored.
fn states_ui(ui: &mut Ui, scores: &EpochScores, view: &mut EegView, actions: &mut Vec<Action>) {
    let epoch = epoch_of(view, scores);
    let current = scores.epochs.get(epoch).copied().flatten();
    let n_scored = scores.epochs.iter().flatten().count();
    let n_epochs = scores.epochs.len();
    let at = clock(epoch as f64 * scores.epoch_s);
    let epoch_s = scores.epoch_s;
    help(
        ui,
        &format!(
            "Epoch {} of {n_epochs} at {at}, {epoch_s} s each; {n_scored} scored",
            (epoch + 1).min(n_epochs)
        ),
    );
    ui.horizontal_wrapped(|ui| {
        let keys = state_keys(&scores.states);
        for (place, (state, key)) in scores.states.iter().zip(keys).enumerate() {
            let place = place as u16;
            let button = ui.selectable_label(current == Some(place), format!("{state} [{key}]"));
            let what = format!("Scores the epoch as {state} and goes to the next (key {key})");
            if button.on_hover_text(what).clicked() {
                score(view, scores, Some(place), actions);
            }
        }
        let none = ui.add_enabled(current.is_some(), egui::Button::new("None"));
        let none = none
            .on_hover_text("Takes the score of this epoch back (Delete)")
            .on_disabled_hover_text("This epoch is not scored");
        if none.clicked() {
            score(view, scores, None, actions);
        }
    });
    ui.horizontal_wrapped(|ui| {
        let mut is_on = view.keys == KeyUse::Scores;
        let keys = ui.checkbox(&mut is_on, "Keys score");
        let what = "The keys above score the epoch in the middle of the page and go to the next; off (Esc), digits turn pages. They are heard while nothing is typed.";
        let keys = keys.on_hover_text(what);
        if keys.changed() {
            view.keys = if is_on { KeyUse::Scores } else { KeyUse::Pages };
            keys.surrender_focus();
        }
        let open = scores.epochs.iter().position(Option::is_none);
        let next = ui.add_enabled(open.is_some(), egui::Button::new("Next open"));
        let next = next
            .on_hover_text("The first epoch without a score")
            .on_disabled_hover_text("All epochs are scored");
        if let Some(open) = open
            && next.clicked()
        {
            show_epoch(view, scores, open);
        }
        let export = ui.button("Export…");
        if export
            .on_hover_text("The scores as a table (CSV), EDF+ annotations or BIDS events")
            .clicked()
        {
            actions.push(Action::Ask(Ask::ExportScores));
        }
        let discard = ui.button("Discard");
        if discard
            .on_hover_text("Discards the scores of this recording; Ctrl+Z brings them back")
            .clicked()
        {
            actions.push(ask(ScoringAction::Set(None)));
        }
    });
}

/// How far the scores agree with the model and with a second rater.
fn agreements_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    scores: &EpochScores,
    view: &mut EegView,
    actions: &mut Vec<Action>,
) {
    let stage = workbench.explore().scoring();
    match stage.with_model() {
        Some(agreement) => agreement_ui(ui, "the model", agreement, scores, view),
        None => help(
            ui,
            "Classify the recording below the traces to compare with the model",
        ),
    }
    match (stage.rater(), stage.with_rater()) {
        (Some(rater), Some(agreement)) => {
            let path = rater.path.display().to_string();
            agreement_ui(ui, last_part(&path), agreement, scores, view);
            let close = ui.small_button("Close the second rater");
            if close.on_hover_text("Compares no longer").clicked() {
                actions.push(ask(ScoringAction::CloseRater));
            }
        }
        _ => {
            let open = ui.button("Compare with a file…");
            if open
                .on_hover_text("The scores of a second rater: CSV, BIDS or EDF+ annotations")
                .clicked()
            {
                actions.push(Action::Ask(Ask::OpenRater));
            }
        }
    }
}

fn agreement_ui(
    ui: &mut Ui,
    with: &str,
    agreement: &Agreement,
    scores: &EpochScores,
    view: &mut EegView,
) {
    let confusion = &agreement.confusion;
    let tones = theme::tones(ui);
    ui.add_space(theme::GRID);
    ui.label(RichText::new(format!("With {with}")).color(tones.strong));
    if confusion.total() == 0 {
        help(ui, "no epoch is scored by both");
        return;
    }
    let kappa = confusion
        .kappa()
        .map_or("–".to_owned(), |k| format!("{k:.3}"));
    let accuracy = confusion.accuracy().unwrap_or(0.0);
    ui.label(format!(
        "Cohen's kappa {kappa}, equal in {} of {}",
        percent(accuracy),
        number_of(confusion.total() as usize, "epoch", "epochs")
    ));
    ScrollArea::horizontal()
        .id_salt(("confusion of scores", with))
        .show(ui, |ui| {
            Grid::new(("confusion of scores", with))
                .striped(true)
                .show(ui, |ui| {
                    help(ui, "yours ↓");
                    for state in &agreement.states {
                        help(ui, state);
                    }
                    ui.end_row();
                    for (row, state) in agreement.states.iter().enumerate() {
                        help(ui, state);
                        for column in 0..agreement.states.len() {
                            let count = confusion.count(row, column).to_string();
                            let text = RichText::new(count);
                            ui.label(if row == column { text.strong() } else { text });
                        }
                        ui.end_row();
                    }
                });
        });
    let n_differing = agreement.differing.len();
    help(
        ui,
        &format!(
            "{}; click to go there",
            number_of(n_differing, "epoch differs", "epochs differ")
        ),
    );
    let line = theme::small_font(ui).size * 1.6;
    ScrollArea::vertical()
        .id_salt(("differing epochs", with))
        .max_height(line * 6.0)
        .show_rows(ui, line, n_differing, |ui, range| {
            for &epoch in &agreement.differing[range] {
                let own = scores.epochs.get(epoch).copied().flatten();
                let own = own.and_then(|state| scores.states.get(usize::from(state)));
                let text = format!(
                    "{}  epoch {}, yours {}",
                    clock(epoch as f64 * scores.epoch_s),
                    epoch + 1,
                    own.map_or("–", String::as_str)
                );
                if ui
                    .small_button(text)
                    .on_hover_text("Shows this epoch")
                    .clicked()
                {
                    show_epoch(view, scores, epoch);
                }
            }
        });
}

/// Events of the recording against those of the model or the second rater.
fn events_ui(ui: &mut Ui, workbench: &Workbench, view: &mut EegView, actions: &mut Vec<Action>) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    let rows = browser.annotations().rows();
    let mut texts: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.duration_s > 0.0) {
        if !texts.contains(&row.text.as_str()) && texts.len() < 40 {
            texts.push(&row.text);
        }
    }
    let stage = workbench.explore().scoring();
    let mut sources: Vec<(String, EventSource)> = Vec::new();
    if let Some(judged) = workbench.explore().ribbon().judged() {
        let segments = || judged.ribbon.segments.iter();
        let n_decided = |class: &usize| segments().filter(|s| s.verdict.class == *class).count();
        let mut classes: Vec<usize> = (0..judged.ribbon.class_names.len()).collect();
        // What is rarest is likelier an event than the background.
        classes.sort_by_cached_key(n_decided);
        let names = &judged.ribbon.class_names;
        let source = |class| {
            (
                format!("model: {}", names[class]),
                EventSource::Model(class),
            )
        };
        sources.extend(classes.into_iter().map(source));
    }
    if let Some(rater) = stage.rater() {
        let mut seen: Vec<&str> = Vec::new();
        for note in &rater.annotations {
            if !seen.contains(&note.text.as_str()) && seen.len() < 40 {
                seen.push(&note.text);
                let name = format!("file: {}", note.text);
                sources.push((name, EventSource::Rater(note.text.clone())));
            }
        }
    }
    if texts.is_empty() || sources.is_empty() {
        help(
            ui,
            "Annotations that last (seizures, artefacts) are compared with the model's decisions or with a file: mark some, and classify the recording or open a file above",
        );
        return;
    }
    let known = stage.events();
    let shown = known.map_or_else(
        || EventQuestion {
            reference: texts[0].to_owned(),
            against: sources[0].1.clone(),
            scoring: EventScoring::default(),
        },
        |(question, _)| question.clone(),
    );
    let mut wanted = shown.clone();
    question_ui(ui, &texts, &sources, &mut wanted);
    let score = ui.button("Score events");
    let what = "Sensitivity, precision, F1 and false alarms per day by the SzCORE convention";
    if score.on_hover_text(what).clicked() || wanted != shown {
        actions.push(ask(ScoringAction::ScoreEvents(Some(wanted))));
    }
    match known {
        None => {}
        Some((_, Err(problem))) => wrong(ui, problem),
        Some((_, Ok(score))) => {
            counts_ui(ui, "By sample", &score.by_sample);
            counts_ui(ui, "By event", &score.by_event);
            if let Some(per_day) = score.false_alarms_per_day() {
                ui.label(format!("{per_day:.1} false alarms per day"));
            }
            spans_ui(
                ui,
                workbench,
                ("False alarm", &score.false_alarms),
                view,
                actions,
            );
            spans_ui(ui, workbench, ("Miss", &score.misses), view, actions);
        }
    }
}

fn question_ui(
    ui: &mut Ui,
    texts: &[&str],
    sources: &[(String, EventSource)],
    wanted: &mut EventQuestion,
) {
    Grid::new("compared events").num_columns(2).show(ui, |ui| {
        let label = ui.label("Reference");
        let combo = egui::ComboBox::from_id_salt("reference events")
            .selected_text(wanted.reference.clone())
            .show_ui(ui, |ui| {
                for text in texts {
                    let is_it = wanted.reference == *text;
                    if ui.selectable_label(is_it, *text).clicked() {
                        wanted.reference = (*text).to_owned();
                    }
                }
            });
        let what = "Annotations of this recording with this text are the truth";
        combo.response.labelled_by(label.id).on_hover_text(what);
        ui.end_row();
        let label = ui.label("Found by");
        let current = sources.iter().find(|(_, source)| *source == wanted.against);
        let combo = egui::ComboBox::from_id_salt("events under test")
            .selected_text(current.map_or("–", |(name, _)| name))
            .show_ui(ui, |ui| {
                for (name, source) in sources {
                    if ui
                        .selectable_label(*source == wanted.against, name)
                        .clicked()
                    {
                        wanted.against = source.clone();
                    }
                }
            });
        let what =
            "What is tested: sections that the model decided for a class, or events of the file";
        combo.response.labelled_by(label.id).on_hover_text(what);
        ui.end_row();
        let scoring = &mut wanted.scoring;
        let fields = [
            (
                "Before",
                &mut scoring.tolerance_before_s,
                "An event may be found this long before it starts. Default 30 s.",
            ),
            (
                "After",
                &mut scoring.tolerance_after_s,
                "An event may be found this long after it ends. Default 60 s.",
            ),
            (
                "Merge",
                &mut scoring.merge_closer_than_s,
                "Events closer than this are one. Default 90 s.",
            ),
            (
                "Split",
                &mut scoring.split_longer_than_s,
                "Events longer than this are split. Default 300 s.",
            ),
        ];
        for (name, value, what) in fields {
            let label = ui.label(name);
            let lowest = if name == "Split" { 1.0 } else { 0.0 };
            let field = egui::DragValue::new(value).range(lowest..=86_400.0);
            ui.add(field.suffix(" s"))
                .labelled_by(label.id)
                .on_hover_text(what);
            ui.end_row();
        }
        let label = ui.label("Overlap");
        let field = egui::DragValue::new(&mut scoring.min_overlap).range(0.0..=1.0);
        let what = "Share of an event, with its tolerances, that must be met. Default 0: any.";
        ui.add(field.speed(0.01))
            .labelled_by(label.id)
            .on_hover_text(what);
        ui.end_row();
    });
}

fn counts_ui(ui: &mut Ui, name: &str, counts: &DetectionCounts) {
    let share = |value: Option<f64>| value.map_or("–".to_owned(), percent);
    ui.label(format!(
        "{name}: sensitivity {}, precision {}, F1 {}",
        share(counts.sensitivity()),
        share(counts.precision()),
        share(counts.f1())
    ));
    help(
        ui,
        &format!(
            "{} of {} found, {} false",
            counts.n_found, counts.n_reference, counts.n_false
        ),
    );
}

/// Every event leads to its signal, and where the model has judged, to its segment with atoms and kept samples.
fn spans_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    (name, spans): (&str, &[TimeSpan]),
    view: &mut EegView,
    actions: &mut Vec<Action>,
) {
    let mut span_ui = |ui: &mut Ui, span: &TimeSpan| {
        let text = format!("{name} {} to {}", clock(span.start_s), clock(span.end_s));
        let show = ui.small_button(text);
        let what = "Shows its signal, and the model's segment with its atoms and kept samples";
        if show.on_hover_text(what).clicked() {
            view.cursors = Some((span.start_s, span.end_s));
            view.start_s = span.start_s - 0.3 * view.span_s;
            let judged = workbench.explore().ribbon().judged();
            let middle_s = (span.start_s + span.end_s) / 2.0;
            let segment = judged.and_then(|judged| judged.ribbon.at(middle_s));
            if segment.is_some() {
                let select = RibbonAction::Select(segment);
                actions.push(Action::Explore(ExploreAction::Ribbon(select)));
            }
        }
    };
    // A short list scrolls with its panel: one of its own would keep a screen reader from reaching it.
    if spans.len() <= SPANS_SEEN {
        spans.iter().for_each(|span| span_ui(ui, span));
        return;
    }
    let line = theme::small_font(ui).size * 1.8;
    ScrollArea::vertical()
        .id_salt(("list of events", name))
        .max_height(line * SPANS_SEEN as f32)
        .show_rows(ui, line, spans.len(), |ui, range| {
            spans[range].iter().for_each(|span| span_ui(ui, span));
        });
}
