//! What a decision is worth: prediction sets with a promised coverage, and the flag for samples and
//! recordings that are unlike anything learned. Both compare a sample with calibration samples, which
//! were judged before they were learned, or by models that never learned from their group.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::principal::Principal;
use crate::learner::quantile;

/// Fewest calibration samples of a class, relative to 1/α, for p values of the class itself.
const OWN_FITS: f64 = 3.0;
/// Fewest calibration samples of a class for a median and a spread of its own.
const FEWEST_OF_CLASS: usize = 20;
/// Hard limit: this many times as far from the median as the extreme calibration sample …
const HARD_LIMIT: f64 = 2.0;
/// … which counts as at least so far away.
const LEAST_EXTREME: f64 = 0.2;
/// Variance that the principal directions hold.
const PRINCIPAL_SHARE: f64 = 0.9;
/// Keeps logarithms finite.
const TINY: f64 = 1e-12;
/// From so many calibration samples on the flag is stricter.
const MANY: usize = 1000;
/// Fewest calibration samples that say anything.
pub const FEWEST_CALIBRATION_SAMPLES: usize = 20;
/// Parts of the calibration samples that are each compared with all others, to see how many of one's
/// own samples are flagged.
const OWN_PARTS: usize = 10;
/// A table is flagged when its share of flagged rows lies so many standard deviations above that of
/// one's own samples.
const TABLE_LIMIT: f64 = 3.0;
/// Own samples flagged, relative to α, by calibrations of earlier versions, which did not count them:
/// their statistics came from samples that were not kept, whose tails are too thin.
const UNCOUNTED: f64 = 2.5;
/// A recording is flagged when a median lies this many robust standard deviations away.
const RECORDING_LIMIT: f64 = 4.0;
/// Smallest spread of medians between recordings.
const RECORDING_FLOOR: f64 = 0.1;
/// Fewest segments of a recording whose medians say something, and fewest such recordings.
pub const FEWEST_SEGMENTS: usize = 5;
const FEWEST_RECORDINGS: usize = 4;

/// Where calibration samples come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CalibrationSource {
    /// The second half of the training, each sample judged before it was learned.
    Prequential,
    /// Groups that models of the calibration did not learn from.
    HeldOutGroups,
    /// Samples of a small set that models of the calibration did not learn from.
    HeldOutSamples,
}

/// One calibration sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationSample {
    /// Its class.
    pub class: usize,
    /// m of its class: score minus the best of the others, in the unit of the moment it was judged.
    pub margin: f64,
    /// z1 + z2 of the class decided for.
    pub fit: f64,
    /// The class decided for.
    pub decided: usize,
    /// ln mean z² of its features.
    pub log_norm: f64,
    /// ln mean square of what the principal directions leave; the sample must not be one of those
    /// that the directions come from.
    pub log_residual: f64,
    /// Its recording, where it comes from a recording.
    pub recording: Option<usize>,
    /// Its group, where samples have groups.
    pub group: Option<usize>,
}

/// Mean and standard deviation of every feature over the training samples, and how often each is
/// exactly zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureFacts {
    /// Means.
    pub mean: Vec<f64>,
    /// Population standard deviations; 1 where a feature never changes.
    pub sd: Vec<f64>,
    /// Shares of exact zeros.
    pub zero_share: Vec<f64>,
}

