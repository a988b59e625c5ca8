//! What the model decides about each segment, as a ribbon under the traces: class, margin, and which are uncertain.

use egui::{
    Color32, EventFilter, Id, Key, Modifiers, Rangef, Rect, RichText, Role, Sense, Stroke, Ui,
    WidgetInfo,
};
use egui::{StrokeKind, pos2, vec2};

use super::marking::DIGITS;
use crate::ui::elements::{button, wrong};
use crate::ui::icons::focus_ring;
use crate::ui::numbers::{percent, short};
use crate::ui::palette::{class_color, mix};
use crate::ui::theme;
use crate::ui::widgets::{ChartTable, extent};
use crate::workbench::explore::{
    ExploreAction, Judgement, ModelChoice, OpenedRecording, RibbonAction,
};
use crate::workbench::{Action, Ask, PathAsk, Workbench};
use atomscope_engine::experiment::{Ribbon, RibbonSegment};
use atomscope_engine::export::{hatch_lines, vote_text};
use atomscope_engine::records::counted;

/// Segments that are buttons of their own; where more are shown, the ribbon is one.
const MOST_BUTTONS: usize = 80;
/// Height of the ribbon.
const HEIGHT: f32 = 30.0;
/// How much of a colour is left in decisions that must not be relied on.
const GREYED: f32 = 0.55;

/// The stretch of time that is shown, and where it lies on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownTime {
    /// Time at the left edge.
    pub(super) start_s: f64,
    /// Time from the left to the right edge.
    pub(super) span_s: f64,
    /// The edges.
    pub(super) x: Rangef,
}

impl ShownTime {
    /// Where a time lies on the screen.
    pub(super) fn x_of(&self, time_s: f64) -> f32 {
        let share = (time_s - self.start_s) / self.span_s;
        self.x.min + share.clamp(-1e3, 1e3) as f32 * self.x.span()
    }

    /// The time at a place of the screen.
    pub(super) fn time_at(&self, x: f32) -> f64 {
        self.start_s + f64::from((x - self.x.min) / self.x.span()) * self.span_s
    }
}

fn ask(action: RibbonAction) -> Action {
    Action::Explore(ExploreAction::Ribbon(action))
}

/// Whether there is anything to say about decisions; without a model the traces have that room.
pub(super) fn has_decisions(workbench: &Workbench) -> bool {
    let stage = workbench.explore().ribbon();
    let is_about = stage.judged().is_some() || stage.error().is_some();
    is_about || stage.judging_share().is_some() || !workbench.judging_models().is_empty()
}

fn height_id() -> Id {
    Id::unique("height of the ribbon")
}

/// As high as the ribbon was in the last frame: it is laid out below the traces.
pub(super) fn ribbon_height(ui: &Ui, workbench: &Workbench) -> f32 {
    if !has_decisions(workbench) {
        return 0.0;
    }
    ui.data(|data| data.get_temp(height_id()).unwrap_or(2.0 * HEIGHT))
}

/// What to know before the decisions, who judges, the vote, and the ribbon itself.
pub(super) fn ribbon_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    shown: ShownTime,
    actions: &mut Vec<Action>,
) {
    if !has_decisions(workbench) {
        return;
    }
    let stage = workbench.explore().ribbon();
    let before = ribbon_height(ui, workbench);
    let used = ui.scope(|ui| {
        if let Some(warning) = stage.judged().and_then(|judged| judged.warning.as_ref()) {
            wrong(ui, warning.sentence());
        }
        head_ui(ui, workbench, opened, actions);
        if let Some(judgement) = stage.judged() {
            tested_ui(ui, workbench, judgement);
        }
        if let Some(error) = stage.error() {
            wrong(ui, error);
        } else if let Some(judgement) = stage.judged() {
            band_ui(ui, judgement, stage.selected(), shown, actions);
        }
    });
    let height = used.response.rect.height();
    if height != before {
        ui.data_mut(|data| data.insert_temp(height_id(), height));
        ui.ctx().request_repaint();
    }
}

