//! One circuit: a tree of coupled RL branches with delta loads and a fault, and its nodal equations.
//!
//! Node `k` hangs on branch `k`, which comes from node `parent[k] < k` (branch 0
//! from the ideal source). With `Y_k` the admittance of branch `k` and `S_k` that
//! of everything from node `k` to earth or between its phases, the nodal matrix
//! has the 3 × 3 blocks
//!
//! ```text
//! D_k = Y_k + Σ_children Y_c + S_k       (k, k)
//!     − Y_k                              (k, parent of k)
//! ```
//!
//! Eliminating from the leaves to the head makes no new blocks, so factoring and
//! solving cost a fixed number of 3 × 3 products per node. The same code serves
//! the companion conductances of a time step and the complex admittances of the
//! phasor solution.

use num_complex::Complex64;

use crate::simulate::phases::{Coupling, Phases, Scalar};

/// A mutually coupled series branch from the parent's node to its own.
#[derive(Clone, Debug)]
pub(super) struct FeederBranch {
    /// Node it comes from; none for the branch from the source.
    pub(super) parent: Option<usize>,
    /// Resistance matrix in Ω.
    pub(super) resistance: Coupling<f64>,
    /// Inductance matrix in H.
    pub(super) inductance: Coupling<f64>,
}

/// Three RL branches between the phases of a node: a–b, b–c, c–a.
#[derive(Clone, Debug)]
pub(super) struct DeltaLoad {
    pub(super) node: usize,
    /// Resistance in Ω of each branch.
    pub(super) resistance: [f64; 3],
    /// Inductance in H of each branch.
    pub(super) inductance: [f64; 3],
    /// Whether it is connected only from the switching instant on.
    pub(super) joins_at_switching: bool,
}

/// Conductances from the phases of a node to one another and to earth, in S.
#[derive(Clone, Debug)]
pub(super) struct FeederShunt {
    pub(super) node: usize,
    pub(super) conductance: Coupling<f64>,
}

/// The network with one set of loads, before and after the switching instant.
#[derive(Clone, Debug)]
pub(super) struct FeederCircuit {
    /// Angular frequency of the source in rad/s.
    pub(super) angular_frequency: f64,
    /// Peak phasor of the source voltages in V at time zero; v(t) = Im(phasor · e^{jωt}).
    pub(super) source: Phases<Complex64>,
    pub(super) branches: Vec<FeederBranch>,
    pub(super) loads: Vec<DeltaLoad>,
    /// The fault, closed at the switching instant.
    pub(super) fault: Option<FeederShunt>,
}

/// Before or after the switching instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Topology {
    Before,
    After,
}

/// Phasors (peak values) of a sinusoidal steady state.
#[derive(Clone, Debug)]
pub(super) struct SteadyState {
    /// Voltage of every node.
    pub(super) voltages: Vec<Phases<Complex64>>,
    /// Current of every branch, towards its own node.
    pub(super) branch_currents: Vec<Phases<Complex64>>,
    /// Current of every load branch a–b, b–c, c–a.
    pub(super) load_currents: Vec<Phases<Complex64>>,
}

/// Voltages a − b, b − c, c − a.
#[inline]
pub(super) fn between_phases<T: Scalar>(v: Phases<T>) -> Phases<T> {
    let [a, b, c] = v.0;
    Phases([a - b, b - c, c - a])
}

/// What the phases deliver into delta branches a–b, b–c, c–a.
#[inline]
pub(super) fn delta_to_phases<T: Scalar>(i: Phases<T>) -> Phases<T> {
    let [ab, bc, ca] = i.0;
    Phases([ab - ca, bc - ab, ca - bc])
}

/// Nodal admittance of delta branches with admittances `ab, bc, ca`.
pub(super) fn delta_admittance<T: Scalar>([ab, bc, ca]: [T; 3]) -> Coupling<T> {
    Coupling([
        [ab + ca, -ab, -ca],
        [-ab, ab + bc, -bc],
        [-ca, -bc, bc + ca],
    ])
}

impl DeltaLoad {
    pub(super) fn connected(&self, topology: Topology) -> bool {
        topology == Topology::After || !self.joins_at_switching
    }
}

