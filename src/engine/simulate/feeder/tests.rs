//! The feeder against theory: steady states against symmetrical components, transients against finer steps.

use num_complex::Complex64;
use std::f64::consts::TAU;

use super::circuit::{Topology, delta_to_phases};
use super::*;

const BALANCED: LoadState = LoadState {
    level: 0.6,
    power_factor: 0.9,
    branch_factors: [1.0; 3],
};

fn simulator(settings: FeederSettings) -> FeederSimulator {
    FeederSimulator::new(settings).expect("legal settings")
}

fn default_simulator() -> FeederSimulator {
    simulator(FeederSettings::default())
}

/// Peak phasors of the last cycle of each waveform up to sample `end`, referred to time zero.
fn phasors(waveforms: &FeederWaveforms, end: usize) -> ([Complex64; 3], [Complex64; 3]) {
    let per_cycle = 200;
    let of = |values: &Vec<f64>| -> Complex64 {
        let sum: Complex64 = (end - per_cycle..end)
            .map(|n| {
                let angle = TAU * (n as f64 - waveforms.inception as f64) / per_cycle as f64;
                values[n] * Complex64::cis(-angle)
            })
            .sum();
        // Im(p e^{jωt}) has the spectral line p / 2j.
        sum * Complex64::new(0.0, 2.0 / per_cycle as f64)
    };
    (
        [0, 1, 2].map(|p| of(&waveforms.voltages_v[p])),
        [0, 1, 2].map(|p| of(&waveforms.currents_a[p])),
    )
}

fn assert_within(found: [Complex64; 3], expected: [Complex64; 3], share: f64, what: &str) {
    let scale = expected.iter().map(|p| p.norm()).fold(0.0, f64::max);
    for (phase, (f, e)) in found.iter().zip(&expected).enumerate() {
        let error = (f - e).norm() / scale;
        assert!(
            error < share,
            "{what}, phase {phase}: {f} instead of {e}, error {error:.2e}"
        );
    }
}

/// Gauss elimination with pivoting, sharing nothing with the solver under test.
fn solve_dense(mut matrix: Vec<Vec<Complex64>>, mut rhs: Vec<Complex64>) -> Vec<Complex64> {
    let n = rhs.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|&p, &q| {
                matrix[p][column]
                    .norm()
                    .total_cmp(&matrix[q][column].norm())
            })
            .expect("rows remain");
        matrix.swap(column, pivot);
        rhs.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row][column] / matrix[column][column];
            let above = matrix[column].clone();
            for (value, above) in matrix[row].iter_mut().zip(above).skip(column) {
                *value -= factor * above;
            }
            let above = rhs[column];
            rhs[row] -= factor * above;
        }
    }
    for row in (0..n).rev() {
        for column in row + 1..n {
            let known = rhs[column];
            rhs[row] -= matrix[row][column] * known;
        }
        rhs[row] /= matrix[row][row];
    }
    rhs
}

/// The sequence network seen from head (node 0) and fault (the last node).
struct SequenceNetwork {
    source_impedance: Complex64,
    matrix: Vec<Vec<Complex64>>,
}

impl SequenceNetwork {
    /// `zero` chooses zero-sequence impedances and opens the delta loads.
    fn new(network: &FeederNetwork, fault: &Fault, load: &LoadState, zero: bool) -> Self {
        let pick = |z: &SequenceImpedance| match zero {
            true => Complex64::new(z.r0, z.x0),
            false => Complex64::new(z.r1, z.x1),
        };
        let n = network.sections.len() + 2;
        let mut matrix = vec![vec![Complex64::default(); n]; n];
        let mut connect = |p: usize, q: usize, z: Complex64| {
            let y = z.inv();
            matrix[p][p] += y;
            matrix[q][q] += y;
            matrix[p][q] -= y;
            matrix[q][p] -= y;
        };
        for (i, section) in network.sections.iter().enumerate() {
            let z = pick(&section.impedance_per_km) * section.length_km;
            if i == fault.section {
                connect(section.from_bus, n - 1, z * fault.position);
                connect(n - 1, i + 1, z * (1.0 - fault.position));
            } else {
                connect(section.from_bus, i + 1, z);
            }
        }
        let source_impedance = pick(&network.source_impedance);
        matrix[0][0] += source_impedance.inv();
        for consumer in network.consumers.iter().filter(|_| !zero) {
            // Star equivalent: conj(S)/V² per phase, S the three-phase power.
            let volt_ampere = consumer.rated_kva * 1e3 * load.level;
            let magnitude = volt_ampere / (network.nominal_kv * 1e3).powi(2);
            matrix[consumer.bus][consumer.bus] +=
                Complex64::from_polar(magnitude, -load.power_factor.acos());
        }
        Self {
            source_impedance,
            matrix,
        }
    }

