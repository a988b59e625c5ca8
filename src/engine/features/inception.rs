//! The moment a fault begins: the first lasting change of a signal against its previous cycle.

use super::resample::resample;

/// Share of the threshold down to which the start of a change is followed back.
const ONSET_SHARE: f64 = 1.0 / 3.0;

/// The changes of two phases pass through zero together, for less than this part of a cycle;
const GAPS_PER_CYCLE: usize = 24;

/// what lies before such a gap belongs to the start if it stands out by this factor more.
const BEYOND_GAP: f64 = 1.5;

/// Changes smaller than this share of the largest one of the record are not the fault (a swing of the load before it, say).
const SHARE_OF_LARGEST: f64 = 0.2;

/// A change of any size must exceed this multiple of the noise.
const ABOVE_NOISE: f64 = 4.0;

/// Share of the largest current or voltage that counts as its normal size where the first cycle is nearly empty.
const SMALLEST_SHARE: f64 = 0.05;

/// First sample at which one of the signals differs from its value a cycle before by more than `threshold` times the
/// normal amplitude of its group (and by a fifth of the largest difference in the record), and continues to differ for
/// half of the following quarter cycle.
///
/// `groups` holds signals of one quantity each (three voltages, three currents); `cycle` is the length of a cycle in
/// samples and may be a fraction. Missing values never count as a change.
pub fn first_change(groups: &[&[Vec<f64>]], cycle: f64, threshold: f64) -> Option<usize> {
    first_change_beyond(groups, cycle, threshold, Beyond::ShareOfLargest)
}

/// The same for a change of any size that stands out from the noise.
pub(crate) fn first_visible_change(
    groups: &[&[Vec<f64>]],
    cycle: f64,
    threshold: f64,
) -> Option<usize> {
    first_change_beyond(groups, cycle, threshold, Beyond::Noise)
}

/// What a change must exceed beside the threshold.
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    /// A share of the largest change in the record.
    ShareOfLargest,
    /// What the calmer half of the second cycle of its group differs from the first by.
    Noise,
}

fn first_change_beyond(
    groups: &[&[Vec<f64>]],
    cycle: f64,
    threshold: f64,
    beyond: Beyond,
) -> Option<usize> {
    let lag = cycle.ceil() as usize;
    let n_samples = groups
        .iter()
        .flat_map(|group| group.iter())
        .map(Vec::len)
        .min()?;
    let n_compared = n_samples.checked_sub(lag)?;
    let mut change = vec![0.0f64; n_compared];
    for group in groups {
        let mut normal = normal_amplitude(group, lag);
        if normal <= 0.0 {
            continue;
        }
        let mut differences = vec![0.0f64; n_compared];
        for signal in *group {
            let before = resample(signal, lag as f64 - cycle, 1.0, n_compared)?;
            for ((size, now), before) in differences.iter_mut().zip(&signal[lag..]).zip(before) {
                // `max` ignores NaN.
                *size = size.max((now - before).abs());
            }
        }
        if beyond == Beyond::Noise {
            let halves = differences[..n_compared.min(lag)].chunks((lag / 2).max(1));
            let sizes = halves.map(|half| half.iter().copied().fold(0.0, f64::max));
            // A fault may begin within the second cycle.
            let noise = sizes.take(2).fold(f64::INFINITY, f64::min);
            normal = normal.max(ABOVE_NOISE * noise / threshold);
        }
        for (size, difference) in change.iter_mut().zip(differences) {
            *size = size.max(difference / normal);
        }
    }
    let largest = change.iter().copied().fold(0.0, f64::max);
    let visible = threshold * ONSET_SHARE;
    let threshold = match beyond {
        Beyond::ShareOfLargest => threshold.max(SHARE_OF_LARGEST * largest),
        Beyond::Noise => threshold,
    };
    let quarter = (lag / 4).max(2);
    let lasts = |at: usize| {
        let after = &change[at..n_compared.min(at + quarter)];
        let n_above = after.iter().filter(|size| **size > threshold).count();
        2 * n_above >= after.len()
    };
    let found = (0..n_compared).find(|&at| change[at] > threshold && lasts(at))?;
    // A fault that begins near a zero of its wave grows for a while before it is large: follow it back as far as it
    // stands out from the unrest of the cycle before, half a cycle at most.
    let earliest = found.saturating_sub((2 * (lag / 4)).max(2));
    let calm = &change[earliest.saturating_sub(lag)..earliest];
    let onset_level = calm.iter().copied().fold(visible, f64::max);
    let gap = lag / GAPS_PER_CYCLE + 1;
    let mut onset = found;
    for at in (earliest..found).rev() {
        let level = if at + 1 == onset { 1.0 } else { BEYOND_GAP } * onset_level;
        if change[at] > level {
            onset = at;
        } else if onset - at > gap {
            break;
        }
    }
    Some(onset + lag)
}

