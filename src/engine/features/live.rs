//! Segments of a stream: values are gathered as they come and become samples exactly as those of a file do.

use std::borrow::Cow;

use super::eeg::EegExtractor;
use super::eeg_frames::{SampleMaker, chosen_channels, microvolts};
use super::eeg_groups::{EegGroup, Recentring};
use super::eeg_segments::SegmentMaker;
use super::{FeatureError, FeatureRecipe, Rejection, Sample};
use crate::records::Channel;

/// Values of a stream on their way to becoming samples. Memory is bounded by the length of a sample.
pub struct LiveSegments {
    maker: Box<dyn SampleMaker + Send>,
    feature_names: Vec<String>,
    names: Vec<String>,
    /// Position of each channel used in a frame, and its factor to µV.
    channels: Vec<(usize, f64)>,
    rate_hz: f64,
    n_channels: usize,
    /// Values of each channel used, from number `first` of the run on.
    values: Vec<Vec<f64>>,
    first: u64,
    /// Where the next sample starts, counted as `first`.
    next: u64,
    /// When the run without a gap began.
    onset_s: f64,
}

impl FeatureRecipe {
    /// The recipe as a stream can follow it: what needs the mean of the whole recording uses the mean so far. The
    /// sentence says so where that makes a difference.
    pub fn for_stream(&self) -> (Self, Option<&'static str>) {
        let mut recipe = self.clone();
        let mut is_changed = false;
        if let Self::EegGroups(recipe) = &mut recipe {
            for group in &mut recipe.groups {
                if let EegGroup::Covariance(group) = group
                    && group.recentring == Recentring::WholeRecording
                {
                    group.recentring = Recentring::Causal;
                    is_changed = true;
                }
            }
        }
        let sentence = "the model sees covariances relative to the mean of the whole recording; a stream uses the mean so far, so its first decisions are less certain";
        (recipe, is_changed.then_some(sentence))
    }
}

impl LiveSegments {
    /// Prepares a recipe for the channels of a stream; the recipe is one that [`FeatureRecipe::for_stream`] gave.
    pub fn new(
        recipe: &FeatureRecipe,
        channels: &[Channel],
        rate_hz: f64,
    ) -> Result<Self, FeatureError> {
        let choice = match recipe {
            FeatureRecipe::Eeg(recipe) => &recipe.channels,
            FeatureRecipe::EegGroups(recipe) => &recipe.channels,
            FeatureRecipe::Fault(_) => return Err(FeatureError::NoValues),
        };
        let (used, names) = chosen_channels(choice, channels)?;
        let (maker, feature_names): (Box<dyn SampleMaker + Send>, Vec<String>) = match recipe {
            FeatureRecipe::Eeg(recipe) => {
                let maker = EegExtractor::assemble(Cow::Owned(recipe.clone()), rate_hz)?;
                let feature_names = maker.feature_names(&names);
                (Box::new(maker), feature_names)
            }
            FeatureRecipe::EegGroups(recipe) => {
                let maker = SegmentMaker::assemble(
                    Cow::Owned(recipe.clone()),
                    Cow::Owned(names.clone()),
                    rate_hz,
                )?;
                let feature_names = maker.feature_names();
                (Box::new(maker), feature_names)
            }
            FeatureRecipe::Fault(_) => return Err(FeatureError::NoValues),
        };
        Ok(Self {
            maker,
            feature_names,
            values: vec![Vec::new(); names.len()],
            names,
            channels: used
                .into_iter()
                .map(|at| (at, microvolts(&channels[at])))
                .collect(),
            rate_hz,
            n_channels: channels.len(),
            first: 0,
            next: 0,
            onset_s: 0.0,
        })
    }

    /// Names of the features.
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// Time from the start of one sample to the next.
    pub fn hop_s(&self) -> f64 {
        self.maker.sample_hop() as f64 / self.rate_hz
    }

    /// Takes frames (the values of all channels at one time, one frame after the other).
    pub fn push(
        &mut self,
        frames: &[f64],
        samples: &mut Vec<Sample>,
        rejected: &mut Vec<Rejection>,
    ) {
        for (values, (channel, factor)) in self.values.iter_mut().zip(&self.channels) {
            let own = frames.iter().skip(*channel).step_by(self.n_channels.max(1));
            values.extend(own.map(|value| value * factor));
        }
        let (length, hop) = (self.maker.sample_length(), self.maker.sample_hop());
        let mut at = (self.next - self.first) as usize;
        let n_values = self.values.first().map_or(0, Vec::len);
        while at + length <= n_values {
            let stretch: Vec<&[f64]> = self
                .values
                .iter()
                .map(|values| &values[at..at + length])
                .collect();
            let start_s = self.onset_s + self.next as f64 / self.rate_hz;
            samples.extend(self.maker.sample(&stretch, start_s, &self.names, rejected));
            self.next += hop as u64;
            at += hop;
        }
        // A hop may be longer than a sample: then the values between are not needed.
        let done = at.min(n_values);
        self.values.iter_mut().for_each(|values| {
            values.drain(..done);
        });
        self.first += done as u64;
    }

    /// Time from the start of the stream to the last frame that came.
    pub fn time_s(&self) -> f64 {
        let n_held = self.values.first().map_or(0, Vec::len) as u64;
        self.onset_s + (self.first + n_held) as f64 / self.rate_hz
    }

    /// Values were lost: samples never reach over a gap.
    pub fn gap(&mut self, lost_s: f64) {
        self.onset_s = self.time_s() + lost_s;
        self.values.iter_mut().for_each(Vec::clear);
        (self.first, self.next) = (0, 0);
    }
}
