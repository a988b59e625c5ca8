//! The numbers of a learner: name, symbol, help, sensible range and default of each.

use std::ops::RangeInclusive;

use egui::Ui;

use crate::ui::widgets::{Edit, NumberField};
use atomscope_engine::settings::SettingProblem;

/// A number that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Atoms,
    Sparsity,
    BatchSize,
    Budget,
    Threshold,
    Headroom,
    Novelty,
    MemoryOfErrors,
    Ridge,
    MethodThreshold,
    CodePenalty,
    AtomPenalty,
    CodeRate,
    AtomRate,
    Caution,
    LeastCurvature,
    Alternations,
    Decay,
    StepRate,
    Cost,
    Tolerance,
    Regularisation,
    ErrorLimit,
    Calibration,
    Degree,
    Offset,
    Width,
    Pool,
    StartValue,
    RampShare,
    Batches,
    Passes,
    Tests,
    Seed,
    Folds,
    SplitSeed,
    TestShare,
    RecordsPerClass,
    SubjectsPerClass,
    Duration,
    Effect,
    FrameLength,
    Overlap,
    FramesPerSample,
    Cycles,
    Points,
    Harmonics,
    Rate,
    Divisor,
    PictureRows,
    PictureColumns,
}

/// What a field says of itself.
struct FieldText {
    label: &'static str,
    symbol: &'static str,
    help: &'static str,
    range: RangeInclusive<f64>,
    default: f64,
    /// The name of the setting in a session.
    setting: &'static str,
}

const fn field_text(
    label: &'static str,
    symbol: &'static str,
    help: &'static str,
    range: RangeInclusive<f64>,
    default: f64,
    setting: &'static str,
) -> FieldText {
    FieldText {
        label,
        symbol,
        help,
        range,
        default,
        setting,
    }
}

