//! A three-phase circuit in time: coupled RL branches, shunts, breakers and an arc between any nodes.
//!
//! As in the feeder, branches and capacitors become companion conductances of the trapezoidal rule, and every switching
//! is taken by two half steps of backward Euler (critical damping adjustment, Marti and Lin 1989), which have the same
//! conductances:
//!
//! ```text
//! branch      i = Y (v_from − v_to) + hist,   Y = (R + 2L/h)⁻¹
//! capacitor   i = (2C/h) v − hist
//! ```
//!
//! Here nodes may be meshed and fed from both sides, so the nodal matrix is dense; it has 15 rows at most.

use num_complex::Complex64;

use crate::simulate::phases::{Coupling, Phases, Scalar};

/// Conductance of a closed pole in S: far more than any impedance of the circuit lets matter.
const CLOSED_S: f64 = 1e5;

/// Conductance of an open pole in S.
const OPEN_S: f64 = 1e-9;

/// Where a branch comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// A node of the circuit.
    Node(usize),
    /// A source against earth: peak phasors, v(t) = Im(phasor · e^{jωt}); zero for earth itself.
    Source(Phases<Complex64>),
}

/// A mutually coupled series branch.
#[derive(Clone, Debug)]
pub(super) struct SeriesBranch {
    pub(super) from: End,
    pub(super) to: usize,
    /// Ω.
    pub(super) resistance: Coupling<f64>,
    /// H.
    pub(super) inductance: Coupling<f64>,
    /// It exists from this time on; minus infinity for always.
    pub(super) joins_s: f64,
}

/// Conductance and capacitance between the phases of a node and earth.
#[derive(Clone, Debug)]
pub(super) struct Shunt {
    pub(super) node: usize,
    /// S.
    pub(super) conductance: Coupling<f64>,
    /// F.
    pub(super) capacitance: Coupling<f64>,
    pub(super) from_s: f64,
    pub(super) until_s: f64,
}

/// A switch between two nodes whose poles open at their next current zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Breaker {
    pub(super) from: usize,
    pub(super) to: usize,
    /// When it closes; minus infinity if it was closed before.
    pub(super) closes_s: f64,
    /// When it is told to open; infinity for never.
    pub(super) opens_s: f64,
}

/// An arc from one phase of a node to earth: two antiparallel voltages, each behind a resistance that every half cycle
/// draws anew.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    pub(super) node: usize,
    pub(super) phase: usize,
    /// Voltages of the positive and the negative half cycle.
    pub(super) voltages_v: [f64; 2],
    /// Resistance of each conducting half cycle, used in turn; an infinite one does not conduct.
    pub(super) resistances_ohm: Vec<f64>,
    pub(super) from_s: f64,
}

/// The circuit.
#[derive(Clone, Debug)]
pub(super) struct Circuit {
    pub(super) angular_frequency: f64,
    pub(super) n_nodes: usize,
    pub(super) branches: Vec<SeriesBranch>,
    pub(super) shunts: Vec<Shunt>,
    pub(super) breakers: Vec<Breaker>,
    pub(super) arc: Option<Arc>,
    /// Whether all steps are backward Euler's, which takes the ringing of the network's capacitance away as losses and
    /// recorders do; it adds half a per cent to the resistance of the fundamental.
    pub(super) is_damped: bool,
}

/// When to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverTiming {
    pub(super) start_s: f64,
    pub(super) step_s: f64,
    pub(super) steps_per_sample: usize,
    pub(super) n_samples: usize,
}

/// Node voltages and branch currents at one sampling instant.
#[derive(Clone, Debug)]
pub(super) struct Instant {
    pub(super) voltages: Vec<Phases<f64>>,
    pub(super) currents: Vec<Phases<f64>>,
}

/// What a run gives.
pub(super) struct Solution {
    pub(super) instants: Vec<Instant>,
    /// When each pole of each breaker opened, and the peak in A of a sine as steep as what it interrupted.
    pub(super) opened: Vec<[Option<(f64, f64)>; 3]>,
}

/// Which parts are connected.
#[derive(Clone, Debug, PartialEq)]
struct Connections {
    branches: Vec<bool>,
    shunts: Vec<bool>,
    poles: Vec<[bool; 3]>,
    /// Direction and number of the half cycle of the arc, if it burns.
    arc: Option<(bool, usize)>,
}

