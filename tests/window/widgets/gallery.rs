//! Pages that show every widget at work.

use std::f64::consts::TAU;

use atomscope::ui::icons::{Icon, icon_button};
use atomscope::ui::palette::{class_color, phase_color};
use atomscope::ui::theme::{self, tones};
use atomscope::ui::widgets::{
    AccuracyPlot, Atom, AtomGrid, AtomView, BatchFlow, ChartPlot, ClassHistogram, ConfusionMatrix,
    Curve, Edit, FoldStrip, GramMatrix, GroupCell, HealthNumbers, HealthStrip, MapLabels,
    NumberField, PanelAction, PanelHeader, ProfilePanel, RunBar, RunPhase, RunRequest, ScalpMap,
    SchedulePlot, StageList, StageMark, StageRow, TimeMark, Trace, Waveform,
};
use atomscope::workbench::{Gravity, PanelMove};
use atomscope_engine::evaluation::Confusion;
use atomscope_engine::export::{Chart, Series};
use atomscope_engine::features::Layout;
use atomscope_engine::learner::Forgetting;
use atomscope_engine::math::Matrix;
use egui::{Margin, RichText, Theme, Ui, vec2};

use super::sample_data::{
    band_atom, confusion, electrode_names, electrode_places, fault_atom, fault_classes,
    fault_confusion, learning_curve, names, noise,
};
use crate::pictures::PictureHarness;

pub(crate) fn title(ui: &mut Ui, text: &str) {
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
pub(crate) struct Gallery {
    pub(crate) cell: Option<(usize, usize)>,
    pub(crate) seek: Option<f64>,
    pub(crate) atom: Option<usize>,
    pub(crate) group: Option<usize>,
    pub(crate) forgetting: Option<Forgetting>,
    pub(crate) edits: Vec<Edit>,
    pub(crate) number: f64,
    pub(crate) problem: Option<String>,
    pub(crate) pressed: usize,
    pub(crate) panel: Option<PanelAction>,
    pub(crate) stage: usize,
    pub(crate) request: Option<RunRequest>,
}

pub(crate) fn page(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    egui::Frame::new()
        .inner_margin(Margin::same(theme::PAGE_MARGIN))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(theme::PANEL_GAP, 6.0);
            contents(ui);
        });
}

pub(crate) fn train_page(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn accuracy_ui(ui: &mut Ui, state: &mut Gallery) {
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
        marks: &[(40, "L_max (200 → 150)".to_owned())],
        replay: state.seek.or(Some(24.0)),
        n_batches: 60.0,
        height: 240.0,
    };
    if let Some(batch) = plot.show(ui) {
        state.seek = Some(batch);
    }
}

