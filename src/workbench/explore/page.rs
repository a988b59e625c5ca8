//! A page of traces as the window draws it, made in the background.

use std::sync::Arc;

use super::traces::{Piece, TraceSource, read_traces};
use crate::workbench::TaskError;
use atomscope_engine::features::display_filter::DisplayFilter;
use atomscope_engine::features::trace_columns::TraceColumns;
use atomscope_engine::records::Record;
use atomscope_engine::records::overview::{MinMax, Overview};

/// Samples kept for reading off values, of all traces together; longer pages keep columns only.
const MOST_KEPT: usize = 2_000_000;

/// What a page is to show.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRequest {
    /// Time at its left edge.
    pub start_s: f64,
    /// Time from edge to edge.
    pub span_s: f64,
    /// Columns of pixels.
    pub n_columns: usize,
    /// The traces from the top.
    pub traces: Arc<Vec<TraceSource>>,
    /// Filters of the copy that is shown.
    pub filter: DisplayFilter,
}

/// Samples of a trace without a break.
#[derive(Clone, Debug)]
struct Kept {
    onset_s: f64,
    rate_hz: f64,
    values: Vec<f32>,
}

/// One trace of a page.
#[derive(Clone, Debug)]
pub struct PageTrace {
    /// The trace.
    pub source: TraceSource,
    /// For every column of pixels the lowest and highest value.
    pub columns: Vec<MinMax>,
    /// The mean of its values on the page, which baseline correction takes off.
    pub level: f32,
    kept: Vec<Kept>,
}

impl PageTrace {
    /// Its value at a time: that of the nearest sample, if one is near and kept.
    pub fn value_at(&self, time_s: f64) -> Option<f64> {
        self.kept.iter().find_map(|kept| {
            let place = ((time_s - kept.onset_s) * kept.rate_hz).round();
            if place < 0.0 {
                return None;
            }
            kept.values
                .get(place as usize)
                .map(|value| f64::from(*value))
        })
    }

    /// How far it swings on the page, to its highest peak.
    pub fn whole_swing(&self) -> Option<f64> {
        let filled = self.columns.iter().filter(|column| !column.is_empty());
        let whole = filled.copied().reduce(MinMax::and)?;
        Some(f64::from(whole.max - whole.min))
    }

    /// How far it swings on most of the page: the highest and lowest twentieth, artefacts and jumps, do not count.
    pub fn swing(&self) -> Option<f64> {
        let filled = self.columns.iter().filter(|column| !column.is_empty());
        let (mut lows, mut highs): (Vec<f32>, Vec<f32>) = filled.map(|c| (c.min, c.max)).unzip();
        lows.sort_by(f32::total_cmp);
        highs.sort_by(f32::total_cmp);
        let few = lows.len() / 20;
        Some(f64::from(
            highs.get(highs.len().checked_sub(few + 1)?)? - lows.get(few)?,
        ))
    }
}

/// A page of traces.
#[derive(Clone, Debug)]
pub struct TracePage {
    /// What was asked for.
    pub request: PageRequest,
    /// The traces from the top.
    pub traces: Vec<PageTrace>,
}

impl TracePage {
    /// Reads the samples of a page. `go_on` is told the share done and cancels by answering false.
    pub fn read(
        record: &Record,
        request: PageRequest,
        overview: Option<&Overview>,
        go_on: impl Fn(f64) -> bool,
    ) -> Result<Self, TaskError> {
        let mut drawing: Vec<Drawing> = request
            .traces
            .iter()
            .map(|_| Drawing::new(&request))
            .collect();
        let far = match overview.filter(|overview| is_far(&request, overview)) {
            Some(overview) => draw_overview(record, &request, overview, &mut drawing)?,
            None => vec![false; request.traces.len()],
        };
        let near = Near {
            places: (0..far.len()).filter(|place| !far[*place]).collect(),
            keeps: n_samples(&request) <= MOST_KEPT as f64,
        };
        near.draw(record, &request, &mut drawing, &go_on)?;
        let traces = drawing.into_iter().zip(request.traces.iter());
        let traces = traces
            .map(|(drawing, source)| drawing.finish(source))
            .collect();
        Ok(Self { request, traces })
    }
}

/// Samples of all traces on the page.
fn n_samples(request: &PageRequest) -> f64 {
    let rates = request.traces.iter().map(|trace| trace.rate_hz);
    rates.sum::<f64>() * request.span_s
}

/// Whether a column holds more samples than the lowest level of the overview summarises.
fn is_far(request: &PageRequest, overview: &Overview) -> bool {
    let slowest = request
        .traces
        .iter()
        .map(|trace| trace.rate_hz)
        .fold(f64::INFINITY, f64::min);
    let per_column = slowest * request.span_s / request.n_columns.max(1) as f64;
    request.filter.is_off() && per_column >= 2.0 * overview.bin() as f64
}

/// A trace while its samples come in.
struct Drawing {
    columns: TraceColumns,
    sum: f64,
    n_values: usize,
    kept: Vec<Kept>,
}

impl Drawing {
    fn new(request: &PageRequest) -> Self {
        Self {
            columns: TraceColumns::new(request.start_s, request.span_s, request.n_columns),
            sum: 0.0,
            n_values: 0,
            kept: Vec::new(),
        }
    }

    fn add(&mut self, piece: &Piece<'_>, keeps: bool) {
        self.columns.add(piece.onset_s, piece.rate_hz, piece.values);
        let finite = piece.values.iter().filter(|value| value.is_finite());
        for value in finite {
            self.sum += value;
            self.n_values += 1;
        }
        if keeps {
            self.kept.push(Kept {
                onset_s: piece.onset_s,
                rate_hz: piece.rate_hz,
                values: piece.values.iter().map(|value| *value as f32).collect(),
            });
        }
    }