impl Circuit {
    fn topology(
        &self,
        time_s: f64,
        opened: &[[bool; 3]],
        arc: Option<(bool, usize)>,
    ) -> Connections {
        let closed = |(breaker, open): (&Breaker, &[bool; 3])| {
            open.map(|is_open| time_s >= breaker.closes_s && !is_open)
        };
        Connections {
            branches: self.branches.iter().map(|b| time_s >= b.joins_s).collect(),
            shunts: self
                .shunts
                .iter()
                .map(|s| time_s >= s.from_s && time_s < s.until_s)
                .collect(),
            poles: self.breakers.iter().zip(opened).map(closed).collect(),
            arc,
        }
    }

    /// Steps through time from the steady state at the start.
    pub(super) fn run(&self, timing: SolverTiming) -> Solution {
        let mut opened = vec![[false; 3]; self.breakers.len()];
        let mut openings = vec![[None; 3]; self.breakers.len()];
        // Half a step before an event its time has not come: rounding decides nothing.
        let eps_s = 1e-6 * timing.step_s;
        let mut topology = self.topology(timing.start_s, &opened, None);
        let mut state = SolverState::steady(self, &topology, timing.start_s);
        let mut model = Companion::new(self, &topology, timing.step_s);
        model.start_trapezoidal(self, timing.start_s, &mut state);
        let mut instants = vec![state.instant()];
        let mut burning = 0;
        let n_steps = timing.n_samples.saturating_sub(1) * timing.steps_per_sample;
        for step in 1..=n_steps {
            let before_s = timing.start_s + (step - 1) as f64 * timing.step_s + eps_s;
            let arc = self.arc_state(before_s, &state, topology.arc, &mut burning);
            let wanted = self.topology(before_s, &opened, arc);
            let time_s = timing.start_s + step as f64 * timing.step_s;
            let is_new = wanted != topology;
            if is_new {
                topology = wanted;
                model = Companion::new(self, &topology, timing.step_s);
            }
            let currents_before = state.breaker_currents.clone();
            if is_new || self.is_damped {
                model.start_backward_euler(&mut state);
                model.solve(self, time_s - timing.step_s / 2.0, &mut state);
                model.start_backward_euler(&mut state);
            }
            model.solve(self, time_s, &mut state);
            model.follow(&mut state);
            for (breaker, now) in state.breaker_currents.iter().enumerate() {
                if time_s + eps_s < self.breakers[breaker].opens_s {
                    continue;
                }
                for phase in 0..3 {
                    let (is, was) = (now.0[phase], currents_before[breaker].0[phase]);
                    if is * was <= 0.0 && !opened[breaker][phase] {
                        opened[breaker][phase] = true;
                        let per_s = (is - was).abs() / timing.step_s;
                        openings[breaker][phase] = Some((time_s, per_s / self.angular_frequency));
                    }
                }
            }
            if step % timing.steps_per_sample == 0 {
                instants.push(state.instant());
            }
        }
        Solution {
            instants,
            opened: openings,
        }
    }

    /// Whether the arc burns after an instant: it strikes where the voltage exceeds its own and goes out at the zero of
    /// its current.
    fn arc_state(
        &self,
        time_s: f64,
        state: &SolverState,
        now: Option<(bool, usize)>,
        burning: &mut usize,
    ) -> Option<(bool, usize)> {
        let arc = self.arc.as_ref().filter(|arc| time_s >= arc.from_s)?;
        let voltage = state.voltages[arc.node].0[arc.phase];
        if let Some((is_positive, _)) = now {
            let current = arc.driven(voltage, is_positive);
            let goes_on = if is_positive {
                current > 0.0
            } else {
                current < 0.0
            };
            if goes_on {
                return now;
            }
        }
        let is_positive = voltage > 0.0;
        let own = arc.voltages_v[usize::from(!is_positive)];
        if voltage.abs() <= own {
            return None;
        }
        *burning += 1;
        Some((is_positive, *burning - 1))
    }
}

impl Arc {
    /// Voltage across the resistance of the arc.
    fn driven(&self, voltage: f64, is_positive: bool) -> f64 {
        match is_positive {
            true => voltage - self.voltages_v[0],
            false => voltage + self.voltages_v[1],
        }
    }

    fn conductance(&self, half_cycle: usize) -> f64 {
        let n = self.resistances_ohm.len().max(1);
        let ohm = self.resistances_ohm.get(half_cycle % n);
        ohm.map_or(0.0, |ohm| 1.0 / ohm)
    }
}

