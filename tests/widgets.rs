//! Every widget with realistic data: pictures in both themes, and what clicks and keys do.

mod pictures;

use std::f64::consts::TAU;

use atomscope::evaluation::Confusion;
use atomscope::features::Layout;
use atomscope::learner::Forgetting;
use atomscope::math::Matrix;
use atomscope::ui::icons::{Icon, icon_button};
use atomscope::ui::offscreen::Offscreen;
use atomscope::ui::palette::{class_color, phase_color};
use atomscope::ui::theme::{self, tones};
use atomscope::ui::widgets::{
    AccuracyPlot, Atom, AtomGrid, AtomView, BatchFlow, ClassHistogram, ConfusionMatrix, Curve,
    Edit, FoldStrip, GramMatrix, GroupCell, Health, HealthStrip, Mark, MissingCurve, NumberField,
    PanelAction, PanelHeader, ProfilePanel, RunBar, RunPhase, RunRequest, ScalpMap, SchedulePlot,
    Stage, StageList, StageState, Trace, Waveform,
};
use egui::{Key, Margin, RichText, Theme, Ui, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use pictures::{PictureHarness, assert_picture, write_picture};

const THEMES: [(Theme, &str); 2] = [(Theme::Light, "light"), (Theme::Dark, "dark")];

/// Repeatable numbers between 0 and 1 that look irregular.
fn noise(n: usize) -> f64 {
    let x = (n as f64 * 12.9898).sin() * 43_758.545_3;
    x - x.floor()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn fault_classes() -> Vec<String> {
    names(&["healthy", "SLG", "LL", "LLG", "LLL"])
}

fn confusion(rows: &[&[u64]]) -> Confusion {
    let mut confusion = Confusion::new(rows.len());
    for (truth, row) in rows.iter().enumerate() {
        for (decided, &count) in row.iter().enumerate() {
            (0..count).for_each(|_| confusion.add(truth, decided));
        }
    }
    confusion
}

fn fault_confusion() -> Confusion {
    confusion(&[
        &[80, 0, 0, 0, 0],
        &[1, 76, 3, 0, 0],
        &[0, 2, 74, 4, 0],
        &[0, 0, 9, 69, 2],
        &[0, 0, 0, 1, 79],
    ])
}

fn learning_curve(seed: usize, n: usize, top: f64) -> Vec<[f64; 2]> {
    (0..n)
        .map(|batch| {
            let rise = 1.0 - (-(batch as f64) / 8.0).exp();
            let wobble = (noise(seed * 1000 + batch) - 0.5) * 0.02;
            [batch as f64, (0.62 + (top - 0.62) * rise + wobble).min(1.0)]
        })
        .collect()
}

/// Six phases of a feeder fault: voltages sag, currents rise.
fn fault_atom(kind: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for channel in 0..6 {
        let phase = channel % 3;
        let hit = phase <= kind % 3;
        for point in 0..201 {
            let t = point as f64 / 200.0;
            let fault = if t > 0.35 { 1.0 } else { 0.0 };
            let strength = match (channel < 3, hit) {
                (true, true) => 1.0 - 0.7 * fault * (0.5 + 0.5 * noise(kind)),
                (true, false) => 1.0,
                (false, true) => 0.4 + 3.0 * fault * (0.4 + 0.6 * noise(kind + 7)),
                (false, false) => 0.4 + 0.15 * fault,
            };
            let decay = if channel >= 3 && hit {
                (-(t - 0.35) * 6.0).exp() * fault
            } else {
                0.0
            };
            let angle = TAU * (3.0 * t - phase as f64 / 3.0 + 0.03 * kind as f64);
            values.push(strength * angle.sin() + 0.8 * decay);
        }
    }
    values
}

const ELECTRODES: [(&str, f64, f64); 19] = [
    ("Fp1", -0.31, 0.95),
    ("Fp2", 0.31, 0.95),
    ("F7", -0.81, 0.59),
    ("F3", -0.42, 0.52),
    ("Fz", 0.0, 0.5),
    ("F4", 0.42, 0.52),
    ("F8", 0.81, 0.59),
    ("T7", -1.0, 0.0),
    ("C3", -0.5, 0.0),
    ("Cz", 0.0, 0.0),
    ("C4", 0.5, 0.0),
    ("T8", 1.0, 0.0),
    ("P7", -0.81, -0.59),
    ("P3", -0.42, -0.52),
    ("Pz", 0.0, -0.5),
    ("P4", 0.42, -0.52),
    ("P8", 0.81, -0.59),
    ("O1", -0.31, -0.95),
    ("O2", 0.31, -0.95),
];

fn electrode_places() -> Vec<(f64, f64)> {
    ELECTRODES.iter().map(|&(_, x, y)| (x, y)).collect()
}

fn electrode_names() -> Vec<String> {
    ELECTRODES
        .iter()
        .map(|(name, _, _)| (*name).to_owned())
        .collect()
}

/// Strong at the back in alpha, elsewhere in the other bands.
fn band_atom(kind: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for (x, y) in electrode_places() {
        for band in 0..5 {
            let angle = (kind * 5 + band) as f64;
            let (cx, cy) = (
                0.6 * angle.cos(),
                if band == 2 { -0.8 } else { 0.6 * angle.sin() },
            );
            let near = (-((x - cx).powi(2) + (y - cy).powi(2)) * 2.0).exp();
            values.push(near * 1.4 - 0.4 + 0.1 * noise(kind * 31 + band));
        }
    }
    values
}

fn title(ui: &mut Ui, text: &str) {
    ui.spacing_mut().item_spacing.x = theme::GRID;
    ui.add_space(theme::GRID);
    let tone = tones(ui).strong;
    ui.label(
        RichText::new(text)
            .text_style(theme::panel_title())
            .color(tone),
    );
    ui.add_space(2.0);
}

/// What the gallery remembers between frames.
#[derive(Default)]
struct Gallery {
    cell: Option<(usize, usize)>,
    seek: Option<f64>,
    atom: Option<usize>,
    group: Option<usize>,
    forgetting: Option<Forgetting>,
    edits: Vec<Edit>,
    number: f64,
    problem: Option<String>,
    pressed: usize,
    panel: Option<PanelAction>,
    stage: usize,
    request: Option<RunRequest>,
}

fn page(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    egui::Frame::new()
        .inner_margin(Margin::same(theme::PAGE_MARGIN))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(theme::PANEL_GAP, 6.0);
            contents(ui);
        });
}

