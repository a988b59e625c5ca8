//! The leakage audit: what training and test samples of a split share, and what that does to the score.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::Split;
use crate::dataset::{Dataset, Place};
use crate::math::{random_below, random_share, random_stream};
use crate::records::counted;

/// Examples given with a finding.
const MAX_EXAMPLES: usize = 5;

/// Fewer groups than this in a class make a score uncertain.
const FEW_GROUPS: usize = 5;

/// A class share in a fold that differs from the whole by more than this factor is reported.
const SHARE_FACTOR: f64 = 2.0;

/// Classes expected to have fewer test samples than this in a fold are too small to judge their share.
const SMALLEST_EXPECTED: f64 = 5.0;

/// Up to this share of the test samples, neighbours in training are the seam of a split, not its habit.
const SEAM_SHARE: f64 = 0.05;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The score may mislead.
    Warning,
    /// The score is wrong: test samples, or parts of them, were learned.
    Error,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A group (subject, record) is learned from and tested.
    GroupOnBothSides,
    /// Samples with the same values are learned from and tested.
    IdenticalSamples,
    /// Windows that share a stretch of a recording are learned from and tested.
    OverlappingWindows,
    /// Windows that follow each other in a recording are learned from and tested.
    NeighbouringWindows,
    /// One recording stands under two groups.
    RecordingInTwoGroups,
    /// Covariances are seen relative to the mean of recordings that hold one class each.
    RecentredTraits,
    /// Windows of one recording are learned from and tested.
    RecordingOnBothSides,
    /// A class has another share in a fold than in the whole.
    ClassImbalance,
    /// A class comes from few groups.
    TooFewGroups,
    /// Groups are not known.
    GroupsUnknown,
    /// Groups are only names of files.
    GroupsAreFiles,
}

/// What may be said of a split in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditVerdict {
    /// The audit could look, and nothing leaks.
    Clean,
    /// Nothing was found, but who belongs together is not known.
    CannotTell,
    /// The score may mislead.
    Doubtful,
    /// The score is wrong.
    Leaks,
}

impl AuditVerdict {
    /// The verdict in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::CannotTell => "groups not known",
            Self::Doubtful => "audit warnings",
            Self::Leaks => "leaks",
        }
    }
}

/// One finding of the audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub kind: FindingKind,
    /// How many samples, groups, classes or folds it concerns (the text says which).
    pub count: usize,
    /// A few of them.
    pub examples: Vec<String>,
    /// What was found and what it does to the score.
    pub text: String,
}

/// All findings, the worst first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Audit {
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Audit {
    /// The worst severity; `None` if nothing was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Whether anything leaks from training into test.
    pub fn leaks(&self) -> bool {
        self.worst() == Some(Severity::Error)
    }

    /// What may be said in a word: clean only where the audit knows who belongs together.
    pub fn verdict(&self) -> AuditVerdict {
        let is_blind = |finding: &Finding| {
            matches!(
                finding.kind,
                FindingKind::GroupsUnknown | FindingKind::GroupsAreFiles
            )
        };
        match self.worst() {
            Some(Severity::Error) => AuditVerdict::Leaks,
            Some(Severity::Warning) => AuditVerdict::Doubtful,
            _ if self.findings.iter().any(is_blind) => AuditVerdict::CannotTell,
            _ => AuditVerdict::Clean,
        }
    }

    /// The finding of a kind, if there is one.
    pub fn finding(&self, kind: FindingKind) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.kind == kind)
    }
}

/// Looks for everything that makes the score of a split say something else than it seems to.
///
/// Two samples stand on both sides of a fold exactly if they are not tested in the same fold: whichever is tested, the
/// other is learned from. So one number per sample decides, and every check is a sort.
pub fn audit(dataset: &Dataset, split: &Split) -> Audit {
    let subject = Subject::new(dataset, split);
    let mut findings: Vec<Finding> = [
        groups_on_both_sides(&subject),
        identical_samples(&subject),
        overlapping_windows(&subject),
        neighbouring_windows(&subject),
        recording_in_two_groups(&subject),
        recentred_traits(&subject),
        recording_on_both_sides(&subject),
        class_imbalance(&subject),
        too_few_groups(&subject),
        groups_unknown(&subject),
        groups_are_files(&subject),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.kind));
    Audit { findings }
}

