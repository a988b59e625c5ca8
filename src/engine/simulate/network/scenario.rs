//! What one record is about: the network, the fault or event on it, how it is recorded, and the circuit that makes.

use std::f64::consts::TAU;

use num_complex::Complex64;

use super::inrush::Inrush;
use super::solver::{Arc, Breaker, Circuit, End, SeriesBranch, Shunt, Solution, SolverTiming};
use super::{NetworkRanges, NetworkSettings, NetworkSimulator, NetworkWaveforms};
use crate::math::{Normal, RandomStream, random_below, random_share, random_stream};
use crate::simulate::feeder::FaultClass;
use crate::simulate::phases::{Coupling, Phases};
use crate::simulate::{FaultStar, Interval};

/// Other events of a records inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A transformer is switched on.
    Inrush,
    /// A large motor is switched on.
    MotorStart,
    /// A capacitor bank is switched on.
    CapacitorSwitching,
    /// One phase touches earth through an arc.
    HighImpedanceArc,
    /// A load is switched on or off.
    LoadChange,
    /// A fault that becomes another one.
    EvolvingFault,
}

impl EventKind {
    /// All of them in order.
    pub const ALL: [Self; 6] = [
        Self::Inrush,
        Self::MotorStart,
        Self::CapacitorSwitching,
        Self::HighImpedanceArc,
        Self::LoadChange,
        Self::EvolvingFault,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inrush => "inrush",
            Self::MotorStart => "motor start",
            Self::CapacitorSwitching => "capacitor switching",
            Self::HighImpedanceArc => "high-impedance arc",
            Self::LoadChange => "load change",
            Self::EvolvingFault => "evolving fault",
        }
    }
}

/// What happens in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkClass {
    /// One of the five conditions.
    Fault(FaultClass),
    /// Another event.
    Event(EventKind),
}

impl NetworkClass {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fault(class) => class.name(),
            Self::Event(kind) => kind.name(),
        }
    }

    fn number(self) -> u64 {
        match self {
            Self::Fault(class) => class.label() as u64,
            Self::Event(kind) => 16 + kind as u64,
        }
    }
}

/// How the neutral of the source is earthed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Neutral {
    /// Directly.
    Solid,
    /// Through a resistance and a reactance in Ω.
    Impedance(f64, f64),
    /// Not at all.
    Isolated,
    /// Through a coil that compensates the capacitance but for this share.
    Petersen(f64),
}

/// What hangs at the far end of the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FarEnd {
    /// A source: share of the fault level of the near one, angle behind it in degrees.
    Source(f64, f64),
    /// A load that lets no zero sequence pass.
    Load,
    /// A load behind a transformer whose neutral is earthed, of this reactance in Ω.
    EarthedTransformer(f64),
}

/// What happens at time zero.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Happening {
    Nothing,
    Fault(FaultStar),
    Evolving(FaultStar, FaultStar, f64),
    /// Impedance in Ω that joins at the far end.
    LoadJoins(f64, f64),
    LoadLeaves(f64, f64),
    /// Capacitance of each phase in F, star not earthed.
    Capacitor(f64),
    /// Phase, voltages of the half cycles, resistances.
    HighImpedanceArc(usize, [f64; 2], Vec<f64>),
    Inrush(Inrush, f64),
    /// The voltage of the network goes to a share of what it was within some cycles, and the currents with it.
    VoltageRamp(f64, f64),
}

/// One record before it is solved.
#[derive(Clone, Debug)]
pub struct NetworkScenario {
    /// What happens.
    pub class: NetworkClass,
    /// Line-to-line voltage.
    pub nominal_kv: f64,
    /// Frequency.
    pub frequency_hz: f64,
    /// Source impedance in Ω: r1, x1, r0, x0.
    pub source_ohm: [f64; 4],
    /// Neutral of the source.
    pub neutral: Neutral,
    /// Impedance of the whole line in Ω: r1, x1, r0, x0.
    pub line_ohm: [f64; 4],
    /// Length of the line.
    pub line_km: f64,
    /// Place of the fault as a share of the line.
    pub place: f64,
    /// What hangs at the far end.
    pub far_end: FarEnd,
    /// Load at the far end in Ω: r, x.
    pub load_ohm: (f64, f64),
    /// Faulted phases.
    pub phases: [bool; 3],
    /// Samples of a cycle.
    pub samples_per_cycle: usize,
    pub(super) happening: Happening,
    pub(super) angle: f64,
    /// Capacitance of each phase of the rest of the network to earth, in F.
    pub(super) capacitance: f64,
    pub(super) opens_cycles: Option<f64>,
    pub(super) was_dead: bool,
    pub(super) is_reversed: bool,
    pub(super) noise_db: f64,
    pub(super) harmonics: [f64; 4],
    pub(super) ramp: f64,
    pub(super) seed: (u64, u64),
}

