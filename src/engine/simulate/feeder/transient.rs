//! The circuit in time: trapezoidal companion models, and two half steps of backward Euler at the switching instant.
//!
//! A branch `u = R i + L di/dt` becomes, with step `h`, a conductance and a
//! current that the past fixes:
//!
//! ```text
//! i(t) = Y u(t) + hist,   Y = (R + 2L/h)⁻¹
//! trapezoidal, step h:        hist = Y u(t−h) + Y (2L/h − R) i(t−h)
//! backward Euler, step h/2:   hist = Y (2L/h) i(t−h/2)
//! ```
//!
//! Both rules have the same `Y`, so each topology is factored once. The
//! trapezoidal rule alone would answer the jump of an inductor's voltage at the
//! switching instant with an oscillation from step to step that never dies in a
//! branch without resistance; two half steps of backward Euler take the jump
//! without it (critical damping adjustment, Marti and Lin 1989; companion
//! models, Dommel 1969).

use num_complex::Complex64;

use super::circuit::{
    DeltaLoad, FeederBranch, FeederCircuit, NodalTree, SteadyState, Topology, between_phases,
    delta_admittance, delta_to_phases,
};
use crate::simulate::phases::{Coupling, Phases};

/// When to step and what to keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct SwitchingTiming {
    /// Length of one step.
    pub(super) step_s: f64,
    /// Steps between two samples.
    pub(super) steps_per_sample: usize,
    /// Samples before the switching instant.
    pub(super) samples_before: usize,
    /// Samples from the switching instant on; the first is at the instant itself.
    pub(super) samples_after: usize,
}

/// Voltage at the head and current into the feeder at one sampling instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadSample {
    pub(super) voltage: Phases<f64>,
    pub(super) current: Phases<f64>,
}

/// Steps the circuit from its steady state through the switching instant (time zero).
///
/// The sample at the instant itself shows the circuit just before it switches.
pub(super) fn simulate(circuit: &FeederCircuit, timing: SwitchingTiming) -> Vec<HeadSample> {
    let step_s = timing.step_s;
    let steps_before = timing.samples_before * timing.steps_per_sample;
    let mut state = TransientState::steady(circuit, -(steps_before as f64) * step_s);
    let mut samples = Vec::with_capacity(timing.samples_before + timing.samples_after);
    samples.push(state.head());

    if steps_before > 0 {
        let before = FeederCompanion::new(circuit, Topology::Before, step_s);
        before.start_trapezoidal(&mut state);
        for step in 1..=steps_before {
            let time_s = (step as f64 - steps_before as f64) * step_s;
            before.step_to(time_s, circuit, &mut state);
            before.follow_trapezoidal(&mut state);
            if step % timing.steps_per_sample == 0 {
                samples.push(state.head());
            }
        }
    }

    let after = FeederCompanion::new(circuit, Topology::After, step_s);
    let steps_after = timing.samples_after.saturating_sub(1) * timing.steps_per_sample;
    for step in 1..=steps_after {
        let time_s = step as f64 * step_s;
        if step == 1 {
            after.start_backward_euler(&mut state);
            after.step_to(time_s - step_s / 2.0, circuit, &mut state);
            after.start_backward_euler(&mut state);
        }
        after.step_to(time_s, circuit, &mut state);
        after.follow_trapezoidal(&mut state);
        if step % timing.steps_per_sample == 0 {
            samples.push(state.head());
        }
    }
    samples
}

/// Everything that changes from step to step.
struct TransientState {
    voltages: Vec<Phases<f64>>,
    branch_currents: Vec<Phases<f64>>,
    branch_history: Vec<Phases<f64>>,
    load_currents: Vec<Phases<f64>>,
    load_history: Vec<Phases<f64>>,
    source: Phases<f64>,
}

impl TransientState {
    /// The steady state before switching, at `time_s`.
    fn steady(circuit: &FeederCircuit, time_s: f64) -> Self {
        let SteadyState {
            voltages,
            branch_currents,
            load_currents,
        } = circuit.steady_state(Topology::Before);
        let turn = Complex64::cis(circuit.angular_frequency * time_s);
        let now = |phasors: Vec<Phases<Complex64>>| -> Vec<Phases<f64>> {
            let value = |phasor: Phases<Complex64>| phasor.map(|p| (p * turn).im);
            phasors.into_iter().map(value).collect()
        };
        Self {
            voltages: now(voltages),
            branch_history: vec![Phases::default(); branch_currents.len()],
            branch_currents: now(branch_currents),
            load_history: vec![Phases::default(); load_currents.len()],
            load_currents: now(load_currents),
            source: circuit.source.map(|p| (p * turn).im),
        }
    }

    fn head(&self) -> HeadSample {
        HeadSample {
            voltage: self.voltages[0],
            current: self.branch_currents[0],
        }
    }
}

/// Companion model of a coupled branch.
struct BranchCompanion {
    parent: Option<usize>,
    /// Y.
    conductance: Coupling<f64>,
    /// Y (2L/h − R).
    trapezoidal: Coupling<f64>,
    /// Y 2L/h.
    backward_euler: Coupling<f64>,
}

impl BranchCompanion {
    fn new(branch: &FeederBranch, step_s: f64) -> Self {
        let inductive = branch.inductance.map(|l| 2.0 * l / step_s);
        let conductance = (branch.resistance + inductive).inverse();
        Self {
            parent: branch.parent,
            conductance,
            trapezoidal: conductance * (inductive - branch.resistance),
            backward_euler: conductance * inductive,
        }
    }
}