struct SolverState {
    voltages: Vec<Phases<f64>>,
    currents: Vec<Phases<f64>>,
    branch_history: Vec<Phases<f64>>,
    shunt_currents: Vec<Phases<f64>>,
    /// Voltages of the capacitors; one that is not connected yet is empty.
    shunt_voltages: Vec<Phases<f64>>,
    shunt_history: Vec<Phases<f64>>,
    breaker_currents: Vec<Phases<f64>>,
}

impl SolverState {
    fn steady(circuit: &Circuit, topology: &Connections, time_s: f64) -> Self {
        let omega = circuit.angular_frequency;
        let j = Complex64::new(0.0, omega);
        let admittance = |branch: &SeriesBranch| {
            let resistive = branch.resistance.map(Complex64::from);
            inverted(&(resistive + branch.inductance.map(|l| j * l)))
        };
        let series: Vec<_> = circuit.branches.iter().map(admittance).collect();
        let shunts: Vec<_> = circuit
            .shunts
            .iter()
            .map(|s| s.conductance.map(Complex64::from) + s.capacitance.map(|c| j * c))
            .collect();
        let mut matrix = Nodal::new(circuit.n_nodes);
        matrix.add_parts(circuit, topology, &series, &shunts);
        let mut currents = vec![Phases::default(); circuit.n_nodes];
        for (k, branch) in circuit.branches.iter().enumerate() {
            if let (true, End::Source(source)) = (topology.branches[k], branch.from) {
                currents[branch.to] = currents[branch.to] + series[k].times(source);
            }
        }
        let voltages = matrix.inverted().times(&currents);
        let turn = Complex64::cis(omega * time_s);
        let now = |phasor: Phases<Complex64>| phasor.map(|x| (x * turn).im);
        let branch_current = |(k, branch): (usize, &SeriesBranch)| {
            let from = match branch.from {
                End::Node(node) => voltages[node],
                End::Source(source) => source,
            };
            match topology.branches[k] {
                true => now(series[k].times(from - voltages[branch.to])),
                false => Phases::default(),
            }
        };
        let shunt_current = |(k, shunt): (usize, &Shunt)| match topology.shunts[k] {
            true => now(shunt.capacitance.map(|c| j * c).times(voltages[shunt.node])),
            false => Phases::default(),
        };
        let shunt_voltage = |(k, shunt): (usize, &Shunt)| match topology.shunts[k] {
            true => now(voltages[shunt.node]),
            false => Phases::default(),
        };
        let branches = circuit.branches.iter().enumerate();
        let shunts = || circuit.shunts.iter().enumerate();
        Self {
            shunt_voltages: shunts().map(shunt_voltage).collect(),
            currents: branches.map(branch_current).collect(),
            branch_history: vec![Phases::default(); circuit.branches.len()],
            shunt_currents: shunts().map(shunt_current).collect(),
            shunt_history: vec![Phases::default(); circuit.shunts.len()],
            breaker_currents: vec![Phases::default(); circuit.breakers.len()],
            voltages: voltages.into_iter().map(now).collect(),
        }
    }

    fn instant(&self) -> Instant {
        Instant {
            voltages: self.voltages.clone(),
            currents: self.currents.clone(),
        }
    }
}

/// A dense nodal matrix.
struct Nodal<T> {
    n: usize,
    values: Vec<T>,
}

impl<T: Scalar> Nodal<T> {
    fn new(n_nodes: usize) -> Self {
        let n = 3 * n_nodes;
        Self {
            n,
            values: vec![T::default(); n * n],
        }
    }

    fn add(&mut self, row: usize, column: usize, block: &Coupling<T>) {
        for p in 0..3 {
            for q in 0..3 {
                self.values[(3 * row + p) * self.n + 3 * column + q] += block.0[p][q];
            }
        }
    }

    fn add_parts(
        &mut self,
        circuit: &Circuit,
        topology: &Connections,
        series: &[Coupling<T>],
        shunts: &[Coupling<T>],
    ) {
        for (k, branch) in circuit.branches.iter().enumerate() {
            if topology.branches[k] {
                let from = match branch.from {
                    End::Node(node) => Some(node),
                    End::Source(_) => None,
                };
                self.add_between(from, branch.to, &series[k]);
            }
        }
        for (k, shunt) in circuit.shunts.iter().enumerate() {
            if topology.shunts[k] {
                self.add(shunt.node, shunt.node, &shunts[k]);
            }
        }
        for (breaker, poles) in circuit.breakers.iter().zip(&topology.poles) {
            let mut block = Coupling::default();
            for (phase, is_closed) in poles.iter().enumerate() {
                block.0[phase][phase] = T::from(pole_conductance(*is_closed));
            }
            self.add_between(Some(breaker.from), breaker.to, &block);
        }
        if let (Some(arc), Some((_, half_cycle))) = (&circuit.arc, topology.arc) {
            let mut block = Coupling::default();
            block.0[arc.phase][arc.phase] = T::from(arc.conductance(half_cycle));
            self.add(arc.node, arc.node, &block);
        }
    }