impl Field {
    fn text(self) -> FieldText {
        match self {
            Self::Atoms => field_text(
                "Atoms per class",
                "Q",
                "More atoms describe a class more finely and cost more time",
                1.0..=100.0,
                30.0,
                "n_atoms",
            ),
            Self::Sparsity => field_text(
                "Atoms per code",
                "s",
                "How many atoms may describe one sample",
                1.0..=30.0,
                5.0,
                "sparsity",
            ),
            Self::BatchSize => field_text(
                "Mini-batch",
                "M",
                "Samples of a class learned together",
                1.0..=100.0,
                10.0,
                "batch_size",
            ),
            Self::Budget => field_text(
                "Budget",
                "L_max",
                "Most samples a class keeps; time grows with its square",
                20.0..=1000.0,
                200.0,
                "budget",
            ),
            Self::Threshold => field_text(
                "Growing threshold",
                "",
                "A sample is kept if its measure stays below",
                0.0..=1.0,
                0.95,
                "algorithm.growing",
            ),
            Self::Headroom => field_text(
                "Headroom",
                "",
                "How many samples below the budget pruning goes",
                0.0..=50.0,
                10.0,
                "algorithm.headroom",
            ),
            Self::Novelty => field_text(
                "Novelty",
                "ν",
                "A sample is kept if more than this share of it is new",
                1e-6..=0.5,
                1e-3,
                "algorithm.novelty",
            ),
            Self::MemoryOfErrors => field_text(
                "Memory of errors",
                "κ",
                "How strongly hard samples are preferred to be kept; 0 turns it off",
                0.0..=1000.0,
                300.0,
                "algorithm.memory_of_errors",
            ),
            Self::Ridge => field_text(
                "Ridge",
                "",
                "Added to the diagonal before solving, as a share of its mean",
                1e-12..=1.0,
                1e-2,
                "algorithm.ridge",
            ),
            Self::MethodThreshold => field_text(
                "Growing threshold",
                "",
                "A sample is kept if it resembles what is kept less than this",
                0.5..=1.0,
                0.999,
                "algorithm.threshold",
            ),
            Self::CodePenalty => field_text(
                "Penalty of codes",
                "λ₁",
                "How sparse the codes are while learning",
                1e-6..=1.0,
                0.05,
                "algorithm.code_penalty",
            ),
            Self::AtomPenalty => field_text(
                "Penalty of atoms",
                "λ₂",
                "How sparse the coefficients of an atom are",
                1e-6..=0.1,
                1e-4,
                "algorithm.atom_penalty",
            ),
            Self::CodeRate => field_text(
                "Rate of codes",
                "η_w",
                "Length of the steps towards a code; a share of the longest sure step unless as published",
                1e-7..=1.0,
                1.0,
                "algorithm.code_rate",
            ),
            Self::AtomRate => field_text(
                "Rate of atoms",
                "η_u",
                "Length of the steps towards an atom; a share of the longest sure step unless as published",
                1e-7..=1.0,
                1.0,
                "algorithm.atom_rate",
            ),
            Self::Caution => field_text(
                "Caution",
                "ρ",
                "By what factor steps are shorter than the sure ones",
                1.0..=10.0,
                1.1,
                "algorithm.caution",
            ),
            Self::LeastCurvature => field_text(
                "Least curvature",
                "μ_m",
                "No step is longer than its reciprocal; 0 sets no limit",
                0.0..=10.0,
                0.0,
                "algorithm.least_curvature",
            ),
            Self::Alternations => field_text(
                "Alternations",
                "",
                "Most steps of codes and atoms in turn for one mini-batch",
                1.0..=500.0,
                50.0,
                "algorithm.alternations",
            ),
            Self::Decay => field_text(
                "Decay",
                "μ",
                "How strongly atoms are drawn towards zero",
                0.0..=0.5,
                1e-3,
                "algorithm.decay",
            ),
            Self::StepRate => field_text(
                "Rate",
                "ρ",
                "Length of a gradient step; a share of the longest sure step unless as published",
                1e-4..=1.0,
                0.1,
                "algorithm.rate",
            ),
            Self::Cost => field_text(
                "Cost",
                "C",
                "Penalty of a sample on the wrong side of its margin, relative to the size of the kernel",
                1e-2..=1e3,
                10.0,
                "algorithm.cost",
            ),
            Self::Tolerance => field_text(
                "Tolerance",
                "",
                "By how much the optimality conditions may be violated at the end",
                1e-6..=0.1,
                1e-3,
                "algorithm.tolerance",
            ),
            Self::Regularisation => field_text(
                "Regularisation",
                "γ",
                "Keeps weakly determined atoms from growing without bound",
                0.0..=1.0,
                0.0,
                "regularisation",
            ),
            Self::ErrorLimit => field_text(
                "Error limit",
                "",
                "Coding stops when this share of the sample is left",
                1e-12..=1e-1,
                1e-6,
                "error_limit",
            ),
            Self::Calibration => field_text(
                "Calibration",
                "β",
                "Divides residuals by the usual residual of the class; 0 turns it off",
                0.0..=2.0,
                0.0,
                "calibration",
            ),
            Self::Degree => field_text(
                "Degree",
                "",
                "The power of the polynomial",
                1.0..=6.0,
                2.0,
                "kernel",
            ),
            Self::Offset => field_text(
                "Offset",
                "",
                "Added to the inner product",
                0.0..=10.0,
                1.0,
                "kernel",
            ),
            Self::Width => field_text(
                "Width",
                "σ",
                "The distance over which samples resemble each other",
                1e-3..=1e3,
                1.0,
                "kernel",
            ),
            Self::Pool => field_text(
                "Pool",
                "",
                "Samples among which the first atoms are chosen",
                1.0..=500.0,
                100.0,
                "start",
            ),
            Self::StartValue => field_text(
                "Start value",
                "λ₀",
                "Weight of the past during the first mini-batches",
                0.8..=1.0,
                0.95,
                "forgetting",
            ),
            Self::RampShare => field_text(
                "Ramp",
                "",
                "Share of the mini-batches until λ is 1",
                0.0..=1.0,
                0.8,
                "forgetting",
            ),
            Self::Batches => field_text(
                "Mini-batches",
                "",
                "How many are learned in each fold",
                1.0..=1000.0,
                60.0,
                "training.length",
            ),
            Self::Passes => field_text(
                "Passes",
                "",
                "Number of passes through the training samples",
                0.1..=10.0,
                1.0,
                "training.length",
            ),
            Self::Tests => field_text(
                "Tests",
                "",
                "Number of tests during training",
                1.0..=100.0,
                20.0,
                "tests.n_tests",
            ),
            Self::Seed => field_text(
                "Seed",
                "",
                "Seed of the order of samples and of everything else drawn",
                0.0..=100.0,
                1.0,
                "seed",
            ),
            Self::Folds => field_text(
                "Folds",
                "",
                "Every sample is tested in one of them",
                2.0..=20.0,
                5.0,
                "split",
            ),
            Self::SplitSeed => field_text(
                "Seed of the folds",
                "",
                "Another seed deals the samples to other folds",
                0.0..=100.0,
                1.0,
                "split",
            ),
            Self::TestShare => field_text(
                "Test share",
                "",
                "Share of the samples that are held out",
                0.05..=0.9,
                0.3,
                "split",
            ),
            Self::RecordsPerClass => field_text(
                "Records per class",
                "",
                "How many faults of each kind are simulated",
                10.0..=2000.0,
                400.0,
                "source.records_per_class",
            ),
            Self::SubjectsPerClass => field_text(
                "Subjects per class",
                "",
                "How many subjects are simulated",
                2.0..=50.0,
                14.0,
                "source.subjects_per_class",
            ),
            Self::Duration => field_text(
                "Duration",
                "",
                "Length of each recording",
                10.0..=600.0,
                120.0,
                "source.duration_s",
            ),
            Self::Effect => field_text(
                "Effect",
                "",
                "How much the classes differ; 0 makes them equal",
                0.0..=3.0,
                1.0,
                "source.effect",
            ),
            Self::FrameLength => field_text(
                "Frame",
                "",
                "Length of the section in which features are measured",
                0.2..=10.0,
                1.0,
                "recipe.frame_s",
            ),
            Self::Overlap => field_text(
                "Overlap",
                "",
                "Share of a frame that the next one repeats",
                0.0..=0.95,
                0.0,
                "recipe.overlap",
            ),
            Self::FramesPerSample => field_text(
                "Frames per sample",
                "",
                "Frames whose features are averaged",
                1.0..=60.0,
                1.0,
                "recipe.frames_per_sample",
            ),
            Self::Cycles => field_text(
                "Cycles",
                "",
                "Length of the window in cycles of the mains",
                1.0..=5.0,
                1.0,
                "recipe.n_cycles",
            ),
            Self::Points => field_text(
                "Points",
                "",
                "Values of each of the six waveforms",
                11.0..=401.0,
                201.0,
                "recipe.n_points",
            ),
            Self::Rate => field_text(
                "Sampling rate",
                "",
                "For files that do not state it",
                1.0..=10_000.0,
                250.0,
                "options.rate_hz",
            ),
            Self::Divisor => field_text(
                "Divide by",
                "",
                "Every value is divided by it; 255 turns bytes into 0 to 1",
                1.0..=255.0,
                1.0,
                "divide_by",
            ),
            Self::PictureRows => field_text(
                "Picture rows",
                "",
                "Rows of the picture that a sample is drawn as",
                2.0..=64.0,
                16.0,
                "n_rows",
            ),
            Self::PictureColumns => field_text(
                "Picture columns",
                "",
                "Columns of the picture; rows times columns are the features",
                2.0..=64.0,
                16.0,
                "n_columns",
            ),
            Self::Harmonics => field_text(
                "Highest harmonic",
                "",
                "1 takes the fundamental alone",
                1.0..=25.0,
                5.0,
                "recipe.highest_harmonic",
            ),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Duration | Self::FrameLength => "s",
            Self::Rate => "Hz",
            _ => "",
        }
    }