impl NetworkSimulator {
    /// Draws record `index` of `class`, whatever the number of records.
    pub fn scenario(&self, class: NetworkClass, index: u32) -> NetworkScenario {
        let number = class.number() << 32 | u64::from(index);
        let mut random = random_stream(self.settings.seed, "network record", number);
        let mut scenario = NetworkScenario::network(class, &self.settings.ranges, &mut random);
        scenario.seed = (self.settings.seed, number);
        scenario.draw_happening(&self.settings.ranges, &mut random);
        scenario
    }

    /// Solves a scenario in time.
    pub fn waveforms(&self, scenario: &NetworkScenario) -> NetworkWaveforms {
        let clean = scenario.solve(&self.settings);
        scenario.recorded(clean)
    }
}

fn chance(random: &mut RandomStream, share: f64) -> bool {
    random_share(random) < share
}

fn between(random: &mut RandomStream, low: f64, high: f64) -> f64 {
    Interval::new(low, high).uniform(random)
}

fn log_between(random: &mut RandomStream, low: f64, high: f64) -> f64 {
    Interval::new(low, high.max(low)).log_uniform(random)
}

/// Resistance and reactance of a size at an angle given by X/R.
fn parts(size: f64, x_over_r: f64) -> (f64, f64) {
    let r = size / (1.0 + x_over_r * x_over_r).sqrt();
    (r, r * x_over_r)
}

impl NetworkScenario {
    fn network(class: NetworkClass, ranges: &NetworkRanges, random: &mut RandomStream) -> Self {
        const RATES: [usize; 9] = [16, 20, 24, 32, 48, 64, 80, 96, 128];
        let kv = ranges.nominal_kv.log_uniform(random);
        let frequency_hz = if chance(random, 0.5) { 50.0 } else { 60.0 };
        // Three-phase fault currents of about 1 to 60 kA are what such networks have.
        let level = |ka: f64| {
            let mva = 3.0_f64.sqrt() * kv * ka;
            mva.clamp(ranges.fault_level_mva.low, ranges.fault_level_mva.high)
        };
        let fault_mva = log_between(random, level(1.0), level(60.0));
        let z1 = kv * kv / fault_mva;
        let (r1, x1) = parts(z1, ranges.x_over_r.log_uniform(random));
        let neutral = draw_neutral(kv, z1, random);
        let is_cable = kv < 150.0 && chance(random, 0.25);
        let longest = (if is_cable { 0.25 } else { 0.8 } * kv).max(3.0);
        let line_km = log_between(random, ranges.line_km.low, longest.min(ranges.line_km.high));
        let line_ohm = draw_line(kv, line_km, is_cable, random);
        let load_mva = draw_load(kv, fault_mva, z1, line_ohm, random);
        let load_z = kv * kv / load_mva;
        let (load_r, load_x) = {
            let power_factor = between(random, 0.8, 0.99);
            let angle = power_factor.acos();
            (load_z * angle.cos(), load_z * angle.sin())
        };
        let is_earthed = matches!(neutral, Neutral::Solid | Neutral::Impedance(..));
        let far_end = match random_share(random) {
            s if s < 0.45 && kv > 30.0 && is_earthed => {
                FarEnd::Source(log_between(random, 0.05, 3.0), between(random, -25.0, 25.0))
            }
            s if s < 0.6 && kv > 30.0 && is_earthed => {
                FarEnd::EarthedTransformer(kv * kv / load_mva * between(random, 0.05, 0.2))
            }
            _ => FarEnd::Load,
        };
        let omega = TAU * frequency_hz;
        // Charging current of an earth fault, 2 to 150 A.
        let earth_a = log_between(random, 2.0, 150.0);
        let capacitance = match is_earthed {
            true => 0.0,
            false => earth_a / (3.0 * omega * kv * 1e3 / 3.0_f64.sqrt()),
        };
        let source_ohm = source_impedance((r1, x1), neutral, omega * capacitance, random);
        let harmonics = [0; 4].map(|_| ranges.harmonics * (2.0 * random_share(random) - 1.0));
        Self {
            class,
            nominal_kv: kv,
            frequency_hz,
            source_ohm,
            neutral,
            line_ohm,
            line_km,
            place: between(random, 0.02, 0.98),
            far_end,
            load_ohm: (load_r, load_x),
            phases: [false; 3],
            samples_per_cycle: RATES[random_below(random, RATES.len())],
            happening: Happening::Nothing,
            angle: between(random, 0.0, TAU),
            capacitance,
            opens_cycles: None,
            was_dead: false,
            is_reversed: chance(random, 0.5),
            noise_db: ranges.noise_db.uniform(random),
            harmonics,
            ramp: between(random, -0.02, 0.02),
            seed: (0, 0),
        }
    }

