//! Simulated EEG against what is claimed of it.

use num_complex::Complex64;
use std::f64::consts::TAU;

use super::*;

fn simulator(settings: EegSettings) -> EegSimulator {
    EegSimulator::new(settings).expect("legal settings")
}

fn channel(name: &str) -> usize {
    let index = ELECTRODES.iter().position(|&known| known == name);
    index.expect("an electrode of the system")
}

/// Mean power at each whole frequency 0 … 60 Hz over segments of one second.
fn spectrum(values: &[f64], rate_hz: usize) -> Vec<f64> {
    let segments: Vec<Vec<f64>> = values.chunks_exact(rate_hz).map(segment_spectrum).collect();
    (0..=60)
        .map(|hz| segments.iter().map(|s| s[hz]).sum::<f64>() / segments.len() as f64)
        .collect()
}

/// Power at each whole frequency 0 … 60 Hz of one second, with a Hann window.
fn segment_spectrum(segment: &[f64]) -> Vec<f64> {
    let n = segment.len();
    let turns: Vec<Complex64> = (0..n)
        .map(|k| Complex64::cis(-TAU * k as f64 / n as f64))
        .collect();
    let windowed: Vec<f64> = segment
        .iter()
        .zip(&turns)
        .map(|(value, turn)| value * (0.5 - 0.5 * turn.re))
        .collect();
    (0..=60)
        .map(|hz| {
            let line: Complex64 = windowed
                .iter()
                .enumerate()
                .map(|(k, &value)| value * turns[hz * k % n])
                .sum();
            line.norm_sqr()
        })
        .collect()
}

#[test]
fn alpha_peaks_at_the_subjects_frequency_and_at_the_back_of_the_head() {
    let simulator = simulator(EegSettings::default());
    for index in 0..4 {
        let class = SubjectClass::Control;
        let alpha = simulator.subject(class, index).rhythms[0].clone();
        let recording = simulator.recording(class, index);
        let back = spectrum(&recording.channels_uv[channel("O1")], 250);
        let front = spectrum(&recording.channels_uv[channel("Fp1")], 250);
        let peak_hz = (7..=13)
            .max_by(|&p, &q| back[p].total_cmp(&back[q]))
            .expect("bins");
        let distance_hz = (peak_hz as f64 - alpha.centre_hz).abs();
        assert!(distance_hz < 1.1, "peak {peak_hz} Hz for {alpha:?}");
        assert!(back[peak_hz] > 2.0 * front[peak_hz], "subject {index}");
    }
}

#[test]
fn the_background_falls_with_the_subjects_exponent() {
    let simulator = simulator(EegSettings::default());
    for index in 0..4 {
        let traits = simulator.subject(SubjectClass::Case, index);
        let recording = simulator.recording(SubjectClass::Case, index);
        // Pz is far from eyes and jaw; 3 Hz and 34 Hz are outside the rhythms.
        let power = spectrum(&recording.channels_uv[channel("Pz")], 250);
        let slope = (power[3] / power[34]).ln() / (34.0_f64 / 3.0).ln();
        let error = (slope - traits.exponent).abs();
        assert!(
            error < 0.35,
            "slope {slope} for exponent {}",
            traits.exponent
        );
    }
}

#[test]
fn blinks_are_frontal_and_the_mains_stands_out() {
    let simulator = simulator(EegSettings::default());
    let recording = simulator.recording(SubjectClass::Control, 1);
    let largest = |name: &str| {
        let values = &recording.channels_uv[channel(name)];
        values.iter().fold(0.0_f64, |m, v| m.max(v.abs()))
    };
    assert!(largest("Fp1") > 1.5 * largest("Pz"));
    assert!(
        (50.0..400.0).contains(&largest("Fp1")),
        "{} µV",
        largest("Fp1")
    );
    let mains_uv = simulator.subject(SubjectClass::Control, 1).mains_uv;
    let most = (0..19).max_by(|&p, &q| mains_uv[p].total_cmp(&mains_uv[q]));
    let power = spectrum(&recording.channels_uv[most.expect("a channel")], 250);
    assert!(power[50] > 3.0 * power[46] && power[50] > 3.0 * power[54]);
}

#[test]
fn neighbouring_electrodes_see_more_of_the_same_than_distant_ones() {
    let recording = simulator(EegSettings::default()).recording(SubjectClass::Control, 0);
    let correlation = |p: &str, q: &str| {
        let (x, y) = (
            &recording.channels_uv[channel(p)],
            &recording.channels_uv[channel(q)],
        );
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(s, t)| s * t).sum::<f64>();
        product(x, y) / (product(x, x) * product(y, y)).sqrt()
    };
    assert!(correlation("C3", "Cz") > correlation("C3", "T8") + 0.2);
}