    /// Voltages at head and fault with `emf` behind the source and `current` drawn at the fault.
    fn voltages(&self, emf: Complex64, current: Complex64) -> (Complex64, Complex64) {
        let mut injected = vec![Complex64::default(); self.matrix.len()];
        injected[0] = emf / self.source_impedance;
        injected[self.matrix.len() - 1] -= current;
        let v = solve_dense(self.matrix.clone(), injected);
        (v[0], v[v.len() - 1])
    }

    fn thevenin_impedance(&self) -> Complex64 {
        -self.voltages(0.0.into(), 1.0.into()).1
    }

    /// Voltage at the head and current into the feeder.
    fn head(&self, emf: Complex64, current: Complex64) -> (Complex64, Complex64) {
        let (voltage, _) = self.voltages(emf, current);
        (voltage, (emf - voltage) / self.source_impedance)
    }
}

/// Head voltages and currents of a fault by the textbook's interconnection of sequence networks.
fn by_symmetrical_components(
    scenario: &Scenario,
    network: &FeederNetwork,
) -> ([Complex64; 3], [Complex64; 3]) {
    let fault = scenario.fault.expect("a fault");
    // The phase that is alone: the faulted one of SLG, the sound one of LL and LLG.
    let alone = match scenario.class {
        FaultClass::SingleLineToGround => fault.phases.iter().position(|&f| f),
        _ => fault.phases.iter().position(|&f| !f),
    }
    .unwrap_or(0);
    let peak = scenario.source_pu * network.nominal_kv * 1e3 * (2.0_f64 / 3.0).sqrt();
    let degrees = scenario.inception_deg - 120.0 * alone as f64;
    let emf = Complex64::from_polar(peak, degrees.to_radians());
    let positive = SequenceNetwork::new(network, &fault, &scenario.loads[0], false);
    let zero = SequenceNetwork::new(network, &fault, &scenario.loads[0], true);
    let before = positive.voltages(emf, 0.0.into()).1;
    let (z1, z0) = (positive.thevenin_impedance(), zero.thevenin_impedance());
    let r = fault.phase_resistance_ohm;
    let (i1, i2, i0) = match scenario.class {
        FaultClass::SingleLineToGround => {
            let i = before / (2.0 * z1 + z0 + 3.0 * r);
            (i, i, i)
        }
        FaultClass::LineToLine => {
            let i = before / (2.0 * z1 + 2.0 * r);
            (i, -i, 0.0.into())
        }
        FaultClass::DoubleLineToGround => {
            let earth = fault.ground_resistance_ohm.expect("earthed");
            let (z2, z0) = (z1 + r, z0 + r + 3.0 * earth);
            let i = before / (z1 + r + z2 * z0 / (z2 + z0));
            (i, -i * z0 / (z2 + z0), -i * z2 / (z2 + z0))
        }
        FaultClass::NoFault | FaultClass::ThreeLine => (before / (z1 + r), 0.0.into(), 0.0.into()),
    };
    let (v1, c1) = positive.head(emf, i1);
    let (v2, c2) = positive.head(0.0.into(), i2);
    let (v0, c0) = zero.head(0.0.into(), i0);
    let a = Complex64::cis(TAU / 3.0);
    let phase = |p: usize, x1: Complex64, x2: Complex64, x0: Complex64| {
        let steps = ((p + 3 - alone) % 3) as i32;
        x0 + a.powi(-steps) * x1 + a.powi(steps) * x2
    };
    (
        [0, 1, 2].map(|p| phase(p, v1, v2, v0)),
        [0, 1, 2].map(|p| phase(p, c1, c2, c0)),
    )
}

/// One scenario of each class but with balanced loads; together they cover all phase choices.
fn balanced_faults(simulator: &FeederSimulator) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for &class in &FaultClass::ALL[1..] {
        for index in 0..12 {
            let mut scenario = simulator.scenario(class, index);
            scenario.loads.fill(BALANCED);
            scenarios.push(scenario);
        }
    }
    scenarios
}