    fn draw_happening(&mut self, ranges: &NetworkRanges, random: &mut RandomStream) {
        let class = match self.class {
            NetworkClass::Fault(FaultClass::NoFault) => {
                // The record of a healthy line was triggered by something.
                match random_below(random, 6) {
                    0 => NetworkClass::Fault(FaultClass::NoFault),
                    1 | 2 => NetworkClass::Event(EventKind::LoadChange),
                    3 => NetworkClass::Event(EventKind::MotorStart),
                    4 => return self.happening = draw_ramp(random),
                    _ => match random_below(random, 2) {
                        0 => NetworkClass::Event(EventKind::Inrush),
                        _ => NetworkClass::Event(EventKind::CapacitorSwitching),
                    },
                }
            }
            class => class,
        };
        self.happening = match class {
            NetworkClass::Fault(FaultClass::NoFault) => Happening::Nothing,
            NetworkClass::Fault(fault) => {
                let star = self.draw_star(fault, ranges, random);
                self.phases = star.phases;
                self.was_dead = self.far_end == FarEnd::Load && chance(random, ranges.dead_share);
                Happening::Fault(star)
            }
            NetworkClass::Event(kind) => self.draw_event(kind, ranges, random),
        };
        let is_fault = matches!(
            self.happening,
            Happening::Fault(_) | Happening::Evolving(..)
        );
        if is_fault && chance(random, ranges.cleared_share) {
            self.opens_cycles = Some(between(random, 3.0, 5.5));
        }
    }

    fn draw_star(
        &self,
        class: FaultClass,
        ranges: &NetworkRanges,
        random: &mut RandomStream,
    ) -> FaultStar {
        let is_floating = matches!(self.neutral, Neutral::Isolated | Neutral::Petersen(_));
        let phase_ohm = ranges.phase_resistance_ohm.log_uniform(random);
        let earth_ohm = ranges.earth_resistance_ohm.log_uniform(random);
        let earth_ohm = if is_floating {
            10.0 * earth_ohm
        } else {
            earth_ohm
        };
        let one = random_below(random, 3);
        let only = [0, 1, 2].map(|p| p == one);
        let both = only.map(|is| !is);
        let (phases, phase_ohm, earth_ohm) = match class {
            FaultClass::SingleLineToGround => (only, earth_ohm / 2.0, Some(earth_ohm / 2.0)),
            FaultClass::LineToLine => (both, phase_ohm / 2.0, None),
            FaultClass::DoubleLineToGround => {
                let earth_ohm = if is_floating {
                    earth_ohm / 10.0
                } else {
                    earth_ohm
                };
                (both, phase_ohm / 2.0, Some(earth_ohm / 4.0))
            }
            FaultClass::ThreeLine | FaultClass::NoFault => ([true; 3], phase_ohm / 2.0, None),
        };
        FaultStar {
            phases,
            phase_ohm,
            earth_ohm,
        }
    }