/// What is audited. Samples that the split does not know are learned from.
struct Subject<'a> {
    dataset: &'a Dataset,
    split: &'a Split,
    n_folds: usize,
    n_tested: usize,
    /// Sets of samples with the same values.
    twins: Vec<Vec<usize>>,
}

impl<'a> Subject<'a> {
    fn new(dataset: &'a Dataset, split: &'a Split) -> Self {
        Self {
            dataset,
            n_tested: split.test_folds().flatten().count(),
            split,
            n_folds: split.n_folds(),
            twins: twins(dataset),
        }
    }

    /// The fold in which a sample is tested.
    fn side(&self, sample: usize) -> Option<usize> {
        self.split.test_fold(sample)
    }

    fn apart(&self, a: usize, b: usize) -> bool {
        self.side(a) != self.side(b)
    }

    fn name(&self, sample: usize) -> String {
        let file = self.dataset.source(sample);
        let file = file
            .file_name()
            .unwrap_or(file.as_os_str())
            .to_string_lossy();
        match self.dataset.origin(sample).place {
            Place::Window {
                start_s,
                duration_s,
            } => format!(
                "{file} {}–{} s",
                Seconds(start_s),
                Seconds(start_s + duration_s)
            ),
            Place::Row(row) => format!("{file} row {row}"),
        }
    }

    fn pair(&self, a: usize, b: usize) -> String {
        format!("{} and {}", self.name(a), self.name(b))
    }

    fn percent_of_tested(&self, count: usize) -> String {
        let percent = 100.0 * count as f64 / self.n_tested.max(1) as f64;
        format!("{percent:.1} %")
    }
}

/// A time in a message: three decimals at most.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 1e3).round() / 1e3)
    }
}

fn groups_on_both_sides(subject: &Subject<'_>) -> Option<Finding> {
    let groups = subject.dataset.groups()?;
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|sample| (groups[*sample], subject.side(*sample)));
    let mut examples = Vec::new();
    let (mut count, mut n_tested) = (0, 0);
    for members in order.chunk_by(|a, b| groups[*a] == groups[*b]) {
        // Sorted by side: the first and the last differ if any two do.
        if !subject.apart(members[0], members[members.len() - 1]) {
            continue;
        }
        count += 1;
        n_tested += members
            .iter()
            .filter(|s| subject.side(**s).is_some())
            .count();
        if examples.len() < MAX_EXAMPLES {
            let n_sides = members.chunk_by(|a, b| !subject.apart(*a, *b)).count();
            let name = &subject.dataset.group_names()[groups[members[0]]];
            examples.push(format!(
                "{name}: {} samples divided into {n_sides} parts",
                members.len()
            ));
        }
    }
    (count > 0).then(|| Finding {
        severity: Severity::Error,
        kind: FindingKind::GroupOnBothSides,
        count,
        examples,
        text: format!(
            "{} both learned from and tested ({} of the test samples). The score tells how well known groups are recognised again; for new ones it is too high. Use folds by group.",
            match count {
                1 => "1 group (subject or record) is".to_owned(),
                _ => format!("{count} groups (subjects or records) are"),
            },
            subject.percent_of_tested(n_tested)
        ),
    })
}

/// A hash of the values of a sample; equal values have equal hashes (0 and −0, all NaN).
/// Of four values at a time, none of which has to wait for another.
fn value_hash(values: &[f64]) -> u64 {
    let mix =
        |hash: u64, value: u64| (hash.rotate_left(23) ^ value).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mut hashes = [0x9e37_79b9_7f4a_7c15; 4];
    for four in values.chunks(hashes.len()) {
        for (hash, value) in hashes.iter_mut().zip(four) {
            *hash = mix(*hash, canonical(*value));
        }
    }
    hashes.into_iter().fold(values.len() as u64, mix)
}

fn canonical(value: f64) -> u64 {
    if value == 0.0 {
        0
    } else if value.is_nan() {
        u64::MAX
    } else {
        value.to_bits()
    }
}