/// Mean amplitude of the first cycle of a group, but no less than a share of the largest value of the record.
fn normal_amplitude(group: &[Vec<f64>], cycle: usize) -> f64 {
    let finite =
        |values: &[f64]| -> Vec<f64> { values.iter().copied().filter(|v| v.is_finite()).collect() };
    let amplitudes = group.iter().map(|signal| {
        let first = finite(&signal[..signal.len().min(cycle)]);
        let power = first.iter().map(|v| v * v).sum::<f64>() / first.len().max(1) as f64;
        (2.0 * power).sqrt()
    });
    let mean = amplitudes.sum::<f64>() / group.len().max(1) as f64;
    let largest = group.iter().flatten().filter(|v| v.is_finite());
    let largest = largest.fold(0.0f64, |largest, v| largest.max(v.abs()));
    mean.max(SMALLEST_SHARE * largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn three_phases(amplitude: impl Fn(usize) -> f64, cycle: f64, length: usize) -> Vec<Vec<f64>> {
        let wave = |phase: usize| {
            let angle = 2.0 * PI * phase as f64 / 3.0;
            (0..length)
                .map(|t| amplitude(t) * (2.0 * PI * t as f64 / cycle - angle).cos())
                .collect()
        };
        (0..3).map(wave).collect()
    }

    #[test]
    fn a_jump_of_the_current_is_found_at_its_sample() {
        for cycle in [200.0, 33.3, 16.0] {
            let voltages = three_phases(|_| 100.0, cycle, 1000);
            let mut currents = three_phases(|_| 1.0, cycle, 1000);
            currents[1].iter_mut().skip(617).for_each(|i| *i += 8.0);
            let found = first_change(&[&voltages, &currents], cycle, 0.1);
            let found = found.expect("the jump is large");
            assert!((617usize..=618).contains(&found), "cycle {cycle}: {found}");
        }
    }

    #[test]
    fn the_start_is_followed_back_through_a_zero_of_the_change() {
        let voltages = three_phases(|_| 100.0, 200.0, 1400);
        let mut currents = three_phases(|_| 1.0, 200.0, 1400);
        let change = |t: usize| {
            let angle = 2.0 * PI * (t - 700) as f64 / 200.0;
            10.0 * ((angle - 0.3).cos() - 0.3f64.cos() * (-angle / 3.0).exp())
        };
        for (sign, current) in [1.0, -1.0].into_iter().zip(&mut currents) {
            let after = current.iter_mut().enumerate().skip(700);
            after.for_each(|(t, value)| *value += sign * change(t));
        }
        let found = first_change(&[&voltages, &currents], 200.0, 0.1).expect("a large fault");
        assert!((700usize..=704).contains(&found), "{found}");
    }

    #[test]
    fn a_steady_record_has_no_inception() {
        let voltages = three_phases(|_| 100.0, 83.7, 2000);
        let currents = three_phases(|t| 1.0 + 1e-5 * t as f64, 83.7, 2000);
        assert_eq!(first_change(&[&voltages, &currents], 83.7, 0.1), None);
    }

    #[test]
    fn a_swing_of_the_load_before_the_fault_is_passed_over() {
        let voltages = three_phases(|_| 100.0, 16.0, 480);
        let load = |t: usize| if t < 40 { 1.0 } else { 1.3 };
        let mut currents = three_phases(load, 16.0, 480);
        let fault = three_phases(|_| 15.0, 16.0, 480);
        for t in 200..480 {
            currents[2][t] += fault[2][t];
        }
        let found = first_change(&[&voltages, &currents], 16.0, 0.1).expect("a large fault");
        assert!((199usize..=202).contains(&found), "{found}");
    }

    #[test]
    fn a_change_of_any_size_stands_out_from_the_noise() {
        let voltages = three_phases(|_| 100.0, 16.0, 480);
        let mut currents = three_phases(|_| 1.0, 16.0, 480);
        for t in 0..480 {
            // A load with a noise of 0.15 that is no change, then a small fault, then a large one.
            currents[0][t] += [0.15, -0.15, 0.0][t % 3];
            currents[1][t] *= match t {
                0..160 => 1.0,
                160..300 => 3.0,
                _ => 50.0,
            };
        }
        let groups: [&[Vec<f64>]; 2] = [&voltages, &currents];
        let large = first_change(&groups, 16.0, 0.1).expect("a large fault");
        assert!((299usize..=302).contains(&large), "{large}");
        let small = first_visible_change(&groups, 16.0, 0.1).expect("a small fault");
        assert!((159usize..=162).contains(&small), "{small}");
    }

    #[test]
    fn noise_before_a_fault_of_few_samples_a_cycle_is_not_followed_back() {
        let voltages = three_phases(|_| 100.0, 4.0, 80);
        let mut currents = three_phases(|t| if t < 41 { 1.0 } else { 30.0 }, 4.0, 80);
        for (t, current) in currents[0].iter_mut().enumerate().take(41) {
            *current += if t > 36 { 0.2 } else { 0.0 };
        }
        let found = first_change(&[&voltages, &currents], 4.0, 0.1).expect("a large fault");
        assert!((39usize..=41).contains(&found), "{found}");
    }

    #[test]
    fn a_single_spike_is_no_fault() {
        let mut voltages = three_phases(|_| 100.0, 100.0, 1000);
        voltages[0][500] += 400.0;
        assert_eq!(first_change(&[&voltages], 100.0, 0.1), None);
    }

    #[test]
    fn missing_values_and_short_records_find_nothing() {
        let nan = vec![vec![f64::NAN; 500]; 3];
        assert_eq!(first_change(&[&nan], 100.0, 0.1), None);
        assert_eq!(first_change(&[&[vec![1.0; 50]]], 100.0, 0.1), None);
        assert_eq!(first_change(&[], 100.0, 0.1), None);
        let infinite = vec![vec![f64::INFINITY; 500]];
        assert_eq!(first_change(&[&infinite], 100.0, 0.1), None);
    }
}