    fn draw_event(
        &mut self,
        kind: EventKind,
        ranges: &NetworkRanges,
        random: &mut RandomStream,
    ) -> Happening {
        let (load_r, load_x) = self.load_ohm;
        let load_z = load_r.hypot(load_x);
        let omega = TAU * self.frequency_hz;
        match kind {
            EventKind::MotorStart => {
                // 4 to 8 times the rated current of a motor that is at most as large as the load; the voltage keeps 92 %.
                let rated_z = load_z / log_between(random, 0.2, 1.0);
                let [_, x1, ..] = self.source_ohm;
                let [_, line_x, ..] = self.line_ohm;
                let start_z = (rated_z / between(random, 4.0, 8.0)).max(12.0 * (x1 + line_x));
                let power_factor = between(random, 0.12, 0.4);
                self.far_end = FarEnd::Load;
                Happening::LoadJoins(
                    start_z * power_factor,
                    start_z * (1.0 - power_factor * power_factor).sqrt(),
                )
            }
            EventKind::LoadChange => {
                let z = load_z / between(random, 0.2, 1.0);
                let angle = between(random, 0.8, 0.99).acos();
                match chance(random, 0.6) {
                    true => Happening::LoadJoins(z * angle.cos(), z * angle.sin()),
                    false => Happening::LoadLeaves(z * angle.cos(), z * angle.sin()),
                }
            }
            EventKind::CapacitorSwitching => {
                // f_r = 1/√(q·zs) in units of the frequency: 4 to 20.
                let order = between(random, 4.0, 20.0);
                let [_, x1, ..] = self.source_ohm;
                Happening::Capacitor(1.0 / (order * order * x1 * omega))
            }
            EventKind::HighImpedanceArc => {
                let peak = self.nominal_kv * 1e3 * (2.0_f64 / 3.0).sqrt();
                let voltages = [0; 2].map(|_| peak * between(random, 0.2, 0.7));
                // A few per cent of the load current; some half cycles fail, and it grows.
                let ohm = peak / (peak / load_z * between(random, 0.05, 0.5));
                let mut half_cycle = |k: usize| match chance(random, 0.1) {
                    true => f64::INFINITY,
                    false => ohm * between(random, 0.7, 1.3) / (1.0 + 0.1 * k as f64),
                };
                let ohms = (0..64).map(&mut half_cycle).collect();
                let phase = random_below(random, 3);
                self.phases = [0, 1, 2].map(|p| p == phase);
                Happening::HighImpedanceArc(phase, voltages, ohms)
            }
            EventKind::EvolvingFault => {
                let first_class = match random_below(random, 2) {
                    0 => FaultClass::SingleLineToGround,
                    _ => FaultClass::LineToLine,
                };
                let first = self.draw_star(first_class, ranges, random);
                let class = match first_class {
                    FaultClass::SingleLineToGround => FaultClass::DoubleLineToGround,
                    _ => FaultClass::ThreeLine,
                };
                let mut second = self.draw_star(class, ranges, random);
                if class == FaultClass::DoubleLineToGround {
                    // The faulted phase stays faulted.
                    let healthy = (0..3).rfind(|p| !first.phases[*p]).unwrap_or(0);
                    second.phases = [0, 1, 2].map(|p| p != healthy);
                }
                self.phases = second.phases;
                Happening::Evolving(first, second, between(random, 1.5, 3.0))
            }
            EventKind::Inrush => {
                let [r1, x1, ..] = self.source_ohm;
                let rated_z = load_z * log_between(random, 0.5, 3.0);
                let sign = if chance(random, 0.5) { 1.0 } else { -1.0 };
                let rest = sign * between(random, 0.2, 0.8);
                let mut remanence = [rest, -rest / 2.0, -rest / 2.0];
                remanence.rotate_right(random_below(random, 3));
                let inrush = Inrush {
                    saturation: between(random, 1.1, 1.25),
                    saturated_x: between(random, 0.12, 0.4),
                    winding_r: between(random, 0.003, 0.015),
                    source: (r1 / rated_z, x1 / rated_z),
                    remanence,
                    is_delta: chance(random, 0.5),
                    angle: self.angle,
                };
                Happening::Inrush(inrush, rated_z)
            }
        }
    }

    /// Cycles after the inception until the events of the scenario end.
    fn timing(&self, settings: &NetworkSettings, shift_s: f64) -> SolverTiming {
        let per_cycle = self.samples_per_cycle;
        let steps_per_sample = 256_usize.div_ceil(per_cycle);
        let rate_hz = per_cycle as f64 * self.frequency_hz;
        SolverTiming {
            start_s: shift_s - settings.cycles_before as f64 / self.frequency_hz,
            step_s: 1.0 / (rate_hz * steps_per_sample as f64),
            steps_per_sample,
            n_samples: (settings.cycles_before + settings.cycles_after) * per_cycle + 1,
        }
    }