fn compare_values(a: &[f64], b: &[f64]) -> Ordering {
    let bits = |value: &f64| canonical(*value);
    a.iter().map(bits).cmp(b.iter().map(bits))
}

/// Sets of samples with the same values, each of two or more.
fn twins(dataset: &Dataset) -> Vec<Vec<usize>> {
    let mut hashed: Vec<(u64, usize)> = Vec::with_capacity(dataset.n_samples());
    dataset.visit_all(|features| hashed.push((value_hash(features), hashed.len())));
    hashed.sort_unstable();
    let mut found = Vec::new();
    for bucket in hashed.chunk_by(|a, b| a.0 == b.0).filter(|b| b.len() > 1) {
        // Nearly always one set of twins; sorting keeps chance and ill will from costing more.
        let mut alike: Vec<usize> = bucket.iter().map(|(_, sample)| *sample).collect();
        let compare =
            |a: &usize, b: &usize| compare_values(&dataset.sample(*a), &dataset.sample(*b));
        alike.sort_by(compare);
        let sets = alike.chunk_by(|a, b| compare(a, b).is_eq());
        found.extend(sets.filter(|set| set.len() > 1).map(<[usize]>::to_vec));
    }
    found
}

fn identical_samples(subject: &Subject<'_>) -> Option<Finding> {
    let mut examples = Vec::new();
    let mut count = 0;
    for twins in &subject.twins {
        let first = twins[0];
        let Some(&other) = twins.iter().find(|twin| subject.apart(first, **twin)) else {
            continue;
        };
        count += twins.iter().filter(|s| subject.side(**s).is_some()).count();
        if examples.len() < MAX_EXAMPLES {
            examples.push(subject.pair(first, other));
        }
    }
    (count > 0).then(|| Finding {
        severity: Severity::Error,
        kind: FindingKind::IdenticalSamples,
        count,
        examples,
        text: format!(
            "{count} test samples ({}) have an identical twin among the training samples. They are remembered, not recognised: the score is too high. Remove the copies, or keep them on one side.",
            subject.percent_of_tested(count)
        ),
    })
}

/// A stretch of a recording.
struct Window {
    source: usize,
    start_s: f64,
    end_s: f64,
    sample: usize,
}

/// All windows, recording by recording in order of time.
fn windows(dataset: &Dataset) -> Vec<Window> {
    let mut windows: Vec<Window> = (0..dataset.n_samples())
        .filter_map(|sample| {
            let origin = dataset.origin(sample);
            let Place::Window {
                start_s,
                duration_s,
            } = origin.place
            else {
                return None;
            };
            Some(Window {
                source: origin.source,
                start_s,
                end_s: start_s + duration_s,
                sample,
            })
        })
        .collect();
    windows.sort_by(|a, b| {
        let by_time = a
            .start_s
            .total_cmp(&b.start_s)
            .then(a.end_s.total_cmp(&b.end_s));
        a.source
            .cmp(&b.source)
            .then(by_time)
            .then(a.sample.cmp(&b.sample))
    });
    windows
}

/// Times are sums of roundings: windows that share less than this do not overlap.
const TOUCH_S: f64 = 1e-6;

fn overlapping_windows(subject: &Subject<'_>) -> Option<Finding> {
    let windows = windows(subject.dataset);
    let mut overlaps = vec![None; windows.len()];
    let mut first = 0;
    for recording in windows.chunk_by(|a, b| a.source == b.source) {
        mark_overlaps(
            subject,
            recording,
            &mut overlaps[first..first + recording.len()],
        );
        first += recording.len();
    }
    let is_tested = |sample: usize| subject.side(sample).is_some();
    let mut examples = Vec::new();
    let mut count = 0;
    for (window, other) in windows.iter().zip(&overlaps) {
        if let Some(other) = other
            && is_tested(window.sample)
        {
            count += 1;
            if examples.len() < MAX_EXAMPLES {
                examples.push(subject.pair(window.sample, *other));
            }
        }
    }
    (count > 0).then(|| Finding {
        severity: Severity::Error,
        kind: FindingKind::OverlappingWindows,
        count,
        examples,
        text: format!(
            "{count} test samples ({}) share a section of a recording with training samples. Part of what is tested was learned: the score is too high. Use folds by group, or windows without overlap.",
            subject.percent_of_tested(count)
        ),
    })
}

