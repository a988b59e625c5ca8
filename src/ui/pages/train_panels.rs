//! The panels of the Train page.

use egui::{RichText, ScrollArea, Ui};

use super::covariance::squares_ui;
use super::events::event_text;
use super::explain::sample_link_ui;
use super::samples::SampleDrawing;
use crate::ui::elements::{self, button};
use crate::ui::numbers::short;
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{
    AccuracyPlot, Atom, AtomGrid, AtomView, BatchFlow, ConfusionMatrix, Curve, GramMatrix,
    HealthNumbers, HealthStrip, MapLabels, ProfilePanel, empty_state,
};
use crate::workbench::explore::ExploreAction;
use crate::workbench::{Action, AtomCard, DictionaryView, Workbench};
use atomscope_engine::experiment::{LogEntry, ProfileEvent, change_texts};

/// Entries of the log that are listed.
const MOST_LISTED: usize = 200;

/// Learning curves; a click replays the test there.
pub(super) fn accuracy_ui(
    ui: &mut Ui,
    height: f32,
    workbench: &Workbench,
    actions: &mut Vec<Action>,
) {
    let replay = workbench.view().replay;
    if let Some(batch) = curves_ui(ui, height, workbench, replay) {
        let last = workbench.shown_part().and_then(|part| part.tests.last());
        let is_last = last.is_some_and(|test| batch >= test.batch);
        actions.push(Action::Replay((!is_last).then_some(batch)));
    }
}

/// Learning curves of this run and those before; gives the mini-batch that was asked for.
pub(super) fn curves_ui(
    ui: &mut Ui,
    height: f32,
    workbench: &Workbench,
    replay: Option<usize>,
) -> Option<usize> {
    let run = workbench.training().run()?;
    let folds: Vec<&[[f64; 2]]> = run.folds().map(|(_, part)| part.curve.as_slice()).collect();
    let shown = workbench.shown_fold();
    let current = run.folds().position(|(fold, _)| Some(fold) == shown);
    let earlier: Vec<Curve<'_>> = workbench
        .training()
        .earlier()
        .iter()
        .map(|earlier| Curve {
            name: &earlier.name,
            points: &earlier.curve,
        })
        .collect();
    let marks = change_texts(&run.experiment.learner, &run.changes);
    let plot = AccuracyPlot {
        folds: &folds,
        current_fold: current,
        earlier: &earlier,
        marks: &marks,
        replay: replay.map(|batch| batch as f64),
        n_batches: run.n_rounds as f64,
        height,
    };
    plot.show(ui).map(|batch| batch as usize)
}

/// The confusion matrix at the moment shown.
pub(super) fn confusion_ui(
    ui: &mut Ui,
    height: f32,
    workbench: &Workbench,
    actions: &mut Vec<Action>,
) {
    let Some(run) = workbench.training().run() else {
        return;
    };
    let Some(test) = workbench.shown_test() else {
        empty_state(ui, "Waiting for the first test", None);
        return;
    };
    let line = ui.spacing().interact_size.y + theme::GRID;
    let cell = workbench.view().cell;
    let matrix = ConfusionMatrix {
        several_and_none: None,
        class_names: &run.facts.class_names,
        confusion: &test.confusion,
        selected: cell,
        height: height - if cell.is_some() { line } else { 0.0 },
    };
    if let Some(chosen) = matrix.show(ui) {
        actions.push(Action::ChooseCell((cell != Some(chosen)).then_some(chosen)));
    }
    if let Some((truth, decided)) = cell {
        ui.horizontal(|ui| {
            let names = &run.facts.class_names;
            let name = |class: usize| names.get(class).map_or("", String::as_str);
            let n = test.confusion.count(truth, decided);
            ui.label(format!("{n} × {} taken for {}", name(truth), name(decided)));
            let text = "Lists them on the Evaluate page, as the last test decided";
            if button(ui, "Show the samples", text) {
                actions.push(Action::ChooseFold(workbench.shown_fold()));
                actions.push(Action::ChooseCell(cell));
                actions.push(Action::Show(crate::workbench::Stage::Evaluate));
            }
        });
    }
}

