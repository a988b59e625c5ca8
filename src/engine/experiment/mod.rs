//! Experiments: every setting as plain data, runs in short steps, and the thread that drives them.

mod apply;
mod assignment;
mod auto;
mod branch;
mod calibrating;
mod checked;
mod comparison;
mod correction;
pub mod declared;
mod error;
mod fingerprint;
mod groupings;
mod job;
mod model;
mod part_run;
mod prequential;
mod record;
mod ribbon;
mod round_columns;
mod run;
mod settings;
mod shared;
mod snapshot;
mod state;
mod summary;
mod sweep;
mod task_pool;
mod testing;
mod trial;
mod trial_sequence;
mod width;
mod worker;

pub use apply::{FileWarning, Judge, JudgeOptions, Judged, Opinion, votes_by_source};
pub use assignment::{AssignmentError, NamedSetting, named_settings, with_settings};
pub use auto::{AutoChoice, AutoReport, Candidate, Tried};
pub use branch::{Branch, KeptBranch, PairedDecisions, Timeline};
pub use calibrating::CalibrationRecord;
pub use checked::{CheckedExperiment, DataFacts, Part};
pub use comparison::{
    ComparedRun, ComparedSummary, Comparison, ComparisonError, ComparisonPlan, Entrant,
    FoldFailure, pairing_difference,
};
pub use correction::{Correction, CorrectionError};
pub use declared::{SETTINGS, find_setting};
pub use error::{RunError, RunTrouble};
pub use groupings::{Grouping, repeat_groupings};
pub use job::{Job, JobOutcome, JobProgress, panic_message};
pub use model::TrainedModel;
pub use part_run::{Extent, News};
pub use prequential::PrequentialWindow;
pub use record::{
    ClassMetric, Decisions, LogEntry, MissingRecord, PartRecord, ProfileEvent, ProfileLog,
    RoundMetric, TestRecord, TimeRecord, Timing,
};
pub use ribbon::{Ribbon, RibbonSegment, uncertain_margin};
pub use run::{Run, RunParts, RunProgress};
pub use settings::{Experiment, Tests, Training, TrainingLength};
pub use shared::Shared;
pub use snapshot::{ClassSnapshot, Snapshot};
pub use state::{Halfway, PartState, RunState, SampleChange, SettingChange, change_texts};
pub use summary::{BaselineSummary, Coverage, CurvePoint, RunSummary, TimingSummary, mean_and_sd};
pub use sweep::{
    Axis, Chosen, Effort, Entrants, Halving, OuterResult, PointProblem, PointResult, Search,
    SettingText, StageCount, Stopped, Sweep, SweepError, SweepPlan, SweepPoint, SweepRow,
    SweepTable, Values, WorkSaved,
};
pub use trial::{FoldOutcome, Trial, run_trials};
pub use trial_sequence::{Pace, PointProgress, Watcher};
pub use width::{WidthError, median_distance};
pub use worker::{Command, Mail, Status, Worker};

/// Threads that the machine can run at once.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
