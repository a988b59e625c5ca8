//! Detectors of change in a sequence of numbers: ADWIN and the Page–Hinkley test.
//!
//! Both take one number at a time (an error, a margin, a fit) and say whether what came lately differs from what came
//! before. After an alarm they begin anew with the next number. Defaults and behaviour are those of `river`, to the
//! same index; tests hold stored indices against it.

use serde::{Deserialize, Serialize};

/// What a detector found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriftAlarm {
    /// Mean of the numbers since the detector began.
    pub mean_before: f64,
    /// Mean of those that differ; for Page–Hinkley the number that raised the alarm.
    pub mean_after: f64,
    /// Numbers since the detector began.
    pub n_seen: u64,
}

/// A detector of change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum DriftDetector {
    /// Adaptive windowing.
    Adwin(Adwin),
    /// Cumulated deviations from the mean.
    PageHinkley(PageHinkley),
}

impl DriftDetector {
    /// Takes the next number; numbers that are not finite are passed over.
    pub fn update(&mut self, value: f64) -> Option<DriftAlarm> {
        if !value.is_finite() {
            return None;
        }
        match self {
            Self::Adwin(adwin) => adwin.update(value),
            Self::PageHinkley(test) => test.update(value),
        }
    }

    /// Name in tables and texts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Adwin(_) => "ADWIN",
            Self::PageHinkley(_) => "Page–Hinkley",
        }
    }
}

/// Settings of [`Adwin`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdwinSettings {
    /// δ: the probability of a false alarm, as the bound counts it.
    pub delta: f64,
    /// Windows are compared after every so many numbers.
    pub clock: u64,
    /// Buckets of one size; one more, and two become one of twice the size.
    pub max_buckets: usize,
    /// Fewest numbers in either half.
    pub min_half: u64,
    /// Fewest numbers, plus one, before anything is compared.
    pub grace: u64,
}

impl Default for AdwinSettings {
    fn default() -> Self {
        Self {
            delta: 0.002,
            clock: 32,
            max_buckets: 5,
            min_half: 5,
            grace: 10,
        }
    }
}

/// A bucket: sum and sum of squared deviations of 2^row numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Bucket {
    total: f64,
    scatter: f64,
}

/// Adaptive windowing (Bifet and Gavaldà 2007): the window of numbers is cut wherever the means of its two halves
/// differ by more than chance allows; what lies before the cut is forgotten. The window is held as an exponential
/// histogram: row r has at most `max_buckets` buckets of 2^r numbers, the oldest first, so memory grows as log n.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adwin {
    settings: AdwinSettings,
    rows: Vec<Vec<Bucket>>,
    width: u64,
    total: f64,
    scatter: f64,
    n_seen: u64,
    has_alarmed: bool,
}

impl Default for Adwin {
    fn default() -> Self {
        Self::new(AdwinSettings::default())
    }
}

/// Scatter that two sets of `n` and `m` numbers have beside their own, from the difference of their means.
fn between(n: f64, m: f64, difference: f64) -> f64 {
    n * m * difference * difference / (n + m)
}

impl Adwin {
    /// A detector that has seen nothing.
    pub fn new(settings: AdwinSettings) -> Self {
        Self {
            settings,
            rows: vec![Vec::new()],
            width: 0,
            total: 0.0,
            scatter: 0.0,
            n_seen: 0,
            has_alarmed: false,
        }
    }

    /// Numbers in the window.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Mean of the window.
    pub fn mean(&self) -> f64 {
        match self.width {
            0 => 0.0,
            width => self.total / width as f64,
        }
    }

    /// Takes the next number.
    pub fn update(&mut self, value: f64) -> Option<DriftAlarm> {
        if self.has_alarmed {
            *self = Self::new(self.settings);
        }
        self.insert(value);
        let is_due = self.n_seen.is_multiple_of(self.settings.clock.max(1));
        if !is_due || self.width <= self.settings.grace {
            return None;
        }
        let mean_before = self.mean();
        let mut mean_after = None;
        while let Some(newer) = self.cut() {
            mean_after = Some(newer);
            self.drop_oldest();
        }
        self.has_alarmed = mean_after.is_some();
        Some(DriftAlarm {
            mean_before,
            mean_after: mean_after?,
            n_seen: self.n_seen,
        })
    }

    fn insert(&mut self, value: f64) {
        self.n_seen += 1;
        let before = self.width as f64;
        if self.width > 0 {
            self.scatter += between(before, 1.0, value - self.total / before);
        }
        self.width += 1;
        self.total += value;
        let mut carried = Bucket {
            total: value,
            scatter: 0.0,
        };
        for row in 0.. {
            if row == self.rows.len() {
                self.rows.push(Vec::new());
            }
            let buckets = &mut self.rows[row];
            buckets.push(carried);
            if buckets.len() <= self.settings.max_buckets {
                break;
            }
            let n = size(row);
            let (older, newer) = (buckets.remove(0), buckets.remove(0));
            carried = Bucket {
                total: older.total + newer.total,
                scatter: older.scatter
                    + newer.scatter
                    + between(n, n, older.total / n - newer.total / n),
            };
        }
    }

