//! One page per stage: each reads the workbench, edits the draft and asks for actions.

mod algorithm;
mod bands;
mod certainty;
mod columns;
mod compare;
mod compare_table;
mod covariance;
mod eeg_recipe;
mod evaluate;
mod events;
mod explain;
mod explore;
mod features;
mod fields;
mod learner;
mod meaning;
mod records;
mod rules;
mod samples;
mod signal;
mod split;
mod sweep;
mod sweep_cluster;
mod sweep_table;
mod train;
mod train_panels;
mod train_tiles;
mod tune;

pub(super) use compare::compare_page_ui;
pub(super) use evaluate::evaluate_page_ui;
pub(super) use explore::explore_page_ui;
pub(super) use features::features_page_ui;
pub(super) use learner::learner_page_ui;
pub(super) use records::records_page_ui;
pub(super) use split::split_page_ui;
pub(super) use train::train_page_ui;
