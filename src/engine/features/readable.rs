//! Groups of EEG features as a clinician reads them: channel power and the strongest spatial pattern on a head, a
//! channel × channel picture, the spectrum of a delay covariance.

use std::f64::consts::TAU;

use super::covariance::{from_triangle, triangle_length};
use super::{FeatureGroup, GroupKind, Layout};
use crate::math::{Matrix, SymmetricEigen};

/// Lines of the spectrum of a delay covariance.
const N_LINES: usize = 64;

/// Bands that are drawn each by itself; of more, their mean is.
const MOST_BANDS: usize = 3;

/// A sample as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Readable {
    /// How the values lie side by side.
    pub layout: Layout,
    /// The values.
    pub values: Vec<f64>,
    /// The channels, where they lie on a head.
    pub channels: Vec<String>,
    /// What each map shows.
    pub maps: Vec<String>,
}

impl Readable {
    /// Names of the values as those of channel × band features: "Fp1 power"; none where no head is drawn.
    pub fn names(&self) -> Vec<String> {
        let of_channel = |channel: &String| {
            let maps = self.maps.iter();
            let names = maps.map(|map| format!("{channel} {}", map.replace(' ', "\u{a0}")));
            names.collect::<Vec<_>>()
        };
        self.channels.iter().flat_map(of_channel).collect()
    }
}

/// How samples of these groups are drawn, whatever their values; nothing where no group is a covariance.
pub fn readable_layout(groups: &[FeatureGroup]) -> Option<(Layout, Vec<String>)> {
    let n_features = groups.iter().map(|group| group.n_features).sum();
    let read = readable(groups, &vec![0.0; n_features])?;
    let names = read.names();
    Some((read.layout, names))
}

/// The groups with the values of a sample.
fn parts<'a>(
    groups: &'a [FeatureGroup],
    values: &'a [f64],
) -> impl Iterator<Item = (&'a FeatureGroup, &'a [f64])> {
    let mut first = 0;
    groups.iter().filter_map(move |group| {
        let place = first..first + group.n_features;
        first = place.end;
        Some((group, values.get(place)?))
    })
}

/// A symmetric picture of a group: channel × channel, or delay × delay.
#[derive(Debug, Clone, PartialEq)]
pub struct Square {
    /// What it shows.
    pub title: String,
    /// Names of its rows and columns.
    pub names: Vec<String>,
    /// Its values: the logarithm of the covariance.
    pub matrix: Matrix,
}

/// The covariances of a sample as pictures, group by group.
pub fn squares(groups: &[FeatureGroup], values: &[f64]) -> Vec<Square> {
    let square = |(group, values): (&FeatureGroup, &[f64])| {
        let names: Vec<String> = match &group.kind {
            GroupKind::Covariance { channels, .. } => channels.clone(),
            GroupKind::DelayCovariance { n_delays, step_s } => (0..*n_delays)
                .map(|delay| format!("{:.0} ms", 1e3 * step_s * delay as f64))
                .collect(),
            GroupKind::Values => return None,
        };
        let p = names.len();
        (values.len() == triangle_length(p)).then(|| Square {
            title: group.name.clone(),
            names,
            matrix: from_triangle(values, p),
        })
    };
    parts(groups, values).filter_map(square).collect()
}

/// Share of each channel in the squared values of all channel covariances, the largest first; a value of two channels
/// counts half for each.
pub fn channel_shares(groups: &[FeatureGroup], values: &[f64]) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> = Vec::new();
    let of_channels = groups.iter().filter_map(|group| match &group.kind {
        GroupKind::Covariance { channels, .. } => Some(channels),
        _ => None,
    });
    let is_channels = |square: &Square| of_channels.clone().any(|c| *c == square.names);
    for square in squares(groups, values).iter().filter(|s| is_channels(s)) {
        for (channel, name) in square.names.iter().enumerate() {
            let sum: f64 = square.matrix.col(channel).iter().map(|v| v * v).sum();
            match shares.iter_mut().find(|(known, _)| known == name) {
                Some((_, share)) => *share += sum,
                None => shares.push((name.clone(), sum)),
            }
        }
    }
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    for (_, share) in &mut shares {
        *share /= total.max(f64::MIN_POSITIVE);
    }
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// A channel covariance of a sample: band, channels and logarithm.
type BandCovariance<'a> = (String, &'a [String], Matrix);

fn band_covariances<'a>(groups: &'a [FeatureGroup], values: &'a [f64]) -> Vec<BandCovariance<'a>> {
    let covariance = |(group, values): (&'a FeatureGroup, &[f64])| match &group.kind {
        GroupKind::Covariance { channels, .. } => {
            let fits = values.len() == triangle_length(channels.len());
            let symmetric = || from_triangle(values, channels.len());
            fits.then(|| (group.name.clone(), &channels[..], symmetric()))
        }
        _ => None,
    };
    parts(groups, values).filter_map(covariance).collect()
}

