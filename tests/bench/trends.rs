//! Trends of a day of 64 channels: how long they take, and whether that is under a minute.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use atomscope_engine::features::trends::{TrendChannels, Trends};
use atomscope_engine::math::{Normal, random_stream};
use atomscope_engine::records::{
    Channel, Format, Kind, ReadError, Record, SampleSource, Source, Unit,
};

const RATE_HZ: usize = 256;
const HOURS: usize = 24;
/// A 10–10 set of 64, in the order of caps.
const NAMES: [&str; 64] = [
    "Fp1", "Fpz", "Fp2", "AF7", "AF3", "AFz", "AF4", "AF8", "F7", "F5", "F3", "F1", "Fz", "F2",
    "F4", "F6", "F8", "FT7", "FC5", "FC3", "FC1", "FCz", "FC2", "FC4", "FC6", "FT8", "T7", "C5",
    "C3", "C1", "Cz", "C2", "C4", "C6", "T8", "TP7", "CP5", "CP3", "CP1", "CPz", "CP2", "CP4",
    "CP6", "TP8", "P7", "P5", "P3", "P1", "Pz", "P2", "P4", "P6", "P8", "PO7", "PO3", "POz", "PO4",
    "PO8", "O1", "Oz", "O2", "Iz", "F9", "F10",
];

/// Noise repeated for ever, stored as files store it: a day as numbers would fill the memory.
struct Repeated(Vec<i16>);

impl SampleSource for Repeated {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let offset = channel * 997 + first;
        for (k, value) in out.iter_mut().enumerate() {
            *value = 0.1 * f64::from(self.0[(offset + k) % self.0.len()]);
        }
        Ok(())
    }
}

pub(crate) fn table() -> String {
    let (mut normal, mut random) = (Normal::default(), random_stream(1, "trends", 0));
    let noise = (0..1 << 16).map(|_| (200.0 * normal.draw(&mut random)) as i16);
    let samples = Arc::new(Repeated(noise.collect()));
    let channel = |name: &str| {
        let n_samples = HOURS * 3600 * RATE_HZ;
        Channel::analog(name, Unit::parse("µV"), Some(RATE_HZ as f64), n_samples)
    };
    let channels = NAMES.iter().map(|name| channel(name)).collect();
    let source = Source::new(Path::new("a day"), 0);
    let record = Record::new(
        Format::Simulated,
        Kind::Recording,
        source,
        channels,
        samples,
    );
    let begun = Instant::now();
    let trends = Trends::build(&record, &TrendChannels::default(), |_, _| true)
        .expect("a day of noise has trends");
    let seconds = begun.elapsed().as_secs_f64();
    format!(
        "| hours | channels | columns | s | wanted |\n|---|---|---|---|---|\n| {HOURS} | {} | {} | {seconds:.1} | 60 |\n",
        NAMES.len(),
        trends.n_columns
    )
}
