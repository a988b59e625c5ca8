//! Recordings and MATLAB files: real ones, small ones made here, and damaged ones.

mod clinical;
mod facts;
mod hostile;
mod made;
mod made_clinical;
mod made_matlab;
pub(crate) mod made_numpy;
mod made_workbook;
mod small;
mod workbooks;
