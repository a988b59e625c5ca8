//! The real pages driven by accessibility label, with nothing loaded, with a run and with hostile data.

mod arrangement;
mod branching;
mod charts;
mod choices;
mod compare;
mod driving;
mod files;
mod frames;
mod hostile;
mod keyboard;
mod live;
mod looks;
mod names;
mod readable;
mod running;
mod settings;
mod sweep;
mod text_size;