/// How well the folds of the model did, and whether that can be believed.
fn tested_ui(ui: &mut Ui, workbench: &Workbench, judgement: &Judgement) {
    let Some(tested) = judgement.tested() else {
        return;
    };
    let is_own = judgement.choice != ModelChoice::Other;
    let made = workbench.split().made().filter(|_| is_own);
    let leaks = made.is_some_and(|made| made.audit.leaks());
    let folds = match leaks {
        true => "Tested in folds that leak (see Split)",
        false => "Tested in folds",
    };
    let when = match judgement.n_corrections() {
        0 => "",
        _ => ", before the corrections",
    };
    let text = RichText::new(format!("{folds}{when}: {tested}"));
    let text = text.small().color(theme::tones(ui).weak);
    ui.add(egui::Label::new(text).truncate()).on_hover_text(format!(
        "{tested}.\nHow often the folds of this session were right about what they had not learned: what to expect of the model on recordings like those of the data",
    ));
}

/// Who judges, how far it is, and what came of it.
fn head_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    actions: &mut Vec<Action>,
) {
    let stage = workbench.explore().ribbon();
    ui.horizontal(|ui| {
        let label = ui.label("Decisions by");
        model_ui(ui, workbench, label.id, actions);
        if let Some(share) = stage.judging_share() {
            let bar = egui::ProgressBar::new(share as f32).desired_width(120.0);
            ui.add(bar.text(percent(share)));
            if button(ui, "Cancel judging", "Stops without a decision") {
                actions.push(ask(RibbonAction::Cancel));
            }
            return;
        }
        let Some(judgement) = stage.judged() else {
            let can = workbench.judging_model().is_some();
            let button = ui.add_enabled(can, egui::Button::new("Classify the recording"));
            let button = button
                .on_hover_text("Cuts the whole recording into segments, classifies each and counts their votes; runs in the background")
                .on_disabled_hover_text("There is no trained model yet");
            if button.clicked() {
                actions.push(ask(RibbonAction::Judge));
            }
            let text = format!("{} has not been classified by this model yet", opened.short_name());
            let text = RichText::new(text).small().color(theme::tones(ui).weak);
            ui.add(egui::Label::new(text).truncate());
            return;
        };
        if button(ui, "Report…", "Writes a report on the recording, its quality, the ribbon, the vote and the model as a page (.html) or a table (.csv)") {
            actions.push(Action::Ask(Ask::Path(PathAsk::Report)));
        }
        vote_ui(ui, judgement);
    });
}

fn model_ui(ui: &mut Ui, workbench: &Workbench, label: Id, actions: &mut Vec<Action>) {
    let current = workbench.judging_model();
    let text = current.map_or("no model".to_owned(), ModelChoice::name);
    let combo = egui::ComboBox::from_id_salt("judging model")
        .selected_text(text)
        .show_ui(ui, |ui| {
            for &choice in workbench.judging_models() {
                let is_it = Some(choice) == current;
                if ui.selectable_label(is_it, choice.name()).clicked() && !is_it {
                    actions.push(ask(RibbonAction::Choose(choice)));
                }
            }
            if ui.selectable_label(false, "a trained session…").clicked() {
                actions.push(Action::Ask(Ask::Path(PathAsk::OpenModel)));
            }
        });
    combo.response.labelled_by(label).on_hover_text(
        "The model that decides. Held-out folds: every segment by the model that was not trained on it (default for records of the data); final model: trained on all of them; a fold; or the final model of a session in a file.",
    );
}

