//! The samples of a confusion cell, and why one of them was decided as it was.

use egui::{Grid, RichText, ScrollArea, Ui};

use super::samples::{SampleDrawing, drawn_values};
use crate::ui::elements::{button, help, section};
use crate::ui::icons::{Icon, color_dot, icon_button};
use crate::ui::numbers::{percent, short};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{Atom, AtomGrid, AtomView};
use crate::workbench::explore::ExploreAction;
use crate::workbench::{Action, AtomUse, Inspection, Otherwise, RunView, Workbench, origin_text};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::Decisions;

/// Samples of a cell that are listed.
const MOST_SAMPLES: usize = 500;

/// The samples of a cell; a click explains one.
pub(super) fn samples_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    run: &RunView,
    fold: Option<usize>,
    (truth, decided): (usize, usize),
    actions: &mut Vec<Action>,
) {
    let name = |class: usize| run.facts.class_names.get(class).map_or("", String::as_str);
    section(ui, &format!("{} taken for {}", name(truth), name(decided)));
    let decisions = run
        .folds()
        .filter(|(number, _)| fold.is_none_or(|fold| fold == *number))
        .filter_map(|(_, part)| part.decisions());
    let samples: Vec<(usize, f64)> = decisions
        .flat_map(|decisions| cell_samples(decisions, run, (truth, decided)))
        .take(MOST_SAMPLES)
        .collect();
    if samples.is_empty() {
        help(ui, "No sample in this cell at the last test");
        return;
    }
    let line = ui.spacing().interact_size.y;
    ScrollArea::vertical()
        .id_salt("samples of the cell")
        .max_height(170.0)
        .show_rows(ui, line, samples.len(), |ui, range| {
            for (sample, margin) in &samples[range] {
                let origin = workbench.origin_of(*sample);
                let text = format!("{origin} · margin {}", short(*margin));
                let is_shown = workbench.inspection().is_some_and(|i| i.sample == *sample);
                ui.horizontal(|ui| {
                    let open = egui::Button::new("Open").small();
                    if ui
                        .add(open)
                        .on_hover_text("Opens the recording at this sample, on the Explore page")
                        .clicked()
                    {
                        actions.push(Action::Explore(ExploreAction::OpenSample(*sample)));
                    }
                    let row = egui::Button::selectable(is_shown, text).truncate();
                    if ui.add(row).on_hover_text("Explain this decision").clicked() {
                        actions.push(Action::Inspect(*sample));
                    }
                });
            }
        });
}

fn cell_samples<'a>(
    decisions: &'a Decisions,
    run: &'a RunView,
    (truth, decided): (usize, usize),
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let verdicts = decisions.class.iter().zip(&decisions.margin);
    decisions
        .sample
        .iter()
        .zip(verdicts)
        .filter(move |(sample, (class, _))| {
            **class == decided && run.facts.classes.get(**sample) == Some(&truth)
        })
        .map(|(sample, (_, margin))| (*sample, *margin))
}

/// Residual of every class, sparse codes, atoms and the kept samples behind them.
pub(super) fn inspection_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    run: &RunView,
    actions: &mut Vec<Action>,
) {
    let (Some(inspection), Some(loaded)) = (workbench.inspection(), workbench.data().loaded())
    else {
        return;
    };
    let dataset = &loaded.dataset;
    let tones = theme::tones(ui);
    let names = &run.facts.class_names;
    let name = |class: usize| names.get(class).map_or("", String::as_str);
    ui.horizontal(|ui| {
        section(ui, "One sample explained");
        if icon_button(ui, Icon::Close, "Close the explanation")
            .on_hover_text("Close the explanation")
            .clicked()
        {
            actions.push(Action::CloseInspection);
        }
    });
    let origin = origin_text(dataset, inspection.sample);
    ui.label(RichText::new(origin).color(tones.strong));
    let truth = format!(
        "true {}, decided {}",
        name(inspection.truth),
        name(inspection.decided)
    );
    ui.horizontal(|ui| {
        ui.label(truth);
        let text = "The signal that the sample was made of, on the Records page";
        if button(ui, "Show in the recording", text) {
            actions.push(Action::LookAtSample(inspection.sample));
            actions.push(Action::Show(crate::workbench::Stage::Records));
        }
        if button(
            ui,
            "Explore",
            "Opens the recording at this sample, on the Explore page (7)",
        ) {
            let sample = inspection.sample;
            actions.push(Action::Explore(ExploreAction::OpenSample(sample)));
        }
    });
    branch_ui(ui, workbench, inspection, names, actions);
    residuals_ui(ui, inspection, names);
    for class in best_two(inspection) {
        ui.add_space(theme::GRID);
        ui.horizontal(|ui| {
            color_dot(ui, class_color(class));
            ui.label(format!("Sparse code by the dictionary of {}", name(class)));
        });
        if let Some(atoms) = inspection.atoms.get(class)
            && let Some(sample) = code_ui(ui, dataset, atoms, class)
        {
            actions.push(Action::Explore(ExploreAction::OpenSample(sample)));
        }
    }
}

