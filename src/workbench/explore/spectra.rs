//! Spectra of traces by Welch's method, the power of the bands, and the spectrogram of a recording.

use super::traces::{TraceSource, read_traces};
use crate::workbench::TaskError;
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::features::display_filter::DisplayFilter;
use atomscope_engine::features::spectrum::{Welch, band_power};
use atomscope_engine::records::Record;

/// Length of a segment of Welch's method.
const SEGMENT_S: f64 = 2.0;
/// Bands of the maps: name and edges.
pub const BANDS: [(&str, f64, f64); 5] = [
    ("delta", 1.0, 4.0),
    ("theta", 4.0, 8.0),
    ("alpha", 8.0, 13.0),
    ("beta", 13.0, 30.0),
    ("gamma", 30.0, 45.0),
];
/// Highest frequency of the spectrogram.
const SPECTROGRAM_HZ: f64 = 40.0;
/// Columns of the spectrogram.
const SPECTROGRAM_COLUMNS: usize = 480;
/// Seconds read for one column, in its middle.
const COLUMN_S: f64 = 4.0;

/// The spectrum of one trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpectrum {
    /// The trace.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Its place on the head.
    pub position: Option<(f64, f64)>,
    /// Whether a bad channel is part of it.
    pub is_bad: bool,
    /// Distance between two lines.
    pub resolution_hz: f64,
    /// Density line by line from 0 Hz, unit² per Hz; empty if the stretch is too short.
    pub density: Vec<f64>,
}

impl TraceSpectrum {
    /// The power of each band, unit².
    pub fn band_powers(&self) -> [f64; BANDS.len()] {
        BANDS.map(|(_, low_hz, high_hz)| {
            band_power(&self.density, self.resolution_hz, low_hz, high_hz)
        })
    }

    /// The frequency of its highest line from 1 Hz on.
    pub fn peak_hz(&self) -> Option<f64> {
        let first = (1.0 / self.resolution_hz).ceil() as usize;
        let lines = self.density.iter().enumerate().skip(first);
        let (line, _) = lines.max_by(|a, b| a.1.total_cmp(b.1))?;
        Some(line as f64 * self.resolution_hz)
    }
}

/// The mean of densities as they come in, weighted by the samples behind them.
struct Accumulated {
    welch: Welch,
    sum: Vec<f64>,
    n_samples: usize,
}

/// The spectra of traces between two times; gaps are left out.
pub(super) fn spectra(
    record: &Record,
    traces: &[TraceSource],
    (start_s, end_s): (f64, f64),
    progress: &JobProgress,
) -> Result<Vec<TraceSpectrum>, TaskError> {
    let mut all: Vec<Accumulated> = traces
        .iter()
        .map(|trace| {
            let length_s = SEGMENT_S.min(end_s - start_s);
            let length = ((length_s * trace.rate_hz).round() as usize).max(2);
            Accumulated {
                welch: Welch::new(length, length / 2, trace.rate_hz),
                sum: Vec::new(),
                n_samples: 0,
            }
        })
        .collect();
    let mut goes_on = true;
    let off = DisplayFilter::default();
    read_traces(record, traces, (start_s, end_s), &off, |piece, share| {
        goes_on = progress.go_on(share);
        let own = &mut all[piece.trace];
        if let Some(density) = own.welch.density(piece.values).filter(|d| is_finite(d)) {
            own.sum.resize(density.len(), 0.0);
            for (sum, line) in own.sum.iter_mut().zip(density) {
                *sum += line * piece.values.len() as f64;
            }
            own.n_samples += piece.values.len();
        }
        goes_on
    })?;
    if !goes_on {
        return Err(TaskError::Cancelled);
    }
    let finished = traces.iter().zip(all).map(|(trace, own)| TraceSpectrum {
        name: trace.name.clone(),
        unit: trace.unit.clone(),
        position: trace.position,
        is_bad: trace.is_bad,
        resolution_hz: own.welch.resolution_hz(),
        density: own
            .sum
            .iter()
            .map(|sum| sum / own.n_samples.max(1) as f64)
            .collect(),
    });
    Ok(finished.collect())
}

fn is_finite(density: &[f64]) -> bool {
    density.iter().all(|line| line.is_finite())
}

/// Power over time and frequency of one trace, in decibels.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrogram {
    /// The trace.
    pub trace: String,
    /// Columns, evenly over the recording.
    pub n_columns: usize,
    /// Lines per column, from 0 Hz up.
    pub n_lines: usize,
    /// Frequency at the upper edge.
    pub highest_hz: f64,
    /// Column by column; NaN where nothing was recorded.
    pub decibels: Vec<f32>,
    /// Values at the ends of the colours: the 5th and 98th percentile.
    pub range_db: (f32, f32),
}