/// For every window of a recording one on the other side that it overlaps, if there is one: among earlier windows the
/// one of another side that ends last decides, among later windows the next one of another side.
fn mark_overlaps(subject: &Subject<'_>, recording: &[Window], overlaps: &mut [Option<usize>]) {
    let mut latest: Option<&Window> = None;
    let mut latest_of_other_side: Option<&Window> = None;
    for (window, overlap) in recording.iter().zip(overlaps.iter_mut()) {
        let other = [latest, latest_of_other_side]
            .into_iter()
            .flatten()
            .filter(|other| subject.apart(other.sample, window.sample))
            .find(|other| other.end_s > window.start_s + TOUCH_S);
        *overlap = other.map(|other| other.sample);
        match latest {
            Some(known) if window.end_s <= known.end_s => {
                let runner_up = latest_of_other_side.is_none_or(|w| window.end_s > w.end_s);
                if runner_up && subject.apart(known.sample, window.sample) {
                    latest_of_other_side = Some(window);
                }
            }
            Some(known) => {
                if subject.apart(known.sample, window.sample) {
                    latest_of_other_side = Some(known);
                }
                latest = Some(window);
            }
            None => latest = Some(window),
        }
    }
    let mut next: Option<&Window> = None;
    let mut next_of_other_side: Option<&Window> = None;
    for (window, overlap) in recording.iter().zip(overlaps.iter_mut()).rev() {
        let other = [next, next_of_other_side]
            .into_iter()
            .flatten()
            .find(|other| subject.apart(other.sample, window.sample))
            .filter(|other| other.start_s < window.end_s - TOUCH_S);
        *overlap = overlap.or(other.map(|other| other.sample));
        if let Some(known) = next
            && subject.apart(known.sample, window.sample)
        {
            next_of_other_side = Some(known);
        }
        next = Some(window);
    }
}

fn neighbouring_windows(subject: &Subject<'_>) -> Option<Finding> {
    let windows = windows(subject.dataset);
    let is_tested = |window: &Window| subject.side(window.sample).is_some();
    let mut touched = vec![false; windows.len()];
    let mut examples = Vec::new();
    for (at, pair) in windows.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        let pause_s = after.start_s - before.end_s;
        let shorter_s = (before.end_s - before.start_s).min(after.end_s - after.start_s);
        // Overlapping windows have a finding of their own.
        let follows = (-TOUCH_S..shorter_s).contains(&pause_s);
        if before.source == after.source && follows && subject.apart(before.sample, after.sample) {
            touched[at] |= is_tested(before);
            touched[at + 1] |= is_tested(after);
            if examples.len() < MAX_EXAMPLES {
                examples.push(subject.pair(before.sample, after.sample));
            }
        }
    }
    let count = touched.iter().filter(|t| **t).count();
    let is_seam = count as f64 <= SEAM_SHARE * subject.n_tested as f64;
    (count > 0).then(|| Finding {
        severity: if is_seam { Severity::Note } else { Severity::Warning },
        kind: FindingKind::NeighbouringWindows,
        count,
        examples,
        text: format!(
            "{count} test samples ({}) directly follow or precede training samples of the same recording. Neighbours resemble each other more than recordings do: the score is likely too high. Use folds by group, or hold out by time.",
            subject.percent_of_tested(count)
        ),
    })
}

/// Windows closer than this share of the usual distance, and of their own length, are of the same signal in another
/// format: 16 bits leave 3e-5, while windows of one person are half the usual distance apart.
const SAME_SIGNAL: f64 = 2e-3;

/// With more windows, copies are looked for among equal values alone.
const MOST_COMPARED: usize = 50_000;

/// Pairs that tell the usual distance.
const DISTANCES_DRAWN: usize = 200;

/// Mixtures of the values of a window that are compared before the values.
const N_MIXTURES: usize = 4;

/// Values compared at a time: windows of different signals part in the first few.
const COMPARED_AT_ONCE: usize = 16;

