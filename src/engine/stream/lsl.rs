//! Streams of the Lab Streaming Layer.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::lsl_library::{Info, Inlet, Lsl};
use super::{Arrival, StreamError, StreamSource};
use crate::records::{Channel, Unit};

/// Seconds that the library buffers while we are busy.
const BUFFER_S: i32 = 360;
/// How long streams are looked for.
const RESOLVE_S: f64 = 2.0;
/// How long a sender may take to answer.
const PATIENCE_S: f64 = 10.0;
/// Frames taken at a time.
const BLOCK: usize = 256;
/// Time without a sample after which the sender is said to be silent.
const SILENT_AFTER: Duration = Duration::from_secs(2);
/// How often a sender that is silent is looked for by its name, and for how long.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const LOOK_S: f64 = 0.3;
/// How long samples are waited for.
const PULL: Duration = Duration::from_millis(20);
/// The library's number for a sender that is gone for good.
const LOST: i32 = -2;
/// Times of samples jitter by as much without anything being lost.
const JITTER_S: f64 = 0.25;

/// A stream that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct LslStream {
    /// Its name.
    pub name: String,
    /// What the sender is known by.
    pub source_id: String,
    /// Number of channels.
    pub n_channels: usize,
    /// Samples per second.
    pub rate_hz: f64,
}

/// The streams that answer now.
pub fn find_lsl_streams() -> Result<Vec<LslStream>, StreamError> {
    let stream = |info: &Info| LslStream {
        name: info.name(),
        source_id: info.source_id(),
        n_channels: info.n_channels(),
        rate_hz: info.rate_hz(),
    };
    Ok(Lsl::load()?.streams(RESOLVE_S).iter().map(stream).collect())
}

/// A stream being read.
pub struct LslSource {
    lsl: Lsl,
    name: String,
    /// None after the library has given the sender up, until one of the name is found again.
    inlet: Option<Inlet>,
    channels: Vec<Channel>,
    rate_hz: f64,
    values: Vec<f64>,
    times_s: Vec<f64>,
    last_time_s: Option<f64>,
    last_sample: Instant,
    last_look: Instant,
    is_silent: bool,
    ready: VecDeque<Arrival>,
}

impl LslSource {
    /// Finds the stream of a name (or, if none has it, of a source id) and begins to read it.
    pub fn open(name: &str) -> Result<Self, StreamError> {
        let lsl = Lsl::load()?;
        let begun = Instant::now();
        let found = loop {
            let mut streams = lsl.streams(RESOLVE_S);
            if let Some(position) = position_of(name, &streams) {
                break streams.swap_remove(position);
            }
            if begun.elapsed().as_secs_f64() >= PATIENCE_S {
                let names: Vec<String> = streams.iter().map(Info::name).collect();
                return Err(StreamError::NoLslStream {
                    name: name.to_owned(),
                    waited_s: PATIENCE_S,
                    found: match names.is_empty() {
                        true => "none".to_owned(),
                        false => names.join(", "),
                    },
                });
            }
        };
        let mut source = Self {
            lsl,
            name: name.to_owned(),
            inlet: None,
            channels: Vec::new(),
            rate_hz: 0.0,
            values: Vec::new(),
            times_s: vec![0.0; BLOCK],
            last_time_s: None,
            last_sample: Instant::now(),
            last_look: Instant::now(),
            is_silent: false,
            ready: VecDeque::new(),
        };
        source.begin(&found)?;
        Ok(source)
    }

    /// Reads a stream from now on; its channels are told where they are others than before.
    fn begin(&mut self, found: &Info) -> Result<(), StreamError> {
        let rate_hz = found.rate_hz();
        if rate_hz.is_nan() || rate_hz <= 0.0 {
            return Err(StreamError::NoRate);
        }
        let inlet = found.open(BUFFER_S, PATIENCE_S)?;
        let info = inlet.full_info(PATIENCE_S)?;
        let n_channels = info.n_channels();
        let channels = channels_of(&info.xml(), n_channels, rate_hz);
        let offset = match inlet.time_correction_s(PATIENCE_S) {
            Ok(offset_s) => format!("clock offset {:.3} ms", 1e3 * offset_s),
            Err(error) => error.to_string(),
        };
        let name = &self.name;
        let note = format!("{name}: {n_channels} channels at {rate_hz} Hz, {offset}");
        self.ready.push_back(Arrival::Note(note));
        if channels != self.channels || rate_hz != self.rate_hz {
            self.values = vec![0.0; BLOCK * n_channels];
            (self.channels, self.rate_hz) = (channels.clone(), rate_hz);
            self.ready
                .push_back(Arrival::Channels { channels, rate_hz });
        }
        self.inlet = Some(inlet);
        Ok(())
    }