impl FeatureFacts {
    /// The facts of samples as they are before any preparation; missing values are passed over.
    pub fn of<'a>(
        samples: impl Iterator<Item = Cow<'a, [f64]>> + Clone,
        n_features: usize,
    ) -> Self {
        let mut facts = Self {
            mean: vec![0.0; n_features],
            sd: vec![0.0; n_features],
            zero_share: vec![0.0; n_features],
        };
        let mut counts = vec![0.0_f64; n_features];
        for sample in samples.clone() {
            for (feature, value) in sample.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                counts[feature] += 1.0;
                facts.mean[feature] += (value - facts.mean[feature]) / counts[feature];
                facts.zero_share[feature] += f64::from(u8::from(*value == 0.0));
            }
        }
        for sample in samples {
            for (feature, value) in sample.iter().enumerate().filter(|(_, v)| v.is_finite()) {
                let difference = value - facts.mean[feature];
                facts.sd[feature] += difference * difference / counts[feature].max(1.0);
            }
        }
        for (feature, count) in counts.iter().enumerate() {
            let sd = facts.sd[feature].sqrt();
            facts.sd[feature] = if sd.is_finite() && sd >= TINY {
                sd
            } else {
                1.0
            };
            facts.zero_share[feature] /= count.max(1.0);
        }
        facts
    }

    /// ln(mean z² + 1e-12) of a sample before any preparation; missing values are passed over.
    pub fn log_norm(&self, sample: &[f64]) -> f64 {
        let scores = sample.iter().zip(&self.mean).zip(&self.sd);
        let (mut sum, mut count) = (0.0, 0.0_f64);
        for ((value, mean), sd) in scores.filter(|((value, _), _)| value.is_finite()) {
            let z = (value - mean) / sd;
            sum += z * z;
            count += 1.0;
        }
        (sum / count.max(1.0) + TINY).ln().min(f64::MAX)
    }
}

/// Medians of recordings that the models of the calibration had not heard, and their spread:
/// fit, scale, shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingFacts {
    /// Recordings.
    pub n_recordings: usize,
    /// Median over recordings of the median over their segments.
    pub centre: [f64; 3],
    /// 1.4826 times the median absolute deviation.
    pub spread: [f64; 3],
}

/// How many calibration samples are flagged when compared with others than themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnFlags {
    /// Samples flagged.
    pub n_flagged: usize,
    /// Samples compared.
    pub n_compared: usize,
}

/// Everything that is needed to say how sure a decision is; stored with the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Where the samples come from.
    pub source: CalibrationSource,
    /// Calibration samples.
    pub n_samples: usize,
    /// Sorted margins of every class, in units of θ where the decision layer takes part.
    pub margins: Vec<Vec<f64>>,
    /// Sorted fits of the samples decided for every class, rightly or not: a sample to be judged is
    /// compared with those that were decided alike, since its own class is not known.
    pub fits: Vec<Vec<f64>>,
    /// By class, how many samples one of a new group stands for: samples of a group are alike, so that
    /// many samples of few groups say little of the next group. Empty where samples come singly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// Median and interquartile range of the fits of every class, or of all where it has few.
    pub fit_scales: Vec<(f64, f64)>,
    /// Sorted ln mean z².
    pub log_norms: Vec<f64>,
    /// Sorted ln mean-square residuals.
    pub log_residuals: Vec<f64>,
    /// Features of the training samples.
    pub features: FeatureFacts,
    /// What recordings usually look like, where there are enough of them.
    pub recordings: Option<RecordingFacts>,
    /// How many of one's own samples are flagged; absent in models of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_flags: Option<OwnFlags>,
}

/// Which of the three statistics speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strangeness {
    /// It fits the class decided for worse than training samples do.
    Fit,
    /// Its features are larger or smaller than in training.
    Scale,
    /// Its features go together in another way than in training.
    Shape,
}

/// What the calibration says of one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Assurance {
    /// p of every class: the set at level ε holds the classes with p > ε.
    pub p_values: Vec<f64>,
    /// ε.
    pub epsilon: f64,
    /// How probable so strange a sample is among training samples.
    pub fit_p: f64,
    /// The statistic with the smallest p.
    pub reason: Strangeness,
    /// Fit, ln mean z² and ln mean-square residual.
    pub statistics: [f64; 3],
}

impl Assurance {
    /// The classes of the prediction set.
    pub fn set(&self) -> Vec<usize> {
        prediction_set(&self.p_values, self.epsilon)
    }