    fn is_logarithmic(self) -> bool {
        matches!(
            self,
            Self::Novelty
                | Self::Ridge
                | Self::CodePenalty
                | Self::AtomPenalty
                | Self::CodeRate
                | Self::AtomRate
                | Self::StepRate
                | Self::Alternations
                | Self::Cost
                | Self::Tolerance
                | Self::ErrorLimit
                | Self::Width
                | Self::Budget
                | Self::Batches
                | Self::Rate
        )
    }

    fn is_whole(self) -> bool {
        matches!(
            self,
            Self::Atoms
                | Self::Sparsity
                | Self::BatchSize
                | Self::Budget
                | Self::Headroom
                | Self::Alternations
                | Self::Degree
                | Self::Pool
                | Self::Batches
                | Self::Tests
                | Self::Seed
                | Self::Folds
                | Self::SplitSeed
                | Self::RecordsPerClass
                | Self::SubjectsPerClass
                | Self::FramesPerSample
                | Self::Cycles
                | Self::Points
                | Self::Harmonics
                | Self::PictureRows
                | Self::PictureColumns
        )
    }

    /// What is wrong with it, among the problems of its stage.
    pub(super) fn problem_of(self, problems: &[SettingProblem]) -> Option<&str> {
        let setting = self.text().setting;
        let is_own = |problem: &&SettingProblem| {
            let field = problem.field.as_str();
            field == setting || field.ends_with(&format!(".{setting}"))
        };
        problems.iter().find(is_own).map(|p| p.message.as_str())
    }

    /// The field with its slider.
    pub(super) fn ui(self, ui: &mut Ui, value: &mut f64, problem: Option<&str>) -> Edit {
        let FieldText {
            label,
            symbol,
            help,
            range,
            default,
            ..
        } = self.text();
        let field = NumberField {
            label,
            symbol,
            help,
            unit: self.unit(),
            range,
            logarithmic: self.is_logarithmic(),
            whole: self.is_whole(),
            default,
            problem,
        };
        field.show(ui, value)
    }

    /// The field for a whole number.
    pub(super) fn whole_ui(self, ui: &mut Ui, value: &mut usize, problem: Option<&str>) -> Edit {
        let mut number = *value as f64;
        let edit = self.ui(ui, &mut number, problem);
        if edit.changed {
            *value = number.round().max(0.0) as usize;
        }
        edit
    }
}