    fn solve(&self, settings: &NetworkSettings) -> NetworkWaveforms {
        // The inception lies anywhere between two samples, on a step.
        let mut random = random_stream(self.seed.0, "network inception", self.seed.1);
        let timing = self.timing(settings, 0.0);
        let shift = random_below(&mut random, timing.steps_per_sample) as f64;
        let timing = self.timing(settings, -shift * timing.step_s);
        if let Happening::Inrush(inrush, rated_z) = &self.happening {
            return self.inrush_waveforms(inrush, *rated_z, settings);
        }
        let solution = self.circuit().run(timing);
        self.observed(&solution, timing)
    }

    fn observed(&self, solution: &Solution, timing: SolverTiming) -> NetworkWaveforms {
        let instants = &solution.instants;
        let voltage =
            |node: usize, p: usize| instants.iter().map(|i| i.voltages[node].0[p]).collect();
        let current = |branch: usize, p: usize, sign: f64| -> Vec<f64> {
            instants
                .iter()
                .map(|i| sign * i.currents[branch].0[p])
                .collect()
        };
        let node = if self.was_dead { LINE } else { BUS };
        NetworkWaveforms {
            rate_hz: self.samples_per_cycle as f64 * self.frequency_hz,
            inception_s: -timing.start_s,
            clearing_s: self.interruption_s(solution, timing),
            voltages_v: [0, 1, 2].map(|p| voltage(node, p)),
            currents_a: [0, 1, 2].map(|p| current(NEAR_LINE, p, 1.0)),
            far_end: Some([
                voltage(FAR, 0),
                voltage(FAR, 1),
                voltage(FAR, 2),
                current(FAR_LINE, 0, -1.0),
                current(FAR_LINE, 1, -1.0),
                current(FAR_LINE, 2, -1.0),
            ]),
        }
    }

    /// When the fault was interrupted: the last opening of a pole that interrupted a part of the fault and not the load
    /// alone. Where one pole ends the fault, the others carry little until they open.
    fn interruption_s(&self, solution: &Solution, timing: SolverTiming) -> Option<f64> {
        let opens_s = self.opens_cycles? / self.frequency_hz;
        let sample = |time_s: f64| {
            let sample_s = timing.step_s * timing.steps_per_sample as f64;
            ((time_s - timing.start_s) / sample_s).max(0.0) as usize
        };
        let largest_a = |from_s: f64, to_s: f64| {
            let span = solution.instants.get(sample(from_s)..sample(to_s));
            let currents = span.into_iter().flatten();
            let currents = currents.flat_map(|instant| instant.currents[NEAR_LINE].0);
            currents.fold(0.0_f64, |most, i| most.max(i.abs()))
        };
        let cycle_s = 1.0 / self.frequency_hz;
        let load_a = largest_a(timing.start_s, 0.0);
        let fault_a = largest_a(opens_s - cycle_s, opens_s);
        let part_a = (PART_OF_FAULT * fault_a).max(MORE_THAN_LOAD * load_a);
        let opened = solution.opened[0].iter().flatten();
        let of_fault = opened.filter(|(_, interrupted_a)| *interrupted_a > part_a);
        let last_s = of_fault.map(|(opened_s, _)| *opened_s).reduce(f64::max)?;
        Some(last_s - timing.start_s)
    }

