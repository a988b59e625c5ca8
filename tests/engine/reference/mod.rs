//! The learners against the reference trajectories: same samples kept and removed, same
//! matrices. The small files lie in `tests/data`; the larger ones beside the folder that
//! `ATOMSCOPE_DATA` names.

mod archive;
mod compared;
mod evidence;
mod krls;
mod margin;
mod pieces;

pub(crate) use archive::{Archive, assert_close, rows_and_columns};