    fn add_between(&mut self, from: Option<usize>, to: usize, block: &Coupling<T>) {
        self.add(to, to, block);
        if let Some(from) = from {
            let minus = block.map(|x| -x);
            self.add(from, from, block);
            self.add(from, to, &minus);
            self.add(to, from, &minus);
        }
    }

    /// The inverse by elimination with the largest pivot of each column.
    fn inverted(mut self) -> Self {
        let n = self.n;
        let mut inverse = Self {
            n,
            values: vec![T::default(); n * n],
        };
        for k in 0..n {
            inverse.values[k * n + k] = T::from(1.0);
        }
        for column in 0..n {
            let size = |row: usize| self.values[row * n + column].size();
            let pivot = (column..n).max_by(|a, b| size(*a).total_cmp(&size(*b)));
            let pivot = pivot.unwrap_or(column);
            for k in 0..n {
                self.values.swap(column * n + k, pivot * n + k);
                inverse.values.swap(column * n + k, pivot * n + k);
            }
            let scale = T::from(1.0) / self.values[column * n + column];
            for k in 0..n {
                self.values[column * n + k] = self.values[column * n + k] * scale;
                inverse.values[column * n + k] = inverse.values[column * n + k] * scale;
            }
            for row in (0..n).filter(|row| *row != column) {
                let factor = self.values[row * n + column];
                for k in 0..n {
                    let (own, other) =
                        (self.values[column * n + k], inverse.values[column * n + k]);
                    self.values[row * n + k] += -(factor * own);
                    inverse.values[row * n + k] += -(factor * other);
                }
            }
        }
        inverse
    }

    fn times(&self, x: &[Phases<T>]) -> Vec<Phases<T>> {
        let row = |r: usize| {
            let weights = self.values[r * self.n..(r + 1) * self.n].chunks(3);
            let mut sum = T::default();
            for (w, x) in weights.zip(x) {
                sum += w[0] * x.0[0] + w[1] * x.0[1] + w[2] * x.0[2];
            }
            sum
        };
        let nodes = 0..self.n / 3;
        nodes
            .map(|k| Phases([row(3 * k), row(3 * k + 1), row(3 * k + 2)]))
            .collect()
    }
}

/// The inverse of a block by elimination. Cofactors lose everything where a branch lets no zero sequence pass: their
/// error is that of (z0/z1)², that of elimination z0/z1.
fn inverted<T: Scalar>(block: &Coupling<T>) -> Coupling<T> {
    let mut matrix = Nodal::new(1);
    matrix.add(0, 0, block);
    let inverse = matrix.inverted();
    Coupling([0, 1, 2].map(|row| [0, 1, 2].map(|column| inverse.values[3 * row + column])))
}

fn pole_conductance(is_closed: bool) -> f64 {
    if is_closed { CLOSED_S } else { OPEN_S }
}

/// All companion models of one topology.
struct Companion {
    topology: Connections,
    /// Y, Y (2L/h − R) and Y 2L/h of every branch.
    branches: Vec<[Coupling<f64>; 3]>,
    /// 2C/h of every shunt.
    capacitive: Vec<Coupling<f64>>,
    inverse: Nodal<f64>,
}

impl Companion {
    fn new(circuit: &Circuit, topology: &Connections, step_s: f64) -> Self {
        let model = |branch: &SeriesBranch| {
            let inductive = branch.inductance.map(|l| 2.0 * l / step_s);
            let conductance = inverted(&(branch.resistance + inductive));
            [
                conductance,
                conductance * (inductive - branch.resistance),
                conductance * inductive,
            ]
        };
        let branches: Vec<_> = circuit.branches.iter().map(model).collect();
        let series: Vec<_> = branches.iter().map(|b| b[0]).collect();
        let capacitive: Vec<_> = circuit
            .shunts
            .iter()
            .map(|s| s.capacitance.map(|c| 2.0 * c / step_s))
            .collect();
        let shunts: Vec<_> = circuit
            .shunts
            .iter()
            .zip(&capacitive)
            .map(|(s, c)| s.conductance + *c)
            .collect();
        let mut matrix = Nodal::new(circuit.n_nodes);
        matrix.add_parts(circuit, topology, &series, &shunts);
        Self {
            topology: topology.clone(),
            branches,
            capacitive,
            inverse: matrix.inverted(),
        }
    }