    /// The circuit of the module's picture.
    pub(super) fn circuit(&self) -> Circuit {
        let omega = TAU * self.frequency_hz;
        let coupled = |[r1, x1, r0, x0]: [f64; 4], share: f64| {
            let matrix = |one: f64, zero: f64| {
                Coupling::balanced(share * (zero + 2.0 * one) / 3.0, share * (zero - one) / 3.0)
            };
            (matrix(r1, r0), matrix(x1 / omega, x0 / omega))
        };
        let branch = |from: End, to: usize, ohm: [f64; 4], share: f64| {
            let (resistance, inductance) = coupled(ohm, share);
            SeriesBranch {
                from,
                to,
                resistance,
                inductance,
                joins_s: f64::NEG_INFINITY,
            }
        };
        let peak = self.nominal_kv * 1e3 * (2.0_f64 / 3.0).sqrt();
        let source = |size: f64, angle: f64| {
            let a = Complex64::from_polar(size, angle);
            let back = Complex64::cis(-TAU / 3.0);
            End::Source(Phases([a, a * back, a * back.conj()]))
        };
        let earth = End::Source(Phases::default());
        let (load_r, load_x) = self.load_ohm;
        let far = match self.far_end {
            FarEnd::Source(level, angle_deg) => {
                let ohm = self.source_ohm.map(|z| z / level);
                branch(
                    source(peak, self.angle + angle_deg.to_radians()),
                    FAR,
                    ohm,
                    1.0,
                )
            }
            FarEnd::Load => branch(earth, FAR, [load_r, load_x, NO_ZERO, load_x], 1.0),
            FarEnd::EarthedTransformer(x0) => {
                branch(earth, FAR, [load_r, load_x, 0.05 * x0, x0], 1.0)
            }
        };
        let mut circuit = Circuit {
            angular_frequency: omega,
            n_nodes: 5,
            branches: vec![
                branch(End::Node(LINE), FAULT, self.line_ohm, self.place),
                branch(End::Node(FAULT), FAR, self.line_ohm, 1.0 - self.place),
                branch(source(peak, self.angle), BUS, self.source_ohm, 1.0),
                far,
                // The node of the switched load always has a way to earth.
                branch(earth, SWITCHED, [NO_ZERO; 4], 1.0),
            ],
            shunts: vec![Shunt {
                node: BUS,
                conductance: Coupling::default(),
                capacitance: Coupling::balanced(self.capacitance, 0.0),
                from_s: f64::NEG_INFINITY,
                until_s: f64::INFINITY,
            }],
            breakers: vec![
                Breaker {
                    from: BUS,
                    to: LINE,
                    closes_s: if self.was_dead {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    },
                    opens_s: self
                        .opens_cycles
                        .map_or(f64::INFINITY, |c| c / self.frequency_hz),
                },
                Breaker {
                    from: FAR,
                    to: SWITCHED,
                    closes_s: f64::NEG_INFINITY,
                    opens_s: f64::INFINITY,
                },
            ],
            arc: None,
            is_damped: self.capacitance > 0.0 && !matches!(self.happening, Happening::Capacitor(_)),
        };
        self.add_happening(&mut circuit);
        circuit
    }

    fn add_happening(&self, circuit: &mut Circuit) {
        let omega = TAU * self.frequency_hz;
        let fault = |star: &FaultStar, from_s: f64, until_s: f64| Shunt {
            node: FAULT,
            conductance: star.conductance(),
            capacitance: Coupling::default(),
            from_s,
            until_s,
        };
        let load = |r: f64, x: f64| SeriesBranch {
            from: End::Source(Phases::default()),
            to: SWITCHED,
            // A star without neutral: no zero sequence.
            resistance: Coupling::balanced((NO_ZERO + 2.0 * r) / 3.0, (NO_ZERO - r) / 3.0),
            inductance: Coupling::balanced(x / omega, 0.0),
            joins_s: f64::NEG_INFINITY,
        };
        match &self.happening {
            Happening::Nothing | Happening::Inrush(..) | Happening::VoltageRamp(..) => {}
            Happening::Fault(star) => {
                let from_s = if self.was_dead {
                    f64::NEG_INFINITY
                } else {
                    0.0
                };
                circuit.shunts.push(fault(star, from_s, f64::INFINITY));
            }
            Happening::Evolving(first, second, cycles) => {
                let second_s = cycles / self.frequency_hz;
                circuit.shunts.push(fault(first, 0.0, second_s));
                circuit.shunts.push(fault(second, second_s, f64::INFINITY));
            }
            Happening::LoadJoins(r, x) => {
                let mut joined = load(*r, *x);
                joined.joins_s = 0.0;
                circuit.branches.push(joined);
            }
            Happening::LoadLeaves(r, x) => {
                circuit.branches.push(load(*r, *x));
                circuit.breakers[1].opens_s = 0.0;
            }
            Happening::Capacitor(farad) => circuit.shunts.push(Shunt {
                node: BUS,
                conductance: Coupling::default(),
                capacitance: Coupling::balanced(farad * 2.0 / 3.0, -farad / 3.0),
                from_s: 0.0,
                until_s: f64::INFINITY,
            }),
            Happening::HighImpedanceArc(phase, voltages_v, ohms) => {
                circuit.arc = Some(Arc {
                    node: FAULT,
                    phase: *phase,
                    voltages_v: *voltages_v,
                    resistances_ohm: ohms.clone(),
                    from_s: 0.0,
                });
            }
        }
    }