#[test]
fn late_fault_states_equal_symmetrical_components_within_a_fifth_of_a_percent() {
    let long = simulator(FeederSettings {
        cycles_after: 40,
        ..FeederSettings::default()
    });
    let mut choices = std::collections::BTreeSet::new();
    for scenario in balanced_faults(&long) {
        let waveforms = long.waveforms(&scenario);
        let (voltages, currents) = phasors(&waveforms, waveforms.voltages_v[0].len());
        let expected = by_symmetrical_components(&scenario, &long.settings().network);
        let what = format!("{scenario:?}");
        assert_within(voltages, expected.0, 2e-3, &format!("voltage of {what}"));
        assert_within(currents, expected.1, 2e-3, &format!("current of {what}"));
        let fault = scenario.fault.expect("a fault");
        choices.insert((scenario.class.label(), fault.phases));
    }
    assert_eq!(
        choices.len(),
        3 + 3 + 3 + 1,
        "all phase choices: {choices:?}"
    );
}

#[test]
fn pre_fault_states_equal_the_positive_sequence_solution() {
    let simulator = simulator(FeederSettings {
        cycles_before: 2,
        ..FeederSettings::default()
    });
    let network = &simulator.settings().network;
    for scenario in balanced_faults(&simulator) {
        let waveforms = simulator.waveforms(&scenario);
        let (voltages, currents) = phasors(&waveforms, waveforms.inception);
        let fault = scenario.fault.expect("a fault");
        let positive = SequenceNetwork::new(network, &fault, &BALANCED, false);
        let peak = scenario.source_pu * network.nominal_phase_v() * 2.0_f64.sqrt();
        let emf = |p: usize| {
            let degrees = scenario.inception_deg - 120.0 * p as f64;
            Complex64::from_polar(peak, degrees.to_radians())
        };
        let head = [0, 1, 2].map(|p| positive.head(emf(p), 0.0.into()));
        assert_within(voltages, head.map(|(v, _)| v), 1e-3, "voltage");
        assert_within(currents, head.map(|(_, i)| i), 1e-3, "current");
    }
}

#[test]
fn late_states_with_unbalanced_loads_equal_the_phasor_solution() {
    let long = simulator(FeederSettings {
        cycles_after: 40,
        ..FeederSettings::default()
    });
    for class in FaultClass::ALL {
        for index in 0..6 {
            let scenario = long.scenario(class, index);
            let waveforms = long.waveforms(&scenario);
            let (voltages, currents) = phasors(&waveforms, waveforms.voltages_v[0].len());
            let circuit = scenario.circuit(&long.settings().network);
            let steady = circuit.steady_state(Topology::After);
            assert_within(voltages, steady.voltages[0].0, 2e-3, "voltage");
            assert_within(currents, steady.branch_currents[0].0, 2e-3, "current");
        }
    }
}

#[test]
fn the_phasor_solution_obeys_kirchhoffs_current_law_at_every_node() {
    let simulator = default_simulator();
    for class in FaultClass::ALL {
        let scenario = simulator.scenario(class, 3);
        let circuit = scenario.circuit(&simulator.settings().network);
        let steady = circuit.steady_state(Topology::After);
        let mut balance = steady.branch_currents.clone();
        for (branch, &current) in circuit.branches.iter().zip(&steady.branch_currents) {
            if let Some(parent) = branch.parent {
                balance[parent] = balance[parent] - current;
            }
        }
        for (load, &current) in circuit.loads.iter().zip(&steady.load_currents) {
            balance[load.node] = balance[load.node] - delta_to_phases(current);
        }
        if let Some(fault) = &circuit.fault {
            let conductance = fault.conductance.map(Complex64::from);
            let drawn = conductance.times(steady.voltages[fault.node]);
            balance[fault.node] = balance[fault.node] - drawn;
        }
        for (node, rest) in balance.iter().enumerate() {
            let rest_a = rest.0.iter().map(|i| i.norm()).fold(0.0, f64::max);
            assert!(rest_a < 1e-6, "{class:?}: {rest_a} A remain at node {node}");
        }
    }
}

