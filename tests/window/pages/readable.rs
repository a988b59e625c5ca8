//! Text on every page: never cut off, never on other text, with enough contrast, in any script.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use atomscope::ui::app::App;
use atomscope::ui::palette::contrast;
use atomscope::workbench::explore::ExploreAction;
use atomscope::workbench::{Action, CompareAction, CompareTab, Stage, Workbench};
use atomscope_engine::records::edf::{SampleWidth, write_file};
use atomscope_engine::records::{Annotation, Channel, Format, Kind, Record, Unit};
use egui::epaint::{ClippedShape, TextShape};
use egui::{Color32, MissingGlyphPolicy, Rect, Shape, Theme, Vec2, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::driving::{
    Window, apply, bare_workbench, click, is_ready, loading_workbench, show, small_eeg_draft,
    status, until, until_complete, window_of,
};
use super::names::controls;
use crate::small_data::small_draft;

/// The window that is asked for at least.
const SMALLEST: Vec2 = vec2(1024.0, 700.0);
const USUAL: Vec2 = vec2(1280.0, 800.0);
/// Sizes of the window and of text. Where the text is large for the window, pages scroll.
const SIZES: [(Vec2, f32); 4] = [(USUAL, 1.0), (USUAL, 2.0), (SMALLEST, 1.0), (SMALLEST, 1.5)];
const HIGH: f32 = 3400.0;
/// How far the edges of letters may reach beyond what is shown of them.
const EDGE: f32 = 2.0;
/// Level AA of the Web Content Accessibility Guidelines for text of ordinary size.
const LEAST_CONTRAST: f32 = 4.5;

/// One text of a frame.
struct Written {
    text: String,
    /// Where its letters lie.
    ink: Rect,
    /// What is shown of the page it is written on.
    clip: Rect,
    color: Color32,
    /// Its place among all shapes of the frame.
    order: usize,
}

impl Written {
    /// The lines of a text.
    fn lines(shape: &TextShape, clip: Rect, order: usize) -> Vec<Self> {
        let sections = &shape.galley.job.sections;
        let own = sections
            .first()
            .map_or(Color32::PLACEHOLDER, |s| s.format.color);
        let color = match (shape.override_text_color, own) {
            (Some(color), _) => color,
            (None, Color32::PLACEHOLDER) => shape.fallback_color,
            (None, own) => own,
        };
        let is_plain = shape.angle == 0.0 && shape.opacity_factor == 1.0;
        let lines = shape
            .galley
            .rows
            .iter()
            .filter(|_| is_plain)
            .map(|line| Self {
                text: line.row.text(),
                ink: line
                    .row
                    .visuals
                    .mesh_bounds
                    .translate(shape.pos.to_vec2() + line.pos.to_vec2()),
                clip,
                color,
                order,
            });
        let is_seen = |line: &Self| line.ink.is_positive() && line.ink.intersects(clip);
        lines
            .filter(|line| !line.text.trim().is_empty() && is_seen(line))
            .collect()
    }

    /// Whether it is cut at the left or the right; up and down a page scrolls.
    fn is_cut(&self, window: Vec2) -> bool {
        let left = self.clip.left().max(0.0) - EDGE;
        let right = self.clip.right().min(window.x) + EDGE;
        let middle = self.ink.center().y;
        self.clip.y_range().contains(middle) && (self.ink.left() < left || self.ink.right() > right)
    }

    fn is_whole(&self) -> bool {
        self.clip.expand(EDGE).contains_rect(self.ink)
    }
}

fn each<'a>(shapes: &'a [ClippedShape], mut visit: impl FnMut(&'a Shape, Rect)) {
    fn inner<'a>(shape: &'a Shape, clip: Rect, visit: &mut impl FnMut(&'a Shape, Rect)) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| inner(shape, clip, visit)),
            shape => visit(shape, clip),
        }
    }
    for clipped in shapes {
        inner(&clipped.shape, clipped.clip_rect, &mut visit);
    }
}

