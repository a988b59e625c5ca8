//! Frames of a recording, stretch by stretch between its gaps, turned into samples.

use std::ops::Range;

use super::eeg::{ChannelChoice, EegExtractor, EegRecipe};
use super::signal_kind::place_of_channel;
use super::{Extraction, FeatureError, RejectedStretch, Sample, Stretch};
use crate::records::{Channel, ChannelKind, ReadError, Record, Segment, first_names};

/// Values of each channel that are read at a time, so that a long recording never lies in memory whole.
const BLOCK_LENGTH: usize = 1 << 16;

/// What makes a sample of a stretch of a recording.
pub(super) trait SampleMaker {
    /// Number of values of each channel that one sample is made of.
    fn sample_length(&self) -> usize;

    /// Distance between the starts of successive samples.
    fn sample_hop(&self) -> usize;

    /// The sample made of one stretch (`sample_length` values of each channel, starting at `start_s`); what is left
    /// out is added to `rejected`.
    fn sample(
        &mut self,
        stretch: &[&[f64]],
        start_s: f64,
        channel_names: &[String],
        rejected: &mut Vec<RejectedStretch>,
    ) -> Option<Sample>;
}

/// Makes the samples of a recording.
pub(super) fn extract(
    recipe: &EegRecipe,
    record: &Record,
    take: &mut dyn FnMut(Sample),
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<Extraction, FeatureError> {
    let sampled = RecordingChannels::new(record, &recipe.channels)?;
    let mut extractor = EegExtractor::new(recipe, sampled.rate_hz)?;
    let names = &sampled.names;
    let mut extraction = Extraction::new(
        extractor.feature_names(names),
        extractor.layout(names.len()),
    );
    let n_samples =
        sampled.fill_extraction(&mut extractor, None, &mut extraction, take, keep_going)?;
    if n_samples > 0 {
        extraction.notes.extend(extractor.cut_bands());
    }
    Ok(extraction)
}

/// The channels of a recording that samples are made of, all of one rate.
pub(super) struct RecordingChannels<'a> {
    record: &'a Record,
    channels: Vec<usize>,
    pub(super) rate_hz: f64,
    pub(super) names: Vec<String>,
}

impl<'a> RecordingChannels<'a> {
    pub(super) fn new(record: &'a Record, choice: &ChannelChoice) -> Result<Self, FeatureError> {
        let (channels, names) = chosen_channels(choice, &record.channels)?;
        let rate_hz = common_rate(record, &channels)?;
        Ok(Self {
            record,
            channels,
            rate_hz,
            names,
        })
    }

    /// `length` values of every channel from a time on, or from the last place where so many are left.
    pub(super) fn segment_at(
        &self,
        start_s: f64,
        length: usize,
    ) -> Result<Vec<Vec<f64>>, FeatureError> {
        let n_samples = shortest(self.record, &self.channels);
        let last = n_samples
            .checked_sub(length)
            .ok_or(FeatureError::NoValues)?;
        let first = ((start_s * self.rate_hz).round().max(0.0) as usize).min(last);
        self.values(first..first + length)
    }

    /// Values of every channel, in µV.
    fn values(&self, range: Range<usize>) -> Result<Vec<Vec<f64>>, FeatureError> {
        let channel_values = |channel: &usize| -> Result<Vec<f64>, FeatureError> {
            let mut values = self.record.read(*channel, range.clone())?;
            let to_microvolts = microvolts(&self.record.channels[*channel]);
            values.iter_mut().for_each(|value| *value *= to_microvolts);
            Ok(values)
        };
        self.channels.iter().map(channel_values).collect()
    }