/// Largest difference of two records' waveforms relative to the peak of the same kind.
fn relative_difference(one: &FeederWaveforms, two: &FeederWaveforms) -> f64 {
    let kinds = [
        (&one.voltages_v, &two.voltages_v),
        (&one.currents_a, &two.currents_a),
    ];
    let of = |(p, q): (&[Vec<f64>; 3], &[Vec<f64>; 3])| {
        let peak = p.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        let pairs = p.iter().flatten().zip(q.iter().flatten());
        pairs.fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / peak
    };
    kinds.into_iter().map(of).fold(0.0, f64::max)
}

#[test]
fn halving_the_step_changes_little_and_a_second_time_less() {
    let at = |steps_per_sample| {
        simulator(FeederSettings {
            steps_per_sample,
            ..FeederSettings::default()
        })
    };
    let (coarse, fine, finest) = (at(4), at(8), at(16));
    let mut worst = (0.0_f64, 0.0_f64);
    for class in FaultClass::ALL {
        for index in 0..40 {
            let scenario = coarse.scenario(class, index);
            let [a, b, c] = [&coarse, &fine, &finest].map(|s| s.waveforms(&scenario));
            worst.0 = worst.0.max(relative_difference(&a, &b));
            worst.1 = worst.1.max(relative_difference(&b, &c));
        }
    }
    println!("worst change {:.2e}, then {:.2e}", worst.0, worst.1);
    assert!(worst.0 < 0.01, "halving changes {:.2e}", worst.0);
    assert!(worst.1 < 0.5 * worst.0, "no convergence: {worst:?}");
}

#[test]
fn the_switching_instant_leaves_no_oscillation_from_step_to_step() {
    let simulator = simulator(FeederSettings {
        steps_per_sample: 1,
        ..FeederSettings::default()
    });
    for class in FaultClass::ALL {
        for index in 0..40 {
            let waveforms = simulator.waveforms(&simulator.scenario(class, index));
            for values in &waveforms.voltages_v {
                let peak = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                // What alternates in sign from sample to sample once the jump and
                // the short transients of resistive faults are over.
                let alternating = values[20..]
                    .windows(4)
                    .map(|w| (w[0] - 3.0 * w[1] + 3.0 * w[2] - w[3]).abs() / 8.0);
                let worst = alternating.fold(0.0, f64::max) / peak;
                assert!(worst < 1e-4, "{class:?} {index}: {worst:.1e} of the peak");
            }
        }
    }
}

#[test]
fn currents_are_continuous_at_inception() {
    let simulator = simulator(FeederSettings {
        cycles_before: 1,
        steps_per_sample: 40,
        samples_per_cycle: 2000,
        ..FeederSettings::default()
    });
    for class in FaultClass::ALL {
        let waveforms = simulator.waveforms(&simulator.scenario(class, 1));
        let at = waveforms.inception;
        for current in &waveforms.currents_a {
            // 10 µs: 20 kV across the smallest loop inductance (source, 6.6 mH) is 30 A.
            let jump = (current[at + 1] - current[at]).abs();
            assert!(jump < 30.0, "{class:?}: {jump} A in 10 µs");
        }
    }
}

fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

#[test]
fn sound_phases_keep_their_current_and_only_earth_faults_leave_a_residual() {
    let simulator = simulator(FeederSettings {
        cycles_before: 1,
        ..FeederSettings::default()
    });
    for class in FaultClass::ALL {
        for index in 0..40 {
            let mut scenario = simulator.scenario(class, index);
            scenario.switched_consumer = None;
            let waveforms = simulator.waveforms(&scenario);
            let at = waveforms.inception;
            let faulted = scenario.fault.map_or([false; 3], |fault| fault.phases);
            let (mut sound_change, mut faulted_growth) = (0.0_f64, f64::INFINITY);
            for (current, is_faulted) in waveforms.currents_a.iter().zip(faulted) {
                let growth = rms(&current[at + 1..]) / rms(&current[1..=at]);
                if is_faulted {
                    faulted_growth = faulted_growth.min(growth);
                } else {
                    sound_change = sound_change.max((growth - 1.0).abs());
                }
            }
            let [a, b, c] = &waveforms.currents_a;
            let residual: Vec<f64> = (at + 1..a.len()).map(|n| a[n] + b[n] + c[n]).collect();
            let what = format!("{class:?} {index}: {scenario:?}");
            assert!(
                sound_change < 0.25,
                "sound phase by {sound_change} in {what}"
            );
            assert!(
                faulted_growth > 1.1,
                "faulted phase × {faulted_growth} in {what}"
            );
            let to_earth = matches!(
                class,
                FaultClass::SingleLineToGround | FaultClass::DoubleLineToGround
            );
            assert_eq!(rms(&residual) > 1.0, to_earth, "residual in {what}");
        }
    }
}