    /// Whether the set is not one class.
    pub fn is_uncertain(&self) -> bool {
        self.set().len() != 1
    }
}

/// The classes with p > ε.
pub fn prediction_set(p_values: &[f64], epsilon: f64) -> Vec<usize> {
    let inside = p_values.iter().enumerate().filter(|(_, p)| **p > epsilon);
    inside.map(|(class, _)| class).collect()
}

impl Calibration {
    /// From samples of all classes; none from too few.
    pub fn of(
        source: CalibrationSource,
        n_classes: usize,
        samples: &[CalibrationSample],
        features: FeatureFacts,
    ) -> Option<Self> {
        if samples.len() < FEWEST_CALIBRATION_SAMPLES {
            return None;
        }
        let all: Vec<&CalibrationSample> = samples.iter().collect();
        let mut whole = Self::sorted(source, n_classes, &all, features);
        if source != CalibrationSource::HeldOutGroups {
            whole.own_flags = Some(whole.count_own(samples));
        } else {
            whole.weights = (0..n_classes).map(|c| group_weight(samples, c)).collect();
        }
        whole.recordings = (source == CalibrationSource::HeldOutGroups)
            .then(|| recording_facts(samples))
            .flatten();
        Some(whole)
    }

    /// Each part of the calibration samples judged by all others. Ranks among samples of one kind
    /// flag α of them at most; what comes on top of it (the hard limit, medians and spreads of classes
    /// with few samples, ties) is counted here.
    fn count_own(&self, samples: &[CalibrationSample]) -> OwnFlags {
        let n_classes = self.margins.len();
        let mut n_flagged = 0;
        for part in 0..OWN_PARTS {
            let is_own = |place: usize| place % OWN_PARTS == part;
            let places = samples.iter().enumerate();
            let others: Vec<&CalibrationSample> = places
                .clone()
                .filter(|(place, _)| !is_own(*place))
                .map(|(_, sample)| sample)
                .collect();
            let nothing = FeatureFacts {
                mean: Vec::new(),
                sd: Vec::new(),
                zero_share: Vec::new(),
            };
            let mut others = Self::sorted(self.source, n_classes, &others, nothing);
            // α is that of all samples.
            others.n_samples = self.n_samples;
            let own = places.filter(|(place, _)| is_own(*place));
            n_flagged += own
                .filter(|(_, sample)| {
                    let statistics = [sample.fit, sample.log_norm, sample.log_residual];
                    let (smallest, _) = others.smallest_p(sample.decided, statistics);
                    others.is_strange((3.0 * smallest).min(1.0))
                })
                .count();
        }
        OwnFlags {
            n_flagged,
            n_compared: samples.len(),
        }
    }

