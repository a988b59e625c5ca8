//! What the pages are made of: each widget draws borrowed data and tells what was done with it.

mod accuracy_plot;
mod atom_grid;
mod atom_picture;
mod axes;
mod cache;
mod cell_grid;
mod chart_plot;
mod class_histogram;
mod confusion_matrix;
mod curves_plot;
mod fold_strip;
mod gram_matrix;
mod health_strip;
mod heat_map;
mod lane_plot;
mod missing_curve;
mod number_field;
mod overview_strip;
mod panel_header;
mod phasor_diagram;
mod profile_panel;
mod run_bar;
mod scalp_map;
mod schedule_plot;
mod short_text;
mod spectrum_plot;
mod stage_list;
mod still_plot;
mod trace_chart;
mod waveform;

pub use accuracy_plot::{AccuracyPlot, Curve};
pub use atom_grid::{Atom, AtomAction, AtomGrid, AtomView};
pub use chart_plot::ChartPlot;
pub use class_histogram::ClassHistogram;
pub use confusion_matrix::ConfusionMatrix;
pub use curves_plot::{BandCurve, CurvesPlot};
pub use fold_strip::{FoldStrip, GroupCell};
pub use gram_matrix::GramMatrix;
pub use health_strip::{Health, HealthStrip};
pub use heat_map::HeatMapView;
pub use lane_plot::{
    CursorMove, DigitalRow, LanePlot, LanePlotEvents, LaneTrace, PlotCursor, PlotLane,
};
pub use missing_curve::MissingCurve;
pub use number_field::{Edit, NumberField};
pub use overview_strip::{OverviewStrip, StripPicture};
pub use panel_header::{PanelAction, PanelHeader, empty_state};
pub use phasor_diagram::{HarmonicBars, Phasor, PhasorDiagram};
pub use profile_panel::{BatchFlow, ProfilePanel};
pub use run_bar::{RunBar, RunPhase, RunRequest};
pub use scalp_map::{ScalpInterpolator, ScalpMap};
pub use schedule_plot::SchedulePlot;
pub use spectrum_plot::{SpectrumLine, SpectrumPlot};
pub use stage_list::{Stage, StageList, StageState};
pub use trace_chart::{ChartMark, ChartTrace, TraceChart, gutter_width, trace_area};
pub use waveform::{Mark, Trace, Waveform};
