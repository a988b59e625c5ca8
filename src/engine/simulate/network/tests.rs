//! The networks against symmetrical components, closed forms of RL and LC circuits, and an independent integration.

use std::f64::consts::TAU;

use num_complex::Complex64;

use super::inrush::Inrush;
use super::scenario::{Happening, NetworkScenario};
use super::solver::{Arc, Circuit, End, SeriesBranch, Shunt, SolverTiming};
use super::*;
use crate::simulate::FaultStar;
use crate::simulate::phases::{Coupling, Phases};
use crate::simulate::two_source::{Sequences, TwoSourceLine};

/// The phasor of the last cycle, as of a cosine at the first sample.
fn last_phasor(values: &[f64], per_cycle: usize) -> Complex64 {
    let first = values.len() - per_cycle;
    let turn = |k: usize| Complex64::cis(-TAU * (k % per_cycle) as f64 / per_cycle as f64);
    let sum: Complex64 = (first..values.len()).map(|k| values[k] * turn(k)).sum();
    sum * 2.0 / per_cycle as f64
}

fn balanced(r: f64, l: f64) -> (Coupling<f64>, Coupling<f64>) {
    (Coupling::balanced(r, 0.0), Coupling::balanced(l, 0.0))
}

fn cosine_source(peak: f64) -> End {
    // Im(p e^{jωt}) with p = j: a cosine.
    let a = Complex64::new(0.0, peak);
    let back = Complex64::cis(-TAU / 3.0);
    End::Source(Phases([a, a * back, a * back.conj()]))
}

/// A source behind R and L to node 0.
fn one_node(r: f64, l: f64, peak: f64) -> Circuit {
    let (resistance, inductance) = balanced(r, l);
    Circuit {
        angular_frequency: TAU * 50.0,
        n_nodes: 1,
        branches: vec![SeriesBranch {
            from: cosine_source(peak),
            to: 0,
            resistance,
            inductance,
            joins_s: f64::NEG_INFINITY,
        }],
        shunts: Vec::new(),
        breakers: Vec::new(),
        arc: None,
        is_damped: false,
    }
}

fn timing(n_before: usize, n_after: usize) -> SolverTiming {
    let rate_hz = 50.0 * 64.0;
    SolverTiming {
        start_s: -(n_before as f64) / rate_hz,
        step_s: 1.0 / (rate_hz * 16.0),
        steps_per_sample: 16,
        n_samples: n_before + n_after + 1,
    }
}

fn scenario(star: FaultStar, place: f64) -> NetworkScenario {
    let simulator = NetworkSimulator::new(NetworkSettings::default()).expect("legal");
    let mut scenario = simulator.scenario(NetworkClass::Fault(FaultClass::LineToLine), 0);
    scenario.nominal_kv = 110.0;
    scenario.frequency_hz = 50.0;
    scenario.samples_per_cycle = 64;
    scenario.source_ohm = [2.0, 10.0, 4.0, 15.0];
    scenario.line_ohm = [5.0, 20.0, 15.0, 60.0];
    scenario.far_end = FarEnd::Source(0.5, -10.0);
    scenario.place = place;
    scenario.capacitance = 0.0;
    scenario.was_dead = false;
    scenario.opens_cycles = None;
    scenario.angle = 0.3;
    scenario.happening = Happening::Fault(star);
    scenario
}