    fn sorted(
        source: CalibrationSource,
        n_classes: usize,
        samples: &[&CalibrationSample],
        features: FeatureFacts,
    ) -> Self {
        let sorted = |values: Vec<f64>| {
            let mut values = values;
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        // One pass over the samples, since there may be many classes.
        let (mut margins, mut fits) = (vec![Vec::new(); n_classes], vec![Vec::new(); n_classes]);
        for sample in samples {
            margins[sample.class].push(sample.margin);
            fits[sample.decided].push(sample.fit);
        }
        let margins: Vec<Vec<f64>> = margins.into_iter().map(sorted).collect();
        let fits: Vec<Vec<f64>> = fits.into_iter().map(sorted).collect();
        let all_fits = sorted(samples.iter().map(|sample| sample.fit).collect());
        let scale = |fits: &Vec<f64>| {
            let fits = if fits.len() < FEWEST_OF_CLASS {
                &all_fits
            } else {
                fits
            };
            let range = quantile(fits, 0.75) - quantile(fits, 0.25);
            (quantile(fits, 0.5), range.max(TINY))
        };
        // Kept samples take part: the unusual ones are kept, and without them ordinary samples of the
        // tails would look like strangers.
        Self {
            source,
            n_samples: samples.len(),
            margins,
            weights: Vec::new(),
            fit_scales: fits.iter().map(scale).collect(),
            fits,
            log_norms: sorted(samples.iter().map(|sample| sample.log_norm).collect()),
            log_residuals: sorted(samples.iter().map(|sample| sample.log_residual).collect()),
            features,
            recordings: None,
            own_flags: None,
        }
    }

    /// α of the stranger flag.
    pub fn alpha(&self) -> f64 {
        if self.n_samples >= MANY { 0.01 } else { 0.05 }
    }

    /// p_c = (w + #{calibration samples of class c with m ≤ m_c})/(n_c + w) of every class, w = 1 where
    /// samples come singly; classes that are too small for level `epsilon` share their samples.
    pub fn p_values(&self, scores: &[f64], epsilon: f64) -> Vec<f64> {
        let pooled = self.pooled(epsilon);
        let margin = |class: usize| {
            let others = scores.iter().enumerate().filter(|(c, _)| *c != class);
            let best = others.map(|(_, score)| *score);
            scores[class] - best.fold(f64::NEG_INFINITY, f64::max)
        };
        let p = |class: usize| {
            let margin = margin(class);
            let is_known = |other: usize| other == class || (pooled[class] && pooled[other]);
            let known = (0..pooled.len()).filter(|other| is_known(*other));
            let (mut below, mut total, mut effective) = (0, 0, 0.0);
            for other in known {
                let margins = &self.margins[other];
                below += margins.partition_point(|m| *m <= margin);
                total += margins.len();
                effective += self.n_effective(other);
            }
            if total == 0 {
                return 1.0;
            }
            let weight = total as f64 / effective;
            (weight + below as f64) / (total as f64 + weight)
        };
        (0..scores.len()).map(p).collect()
    }

    /// Calibration samples of a class, counted as the samples of groups of their own that say as much.
    fn n_effective(&self, class: usize) -> f64 {
        self.margins[class].len() as f64 / self.weights.get(class).unwrap_or(&1.0)
    }

    /// The classes that share their calibration samples at level `epsilon`: those with fewer than 2/ε.
    /// Where all of them together have fewer than 1/ε, with which no class could be ruled out, the next
    /// larger ones join them. A sample of one of these classes is then one of those it is compared with,
    /// so that 1 − ε of them are covered, and 1 − ε of every other class; were they compared with all
    /// classes, fewer would be.
    fn pooled(&self, epsilon: f64) -> Vec<bool> {
        let mut classes: Vec<usize> = (0..self.margins.len()).collect();
        classes.sort_by(|a, b| self.n_effective(*a).total_cmp(&self.n_effective(*b)));
        let mut pooled = vec![false; classes.len()];
        let (mut is_open, mut total) = (false, 0.0);
        for class in classes {
            let n_own = self.n_effective(class);
            let is_short = is_open && total < 1.0 / epsilon;
            if n_own >= 2.0 / epsilon && !is_short {
                break;
            }
            pooled[class] = true;
            is_open = true;
            total += n_own;
        }
        pooled
    }

    /// p of the fit of a sample decided for `class`, low side.
    fn fit_p_value(&self, class: usize, fit: f64) -> f64 {
        let own = &self.fits[class];
        if own.len() as f64 >= OWN_FITS / self.alpha() {
            return low_p(own, fit);
        }
        // Standardised by the class and pooled.
        let (centre, range) = self.fit_scales[class];
        let standardised = (fit - centre) / range;
        let (mut below, mut total) = (0, 0);
        for (fits, (centre, range)) in self.fits.iter().zip(&self.fit_scales) {
            below += fits.partition_point(|f| (f - centre) / range <= standardised);
            total += fits.len();
        }
        (1 + below) as f64 / (total + 1) as f64
    }

    /// What is to be said of a sample with these scores and statistics.
    pub fn assure(
        &self,
        scores: &[f64],
        decided: usize,
        statistics: [f64; 3],
        epsilon: f64,
    ) -> Assurance {
        let (smallest, reason) = self.smallest_p(decided, statistics);
        Assurance {
            p_values: self.p_values(scores, epsilon),
            epsilon,
            fit_p: (3.0 * smallest).min(1.0),
            reason,
            statistics,
        }
    }

    /// The smallest p of the three statistics of a sample, and which of them it is.
    fn smallest_p(&self, decided: usize, statistics: [f64; 3]) -> (f64, Strangeness) {
        let [fit, log_norm, log_residual] = statistics;
        let hard = |sorted: &[f64], value: f64| is_beyond(sorted, value);
        let fits = &self.fits[decided];
        let of_fit = match fits.len() >= FEWEST_OF_CLASS && is_below(fits, fit) {
            true => 0.0,
            false => self.fit_p_value(decided, fit),
        };
        let two_sided = |sorted: &[f64], value: f64| match hard(sorted, value) {
            true => 0.0,
            false => (2.0 * low_p(sorted, value).min(high_p(sorted, value))).min(1.0),
        };
        let p = [
            (of_fit, Strangeness::Fit),
            (two_sided(&self.log_norms, log_norm), Strangeness::Scale),
            (
                two_sided(&self.log_residuals, log_residual),
                Strangeness::Shape,
            ),
        ];
        let smallest = p.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        smallest.unwrap_or((1.0, Strangeness::Fit))
    }

    /// Whether a sample is unlike anything learned: its smallest p ≤ α/3.
    pub fn is_strange(&self, fit_p: f64) -> bool {
        fit_p <= self.alpha()
    }

    /// The share of flagged rows that a table of `n` rows must exceed to be a stranger:
    /// q + 3·√(q/n + q/n_cal), where q is the share of one's own samples that is flagged, at least α.
    ///
    /// q/n is the variance of the share of the table. q/n_cal is that of the limits themselves: the
    /// share of own samples beyond the k-th of n_cal calibration samples is Beta(k, n_cal + 1 − k)
    /// distributed, with variance ≈ k/n_cal² = q/n_cal, and it is the same for all tables that one
    /// model judges, however long they are.
    fn table_limit(&self, n: usize) -> f64 {
        let alpha = self.alpha();
        let own = match self.own_flags {
            Some(own) => own.n_flagged as f64 / own.n_compared.max(1) as f64,
            None if self.source != CalibrationSource::HeldOutGroups => UNCOUNTED * alpha,
            None => alpha,
        };
        let own = own.max(alpha);
        let variance = own / n.max(1) as f64 + own / self.n_samples.max(1) as f64;
        own + TABLE_LIMIT * variance.sqrt()
    }

    /// Whether a whole file is: by the medians of its segments against those of held-out recordings,
    /// by more than half of its segments where there are few, or by more flagged rows of a table
    /// than chance explains. With the statistic that speaks, and how far away it lies.
    pub fn strange_file(&self, assured: &[&Assurance], is_recording: bool) -> Option<Strangeness> {
        let n = assured.len();
        if n == 0 {
            return None;
        }
        let flagged: Vec<&&Assurance> = assured
            .iter()
            .filter(|sample| self.is_strange(sample.fit_p))
            .collect();
        if let (true, true, Some(facts)) = (is_recording, n >= FEWEST_SEGMENTS, &self.recordings) {
            let deviations = [0, 1, 2].map(|k| {
                let median = median(assured.iter().map(|sample| sample.statistics[k]).collect());
                let away = (median - facts.centre[k]) / facts.spread[k].max(RECORDING_FLOOR);
                // A recording that fits better than usual is no stranger.
                if k == 0 { -away } else { away.abs() }
            });
            let kinds = [Strangeness::Fit, Strangeness::Scale, Strangeness::Shape];
            let largest = deviations.into_iter().zip(kinds);
            let largest = largest.max_by(|a, b| a.0.total_cmp(&b.0))?;
            return (largest.0 > RECORDING_LIMIT).then_some(largest.1);
        }
        let share = flagged.len() as f64 / n as f64;
        let limit = match is_recording {
            true => 0.5,
            false => self.table_limit(n),
        };
        if share <= limit {
            return None;
        }
        let count = |kind| {
            flagged
                .iter()
                .filter(|sample| sample.reason == kind)
                .count()
        };
        let kinds = [Strangeness::Fit, Strangeness::Scale, Strangeness::Shape];
        kinds.into_iter().max_by_key(|kind| count(*kind))
    }
}

/// Share of the calibration samples that are at most as large, the sample itself counted.
fn low_p(sorted: &[f64], value: f64) -> f64 {
    (1 + sorted.partition_point(|other| *other <= value)) as f64 / (sorted.len() + 1) as f64
}

/// Share of the calibration samples that are at least as large, the sample itself counted.
fn high_p(sorted: &[f64], value: f64) -> f64 {
    let below = sorted.partition_point(|other| *other < value);
    (1 + sorted.len() - below) as f64 / (sorted.len() + 1) as f64
}

fn is_below(sorted: &[f64], value: f64) -> bool {
    let (Some(lowest), centre) = (sorted.first(), quantile(sorted, 0.5)) else {
        return false;
    };
    centre - value > HARD_LIMIT * (centre - lowest).max(LEAST_EXTREME) || value.is_nan()
}

fn is_beyond(sorted: &[f64], value: f64) -> bool {
    let (Some(highest), centre) = (sorted.last(), quantile(sorted, 0.5)) else {
        return false;
    };
    is_below(sorted, value) || value - centre > HARD_LIMIT * (highest - centre).max(LEAST_EXTREME)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// 1 + (n − 1)·ρ of the margins of a class, with n samples to a group and ρ the correlation between two of
/// one group: the analysis of variance between and within groups, of ranks (the design effect of Kish).
fn group_weight(samples: &[CalibrationSample], class: usize) -> f64 {
    let own = samples.iter().filter(|sample| sample.class == class);
    let mut own: Vec<(f64, Option<usize>)> = own.map(|s| (s.margin, s.group)).collect();
    own.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let n = own.len() as f64;
    let mut groups: BTreeMap<Option<usize>, (f64, f64)> = BTreeMap::new();
    for (rank, (_, group)) in own.iter().enumerate() {
        let (count, sum) = groups.entry(*group).or_default();
        *count += 1.0;
        *sum += rank as f64 - 0.5 * (n - 1.0);
    }
    let n_groups = groups.len() as f64;
    if groups.len() < 2 {
        return n.max(1.0);
    }
    let sizes = groups.values().map(|(count, _)| count * count).sum::<f64>();
    let size = (n - sizes / n) / (n_groups - 1.0);
    let between: f64 = groups.values().map(|(count, sum)| sum * sum / count).sum();
    // The sum of squares of n ranks around their mean.
    let within = (n * n - 1.0) * n / 12.0 - between;
    let between = between / (n_groups - 1.0);
    let within = within / (n - n_groups).max(1.0);
    let correlation = (between - within) / (between + (size - 1.0) * within);
    1.0 + (size - 1.0) * correlation.clamp(0.0, 1.0)
}

fn recording_facts(samples: &[CalibrationSample]) -> Option<RecordingFacts> {
    let mut by_recording: BTreeMap<usize, Vec<&CalibrationSample>> = BTreeMap::new();
    for sample in samples {
        by_recording
            .entry(sample.recording?)
            .or_default()
            .push(sample);
    }
    by_recording.retain(|_, own| own.len() >= FEWEST_SEGMENTS);
    if by_recording.len() < FEWEST_RECORDINGS {
        return None;
    }
    let statistics: [fn(&CalibrationSample) -> f64; 3] =
        [|s| s.fit, |s| s.log_norm, |s| s.log_residual];
    let (mut centre, mut spread) = ([0.0; 3], [0.0; 3]);
    for (k, statistic) in statistics.into_iter().enumerate() {
        let medians: Vec<f64> = by_recording
            .values()
            .map(|own| median(own.iter().map(|sample| statistic(sample)).collect()))
            .collect();
        centre[k] = median(medians.clone());
        let away = medians.iter().map(|m| (m - centre[k]).abs()).collect();
        spread[k] = (1.4826 * median(away)).max(RECORDING_FLOOR);
    }
    Some(RecordingFacts {
        n_recordings: by_recording.len(),
        centre,
        spread,
    })
}

/// The principal directions of the kept samples that the shape of a sample is measured against.
pub(crate) fn shape_directions(kept: &crate::math::Matrix) -> Principal {
    Principal::of(kept, PRINCIPAL_SHARE, usize::MAX)
}

/// ln(mean-square residual + 1e-12) of a prepared sample.
pub(crate) fn log_residual(directions: &Principal, prepared: &[f64]) -> f64 {
    (directions.mean_square_residual(prepared) + TINY).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a frequent class that is told apart and a rare one that mostly is not.
    fn unbalanced(n_rare: usize) -> (Vec<(usize, f64)>, Calibration) {
        let frequent = (0..760).map(|i| (0, f64::from(i) / 100.0));
        let rare = (0..n_rare).map(|i| (1, 1.0 - i as f64));
        let margins: Vec<(usize, f64)> = frequent.chain(rare).collect();
        let sample = |(class, margin)| CalibrationSample {
            class,
            margin,
            fit: 1.0,
            decided: 0,
            log_norm: 0.0,
            log_residual: 0.0,
            recording: None,
            group: None,
        };
        let samples: Vec<CalibrationSample> = margins.iter().copied().map(sample).collect();
        let facts = FeatureFacts {
            mean: Vec::new(),
            sd: Vec::new(),
            zero_share: Vec::new(),
        };
        let source = CalibrationSource::HeldOutSamples;
        let calibration = Calibration::of(source, 2, &samples, facts).expect("enough");
        (margins, calibration)
    }

    #[test]
    fn rare_classes_take_no_coverage_from_all() {
        // Enough of their own, and too few for that.
        for (n_rare, least_of_rare) in [(39, 0.95), (12, 0.0)] {
            let (margins, calibration) = unbalanced(n_rare);
            let is_covered = |(class, margin): &(usize, f64)| {
                let scores = if *class == 0 {
                    [*margin, 0.0]
                } else {
                    [0.0, *margin]
                };
                prediction_set(&calibration.p_values(&scores, 0.05), 0.05).contains(class)
            };
            let share = |samples: &[(usize, f64)]| {
                let covered = samples.iter().filter(|sample| is_covered(sample));
                covered.count() as f64 / samples.len() as f64
            };
            let (all, rare) = (share(&margins), share(&margins[760..]));
            assert!((0.945..=0.97).contains(&all), "{n_rare}: {all}");
            assert!(rare >= least_of_rare, "{n_rare}: {rare}");
        }
    }

    #[test]
    fn samples_of_a_group_that_are_alike_say_as_much_as_few() {
        let of = |margin: fn(usize) -> usize| {
            let sample = |i: usize| CalibrationSample {
                class: 0,
                margin: margin(i) as f64,
                fit: 1.0,
                decided: 0,
                log_norm: 0.0,
                log_residual: 0.0,
                recording: None,
                group: Some(i / 10),
            };
            let samples: Vec<CalibrationSample> = (0..40).map(sample).collect();
            group_weight(&samples, 0)
        };
        let (alike, mixed) = (of(|i| i), of(|i| 7 * i % 40));
        assert!((9.0..10.0).contains(&alike), "{alike}");
        assert!((mixed - 1.0).abs() < 1e-12, "{mixed}");
    }
}
