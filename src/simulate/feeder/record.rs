//! A simulated fault as a [`Record`], as if a fault recorder at the head had written it.

use crate::records::{
    Annotation, Channel, Format, GridChannel, GridFacts, Kind, Record, Scaling, Unit,
};

use super::super::SIMULATED_START;
use super::{FaultClass, FeederSimulator, Scenario};

const PHASES: [&str; 3] = ["A", "B", "C"];

impl FeederSimulator {
    /// Where a record seems to lie: folders by seed and class.
    pub fn record_name(&self, class: FaultClass, index: u32) -> String {
        let class = class.name().replace(' ', "-");
        let (seed, number) = (self.settings.seed, index + 1);
        format!("simulated/seed-{seed}/{class}/{class}-{number:04}")
    }

    /// Simulates record `index` of `class` as a [`Record`] in memory: VA VB VC in kV,
    /// IA IB IC in A, with trigger and annotation at inception.
    pub fn record(&self, class: FaultClass, index: u32) -> Record {
        let scenario = self.scenario(class, index);
        let waveforms = self.waveforms(&scenario);
        let in_kv = |values: Vec<f64>| values.into_iter().map(|v| v / 1e3).collect();
        let voltages = waveforms.voltages_v.map(in_kv);
        let kinds = [("V", "kV", voltages), ("I", "A", waveforms.currents_a)];
        let mut data = Vec::with_capacity(6);
        for (letter, unit, signals) in kinds {
            for (phase, values) in PHASES.into_iter().zip(signals) {
                let mut channel = Channel::analog(
                    format!("{letter}{phase}"),
                    Unit::parse(unit),
                    Some(waveforms.rate_hz),
                    values.len(),
                );
                channel.grid = Some(grid_channel(phase));
                data.push((channel, values));
            }
        }
        let name = self.record_name(class, index);
        let mut record = Record::in_memory(Format::Simulated, Kind::FaultRecord, &name, data);
        let inception_s = waveforms.inception as f64 / waveforms.rate_hz;
        record.start = Some(SIMULATED_START);
        record.grid = Some(GridFacts {
            station: "Simulated feeder".to_owned(),
            device: format!("Atomscope seed {}", self.settings.seed),
            line_frequency_hz: Some(self.settings.network.frequency_hz),
            trigger_s: Some(inception_s),
        });
        record.annotations.push(Annotation {
            onset_s: inception_s,
            duration_s: None,
            text: self.description(&scenario),
        });
        record
    }

    /// The truth in one line: `LLG A B, 7.31 km from the head, 12.4 Ω`.
    pub fn description(&self, scenario: &Scenario) -> String {
        let class = scenario.class.name();
        let network = &self.settings.network;
        if let Some(fault) = scenario.fault {
            let faulted = PHASES.into_iter().zip(fault.phases);
            let phases: Vec<&str> = faulted.filter(|(_, is)| *is).map(|(p, _)| p).collect();
            let km = network.distance_km(fault.section, fault.position);
            let ohm = fault.resistance_ohm(scenario.class);
            let phases = phases.join(" ");
            return format!("{class} {phases}, {km:.2} km from the head, {ohm:.3} Ω");
        }
        match scenario.switched_consumer {
            Some(consumer) => {
                let bus = network.consumers.get(consumer).map_or(0, |c| c.bus);
                format!("{class}, the consumer at bus {bus} is switched on")
            }
            None => class.to_owned(),
        }
    }
}

fn grid_channel(phase: &str) -> GridChannel {
    GridChannel {
        phase: phase.to_owned(),
        circuit: "Feeder head".to_owned(),
        primary: 1.0,
        secondary: 1.0,
        scaling: Some(Scaling::Primary),
        skew_s: 0.0,
    }
}
