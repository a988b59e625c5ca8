//! What one record is about: the random state of source, loads and fault, and the circuit it makes.

use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

use super::super::Interval;
use super::circuit::{DeltaLoad, FeederBranch, FeederCircuit, FeederShunt};
use super::network::FeederNetwork;
use crate::math::{RandomStream, random_below, random_share};
use crate::settings::SettingProblems;
use crate::simulate::phases::{Coupling, Phases};

/// The five conditions of the feeder, in the order of their labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultClass {
    /// Loads alone, one of them perhaps switched on.
    NoFault,
    /// One phase to earth.
    SingleLineToGround,
    /// Two phases.
    LineToLine,
    /// Two phases and earth.
    DoubleLineToGround,
    /// Three phases.
    ThreeLine,
}

impl FaultClass {
    /// All classes in order.
    pub const ALL: [Self; 5] = [
        Self::NoFault,
        Self::SingleLineToGround,
        Self::LineToLine,
        Self::DoubleLineToGround,
        Self::ThreeLine,
    ];

    /// The short name the field uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoFault => "no fault",
            Self::SingleLineToGround => "SLG",
            Self::LineToLine => "LL",
            Self::DoubleLineToGround => "LLG",
            Self::ThreeLine => "LLL",
        }
    }

    /// Position in [`FaultClass::ALL`].
    pub fn label(self) -> usize {
        self as usize
    }

    /// Every choice of faulted phases, a first.
    fn phase_choices(self) -> &'static [[bool; 3]] {
        const ONE: &[[bool; 3]] = &[
            [true, false, false],
            [false, true, false],
            [false, false, true],
        ];
        const TWO: &[[bool; 3]] = &[
            [true, true, false],
            [false, true, true],
            [true, false, true],
        ];
        match self {
            Self::NoFault => &[[false; 3]],
            Self::SingleLineToGround => ONE,
            Self::LineToLine | Self::DoubleLineToGround => TWO,
            Self::ThreeLine => &[[true; 3]],
        }
    }
}

/// The intervals that records are drawn from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultRanges {
    /// Fault resistance, drawn log-uniformly: of one phase to earth, between two phases, or from
    /// each of several phases to their common point; and once more from there to earth (LLG).
    pub fault_resistance_ohm: Interval,
    /// Angle of the source voltage of phase a at inception, 0 at its rising zero.
    pub inception_deg: Interval,
    /// Load of each consumer as a share of its rating.
    pub load_level: Interval,
    /// Power factor (inductive) of each consumer.
    pub power_factor: Interval,
    /// Largest relative deviation of one phase-to-phase branch from its consumer's level.
    pub load_unbalance: f64,
    /// Source voltage in per unit of the nominal voltage.
    pub source_pu: Interval,
    /// Share of the records without fault in which a consumer is switched on at time zero.
    pub load_switching_share: f64,
}

impl Default for FaultRanges {
    fn default() -> Self {
        Self {
            fault_resistance_ohm: Interval::new(0.01, 50.0),
            inception_deg: Interval::new(0.0, 360.0),
            load_level: Interval::new(0.3, 1.0),
            power_factor: Interval::new(0.8, 0.97),
            load_unbalance: 0.2,
            source_pu: Interval::new(0.95, 1.05),
            load_switching_share: 0.5,
        }
    }
}

impl FaultRanges {
    pub(super) fn check(&self, problems: &mut SettingProblems) {
        let intervals = [
            ("fault_resistance_ohm", self.fault_resistance_ohm, 1e-3, 1e5),
            ("inception_deg", self.inception_deg, -360.0, 360.0),
            ("load_level", self.load_level, 0.001, 2.0),
            ("power_factor", self.power_factor, 0.1, 0.999),
            ("source_pu", self.source_pu, 0.1, 2.0),
        ];
        for (setting, interval, low, high) in intervals {
            interval.check(setting, Interval::new(low, high), problems);
        }
        problems.require_within("load_unbalance", self.load_unbalance, 0.0, 0.9);
        let share = self.load_switching_share;
        problems.require_within("load_switching_share", share, 0.0, 1.0);
    }
}