/// "SLG: 41 of 48 segments".
fn vote_ui(ui: &mut Ui, judgement: &Judgement) {
    let ribbon = &judgement.ribbon;
    let (most, total) = ribbon.counts();
    let is_warned = judgement.warning.is_some();
    let color = decision_color(ui, ribbon.vote.decided, is_warned);
    crate::ui::icons::color_dot(ui, color);
    let decided = ribbon.class_name(ribbon.vote.decided);
    let mut text = match total {
        1 => decided.to_owned(),
        _ => format!("{decided}: {most} of {total} segments"),
    };
    match ribbon.n_uncertain() {
        0 => {}
        n => text.push_str(&format!(" · {n} uncertain")),
    }
    let n_strange = judgement.n_strange();
    if n_strange > 0 && ribbon.segments.len() > 1 {
        text.push_str(&format!(" · {n_strange} unlike training"));
    }
    if judgement.has_learned {
        text.push_str(" · learned from");
    }
    let n_corrections = judgement.n_corrections();
    if n_corrections > 0 {
        let count = counted(n_corrections, "correction");
        text.push_str(&format!(" · {count}"));
    }
    let mut tip = format!(
        "{}.\nThe vote of all segments. {}",
        vote_text(ribbon),
        uncertain_text(ribbon)
    );
    if judgement.has_learned {
        tip.push_str("\nThe model has learned from this recording: its decisions say little.");
    }
    if n_corrections > 0 {
        tip.push_str("\nThe model has learned from corrections by a reviewer: its scores by subject are of before them.");
    }
    if n_strange > 0 {
        tip.push_str("\nUnlike training (grey): these segments fit no class, or differ in scale or shape from all that was learned; do not rely on what is decided about them.");
    }
    for out in judgement.left_out.iter().take(8) {
        tip.push_str("\nExcluded: ");
        tip.push_str(out);
    }
    let text = match is_warned {
        true => RichText::new(text).color(theme::tones(ui).weak),
        false => RichText::new(text),
    };
    ui.add(egui::Label::new(text).truncate()).on_hover_text(tip);
}

/// What uncertain means here.
fn uncertain_text(ribbon: &Ribbon) -> String {
    match ribbon.segments.first().and_then(|s| s.assurance.as_ref()) {
        Some(assurance) => format!(
            "Uncertain: the model names several classes or none, to be right in {} of the cases.",
            percent(1.0 - assurance.epsilon)
        ),
        None => format!(
            "Uncertain: a margin below {}, the median of the held-out decisions that were wrong, or what one in twenty of all does not reach. This model cannot tell what its decisions are worth: train it with calibration.",
            short(ribbon.uncertain_below)
        ),
    }
}

/// The segments along the time axis.
fn band_ui(
    ui: &mut Ui,
    judgement: &Judgement,
    selected: Option<usize>,
    shown: ShownTime,
    actions: &mut Vec<Action>,
) {
    let ribbon = &judgement.ribbon;
    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let area = Rect::from_x_y_ranges(shown.x, rect.y_range());
    let visible = visible(ribbon, shown);
    tell(ui, &response, ribbon, &visible);
    let clip = ui.clip_rect().intersect(area);
    let largest = ribbon.segments.iter().map(|s| s.verdict.margin);
    let largest = largest.fold(f64::MIN_POSITIVE, f64::max);
    let painter = ui.painter().with_clip_rect(clip);
    painter.rect_filled(area, 0.0, theme::tones(ui).faint);
    let is_warned = judgement.warning.is_some();
    let mut last_right = f32::NEG_INFINITY;
    for &place in &visible {
        let segment = &ribbon.segments[place];
        let block = block(segment, shown, area);
        // Of many segments on one pixel the first stands for all.
        if block.right() < last_right + 0.5 && selected != Some(place) {
            continue;
        }
        last_right = block.right();
        let look = SegmentLook {
            margin: (segment.verdict.margin / largest).clamp(0.0, 1.0) as f32,
            is_uncertain: ribbon.is_uncertain(segment),
            is_selected: selected == Some(place),
        };
        let is_strange = is_warned || judgement.is_strange(place);
        let color = decision_color(ui, segment.verdict.class, is_strange);
        paint_segment(ui, &painter, block, color, look);
    }
    if response.has_focus() {
        focus_ring(ui, area);
    }
    if let Some(next) = selection_keys(ui, &response, selected, ribbon.segments.len()) {
        actions.push(ask(RibbonAction::Select(Some(next))));
    }
    if visible.len() <= MOST_BUTTONS {
        for &place in &visible {
            let block = block(&ribbon.segments[place], shown, area).intersect(area);
            let button = segment_button(ui, ribbon, place, block, response.id);
            button.context_menu(|ui| correct_buttons(ui, ribbon, place, actions));
            if button.clicked() {
                let chosen = (selected != Some(place)).then_some(place);
                actions.push(ask(RibbonAction::Select(chosen)));
            }
        }
    } else {
        let is_meant = response.clicked() || response.secondary_clicked();
        if let Some(pointer) = response.interact_pointer_pos().filter(|_| is_meant) {
            let chosen = ribbon.at(shown.time_at(pointer.x));
            actions.push(ask(RibbonAction::Select(chosen)));
        }
        if let Some(segment) = selected {
            response.context_menu(|ui| correct_buttons(ui, ribbon, segment, actions));
        }
    }
    if response.has_focus()
        && let Some(segment) = selected
    {
        correction_keys(ui, ribbon, segment, actions);
    }
    response.on_hover_text("Click a segment to see why, right-click it to correct it. With the focus ← → go from one to the next, 1 to 9 give the selected one that class, 0 calls it an artefact.");
}

