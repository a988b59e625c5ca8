//! A second record on the time axis of the first: its phases at the first one's samples, and what flows between both ends.

use std::sync::Arc;

use super::fault_record::{FaultRecord, GridSignal, block_extents, extent};
use atomscope_engine::records::Quantity;
use atomscope_engine::records::overview::MinMax;

/// Digital channels of the second record that are shown.
const MOST_DIGITAL: usize = 10;

/// Two records, and how much later the second one's clock shows the same moment.
#[derive(Clone, Debug)]
pub(super) struct OverlayQuestion {
    pub(super) near: Arc<FaultRecord>,
    pub(super) far: Arc<FaultRecord>,
    pub(super) shift_s: f64,
}

impl PartialEq for OverlayQuestion {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.near, &other.near)
            && Arc::ptr_eq(&self.far, &other.far)
            && self.shift_s == other.shift_s
    }
}

/// Values at the samples of the first record.
#[derive(Clone, Debug)]
pub struct OverlaidSignal {
    /// What it is called.
    pub name: String,
    /// Voltage or current.
    pub quantity: Quantity,
    /// Which phase it is.
    pub phase: usize,
    /// Volts or amperes of the line; NaN where the second record has none.
    pub values: Vec<f64>,
    /// Smallest and largest value.
    pub extent: (f64, f64),
    /// Extents of blocks of samples.
    pub blocks: Vec<MinMax>,
}

/// The second record as it lies on the first.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// Its phases.
    pub signals: Vec<OverlaidSignal>,
    /// Sums of the currents of both ends, positive into the line at each.
    pub differential: Vec<OverlaidSignal>,
    /// Its digital channels that change, in the time of the first record.
    pub digital: Vec<(String, Vec<(f64, bool)>)>,
    /// Its inception in the time of the first record.
    pub inception_s: Option<f64>,
}

impl Overlay {
    pub(super) fn of(question: &OverlayQuestion) -> Self {
        let OverlayQuestion { near, far, shift_s } = question;
        let on_near = |signal: &GridSignal, shift_s: f64| -> Vec<f64> {
            let factor = signal.in_line_units();
            let values = signal.sampled().on_clock(&near.clock, shift_s);
            values.into_iter().map(|value| value * factor).collect()
        };
        let mut overlay = Self::default();
        for quantity in [Quantity::Voltage, Quantity::Current] {
            let Some(set) = far.set_of(quantity) else {
                continue;
            };
            for (phase, place) in set.signals.into_iter().enumerate() {
                let signal = &far.signals[place];
                let values = on_near(signal, *shift_s);
                overlay.signals.push(OverlaidSignal {
                    name: format!("{} ′", signal.name),
                    quantity,
                    phase,
                    extent: extent(&values),
                    blocks: block_extents(&values),
                    values,
                });
            }
        }
        let currents = near.set_of(Quantity::Current).map(|set| set.signals);
        for (phase, place) in currents.into_iter().flatten().enumerate() {
            let is_other =
                |s: &&OverlaidSignal| s.quantity == Quantity::Current && s.phase == phase;
            let Some(other) = overlay.signals.iter().find(is_other) else {
                break;
            };
            let own = on_near(&near.signals[place], 0.0);
            let values: Vec<f64> = own.iter().zip(&other.values).map(|(a, b)| a + b).collect();
            let letter = ["A", "B", "C"][phase];
            overlay.differential.push(OverlaidSignal {
                name: format!("I{letter} + I{letter} ′"),
                quantity: Quantity::Current,
                phase,
                extent: extent(&values),
                blocks: block_extents(&values),
                values,
            });
        }
        let changing = far.digital.iter().filter(|digital| digital.changes());
        overlay.digital = changing
            .take(MOST_DIGITAL)
            .map(|digital| {
                let edges = digital.edges.iter();
                let edges = edges.map(|(at_s, state)| (at_s - shift_s, *state));
                (format!("{} ′", digital.name), edges.collect())
            })
            .collect();
        overlay.inception_s = far.facts.inception_s.map(|at_s| at_s - shift_s);
        overlay
    }
}