#[test]
fn a_record_has_one_cycle_from_inception_in_1206_values() {
    let simulator = default_simulator();
    let waveforms = simulator.waveforms(&simulator.scenario(FaultClass::LineToLine, 0));
    assert_eq!(waveforms.inception, 0);
    assert_eq!(waveforms.rate_hz, 10_000.0);
    assert!(waveforms.voltages_v.iter().all(|v| v.len() == 201));
    let sample = waveforms.concatenated();
    assert_eq!(sample.len(), 1206);
    assert_eq!(sample[201], waveforms.voltages_v[1][0]);
    assert_eq!(sample[603], waveforms.currents_a[0][0]);
}

#[test]
fn a_record_depends_on_seed_class_and_index_alone() {
    let few = simulator(FeederSettings {
        records_per_class: 3,
        ..FeederSettings::default()
    });
    let many = default_simulator();
    let class = FaultClass::DoubleLineToGround;
    let (one, other) = (few.scenario(class, 2), many.scenario(class, 2));
    assert_eq!(one, other);
    assert_eq!(few.waveforms(&one), many.waveforms(&other));
    assert_ne!(one, many.scenario(class, 1));
    let seeded = simulator(FeederSettings {
        seed: 2,
        ..FeederSettings::default()
    });
    assert_ne!(one, seeded.scenario(class, 2));
}

#[test]
fn draws_fill_their_ranges_and_every_section_is_struck() {
    let simulator = default_simulator();
    let ranges = &simulator.settings().ranges;
    let inside = |interval: super::super::Interval, x: f64| {
        assert!(
            (interval.low..=interval.high).contains(&x),
            "{x} outside {interval:?}"
        );
        (x - interval.low) / (interval.high - interval.low)
    };
    let mut struck = [0; 8];
    let (mut switched, mut larger_to_earth) = (0, 0);
    let (mut source, mut angle) = (Vec::new(), Vec::new());
    for class in FaultClass::ALL {
        for index in 0..200 {
            let scenario = simulator.scenario(class, index);
            source.push(inside(ranges.source_pu, scenario.source_pu));
            angle.push(inside(ranges.inception_deg, scenario.inception_deg));
            for load in &scenario.loads {
                inside(ranges.load_level, load.level);
                inside(ranges.power_factor, load.power_factor);
                assert!(load.branch_factors.iter().all(|f| (f - 1.0).abs() <= 0.2));
            }
            switched += usize::from(scenario.switched_consumer.is_some());
            assert_eq!(scenario.fault.is_none(), class == FaultClass::NoFault);
            if let Some(fault) = scenario.fault {
                struck[fault.section] += 1;
                assert!((0.0..=1.0).contains(&fault.position));
                let range = ranges.fault_resistance_ohm;
                inside(range, fault.resistance_ohm(class));
                if class == FaultClass::DoubleLineToGround {
                    let earth = fault.ground_resistance_ohm.expect("earthed");
                    inside(range, earth);
                    larger_to_earth += usize::from(earth > fault.phase_resistance_ohm);
                }
            }
        }
    }
    // Arcs and earth are drawn independently: either is the larger one half of the time.
    assert!((70..130).contains(&larger_to_earth), "{larger_to_earth}");
    for draws in [source, angle] {
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((mean - 0.5).abs() < 0.05, "mean {mean} of the range");
    }
    assert!((70..130).contains(&switched), "{switched} of 200 switched");
    // The shortest section has 0.8 of 23 km: 28 of 800 faults expected.
    assert!(struck.iter().all(|&count| count > 10), "{struck:?}");
}

#[test]
fn illegal_settings_are_refused_with_name_range_and_value() {
    let mut settings = FeederSettings::default();
    settings.ranges.fault_resistance_ohm.high = f64::INFINITY;
    settings.steps_per_sample = 1001;
    assert_eq!(settings.problems().len(), 2);
    let refusal = FeederSimulator::new(settings).expect_err("illegal");
    assert_eq!(
        refusal.to_string(),
        "the simulator's setting steps_per_sample must be 1 to 1000, but is 1001"
    );
}