pub(crate) fn profile_ui(ui: &mut Ui) {
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

pub(crate) fn schedule_ui(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn header_ui(ui: &mut Ui, state: &mut Gallery) {
    ui.spacing_mut().item_spacing.x = theme::GRID;
    let header = PanelHeader {
        title: "Confusion",
        detail: "fold 2, batch 30 · 400 test records",
        enlarged: false,
        moves: &PanelMove::ALL,
    };
    if let Some(action) = header.show(ui) {
        state.panel = Some(action);
    }
}

pub(crate) fn confusion_ui(ui: &mut Ui, state: &mut Gallery, height: f32) {
    let matrix = ConfusionMatrix {
        several_and_none: None,
        class_names: &fault_classes(),
        confusion: &fault_confusion(),
        selected: state.cell,
        height,
    };
    if let Some(cell) = matrix.show(ui) {
        state.cell = Some(cell);
    }
}

pub(crate) fn fault_atoms_ui(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn health_ui(ui: &mut Ui) {
    let health = HealthNumbers {
        drift: 3.1e-13,
        smallest_pivot: 2.2e-4,
        condition: 4.1e9,
        unused_atoms: 1,
        n_atoms: 30,
        repairs: 2,
        n_batches: 30,
    };
    HealthStrip { health }.show(ui);
}

pub(crate) fn eeg_page(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn eeg_atoms_ui(
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

pub(crate) fn scalp_ui(ui: &mut Ui) {
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

pub(crate) fn gram_ui(ui: &mut Ui) {
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
        labels: MapLabels::Numbered("atom"),
        size: 190.0,
    }
    .show(ui);
}

pub(crate) fn image_atoms_ui(ui: &mut Ui) {
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

pub(crate) fn bar_atoms_ui(ui: &mut Ui) {
    let values: Vec<Vec<f64>> = (0..2)
        .map(|kind| (0..24).map(|n| noise(kind * 50 + n) - 0.35).collect())
        .collect();
    plain_atoms_ui(ui, "Atoms as bars", Layout::Plain, &values);
}

pub(crate) fn plain_atoms_ui(ui: &mut Ui, name: &str, layout: Layout, values: &[Vec<f64>]) {
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

pub(crate) fn histogram_ui(ui: &mut Ui) {
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

pub(crate) fn settings_page(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn fields_ui(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn folds_ui(ui: &mut Ui, state: &mut Gallery) {
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

pub(crate) fn missing_ui(ui: &mut Ui) {
    let curve = |slope: f64| -> Vec<[f64; 2]> {
        (0..10)
            .map(|step| {
                let share = f64::from(step) / 10.0;
                [share, 0.98 - slope * share * share]
            })
            .collect()
    };
    let (margin, krls) = (curve(0.35), curve(0.6));
    let series = |name: &str, points: Vec<[f64; 2]>, place| Series {
        points,
        ..Series::of_curve(name, &[], place)
    };
    let series = vec![
        series("margin-aware", margin, 0),
        series("as published", krls, 1),
    ];
    ChartPlot {
        chart: &Chart::over_shares("Accuracy with features missing", "features missing", series),
        height: 230.0,
    }
    .show(ui);
}

pub(crate) fn fault_record_ui(ui: &mut Ui) {
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
        marks: &[TimeMark {
            time_s: 0.001,
            text: "inception",
        }],
        height: 240.0,
    }
    .show(ui);
}

pub(crate) fn recording_ui(ui: &mut Ui) {
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

pub(crate) fn icons_ui(ui: &mut Ui, state: &mut Gallery) {
    ui.horizontal_wrapped(|ui| {
        for icon in Icon::ALL {
            if icon_button(ui, icon, &format!("{icon:?}")).clicked() {
                state.pressed += 1;
            }
        }
        ui.add_enabled_ui(false, |ui| icon_button(ui, Icon::Play, "disabled"));
    });
}

pub(crate) fn many_classes_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        let letters: Vec<String> = ('A'..='Z').map(String::from).collect();
        let mut confusion = Confusion::new(26);
        for truth in 0..26 {
            (0..52 + truth).for_each(|_| confusion.add(truth, truth));
            (0..truth % 5).for_each(|step| confusion.add(truth, (truth * 7 + step * step) % 26));
        }
        title(ui, "Confusion · 26 letters");
        let matrix = ConfusionMatrix {
            several_and_none: None,
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
            several_and_none: None,
            class_names: &classes,
            confusion: &self::confusion(&[&[31, 2, 0], &[0, 12, 1], &[0, 0, 0]]),
            selected: None,
            height: 230.0,
        }
        .show(ui);
    });
}

pub(crate) fn frame_page(ui: &mut Ui, state: &mut Gallery) {
    page(ui, |ui| {
        let stage = |name, state, summary| StageRow {
            name,
            state,
            summary,
            help: "What this stage is for",
        };
        let stages = [
            stage("Records", StageMark::Ready, "2000 records · 5 classes"),
            stage("Features", StageMark::Ready, "6 × 201 waveform, per unit"),
            stage("Split", StageMark::Ready, "5 folds, grouped · clean"),
            stage(
                "Learner",
                StageMark::Failed,
                "sparsity must be 1 to 30, but is 45",
            ),
            stage("Train", StageMark::Running, "fold 2 of 5, batch 31 of 60"),
            stage(
                "Evaluate",
                StageMark::Stale,
                "Q changed after this training was evaluated",
            ),
        ];
        ui.allocate_ui(vec2(260.0, 360.0), |ui| {
            let list = StageList {
                stages: &stages,
                current: state.stage,
                is_narrow: false,
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
                gravest: Gravity::Warning,
            };
            let asked = ui.push_id(place, |ui| bar.show(ui)).inner;
            state.request = asked.or(state.request);
        }
    });
}

pub(crate) type Page = fn(&mut Ui, &mut Gallery);

pub(crate) const PAGES: [(&str, Page, [f32; 2]); 5] = [
    ("frame", frame_page, [900.0, 500.0]),
    ("train", train_page, [1240.0, 880.0]),
    ("eeg", eeg_page, [1240.0, 920.0]),
    ("settings", settings_page, [1240.0, 820.0]),
    ("many-classes", many_classes_page, [760.0, 960.0]),
];

pub(crate) fn window_of(
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