fn train_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            title(left, "Accuracy");
            accuracy_ui(left, state);
            title(left, "Profile · class SLG");
            profile_ui(left);
            title(left, "Forgetting");
            schedule_ui(left, state);
            header_ui(right, state);
            confusion_ui(right, state, 300.0);
            title(right, "Dictionary · class SLG · 12 atoms, by use");
            fault_atoms_ui(right, state);
        });
        title(ui, "Health");
        health_ui(ui);
    });
}

fn accuracy_ui(ui: &mut Ui, state: &mut Gallery) {
    let folds: Vec<Vec<[f64; 2]>> = [(0, 61, 0.985), (1, 31, 0.97), (2, 61, 0.955)]
        .into_iter()
        .map(|(seed, n, top)| learning_curve(seed, n, top))
        .collect();
    let folds: Vec<&[[f64; 2]]> = folds.iter().map(Vec::as_slice).collect();
    let earlier = learning_curve(9, 61, 0.92);
    let earlier = [Curve {
        name: "earlier run: Q 20, λ .95",
        points: &earlier,
    }];
    let plot = AccuracyPlot {
        folds: &folds,
        current_fold: Some(1),
        earlier: &earlier,
        replay: state.seek.or(Some(24.0)),
        n_batches: 60.0,
        height: 240.0,
    };
    if let Some(batch) = plot.show(ui) {
        state.seek = Some(batch);
    }
}

fn profile_ui(ui: &mut Ui) {
    let batches: Vec<BatchFlow> = (0..31)
        .map(|batch| {
            let admitted = (10.0 * (-(batch as f64) / 12.0).exp() + 3.0 * noise(batch)).round();
            BatchFlow {
                admitted,
                rejected: 12.0 - admitted.min(12.0),
                removed: if batch > 17 { admitted } else { 0.0 },
            }
        })
        .collect();
    let ages: Vec<f64> = (0..200).map(|n| 30.0 * noise(n).powf(1.6)).collect();
    ProfilePanel {
        class_name: "SLG",
        class_color: class_color(1),
        n_kept: 184,
        budget: 200,
        batches: &batches,
        ages: &ages,
        height: 150.0,
    }
    .show(ui);
}

fn schedule_ui(ui: &mut Ui, state: &mut Gallery) {
    let mut schedule = state.forgetting.unwrap_or(Forgetting::PAPER);
    let plot = SchedulePlot {
        n_rounds: 60,
        current_round: Some(31),
        height: 190.0,
    };
    let edit = plot.show(ui, &mut schedule);
    if edit != Edit::default() {
        state.edits.push(edit);
    }
    state.forgetting = Some(schedule);
}

fn header_ui(ui: &mut Ui, state: &mut Gallery) {
    ui.spacing_mut().item_spacing.x = theme::GRID;
    let header = PanelHeader {
        title: "Confusion",
        detail: "fold 2, batch 30 · 400 test records",
        enlarged: false,
    };
    if let Some(action) = header.show(ui) {
        state.panel = Some(action);
    }
}

fn confusion_ui(ui: &mut Ui, state: &mut Gallery, height: f32) {
    let matrix = ConfusionMatrix {
        class_names: &fault_classes(),
        confusion: &fault_confusion(),
        selected: state.cell,
        height,
    };
    if let Some(cell) = matrix.show(ui) {
        state.cell = Some(cell);
    }
}