#[test]
fn a_record_that_would_never_end_is_refused() {
    let settings = FeederSettings {
        cycles_after: 1000,
        steps_per_sample: 1000,
        ..FeederSettings::default()
    };
    let problems = settings.problems();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.ends_with("but is 200000000"));
}

#[cfg(not(debug_assertions))]
#[test]
fn two_thousand_records_take_less_than_five_seconds_on_one_core() {
    let simulator = default_simulator();
    let start = cpu_time::ThreadTime::now();
    let mut largest_a = 0.0_f64;
    for (class, index) in simulator.records() {
        let waveforms = simulator.waveforms(&simulator.scenario(class, index));
        let currents = waveforms.currents_a.iter().flatten();
        largest_a = currents.fold(largest_a, |m, i| m.max(i.abs()));
    }
    let elapsed_s = start.elapsed().as_secs_f64();
    assert_eq!(simulator.records().count(), 2000);
    println!("2000 records in {elapsed_s:.3} s, largest current {largest_a:.0} A");
    assert!(elapsed_s < 5.0, "{elapsed_s} s");
}

/// Six waveforms in per unit of their nominal peaks, scaled to unit length.
fn unit_sample(simulator: &FeederSimulator, class: FaultClass, index: u32) -> Vec<f64> {
    let network = &simulator.settings().network;
    let rated_va: f64 = network.consumers.iter().map(|c| c.rated_kva * 1e3).sum();
    let rated_a = rated_va / (3.0 * network.nominal_phase_v());
    let mut sample = simulator
        .waveforms(&simulator.scenario(class, index))
        .concatenated();
    let half = sample.len() / 2;
    for (n, value) in sample.iter_mut().enumerate() {
        *value /= if n < half {
            network.nominal_phase_v()
        } else {
            rated_a
        };
    }
    let length = sample.iter().map(|x| x * x).sum::<f64>().sqrt();
    sample.iter().map(|x| x / length).collect()
}

/// Share of new samples whose class is that of the largest score against the known ones.
fn share_right(
    known: &[(Vec<f64>, FaultClass)],
    new: &[(Vec<f64>, FaultClass)],
    score: impl Fn(f64) -> f64,
) -> f64 {
    let right = new.iter().filter(|(x, class)| {
        let mut scores = [0.0_f64; 5];
        for (y, label) in known {
            let product: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
            scores[label.label()] += score(product);
        }
        let best = (0..5).max_by(|&p, &q| scores[p].total_cmp(&scores[q]));
        best == Some(class.label())
    });
    right.count() as f64 / new.len() as f64
}

#[test]
fn the_classes_differ_by_shape_and_not_by_their_mean() {
    let simulator = default_simulator();
    let samples = |indices: std::ops::Range<u32>| -> Vec<(Vec<f64>, FaultClass)> {
        let draw = |class| indices.clone().map(move |index| (class, index));
        let all = FaultClass::ALL.into_iter().flat_map(draw);
        all.map(|(class, index)| (unit_sample(&simulator, class, index), class))
            .collect()
    };
    let (known, new) = (samples(0..120), samples(120..180));
    // The inception angle turns every waveform, so a mean tells next to nothing …
    let by_mean = share_right(&known, &new, |product| product);
    // … while neighbours (a steep kernel) do, though not always.
    let by_neighbours = share_right(&known, &new, |product| (200.0 * (product - 1.0)).exp());
    println!("by class means {by_mean:.3}, by neighbours {by_neighbours:.3}");
    assert!(by_mean < 0.5, "class means alone score {by_mean}");
    assert!(
        (0.6..0.97).contains(&by_neighbours),
        "neighbours score {by_neighbours}"
    );
}

#[test]
fn settings_survive_a_file_and_a_misspelt_one_is_refused() {
    let settings = FeederSettings::default();
    let text = ron::to_string(&settings).expect("written");
    assert_eq!(ron::from_str::<FeederSettings>(&text), Ok(settings.clone()));
    let short = "(ranges: (load_unbalance: 0.2))";
    assert_eq!(ron::from_str::<FeederSettings>(short), Ok(settings));
    let refusal = ron::from_str::<FeederSettings>("(cycles: 1)").expect_err("misspelt");
    assert!(refusal.to_string().contains("cycles"), "{refusal}");
}
