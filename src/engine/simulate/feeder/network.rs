//! The feeder as data: source, line sections, consumers, and the default 20 kV network.

use num_complex::Complex64;
use serde::{Deserialize, Serialize};

use crate::settings::SettingProblems;
use crate::simulate::phases::Coupling;

/// Positive- and zero-sequence resistance and reactance at the network's frequency,
/// in Ω for the source and in Ω/km for lines (negative sequence = positive).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceImpedance {
    /// Positive-sequence resistance.
    pub r1: f64,
    /// Positive-sequence reactance.
    pub x1: f64,
    /// Zero-sequence resistance.
    pub r0: f64,
    /// Zero-sequence reactance.
    pub x0: f64,
}

impl SequenceImpedance {
    /// Resistance matrix of a transposed three-phase element.
    pub(super) fn resistance(&self, length: f64) -> Coupling<f64> {
        sequence_to_phases(self.r0, self.r1).map(|r| r * length)
    }

    /// Inductance matrix of a transposed three-phase element.
    pub(super) fn inductance(&self, length: f64, angular_frequency: f64) -> Coupling<f64> {
        sequence_to_phases(self.x0, self.x1).map(|x| x * length / angular_frequency)
    }

    fn check(&self, place: &str, problems: &mut SettingProblems) {
        // A vanishing reactance would leave a branch without state, and X0 < X1
        // or R0 < R1 a negative mutual coupling, which no line or transformer has.
        problems.require_within(&format!("{place}.r1"), self.r1, 0.0, 1e3);
        problems.require_within(&format!("{place}.x1"), self.x1, 1e-4, 1e3);
        problems.require_within(&format!("{place}.r0"), self.r0, self.r1, 1e4);
        problems.require_within(&format!("{place}.x0"), self.x0, self.x1, 1e4);
    }
}

/// Own (z0 + 2 z1)/3 and mutual (z0 − z1)/3, the inverse of the symmetrical-component
/// transform for a transposed element.
fn sequence_to_phases(z0: f64, z1: f64) -> Coupling<f64> {
    Coupling::balanced((z0 + 2.0 * z1) / 3.0, (z0 - z1) / 3.0)
}

/// A three-phase line section; section `i` of the list leads to bus `i + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSection {
    /// The bus it starts at: 0 is the head, others must come earlier in the list.
    pub from_bus: usize,
    /// Length.
    pub length_km: f64,
    /// Impedance of one kilometre.
    pub impedance_per_km: SequenceImpedance,
}

/// What is connected at a bus through its Dyn transformers: an RL load in delta.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consumer {
    /// The bus it is connected to; 0 is the head.
    pub bus: usize,
    /// Three-phase power at full load and nominal voltage.
    pub rated_kva: f64,
}

/// A radial three-phase feeder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeederNetwork {
    /// Nominal line-to-line voltage, root mean square.
    pub nominal_kv: f64,
    /// Frequency of the source.
    pub frequency_hz: f64,
    /// Impedance behind which the ideal source lies, in Ω.
    pub source_impedance: SequenceImpedance,
    /// Line sections, each after the one it branches from.
    pub sections: Vec<LineSection>,
    /// Consumers along the feeder.
    pub consumers: Vec<Consumer>,
}

/// Cable 185 mm² Cu, XLPE, screens earthed at both ends.
const EXIT_CABLE: SequenceImpedance = SequenceImpedance {
    r1: 0.128,
    x1: 0.118,
    r0: 0.62,
    x0: 0.36,
};

/// Overhead line 126 mm² ACSR ("Hyena"). R0 − R1 is Carson's 3 π² f 10⁻⁴ Ω/km = 0.148 at 50 Hz.
const TRUNK_LINE: SequenceImpedance = SequenceImpedance {
    r1: 0.303,
    x1: 0.355,
    r0: 0.451,
    x0: 1.60,
};

/// Overhead line 73 mm² ACSR ("Mink").
const LATERAL_LINE: SequenceImpedance = SequenceImpedance {
    r1: 0.454,
    x1: 0.372,
    r0: 0.602,
    x0: 1.62,
};

impl Default for FeederNetwork {
    /// A 20 kV, 50 Hz feeder of 23 km and 5.3 MVA: exit cable, trunk, three laterals, eight consumers.
    fn default() -> Self {
        let section = |from_bus, length_km, impedance_per_km| LineSection {
            from_bus,
            length_km,
            impedance_per_km,
        };
        let rated_kva = [630.0, 800.0, 500.0, 1000.0, 630.0, 400.0, 800.0, 500.0];
        Self {
            nominal_kv: 20.0,
            frequency_hz: 50.0,
            // 63/20 kV, 30 MVA, 12.5 % (1.67 Ω) behind 1000 MVA (0.4 Ω): 193 MVA at the
            // bus; an earthing transformer limits a bolted earth fault there to 1 kA.
            source_impedance: SequenceImpedance {
                r1: 0.14,
                x1: 2.07,
                r0: 3.0,
                x0: 30.0,
            },
            sections: vec![
                section(0, 0.8, EXIT_CABLE),
                section(1, 3.0, TRUNK_LINE),
                section(2, 2.5, TRUNK_LINE),
                section(3, 3.5, TRUNK_LINE),
                section(4, 4.0, TRUNK_LINE),
                section(5, 4.2, LATERAL_LINE),
                section(3, 3.0, LATERAL_LINE),
                section(5, 2.0, LATERAL_LINE),
            ],
            consumers: rated_kva
                .iter()
                .enumerate()
                .map(|(i, &rated_kva)| Consumer {
                    bus: i + 1,
                    rated_kva,
                })
                .collect(),
        }
    }
}