/// The atoms of the class, and the chosen one larger beside them.
pub(super) fn dictionary_ui(
    ui: &mut Ui,
    height: f32,
    workbench: &Workbench,
    actions: &mut Vec<Action>,
) {
    let (Some(run), Some(shown)) = (workbench.training().run(), workbench.dictionary()) else {
        empty_state(ui, "Drawing the dictionary", None);
        return;
    };
    if shown.atoms.iter().all(|atom| atom.values.is_empty()) {
        let text = "Drawing atoms needs the data, which are not loaded";
        empty_state(ui, text, None);
        return;
    }
    let width = ui.available_width();
    // Numbers of health take two lines where there is little room.
    let n_lines = if width < 720.0 { 2.0 } else { 1.0 };
    let strip = n_lines * (ui.spacing().interact_size.y) + theme::GRID;
    let chosen = workbench
        .view()
        .atom
        .and_then(|index| shown.atoms.iter().find(|atom| atom.index == index));
    let drawn = SampleDrawing::of_facts(&run.facts);
    let side = if chosen.is_some() {
        (width * 0.36).max(220.0)
    } else {
        0.0
    };
    let page = ui.available_rect_before_wrap();
    let grid = egui::Rect::from_min_size(page.min, egui::vec2(width - side, height - strip));
    elements::column(ui, grid, "atoms", |ui| {
        let look = ClassLook {
            shown,
            drawn: &drawn,
        };
        let size = (1.0, height - strip);
        look.atoms_ui(ui, "Atoms", &shown.atoms, size, workbench, actions);
        if let Some(atom) = chosen {
            let corner = egui::pos2(grid.right() + theme::GRID * 2.0, grid.top());
            let beside = egui::Rect::from_min_max(corner, egui::pos2(page.right(), grid.bottom()));
            ui.set_clip_rect(page.expand(4.0));
            elements::column(ui, beside, "chosen atom", |ui| {
                look.chosen_atom_ui(ui, atom, height - strip, workbench, actions);
            });
        }
    });
    let below = egui::pos2(page.left(), page.top() + height - strip);
    let line = egui::Rect::from_min_size(below, egui::vec2(width, strip));
    elements::column(ui, line, "health", |ui| health_ui(ui, workbench, shown));
}

/// What all atoms of a class are drawn with.
struct ClassLook<'a> {
    shown: &'a DictionaryView,
    drawn: &'a SampleDrawing,
}

impl ClassLook<'_> {
    fn atoms_ui(
        &self,
        ui: &mut Ui,
        name: &str,
        cards: &[AtomCard],
        (zoom, height): (f32, f32),
        workbench: &Workbench,
        actions: &mut Vec<Action>,
    ) {
        let atoms: Vec<Atom<'_>> = cards
            .iter()
            .map(|card| Atom {
                index: card.index,
                values: &card.values,
                use_share: card.use_share,
                changed: card.changed,
            })
            .collect();
        let view = match self.shown.is_exact {
            true => AtomView::Itself,
            false => AtomView::StrongestSample,
        };
        let selected = workbench.view().atom;
        let grid = AtomGrid {
            name,
            layout: self.drawn.layout,
            electrodes: &self.drawn.places.electrodes,
            band_names: &self.drawn.places.band_names,
            atoms: &atoms,
            view,
            selected,
            zoom,
            height,
        };
        if let Some(chosen) = grid.show(ui).chosen {
            let chosen = (selected != Some(chosen)).then_some(chosen);
            actions.push(Action::ChooseAtom(chosen));
        }
    }

    /// The chosen atom larger, and where it comes from.
    fn chosen_atom_ui(
        &self,
        ui: &mut Ui,
        atom: &AtomCard,
        height: f32,
        workbench: &Workbench,
        actions: &mut Vec<Action>,
    ) {
        let tones = theme::tones(ui);
        let title = format!("Atom {}", atom.index + 1);
        ui.label(RichText::new(title).color(tones.strong));
        let one = std::slice::from_ref(atom);
        let size = (1.6, height * 0.55);
        self.atoms_ui(ui, "Chosen atom", one, size, workbench, actions);
        let loaded = workbench.data().loaded();
        if let (Some(loaded), Some((sample, _))) = (loaded, atom.strongest.first())
            && *sample < loaded.dataset.n_samples()
        {
            let groups = loaded.dataset.feature_groups();
            squares_ui(ui, groups, &loaded.dataset.sample(*sample));
        }
        elements::help(ui, "Strongest kept samples, with their coefficients");
        for (sample, coefficient) in &atom.strongest {
            let origin = workbench.origin_of(*sample);
            let text = format!("{}  {origin}", short(f64::from(*coefficient)));
            if sample_link_ui(ui, &text) {
                actions.push(Action::Explore(ExploreAction::OpenSample(*sample)));
            }
        }
    }
}