/// Companion model of a delta load, branch by branch.
struct LoadCompanion {
    node: usize,
    conductance: [f64; 3],
    trapezoidal: [f64; 3],
    backward_euler: [f64; 3],
}

impl LoadCompanion {
    /// A load that is not connected has no conductance and carries no current.
    fn new(load: &DeltaLoad, topology: Topology, step_s: f64) -> Self {
        let connected = if load.connected(topology) { 1.0 } else { 0.0 };
        let inductive = load.inductance.map(|l| 2.0 * l / step_s);
        let conductance = [0, 1, 2].map(|p| connected / (load.resistance[p] + inductive[p]));
        Self {
            node: load.node,
            conductance,
            trapezoidal: [0, 1, 2].map(|p| conductance[p] * (inductive[p] - load.resistance[p])),
            backward_euler: [0, 1, 2].map(|p| conductance[p] * inductive[p]),
        }
    }
}

fn by_phase(factors: &[f64; 3], values: Phases<f64>) -> Phases<f64> {
    Phases([0, 1, 2].map(|p| factors[p] * values.0[p]))
}

/// All companion models of one topology and its factored nodal matrix.
struct FeederCompanion {
    branches: Vec<BranchCompanion>,
    loads: Vec<LoadCompanion>,
    nodal: NodalTree<f64>,
}

impl FeederCompanion {
    fn new(circuit: &FeederCircuit, topology: Topology, step_s: f64) -> Self {
        let branches: Vec<BranchCompanion> = circuit
            .branches
            .iter()
            .map(|branch| BranchCompanion::new(branch, step_s))
            .collect();
        let loads: Vec<LoadCompanion> = circuit
            .loads
            .iter()
            .map(|load| LoadCompanion::new(load, topology, step_s))
            .collect();
        let series: Vec<Coupling<f64>> = branches.iter().map(|b| b.conductance).collect();
        let mut shunts = vec![Coupling::default(); branches.len()];
        for load in &loads {
            shunts[load.node] = shunts[load.node] + delta_admittance(load.conductance);
        }
        if let (Topology::After, Some(fault)) = (topology, &circuit.fault) {
            shunts[fault.node] = shunts[fault.node] + fault.conductance;
        }
        let nodal = NodalTree::factor(&circuit.parents(), &series, shunts);
        Self {
            branches,
            loads,
            nodal,
        }
    }

    /// Solves for voltages and currents at `time_s` from the histories.
    fn step_to(&self, time_s: f64, circuit: &FeederCircuit, state: &mut TransientState) {
        let turn = Complex64::cis(circuit.angular_frequency * time_s);
        state.source = circuit.source.map(|p| p.re * turn.im + p.im * turn.re);
        state.voltages.fill(Phases::default());
        let voltages = &mut state.voltages;
        for (node, branch) in self.branches.iter().enumerate() {
            let history = state.branch_history[node];
            voltages[node] = voltages[node] + history;
            if let Some(parent) = branch.parent {
                voltages[parent] = voltages[parent] - history;
            }
        }
        for (load, &history) in self.loads.iter().zip(&state.load_history) {
            voltages[load.node] = voltages[load.node] - delta_to_phases(history);
        }
        self.nodal.solve(state.source, voltages);
        for (node, branch) in self.branches.iter().enumerate() {
            let from = branch.parent.map_or(state.source, |p| voltages[p]);
            let driven = branch.conductance.times(from - voltages[node]);
            state.branch_currents[node] = driven + state.branch_history[node];
        }
        for (i, load) in self.loads.iter().enumerate() {
            let driven = by_phase(&load.conductance, between_phases(voltages[load.node]));
            state.load_currents[i] = driven + state.load_history[i];
        }
    }

    /// Trapezoidal histories from voltages and currents alone.
    fn start_trapezoidal(&self, state: &mut TransientState) {
        for (node, branch) in self.branches.iter().enumerate() {
            let from = branch.parent.map_or(state.source, |p| state.voltages[p]);
            let driven = branch.conductance.times(from - state.voltages[node]);
            let kept = branch.trapezoidal.times(state.branch_currents[node]);
            state.branch_history[node] = driven + kept;
        }
        for (i, load) in self.loads.iter().enumerate() {
            let across = between_phases(state.voltages[load.node]);
            let kept = by_phase(&load.trapezoidal, state.load_currents[i]);
            state.load_history[i] = by_phase(&load.conductance, across) + kept;
        }
    }

    /// Trapezoidal histories after a step: `Y u` is what the current has beyond its history.
    fn follow_trapezoidal(&self, state: &mut TransientState) {
        for (node, branch) in self.branches.iter().enumerate() {
            let current = state.branch_currents[node];
            let driven = current - state.branch_history[node];
            state.branch_history[node] = driven + branch.trapezoidal.times(current);
        }
        for (i, load) in self.loads.iter().enumerate() {
            let current = state.load_currents[i];
            let driven = current - state.load_history[i];
            state.load_history[i] = driven + by_phase(&load.trapezoidal, current);
        }
    }

    /// Histories of a half step of backward Euler: currents alone, no voltage before the jump.
    fn start_backward_euler(&self, state: &mut TransientState) {
        for (node, branch) in self.branches.iter().enumerate() {
            state.branch_history[node] = branch.backward_euler.times(state.branch_currents[node]);
        }
        for (i, load) in self.loads.iter().enumerate() {
            state.load_history[i] = by_phase(&load.backward_euler, state.load_currents[i]);
        }
    }
}
