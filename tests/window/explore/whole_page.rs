//! A page as long as the recording under a montage of all channels: streamed, stoppable, and right.

use std::path::Path;
use std::sync::Arc;

use atomscope::workbench::TaskError;
use atomscope::workbench::explore::{PageRequest, TracePage, TraceSource};
use atomscope_engine::features::display_filter::DisplayFilter;
use atomscope_engine::features::electrodes::Scalp;
use atomscope_engine::features::montage::Montage;
use atomscope_engine::records::{Mode, Record, open};

use super::cost::write_edf;

const N_SECONDS: usize = 900;
const N_COLUMNS: usize = 450;

fn whole_page(record: &Record) -> PageRequest {
    let traces = TraceSource::all_of(record, &Montage::AverageReference, &[], &[]);
    PageRequest {
        start_s: 0.0,
        span_s: N_SECONDS as f64,
        n_columns: N_COLUMNS,
        traces: Arc::new(traces.expect("derived")),
        filter: DisplayFilter::default(),
    }
}

fn recording(path: &Path) -> Record {
    write_edf(path, N_SECONDS).expect("the folder can be written");
    open(path, Mode::Strict).expect("readable")
}

#[test]
fn the_whole_recording_under_an_average_reference_has_the_extremes_of_its_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = recording(&folder.path().join("long.edf"));
    let request = whole_page(&record);
    let n_traces = request.traces.len();
    let names: Vec<String> = request.traces.iter().map(|t| t.name.clone()).collect();
    let mut shares = std::cell::RefCell::new(Vec::new());
    let page = TracePage::read(&record, request, None, |share| {
        shares.borrow_mut().push(share);
        true
    });
    let page = page.expect("readable");
    let shares = shares.get_mut();
    assert!(
        shares.len() > 20 && shares.is_sorted(),
        "{} shares",
        shares.len()
    );
    // By hand: every channel in memory, minus the mean of those that are named after electrodes.
    let channels: Vec<Vec<f64>> = names
        .iter()
        .map(|name| record.channel_index(name).expect("as recorded"))
        .map(|channel| record.read_channel(channel).expect("readable"))
        .collect();
    let n_samples = channels[0].len();
    let scalp = Scalp::of(&names);
    let on_head: Vec<&Vec<f64>> = (0..n_traces)
        .filter(|place| scalp.position(*place).is_some())
        .map(|place| &channels[place])
        .collect();
    let n_on_head = on_head.len();
    assert!(n_on_head == 64, "{n_on_head} electrodes");
    let mean = |sample: usize| {
        let sum: f64 = on_head.iter().map(|own| own[sample]).sum();
        sum / n_on_head as f64
    };
    let means: Vec<f64> = (0..n_samples).map(mean).collect();
    let per_column = n_samples / N_COLUMNS;
    for place in [0, 17, n_traces - 1] {
        let is_on_head = scalp.position(place).is_some();
        let taken_off = if is_on_head { 1.0 } else { 0.0 };
        let own = channels[place].iter().zip(&means);
        let own: Vec<f64> = own.map(|(value, mean)| value - taken_off * mean).collect();
        let columns = &page.traces[place].columns;
        assert_eq!(columns.len(), N_COLUMNS);
        for (k, column) in columns.iter().enumerate() {
            let inside = k * per_column..(k + 1) * per_column;
            let (low, high) = extremes(&own[inside.clone()]);
            // The lines to the samples on either side may reach a little farther.
            let wide = inside.start.saturating_sub(1)..(inside.end + 1).min(n_samples);
            let (lowest, highest) = extremes(&own[wide]);
            let (min, max) = (f64::from(column.min), f64::from(column.max));
            assert!(
                min < low + 1e-3 && min > lowest - 1e-3,
                "{place} {k}: {min}, {low}"
            );
            assert!(
                max > high - 1e-3 && max < highest + 1e-3,
                "{place} {k}: {max}, {high}"
            );
        }
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (low, high)
}

#[test]
fn such_a_page_is_given_up_in_the_middle() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = recording(&folder.path().join("long.edf"));
    let last = std::cell::Cell::new(0.0);
    let page = TracePage::read(&record, whole_page(&record), None, |share| {
        last.set(share);
        share < 0.3
    });
    assert!(matches!(page, Err(TaskError::Cancelled)));
    assert!(
        (0.3..0.5).contains(&last.get()),
        "stopped at {}",
        last.get()
    );
}
