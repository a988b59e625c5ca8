//! A simulated fault as a [`Record`], as if a fault recorder at the head had written it.

use crate::records::{
    Annotation, Channel, Format, GridChannel, GridFacts, Kind, Record, TransformerSide, Unit,
};

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
    /// IA IB IC in A, rounded to single precision, with trigger and annotation at inception.
    pub fn record(&self, class: FaultClass, index: u32) -> Record {
        let mut record = match self.as_of(index) {
            Some(then) => then.record_now(class, index),
            None => self.record_now(class, index),
        };
        record.start = self.start_of(class, index);
        record
    }

    fn record_now(&self, class: FaultClass, index: u32) -> Record {
        let scenario = self.scenario(class, index);
        let waveforms = self.waveforms(&scenario);
        let kinds = [
            ("V", "kV", 1e-3, &waveforms.voltages_v),
            ("I", "A", 1.0, &waveforms.currents_a),
        ];
        let mut data = Vec::with_capacity(6);
        for (letter, unit, factor, signals) in kinds {
            for (phase, signal) in PHASES.into_iter().zip(signals) {
                let values = single_precision(signal, factor);
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
        record.grid = Some(GridFacts {
            station: "Simulated feeder".to_owned(),
            device: format!("Atomscope seed {}", self.settings.seed),
            line_frequency_hz: Some(self.settings.network.frequency_hz),
            trigger_s: Some(inception_s),
        });
        record.annotations.push(Annotation::new(
            inception_s,
            None,
            self.description(&scenario),
        ));
        record
    }

    /// The truth in one line: `LLG A B, 7.31 km from the head, 12.400 Ω, 0.150 Ω to earth`.
    pub fn description(&self, scenario: &Scenario) -> String {
        let class = scenario.class.name();
        let network = &self.settings.network;
        if let Some(fault) = scenario.fault {
            let faulted = PHASES.into_iter().zip(fault.phases);
            let phases: Vec<&str> = faulted.filter(|(_, is)| *is).map(|(p, _)| p).collect();
            let km = network.distance_km(fault.section, fault.position);
            let ohm = fault.resistance_ohm(scenario.class);
            let phases = phases.join(" ");
            let to_earth = match (scenario.class, fault.ground_resistance_ohm) {
                (FaultClass::DoubleLineToGround, Some(earth)) => format!(", {earth:.3} Ω to earth"),
                _ => String::new(),
            };
            return format!("{class} {phases}, {km:.2} km from the head, {ohm:.3} Ω{to_earth}");
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

/// Values as a recorder keeps them, so that a FLOAT32 file holds them without loss.
fn single_precision(values: &[f64], factor: f64) -> Vec<f64> {
    let rounded = values.iter().map(|value| (value * factor) as f32);
    rounded.map(f64::from).collect()
}

fn grid_channel(phase: &str) -> GridChannel {
    GridChannel {
        phase: phase.to_owned(),
        circuit: "Feeder head".to_owned(),
        primary: 1.0,
        secondary: 1.0,
        scaling: Some(TransformerSide::Primary),
        skew_s: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::FeederSettings;
    use super::*;
    use crate::records::comtrade::{self, ComtradeStorage};
    use crate::records::{Input, Mode};

    fn with_pre_fault_cycle() -> FeederSimulator {
        FeederSimulator::new(FeederSettings {
            cycles_before: 1,
            ..FeederSettings::default()
        })
        .expect("legal settings")
    }

    #[test]
    fn a_fault_is_a_record_of_six_channels_with_its_trigger() {
        let simulator = with_pre_fault_cycle();
        let record = simulator.record(FaultClass::NoFault, 6);
        assert_eq!(record.kind, Kind::FaultRecord);
        let path = record.source.path.to_string_lossy();
        assert_eq!(path, "simulated/seed-1/no-fault/no-fault-0007");
        let channels = record.channels.iter();
        let named: Vec<(&str, &str)> = channels
            .map(|c| (c.name.as_str(), c.unit.symbol.as_str()))
            .collect();
        let (kv, a) = (["VA", "VB", "VC"], ["IA", "IB", "IC"]);
        let expected = kv.map(|n| (n, "kV")).into_iter().chain(a.map(|n| (n, "A")));
        assert_eq!(named, expected.collect::<Vec<_>>());
        assert!(record.channels.iter().all(|c| c.rate_hz == Some(10_000.0)));
        assert!(record.channels.iter().all(|c| c.n_samples == 401));
        let grid = record.grid.expect("facts of the grid");
        assert_eq!(grid.trigger_s, Some(0.02));
        assert_eq!(grid.line_frequency_hz, Some(50.0));
        assert_eq!(record.annotations[0].onset_s, 0.02);
    }

    #[test]
    fn the_description_tells_phases_place_and_resistance() {
        let simulator = with_pre_fault_cycle();
        let mut scenario = simulator.scenario(FaultClass::LineToLine, 0);
        let fault = scenario.fault.as_mut().expect("a fault");
        fault.phases = [true, false, true];
        fault.section = 1;
        fault.position = 0.5;
        fault.phase_resistance_ohm = 0.25;
        assert_eq!(
            simulator.description(&scenario),
            "LL A C, 2.30 km from the head, 0.500 Ω"
        );
        let mut scenario = simulator.scenario(FaultClass::DoubleLineToGround, 0);
        let fault = scenario.fault.as_mut().expect("a fault");
        fault.phase_resistance_ohm = 12.4;
        fault.ground_resistance_ohm = Some(0.15);
        let text = simulator.description(&scenario);
        assert!(text.ends_with("12.400 Ω, 0.150 Ω to earth"), "{text}");
    }

    fn through_comtrade(record: &Record, storage: ComtradeStorage) -> Record {
        let files = comtrade::encode(record, storage).expect("encoded");
        let input = Input::from_bytes("fault.cfg", files.configuration)
            .with_companion("fault.dat", files.data);
        comtrade::read(&input, &Mode::Strict.into()).expect("read back")
    }

    fn samples(record: &Record) -> Vec<Vec<f64>> {
        let channels = 0..record.channels.len();
        let read = |channel| record.read_channel(channel).expect("samples");
        channels.map(read).collect()
    }

    #[test]
    fn float32_comtrade_gives_back_every_sample_exactly() {
        let record = with_pre_fault_cycle().record(FaultClass::DoubleLineToGround, 3);
        let read = through_comtrade(&record, ComtradeStorage::Float32);
        assert_eq!(samples(&read), samples(&record));
    }

    #[test]
    fn ascii_and_binary_comtrade_are_right_to_half_a_step_and_then_stay() {
        let record = with_pre_fault_cycle().record(FaultClass::SingleLineToGround, 5);
        for (storage, n_steps) in [
            (ComtradeStorage::Ascii, 199_996.0),
            (ComtradeStorage::Binary, 65_534.0),
        ] {
            let read = through_comtrade(&record, storage);
            for (found, made) in samples(&read).iter().zip(samples(&record)) {
                let low = made.iter().copied().fold(f64::INFINITY, f64::min);
                let high = made.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let half_step = (high - low) / n_steps / 2.0;
                for (f, m) in found.iter().zip(&made) {
                    assert!(
                        (f - m).abs() <= half_step * 1.001,
                        "{storage:?}: {f} for {m}"
                    );
                }
            }
            let again = through_comtrade(&read, storage);
            for (second, first) in samples(&again).iter().zip(samples(&read)) {
                let scale = first.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                let same = |(s, f): (&f64, &f64)| (s - f).abs() <= 1e-12 * scale;
                assert!(second.iter().zip(&first).all(same), "{storage:?} drifts");
            }
        }
    }

    #[test]
    fn comtrade_gives_back_names_units_rate_start_and_trigger() {
        let record = with_pre_fault_cycle().record(FaultClass::ThreeLine, 0);
        for storage in [
            ComtradeStorage::Ascii,
            ComtradeStorage::Binary,
            ComtradeStorage::Float32,
        ] {
            let read = through_comtrade(&record, storage);
            assert_eq!(read.start, record.start);
            assert_eq!(read.grid, record.grid);
            for (found, made) in read.channels.iter().zip(&record.channels) {
                assert_eq!(found.name, made.name);
                assert_eq!(found.unit.symbol, made.unit.symbol);
                assert_eq!(found.rate_hz, made.rate_hz);
                assert_eq!(found.n_samples, made.n_samples);
                assert_eq!(found.grid, made.grid);
            }
        }
    }
}