/// A short circuit: the faulted phases meet in a star, which may be earthed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Which of a, b, c are faulted.
    pub phases: [bool; 3],
    /// The section it lies in.
    pub section: usize,
    /// Where in the section: 0 is its start, 1 its end.
    pub position: f64,
    /// From each faulted phase to the star point.
    pub phase_resistance_ohm: f64,
    /// From the star point to earth; none when it is isolated.
    pub ground_resistance_ohm: Option<f64>,
}

impl Fault {
    /// The drawn fault resistance: of one phase to earth, between two phases, or of each of several phases to
    /// their common point.
    pub fn resistance_ohm(&self, class: FaultClass) -> f64 {
        match class {
            FaultClass::LineToLine => 2.0 * self.phase_resistance_ohm,
            _ => self.phase_resistance_ohm,
        }
    }

    /// The conductance matrix seen from the phases once the star point is eliminated:
    /// diag(g) − g gᵀ R_g / (1 + R_g Σ g), and diag(g) − g gᵀ / Σ g when isolated.
    fn conductance(&self) -> Coupling<f64> {
        let g = self.phases.map(|faulted| {
            if faulted {
                1.0 / self.phase_resistance_ohm
            } else {
                0.0
            }
        });
        let total: f64 = g.iter().sum();
        let through_star = self
            .ground_resistance_ohm
            .map_or(1.0 / total, |earth| earth / (1.0 + earth * total));
        let row = |p: usize| {
            [0, 1, 2].map(|q| if p == q { g[p] } else { 0.0 } - g[p] * g[q] * through_star)
        };
        Coupling([row(0), row(1), row(2)])
    }
}

/// The load of one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadState {
    /// Share of the consumer's rating.
    pub level: f64,
    /// Inductive power factor.
    pub power_factor: f64,
    /// Factor on the power of each branch a–b, b–c, c–a.
    pub branch_factors: [f64; 3],
}

impl LoadState {
    /// Impedances of the branches a–b, b–c, c–a of a consumer of this rating.
    fn branch_impedances(&self, network: &FeederNetwork, rated_kva: f64) -> [Complex64; 3] {
        self.branch_factors.map(|factor| {
            let three_phase_va = rated_kva * 1e3 * self.level * factor;
            network.delta_branch_impedance(three_phase_va, self.power_factor)
        })
    }
}

/// Everything that was drawn for one record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// What happens at time zero.
    pub class: FaultClass,
    /// Source voltage in per unit.
    pub source_pu: f64,
    /// Angle of the source voltage of phase a at time zero, 0 at its rising zero.
    pub inception_deg: f64,
    /// One state per consumer of the network.
    pub loads: Vec<LoadState>,
    /// The consumer that is switched on at time zero, if one is.
    pub switched_consumer: Option<usize>,
    /// The fault that begins at time zero, if one does.
    pub fault: Option<Fault>,
}

/// A fault keeps this share of its section on either side, so that no branch vanishes.
const NEAREST_TO_BUS: f64 = 1e-3;

impl Scenario {
    /// Draws a record of `class`; the order of the draws is part of what a seed means.
    pub(super) fn draw(
        class: FaultClass,
        network: &FeederNetwork,
        ranges: &FaultRanges,
        random: &mut RandomStream,
    ) -> Self {
        let source_pu = ranges.source_pu.uniform(random);
        let inception_deg = ranges.inception_deg.uniform(random);
        let unbalance = Interval::new(1.0 - ranges.load_unbalance, 1.0 + ranges.load_unbalance);
        let loads = network
            .consumers
            .iter()
            .map(|_| LoadState {
                level: ranges.load_level.uniform(random),
                power_factor: ranges.power_factor.uniform(random),
                branch_factors: [0, 1, 2].map(|_| unbalance.uniform(random)),
            })
            .collect();
        let (fault, switched_consumer) = if class == FaultClass::NoFault {
            let switches = random_share(random) < ranges.load_switching_share;
            let consumer = random_below(random, network.consumers.len());
            (None, switches.then_some(consumer))
        } else {
            (Some(draw_fault(class, network, ranges, random)), None)
        };
        Self {
            class,
            source_pu,
            inception_deg,
            loads,
            switched_consumer,
            fault,
        }
    }