    /// The library finds a sender that comes back as it was, if it has a source id. One that comes back otherwise, or
    /// that the library has given up, is looked for by its name.
    fn look_again(&mut self) {
        if self.last_look.elapsed() < LOOK_EVERY {
            return;
        }
        let streams = self.lsl.streams(LOOK_S);
        self.last_look = Instant::now();
        let Some(found) = position_of(&self.name, &streams).map(|at| &streams[at]) else {
            return;
        };
        let is_other = found.n_channels() != self.channels.len() || found.rate_hz() != self.rate_hz;
        if (is_other || self.inlet.is_none())
            && let Err(error) = self.begin(found)
        {
            self.ready.push_back(Arrival::Note(error.to_string()));
        }
    }

    /// The frames that have come. Waits for a full block only briefly: a decision shall follow its last sample within
    /// milliseconds.
    fn pull(&mut self) -> Result<usize, StreamError> {
        let Some(inlet) = &mut self.inlet else {
            std::thread::sleep(PULL);
            return Ok(0);
        };
        match inlet.pull(&mut self.values, &mut self.times_s, PULL.as_secs_f64()) {
            // Nobody but us waits for a sender without a source id.
            Err(StreamError::Lsl { code: LOST, .. }) => {
                self.inlet = None;
                Ok(0)
            }
            pulled => pulled,
        }
    }

    /// Frames up to the next jump of the clock, then a gap.
    fn deliver(&mut self, n_frames: usize) {
        let mut frames = Vec::with_capacity(n_frames * self.channels.len());
        for frame in 0..n_frames {
            let time_s = self.times_s[frame];
            if let Some(last_s) = self.last_time_s.replace(time_s) {
                let late_s = time_s - last_s - 1.0 / self.rate_hz;
                let is_back = time_s < last_s - JITTER_S;
                if late_s > JITTER_S || is_back {
                    if !frames.is_empty() {
                        self.ready
                            .push_back(Arrival::Frames(std::mem::take(&mut frames)));
                    }
                    let lost_s = late_s.max(0.0);
                    let note = match is_back {
                        true => format!(
                            "the sender's clock jumps back from {last_s:.3} s to {time_s:.3} s"
                        ),
                        false => format!(
                            "{:.0} samples are missing before {time_s:.3} s",
                            lost_s * self.rate_hz
                        ),
                    };
                    self.ready.push_back(Arrival::Note(note));
                    self.ready.push_back(Arrival::Gap { lost_s });
                }
            }
            let at = frame * self.channels.len();
            frames.extend_from_slice(&self.values[at..at + self.channels.len()]);
        }
        if !frames.is_empty() {
            self.ready.push_back(Arrival::Frames(frames));
        }
    }
}

/// The place of the stream of a name, or, if none has it, of a source id.
fn position_of(name: &str, streams: &[Info]) -> Option<usize> {
    let named = streams.iter().position(|info| info.name() == name);
    named.or_else(|| streams.iter().position(|info| info.source_id() == name))
}

impl StreamSource for LslSource {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        if let Some(arrival) = self.ready.pop_front() {
            return Ok(arrival);
        }
        if self.is_silent {
            self.look_again();
        }
        let n_frames = self.pull()?;
        if n_frames > 0 {
            if self.is_silent {
                self.ready
                    .push_back(Arrival::Note("the sender is back".to_owned()));
            }
            (self.last_sample, self.is_silent) = (Instant::now(), false);
            self.deliver(n_frames);
        } else if !self.is_silent && self.last_sample.elapsed() >= SILENT_AFTER {
            self.is_silent = true;
            let note = "the sender is silent; waiting for it to come back".to_owned();
            return Ok(Arrival::Note(note));
        }
        Ok(self.ready.pop_front().unwrap_or(Arrival::Nothing))
    }

    fn can_wait(&self) -> bool {
        false
    }
}

/// Names and units of the channels from the description of a stream (`<channel><label>Fp1</label><unit>…`).
fn channels_of(xml: &str, n_channels: usize, rate_hz: f64) -> Vec<Channel> {
    let inside = |text: &str, tag: &str| -> Option<String> {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        let (value, _) = rest.split_once(&format!("</{tag}>"))?;
        Some(
            value
                .trim()
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&"),
        )
    };
    let described: Vec<&str> = xml.split("<channel>").skip(1).collect();
    (0..n_channels)
        .map(|number| {
            let text = described.get(number).copied().unwrap_or("");
            let name = inside(text, "label").unwrap_or_else(|| format!("channel {}", number + 1));
            let unit = inside(text, "unit").unwrap_or_default();
            let unit = match unit.to_lowercase().as_str() {
                "" | "microvolts" | "microvolt" => "uV",
                "millivolts" | "millivolt" => "mV",
                "volts" | "volt" => "V",
                _ => unit.as_str(),
            };
            Channel::analog(name, Unit::parse(unit), Some(rate_hz), 0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_have_the_names_and_units_of_the_description() {
        let xml = "<info><desc><channels><channel><label>Fp1 &amp; A</label><unit>millivolts</unit></channel><channel><label>Cz</label></channel></channels></desc></info>";
        let channels = channels_of(xml, 3, 250.0);
        let names: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["Fp1 & A", "Cz", "channel 3"]);
        assert_eq!(channels[0].unit, Unit::parse("mV"));
        assert_eq!(channels[1].unit, Unit::parse("uV"));
    }
}