/// Numerical health of the class at the moment shown.
fn health_ui(ui: &mut Ui, workbench: &Workbench, shown: &DictionaryView) {
    let Some(part) = workbench.shown_part() else {
        return;
    };
    let rounds = part.rounds_until(workbench.view().replay);
    let Some(metric) = rounds
        .last()
        .and_then(|round| round.classes.get(shown.class))
    else {
        return;
    };
    let repairs = rounds
        .iter()
        .filter_map(|round| round.classes.get(shown.class))
        .map(|class| class.repairs as usize);
    let strip = HealthStrip {
        health: HealthNumbers {
            drift: f64::from(metric.drift),
            smallest_pivot: f64::from(metric.smallest_pivot),
            condition: f64::from(metric.condition),
            unused_atoms: shown.n_unused,
            n_atoms: shown.atoms.len(),
            repairs: repairs.sum(),
            n_batches: rounds.len(),
        },
    };
    strip.show(ui);
}

/// Size, comings and goings, age.
pub(super) fn profile_ui(ui: &mut Ui, height: f32, workbench: &Workbench) {
    let (Some(run), Some(part)) = (workbench.training().run(), workbench.shown_part()) else {
        return;
    };
    let class = workbench.shown_class();
    let rounds = part.rounds_until(workbench.view().replay);
    let of_class = || rounds.iter().filter_map(|round| round.classes.get(class));
    let flows: Vec<BatchFlow> = of_class()
        .map(|metric| BatchFlow {
            admitted: f64::from(metric.admitted),
            rejected: f64::from(metric.rejected),
            removed: f64::from(metric.removed),
        })
        .collect();
    let n_kept = of_class().next_back().map(|metric| metric.n_kept as usize);
    let shown = workbench.dictionary().filter(|shown| shown.class == class);
    let ages = shown.map_or(&[][..], |shown| shown.ages.as_slice());
    let panel = ProfilePanel {
        class_name: workbench.shown_class_name(),
        class_color: class_color(class),
        n_kept: n_kept.or(shown.map(|shown| shown.n_kept)).unwrap_or(0),
        budget: run.learner_now().budget,
        batches: &flows,
        ages,
        height,
    };
    panel.show(ui);
}

/// Which samples came and went, and why.
pub(super) fn log_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let Some(part) = workbench.shown_part() else {
        return;
    };
    let class = workbench.shown_class();
    let until = workbench.view().replay.unwrap_or(usize::MAX);
    let entries: Vec<LogEntry> = part
        .log()
        .entries()
        .rev()
        .filter(|entry| entry.class == class && entry.batch <= until)
        .filter(|entry| !matches!(entry.event, ProfileEvent::Rejected(_)))
        .take(MOST_LISTED)
        .collect();
    if entries.is_empty() {
        elements::help(
            ui,
            "Which samples were admitted, which were removed and why",
        );
    }
    let line = theme::small_font(ui).size * 1.6;
    ScrollArea::vertical().show_rows(ui, line, entries.len(), |ui, range| {
        for entry in &entries[range] {
            let origin = workbench.origin_of(entry.sample);
            let event = event_text(entry.event);
            let name = origin.rsplit('/').next().unwrap_or(&origin);
            let text = format!("batch {}: {event} – {name}", entry.batch);
            if sample_link_ui(ui, &text) {
                actions.push(Action::Explore(ExploreAction::OpenSample(entry.sample)));
            }
        }
    });
}

/// Cosines between the atoms, in the order they are shown.
pub(super) fn gram_ui(ui: &mut Ui, height: f32, workbench: &Workbench) {
    let Some(shown) = workbench.dictionary() else {
        empty_state(ui, "Drawing the dictionary", None);
        return;
    };
    let caption = "Cosines between the atoms, most used first. Bright cells off the diagonal are atoms that are nearly the same.";
    let (font, color) = (theme::small_font(ui), ui.visuals().text_color());
    let room = font.size * 5.0;
    let laid_out = ui
        .painter()
        .layout(caption.to_owned(), font, color, ui.available_width());
    let below = (laid_out.size().y + 3.0 * theme::GRID).max(60.0);
    let size = (ui.available_width() - room).min(height - below).max(80.0);
    GramMatrix {
        gram: shown.cosines.view(),
        labels: MapLabels::Numbered("atom"),
        size,
    }
    .show(ui);
    ui.add_space(theme::GRID);
    elements::help(ui, caption);
}