    fn inrush_waveforms(
        &self,
        inrush: &Inrush,
        rated_z: f64,
        settings: &NetworkSettings,
    ) -> NetworkWaveforms {
        let per_cycle = self.samples_per_cycle;
        let n_before = settings.cycles_before * per_cycle;
        let n_after = settings.cycles_after * per_cycle + 1;
        let volt = self.nominal_kv * 1e3 * (2.0_f64 / 3.0).sqrt();
        let after = inrush.run(per_cycle, 512_usize.div_ceil(per_cycle), n_after);
        // The load that was there before goes on, at the voltage of the bus.
        let (load_r, load_x) = self.load_ohm;
        let load = Complex64::new(load_r, load_x).inv() * volt;
        let third = TAU / 3.0;
        let turn = |k: f64, p: usize| TAU * k / per_cycle as f64 + inrush.angle - p as f64 * third;
        let wave = |p: usize, of: &dyn Fn(f64, Option<usize>) -> f64| -> Vec<f64> {
            let before = (0..n_before).map(|k| of(turn(k as f64 - n_before as f64, p), None));
            let during = (0..n_after).map(|k| of(turn(k as f64, p), Some(k)));
            before.chain(during).collect()
        };
        let voltage = |p: usize| {
            wave(p, &|angle, sample| match sample {
                None => volt * angle.sin(),
                Some(k) => volt * after[k].voltage.0[p],
            })
        };
        let current = |p: usize| {
            wave(p, &|angle, sample| {
                let steady = (load * Complex64::cis(angle)).im;
                steady + sample.map_or(0.0, |k| volt / rated_z * after[k].current.0[p])
            })
        };
        NetworkWaveforms {
            rate_hz: per_cycle as f64 * self.frequency_hz,
            inception_s: n_before as f64 / (per_cycle as f64 * self.frequency_hz),
            clearing_s: None,
            voltages_v: [voltage(0), voltage(1), voltage(2)],
            currents_a: [current(0), current(1), current(2)],
            far_end: None,
        }
    }

    /// Share of the usual voltage some cycles after the inception.
    fn voltage_size(&self, cycles: f64) -> f64 {
        match self.happening {
            Happening::VoltageRamp(target, within) if cycles >= 0.0 => {
                let done = if within > 0.0 {
                    (cycles / within).min(1.0)
                } else {
                    1.0
                };
                1.0 + (target - 1.0) * done
            }
            _ => 1.0,
        }
    }

    /// What a recorder makes of clean waveforms: ramp, harmonics, polarity, noise.
    fn recorded(&self, mut clean: NetworkWaveforms) -> NetworkWaveforms {
        let mut random = random_stream(self.seed.0, "network noise", self.seed.1);
        let mut normal = Normal::default();
        let span_s = clean.voltages_v[0].len() as f64 / clean.rate_hz;
        let sign = if self.is_reversed { -1.0 } else { 1.0 };
        let inception_s = clean.inception_s;
        let size_at = |t: f64| self.voltage_size((t - inception_s) * self.frequency_hz);
        let omega = TAU * self.frequency_hz;
        let noise = 10.0_f64.powf(-self.noise_db / 20.0);
        let NetworkWaveforms {
            rate_hz,
            voltages_v,
            currents_a,
            ..
        } = &mut clean;
        let groups = [
            (voltages_v, [self.harmonics[0], self.harmonics[1]], 1.0),
            (currents_a, [self.harmonics[2], self.harmonics[3]], sign),
        ];
        for (three, harmonics, sign) in groups {
            let n = three.iter().map(Vec::len).sum::<usize>().max(1) as f64;
            let power = three.iter().flatten().map(|v| v * v).sum::<f64>() / n;
            let first_cycle = self.samples_per_cycle;
            let normal_size = three
                .iter()
                .flat_map(|phase| phase.iter().take(first_cycle))
                .fold(0.0_f64, |most, v| most.max(v.abs()));
            for (p, phase) in three.iter_mut().enumerate() {
                for (k, value) in phase.iter_mut().enumerate() {
                    let t = k as f64 / *rate_hz;
                    let turn = omega * t - p as f64 * TAU / 3.0;
                    let distortion =
                        harmonics[0] * (5.0 * turn).cos() + harmonics[1] * (7.0 * turn).sin();
                    let ramped = (*value + normal_size * distortion)
                        * (1.0 + self.ramp * t / span_s)
                        * size_at(t);
                    *value = sign * ramped + noise * power.sqrt() * normal.draw(&mut random);
                }
            }
        }
        clean
    }
}