/// The texts of the frame, and the filled grounds that hide what lies below them.
fn drawn(window: &Window) -> (Vec<Written>, Vec<(usize, Rect)>) {
    let (mut texts, mut grounds) = (Vec::new(), Vec::new());
    let mut order = 0;
    each(&window.harness.output().shapes, |shape, clip| {
        order += 1;
        match shape {
            Shape::Text(text) => texts.extend(Written::lines(text, clip, order)),
            Shape::Rect(rect) if rect.fill.a() > 180 => {
                grounds.push((order, rect.rect.intersect(clip)));
            }
            _ => {}
        }
    });
    (texts, grounds)
}

/// The texts of the frame that are cut at the left or the right.
fn cut_off(window: &Window, size: Vec2) -> BTreeSet<String> {
    let texts = drawn(window).0.into_iter();
    let cut = texts.filter(|text| text.is_cut(size));
    cut.map(|text| text.text.trim().to_owned()).collect()
}

/// The texts of the frame that lie on one another.
fn on_other_texts(window: &Window, page: &str) -> Vec<String> {
    let (texts, grounds) = drawn(window);
    let mut wrong = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        for other in &texts[..place] {
            let both = text.ink.intersect(other.ink);
            let both = both.intersect(text.clip).intersect(other.clip);
            let is_hidden = |(order, ground): &(usize, Rect)| {
                (other.order..text.order).contains(order) && ground.contains_rect(both)
            };
            // Letters of neighbouring lines touch; the same text twice is a shadow of itself.
            let is_on = both.width() > 2.0 && both.height() > 3.0 && text.text != other.text;
            if is_on && !grounds.iter().any(is_hidden) {
                let (text, other) = (&text.text, &other.text);
                wrong.push(format!("{page}: “{text}” lies on “{other}” at {both:?}"));
            }
        }
    }
    wrong
}

/// The same for a page that may have to be scrolled: a text that is cut off must be whole where the page is scrolled to
/// its right end, or where it is scrolled to that text.
fn wrong_on_page(window: &mut Window, page: &str, size: Vec2) -> Vec<String> {
    let mut wrong = on_other_texts(window, page);
    let mut cut = cut_off(window, size);
    if !cut.is_empty() {
        let whole = scrolled_right(window, size, |window| whole_texts(window, size));
        cut.retain(|text| !whole.contains(text) && !is_reached(window, text, size));
    }
    let cut = cut.into_iter();
    wrong.extend(cut.map(|text| format!("{page}: “{text}” is cut off")));
    wrong
}

/// Whether a text that has a name is whole once it is scrolled to. Of a text shortened for want of room the name is whole.
fn is_reached(window: &mut Window, text: &str, size: Vec2) -> bool {
    let name = text.trim_end_matches('…');
    let n_named = window.harness.query_all_by_label_contains(name).count();
    (0..n_named).any(|place| {
        let harness = &window.harness;
        let Some(node) = harness.query_all_by_label_contains(name).nth(place) else {
            return false;
        };
        node.scroll_to_me();
        for _ in 0..20 {
            window.harness.step();
        }
        whole_texts(window, size).contains(text)
    })
}

/// The texts that are whole from left to right.
fn whole_texts(window: &Window, size: Vec2) -> BTreeSet<String> {
    let texts = drawn(window).0.into_iter();
    let whole = texts.filter(|text| !text.is_cut(size));
    whole.map(|text| text.text.trim().to_owned()).collect()
}

/// Looks at a page that is scrolled to its right end, and scrolls it back.
fn scrolled_right<T>(window: &mut Window, size: Vec2, look: impl FnOnce(&Window) -> T) -> T {
    // Over the title of the page, where nothing else takes the wheel.
    window.harness.hover_at(egui::pos2(size.x - 60.0, 110.0));
    turn_wheel(window, vec2(-4000.0, 0.0));
    let found = look(window);
    turn_wheel(window, vec2(4000.0, 0.0));
    window.harness.remove_cursor();
    found
}

fn turn_wheel(window: &mut Window, delta: Vec2) {
    window.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta,
        modifiers: egui::Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
    });
    for _ in 0..15 {
        window.harness.step();
    }
}

fn dismiss_notices(window: &mut Window) {
    let list = window.harness.state().workbench().notices().list();
    let ids: Vec<u64> = list.iter().map(|notice| notice.id).collect();
    for id in ids {
        apply(window, Action::DismissNotice(id));
    }
}