fn fault_atoms_ui(ui: &mut Ui, state: &mut Gallery) {
    let values: Vec<Vec<f64>> = (0..12).map(fault_atom).collect();
    let atoms: Vec<Atom<'_>> = values
        .iter()
        .enumerate()
        .map(|(index, values)| Atom {
            index,
            values,
            use_share: if index == 11 {
                0.0
            } else {
                0.14 / (1.0 + index as f64 * 0.3)
            },
            changed: index % 4 == 1,
        })
        .collect();
    let grid = AtomGrid {
        name: "Atoms of SLG",
        layout: Layout::Waveform {
            n_channels: 6,
            n_points: 201,
        },
        electrodes: &[],
        band_names: &[],
        atoms: &atoms,
        view: AtomView::StrongestSample,
        selected: state.atom,
        zoom: 1.0,
        height: 380.0,
    };
    if let Some(atom) = grid.show(ui).chosen {
        state.atom = Some(atom);
    }
}

fn health_ui(ui: &mut Ui) {
    let health = Health {
        drift: 3.1e-13,
        smallest_pivot: 2.2e-4,
        condition: 4.1e9,
        unused_atoms: 1,
        n_atoms: 30,
        repairs: 2,
    };
    HealthStrip { health }.show(ui);
}

fn eeg_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        title(ui, "Dictionary · class closed eyes · scalp maps");
        let values: Vec<Vec<f64>> = (0..8).map(band_atom).collect();
        let places: Vec<_> = electrode_places().into_iter().map(Some).collect();
        eeg_atoms_ui(ui, state, "Atoms by scalp", &values, &places, 200.0);
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            title(left, "Channel × band maps");
            eeg_atoms_ui(left, state, "Atoms by channel", &values, &[], 200.0);
            title(middle, "Scalp map");
            scalp_ui(middle);
            title(right, "Gram matrix of atoms");
            gram_ui(right);
        });
        ui.columns(3, |columns| {
            let [left, middle, right] = columns else {
                return;
            };
            title(left, "16 × 16 images");
            image_atoms_ui(left);
            title(middle, "Bars");
            bar_atoms_ui(middle);
            title(right, "Distribution of C3 alpha");
            histogram_ui(right);
        });
    });
}

fn eeg_atoms_ui(
    ui: &mut Ui,
    state: &mut Gallery,
    name: &str,
    values: &[Vec<f64>],
    places: &[Option<(f64, f64)>],
    height: f32,
) {
    let atoms: Vec<Atom<'_>> = values
        .iter()
        .enumerate()
        .map(|(index, values)| Atom {
            index,
            values,
            use_share: 0.2 - 0.02 * index as f64,
            changed: index == 2,
        })
        .collect();
    let grid = AtomGrid {
        name,
        layout: Layout::ChannelBand {
            n_channels: 19,
            n_bands: 5,
        },
        electrodes: places,
        band_names: &names(&["delta", "theta", "alpha", "beta", "gamma"]),
        atoms: &atoms,
        view: AtomView::PreImage,
        selected: None,
        zoom: 1.0,
        height,
    };
    if let Some(atom) = grid.show(ui).chosen {
        state.atom = Some(atom);
    }
}

fn scalp_ui(ui: &mut Ui) {
    let places = electrode_places();
    let values: Vec<f64> = places
        .iter()
        .map(|(x, y)| -9.0 * (y + 0.1) + 2.0 * x)
        .collect();
    ScalpMap {
        title: "alpha, closed − open",
        positions: &places,
        names: &electrode_names(),
        values: &values,
        scale: 10.0,
        signed: true,
        unit: "µV",
        size: 180.0,
    }
    .show(ui);
}

fn gram_ui(ui: &mut Ui) {
    let gram = Matrix::from_fn(30, 30, |i, j| {
        if i == j {
            1.0
        } else {
            0.7 * (-((i as f64 - j as f64) / 6.0).powi(2)).exp()
                - 0.2 * noise(i * 30 + j) * noise(j * 30 + i)
        }
    });
    GramMatrix {
        gram: gram.view(),
        item: "atom",
        size: 190.0,
    }
    .show(ui);
}

fn image_atoms_ui(ui: &mut Ui) {
    let values: Vec<Vec<f64>> = (0..3)
        .map(|kind| {
            (0..256)
                .map(|place| {
                    let (x, y) = ((place % 16) as f64 - 7.5, (place / 16) as f64 - 7.5);
                    let radius = x.hypot(y * (1.0 + kind as f64 * 0.3));
                    (-(radius - 5.0).powi(2) / 3.0).exp() - 0.15
                })
                .collect()
        })
        .collect();
    let layout = Layout::Image {
        n_rows: 16,
        n_columns: 16,
        by_columns: false,
    };
    plain_atoms_ui(ui, "Atoms as images", layout, &values);
}

