//! The impedance plane of a fault record: loops over time, distances and zones, computed in the background.

use std::sync::Arc;

use atomscope_engine::evaluation::Assurance;
use atomscope_engine::experiment::{DataFacts, Judge, JudgeOptions, TrainedModel};
use atomscope_engine::features::fault_phasors::{FaultPhasors, magnitudes};
use atomscope_engine::protection::distance::Distance;
use atomscope_engine::protection::impedance::{LocusPoint, locus};
use atomscope_engine::protection::rule::judge;
use atomscope_engine::protection::zones::{Shape, Stay, Zone, ZoneLoops, stays};
use atomscope_engine::protection::{FaultAnalysis, Line};
use atomscope_engine::simulate::feeder::FaultClass;

/// Most moments of the locus: drawing costs the same for any record.
const MOST_POINTS: usize = 600;

/// Cycles before the inception and after it that are shown.
const SHOWN_CYCLES: (f64, f64) = (1.0, 12.0);

/// Cycles from the beginning of what is judged to the end of the cycle that is taken of it.
const JUDGED_CYCLES: f64 = 1.125;

/// The model that decides along the locus.
#[derive(Clone)]
pub(super) struct LocusJudge {
    pub(super) model: Arc<TrainedModel>,
    pub(super) facts: Arc<DataFacts>,
    pub(super) epsilon: f64,
}

impl std::fmt::Debug for LocusJudge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocusJudge").finish_non_exhaustive()
    }
}

/// What is decided of the cycle that ends at a point of the locus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocusDecision {
    /// Place of the class among the names.
    pub class: usize,
    /// Share of the largest margin along the locus; 1 by the rule, which has none.
    pub strength: f64,
    /// Whether the prediction set is not one class.
    pub is_uncertain: bool,
}

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
    /// With the impedances and the length of a line that was chosen.
    pub fn with_line(self, line: &Line) -> Self {
        let (r1, x1) = line.z1_ohm_per_km;
        Self {
            z1: line.z1_ohm_per_km,
            z0: line.z0_ohm_per_km.unwrap_or((3.0 * r1, 3.0 * x1)),
            length_km: line.length_km,
            ..self
        }
    }

    /// Whether these are the data that stand there before any are entered.
    pub fn is_example(&self) -> bool {
        let example = Self::default();
        (self.z1, self.z0, self.length_km) == (example.z1, example.z0, example.length_km)
    }

    /// As the engine takes it.
    pub fn line(&self) -> Line {
        self.named_line("line")
    }

    /// As the engine takes it, with a name.
    pub fn named_line(&self, name: &str) -> Line {
        Line {
            name: name.to_owned(),
            length_km: self.length_km,
            z1_ohm_per_km: self.z1,
            z0_ohm_per_km: Some(self.z0),
            source_ohm: None,
        }
    }

    /// The zones by hand.
    pub(super) fn zones(&self) -> Vec<Zone> {
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

/// What a plane is computed from.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaneQuestion {
    /// Line and zones by hand.
    pub(super) line: LineData,
    /// Zones of a file.
    pub(super) zones: Vec<Zone>,
    /// The other end, and how much later its clock shows the same moment.
    pub(super) far: Option<(Arc<FaultAnalysis>, f64)>,
    /// Who decides along the locus; the rule without one.
    pub(super) judge: Option<LocusJudge>,
}

impl PartialEq for PlaneQuestion {
    fn eq(&self, other: &Self) -> bool {
        let far = match (&self.far, &other.far) {
            (Some((a, a_s)), Some((b, b_s))) => Arc::ptr_eq(a, b) && a_s == b_s,
            (None, None) => true,
            _ => false,
        };
        let judge = match (&self.judge, &other.judge) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a.model, &b.model) && a.epsilon == b.epsilon,
            (None, None) => true,
            _ => false,
        };
        far && judge && self.line == other.line && self.zones == other.zones
    }
}

/// The plane with everything in it.
#[derive(Clone, Debug)]
pub struct ImpedancePlane {
    /// The line it was computed for.
    pub line: LineData,
    /// Loops over time.
    pub points: Vec<LocusPoint>,
    /// What is decided of each point; nothing before a whole cycle of the fault.
    pub decisions: Vec<Option<LocusDecision>>,
    /// Names of the classes decided for.
    pub class_names: Vec<String>,
    /// Whether a model decided, and not the rule.
    pub is_by_model: bool,
    /// Distances with their intervals.
    pub distances: Vec<Distance>,
    /// Distances with the record of the other end.
    pub two_ended: Vec<Distance>,
    /// The zones.
    pub zones: Vec<Zone>,
    /// When loops enter and leave them.
    pub stays: Vec<Stay>,
}