/// Goes through all pages and the sweep.
fn for_every_page(window: &mut Window, mut look: impl FnMut(&mut Window, &str)) {
    dismiss_notices(window);
    for stage in Stage::ALL {
        show(window, stage);
        settle(window);
        look(window, stage.name());
    }
    let tab = |tab| Action::Compare(CompareAction::Show(tab));
    show(window, Stage::Compare);
    apply(window, tab(CompareTab::Sweep));
    settle(window);
    look(window, "Sweep");
    apply(window, tab(CompareTab::Runs));
}

fn settle(window: &mut Window) {
    until(window, "the page stands still", |w| !w.is_busy());
    for _ in 0..6 {
        window.harness.step();
    }
}

fn trained_in(theme: Theme, size: Vec2) -> Window {
    let mut window = window_of(theme, size, App::new(loading_workbench(), false));
    until(&mut window, "data are loaded", is_ready);
    click(&mut window, "Start");
    until_complete(&mut window);
    apply(&mut window, Action::LookAtRecord(0));
    window
}

/// EEG that is loaded and not trained, its first recording opened.
fn eeg_in(size: Vec2) -> Window {
    let mut workbench = bare_workbench();
    workbench.edit(small_eeg_draft(), false);
    workbench.apply(Action::LoadData);
    let mut window = window_of(Theme::Dark, size, App::new(workbench, false));
    until(&mut window, "data are loaded", is_ready);
    apply(&mut window, Action::LookAtRecord(0));
    window
}

#[test]
fn no_text_is_cut_off_or_on_other_text_at_any_size() {
    let mut wrong = Vec::new();
    for (what, mut window) in [
        ("faults", trained_in(Theme::Light, USUAL)),
        ("EEG", eeg_in(USUAL)),
    ] {
        for (size, scale) in SIZES {
            resize(&mut window, size, scale);
            // In the high window nothing is scrolled out of sight up or down.
            for height in [size.y, HIGH] {
                let size = vec2(size.x, height);
                window.harness.set_size(size);
                let at = format!("{what}, {} × {height}, text {scale}", size.x);
                for_every_page(&mut window, |window, page| {
                    wrong.extend(wrong_on_page(window, &format!("{page} with {at}"), size));
                });
            }
        }
    }
    assert!(wrong.is_empty(), "{} texts: {wrong:#?}", wrong.len());
}

fn resize(window: &mut Window, size: Vec2, scale: f32) {
    window.harness.set_size(size);
    apply(window, Action::SetTextSize(scale));
    window.harness.step();
}