/// A sample of covariance features as it is read: for each band ln power of the channels and the leading eigenvector,
/// each on a head, of many bands those of their mean; of one channel its spectrum. Nothing where no group is a
/// covariance.
pub fn readable(groups: &[FeatureGroup], values: &[f64]) -> Option<Readable> {
    let mut covariances = band_covariances(groups, values);
    if covariances.len() > MOST_BANDS {
        covariances = vec![mean_of(&covariances)];
    }
    match covariances.first() {
        Some((_, channels, _)) => Some(maps(channels, &covariances)),
        None => spectrum(groups, values),
    }
}

/// The mean of the logarithms of all bands.
fn mean_of<'a>(covariances: &[BandCovariance<'a>]) -> BandCovariance<'a> {
    let n_bands = covariances.len();
    let (_, channels, first) = &covariances[0];
    let value = |i, j| {
        let of_bands = covariances
            .iter()
            .map(|(_, _, logarithm)| logarithm[(i, j)]);
        of_bands.sum::<f64>() / n_bands as f64
    };
    let mean = Matrix::from_fn(first.rows(), first.cols(), value);
    (format!("mean of {n_bands} bands"), channels, mean)
}

/// Where there are more bands than [`readable`] draws: the power of the channels in each, on heads.
pub fn band_powers(groups: &[FeatureGroup], values: &[f64]) -> Option<Readable> {
    let covariances = band_covariances(groups, values);
    let (_, channels, _) = covariances
        .first()
        .filter(|_| covariances.len() > MOST_BANDS)?;
    let n_channels = channels.len();
    let powers: Vec<Vec<f64>> = covariances
        .iter()
        .map(|(_, _, logarithm)| channel_powers(logarithm))
        .collect();
    let of_channel = |channel: usize| powers.iter().map(move |of_band| of_band[channel]);
    Some(Readable {
        layout: Layout::ChannelBand {
            n_channels,
            n_bands: covariances.len(),
        },
        values: (0..n_channels).flat_map(of_channel).collect(),
        channels: channels.to_vec(),
        maps: covariances.into_iter().map(|(band, ..)| band).collect(),
    })
}

/// ln power of the channels against their mean.
fn channel_powers(logarithm: &Matrix) -> Vec<f64> {
    let p = logarithm.rows();
    let mean = (0..p).map(|c| logarithm[(c, c)]).sum::<f64>() / p as f64;
    (0..p).map(|c| logarithm[(c, c)] - mean).collect()
}

