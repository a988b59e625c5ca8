//! The engine, stage by stage: readers, data, learners against reference numbers, runs, sessions.

mod accuracy;
mod allocation;
mod architecture;
mod changed_settings;
mod comtrade;
mod data_plans;
mod dependencies;
mod distance;
mod eeg_covariance;
mod eeg_reference;
mod event_scores;
mod fault_records;
mod fault_rule;
mod in_time;
mod invariants;
mod network_faults;
mod python_module;
mod recording_files;
mod reference;
mod runs;
mod samples;
mod session_store;
mod shipped_sessions;
mod streams;
mod tables;
mod trust;