/// The segments shown as a table: class and margin, of joined ones all classes in their order.
fn tell(ui: &Ui, figure: &egui::Response, ribbon: &Ribbon, visible: &[usize]) {
    let segment = |place: usize| &ribbon.segments[visible[place]];
    let cell = |column: usize, places: std::ops::Range<usize>| match column {
        0 => {
            let classes = places.map(|place| segment(place).verdict.class);
            let mut classes: Vec<usize> = classes.collect();
            classes.dedup();
            let names = classes.into_iter().map(|class| ribbon.class_name(class));
            Some(names.collect::<Vec<_>>().join(", then "))
        }
        _ => extent(places.map(|place| segment(place).verdict.margin), short),
    };
    ChartTable {
        n_places: visible.len(),
        place: &|place| format!("{:.3} s", segment(place).start_s),
        series: &["class", "margin"],
        cell: &cell,
    }
    .tell(ui, figure, "Ribbon of decisions");
}

/// The colour of a decision: about a stranger it stays visible, but greyed.
fn decision_color(ui: &Ui, class: usize, is_strange: bool) -> Color32 {
    match is_strange {
        true => mix(theme::tones(ui).page, greyed(class_color(class)), GREYED),
        false => class_color(class),
    }
}

/// The grey as light as a colour.
fn greyed(color: Color32) -> Color32 {
    let [r, g, b, _] = color.to_array().map(f32::from);
    Color32::from_gray((0.3 * r + 0.59 * g + 0.11 * b) as u8)
}

fn visible(ribbon: &Ribbon, shown: ShownTime) -> Vec<usize> {
    let end_s = shown.start_s + shown.span_s;
    let segments = ribbon.segments.iter().enumerate();
    segments
        .filter(|(_, s)| s.start_s < end_s && s.start_s + s.duration_s > shown.start_s)
        .map(|(place, _)| place)
        .collect()
}

fn block(segment: &RibbonSegment, shown: ShownTime, area: Rect) -> Rect {
    let left = shown.x_of(segment.start_s);
    let right = shown.x_of(segment.start_s + segment.duration_s);
    Rect::from_x_y_ranges(left..=right.max(left + 1.0), area.y_range())
}

#[derive(Clone, Copy)]
struct SegmentLook {
    /// Share of the largest margin.
    margin: f32,
    is_uncertain: bool,
    is_selected: bool,
}

