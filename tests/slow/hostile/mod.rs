//! Small valid files of every reader and ways to damage them, for the mutation tests.

#[path = "../../engine/recording_files/made.rs"]
mod made;
#[path = "../../engine/recording_files/made_clinical.rs"]
mod made_clinical;
#[path = "../../engine/recording_files/made_matlab.rs"]
#[expect(dead_code, reason = "the tests of MATLAB files use the rest")]
mod made_matlab;
#[path = "../../engine/recording_files/made_numpy.rs"]
mod made_numpy;
#[path = "../../engine/recording_files/made_workbook.rs"]
mod made_workbook;
mod mutate;
mod seeds;

pub(crate) use mutate::Mutator;
pub(crate) use seeds::{Seed, seeds};