/// The colour that most pixels of a place have.
fn ground(picture: &atomscope::ui::raster::Picture, place: Rect) -> Color32 {
    let mut counts = BTreeMap::new();
    let columns = place.left().max(0.0) as usize..(place.right() as usize).min(picture.width);
    for row in place.top().max(0.0) as usize..(place.bottom() as usize).min(picture.height) {
        for column in columns.clone() {
            let pixel = picture.pixels[row * picture.width + column];
            *counts.entry(pixel).or_insert(0_usize) += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    let [red, green, blue] = most.map_or([0; 3], |(pixel, _)| pixel);
    Color32::from_rgb(red, green, blue)
}

/// Places of controls that cannot be used now: the guidelines ask nothing of their text.
fn disabled(window: &Window) -> Vec<Rect> {
    let nodes = window.harness.root().children_recursive();
    nodes
        .filter(|node| NodeT::accesskit_node(node).is_disabled())
        .map(|node| node.rect())
        .collect()
}

#[test]
fn every_text_has_enough_contrast_in_both_themes() {
    let mut weak = Vec::new();
    for theme in [Theme::Light, Theme::Dark] {
        let mut window = trained_in(theme, USUAL);
        for_every_page(&mut window, |window, page| {
            let picture = window.picture();
            let disabled = disabled(window);
            for text in drawn(window).0.iter().filter(|text| text.is_whole()) {
                let ground = ground(&picture, text.ink.expand(2.0));
                let found = contrast(text.color, ground);
                let is_off = disabled.iter().any(|rect| rect.intersects(text.ink));
                if found < LEAST_CONTRAST && !is_off {
                    let (text, color) = (&text.text, text.color);
                    weak.push(format!(
                        "{theme:?} {page}: “{text}” {color:?} on {ground:?}: {found:.2}"
                    ));
                }
            }
        });
    }
    weak.sort();
    weak.dedup();
    assert!(weak.is_empty(), "{weak:#?}");
}

#[test]
fn every_control_can_be_scrolled_to_at_any_size() {
    let mut out_of_reach = BTreeSet::new();
    let mut window = trained_in(Theme::Light, SMALLEST);
    for (size, scale) in SIZES {
        resize(&mut window, size, scale);
        for_every_page(&mut window, |window, page| {
            let missed = unreachable(window, page, size);
            let at = format!("{page}, {} × {}, text {scale}", size.x, size.y);
            out_of_reach.extend(missed.into_iter().map(|control| format!("{at}: {control}")));
        });
    }
    assert!(out_of_reach.is_empty(), "{out_of_reach:#?}");
}

/// Controls of a page that are not whole in the window even when they are scrolled to.
fn unreachable(window: &mut Window, page: &str, size: Vec2) -> Vec<String> {
    let inside = Rect::from_min_size(egui::Pos2::ZERO, size).expand(1.0);
    let mut missed = BTreeSet::new();
    for (role, name, rect) in controls(window, page) {
        // Rows of the log stand in a list of their own, which scrolls by itself.
        if inside.contains_rect(rect) || name.starts_with("batch ") {
            continue;
        }
        let found = window.harness.query_all_by_role_and_label(role, &name);
        let Some(node) = found.last() else { continue };
        node.scroll_to_me();
        for _ in 0..20 {
            window.harness.step();
        }
        let mut found = window.harness.query_all_by_role_and_label(role, &name);
        if !found.any(|node| inside.contains_rect(node.rect())) {
            missed.insert(format!("{role:?} {name}"));
        }
    }
    if !missed.is_empty() {
        let seen = seen_by_scrolling(window, page, size);
        missed.retain(|control| !seen.contains(control));
    }
    missed.into_iter().collect()
}

/// Controls that are whole somewhere while the wheel is turned over the left and the right part of a page: of a list in
/// a page that scrolls too, a request to be scrolled to moves the list alone.
fn seen_by_scrolling(window: &mut Window, page: &str, size: Vec2) -> BTreeSet<String> {
    let inside = Rect::from_min_size(egui::Pos2::ZERO, size).expand(1.0);
    let mut seen = BTreeSet::new();
    for (share, sideways) in [(0.3, 4000.0), (0.8, 4000.0), (0.3, -4000.0), (0.8, -4000.0)] {
        let place = egui::pos2(size.x * share, size.y * 0.5);
        window.harness.hover_at(place);
        turn_wheel(window, vec2(sideways, 0.0));
        turn_wheel(window, vec2(0.0, 9000.0));
        let mut last = Vec::new();
        for _ in 0..60 {
            let shown = controls(window, page);
            if shown == last {
                break;
            }
            let whole = shown
                .iter()
                .filter(|(.., rect)| inside.contains_rect(*rect));
            seen.extend(whole.map(|(role, name, _)| format!("{role:?} {name}")));
            last = shown;
            turn_wheel(window, vec2(0.0, -0.15 * size.y));
        }
    }
    window.harness.remove_cursor();
    seen
}

/// Letters of the program's own texts, each with the file that has it: what a system without fonts must draw.
fn own_letters(folder: &Path, found: &mut BTreeMap<char, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            own_letters(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
        for line in lines.filter(|line| !line.trim_start().starts_with("//")) {
            let foreign = line.chars().filter(|letter| !letter.is_ascii());
            found.extend(foreign.map(|letter| (letter, path.display().to_string())));
        }
    }
}

#[test]
fn the_programs_own_texts_need_no_font_of_the_system() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let font = fs::read(top.join("assets/Inter-Tabular-Medium.otf")).expect("it is shipped");
    let font = ttf_parser::Face::parse(&font, 0).expect("a font");
    let mut letters = BTreeMap::new();
    for folder in ["src/ui", "src/workbench"] {
        own_letters(&top.join(folder), &mut letters);
    }
    assert!(letters.contains_key(&'µ') || letters.contains_key(&'…'));
    letters.retain(|letter, _| font.glyph_index(*letter).is_none());
    assert!(letters.is_empty(), "{letters:?}");
}

/// Whether the system has fonts for the scripts; without them there is nothing to look at.
fn has_fonts() -> bool {
    ["zh-cn", "he", "ar"].iter().all(|language| {
        let listed = std::process::Command::new("fc-list")
            .arg(format!(":lang={language}"))
            .output();
        listed.is_ok_and(|output| !output.stdout.is_empty())
    })
}

/// A table whose file, columns and classes have names in three scripts.
fn foreign_table(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("测量 מדידה قياس.csv");
    let mut text = "电压幅值,עוצמת הזרם,التردد,类别\n".to_owned();
    let classes = ["正常运行", "תקלה חד־פאזית", "عطل أرضي"];
    for row in 0..120 {
        let class = row % classes.len();
        let value = |column: usize| {
            let noise = ((row * 37 + column * 17) % 23) as f64 / 10.0;
            noise + 3.0 * f64::from(u8::from(column == class))
        };
        let name = classes[class];
        text += &format!("{},{},{},{name}\n", value(0), value(1), value(2));
    }
    fs::write(&path, text).expect("the folder can be written");
    path
}

/// A minute of EEG with annotations in three scripts.
fn foreign_recording(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("脑电图 הקלטה تسجيل.edf");
    let channel = |name: &str| Channel::analog(name, Unit::parse("uV"), Some(128.0), 0);
    let wave = |place: usize| {
        let value = move |k: usize| 20.0 * (k as f64 * (place + 3) as f64 / 40.0).sin();
        (0..60 * 128).map(value).collect::<Vec<f64>>()
    };
    let names = ["Fp1", "Fp2", "C3", "C4", "O1", "O2"];
    let data = names
        .iter()
        .enumerate()
        .map(|(place, name)| (channel(name), wave(place)));
    let mut record = Record::in_memory(Format::Simulated, Kind::Recording, "made", data.collect());
    let texts = [(2.0, "闭眼"), (4.0, "עיניים עצומות"), (6.0, "إغلاق العينين")];
    record.annotations = texts
        .map(|(onset_s, text)| Annotation::new(onset_s, None, text))
        .to_vec();
    write_file(&record, SampleWidth::Edf, &path).expect("the folder can be written");
    path
}

fn open(window: &mut Window, path: &Path) {
    apply(window, Action::Open(path.to_owned()));
    apply(window, Action::DoNotSave);
    until(window, "the data are there", |w: &Workbench| {
        is_ready(w) && !w.is_busy()
    });
}

#[test]
fn names_in_chinese_hebrew_and_arabic_are_drawn_whole_on_every_page() {
    if !has_fonts() {
        eprintln!(
            "skipped: no fonts for Chinese, Hebrew and Arabic; install fonts-noto-core and fonts-noto-cjk"
        );
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut draft = small_draft();
    draft.experiment.learner.n_atoms = 3;
    draft.experiment.learner.sparsity = 2;
    draft.experiment.learner.budget = 20;
    draft.experiment.tests.n_tests = 2;
    let mut workbench = bare_workbench();
    workbench.edit(draft, false);
    let mut window = window_of(Theme::Light, USUAL, App::new(workbench, false));
    // A letter that would be a box ends the test with its name.
    let policy = MissingGlyphPolicy::Panic;
    window.harness.ctx.set_missing_glyph_policy(policy);
    apply(&mut window, Action::SetTextSize(1.5));
    open(&mut window, &foreign_table(folder.path()));
    apply(&mut window, Action::Start);
    until(&mut window, "the run is over", |w| {
        status(w).is_some_and(|status| status.is_over()) && !w.is_busy()
    });
    let recording = foreign_recording(folder.path());
    apply(
        &mut window,
        Action::Explore(ExploreAction::OpenFile(recording)),
    );
    until(&mut window, "the recording is shown", |w| {
        w.explore().eeg().is_some_and(|eeg| eeg.page().is_some())
    });
    let (mut wrong, mut all) = (Vec::new(), String::new());
    for_every_page(&mut window, |window, page| {
        wrong.extend(wrong_on_page(window, page, USUAL));
        each(&window.harness.output().shapes, |shape, _| {
            if let Shape::Text(text) = shape {
                all += &text.galley.job.text;
            }
        });
    });
    for name in [
        "正常运行",
        "תקלה חד־פאזית",
        "عطل أرضي",
        "闭眼",
        "עיניים עצומות",
    ] {
        assert!(all.contains(name), "“{name}” is nowhere");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