    /// Makes the samples of an extraction, gives each to `take` and notes what is left out; the number of samples.
    pub(super) fn fill_extraction(
        &self,
        maker: &mut dyn SampleMaker,
        stretches: Option<&[Stretch]>,
        extraction: &mut Extraction,
        take: &mut dyn FnMut(Sample),
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<usize, FeatureError> {
        let mut n_samples = 0;
        let mut count = |sample| {
            n_samples += 1;
            take(sample);
        };
        let rejected = &mut extraction.rejected;
        self.make_samples(maker, stretches, &mut count, rejected, keep_going)?;
        if n_samples == 0 && extraction.rejected.is_empty() {
            extraction.notes.push(format!(
                "no section without a gap is as long as a sample ({} values): take shorter samples (data.recipe.frame_s, or segment_s where the recipe has that)",
                maker.sample_length()
            ));
        }
        Ok(n_samples)
    }

    /// Makes samples block by block, never across a gap; with `stretches`, only inside them.
    pub(super) fn make_samples(
        &self,
        maker: &mut dyn SampleMaker,
        stretches: Option<&[Stretch]>,
        take: &mut dyn FnMut(Sample),
        rejected: &mut Vec<RejectedStretch>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), FeatureError> {
        let n_samples = shortest(self.record, &self.channels);
        for segment in &self.record.segments(self.channels[0]) {
            let end = (segment.first_sample + segment.n_samples).min(n_samples);
            for run in self.runs(segment, end, stretches) {
                for block in Blocks::new(run, maker) {
                    if !keep_going(block.first as f64 / n_samples.max(1) as f64) {
                        return Err(ReadError::Cancelled.into());
                    }
                    self.sample_block(maker, segment, &block, take, rejected)?;
                }
            }
        }
        Ok(())
    }

    /// The runs of values of a segment in which samples lie: all of it, or what the stretches share with it.
    fn runs(
        &self,
        segment: &Segment,
        end: usize,
        stretches: Option<&[Stretch]>,
    ) -> Vec<Range<usize>> {
        let first = segment.first_sample;
        let Some(stretches) = stretches else {
            return std::iter::once(first..end).collect();
        };
        let place = |time_s: f64| {
            let inside = ((time_s - segment.onset_s) * self.rate_hz).round().max(0.0);
            first.saturating_add(inside as usize).min(end)
        };
        let runs = stretches.iter().map(|stretch| {
            // The end of a stretch is rounded up: its start may have been, and a trial that fits must not be lost.
            place(stretch.start_s)..(place(stretch.end_s) + 1).min(end)
        });
        runs.filter(|run| !run.is_empty()).collect()
    }

    fn sample_block(
        &self,
        maker: &mut dyn SampleMaker,
        segment: &Segment,
        block: &FrameBlock,
        take: &mut dyn FnMut(Sample),
        rejected: &mut Vec<RejectedStretch>,
    ) -> Result<(), FeatureError> {
        let values = self.values(block.first..block.end)?;
        for start in 0..block.n_starts {
            let at = start * maker.sample_hop();
            let span = at..at + maker.sample_length();
            let stretch: Vec<&[f64]> = values
                .iter()
                .map(|channel| &channel[span.clone()])
                .collect();
            let inside = block.first + at - segment.first_sample;
            let start_s = segment.onset_s + inside as f64 / self.rate_hz;
            let sample = maker.sample(&stretch, start_s, &self.names, rejected);
            sample.into_iter().for_each(&mut *take);
        }
        Ok(())
    }
}

/// The channels to use, each once, and what features call them: by the names asked for, also where they are spelled
/// otherwise.
pub(super) fn chosen_channels(
    choice: &ChannelChoice,
    channels: &[Channel],
) -> Result<(Vec<usize>, Vec<String>), FeatureError> {
    let labels = channels.iter().map(|channel| channel.name.as_str());
    let named = |name: &String, taken: &[usize]| {
        let place = place_of_channel(labels.clone(), name);
        let place = place.filter(|place| !taken.contains(place));
        place.ok_or_else(|| FeatureError::NoChannel {
            name: name.clone(),
            channels: first_names(labels.clone()),
        })
    };
    let mut places = Vec::new();
    let names: Vec<String> = match choice {
        ChannelChoice::All => {
            let is_analog = |place: &usize| channels[*place].kind == ChannelKind::Analog;
            places.extend((0..channels.len()).filter(is_analog));
            places
                .iter()
                .map(|place| channels[*place].name.clone())
                .collect()
        }
        ChannelChoice::Named(names) => {
            for name in names {
                places.push(named(name, &places)?);
            }
            names.clone()
        }
    };
    match places.is_empty() {
        true => Err(FeatureError::NoValues),
        false => Ok((places, names)),
    }
}

fn common_rate(record: &Record, channels: &[usize]) -> Result<f64, FeatureError> {
    let rate = |channel: usize| record.channels[channel].rate_hz.unwrap_or(0.0);
    let first_hz = rate(channels[0]);
    match channels.iter().find(|channel| rate(**channel) != first_hz) {
        None => Ok(first_hz),
        Some(&other) => Err(FeatureError::UnequalRates {
            first: record.channels[channels[0]].name.clone(),
            first_hz,
            second: record.channels[other].name.clone(),
            second_hz: rate(other),
        }),
    }
}

fn shortest(record: &Record, channels: &[usize]) -> usize {
    let lengths = channels
        .iter()
        .map(|channel| record.channels[*channel].n_samples);
    lengths.min().unwrap_or(0)
}

/// Voltages are brought to µV, so that files of different units agree; what is no voltage stays as it is.
pub(super) fn microvolts(channel: &Channel) -> f64 {
    // 1e6 would turn 1e-6 into 0.9999999999999999; recordings in µV stay untouched.
    channel.unit.volts().map_or(1.0, |volts| volts / 1e-6)
}

/// A run of samples that is read at once.
struct FrameBlock {
    first: usize,
    end: usize,
    n_starts: usize,
}

/// The blocks of a run of values: they overlap where samples do.
struct Blocks {
    next: usize,
    end: usize,
    sample_length: usize,
    sample_hop: usize,
}

impl Blocks {
    fn new(run: Range<usize>, maker: &dyn SampleMaker) -> Self {
        Self {
            next: run.start,
            end: run.end,
            sample_length: maker.sample_length(),
            sample_hop: maker.sample_hop(),
        }
    }
}

impl Iterator for Blocks {
    type Item = FrameBlock;