impl ImpedancePlane {
    /// Of a record that was analysed.
    pub(super) fn of(analysis: &FaultAnalysis, question: PlaneQuestion) -> Self {
        let line = question.line;
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
        let mut zones = line.zones();
        zones.extend(question.zones);
        let two_ended = question.far.map_or(Vec::new(), |(far, shift_s)| {
            let far_s = analysis.inception_s.map(|at_s| at_s + shift_s);
            let of =
                |is_synchronised| analysis.two_ended_at((&far, far_s?), &known, is_synchronised);
            [true, false].into_iter().filter_map(of).collect()
        });
        let phasors = phasors_along(analysis, &points);
        let of_model = question.judge.as_ref().and_then(|judge| {
            let decisions = judge.decide(&phasors)?;
            Some((decisions, judge.facts.class_names.clone()))
        });
        let is_by_model = of_model.is_some();
        let (decisions, class_names) = of_model.unwrap_or_else(|| by_rule(&phasors));
        Self {
            decisions,
            class_names,
            is_by_model,
            two_ended,
            stays: stays(&zones, &points),
            distances: analysis.distances(&known),
            line,
            points,
            zones,
        }
    }
}

/// Phasors before the fault and of the cycle that ends at each point; none before a whole cycle of the fault.
fn phasors_along(analysis: &FaultAnalysis, points: &[LocusPoint]) -> Vec<Option<FaultPhasors>> {
    let cycle_s = 1.0 / analysis.frequency_hz;
    let of = |point: &LocusPoint| {
        let inception_s = analysis.inception_s?;
        let judged_s = point.time_s - JUDGED_CYCLES * cycle_s;
        let frequency_hz = analysis.frequency_hz;
        (judged_s >= inception_s).then_some(())?;
        let found = analysis
            .signals
            .fault_phasors_from(inception_s, judged_s, frequency_hz);
        found.ok()?.ok()
    };
    points.iter().map(of).collect()
}

/// Types by the rule.
fn by_rule(phasors: &[Option<FaultPhasors>]) -> (Vec<Option<LocusDecision>>, Vec<String>) {
    let decide = |phasors: &FaultPhasors| {
        let class = judge(phasors).class;
        LocusDecision {
            class: FaultClass::ALL
                .iter()
                .position(|c| *c == class)
                .unwrap_or(0),
            strength: 1.0,
            is_uncertain: false,
        }
    };
    let decisions = phasors.iter().map(|found| found.as_ref().map(decide));
    let names = FaultClass::ALL.map(|class| class.name().to_owned());
    (decisions.collect(), names.to_vec())
}

impl LocusJudge {
    /// Decisions of the model; none if it takes other features.
    fn decide(&self, phasors: &[Option<FaultPhasors>]) -> Option<Vec<Option<LocusDecision>>> {
        let options = JudgeOptions {
            epsilon: self.epsilon,
            ..JudgeOptions::default()
        };
        let samples: Vec<Option<Vec<f64>>> = phasors
            .iter()
            .map(|found| found.as_ref().map(magnitudes))
            .collect();
        let present: Vec<&[f64]> = samples.iter().flatten().map(Vec::as_slice).collect();
        let opinions = Judge::new(&self.model, &options)
            .ok()?
            .judge(&present)
            .ok()?;
        let margins = opinions.iter().flatten().map(|o| o.verdict.margin);
        let largest = margins.fold(f64::MIN_POSITIVE, f64::max);
        let mut opinions = opinions.into_iter();
        let decisions = samples.iter().map(|sample| {
            sample.as_ref()?;
            let opinion = opinions.next()??;
            Some(LocusDecision {
                class: opinion.verdict.class,
                strength: (opinion.verdict.margin / largest).clamp(0.0, 1.0),
                is_uncertain: opinion
                    .assurance
                    .as_ref()
                    .is_some_and(Assurance::is_uncertain),
            })
        });
        Some(decisions.collect())
    }
}
