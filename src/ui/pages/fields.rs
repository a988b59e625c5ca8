//! The numbers of the window: each is shown as the table of settings declares it.

use egui::Ui;

use crate::ui::widgets::{Edit, NumberField};
use atomscope_engine::dataset::declared as dataset;
use atomscope_engine::experiment::declared as experiment;
use atomscope_engine::features::declared as features;
use atomscope_engine::learner::declared as learner;
use atomscope_engine::settings::{Setting, SettingProblem, ValueKind};
use atomscope_engine::simulate::declared as simulate;

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
    Epsilon,
    Seed,
    Folds,
    SplitSeed,
    TestShare,
    StartShare,
    DelaySamples,
    DelaySeconds,
    RecordsPerClass,
    SubjectsPerClass,
    Duration,
    Effect,
    ElectrodeDrift,
    Samples,
    Noise,
    FrameLength,
    Overlap,
    FramesPerSample,
    Segment,
    SegmentOverlap,
    TrialOffset,
    Shrinkage,
    Delays,
    DelayStep,
    PeakLimit,
    Cycles,
    Points,
    Harmonics,
    Rate,
    Divisor,
    PictureRows,
    PictureColumns,
}

impl Field {
    /// What the engine knows of it.
    fn setting(self) -> &'static Setting {
        match self {
            Self::Atoms => &learner::N_ATOMS,
            Self::Sparsity => &learner::SPARSITY,
            Self::BatchSize => &learner::BATCH_SIZE,
            Self::Budget => &learner::BUDGET,
            Self::Threshold => &learner::GROWING_THRESHOLD,
            Self::Headroom => &learner::HEADROOM,
            Self::Novelty => &learner::NOVELTY,
            Self::MemoryOfErrors => &learner::MEMORY_OF_ERRORS,
            Self::Ridge => &learner::KMOD_RIDGE,
            Self::MethodThreshold => &learner::METHOD_THRESHOLD,
            Self::CodePenalty => &learner::SKDL_CODE_PENALTY,
            Self::AtomPenalty => &learner::ATOM_PENALTY,
            Self::CodeRate => &learner::CODE_RATE,
            Self::AtomRate => &learner::ATOM_RATE,
            Self::Caution => &learner::CAUTION,
            Self::LeastCurvature => &learner::LEAST_CURVATURE,
            Self::Alternations => &learner::ALTERNATIONS,
            Self::Decay => &learner::DECAY,
            Self::StepRate => &learner::STEP_RATE,
            Self::Cost => &learner::COST,
            Self::Tolerance => &learner::TOLERANCE,
            Self::Regularisation => &learner::REGULARISATION,
            Self::ErrorLimit => &learner::ERROR_LIMIT,
            Self::Calibration => &learner::CALIBRATION,
            Self::Degree => &learner::DEGREE,
            Self::Offset => &learner::OFFSET,
            Self::Width => &learner::WIDTH,
            Self::Pool => &learner::POOL,
            Self::StartValue => &learner::START_VALUE,
            Self::RampShare => &learner::RAMP_SHARE,
            Self::Batches => &experiment::BATCHES,
            Self::Passes => &experiment::PASSES,
            Self::Tests => &experiment::N_TESTS,
            Self::Epsilon => &experiment::EPSILON,
            Self::Seed => &experiment::SEED,
            Self::Folds => &experiment::N_FOLDS,
            Self::SplitSeed => &experiment::SPLIT_SEED,
            Self::TestShare => &experiment::TEST_SHARE,
            Self::StartShare => &experiment::START_SHARE,
            Self::DelaySamples => &experiment::DELAY_SAMPLES,
            Self::DelaySeconds => &experiment::DELAY_S,
            Self::RecordsPerClass => &simulate::RECORDS_PER_CLASS,
            Self::SubjectsPerClass => &simulate::SUBJECTS_PER_CLASS,
            Self::Duration => &simulate::DURATION_S,
            Self::Effect => &simulate::EFFECT,
            Self::ElectrodeDrift => &simulate::ELECTRODE_DRIFT,
            Self::Samples => &simulate::N_SAMPLES,
            Self::Noise => &simulate::NOISE,
            Self::FrameLength => &features::FRAME_S,
            Self::Overlap => &features::OVERLAP,
            Self::FramesPerSample => &features::FRAMES_PER_SAMPLE,
            Self::Segment => &features::SEGMENT_S,
            Self::SegmentOverlap => &features::SEGMENT_OVERLAP,
            Self::TrialOffset => &features::OFFSET_S,
            Self::Shrinkage => &features::SHRINKAGE,
            Self::Delays => &features::N_DELAYS,
            Self::DelayStep => &features::DELAY_STEP,
            Self::PeakLimit => &features::MAX_PEAK_TO_PEAK,
            Self::Cycles => &features::N_CYCLES,
            Self::Points => &features::N_POINTS,
            Self::Harmonics => &features::HIGHEST_HARMONIC,
            Self::Rate => &dataset::RATE_HZ,
            Self::Divisor => &dataset::DIVIDE_BY,
            Self::PictureRows => &dataset::PICTURE_ROWS,
            Self::PictureColumns => &dataset::PICTURE_COLUMNS,
        }
    }

    /// What is wrong with it, among the problems of its stage.
    pub(super) fn problem_of(self, problems: &[SettingProblem]) -> Option<&str> {
        let setting = self.setting();
        let is_own = |problem: &&SettingProblem| setting.has_problem(&problem.field);
        problems.iter().find(is_own).map(|p| p.message.as_str())
    }

    /// The field with its slider.
    pub(super) fn ui(self, ui: &mut Ui, value: &mut f64, problem: Option<&str>) -> Edit {
        let setting = self.setting();
        let ValueKind::Number {
            usual,
            default,
            whole,
            logarithmic,
            ..
        } = setting.kind
        else {
            return Edit::default();
        };
        let field = NumberField {
            label: setting.label,
            symbol: setting.symbol,
            help: setting.help,
            unit: setting.unit,
            range: usual.0..=usual.1,
            logarithmic,
            whole,
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