impl FeederNetwork {
    /// Largest number of sections and of consumers: bounds time and memory of one record.
    const MOST_ELEMENTS: usize = 200;

    /// Angular frequency in rad/s.
    pub(super) fn angular_frequency(&self) -> f64 {
        std::f64::consts::TAU * self.frequency_hz
    }

    /// Root-mean-square phase-to-earth voltage at nominal voltage.
    pub(super) fn nominal_phase_v(&self) -> f64 {
        self.nominal_kv * 1e3 / 3.0_f64.sqrt()
    }

    /// Length of all sections together.
    pub fn total_length_km(&self) -> f64 {
        self.sections.iter().map(|section| section.length_km).sum()
    }

    /// Way along the line from the head to a place in a section (0 its start, 1 its end).
    pub fn distance_km(&self, section: usize, position: f64) -> f64 {
        let mut distance_km = 0.0;
        let mut share = position;
        let mut next = self.sections.get(section);
        while let Some(section) = next {
            distance_km += share * section.length_km;
            share = 1.0;
            // Bus b ends section b − 1; bus 0 ends none.
            let before = section.from_bus.checked_sub(1);
            next = before.and_then(|before| self.sections.get(before));
        }
        distance_km
    }

    /// Impedance of one delta branch that takes a third of `three_phase_va` at nominal voltage.
    pub(super) fn delta_branch_impedance(
        &self,
        three_phase_va: f64,
        power_factor: f64,
    ) -> Complex64 {
        let magnitude = (self.nominal_kv * 1e3).powi(2) / (three_phase_va / 3.0);
        Complex64::from_polar(magnitude, power_factor.acos())
    }

    /// Adds everything that makes this no radial feeder that can be solved.
    pub(super) fn check(&self, problems: &mut SettingProblems) {
        problems.require_within("nominal_kv", self.nominal_kv, 0.1, 1000.0);
        problems.require_within("frequency_hz", self.frequency_hz, 1.0, 1000.0);
        self.source_impedance.check("source_impedance", problems);
        for (list, count) in [
            ("sections", self.sections.len()),
            ("consumers", self.consumers.len()),
        ] {
            let setting = format!("number of {list}");
            problems.require_within(&setting, count, 1, Self::MOST_ELEMENTS);
        }
        for (i, section) in self.sections.iter().enumerate() {
            let place = format!("sections[{i}]");
            let from = format!("{place}.from_bus");
            problems.require_within(&from, section.from_bus, 0, i);
            let length = format!("{place}.length_km");
            problems.require_within(&length, section.length_km, 0.01, 1000.0);
            let impedance = format!("{place}.impedance_per_km");
            section.impedance_per_km.check(&impedance, problems);
        }
        for (i, consumer) in self.consumers.iter().enumerate() {
            let bus = format!("consumers[{i}].bus");
            problems.require_within(&bus, consumer.bus, 0, self.sections.len());
            let rated = format!("consumers[{i}].rated_kva");
            problems.require_within(&rated, consumer.rated_kva, 0.1, 1e6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_network_is_legal_and_as_documented() {
        let network = FeederNetwork::default();
        let mut problems = SettingProblems::default();
        network.check(&mut problems);
        assert_eq!(problems.into_list(), []);
        assert!((network.total_length_km() - 23.0).abs() < 1e-9);
        let mva: f64 = network.consumers.iter().map(|c| c.rated_kva).sum::<f64>() / 1e3;
        assert!((mva - 5.26).abs() < 1e-9);
        let z = network.source_impedance;
        let bolted_a = 3.0 * network.nominal_phase_v()
            / Complex64::new(2.0 * z.r1 + z.r0, 2.0 * z.x1 + z.x0).norm();
        assert!((bolted_a - 1000.0).abs() < 20.0, "{bolted_a} A");
    }

    #[test]
    fn distances_follow_the_way_from_the_head() {
        let network = FeederNetwork::default();
        assert_eq!(network.distance_km(0, 0.5), 0.4);
        // Second lateral: cable, two trunk sections, then half of 3 km.
        let distance_km = network.distance_km(6, 0.5);
        assert!((distance_km - (0.8 + 3.0 + 2.5 + 1.5)).abs() < 1e-12);
    }

    #[test]
    fn a_loop_and_a_consumer_on_no_bus_are_named() {
        let mut network = FeederNetwork::default();
        network.sections[2].from_bus = 7;
        network.consumers[1].bus = 9;
        let mut problems = SettingProblems::default();
        network.check(&mut problems);
        let texts: Vec<String> = problems
            .into_list()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            texts,
            [
                "sections[2].from_bus must be 0 to 2, but is 7",
                "consumers[1].bus must be 0 to 8, but is 9"
            ]
        );
    }

    #[test]
    fn phase_matrices_have_the_sequence_impedances_as_eigenvalues() {
        let r = TRUNK_LINE.resistance(2.0);
        let common = r.times(crate::simulate::phases::Phases([1.0; 3]));
        let between = r.times(crate::simulate::phases::Phases([1.0, -1.0, 0.0]));
        assert!((common.0[0] - 2.0 * TRUNK_LINE.r0).abs() < 1e-12);
        assert!((between.0[0] - 2.0 * TRUNK_LINE.r1).abs() < 1e-12);
    }
}