impl FeederCircuit {
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        self.branches.iter().map(|branch| branch.parent).collect()
    }

    /// The steady state at the source's frequency.
    pub(super) fn steady_state(&self, topology: Topology) -> SteadyState {
        let omega = self.angular_frequency;
        let impedance = |r: f64, l: f64| Complex64::new(r, omega * l);
        let series: Vec<Coupling<Complex64>> = self
            .branches
            .iter()
            .map(|branch| {
                let real = branch.resistance.map(Complex64::from);
                let imaginary = branch.inductance.map(|l| impedance(0.0, l));
                (real + imaginary).inverse()
            })
            .collect();
        let load_admittances: Vec<Phases<Complex64>> = self
            .loads
            .iter()
            .map(|load| {
                let z = |p: usize| impedance(load.resistance[p], load.inductance[p]);
                let connected = load.connected(topology);
                Phases([0, 1, 2].map(|p| if connected { z(p).inv() } else { 0.0.into() }))
            })
            .collect();
        let mut shunts = vec![Coupling::default(); self.branches.len()];
        for (load, admittance) in self.loads.iter().zip(&load_admittances) {
            shunts[load.node] = shunts[load.node] + delta_admittance(admittance.0);
        }
        if let (Topology::After, Some(fault)) = (topology, &self.fault) {
            let conductance = fault.conductance.map(Complex64::from);
            shunts[fault.node] = shunts[fault.node] + conductance;
        }
        let nodal = NodalTree::factor(&self.parents(), &series, shunts);
        let mut voltages = vec![Phases::default(); self.branches.len()];
        nodal.solve(self.source, &mut voltages);
        let branch_currents = self
            .branches
            .iter()
            .zip(&series)
            .zip(&voltages)
            .map(|((branch, admittance), &own)| {
                let from = branch.parent.map_or(self.source, |parent| voltages[parent]);
                admittance.times(from - own)
            })
            .collect();
        let load_currents = self
            .loads
            .iter()
            .zip(&load_admittances)
            .map(|(load, y)| {
                let v = between_phases(voltages[load.node]);
                Phases([0, 1, 2].map(|p| y.0[p] * v.0[p]))
            })
            .collect();
        SteadyState {
            voltages,
            branch_currents,
            load_currents,
        }
    }
}

/// A factored nodal matrix of tree shape.
pub(super) struct NodalTree<T> {
    nodes: Vec<EliminatedNode<T>>,
}

struct EliminatedNode<T> {
    parent: Option<usize>,
    /// Inverse of the pivot block.
    inverse: Coupling<T>,
    /// Inverse pivot times branch admittance: the share of the parent's voltage.
    from_parent: Coupling<T>,
    /// Transpose of it: what a current into this node is for the parent.
    to_parent: Coupling<T>,
}

impl<T: Scalar> NodalTree<T> {
    /// Eliminates every node, leaves first. `shunts` is S of the module's equation.
    pub(super) fn factor(
        parents: &[Option<usize>],
        series: &[Coupling<T>],
        shunts: Vec<Coupling<T>>,
    ) -> Self {
        let mut pivots = shunts;
        for (node, &admittance) in series.iter().enumerate() {
            pivots[node] = pivots[node] + admittance;
            if let Some(parent) = parents[node] {
                pivots[parent] = pivots[parent] + admittance;
            }
        }
        let mut nodes = Vec::with_capacity(parents.len());
        for node in (0..parents.len()).rev() {
            let inverse = pivots[node].inverse();
            let from_parent = inverse * series[node];
            if let Some(parent) = parents[node] {
                pivots[parent] = pivots[parent] - series[node] * from_parent;
            }
            nodes.push(EliminatedNode {
                parent: parents[node],
                inverse,
                from_parent,
                to_parent: from_parent.transposed(),
            });
        }
        nodes.reverse();
        Self { nodes }
    }

    /// Turns the currents injected at every node into its voltages, given the source's.
    pub(super) fn solve(&self, source: Phases<T>, values: &mut [Phases<T>]) {
        for (node, eliminated) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = eliminated.parent {
                values[parent] = values[parent] + eliminated.to_parent.times(values[node]);
            }
        }
        for (node, eliminated) in self.nodes.iter().enumerate() {
            let above = eliminated.parent.map_or(source, |parent| values[parent]);
            values[node] =
                eliminated.inverse.times(values[node]) + eliminated.from_parent.times(above);
        }
    }
}