    fn next(&mut self) -> Option<FrameBlock> {
        let left = self.end.checked_sub(self.next)?;
        let room = left.checked_sub(self.sample_length)?;
        let n_left = room / self.sample_hop + 1;
        let n_starts = n_left.min((BLOCK_LENGTH / self.sample_hop).max(1));
        let first = self.next;
        self.next += n_starts * self.sample_hop;
        Some(FrameBlock {
            first,
            end: first + (n_starts - 1) * self.sample_hop + self.sample_length,
            n_starts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::eeg::{Band, EegMeasure};
    use crate::features::{FeatureRecipe, RejectReason};
    use crate::records::{Format, Gap, Kind, Unit};
    use proptest::prelude::*;
    use std::f64::consts::PI;

    const RATE_HZ: f64 = 250.0;

    fn recording(signals: Vec<(&str, Vec<f64>)>) -> Record {
        let channels = signals.into_iter().map(|(name, values)| {
            let channel = Channel::analog(name, Unit::parse("uV"), Some(RATE_HZ), 0);
            (channel, values)
        });
        Record::in_memory(
            Format::Simulated,
            Kind::Recording,
            "made.edf",
            channels.collect(),
        )
    }

    fn sine(amplitude: f64, frequency_hz: f64, n_samples: usize) -> Vec<f64> {
        (0..n_samples)
            .map(|t| amplitude * (2.0 * PI * frequency_hz * t as f64 / RATE_HZ).sin())
            .collect()
    }

    fn extract(
        recipe: &EegRecipe,
        record: &Record,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Extraction, FeatureError> {
        FeatureRecipe::Eeg(recipe.clone()).extract(record, keep_going)
    }

    fn run(recipe: &EegRecipe, record: &Record) -> Extraction {
        extract(recipe, record, &mut |_| true).expect("the record fits the recipe")
    }

    #[test]
    fn published_features_follow_the_frequency_of_the_signal() {
        let record = recording(vec![
            ("Fp1", sine(10.0, 2.0, 1000)),
            ("Fp2", sine(10.0, 10.0, 1000)),
        ]);
        let found = run(&EegRecipe::as_published(), &record);
        assert_eq!(found.samples.len(), 4);
        assert_eq!(found.feature_names[5], "Fp2 theta");
        assert_eq!(
            found.layout,
            crate::features::Layout::ChannelBand {
                n_channels: 2,
                n_bands: 4
            }
        );
        for sample in &found.samples {
            let [slow, fast] = [&sample.values[..4], &sample.values[4..]];
            assert!(slow[0] > 5.0 * slow[1] && slow[0] > 5.0 * slow[2]);
            assert!(fast[2] > 3.0 * fast[1] && fast[2] > 3.0 * fast[3]);
        }
        assert_eq!(found.samples[3].start_s, 3.0);
        assert_eq!(found.samples[3].duration_s, 1.0);
    }

    #[test]
    fn a_steady_sine_has_its_mean_amplitude_over_the_bandwidth() {
        // One long frame: the start of the filter hardly counts. Mean |A sin| = 2A/π, the pass band has gain 1.
        let recipe = EegRecipe {
            frame_s: 100.0,
            ..EegRecipe::as_published()
        };
        let record = recording(vec![("Cz", sine(10.0, 10.0, 25_000))]);
        let alpha = run(&recipe, &record).samples[0].values[2];
        let expected = 10.0 * 2.0 / PI / 5.0;
        assert!(
            (alpha - expected).abs() < 5e-3 * expected,
            "{alpha} {expected}"
        );
    }

    #[test]
    fn the_logarithm_is_that_of_the_plain_feature() {
        let record = recording(vec![("Cz", sine(3.0, 6.0, 500)), ("flat", vec![0.0; 500])]);
        let plain = run(&EegRecipe::as_published(), &record);
        let logarithm = run(&EegRecipe::default(), &record);
        for (x, y) in plain.samples[1]
            .values
            .iter()
            .zip(&logarithm.samples[1].values)
        {
            if *x > 0.0 {
                assert_eq!(x.ln(), *y);
            } else {
                assert!(y.is_nan(), "the logarithm of nothing is a missing value");
            }
        }
        assert!(logarithm.samples[1].values[4].is_nan());
    }

    #[test]
    fn welch_power_is_half_the_squared_amplitude_and_shares_add_up() {
        let power = |relative| EegRecipe {
            bands: vec![
                Band {
                    name: "low".into(),
                    low_hz: 0.0,
                    high_hz: 20.0,
                },
                Band {
                    name: "high".into(),
                    low_hz: 20.0,
                    high_hz: 120.0,
                },
            ],
            frame_s: 4.0,
            measure: EegMeasure::Power {
                segment_s: 1.0,
                segment_overlap: 0.5,
                relative,
            },
            ..EegRecipe::as_published()
        };
        let mixed: Vec<f64> = sine(4.0, 10.0, 1000)
            .iter()
            .zip(sine(2.0, 40.0, 1000))
            .map(|(x, y)| x + y)
            .collect();
        let record = recording(vec![("Cz", mixed)]);
        let absolute = &run(&power(false), &record).samples[0].values;
        assert!((absolute[0] - 8.0).abs() < 1e-9 && (absolute[1] - 2.0).abs() < 1e-9);
        let shares = &run(&power(true), &record).samples[0].values;
        assert!((shares[0] - 0.8).abs() < 1e-9 && (shares[1] - 0.2).abs() < 1e-9);
    }

    #[test]
    fn frames_overlap_and_average_as_asked() {
        let record = recording(vec![("Cz", sine(1.0, 9.3, 2500))]);
        let single = run(
            &EegRecipe {
                overlap: 0.5,
                ..EegRecipe::as_published()
            },
            &record,
        );
        let starts: Vec<f64> = single.samples.iter().map(|s| s.start_s).collect();
        assert_eq!(starts[..3], [0.0, 0.5, 1.0]);
        assert_eq!(starts.len(), 19);
        let averaged = run(
            &EegRecipe {
                overlap: 0.5,
                frames_per_sample: 3,
                ..EegRecipe::as_published()
            },
            &record,
        );
        assert_eq!(averaged.samples.len(), 6);
        assert_eq!(averaged.samples[1].start_s, 1.5);
        assert_eq!(averaged.samples[1].duration_s, 2.0);
        let mean: f64 = single.samples[3..6]
            .iter()
            .map(|s| s.values[2])
            .sum::<f64>()
            / 3.0;
        assert!((averaged.samples[1].values[2] - mean).abs() < 1e-12);
    }

    #[test]
    fn loud_and_missing_frames_are_left_out_with_the_reason() {
        let mut signal = sine(10.0, 10.0, 1000);
        signal[300] = 500.0;
        signal[800] = f64::NAN;
        let record = recording(vec![("Cz", signal)]);
        let recipe = EegRecipe {
            max_peak_to_peak: Some(100.0),
            ..EegRecipe::as_published()
        };
        let found = run(&recipe, &record);
        let kept: Vec<f64> = found.samples.iter().map(|s| s.start_s).collect();
        assert_eq!(kept, [0.0, 2.0]);
        assert!(
            matches!(found.rejected[0].reason, RejectReason::Amplitude { peak_to_peak, .. } if peak_to_peak > 500.0)
        );
        assert_eq!(
            found.rejected[1].reason,
            RejectReason::Missing {
                channel: "Cz".into(),
                n_missing: 1
            }
        );
        // Two of four frames are enough for an average, one is not.
        let four = EegRecipe {
            frames_per_sample: 4,
            ..recipe.clone()
        };
        assert_eq!(run(&four, &record).samples.len(), 1);
        let tight = EegRecipe {
            max_peak_to_peak: Some(1.0),
            ..four
        };
        let none = run(&tight, &record);
        assert!(none.samples.is_empty());
        assert_eq!(
            none.rejected.last().map(|r| r.reason.clone()),
            Some(RejectReason::TooFewFrames {
                n_kept: 0,
                n_frames: 4
            })
        );
    }

    #[test]
    fn no_frame_crosses_a_gap() {
        let mut record = recording(vec![("Cz", sine(1.0, 10.0, 1000))]);
        record.gaps.push(Gap {
            onset_s: 1.5,
            duration_s: 100.0,
        });
        let found = run(&EegRecipe::as_published(), &record);
        let starts: Vec<f64> = found.samples.iter().map(|s| s.start_s).collect();
        assert_eq!(starts, [0.0, 101.5, 102.5]);
    }

    #[test]
    fn blocks_do_not_show_in_the_result() {
        let long = sine(1.0, 7.0, 3 * BLOCK_LENGTH + 1234);
        let record = recording(vec![("Cz", long)]);
        let recipe = EegRecipe {
            overlap: 0.25,
            ..EegRecipe::as_published()
        };
        let found = run(&recipe, &record);
        let hop = 188;
        let expected = (3 * BLOCK_LENGTH + 1234 - 250) / hop + 1;
        assert_eq!(found.samples.len(), expected);
        for (k, sample) in found.samples.iter().enumerate() {
            assert_eq!(sample.start_s, (k * hop) as f64 / RATE_HZ);
        }
    }

    #[test]
    fn recordings_in_volts_and_in_microvolts_give_the_same_features() {
        let in_microvolts = recording(vec![("Cz", sine(20.0, 10.0, 250))]);
        let in_volts = {
            let channel = Channel::analog("Cz", Unit::parse("V"), Some(RATE_HZ), 0);
            let values = sine(20e-6, 10.0, 250);
            Record::in_memory(
                Format::Simulated,
                Kind::Recording,
                "volts",
                vec![(channel, values)],
            )
        };
        let recipe = EegRecipe {
            max_peak_to_peak: Some(50.0),
            ..EegRecipe::as_published()
        };
        let (first, second) = (run(&recipe, &in_microvolts), run(&recipe, &in_volts));
        for (x, y) in first.samples[0]
            .values
            .iter()
            .zip(&second.samples[0].values)
        {
            assert!((x - y).abs() < 1e-9 * x.abs());
        }
    }

    #[test]
    fn channels_are_chosen_by_name_and_unknown_ones_refused() {
        let record = recording(vec![("A", sine(1.0, 9.0, 250)), ("B", sine(2.0, 9.0, 250))]);
        let named = |names: &[&str]| EegRecipe {
            channels: ChannelChoice::Named(names.iter().map(|n| (*n).to_owned()).collect()),
            ..EegRecipe::as_published()
        };
        let both = run(&named(&["B", "A"]), &record);
        let ratio = both.samples[0].values[2] / both.samples[0].values[6];
        assert!((ratio - 2.0).abs() < 1e-12);
        let refusal = extract(&named(&["C"]), &record, &mut |_| true).expect_err("no such channel");
        assert_eq!(
            refusal.to_string(),
            "channel \"C\" is not in the record, which has A, B"
        );
    }

    #[test]
    fn work_stops_when_asked() {
        let record = recording(vec![("Cz", sine(1.0, 7.0, 1000))]);
        let stopped = extract(&EegRecipe::default(), &record, &mut |_| false);
        assert!(matches!(
            stopped,
            Err(FeatureError::Read(ReadError::Cancelled))
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn hostile_numbers_never_give_infinite_features(
            values in prop::collection::vec(any::<f64>(), 0..600), rate in any::<f64>(), frame_s in 0.0f64..3.0, overlap in -0.5f64..1.5, power in any::<bool>(),
        ) {
            let channel = Channel::analog("x", Unit::none(), Some(rate), 0);
            let record = Record::in_memory(Format::Simulated, Kind::Recording, "odd", vec![(channel, values)]);
            let measure = if power {
                EegMeasure::Power { segment_s: frame_s, segment_overlap: overlap, relative: true }
            } else {
                EegRecipe::as_published().measure
            };
            let recipe = EegRecipe { frame_s, overlap, measure, logarithm: false, ..EegRecipe::as_published() };
            for rate_hz in [rate, 173.61] {
                let mut record = record.clone();
                record.channels[0].rate_hz = Some(rate_hz);
                if let Ok(found) = extract(&recipe, &record, &mut |_| true) {
                    prop_assert!(found.samples.iter().all(|s| s.values.iter().all(|v| v.is_finite())));
                }
            }
        }
    }
}