/// The run taken up again without this sample, or with another label.
fn branch_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    inspection: &Inspection,
    names: &[String],
    actions: &mut Vec<Action>,
) {
    let (Some(batch), None) = (workbench.branch_batch(), workbench.branch_obstacle()) else {
        return;
    };
    ui.horizontal(|ui| {
        let without = ui.button("Branch without it");
        let text = format!(
            "Continues from mini-batch {batch} without learning this sample; both futures appear on the Compare page"
        );
        if without.on_hover_text(text).clicked() {
            actions.push(Action::Branch(Otherwise::Without(inspection.sample)));
        }
        let menu = ui.menu_button("Branch with it as", |ui| {
            for (class, name) in names.iter().enumerate() {
                let is_other = class != inspection.truth;
                if ui.add_enabled(is_other, egui::Button::new(name)).clicked() {
                    actions.push(Action::Branch(Otherwise::As(inspection.sample, class)));
                    ui.close();
                }
            }
        });
        let text = format!("Continues from mini-batch {batch} with another label of this sample");
        menu.response.on_hover_text(text);
    });
}

/// The decided class and the true one, or the next best where the decision is right.
pub(super) fn best_two(inspection: &Inspection) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..inspection.explanation.scores.len()).collect();
    let score = |class: &usize| inspection.explanation.scores[*class];
    classes.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let mut best = vec![inspection.decided];
    if inspection.truth != inspection.decided {
        best.push(inspection.truth);
    } else {
        best.extend(
            classes
                .into_iter()
                .find(|class| *class != inspection.decided),
        );
    }
    best
}

pub(super) fn residuals_ui(ui: &mut Ui, inspection: &Inspection, names: &[String]) {
    let tones = theme::tones(ui);
    help(
        ui,
        "Residual of every class: the share of the sample that its dictionary does not explain",
    );
    let residuals = &inspection.explanation.residual_shares;
    let most = residuals.iter().copied().fold(1e-12, f64::max);
    Grid::new("residuals")
        .num_columns(3)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for (class, residual) in residuals.iter().enumerate() {
                ui.horizontal(|ui| {
                    color_dot(ui, class_color(class));
                    let text = RichText::new(names.get(class).map_or("", String::as_str));
                    let is_decided = class == inspection.decided;
                    ui.label(if is_decided {
                        text.color(tones.strong)
                    } else {
                        text
                    });
                });
                let width = 180.0 * (*residual / most) as f32;
                let (rect, _) =
                    ui.allocate_exact_size(egui::vec2(180.0, 10.0), egui::Sense::hover());
                let bar = egui::Rect::from_min_size(rect.min, egui::vec2(width.max(1.0), 10.0));
                ui.painter().rect_filled(bar, 2.0, class_color(class));
                ui.label(percent(*residual));
                ui.end_row();
            }
        });
}

/// The atoms of a code, each by its strongest kept sample, and the kept samples as links; gives one that was clicked.
pub(super) fn code_ui(
    ui: &mut Ui,
    dataset: &Dataset,
    atoms: &[AtomUse],
    class: usize,
) -> Option<usize> {
    let drawn = SampleDrawing::of_dataset(dataset);
    let total: f64 = atoms.iter().map(|used| used.value.abs()).sum();
    let known = |sample: &usize| *sample < dataset.n_samples();
    let strongest: Vec<(&AtomUse, Vec<f64>)> = atoms
        .iter()
        .filter_map(|used| {
            let (sample, _) = used.strongest.first().filter(|(sample, _)| known(sample))?;
            Some((used, drawn_values(dataset, *sample)))
        })
        .collect();
    let shown: Vec<Atom<'_>> = strongest
        .iter()
        .map(|(used, values)| Atom {
            index: used.atom,
            values,
            use_share: used.value.abs() / total.max(1e-300),
            changed: false,
        })
        .collect();
    AtomGrid {
        name: &format!("Code of class {class}"),
        layout: drawn.layout,
        electrodes: &drawn.places.electrodes,
        band_names: &drawn.places.band_names,
        atoms: &shown,
        view: AtomView::StrongestSample,
        selected: None,
        zoom: 1.0,
        height: 150.0,
    }
    .show(ui);
    let mut clicked = None;
    // Rows of text, not of controls.
    ui.spacing_mut().interact_size.y = theme::small_font(ui).size * 1.3;
    for used in atoms {
        let text = format!("atom {}: {}", used.atom + 1, short(used.value));
        ui.label(RichText::new(text).small());
        for (sample, value) in &used.strongest {
            let origin = origin_text(dataset, *sample);
            // The last part of a path tells recordings apart.
            let name = origin.rsplit('/').next().unwrap_or(&origin);
            let text = format!("    {name} ({})", short(*value));
            if sample_link_ui(ui, &text) {
                clicked = Some(*sample);
            }
        }
    }
    clicked
}

/// A sample by its origin, as a link that is cut to the width there is.
pub(super) fn sample_link_ui(ui: &mut Ui, text: &str) -> bool {
    let color = ui.visuals().hyperlink_color;
    let link = egui::Button::new(RichText::new(text).small().color(color));
    let response = ui.add(link.frame(false).truncate());
    response
        .on_hover_text(format!("{text}\nShows its signal"))
        .clicked()
}