    /// The circuit of this scenario on `network`; a fault splits its section in two.
    pub(super) fn circuit(&self, network: &FeederNetwork) -> FeederCircuit {
        let omega = network.angular_frequency();
        let branch = |parent, impedance: &super::SequenceImpedance, length| FeederBranch {
            parent,
            resistance: impedance.resistance(length),
            inductance: impedance.inductance(length, omega),
        };
        let mut branches = vec![branch(None, &network.source_impedance, 1.0)];
        // Node of every bus: the fault's node shifts the buses behind it.
        let mut node_of_bus = vec![0];
        let mut fault_shunt = None;
        for (i, section) in network.sections.iter().enumerate() {
            let impedance = &section.impedance_per_km;
            let mut from = node_of_bus[section.from_bus];
            let mut length_km = section.length_km;
            if let Some(fault) = self.fault.filter(|fault| fault.section == i) {
                let position = fault.position.clamp(NEAREST_TO_BUS, 1.0 - NEAREST_TO_BUS);
                branches.push(branch(Some(from), impedance, length_km * position));
                from = branches.len() - 1;
                length_km *= 1.0 - position;
                fault_shunt = Some(FeederShunt {
                    node: from,
                    conductance: fault.conductance(),
                });
            }
            branches.push(branch(Some(from), impedance, length_km));
            node_of_bus.push(branches.len() - 1);
        }
        let loads = self
            .loads
            .iter()
            .zip(&network.consumers)
            .enumerate()
            .map(|(i, (state, consumer))| {
                let impedances = state.branch_impedances(network, consumer.rated_kva);
                DeltaLoad {
                    node: node_of_bus[consumer.bus],
                    resistance: impedances.map(|z| z.re),
                    inductance: impedances.map(|z| z.im / omega),
                    joins_at_switching: self.switched_consumer == Some(i),
                }
            })
            .collect();
        FeederCircuit {
            angular_frequency: omega,
            source: self.source_phasors(network),
            branches,
            loads,
            fault: fault_shunt,
        }
    }

    fn source_phasors(&self, network: &FeederNetwork) -> Phases<Complex64> {
        let peak_v = self.source_pu * network.nominal_phase_v() * 2.0_f64.sqrt();
        let angle = self.inception_deg.to_radians();
        Phases(
            [0.0, -TAU / 3.0, TAU / 3.0].map(|shift| Complex64::from_polar(peak_v, angle + shift)),
        )
    }
}

/// Section and position within it at `share` of all sections laid end to end.
fn place_at(network: &FeederNetwork, share: f64) -> (usize, f64) {
    let mut rest_km = share * network.total_length_km();
    for (number, section) in network.sections.iter().enumerate() {
        if rest_km <= section.length_km {
            return (number, rest_km / section.length_km);
        }
        rest_km -= section.length_km;
    }
    // Rounding left a trifle beyond the last section.
    (network.sections.len() - 1, 1.0)
}

/// Draws place, phases and resistances; every metre of line is equally likely.
fn draw_fault(
    class: FaultClass,
    network: &FeederNetwork,
    ranges: &FaultRanges,
    random: &mut RandomStream,
) -> Fault {
    let choices = class.phase_choices();
    let phases = choices[random_below(random, choices.len())];
    let (section, position) = place_at(network, random_share(random));
    let resistance_ohm = ranges.fault_resistance_ohm.log_uniform(random);
    let (phase_resistance_ohm, ground_resistance_ohm) = match class {
        FaultClass::SingleLineToGround => (resistance_ohm, Some(0.0)),
        // Two halves in series between the phases.
        FaultClass::LineToLine => (resistance_ohm / 2.0, None),
        // Arcs and the footing of the tower have nothing to do with each other.
        FaultClass::DoubleLineToGround => {
            let earth_ohm = ranges.fault_resistance_ohm.log_uniform(random);
            (resistance_ohm, Some(earth_ohm))
        }
        FaultClass::NoFault | FaultClass::ThreeLine => (resistance_ohm, None),
    };
    Fault {
        phases,
        section,
        position,
        phase_resistance_ohm,
        ground_resistance_ohm,
    }
}
