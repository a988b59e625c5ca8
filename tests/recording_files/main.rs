//! Recordings and MATLAB files: real ones, small ones made here, damaged ones, and a large one.

mod facts;
mod hostile;
mod large;
mod made;
mod made_matlab;
mod small;