fn bar_atoms_ui(ui: &mut Ui) {
    let values: Vec<Vec<f64>> = (0..2)
        .map(|kind| (0..24).map(|n| noise(kind * 50 + n) - 0.35).collect())
        .collect();
    plain_atoms_ui(ui, "Atoms as bars", Layout::Plain, &values);
}

fn plain_atoms_ui(ui: &mut Ui, name: &str, layout: Layout, values: &[Vec<f64>]) {
    let atoms: Vec<Atom<'_>> = values
        .iter()
        .enumerate()
        .map(|(index, values)| Atom {
            index,
            values,
            use_share: 0.3,
            changed: false,
        })
        .collect();
    AtomGrid {
        name,
        layout,
        electrodes: &[],
        band_names: &[],
        atoms: &atoms,
        view: AtomView::Itself,
        selected: Some(1),
        zoom: 1.0,
        height: ui.available_height().clamp(150.0, 900.0),
    }
    .show(ui);
}

fn histogram_ui(ui: &mut Ui) {
    let class_names = names(&["closed eyes", "open eyes"]);
    let normal = |seed: usize, n: usize| -> f64 {
        (0..6).map(|k| noise(seed + 7 * n + 1300 * k)).sum::<f64>() - 3.0
    };
    let values: Vec<Vec<f64>> = [(0, 1.2, 6.0), (5000, 0.8, 3.5)]
        .into_iter()
        .map(|(seed, spread, mean)| (0..600).map(|n| mean + spread * normal(seed, n)).collect())
        .collect();
    ClassHistogram {
        feature_name: "C3 alpha",
        class_names: &class_names,
        values: &values,
        height: 170.0,
    }
    .show(ui);
}

fn settings_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        ui.columns(2, |columns| {
            let [left, right] = columns else { return };
            title(left, "Settings");
            fields_ui(left, state);
            title(left, "Folds by subject");
            folds_ui(left, state);
            title(left, "Accuracy with missing features");
            missing_ui(left);
            title(right, "Fault record F014");
            fault_record_ui(right);
            title(right, "EEG, 4 s");
            recording_ui(right);
            title(right, "Icons");
            icons_ui(right, state);
        });
    });
}

fn fields_ui(ui: &mut Ui, state: &mut Gallery) {
    let problem = state.problem.clone();
    let field = NumberField {
        label: "Atoms per class",
        symbol: "Q",
        help: "More atoms describe a class more finely and cost more time",
        unit: "",
        range: 1.0..=100.0,
        logarithmic: false,
        whole: true,
        default: 30.0,
        problem: problem.as_deref(),
    };
    let edit = field.show(ui, &mut state.number);
    if edit != Edit::default() {
        state.edits.push(edit);
    }
    state.problem = (state.number < 1.0).then(|| {
        format!(
            "the number of atoms must be at least 1, but is {}",
            state.number
        )
    });
    ui.add_space(theme::GRID);
    let mut gamma = 1e-4;
    NumberField {
        label: "Regularisation",
        symbol: "γ",
        help: "Keeps weakly determined atoms from growing without bound",
        unit: "",
        range: 1e-6..=1.0,
        logarithmic: true,
        whole: false,
        default: 1e-4,
        problem: None,
    }
    .show(ui, &mut gamma);
    ui.add_space(theme::GRID);
    let mut sparsity = 45.0;
    NumberField {
        label: "Atoms per code",
        symbol: "s",
        help: "How many atoms may describe one sample",
        unit: "",
        range: 1.0..=30.0,
        logarithmic: false,
        whole: true,
        default: 5.0,
        problem: Some("sparsity must be 1 to 30, but is 45"),
    }
    .show(ui, &mut sparsity);
}

fn folds_ui(ui: &mut Ui, state: &mut Gallery) {
    let subjects: Vec<String> = (1..=28).map(|n| format!("S{n:02}")).collect();
    let groups: Vec<GroupCell<'_>> = subjects
        .iter()
        .enumerate()
        .map(|(place, name)| GroupCell {
            name,
            fold: Some((place * 7 + place / 5) % 5),
            n_samples: 40 + place % 3,
        })
        .collect();
    let strip = FoldStrip {
        groups: &groups,
        n_folds: 5,
        current_fold: None,
    };
    if let Some(group) = strip.show(ui) {
        state.group = Some(group);
    }
}

fn missing_ui(ui: &mut Ui) {
    let curve = |slope: f64| -> Vec<[f64; 2]> {
        (0..10)
            .map(|step| {
                let share = f64::from(step) / 10.0;
                [share, 0.98 - slope * share * share]
            })
            .collect()
    };
    let (margin, krls) = (curve(0.35), curve(0.6));
    MissingCurve {
        curves: &[
            Curve {
                name: "margin-aware",
                points: &margin,
            },
            Curve {
                name: "as published",
                points: &krls,
            },
        ],
        height: 230.0,
    }
    .show(ui);
}