#[test]
fn faults_settle_to_what_symmetrical_components_say() {
    let (a, bc) = ([true, false, false], [false, true, true]);
    let stars = [
        (0.3, a, 5.0, Some(5.0)),
        (0.6, bc, 2.0, None),
        (0.6, bc, 1.0, Some(5.0)),
        (0.8, [true; 3], 1.0, None),
    ];
    for (place, phases, phase_ohm, earth_ohm) in stars {
        let star = FaultStar {
            phases,
            phase_ohm,
            earth_ohm,
        };
        let circuit = scenario(star, place).circuit();
        let solution = circuit.run(timing(64, 40 * 64));
        let peak = 110e3 * (2.0_f64 / 3.0).sqrt();
        let near = Sequences {
            z1: Complex64::new(2.0, 10.0),
            z0: Complex64::new(4.0, 15.0),
        };
        let line = TwoSourceLine {
            line: Sequences {
                z1: Complex64::new(5.0, 20.0),
                z0: Complex64::new(15.0, 60.0),
            },
            near,
            far: Sequences {
                z1: near.z1 * 2.0,
                z0: near.z0 * 2.0,
            },
            sources: [
                Complex64::from_polar(peak, 0.3),
                Complex64::from_polar(peak, 0.3 - 10.0_f64.to_radians()),
            ],
        };
        let [end, _] = line.fault(place, &star);
        for phase in 0..3 {
            let instants = || solution.instants.iter();
            let v: Vec<f64> = instants().map(|i| i.voltages[0].0[phase]).collect();
            let i: Vec<f64> = instants().map(|i| i.currents[0].0[phase]).collect();
            // Im(p e^{jωt}) is a cosine of p/j; the record starts one whole cycle before zero.
            let to_sine = Complex64::new(0.0, 1.0);
            let found = [last_phasor(&v, 64) * to_sine, last_phasor(&i, 64) * to_sine];
            let expected = [end.voltages[phase], end.currents[phase]];
            let size = [
                peak,
                end.currents.iter().map(|i| i.norm()).fold(0.0, f64::max),
            ];
            for ((found, expected), size) in found.iter().zip(expected).zip(size) {
                let error = (found - expected).norm() / size;
                assert!(error < 2e-3, "{phases:?} {phase}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn a_load_that_joins_follows_the_closed_form_of_an_rl_circuit() {
    // A stiff source; motor of power factor 0.2 at node 0.
    let mut circuit = one_node(1e-6, 1e-9, 1000.0);
    let (z, power_factor): (f64, f64) = (10.0, 0.2);
    let x = z * (1.0 - power_factor * power_factor).sqrt();
    let (resistance, inductance) = balanced(z * power_factor, x / (TAU * 50.0));
    circuit.branches.push(SeriesBranch {
        from: End::Source(Phases::default()),
        to: 0,
        resistance,
        inductance,
        joins_s: 0.0,
    });
    let solution = circuit.run(timing(64, 256));
    let angle = power_factor.acos();
    let tau_s = x / (TAU * 50.0) / (z * power_factor);
    for (sample, instant) in solution.instants.iter().enumerate().skip(65) {
        let t = (sample as f64 - 64.0) / 3200.0;
        let decay = (-t / tau_s).exp();
        let expected = 1000.0 / z * ((TAU * 50.0 * t - angle).cos() - decay * (-angle).cos());
        // The branch counts from earth to the node.
        let found = -instant.currents[1].0[0];
        assert!(
            (found - expected).abs() < 0.1,
            "{sample}: {found} for {expected}"
        );
    }
}

#[test]
fn a_capacitor_rings_at_its_natural_frequency() {
    let (l, order) = (0.01, 9.0);
    let mut circuit = one_node(0.02, l, 1000.0);
    let c = 1.0 / ((TAU * 50.0 * order).powi(2) * l);
    circuit.shunts.push(Shunt {
        node: 0,
        conductance: Coupling::default(),
        capacitance: Coupling::balanced(c, 0.0),
        from_s: 0.0,
        until_s: f64::INFINITY,
    });
    let solution = circuit.run(timing(64, 4 * 64));
    let per_cycle = 64.0;
    let steady = 1000.0 / (1.0 - 1.0 / (order * order));
    for (sample, instant) in solution.instants.iter().enumerate().skip(66) {
        let turn = TAU * (sample as f64 - 64.0) / per_cycle;
        // v(0) = 0 and i(0) = 0: the forced cosine and a free one of the natural frequency, damped little.
        let free = steady * (-0.02 / (2.0 * l) * turn / (TAU * 50.0)).exp();
        let expected = steady * turn.cos() - free * (order * turn).cos();
        let found = instant.voltages[0].0[0];
        // The trapezoidal rule slows the ringing by (ωh)²/12 = 2.5e-4 at 16 steps a sample.
        let lag = 3e-4 * order * turn;
        assert!(
            (found - expected).abs() < 5.0 + steady * lag,
            "{sample}: {found} for {expected}"
        );
    }
}

#[test]
fn an_arc_follows_an_independent_integration() {
    let (r, l, peak, own, ohm) = (1.0, 0.005, 1000.0, 400.0, 80.0);
    let mut circuit = one_node(r, l, peak);
    circuit.arc = Some(Arc {
        node: 0,
        phase: 0,
        voltages_v: [own, own],
        resistances_ohm: vec![ohm],
        from_s: 0.0,
    });
    let solution = circuit.run(timing(64, 128));
    // i' = (e − r i − ±own − ohm i)/l while it burns; else i = 0.
    let (n_sub, rate_hz) = (2000, 3200.0);
    let step = 1.0 / (rate_hz * f64::from(n_sub));
    let mut i = 0.0_f64;
    for sample in 1..=128_usize {
        for sub in 0..n_sub {
            let t = (sample as f64 - 1.0) / rate_hz + f64::from(sub) * step;
            let e = peak * (TAU * 50.0 * t).cos();
            let direction = if i != 0.0 {
                i.signum()
            } else if e.abs() > own {
                e.signum()
            } else {
                0.0
            };
            if direction != 0.0 {
                let next = i + step * (e - (r + ohm) * i - direction * own) / l;
                i = if next * direction > 0.0 { next } else { 0.0 };
            }
        }
        let found = solution.instants[64 + sample].currents[0].0[0];
        assert!((found - i).abs() < 0.15, "{sample}: {found} for {i}");
    }
}

#[test]
fn inrush_has_the_closed_form_peak_and_a_healthy_core_draws_nothing() {
    let mut inrush = Inrush {
        saturation: 1.2,
        saturated_x: 0.25,
        winding_r: 0.0,
        source: (0.0, 0.05),
        remanence: [0.5, 0.0, 0.0],
        is_delta: false,
        angle: 0.0,
    };
    // Switched on at a rising zero: the flux reaches λr + 2 without saturation, and beyond λs it grows slower by
    // Xs/(Xs + xs), so that i = (λr + 2 − λs)/(Xs + xs).
    let samples = inrush.run(256, 16, 129);
    let peak = samples.iter().map(|s| s.current.0[0]).fold(0.0, f64::max);
    let expected = (0.5 + 2.0 - 1.2) / (0.25 + 0.05);
    assert!(
        (peak / expected - 1.0).abs() < 1e-3,
        "{peak} for {expected}"
    );
    inrush.angle = TAU / 4.0;
    inrush.remanence = [0.0; 3];
    let samples = inrush.run(256, 16, 257);
    // At the peak of the voltage the flux of phase a swings between −1 and 1.
    assert!(samples.iter().all(|s| s.current.0[0] == 0.0));
}

#[test]
fn a_breaker_interrupts_all_phases_and_an_evolving_fault_changes() {
    let star = FaultStar {
        phases: [false, true, true],
        phase_ohm: 1.0,
        earth_ohm: None,
    };
    let mut scenario = scenario(star, 0.5);
    scenario.opens_cycles = Some(3.0);
    let solution = scenario.circuit().run(timing(64, 6 * 64));
    for opened_s in solution.opened[0].map(|pole| pole.map(|(at_s, _)| at_s)) {
        assert!(
            opened_s.is_some_and(|t| (0.06..0.08).contains(&t)),
            "{opened_s:?}"
        );
    }
    let last = solution.instants.last().expect("samples");
    assert!(last.currents[0].0.iter().all(|i| i.abs() < 0.1), "{last:?}");
    let all = FaultStar {
        phases: [true; 3],
        ..star
    };
    scenario.opens_cycles = None;
    scenario.happening = Happening::Evolving(star, all, 2.0);
    let solution = scenario.circuit().run(timing(64, 6 * 64));
    let peak = |from: usize| {
        let some = solution.instants[from..from + 64].iter();
        some.map(|i| i.currents[0].0[0].abs()).fold(0.0, f64::max)
    };
    assert!(peak(64 + 5 * 64) > 3.0 * peak(64 + 64), "phase a joins");
}

#[test]
fn every_record_repeats_bit_for_bit_and_is_finite() {
    let settings = NetworkSettings {
        classes: NetworkClasses::Events,
        records_per_class: 3,
        ..NetworkSettings::default()
    };
    let simulator = NetworkSimulator::new(settings).expect("legal");
    for (class, index) in simulator.records() {
        let first = simulator.waveforms(&simulator.scenario(class, index));
        let second = simulator.waveforms(&simulator.scenario(class, index));
        assert_eq!(first, second);
        let all = first.voltages_v.iter().chain(&first.currents_a).flatten();
        assert!(all.clone().all(|v| v.is_finite()), "{class:?} {index}");
        assert!(all.clone().any(|v| *v != 0.0));
    }
}
