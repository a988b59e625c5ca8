//! The real pages driven by accessibility label, with nothing loaded, with a run and with hostile data.

mod arrangement;
mod choices;
mod compare;
mod driving;
mod files;
mod frames;
mod hostile;
mod keyboard;
mod looks;
mod names;
mod running;
mod settings;
mod sweep;
mod text_size;

#[path = "../typing/mod.rs"]
mod typing;

#[path = "../frame_time/mod.rs"]
mod frame_time;
#[path = "../pictures/mod.rs"]
mod pictures;
#[path = "../small_data/mod.rs"]
mod small_data;