fn fault_record_ui(ui: &mut Ui) {
    let theme = theme::theme_of(ui);
    let atom = fault_atom(0);
    let channels = ["Va", "Vb", "Vc", "Ia", "Ib", "Ic"];
    let traces: Vec<Trace<'_>> = channels
        .iter()
        .enumerate()
        .map(|(place, name)| Trace {
            name,
            values: &atom[place * 201..(place + 1) * 201],
            color: phase_color(place % 3, theme),
            lane: place / 3,
        })
        .collect();
    Waveform {
        name: "Fault record F014",
        traces: &traces,
        rate_hz: 3350.0,
        start_s: -0.02,
        lane_units: &["pu", "pu"],
        marks: &[Mark {
            time_s: 0.001,
            text: "inception",
        }],
        height: 240.0,
    }
    .show(ui);
}

fn recording_ui(ui: &mut Ui) {
    let color = tones(ui).text;
    let channels: Vec<Vec<f64>> = (0..6)
        .map(|channel| {
            (0..2000)
                .map(|n| {
                    if channel == 2 && (700..860).contains(&n) {
                        return f64::NAN;
                    }
                    let t = n as f64 / 500.0;
                    let alpha = (TAU * (10.0 + 0.2 * channel as f64) * t).sin()
                        * (1.0 + (TAU * 0.4 * t).sin());
                    12.0 * alpha + 14.0 * (noise(n * 7 + channel) - 0.5)
                })
                .collect()
        })
        .collect();
    let electrodes = ["F3", "F4", "C3", "C4", "O1", "O2"];
    let traces: Vec<Trace<'_>> = channels
        .iter()
        .zip(electrodes)
        .enumerate()
        .map(|(lane, (values, name))| Trace {
            name,
            values,
            color,
            lane,
        })
        .collect();
    Waveform {
        name: "EEG quick look",
        traces: &traces,
        rate_hz: 500.0,
        start_s: 0.0,
        lane_units: &["µV"; 6],
        marks: &[],
        height: 300.0,
    }
    .show(ui);
}

fn icons_ui(ui: &mut Ui, state: &mut Gallery) {
    ui.horizontal_wrapped(|ui| {
        for icon in Icon::ALL {
            if icon_button(ui, icon, &format!("{icon:?}")).clicked() {
                state.pressed += 1;
            }
        }
        ui.add_enabled_ui(false, |ui| icon_button(ui, Icon::Play, "disabled"));
    });
}

fn many_classes_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        let letters: Vec<String> = ('A'..='Z').map(String::from).collect();
        let mut confusion = Confusion::new(26);
        for truth in 0..26 {
            (0..52 + truth).for_each(|_| confusion.add(truth, truth));
            (0..truth % 5).for_each(|step| confusion.add(truth, (truth * 7 + step * step) % 26));
        }
        title(ui, "Confusion · 26 letters");
        let matrix = ConfusionMatrix {
            class_names: &letters,
            confusion: &confusion,
            selected: Some((3, 21)),
            height: 560.0,
        };
        if let Some(cell) = matrix.show(ui) {
            state.cell = Some(cell);
        }
        title(ui, "Long names in little room");
        let classes = names(&["single line to ground", "line to line", "three lines"]);
        ConfusionMatrix {
            class_names: &classes,
            confusion: &self::confusion(&[&[31, 2, 0], &[0, 12, 1], &[0, 0, 0]]),
            selected: None,
            height: 230.0,
        }
        .show(ui);
    });
}

fn frame_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        let stage = |name, state, summary| Stage {
            name,
            state,
            summary,
            help: "What this stage is for",
        };
        let stages = [
            stage("Records", StageState::Ready, "2000 records · 5 classes"),
            stage("Features", StageState::Ready, "6 × 201 waveform, per unit"),
            stage("Split", StageState::Ready, "5 folds, grouped · clean"),
            stage(
                "Learner",
                StageState::Failed,
                "sparsity must be 1 to 30, but is 45",
            ),
            stage("Train", StageState::Running, "fold 2 of 5, batch 31 of 60"),
            stage(
                "Evaluate",
                StageState::Stale,
                "Q changed after this training was evaluated",
            ),
        ];
        ui.allocate_ui(vec2(260.0, 340.0), |ui| {
            let list = StageList {
                stages: &stages,
                current: state.stage,
            };
            if let Some(stage) = list.show(ui) {
                state.stage = stage;
            }
        });
        ui.separator();
        let facts = names(&[
            "fold 2/5",
            "batch 31/60",
            "98.4 %",
            "41 k samples/s",
            "0:12 left",
        ]);
        let bars = [
            (RunPhase::Running, None, Some(0.62), 1),
            (
                RunPhase::Idle,
                Some("sparsity must be 1 to 30, but is 45"),
                None,
                0,
            ),
        ];
        for (place, (phase, obstacle, progress, n_notices)) in bars.into_iter().enumerate() {
            let bar = RunBar {
                phase,
                obstacle,
                progress,
                facts: if place == 0 { &facts } else { &[] },
                n_notices,
            };
            let asked = ui.push_id(place, |ui| bar.show(ui)).inner;
            state.request = asked.or(state.request);
        }
    });
}

