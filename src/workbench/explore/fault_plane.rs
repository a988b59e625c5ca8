//! The impedance plane of a fault record: loops over time, distances and zones, computed in the background.

use std::sync::Arc;

use atomscope_engine::protection::distance::Distance;
use atomscope_engine::protection::impedance::{LocusPoint, locus};
use atomscope_engine::protection::zones::{Shape, Stay, Zone, ZoneLoops, stays};
use atomscope_engine::protection::{FaultAnalysis, Line};

/// Most moments of the locus: drawing costs the same for any record.
const MOST_POINTS: usize = 600;

/// Cycles before the inception and after it that are shown.
const SHOWN_CYCLES: (f64, f64) = (1.0, 12.0);

/// Line data of the user, primary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineData {
    /// Positive-sequence resistance and reactance in Ω/km.
    pub z1: (f64, f64),
    /// Zero-sequence resistance and reactance in Ω/km.
    pub z0: (f64, f64),
    /// Length.
    pub length_km: f64,
    /// Reach of a mho zone along the line, as a share of it; 0 for none.
    pub mho_share: f64,
    /// Resistive reach of a quadrilateral zone of that reach, in Ω; 0 for none.
    pub quadrilateral_ohm: f64,
}

impl Default for LineData {
    fn default() -> Self {
        Self {
            z1: (0.1, 0.4),
            z0: (0.3, 1.2),
            length_km: 50.0,
            mho_share: 0.85,
            quadrilateral_ohm: 0.0,
        }
    }
}

impl LineData {
    /// As the engine takes it.
    pub fn line(&self) -> Line {
        Line {
            name: "line".to_owned(),
            length_km: self.length_km,
            z1_ohm_per_km: self.z1,
            z0_ohm_per_km: Some(self.z0),
            source_ohm: None,
        }
    }

    fn zones(&self) -> Vec<Zone> {
        let z1 = self.line().z1() * self.mho_share;
        let zone = |name: &str, shape: Shape| Zone {
            name: name.to_owned(),
            loops: ZoneLoops::All,
            shape,
        };
        let mut zones = Vec::new();
        if self.mho_share > 0.0 {
            let reach = (z1.re, z1.im);
            zones.push(zone(
                "mho",
                Shape::Mho {
                    reach,
                    offset: (0.0, 0.0),
                },
            ));
        }
        if self.mho_share > 0.0 && self.quadrilateral_ohm > 0.0 {
            let shape = Shape::quadrilateral(self.quadrilateral_ohm, z1.im, z1.arg());
            zones.push(zone("quadrilateral", shape));
        }
        zones
    }
}

/// The plane with everything in it.
#[derive(Clone, Debug)]
pub struct ImpedancePlane {
    /// The line it was computed for.
    pub line: LineData,
    /// Loops over time.
    pub points: Vec<LocusPoint>,
    /// Distances with their intervals.
    pub distances: Vec<Distance>,
    /// The zones.
    pub zones: Vec<Zone>,
    /// When loops enter and leave them.
    pub stays: Vec<Stay>,
}

impl ImpedancePlane {
    /// Of a record that was analysed.
    pub(super) fn of(analysis: &Arc<FaultAnalysis>, line: LineData) -> Self {
        let cycle_s = 1.0 / analysis.frequency_hz;
        let centre_s = analysis.inception_s.unwrap_or(analysis.judged_s);
        let (before, after) = SHOWN_CYCLES;
        let signals = &analysis.signals;
        let from_s = (centre_s - before * cycle_s).max(signals.start_s + cycle_s);
        let end_s = analysis.clearing_s.unwrap_or(signals.end_s());
        let to_s = (centre_s + after * cycle_s).min(end_s).max(from_s);
        let known = line.line();
        let (span, step_s) = ((from_s, to_s), cycle_s / 16.0);
        let points = locus(
            signals,
            analysis.frequency_hz,
            known.k0(),
            span,
            step_s,
            MOST_POINTS,
        );
        let zones = line.zones();
        Self {
            stays: stays(&zones, &points),
            distances: analysis.distances(&known),
            line,
            points,
            zones,
        }
    }
}
