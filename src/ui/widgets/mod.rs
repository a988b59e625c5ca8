//! What the pages are made of: each widget draws borrowed data and tells what was done with it.

mod accuracy_plot;
mod atom_grid;
mod atom_picture;
mod axes;
mod cache;
mod cell_grid;
mod class_histogram;
mod confusion_matrix;
mod fold_strip;
mod gram_matrix;
mod health_strip;
mod missing_curve;
mod number_field;
mod panel_header;
mod profile_panel;
mod scalp_map;
mod schedule_plot;
mod still_plot;
mod waveform;

pub use accuracy_plot::{AccuracyPlot, Curve};
pub use atom_grid::{Atom, AtomAction, AtomGrid, AtomView};
pub use class_histogram::ClassHistogram;
pub use confusion_matrix::ConfusionMatrix;
pub use fold_strip::{FoldStrip, GroupCell};
pub use gram_matrix::GramMatrix;
pub use health_strip::{Health, HealthStrip};
pub use missing_curve::MissingCurve;
pub use number_field::{Edit, NumberField};
pub use panel_header::{PanelAction, PanelHeader, empty_state};
pub use profile_panel::{BatchFlow, ProfilePanel};
pub use scalp_map::{ScalpInterpolator, ScalpMap};
pub use schedule_plot::SchedulePlot;
pub use waveform::{Mark, Trace, Waveform};