type Page = fn(&mut Ui, &mut Gallery);

const PAGES: [(&str, Page, [f32; 2]); 5] = [
    ("frame", frame_page, [900.0, 500.0]),
    ("train", train_page, [1240.0, 880.0]),
    ("eeg", eeg_page, [1240.0, 920.0]),
    ("settings", settings_page, [1240.0, 820.0]),
    ("many-classes", many_classes_page, [760.0, 960.0]),
];

fn gallery(
    page: Page,
    size: [f32; 2],
    theme: Theme,
    scale: f32,
) -> PictureHarness<'static, Gallery> {
    let state = Gallery {
        number: 30.0,
        ..Gallery::default()
    };
    PictureHarness::new(vec2(size[0], size[1]), scale, theme, state, page)
}

#[test]
fn the_gallery_looks_as_it_did_in_both_themes() {
    for (theme, theme_name) in THEMES {
        for (name, page, size) in PAGES {
            let window = gallery(page, size, theme, 1.0);
            let picture = window.picture();
            let name = format!("widgets-{name}-{theme_name}");
            write_picture(&name, &picture);
            assert_picture(&name, &picture);
        }
    }
}

#[test]
fn a_scale_of_two_doubles_every_side() {
    let (name, page, size) = PAGES[1];
    let picture = gallery(page, size, Theme::Light, 2.0).picture();
    write_picture(&format!("widgets-{name}-double"), &picture);
    assert_eq!((picture.width, picture.height), (2480, 1760));
}

#[test]
fn larger_text_fits_the_same_pages() {
    for (name, page, size) in PAGES {
        let larger_page = move |ui: &mut Ui, state: &mut Gallery| {
            theme::set_text_scale(ui.ctx(), 1.3);
            page(ui, state);
        };
        let state = Gallery {
            number: 30.0,
            ..Gallery::default()
        };
        let size = vec2(size[0], size[1] * 1.15);
        let mut window = PictureHarness::new(size, 1.0, Theme::Light, state, larger_page);
        window.harness.run();
        write_picture(&format!("widgets-{name}-larger"), &window.picture());
        let right_edge = window.harness.ctx.content_rect().right();
        for node in window.harness.root().children_recursive() {
            let bounds = node.accesskit_node().raw_bounds();
            let right = bounds.map_or(0.0, |bounds| bounds.x1 as f32);
            assert!(
                right <= right_edge + 1.0,
                "{name}: {node:?} ends at {right}"
            );
        }
    }
}

