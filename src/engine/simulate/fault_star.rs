//! A short circuit as a star of resistances: one from each faulted phase to a common point, one from there to earth.

use super::phases::Coupling;

/// `A` … `ABC` of the faulted phases, in the order in which they follow each other; nothing without one.
pub fn phase_letters(phases: [bool; 3]) -> String {
    match phases {
        [true, false, true] => "CA".to_owned(),
        _ => {
            let letters = ['A', 'B', 'C'].into_iter().zip(phases);
            letters
                .filter(|(_, is)| *is)
                .map(|(letter, _)| letter)
                .collect()
        }
    }
}

/// The faulted phases and the resistances of their star.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultStar {
    /// Which of a, b, c are faulted.
    pub phases: [bool; 3],
    /// From each faulted phase to the common point.
    pub phase_ohm: f64,
    /// From the common point to earth; none when it is isolated.
    pub earth_ohm: Option<f64>,
}

impl FaultStar {
    /// Nodal conductance with the common point eliminated: `G = g·1 − g²/(n g + g_e)`.
    pub(super) fn conductance(&self) -> Coupling<f64> {
        let g = 1.0 / self.phase_ohm;
        let n = self.phases.iter().filter(|is| **is).count() as f64;
        let common = match self.earth_ohm {
            None => g / n,
            Some(0.0) => 0.0,
            Some(ohm) => g * g / (n * g + 1.0 / ohm),
        };
        let mut matrix = Coupling::default();
        for p in (0..3).filter(|p| self.phases[*p]) {
            for q in (0..3).filter(|q| self.phases[*q]) {
                matrix.0[p][q] = -common;
            }
            matrix.0[p][p] = g - common;
        }
        matrix
    }
}
