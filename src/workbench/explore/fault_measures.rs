//! What is measured at the two cursors of a fault record: values, RMS, phasors, sequences, frequency, harmonics.

use num_complex::Complex64;

use super::fault_record::FaultRecord;
use atomscope_engine::features::cycle::{Cycle, frequency_at, sequences_at};

/// One signal at one cursor, in the unit of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SignalMeasures {
    /// The sample at the cursor.
    pub value: Option<f64>,
    /// True RMS of the cycle that ends at the cursor.
    pub rms: Option<f64>,
    /// Peak phasor of the fundamental of that cycle.
    pub phasor: Option<Complex64>,
}

/// One three-phase set at one cursor, in the unit of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetMeasures {
    /// Zero, positive and negative sequence, as peak phasors.
    pub sequences: Option<[Complex64; 3]>,
    /// The frequency over two cycles.
    pub frequency_hz: Option<f64>,
}

/// Everything at one cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CursorMeasures {
    /// Where the cursor is.
    pub time_s: f64,
    /// Each signal of the record.
    pub signals: Vec<SignalMeasures>,
    /// Each three-phase set.
    pub sets: Vec<SetMeasures>,
}

/// The harmonics of one signal at a cursor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HarmonicMeasures {
    /// The constant part.
    pub mean: f64,
    /// Amplitudes of harmonics 1 and above, in the unit of the file.
    pub amplitudes: Vec<f64>,
    /// Total harmonic distortion.
    pub distortion: Option<f64>,
    /// The highest harmonic that the sampling rate carries.
    pub highest_order: usize,
}

/// What is asked: two moments, and the harmonics of one signal at one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureQuestion {
    /// The two cursors.
    pub cursors_s: [f64; 2],
    /// The cursor at which harmonics are taken.
    pub active: usize,
    /// The signal whose harmonics are taken.
    pub signal: usize,
    /// The highest harmonic wanted.
    pub highest_order: usize,
    /// The nominal frequency; without one only values are known.
    pub nominal_hz: Option<f64>,
}

/// The answers.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultMeasures {
    /// What was asked.
    pub question: MeasureQuestion,
    /// The two cursors.
    pub cursors: [CursorMeasures; 2],
    /// The harmonics, where there is a whole cycle.
    pub harmonics: Option<HarmonicMeasures>,
}

impl FaultMeasures {
    /// Measures a record.
    pub(super) fn of(record: &FaultRecord, question: MeasureQuestion) -> Self {
        Self {
            cursors: question
                .cursors_s
                .map(|time_s| at_cursor(record, time_s, question.nominal_hz)),
            harmonics: harmonics(record, &question),
            question,
        }
    }
}

fn at_cursor(record: &FaultRecord, time_s: f64, nominal_hz: Option<f64>) -> CursorMeasures {
    let signals = record.signals.iter().map(|signal| {
        let sampled = signal.sampled();
        let cycle = nominal_hz.and_then(|hz| Cycle::before(&sampled, time_s, hz));
        SignalMeasures {
            value: sampled.value_at(time_s).filter(|value| value.is_finite()),
            rms: cycle.as_ref().map(Cycle::rms),
            phasor: cycle.as_ref().map(|cycle| cycle.phasor(1)),
        }
    });
    let sets = record.sets.iter().map(|set| {
        let phases = record.phases(set);
        SetMeasures {
            sequences: nominal_hz.and_then(|hz| sequences_at(&phases, time_s, hz)),
            frequency_hz: nominal_hz.and_then(|hz| frequency_at(&phases, time_s, hz)),
        }
    });
    CursorMeasures {
        time_s,
        signals: signals.collect(),
        sets: sets.collect(),
    }
}

fn harmonics(record: &FaultRecord, question: &MeasureQuestion) -> Option<HarmonicMeasures> {
    let signal = record.signals.get(question.signal)?.sampled();
    let time_s = *question.cursors_s.get(question.active)?;
    let cycle = Cycle::before(&signal, time_s, question.nominal_hz?)?;
    Some(HarmonicMeasures {
        mean: cycle.mean(),
        amplitudes: cycle.harmonics(question.highest_order),
        distortion: cycle.distortion(question.highest_order),
        highest_order: cycle.highest_order(),
    })
}