const BUS: usize = 0;
const LINE: usize = 1;
const FAULT: usize = 2;
const FAR: usize = 3;
const SWITCHED: usize = 4;

/// Places of the two parts of the line among the branches.
const NEAR_LINE: usize = 0;
const FAR_LINE: usize = 1;

/// Share of the fault's current, and multiple of the load, from which a pole interrupts part of the fault.
const PART_OF_FAULT: f64 = 0.15;
const MORE_THAN_LOAD: f64 = 1.3;

/// An impedance in Ω that carries nothing.
const NO_ZERO: f64 = 1e7;

/// A change of the voltage alone, as test sets, tap changers and lost loads make it: mostly a rise, at once or within two
/// cycles. A deep dip would be what a three-phase fault elsewhere shows.
fn draw_ramp(random: &mut RandomStream) -> Happening {
    let target = match chance(random, 0.75) {
        true => between(random, 1.05, 1.6),
        false => between(random, 0.9, 0.97),
    };
    let cycles = match chance(random, 0.5) {
        true => 0.0,
        false => between(random, 0.1, 2.0),
    };
    Happening::VoltageRamp(target, cycles)
}

fn draw_neutral(kv: f64, z1: f64, random: &mut RandomStream) -> Neutral {
    if kv > 70.0 {
        return Neutral::Solid;
    }
    match random_below(random, 4) {
        0 => Neutral::Solid,
        1 => {
            // Earth faults of 0.1 to 1 of the three-phase level.
            let size = 3.0 * z1 * log_between(random, 0.3, 10.0);
            let is_resistive = chance(random, 0.5);
            if is_resistive {
                Neutral::Impedance(size / 3.0, 0.0)
            } else {
                Neutral::Impedance(0.05 * size / 3.0, size / 3.0)
            }
        }
        2 => Neutral::Isolated,
        _ => Neutral::Petersen(between(random, -0.10, 0.15)),
    }
}

/// r1, x1, r0, x0 of the source with its neutral; `susceptance` is that of the network's capacitance per phase.
fn source_impedance(
    (r1, x1): (f64, f64),
    neutral: Neutral,
    susceptance: f64,
    random: &mut RandomStream,
) -> [f64; 4] {
    let (r0, x0) = match neutral {
        Neutral::Solid => {
            let ratio = between(random, 0.5, 2.0);
            (r1 * ratio, x1 * ratio)
        }
        Neutral::Impedance(r, x) => (r1 + 3.0 * r, x1 + 3.0 * x),
        Neutral::Isolated => (NO_ZERO, NO_ZERO),
        // 3 X_L = 1/(ω C0 (1 + detuning)); losses of 2 to 3 per cent.
        Neutral::Petersen(detuning) => {
            let coil = 1.0 / (susceptance * (1.0 + detuning));
            (0.025 * coil, coil)
        }
    };
    [r1, x1, r0, x0]
}

fn draw_line(kv: f64, km: f64, is_cable: bool, random: &mut RandomStream) -> [f64; 4] {
    let x1 = if is_cable {
        between(random, 0.09, 0.15)
    } else {
        between(random, 0.28, 0.42)
    };
    let x_over_r = match kv {
        kv if kv < 50.0 => log_between(random, 0.5, 3.0),
        kv if kv < 200.0 => log_between(random, 1.5, 6.0),
        _ => log_between(random, 5.0, 15.0),
    };
    let r1 = x1 / x_over_r;
    let r0 = r1 + between(random, 0.12, 0.4);
    let x0 = x1 * between(random, 2.0, 4.0);
    [r1, x1, r0, x0].map(|per_km| per_km * km)
}

/// Load in MVA: 10 to 100 % of what line and source can carry with a voltage that stays near its rating.
fn draw_load(kv: f64, fault_mva: f64, z1: f64, line: [f64; 4], random: &mut RandomStream) -> f64 {
    let thermal = 3.0_f64.sqrt() * kv * log_between(random, 0.2, 2.0);
    let total = z1 + line[0].hypot(line[1]);
    let stiff = 0.15 * kv * kv / total;
    thermal.min(0.3 * fault_mva).min(stiff) * log_between(random, 0.1, 1.0)
}