fn maps(channels: &[String], covariances: &[BandCovariance<'_>]) -> Readable {
    let p = channels.len();
    let n_bands = 2 * covariances.len();
    let mut values = vec![0.0; p * n_bands];
    let mut maps = Vec::with_capacity(n_bands);
    for (number, (band, _, logarithm)) in covariances.iter().enumerate() {
        let pattern = leading_pattern(logarithm);
        // Both maps share one colour scale: the pattern has no unit and is brought to the size of the powers.
        let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let powers = channel_powers(logarithm);
        let scale = largest(&powers).max(1e-12) / largest(&pattern).max(1e-12);
        for channel in 0..p {
            let place = channel * n_bands + 2 * number;
            values[place] = powers[channel];
            values[place + 1] = scale * pattern[channel];
        }
        maps.push(format!("{band}: power"));
        maps.push(format!("{band}: strongest pattern"));
    }
    Readable {
        layout: Layout::ChannelBand {
            n_channels: p,
            n_bands,
        },
        values,
        channels: channels.to_vec(),
        maps,
    }
}

/// The eigenvector of the largest eigenvalue, its largest value positive.
pub fn leading_pattern(symmetric: &Matrix) -> Vec<f64> {
    let p = symmetric.rows();
    let mut eigen = SymmetricEigen::default();
    if p == 0 || eigen.decompose(symmetric.view()).is_err() {
        return vec![0.0; p];
    }
    let vector = eigen.vectors().col(p - 1).to_vec();
    let largest = vector
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let sign = largest.map_or(1.0, f64::signum);
    vector.into_iter().map(|value| sign * value).collect()
}

/// ln power against frequency of every delay covariance: the transform of its mean autocovariance.
fn spectrum(groups: &[FeatureGroup], values: &[f64]) -> Option<Readable> {
    let mut lines = Vec::new();
    let mut n_channels = 0;
    for (group, values) in parts(groups, values) {
        let GroupKind::DelayCovariance { n_delays, .. } = group.kind else {
            continue;
        };
        if values.len() != triangle_length(n_delays) {
            continue;
        }
        let mut eigen = SymmetricEigen::default();
        eigen
            .decompose(from_triangle(values, n_delays).view())
            .ok()?;
        let mut covariance = Matrix::default();
        eigen.function(f64::exp, &mut covariance);
        n_channels += 1;
        lines.extend(line_powers(&covariance));
    }
    (n_channels > 0).then(|| Readable {
        layout: Layout::Waveform {
            n_channels,
            n_points: N_LINES,
        },
        values: lines,
        channels: Vec::new(),
        maps: vec!["spectrum of the delay covariance".into()],
    })
}

/// ln of Σ_k w_k r_k cos(2πfk) up to half of one over the delay, with a triangular lag window, which keeps it positive.
fn line_powers(covariance: &Matrix) -> Vec<f64> {
    let n = covariance.rows();
    let autocovariance: Vec<f64> = (0..n)
        .map(|lag| (0..n - lag).map(|i| covariance[(i, i + lag)]).sum::<f64>() / (n - lag) as f64)
        .collect();
    let power = |line: usize| {
        let step = 0.5 * line as f64 / (N_LINES - 1) as f64;
        let lags = autocovariance.iter().enumerate().skip(1);
        let others: f64 = lags
            .map(|(lag, r)| {
                let weight = 1.0 - lag as f64 / n as f64;
                2.0 * weight * r * (TAU * step * lag as f64).cos()
            })
            .sum();
        autocovariance[0] + others
    };
    let smallest = 1e-6 * autocovariance.first().copied().unwrap_or(1.0).abs();
    let lines = (0..N_LINES).map(power);
    lines.map(|value| value.max(smallest).ln()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::covariance::push_triangle;

    fn group(kind: GroupKind, n_features: usize) -> FeatureGroup {
        FeatureGroup {
            name: "alpha".into(),
            n_features,
            kind,
        }
    }

    #[test]
    fn a_covariance_is_read_as_power_and_its_strongest_pattern() {
        // Channels 0 and 2 move together, channel 1 is the strongest by itself.
        let covariance = Matrix::from_fn(3, 3, |i, j| match (i, j) {
            (0, 2) | (2, 0) => 0.9,
            (1, 1) => 1.2,
            _ if i == j => 1.0,
            _ => 0.0,
        });
        let mut values = Vec::new();
        push_triangle(&covariance, &mut values);
        let channels: Vec<String> = ["A", "B", "C"].map(String::from).to_vec();
        let kind = GroupKind::Covariance {
            channels: channels.clone(),
            recentred: false,
        };
        let groups = [group(kind, 6)];
        let read = readable(&groups, &values).expect("a covariance");
        assert_eq!(read.channels, channels);
        let power: Vec<f64> = read.values.iter().step_by(2).copied().collect();
        let pattern: Vec<f64> = read.values.iter().skip(1).step_by(2).copied().collect();
        assert!(power[1] > power[0] && (power[0] - power[2]).abs() < 1e-12);
        assert!((pattern[0] - pattern[2]).abs() < 1e-9 && pattern[1].abs() < 1e-9);
        assert!(pattern[0] > 0.0);
        let pictures = squares(&groups, &values);
        assert_eq!(pictures[0].names, channels);
        assert_eq!(pictures[0].matrix, covariance);
        // A and C hold 1 + 0.81 each, B 1.44 of 5.06 in all.
        let shares = channel_shares(&groups, &values);
        let found: Vec<&str> = shares.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, ["A", "C", "B"]);
        assert!((shares[2].1 - 1.44 / 5.06).abs() < 1e-12);
    }

    #[test]
    fn of_many_bands_the_mean_is_drawn_and_the_power_of_each() {
        let channels: Vec<String> = ["A", "B"].map(String::from).to_vec();
        let kind = GroupKind::Covariance {
            channels,
            recentred: true,
        };
        let groups = vec![group(kind, 3); 4];
        // ln powers of A and B: 4 and 0 in the first band, 0 and 0 in the others.
        let mut values = vec![0.0; 12];
        values[0] = 4.0;
        let read = readable(&groups, &values).expect("covariances");
        assert_eq!(read.maps[0], "mean of 4 bands: power");
        assert_eq!((read.values[0], read.values[2]), (0.5, -0.5));
        let powers = band_powers(&groups, &values).expect("many bands");
        assert_eq!(powers.maps.len(), 4);
        assert_eq!(powers.values, [2.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0]);
        assert_eq!(band_powers(&groups[..3], &values[..9]), None);
    }

    #[test]
    fn a_delay_covariance_is_read_as_its_spectrum() {
        // A cosine of an eighth of the sampling rate at delays of one sample.
        let n = 16;
        let covariance = Matrix::from_fn(n, n, |i, j| {
            let lag = i.abs_diff(j) as f64;
            (TAU * lag / 8.0).cos() + if i == j { 0.01 } else { 0.0 }
        });
        let mut eigen = SymmetricEigen::default();
        eigen.decompose(covariance.view()).expect("finite");
        let mut logarithm = Matrix::default();
        eigen.function(|value| value.max(1e-9).ln(), &mut logarithm);
        let mut values = Vec::new();
        push_triangle(&logarithm, &mut values);
        let kind = GroupKind::DelayCovariance {
            n_delays: n,
            step_s: 0.01,
        };
        let groups = [group(kind, values.len())];
        let read = readable(&groups, &values).expect("a spectrum");
        let peak = (0..N_LINES)
            .max_by(|a, b| read.values[*a].total_cmp(&read.values[*b]))
            .expect("lines");
        // Line 63 is half the rate of the delays, so an eighth is about line 16.
        assert!((14..=18).contains(&peak), "{peak}");
        assert_eq!(readable(&[group(GroupKind::Values, 2)], &[1.0, 2.0]), None);
    }
}