#[test]
fn a_tooltip_tells_symbol_default_and_range() {
    let mut window = gallery(settings_page, [1240.0, 820.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Atoms per class").hover();
    harness.run_steps(8);
    harness.get_by_label("Q in the paper · default 30 · sensible 1 to 100");
    write_picture("widgets-tooltip", &window.picture());
}

#[test]
fn a_confusion_cell_answers_to_click_and_keys() {
    let mut window = gallery(train_page, [1240.0, 880.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness
        .get_by_label("true SLG, predicted LL: 3 of 80")
        .click();
    harness.run();
    assert_eq!(harness.state().cell, Some((1, 2)));
    for key in [Key::ArrowDown, Key::ArrowDown, Key::ArrowLeft] {
        harness.key_press(key);
        harness.run();
    }
    let grid = harness.get_by_label("Confusion matrix");
    assert_eq!(
        grid.value().as_deref(),
        Some("true LLG, predicted SLG: 0 of 80")
    );
    write_picture("widgets-focus", &window.picture());
    let harness = &mut window.harness;
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().cell, Some((3, 1)));
    for _ in 0..9 {
        harness.key_press(Key::ArrowUp);
    }
    harness.key_press(Key::Space);
    harness.run();
    assert_eq!(harness.state().cell, Some((0, 1)));
}

#[test]
fn an_atom_answers_to_click_and_keys() {
    let mut window = gallery(train_page, [1240.0, 880.0], Theme::Dark, 1.0);
    let harness = &mut window.harness;
    let label = "atom 2: used by 10.8 % of the codes, changed since you looked";
    harness.get_by_label(label).click();
    harness.run();
    assert_eq!(harness.state().atom, Some(1));
    harness.key_press(Key::ArrowRight);
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().atom, Some(2));
}

#[test]
fn the_accuracy_plot_is_replayed_by_click_and_arrows() {
    let mut window = gallery(train_page, [1240.0, 880.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    let plot = harness.get_by_label_contains("Accuracy against mini-batches");
    let middle = plot.rect().center();
    plot.click();
    harness.run();
    let sought = harness.state().seek.expect("a click asks for a batch");
    assert!((20.0..40.0).contains(&sought), "{sought} at {middle}");
    harness.state_mut().seek = Some(20.0);
    harness
        .get_by_label_contains("Accuracy against mini-batches")
        .focus();
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert_eq!(harness.state().seek, Some(21.0));
    harness.key_press(Key::ArrowLeft);
    harness.run();
    assert_eq!(harness.state().seek, Some(20.0));
}

#[test]
fn the_schedule_moves_by_drag_and_keys_and_says_when_it_is_done() {
    let mut window = gallery(train_page, [1240.0, 880.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    let start = harness
        .get_by_label_contains("Start value of λ")
        .rect()
        .center();
    harness.drag_at(start);
    harness.run();
    harness.hover_at(start + vec2(0.0, 20.0));
    harness.run();
    let dragged = harness.state().forgetting.expect("drawn").start_value;
    assert!(dragged < 0.98 && dragged > 0.95, "{dragged}");
    assert!(harness.state().edits.iter().all(|edit| !edit.finished));
    harness.drop_at(start + vec2(0.0, 20.0));
    harness.run();
    assert!(harness.state().edits.iter().any(|edit| edit.finished));

    harness.get_by_label_contains("End of the ramp").focus();
    harness.run();
    harness.key_press(Key::ArrowLeft);
    harness.run();
    let ramp = harness.state().forgetting.expect("drawn").ramp_share;
    assert!((ramp - 0.79).abs() < 1e-9, "{ramp}");
}

#[test]
fn a_wrong_number_says_why_and_the_edit_ends_when_the_field_is_left() {
    let mut window = gallery(settings_page, [1240.0, 820.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    assert!(
        harness
            .query_by_label_contains("must be at least 1")
            .is_none()
    );
    harness.get_by_label("Atoms per class").click();
    harness.run();
    harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::A);
    harness.event(egui::Event::Text("0".to_owned()));
    harness.run();
    assert_eq!(harness.state().number, 0.0);
    harness.get_by_label("the number of atoms must be at least 1, but is 0");
    assert!(harness.state().edits.iter().all(|edit| !edit.finished));
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.state().edits.iter().any(|edit| edit.finished));
}

#[test]
fn a_slider_moves_by_key_in_one_edit() {
    let mut window = gallery(settings_page, [1240.0, 820.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Atoms per class slider").focus();
    harness.run();
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert_eq!(harness.state().number, 31.0);
    harness.key_press(Key::Tab);
    harness.run();
    assert!(harness.state().edits.iter().any(|edit| edit.finished));
}

#[test]
fn groups_and_icon_buttons_answer_to_their_names() {
    let mut window = gallery(settings_page, [1240.0, 820.0], Theme::Dark, 1.0);
    let harness = &mut window.harness;
    harness
        .get_by_label("S03: tested in fold 5, 42 samples")
        .click();
    harness.run();
    assert_eq!(harness.state().group, Some(2));
    harness.get_by_label("Play").click();
    harness.run();
    harness.get_by_label("disabled").click();
    harness.run();
    assert_eq!(harness.state().pressed, 1);
}

#[test]
fn stages_and_run_bar_answer_to_click_and_keys() {
    let mut window = gallery(frame_page, [900.0, 500.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness
        .get_by_label("Split, ready: 5 folds, grouped · clean")
        .click();
    harness.run();
    assert_eq!(harness.state().stage, 2);
    let pauses: Vec<_> = harness.get_all_by_label("Pause").collect();
    pauses[0].click();
    harness.run();
    assert_eq!(harness.state().request, Some(RunRequest::Pause));
    harness.get_by_label("1 notice").focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().request, Some(RunRequest::Notices));
    harness.state_mut().request = None;
    let starts: Vec<_> = harness.get_all_by_label("Start").collect();
    starts.iter().for_each(|start| start.click());
    harness.run();
    assert_eq!(
        harness.state().request,
        None,
        "one runs already, the other cannot start"
    );
}

#[test]
fn panels_ask_to_be_enlarged_and_hidden() {
    let mut window = gallery(train_page, [1240.0, 880.0], Theme::Dark, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Enlarge Confusion").click();
    harness.run();
    assert_eq!(harness.state().panel, Some(PanelAction::ToggleSize));
    harness.get_by_label("Hide Confusion").focus();
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert_eq!(harness.state().panel, Some(PanelAction::Hide));
}

#[test]
fn the_gram_matrix_is_read_by_arrow_keys() {
    let mut window = gallery(eeg_page, [1240.0, 920.0], Theme::Light, 1.0);
    let harness = &mut window.harness;
    harness.get_by_label("Gram matrix of 30 atoms").focus();
    harness.run();
    harness.key_press(Key::ArrowDown);
    harness.run();
    let value = harness.get_by_label("Gram matrix of 30 atoms").value();
    assert!(value.is_some_and(|text| text.starts_with("atom 2 with 1: ")));
}

#[test]
fn widgets_without_data_draw_nothing_and_do_not_fail() {
    let empty_page = |ui: &mut Ui, _: &mut Gallery| {
        ConfusionMatrix {
            class_names: &[],
            confusion: &Confusion::new(0),
            selected: None,
            height: 100.0,
        }
        .show(ui);
        AccuracyPlot {
            folds: &[],
            current_fold: Some(3),
            earlier: &[],
            replay: None,
            n_batches: 0.0,
            height: 100.0,
        }
        .show(ui);
        plain_atoms_ui(ui, "No atoms", Layout::Plain, &[]);
        plain_atoms_ui(
            ui,
            "Empty atoms",
            Layout::Waveform {
                n_channels: 6,
                n_points: 0,
            },
            &[vec![]],
        );
        plain_atoms_ui(
            ui,
            "Odd atoms",
            Layout::ChannelBand {
                n_channels: 3,
                n_bands: 2,
            },
            &[vec![f64::NAN]],
        );
        FoldStrip {
            groups: &[],
            n_folds: 0,
            current_fold: None,
        }
        .show(ui);
        let gram = Matrix::zeros(0, 0);
        GramMatrix {
            gram: gram.view(),
            item: "atom",
            size: 80.0,
        }
        .show(ui);
        Waveform {
            name: "nothing",
            traces: &[],
            rate_hz: 0.0,
            start_s: f64::NAN,
            lane_units: &[],
            marks: &[],
            height: 50.0,
        }
        .show(ui);
        ClassHistogram {
            feature_name: "none",
            class_names: &[],
            values: &[],
            height: 80.0,
        }
        .show(ui);
        MissingCurve {
            curves: &[],
            height: 80.0,
        }
        .show(ui);
        ScalpMap {
            title: "none",
            positions: &[],
            names: &[],
            values: &[],
            scale: 1.0,
            signed: true,
            unit: "",
            size: 60.0,
        }
        .show(ui);
        ProfilePanel {
            class_name: "none",
            class_color: class_color(0),
            n_kept: 0,
            budget: 0,
            batches: &[],
            ages: &[],
            height: 90.0,
        }
        .show(ui);
    };
    let window = PictureHarness::new(
        vec2(600.0, 900.0),
        1.0,
        Theme::Light,
        Gallery::default(),
        empty_page,
    );
    assert_eq!(window.picture().width, 600);
}

/// Thread CPU time of building and tessellating a frame, in milliseconds: median and worst.
fn frame_cost_ms(mut page: impl FnMut(&mut Ui)) -> (f64, f64) {
    let mut window = Offscreen::new(vec2(1600.0, 1000.0), 1.0, Theme::Light);
    let mut costs: Vec<f64> = (0..60)
        .map(|_| {
            let before = cpu_time::ThreadTime::now();
            window.frame(&mut page);
            let primitives = window.context.tessellate(window.shapes(), 1.0);
            assert!(!primitives.is_empty());
            before.elapsed().as_secs_f64() * 1e3
        })
        .skip(5)
        .collect();
    costs.sort_by(f64::total_cmp);
    (costs[costs.len() / 2], costs[costs.len() - 1])
}

/// The bounds are far above what is measured; the figures are printed.
#[test]
fn frames_and_pictures_are_cheap() {
    let values: Vec<Vec<f64>> = (0..30).map(fault_atom).collect();
    let layout = Layout::Waveform {
        n_channels: 6,
        n_points: 201,
    };
    let atoms = frame_cost_ms(|ui| plain_atoms_ui(ui, "Thirty atoms", layout, &values));
    println!(
        "30 atoms of 1206 points: median {:.2} ms, worst {:.2} ms",
        atoms.0, atoms.1
    );
    let mut state = Gallery::default();
    let letters = frame_cost_ms(|ui| many_classes_page(ui, &mut state));
    println!(
        "26 classes: median {:.2} ms, worst {:.2} ms",
        letters.0, letters.1
    );
    let train = frame_cost_ms(|ui| train_page(ui, &mut state));
    println!(
        "training page: median {:.2} ms, worst {:.2} ms",
        train.0, train.1
    );
    for (median, _) in [atoms, letters, train] {
        assert!(median < 16.0, "{median}");
    }

    let window = gallery(train_page, [1600.0, 1000.0], Theme::Light, 1.0);
    let before = cpu_time::ThreadTime::now();
    let picture = window.picture();
    let paint_ms = before.elapsed().as_secs_f64() * 1e3;
    println!("picture of 1600 × 1000: {paint_ms:.0} ms");
    assert_eq!(picture.width, 1600);
    assert!(paint_ms < 1500.0);
}