    fn source_at(
        circuit: &Circuit,
        end: End,
        time_s: f64,
        voltages: &[Phases<f64>],
    ) -> Phases<f64> {
        match end {
            End::Node(node) => voltages[node],
            End::Source(source) => {
                let turn = Complex64::cis(circuit.angular_frequency * time_s);
                source.map(|x| (x * turn).im)
            }
        }
    }

    /// Solves for the voltages and currents at a time from the histories.
    fn solve(&self, circuit: &Circuit, time_s: f64, state: &mut SolverState) {
        let mut injected = vec![Phases::default(); circuit.n_nodes];
        for (k, branch) in circuit.branches.iter().enumerate() {
            if !self.topology.branches[k] {
                continue;
            }
            let history = state.branch_history[k];
            injected[branch.to] = injected[branch.to] + history;
            match branch.from {
                End::Node(from) => injected[from] = injected[from] - history,
                End::Source(_) => {
                    let source = Self::source_at(circuit, branch.from, time_s, &[]);
                    injected[branch.to] = injected[branch.to] + self.branches[k][0].times(source);
                }
            }
        }
        for (k, shunt) in circuit.shunts.iter().enumerate() {
            if self.topology.shunts[k] {
                injected[shunt.node] = injected[shunt.node] + state.shunt_history[k];
            }
        }
        if let (Some(arc), Some((is_positive, half_cycle))) = (&circuit.arc, self.topology.arc) {
            let own = arc.driven(0.0, is_positive);
            injected[arc.node].0[arc.phase] += -own * arc.conductance(half_cycle);
        }
        state.voltages = self.inverse.times(&injected);
        for (k, branch) in circuit.branches.iter().enumerate() {
            if !self.topology.branches[k] {
                continue;
            }
            let from = Self::source_at(circuit, branch.from, time_s, &state.voltages);
            let driven = self.branches[k][0].times(from - state.voltages[branch.to]);
            state.currents[k] = driven + state.branch_history[k];
        }
        for (k, shunt) in circuit.shunts.iter().enumerate() {
            if self.topology.shunts[k] {
                let driven = self.capacitive[k].times(state.voltages[shunt.node]);
                state.shunt_currents[k] = driven - state.shunt_history[k];
                state.shunt_voltages[k] = state.voltages[shunt.node];
            }
        }
        for (k, breaker) in circuit.breakers.iter().enumerate() {
            let across = state.voltages[breaker.from] - state.voltages[breaker.to];
            let poles = self.topology.poles[k];
            state.breaker_currents[k] =
                Phases([0, 1, 2].map(|p| pole_conductance(poles[p]) * across.0[p]));
        }
    }

    /// Histories of the trapezoidal rule from the voltages and currents of the steady state.
    fn start_trapezoidal(&self, circuit: &Circuit, time_s: f64, state: &mut SolverState) {
        for (k, branch) in circuit.branches.iter().enumerate() {
            let from = Self::source_at(circuit, branch.from, time_s, &state.voltages);
            let driven = self.branches[k][0].times(from - state.voltages[branch.to]);
            state.branch_history[k] = driven + self.branches[k][1].times(state.currents[k]);
        }
        for (k, shunt) in circuit.shunts.iter().enumerate() {
            let driven = self.capacitive[k].times(state.voltages[shunt.node]);
            state.shunt_history[k] = driven + state.shunt_currents[k];
        }
    }

    /// Histories after a step: what a current has beyond its history is `Y u`.
    fn follow(&self, state: &mut SolverState) {
        for (k, [_, trapezoidal, _]) in self.branches.iter().enumerate() {
            let current = state.currents[k];
            let driven = current - state.branch_history[k];
            state.branch_history[k] = driven + trapezoidal.times(current);
        }
        for history_and_current in state.shunt_history.iter_mut().zip(&state.shunt_currents) {
            let (history, current) = history_and_current;
            // (2C/h) v + i = (i + hist) + i.
            *history = *history + *current + *current;
        }
    }

    /// Histories of a half step of backward Euler.
    fn start_backward_euler(&self, state: &mut SolverState) {
        for (k, [_, _, backward]) in self.branches.iter().enumerate() {
            state.branch_history[k] = backward.times(state.currents[k]);
        }
        for (k, capacitive) in self.capacitive.iter().enumerate() {
            state.shunt_history[k] = capacitive.times(state.shunt_voltages[k]);
        }
    }
}