    /// The mean of the newer half at the oldest place where the halves differ.
    fn cut(&self) -> Option<f64> {
        let (mut n_old, mut total_old) = (0.0, 0.0);
        let (mut n_new, mut total_new) = (self.width as f64, self.total);
        let fewest = self.settings.min_half as f64;
        for (row, buckets) in self.rows.iter().enumerate().rev() {
            for bucket in buckets {
                n_old += size(row);
                n_new -= size(row);
                total_old += bucket.total;
                total_new -= bucket.total;
                if n_new < fewest.max(1.0) {
                    return None;
                }
                let difference = total_old / n_old - total_new / n_new;
                if n_old >= fewest && difference.abs() > self.bound(n_old, n_new) {
                    return Some(total_new / n_new);
                }
            }
        }
        None
    }

    /// ε_cut of the paper with the variance of the window.
    fn bound(&self, n_old: f64, n_new: f64) -> f64 {
        let width = self.width as f64;
        let fewest = self.settings.min_half as f64;
        let log_delta = (2.0 * width.ln() / self.settings.delta).ln();
        let inverse_m = 1.0 / (n_old - fewest + 1.0) + 1.0 / (n_new - fewest + 1.0);
        let variance = self.scatter / width;
        (2.0 * inverse_m * variance * log_delta).sqrt() + 2.0 / 3.0 * log_delta * inverse_m
    }

    fn drop_oldest(&mut self) {
        let row = self.rows.len() - 1;
        let n = size(row);
        let oldest = self.rows[row].remove(0);
        self.width -= n as u64;
        self.total -= oldest.total;
        let width = self.width as f64;
        let difference = match self.width {
            0 => 0.0,
            _ => oldest.total / n - self.total / width,
        };
        self.scatter -= oldest.scatter + between(n, width, difference);
        if self.rows[row].is_empty() && row > 0 {
            self.rows.pop();
        }
    }
}

/// Numbers in a bucket of a row.
fn size(row: usize) -> f64 {
    (row as f64).exp2()
}

/// Which way a mean may move for an alarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Upwards: an error that grows.
    Up,
    /// Downwards: a margin or a fit that shrinks.
    Down,
    /// Either way.
    #[default]
    Both,
}

/// Settings of [`PageHinkley`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageHinkleySettings {
    /// Fewest numbers before an alarm.
    pub min_seen: u64,
    /// Change of the mean that is of no interest.
    pub delta: f64,
    /// Cumulated deviation that raises the alarm.
    pub threshold: f64,
    /// How much of the cumulated deviation the next number keeps.
    pub memory: f64,
    /// Which way.
    pub direction: Direction,
}

impl Default for PageHinkleySettings {
    fn default() -> Self {
        Self {
            min_seen: 30,
            delta: 0.005,
            threshold: 50.0,
            memory: 0.9999,
            direction: Direction::Both,
        }
    }
}

/// The Page–Hinkley test (Page 1954): deviations from the running mean are cumulated with a memory; an alarm is raised
/// when the sum has moved away from its extreme by more than a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageHinkley {
    settings: PageHinkleySettings,
    n_seen: u64,
    mean: f64,
    rising: f64,
    falling: f64,
    lowest: Option<f64>,
    highest: f64,
    has_alarmed: bool,
}

impl Default for PageHinkley {
    fn default() -> Self {
        Self::new(PageHinkleySettings::default())
    }
}

impl PageHinkley {
    /// A detector that has seen nothing.
    pub fn new(settings: PageHinkleySettings) -> Self {
        Self {
            settings,
            n_seen: 0,
            mean: 0.0,
            rising: 0.0,
            falling: 0.0,
            lowest: None,
            // As `river` begins: no sum of deviations counts as high before it was above −1.
            highest: -1.0,
            has_alarmed: false,
        }
    }

    /// Takes the next number.
    pub fn update(&mut self, value: f64) -> Option<DriftAlarm> {
        if self.has_alarmed {
            *self = Self::new(self.settings);
        }
        let mean_before = self.mean;
        self.n_seen += 1;
        self.mean += (value - self.mean) / self.n_seen as f64;
        let PageHinkleySettings {
            min_seen,
            delta,
            threshold,
            memory,
            direction,
        } = self.settings;
        let deviation = value - self.mean;
        self.rising = memory * self.rising + deviation - delta;
        self.falling = memory * self.falling + deviation + delta;
        let lowest = self
            .lowest
            .map_or(self.rising, |lowest| lowest.min(self.rising));
        self.lowest = Some(lowest);
        self.highest = self.highest.max(self.falling);
        let is_up = self.rising - lowest > threshold;
        let is_down = self.highest - self.falling > threshold;
        let is_alarm = match direction {
            Direction::Up => is_up,
            Direction::Down => is_down,
            Direction::Both => is_up || is_down,
        };
        self.has_alarmed = is_alarm && self.n_seen >= min_seen;
        self.has_alarmed.then_some(DriftAlarm {
            mean_before,
            mean_after: value,
            n_seen: self.n_seen,
        })
    }
}