/// Pairs of windows with nearly the same values in two recordings of two groups, one for each window at most.
fn same_signals(dataset: &Dataset, groups: &[usize]) -> Vec<(usize, usize)> {
    let samples: Vec<usize> = windows(dataset)
        .iter()
        .map(|window| window.sample)
        .collect();
    // With one or two features windows are alike by chance.
    if samples.len() > MOST_COMPARED || samples.is_empty() || dataset.n_features() < 3 {
        return Vec::new();
    }
    let mut random = random_stream(0, "audit", 0);
    let mut drawn = || dataset.sample(samples[random_below(&mut random, samples.len())]);
    let distance = |_| squared_distance(&drawn(), &drawn());
    let mut distances: Vec<f64> = (0..DISTANCES_DRAWN).map(distance).collect();
    distances.sort_by(f64::total_cmp);
    let usual = distances[DISTANCES_DRAWN / 2];
    if !usual.is_finite() {
        return Vec::new();
    }
    // Mixtures of their values differ by no more than they do: sorted by the first, those that are alike stand close
    // together, and the others spare most of the rest a look at the values, which may be on disk.
    let mut direction = || -> Vec<f64> {
        let mut weights: Vec<f64> = (0..dataset.n_features())
            .map(|_| random_share(&mut random) - 0.5)
            .collect();
        let length = weights.iter().map(|weight| weight * weight).sum::<f64>();
        weights
            .iter_mut()
            .for_each(|weight| *weight /= length.sqrt());
        weights
    };
    let directions: [Vec<f64>; N_MIXTURES] = std::array::from_fn(|_| direction());
    let mixtures = |sample: &usize| {
        let values = dataset.sample(*sample);
        let mixture = |weights: &Vec<f64>| -> f64 {
            values
                .iter()
                .zip(weights)
                .map(|(v, weight)| v * weight)
                .sum()
        };
        (directions.each_ref().map(mixture), *sample)
    };
    let mut sorted: Vec<([f64; N_MIXTURES], usize)> = samples.iter().map(mixtures).collect();
    sorted.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]).then(a.1.cmp(&b.1)));
    let source = |sample: usize| dataset.origin(sample).source;
    let are_apart = |a: usize, b: usize| source(a) != source(b) && groups[a] != groups[b];
    let reach = SAME_SIGNAL * usual.sqrt();
    let mut pairs = Vec::new();
    for (place, (mixed, a)) in sorted.iter().enumerate() {
        let values = dataset.sample(*a);
        let own: f64 = values.iter().map(|value| value * value).sum();
        let limit = SAME_SIGNAL * SAME_SIGNAL * usual.min(own);
        let are_same = |b: usize| {
            let other = dataset.sample(b);
            let mut parts = values
                .chunks(COMPARED_AT_ONCE)
                .zip(other.chunks(COMPARED_AT_ONCE));
            let mut sum = 0.0;
            parts.all(|(a, b)| {
                sum += squared_distance(a, b);
                sum <= limit
            })
        };
        let close = sorted[place + 1..]
            .iter()
            .take_while(|(other, _)| other[0] - mixed[0] <= reach);
        let may_be = |other: &[f64; N_MIXTURES]| {
            let mut pairs = other.iter().zip(mixed);
            pairs.all(|(other, own)| (other - own).abs() <= reach)
        };
        let twin = close
            .filter(|(other, _)| may_be(other))
            .map(|(_, b)| *b)
            .find(|b| are_apart(*a, *b) && are_same(*b));
        pairs.extend(twin.map(|b| (*a, b)));
    }
    pairs
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Public sets hold such copies: the same recording under the names of two subjects.
fn recording_in_two_groups(subject: &Subject<'_>) -> Option<Finding> {
    let dataset = subject.dataset;
    let groups = dataset.groups()?;
    let source = |sample: usize| dataset.origin(sample).source;
    let mut n_windows = vec![0usize; dataset.sources().len()];
    for window in windows(dataset) {
        n_windows[window.source] += 1;
    }
    let mut shared: BTreeMap<(usize, usize), (usize, usize, usize)> = BTreeMap::new();
    let mut pairs = same_signals(dataset, groups);
    if pairs.is_empty() {
        let equal = subject.twins.iter().flat_map(|twins| twins.windows(2));
        pairs = equal.map(|pair| (pair[0], pair[1])).collect();
    }
    for (a, b) in pairs {
        let (a, b) = if source(a) <= source(b) {
            (a, b)
        } else {
            (b, a)
        };
        if source(a) != source(b) && groups[a] != groups[b] {
            shared.entry((source(a), source(b))).or_insert((0, a, b)).0 += 1;
        }
    }
    let is_copy = |((a, b), (count, _, _)): &(&(usize, usize), &(usize, usize, usize))| {
        let smaller = n_windows[*a].min(n_windows[*b]);
        smaller > 1 && 2 * count > smaller
    };
    let copies: Vec<_> = shared.iter().filter(is_copy).collect();
    let file = |source: usize| {
        let path = &dataset.sources()[source];
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let example = |((first, second), (_, a, b)): &(&(usize, usize), &(usize, usize, usize))| {
        let names = dataset.group_names();
        format!(
            "{} of {} and {} of {}",
            file(*first),
            names[groups[*a]],
            file(*second),
            names[groups[*b]]
        )
    };
    (!copies.is_empty()).then(|| Finding {
        severity: Severity::Error,
        kind: FindingKind::RecordingInTwoGroups,
        count: copies.len(),
        examples: copies.iter().take(MAX_EXAMPLES).map(example).collect(),
        text: format!(
            "{} under two groups, e.g. {}: whoever is tested with one of them was learned from the other, and the score is too high. Exclude one of the two.",
            match copies.len() {
                1 => "1 recording stands".to_owned(),
                n => format!("{n} recordings stand"),
            },
            example(&copies[0])
        ),
    })
}

/// The mean of a recording that holds one class is the class.
fn recentred_traits(subject: &Subject<'_>) -> Option<Finding> {
    let dataset = subject.dataset;
    if !dataset.is_recentred() {
        return None;
    }
    let mut first_class = vec![None; dataset.sources().len()];
    for (sample, class) in dataset.classes().iter().enumerate() {
        let known = first_class[dataset.origin(sample).source].get_or_insert(*class);
        if known != class {
            return None;
        }
    }
    Some(Finding {
        severity: Severity::Error,
        kind: FindingKind::RecentredTraits,
        count: first_class.iter().flatten().count(),
        examples: Vec::new(),
        text: "Covariances are re-centred on the mean of their recording, but every recording holds one class only: what tells the classes apart is taken away with the mean. Switch re-centring off; it is for classes that change within recordings."
            .to_owned(),
    })
}

/// Recordings whose windows stand on both sides though no group tells so.
fn recording_on_both_sides(subject: &Subject<'_>) -> Option<Finding> {
    if groups_on_both_sides(subject).is_some() {
        return None;
    }
    let all = windows(subject.dataset);
    let mut examples = Vec::new();
    let mut count = 0;
    for recording in all.chunk_by(|a, b| a.source == b.source) {
        let first = recording[0].sample;
        if let Some(other) = recording.iter().find(|w| subject.apart(first, w.sample)) {
            count += 1;
            if examples.len() < MAX_EXAMPLES {
                examples.push(subject.pair(first, other.sample));
            }
        }
    }
    (count > 0).then(|| Finding {
        severity: Severity::Warning,
        kind: FindingKind::RecordingOnBothSides,
        count,
        examples,
        text: format!(
            "Windows of {count} {} are both learned from and tested. The score tells how well known recordings are recognised again; for new ones it is likely too high. Use folds by group.",
            if count == 1 { "recording" } else { "recordings" }
        ),
    })
}

fn groups_are_files(subject: &Subject<'_>) -> Option<Finding> {
    subject.dataset.groups_are_files().then(|| Finding {
        severity: Severity::Note,
        kind: FindingKind::GroupsAreFiles,
        count: subject.dataset.group_names().len(),
        examples: Vec::new(),
        text: "Groups are only names of files: if one subject has several files, some may be learned from and others tested, and the score is too high. Name the subjects in a rule or a table."
            .to_owned(),
    })
}

fn class_imbalance(subject: &Subject<'_>) -> Option<Finding> {
    let dataset = subject.dataset;
    let n_classes = dataset.n_classes();
    let totals = dataset.class_counts();
    let mut tested = vec![vec![0usize; n_classes]; subject.n_folds];
    for (class, side) in dataset.classes().iter().zip(subject.split.test_folds()) {
        if let Some(fold) = side {
            tested[fold][*class] += 1;
        }
    }
    let mut examples = Vec::new();
    let mut count = 0;
    for (fold, counts) in tested.iter().enumerate() {
        let odd = odd_class(counts, &totals, dataset.n_samples());
        if let Some((class, what)) = odd {
            count += 1;
            if examples.len() < MAX_EXAMPLES {
                let name = &dataset.class_names()[class];
                examples.push(format!("fold {}: class {name} {what}", fold + 1));
            }
        }
    }
    (count > 0).then(|| Finding {
        severity: Severity::Warning,
        kind: FindingKind::ClassImbalance,
        count,
        examples,
        text: format!(
            "Classes have other shares than in the whole: in {count} of {} folds. Their scores are not comparable, and plain accuracy rewards guessing the frequent class. Compare balanced accuracy, or use fewer folds.",
            subject.n_folds
        ),
    })
}

/// The class whose share in a fold is farthest from right, and how.
fn odd_class(tested: &[usize], totals: &[usize], n_samples: usize) -> Option<(usize, String)> {
    let n_tested: usize = tested.iter().sum();
    let classes = tested.iter().zip(totals).enumerate();
    let present = classes.filter(|(_, (_, total))| **total > 0);
    let mut worst: Option<(f64, usize, String)> = None;
    for (class, (found, total)) in present {
        let expected = *total as f64 * n_tested as f64 / n_samples as f64;
        let (badness, what) = if found == total {
            (f64::INFINITY, "has no training sample".to_owned())
        } else if *found == 0 {
            (f64::MAX, "has no test sample".to_owned())
        } else {
            let ratio = *found as f64 / expected;
            let text = format!("has {found} test samples instead of about {expected:.0}");
            (ratio.max(1.0 / ratio), text)
        };
        let is_small = *found > 0 && found != total && expected < SMALLEST_EXPECTED;
        let is_worse = worst.as_ref().is_none_or(|(most, _, _)| badness > *most);
        if badness > SHARE_FACTOR && !is_small && is_worse {
            worst = Some((badness, class, what));
        }
    }
    worst.map(|(_, class, what)| (class, what))
}

fn too_few_groups(subject: &Subject<'_>) -> Option<Finding> {
    let dataset = subject.dataset;
    let groups = dataset.groups()?;
    let mut pairs: Vec<(usize, usize)> = dataset
        .classes()
        .iter()
        .copied()
        .zip(groups.iter().copied())
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let few: Vec<(usize, usize)> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_class| (of_class[0].0, of_class.len()))
        .filter(|(_, n_groups)| *n_groups < FEW_GROUPS)
        .collect();
    let fewest = few.iter().map(|(_, n_groups)| *n_groups).min()?;
    let advice = if fewest == 1 {
        "If a class is a single group, class and group cannot be distinguished: the score says nothing about new groups."
    } else {
        "A score over so few groups depends strongly on each of them: check its spread, and record more groups."
    };
    let example = |(class, n_groups): &(usize, usize)| {
        let plural = if *n_groups == 1 { "group" } else { "groups" };
        format!(
            "class {}: {n_groups} {plural}",
            dataset.class_names()[*class]
        )
    };
    Some(Finding {
        severity: Severity::Warning,
        kind: FindingKind::TooFewGroups,
        count: few.len(),
        examples: few.iter().take(MAX_EXAMPLES).map(example).collect(),
        text: format!(
            "Fewer than {FEW_GROUPS} groups: {}. {advice}",
            counted(few.len(), "class")
        ),
    })
}

fn groups_unknown(subject: &Subject<'_>) -> Option<Finding> {
    if subject.dataset.groups().is_some() {
        return None;
    }
    Some(Finding {
        severity: Severity::Note,
        kind: FindingKind::GroupsUnknown,
        count: subject.dataset.n_samples(),
        examples: Vec::new(),
        text: "Groups are not known, so subjects or records on both sides cannot be detected. If several samples come from one subject, name it: the score may be too high."
            .to_owned(),
    })
}