/// The spectrogram of a trace over a whole recording: each column is the spectrum of at most four
/// seconds in its middle.
pub(super) fn spectrogram(
    record: &Record,
    trace: &TraceSource,
    duration_s: f64,
    progress: &JobProgress,
) -> Result<Spectrogram, TaskError> {
    let n_columns = SPECTROGRAM_COLUMNS
        .min((duration_s / SEGMENT_S).ceil() as usize)
        .max(1);
    let step_s = duration_s / n_columns as f64;
    let highest_hz = SPECTROGRAM_HZ.min(trace.rate_hz / 2.0);
    let n_lines = (highest_hz * SEGMENT_S) as usize + 1;
    let mut decibels = Vec::with_capacity(n_columns * n_lines);
    for column in 0..n_columns {
        if !progress.go_on(column as f64 / n_columns as f64) {
            return Err(TaskError::Cancelled);
        }
        let middle_s = (column as f64 + 0.5) * step_s;
        let half_s = (step_s.max(SEGMENT_S) / 2.0).min(COLUMN_S / 2.0);
        // The sample at the far edge belongs to the segment too.
        let time_s = (
            (middle_s - half_s).max(0.0),
            middle_s + half_s + 1.0 / trace.rate_hz,
        );
        let length = (SEGMENT_S * trace.rate_hz).round() as usize;
        let mut welch = Welch::new(length.max(2), length / 2, trace.rate_hz);
        let mut density = None;
        let off = DisplayFilter::default();
        let one = std::slice::from_ref(trace);
        read_traces(record, one, time_s, &off, |piece, _| {
            density = welch.density(piece.values).or(density.take());
            true
        })?;
        let lines = density.unwrap_or_default();
        let line = |k: usize| lines.get(k).map_or(f32::NAN, |power| decibel(*power));
        decibels.extend((0..n_lines).map(line));
    }
    Ok(Spectrogram {
        trace: trace.name.clone(),
        n_columns,
        n_lines,
        highest_hz,
        range_db: percentiles(&decibels),
        decibels,
    })
}

fn decibel(power: f64) -> f32 {
    (10.0 * power.max(1e-12).log10()) as f32
}

fn percentiles(values: &[f32]) -> (f32, f32) {
    let mut sorted: Vec<f32> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f32::total_cmp);
    let at = |share: f64| {
        let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
        sorted.get(place).copied().unwrap_or(0.0)
    };
    let (low, high) = (at(0.05), at(0.98));
    (low, high.max(low + 1.0))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use atomscope_engine::experiment::{Job, JobOutcome};
    use atomscope_engine::features::montage::Montage;
    use atomscope_engine::records::{Channel, Format, Kind, Unit};

    /// 10 Hz of 20 µV in the first half, 20 Hz of 10 µV in the second; C4 is silent.
    fn record() -> Record {
        let rate_hz = 200.0;
        let wave = |k: usize| {
            let time_s = k as f64 / rate_hz;
            match time_s < 30.0 {
                true => 20.0 * (TAU * 10.0 * time_s).sin(),
                false => 10.0 * (TAU * 20.0 * time_s).sin(),
            }
        };
        let channel = |name: &str| Channel::analog(name, Unit::parse("µV"), Some(rate_hz), 0);
        let data = vec![
            (channel("C3"), (0..12_000).map(wave).collect()),
            (channel("C4"), vec![0.0; 12_000]),
        ];
        Record::in_memory(Format::Simulated, Kind::Recording, "test", data)
    }

    fn run<T: Send + 'static>(
        work: impl FnOnce(&Record, &[TraceSource], &JobProgress) -> T + Send + 'static,
    ) -> T {
        let (sender, woken) = std::sync::mpsc::channel();
        let wake = move || sender.send(()).expect("the test waits");
        let job = Job::start("test", wake, move |progress| {
            let record = record();
            let traces = TraceSource::all_of(&record, &Montage::AsRecorded, &[], &[]);
            work(&record, &traces.expect("derived"), progress)
        });
        woken.recv().expect("the job wakes");
        match job.take() {
            Some(JobOutcome::Done(value)) => value,
            _ => panic!("it ends"),
        }
    }

    #[test]
    fn the_power_of_a_sine_is_in_its_band_and_at_its_frequency() {
        let first = run(|record, traces, progress| spectra(record, traces, (2.0, 22.0), progress));
        let first = first.expect("readable");
        assert_eq!(first[0].peak_hz(), Some(10.0));
        let powers = first[0].band_powers();
        // A²/2 of a sine of 20 µV.
        assert!((powers[2] - 200.0).abs() < 1e-6, "{powers:?}");
        assert!(powers[3] < 1e-9 && first[1].band_powers()[2] == 0.0);
        let second =
            run(|record, traces, progress| spectra(record, traces, (32.0, 52.0), progress));
        let second = second.expect("readable");
        assert!((second[0].band_powers()[3] - 50.0).abs() < 1e-6);
    }

    #[test]
    fn the_spectrogram_shows_the_change() {
        let found = run(|record, traces, progress| spectrogram(record, &traces[0], 60.0, progress));
        let found = found.expect("readable");
        assert_eq!((found.n_columns, found.n_lines), (30, 81));
        let strongest = |column: usize| {
            let lines = &found.decibels[column * found.n_lines..][..found.n_lines];
            let best = (0..lines.len()).max_by(|a, b| lines[*a].total_cmp(&lines[*b]));
            best.expect("lines") as f64 / SEGMENT_S
        };
        assert_eq!((strongest(3), strongest(25)), (10.0, 20.0));
    }

    #[test]
    fn a_stretch_shorter_than_a_segment_still_has_a_spectrum() {
        let found = run(|record, traces, progress| spectra(record, traces, (5.0, 5.5), progress));
        let found = found.expect("readable");
        assert_eq!(found[0].resolution_hz, 2.0);
        assert_eq!(found[0].peak_hz(), Some(10.0));
    }
}