/// The class as colour, the margin as height, hatched where it is uncertain.
fn paint_segment(ui: &Ui, painter: &egui::Painter, block: Rect, color: Color32, look: SegmentLook) {
    let tones = theme::tones(ui);
    painter.rect_filled(block, 0.0, mix(tones.page, color, 0.4));
    let top = block.bottom() - (block.height() - 4.0) * look.margin - 4.0;
    let bar = Rect::from_min_max(pos2(block.left(), top), block.max);
    painter.rect_filled(bar, 0.0, color);
    if look.is_uncertain {
        let size = [block.width(), block.height()];
        for [from, to] in hatch_lines([block.left(), block.top()], size, 6.0) {
            let ends = [pos2(from[0], from[1]), pos2(to[0], to[1])];
            painter.line_segment(ends, Stroke::new(1.4, tones.page));
        }
    }
    painter.vline(block.right(), block.y_range(), Stroke::new(1.0, tones.page));
    if look.is_selected {
        let stroke = Stroke::new(2.0, tones.strong);
        painter.rect_stroke(block, 0.0, stroke, StrokeKind::Inside);
    }
}

/// Buttons that give a segment another class, or call it an artefact.
pub(super) fn correct_buttons(
    ui: &mut Ui,
    ribbon: &Ribbon,
    segment: usize,
    actions: &mut Vec<Action>,
) {
    let decided = ribbon.segments.get(segment).map(|own| own.verdict.class);
    let others = ribbon.class_names.iter().enumerate();
    for (class, name) in others.filter(|(class, _)| Some(*class) != decided) {
        let button = ui.button(format!("It is {name}"));
        let what = "The model learns it at once, in one step; Ctrl+Z undoes it exactly. Saved with the session";
        if button.on_hover_text(what).clicked() {
            let class = Some(class);
            actions.push(ask(RibbonAction::Correct { segment, class }));
        }
    }
    let what = "Noted with the session; the model learns nothing from it";
    if button(ui, "It is an artefact", what) {
        let class = None;
        actions.push(ask(RibbonAction::Correct { segment, class }));
    }
}

/// 1 to 9 give the selected segment a class, 0 calls it an artefact.
fn correction_keys(ui: &Ui, ribbon: &Ribbon, segment: usize, actions: &mut Vec<Action>) {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let classes = 0..ribbon.class_names.len();
    let class = classes.zip(DIGITS).find(|(_, key)| pressed(*key));
    if class.is_some() || pressed(Key::Num0) {
        let class = class.map(|(class, _)| class);
        actions.push(ask(RibbonAction::Correct { segment, class }));
    }
}

fn segment_button(
    ui: &mut Ui,
    ribbon: &Ribbon,
    place: usize,
    block: Rect,
    id: Id,
) -> egui::Response {
    let segment = &ribbon.segments[place];
    let response = ui.interact(block, id.with(place), Sense::click());
    let verdict = &segment.verdict;
    let doubt = match ribbon.is_uncertain(segment) {
        true => ", uncertain",
        false => "",
    };
    let name = format!(
        "Segment {:.3} to {:.3} s: {}, margin {}{doubt}",
        segment.start_s,
        segment.start_s + segment.duration_s,
        ribbon.class_name(verdict.class),
        short(verdict.margin)
    );
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, &name));
    if response.has_focus() {
        focus_ring(ui, block);
    }
    let tip = format!(
        "{name}\nNext best: {}",
        ribbon.class_name(verdict.runner_up)
    );
    response.on_hover_text(tip)
}

/// The segment before or after by arrow keys, while the ribbon has the focus.
fn selection_keys(
    ui: &Ui,
    response: &egui::Response,
    selected: Option<usize>,
    n_segments: usize,
) -> Option<usize> {
    if !response.has_focus() || n_segments == 0 {
        return None;
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let presses = |key| ui.input(|input| input.num_presses(key)) as isize;
    match (presses(Key::ArrowRight) - presses(Key::ArrowLeft), selected) {
        (0, _) => None,
        (_, None) => Some(0),
        (step, Some(at)) => Some(at.saturating_add_signed(step).min(n_segments - 1)),
    }
}