#[test]
fn a_subject_depends_on_seed_class_and_index_alone() {
    let short = simulator(EegSettings {
        subjects_per_class: 2,
        duration_s: 5.0,
        ..EegSettings::default()
    });
    let long = simulator(EegSettings {
        duration_s: 9.0,
        ..EegSettings::default()
    });
    let (one, other) = (
        short.recording(SubjectClass::Case, 1),
        long.recording(SubjectClass::Case, 1),
    );
    for (a, b) in one.channels_uv.iter().zip(&other.channels_uv) {
        // The longest event that the end can cut is 2 s long.
        assert_eq!(a.len(), 1250);
        assert_eq!(a[..], b[..1250], "a longer recording starts alike");
    }
    assert_ne!(one, short.recording(SubjectClass::Case, 0));
    assert_ne!(one, short.recording(SubjectClass::Control, 1));
}

#[test]
fn settings_survive_a_file_and_a_misspelt_one_is_refused() {
    let settings = EegSettings::default();
    let text = ron::to_string(&settings).expect("written");
    assert_eq!(ron::from_str::<EegSettings>(&text), Ok(settings.clone()));
    assert_eq!(ron::from_str::<EegSettings>("(seed: 1)"), Ok(settings));
    let refusal = ron::from_str::<EegSettings>("(sead: 1)").expect_err("misspelt");
    assert!(refusal.to_string().contains("sead"), "{refusal}");
}

#[test]
fn illegal_settings_are_refused_with_name_range_and_value() {
    let settings = EegSettings {
        duration_s: f64::NAN,
        ..EegSettings::default()
    };
    let refusal = EegSimulator::new(settings).expect_err("illegal");
    assert_eq!(
        refusal.to_string(),
        "the simulator's setting duration_s must be 1 to 3600, but is NaN"
    );
    let too_long = EegSettings {
        duration_s: 3600.0,
        rate_hz: 2000.0,
        ..EegSettings::default()
    };
    let texts: Vec<String> = too_long.problems().iter().map(|p| p.to_string()).collect();
    assert_eq!(
        texts,
        ["duration_s × rate_hz must be 1 to 1000000, but is 7200000"]
    );
}

/// Log power of five bands at every electrode, second by second: (features, subject).
fn features(simulator: &EegSimulator) -> Vec<(Vec<f64>, usize)> {
    let bands = [1..4, 4..8, 8..13, 13..30, 30..45];
    let mut samples = Vec::new();
    for (subject, (class, index)) in simulator.subjects().enumerate() {
        let recording = simulator.recording(class, index);
        for second in 0..simulator.settings().duration_s as usize {
            let of_channel = |values: &Vec<f64>| {
                let power = segment_spectrum(&values[second * 250..(second + 1) * 250]);
                bands
                    .clone()
                    .map(|band| power[band].iter().sum::<f64>().ln())
            };
            let row = recording.channels_uv.iter().flat_map(of_channel).collect();
            samples.push((row, subject));
        }
    }
    samples
}

/// Share of samples whose nearest neighbour is of their class, among all other samples and
/// among those of other subjects.
fn nearest_neighbour_scores(simulator: &EegSimulator) -> (f64, f64) {
    let samples = features(simulator);
    let per_class = simulator.settings().subjects_per_class as usize;
    let mut right = (0, 0);
    for (i, (x, subject)) in samples.iter().enumerate() {
        let (mut nearest, mut nearest_other) = ((f64::INFINITY, 0), (f64::INFINITY, 0));
        for (j, (y, owner)) in samples.iter().enumerate() {
            let distance: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
            if i != j && distance < nearest.0 {
                nearest = (distance, *owner);
            }
            if subject != owner && distance < nearest_other.0 {
                nearest_other = (distance, *owner);
            }
        }
        let class = |subject: usize| subject / per_class;
        right.0 += usize::from(class(nearest.1) == class(*subject));
        right.1 += usize::from(class(nearest_other.1) == class(*subject));
    }
    let n = samples.len() as f64;
    (right.0 as f64 / n, right.1 as f64 / n)
}

#[test]
fn new_subjects_score_honestly_lower_than_segments_of_known_ones() {
    let settings = EegSettings {
        duration_s: 30.0,
        ..EegSettings::default()
    };
    let (segments, subjects) = nearest_neighbour_scores(&simulator(settings.clone()));
    println!("effect: known subjects {segments:.3}, new subjects {subjects:.3}");
    // The source that front and back share makes the powers of all electrodes rise and fall together from second to
    // second, more so in cases: a second of band power says less of the person than without it.
    assert!(segments > 0.8, "known subjects {segments}");
    assert!((0.5..0.8).contains(&subjects), "new subjects {subjects}");

    let without_effect = simulator(EegSettings {
        effect: 0.0,
        coupling_effect: 0.0,
        ..settings
    });
    let (segments, subjects) = nearest_neighbour_scores(&without_effect);
    println!("no effect: known subjects {segments:.3}, new subjects {subjects:.3}");
    assert!(segments > 0.85, "leakage alone reads {segments}");
    assert!(
        subjects < 0.62,
        "new subjects {subjects} without any effect"
    );
}