    fn finish(self, source: &TraceSource) -> PageTrace {
        PageTrace {
            source: source.clone(),
            columns: self.columns.columns().to_vec(),
            level: (self.sum / self.n_values.max(1) as f64) as f32,
            kept: self.kept,
        }
    }
}

/// Draws the traces that are single channels from the overview; tells which ones.
fn draw_overview(
    record: &Record,
    request: &PageRequest,
    overview: &Overview,
    drawing: &mut [Drawing],
) -> Result<Vec<bool>, TaskError> {
    let end_s = request.start_s + request.span_s;
    let mut is_drawn = Vec::with_capacity(drawing.len());
    for (trace, drawing) in request.traces.iter().zip(drawing) {
        let [(channel, weight)] = trace.terms[..] else {
            is_drawn.push(false);
            continue;
        };
        for segment in record.segments(channel) {
            let place =
                |time_s: f64| ((time_s - segment.onset_s) * trace.rate_hz).max(0.0) as usize;
            let first = place(request.start_s).min(segment.n_samples);
            let last = place(end_s).min(segment.n_samples);
            let share = (last - first) as f64 / trace.rate_hz / request.span_s;
            let n_columns = (share * request.n_columns as f64).round() as usize;
            let range = segment.first_sample + first..segment.first_sample + last;
            let columns = overview.columns(record, channel, range, n_columns.max(1))?;
            let weight = weight as f32;
            let extents: Vec<MinMax> = columns
                .iter()
                .map(|column| MinMax {
                    min: column.extent.min * weight,
                    max: column.extent.max * weight,
                })
                .collect();
            for extent in extents.iter().filter(|extent| !extent.is_empty()) {
                drawing.sum += f64::from(extent.min + extent.max) / 2.0;
                drawing.n_values += 1;
            }
            let onset_s = segment.onset_s + first as f64 / trace.rate_hz;
            let duration_s = (last - first) as f64 / trace.rate_hz;
            drawing.columns.add_extents(onset_s, duration_s, &extents);
        }
        is_drawn.push(true);
    }
    Ok(is_drawn)
}

/// The traces whose samples are read.
struct Near {
    places: Vec<usize>,
    keeps: bool,
}

impl Near {
    fn draw(
        &self,
        record: &Record,
        request: &PageRequest,
        drawing: &mut [Drawing],
        go_on: &impl Fn(f64) -> bool,
    ) -> Result<(), TaskError> {
        let traces: Vec<TraceSource> = self
            .places
            .iter()
            .map(|place| request.traces[*place].clone())
            .collect();
        let time_s = (request.start_s, request.start_s + request.span_s);
        let mut goes_on = true;
        read_traces(record, &traces, time_s, &request.filter, |piece, share| {
            goes_on = go_on(share);
            if goes_on {
                drawing[self.places[piece.trace]].add(&piece, self.keeps);
            }
            goes_on
        })?;
        match goes_on && go_on(1.0) {
            true => Ok(()),
            false => Err(TaskError::Cancelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::features::montage::Montage;
    use atomscope_engine::records::{Channel, Format, Kind, Unit};

    fn record() -> Record {
        let channel = Channel::analog("C3", Unit::parse("µV"), Some(100.0), 0);
        let values = (0..200_000).map(|k| f64::from((k * 31) % 997)).collect();
        let data = vec![(channel, values)];
        Record::in_memory(Format::Simulated, Kind::Recording, "test", data)
    }

    fn page(start_s: f64, span_s: f64, overview: Option<&Overview>) -> TracePage {
        let record = record();
        let traces = TraceSource::all_of(&record, &Montage::AsRecorded, &[], &[]).expect("derived");
        let request = PageRequest {
            start_s,
            span_s,
            n_columns: 100,
            traces: Arc::new(traces),
            filter: DisplayFilter::default(),
        };
        let read = TracePage::read(&record, request, overview, |_| true);
        read.expect("memory is readable")
    }

    #[test]
    fn values_are_read_off_at_their_samples() {
        let page = page(10.0, 2.0, None);
        let trace = &page.traces[0];
        assert_eq!(trace.value_at(10.51), Some(f64::from((1051 * 31) % 997)));
        assert_eq!(trace.value_at(10.514), Some(f64::from((1051 * 31) % 997)));
        assert_eq!(trace.value_at(99.0), None);
    }

    #[test]
    fn far_out_the_overview_gives_the_same_picture() {
        let record = record();
        let overview = Overview::build(&record, |_| true).expect("memory");
        let (plain, fast) = (page(0.0, 2000.0, None), page(0.0, 2000.0, Some(&overview)));
        for (a, b) in plain.traces[0].columns.iter().zip(&fast.traces[0].columns) {
            // Lines into a column may make it a little taller.
            assert!((a.min - b.min).abs() <= 2.0 && (a.max - b.max).abs() <= 2.0);
        }
        assert!((plain.traces[0].level - fast.traces[0].level).abs() < 5.0);
    }

    #[test]
    fn a_page_that_is_no_longer_wanted_is_given_up() {
        let record = record();
        let traces = TraceSource::all_of(&record, &Montage::AsRecorded, &[], &[]).expect("derived");
        let request = PageRequest {
            start_s: 0.0,
            span_s: 10.0,
            n_columns: 10,
            traces: Arc::new(traces),
            filter: DisplayFilter::default(),
        };
        let read = TracePage::read(&record, request, None, |_| false);
        assert!(matches!(read, Err(TaskError::Cancelled)));
    }
}
