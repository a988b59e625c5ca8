//! A simulated event as a [`Record`], as if a fault recorder at the breaker had written it.

use std::fmt;

use super::scenario::Happening;
use super::{FarEnd, NetworkClass, NetworkScenario, NetworkSimulator, NetworkWaveforms, Neutral};
use crate::records::{
    Annotation, Channel, Format, GridChannel, GridFacts, Kind, Record, TransformerSide, Unit,
};
use crate::simulate::SIMULATED_START;
use crate::simulate::fault_star::{FaultStar, phase_letters};

const PHASES: [&str; 3] = ["A", "B", "C"];

impl NetworkSimulator {
    /// Where a record seems to lie: folders by seed and class.
    pub fn record_name(&self, class: NetworkClass, index: u32) -> String {
        let class = class.name().replace(' ', "-");
        let (seed, number) = (self.settings.seed, index + 1);
        format!("simulated-networks/seed-{seed}/{class}/{class}-{number:04}")
    }

    /// Simulates record `index` of `class` as a [`Record`] in memory: VA VB VC in kV, IA IB IC in A.
    pub fn record(&self, class: NetworkClass, index: u32) -> Record {
        let scenario = self.scenario(class, index);
        self.record_of(&scenario, &self.waveforms(&scenario), index)
    }

    /// The same for waveforms that were made already.
    pub fn record_of(
        &self,
        scenario: &NetworkScenario,
        waveforms: &NetworkWaveforms,
        index: u32,
    ) -> Record {
        let mut record = scenario.record(waveforms, &self.record_name(scenario.class, index));
        if let Some(grid) = &mut record.grid {
            grid.device = format!("Atomscope seed {}", self.settings.seed);
        }
        record
    }
}

impl NetworkScenario {
    /// Waveforms as a record with trigger and annotation at the inception.
    pub fn record(&self, waveforms: &NetworkWaveforms, name: &str) -> Record {
        let kinds = [
            ("V", "kV", 1e-3, &waveforms.voltages_v),
            ("I", "A", 1.0, &waveforms.currents_a),
        ];
        let mut data = Vec::with_capacity(6);
        for (letter, unit, factor, signals) in kinds {
            for (phase, signal) in PHASES.into_iter().zip(signals) {
                // As a recorder keeps them, so that a FLOAT32 file holds them without loss.
                let single = signal
                    .iter()
                    .map(|value| f64::from((value * factor) as f32));
                let values: Vec<f64> = single.collect();
                let name = format!("{letter}{phase}");
                let rate_hz = Some(waveforms.rate_hz);
                let mut channel = Channel::analog(name, Unit::parse(unit), rate_hz, values.len());
                channel.grid = Some(GridChannel {
                    phase: phase.to_owned(),
                    circuit: "Line".to_owned(),
                    primary: 1.0,
                    secondary: 1.0,
                    scaling: Some(TransformerSide::Primary),
                    skew_s: 0.0,
                });
                data.push((channel, values));
            }
        }
        let mut record = Record::in_memory(Format::Simulated, Kind::FaultRecord, name, data);
        record.start = Some(SIMULATED_START);
        record.grid = Some(GridFacts {
            station: format!("Simulated {:.3} kV network", self.nominal_kv),
            device: "Atomscope".to_owned(),
            line_frequency_hz: Some(self.frequency_hz),
            trigger_s: Some(waveforms.inception_s),
        });
        record.annotations.push(Annotation {
            onset_s: waveforms.inception_s,
            duration_s: None,
            text: self.description(),
            channels: Vec::new(),
        });
        record
    }

    /// The truth in one line.
    pub fn description(&self) -> String {
        let [r1, x1, r0, x0] = self.line_ohm;
        format!(
            "{} {}: {:.3} kV, {} Hz, neutral {}, line {:.3} km z1 {r1:.4}+{x1:.4}j z0 {r0:.4}+{x0:.4}j ohm, place {:.4}, far end {}, {} samples a cycle, {}",
            self.class.name(),
            phase_letters(self.phases),
            self.nominal_kv,
            self.frequency_hz,
            self.neutral,
            self.line_km,
            self.place,
            self.far_end,
            self.samples_per_cycle,
            self.happening
        )
    }
}

impl fmt::Display for Neutral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solid => f.write_str("solid"),
            Self::Impedance(r, x) => write!(f, "{r:.3}+{x:.3}j ohm"),
            Self::Isolated => f.write_str("isolated"),
            Self::Petersen(share) => write!(f, "compensated but for {:.1} %", 100.0 * share),
        }
    }
}

impl fmt::Display for FarEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(share, degrees) => {
                write!(
                    f,
                    "source of {share:.3} of the fault level at {degrees:.2} degrees"
                )
            }
            Self::Load => f.write_str("load"),
            Self::EarthedTransformer(x) => {
                write!(f, "load behind an earthed transformer of {x:.3} ohm")
            }
        }
    }
}

/// Resistances of a fault in words.
fn star_text(star: &FaultStar) -> String {
    match star.earth_ohm {
        Some(ohm) => format!(
            "{:.4} ohm a phase and {ohm:.4} ohm to earth",
            star.phase_ohm
        ),
        None => format!("{:.4} ohm a phase", star.phase_ohm),
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing happens"),
            Self::Fault(star) => write!(f, "fault of {}", star_text(star)),
            Self::Evolving(first, then, cycles) => write!(
                f,
                "fault of {}, after {cycles:.2} cycles of {}",
                star_text(first),
                star_text(then)
            ),
            Self::LoadJoins(r, x) => write!(f, "load of {r:.3}+{x:.3}j ohm joins"),
            Self::LoadLeaves(r, x) => write!(f, "load of {r:.3}+{x:.3}j ohm leaves"),
            Self::Capacitor(farad) => write!(f, "capacitor of {:.4} uF", 1e6 * farad),
            Self::HighImpedanceArc(_, [below, above], _) => {
                write!(f, "arc of {below:.0} and {above:.0} V")
            }
            Self::Inrush(inrush, rated_z) => write!(
                f,
                "inrush into {}, saturation {:.3}, air-core reactance {:.3}, rated impedance {rated_z:.3} ohm",
                if inrush.is_delta {
                    "delta"
                } else {
                    "earthed star"
                },
                inrush.saturation,
                inrush.saturated_x
            ),
            Self::VoltageRamp(share, cycles) => {
                write!(f, "voltage goes to {share:.3} within {cycles:.2} cycles")
            }
        }
    }
}
