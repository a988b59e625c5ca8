//! The algebra of montages.

use super::*;

const NAMES: [&str; 20] = [
    "EEG Fp1-REF",
    "EEG Fp2-REF",
    "F7",
    "F3",
    "Fz",
    "F4",
    "F8",
    "T3",
    "C3",
    "Cz",
    "C4",
    "T4",
    "T5",
    "P3",
    "Pz",
    "P4",
    "T6",
    "O1",
    "O2",
    "ECG",
];

fn channels(bad: &[&str]) -> Vec<MontageChannel<'static>> {
    let channel = |name: &'static str| MontageChannel {
        name,
        is_bad: bad.contains(&name),
        is_common: true,
        own_position: None,
    };
    NAMES.into_iter().map(channel).collect()
}

/// One value per channel, none like another.
fn values() -> Vec<Vec<f64>> {
    let value = |k: usize| ((k * k * 7 + 3 * k) % 41) as f64 - 20.0;
    (0..NAMES.len()).map(|k| vec![value(k)]).collect()
}

fn traces(montage: &Montage, bad: &[&str]) -> Vec<Derivation> {
    montage.derive(&channels(bad)).expect("it can be derived")
}

fn value(trace: &Derivation) -> f64 {
    trace.values(&values())[0]
}

#[test]
fn as_recorded_is_the_identity() {
    let found: Vec<f64> = traces(&Montage::AsRecorded, &[])
        .iter()
        .map(value)
        .collect();
    assert_eq!(found, values().concat());
}

#[test]
fn the_average_reference_takes_off_the_mean_of_the_good_electrodes() {
    let found = traces(&Montage::AverageReference, &["Cz"]);
    assert_eq!(found.len(), 20);
    let raw = values().concat();
    let cz = 9;
    let mean: f64 = (0..19).filter(|k| *k != cz).map(|k| raw[k]).sum::<f64>() / 18.0;
    for k in 0..19 {
        assert!((value(&found[k]) - (raw[k] - mean)).abs() < 1e-12, "{k}");
        assert_eq!(found[k].is_bad, k == cz);
    }
    let of_good: f64 = (0..19).filter(|k| *k != cz).map(|k| value(&found[k])).sum();
    assert!(of_good.abs() < 1e-9, "good electrodes sum to zero");
    assert_eq!(
        value(&found[19]),
        raw[19],
        "other channels stay as recorded"
    );
}

#[test]
fn bipolar_chains_telescope() {
    let found = traces(&Montage::LongitudinalBipolar, &[]);
    let names: Vec<&str> = found.iter().map(|trace| trace.name.as_str()).collect();
    assert_eq!(names[..5], ["Fp1-F7", "F7-T3", "T3-T5", "T5-O1", "Fp1-F3"]);
    assert_eq!(names.len(), 19, "18 pairs and the ECG: {names:?}");
    let raw = values().concat();
    let left: f64 = found[..4].iter().map(value).sum();
    assert_eq!(left, raw[0] - raw[17], "Fp1 to O1 over the temple");
    let inner: f64 = found[4..8].iter().map(value).sum();
    assert_eq!(inner, left, "and over the top");
    let bad = traces(&Montage::LongitudinalBipolar, &["F7"]);
    let n_bad = bad.iter().filter(|trace| trace.is_bad).count();
    assert_eq!(n_bad, 2, "both pairs with the bad electrode");
}

#[test]
fn the_laplacian_forgets_the_reference_and_uses_four_good_neighbours() {
    let found = traces(&Montage::Laplacian, &["F3"]);
    for trace in &found[..19] {
        let sum: f64 = trace.terms.iter().map(|(_, weight)| weight).sum();
        assert!(
            sum.abs() < 1e-12,
            "{}: a constant gives nothing",
            trace.name
        );
        assert_eq!(trace.terms.len(), 5, "{}", trace.name);
        let uses_bad = trace.terms.iter().any(|(place, _)| NAMES[*place] == "F3");
        assert_eq!(uses_bad, trace.name == "F3");
    }
    let cz = &found[9];
    let around: Vec<&str> = cz.terms.iter().map(|(place, _)| NAMES[*place]).collect();
    assert_eq!(around, ["Fz", "C3", "Cz", "C4", "Pz"]);
    let raw = values().concat();
    let expected = raw[9] - (raw[4] + raw[8] + raw[10] + raw[14]) / 4.0;
    assert!((value(cz) - expected).abs() < 1e-12);
}

#[test]
fn own_lines_name_channels_electrodes_and_factors() {
    let text = "Fp1 - F3\nleft: T3 - 0.5 C3 - 0.5*P3\n\nEEG Fp1-REF + ecg\nT7-Cz";
    let found = traces(&Montage::Own(text.to_owned()), &["Cz"]);
    let raw = values().concat();
    let expected = [
        raw[0] - raw[3],
        raw[7] - 0.5 * raw[8] - 0.5 * raw[13],
        raw[0] + raw[19],
        raw[7] - raw[9],
    ];
    let values: Vec<f64> = found.iter().map(value).collect();
    assert_eq!(values, expected);
    assert_eq!(found[1].name, "left");
    assert!(found[3].is_bad && !found[0].is_bad);
}

#[test]
fn own_lines_that_cannot_be_read_say_why() {
    let problem = |text: &str| {
        let montage = Montage::Own(text.to_owned());
        montage
            .derive(&channels(&[]))
            .expect_err("it cannot be read")
            .to_string()
    };
    let text = problem("C3 - Cz\nC3 - Q7");
    assert!(
        text.starts_with("line 2: there is no channel \"Q7\"; the recording has EEG Fp1-REF"),
        "{text}"
    );
    assert_eq!(problem("C3 Cz"), "line 1: \"Cz\" must begin with + or -");
    assert!(problem("left:").contains("names no channel"));
}

#[test]
fn channels_of_another_rate_are_left_as_they_are() {
    let mut few = channels(&[]);
    few[3].is_common = false;
    let found = Montage::AverageReference.derive(&few).expect("derived");
    let f3 = found
        .iter()
        .find(|trace| trace.name == "F3")
        .expect("there");
    assert_eq!(f3.terms, [(3, 1.0)]);
    let uses_it = |trace: &&Derivation| trace.terms.iter().any(|(place, _)| *place == 3);
    assert_eq!(found.iter().filter(uses_it).count(), 1);
}

#[test]
fn references_of_other_montages_are_taken_off() {
    let raw = values().concat();
    let found = traces(&Montage::Vertex, &[]);
    assert_eq!(found.len(), 19, "Cz against itself is left out");
    assert_eq!(value(&found[0]), raw[0] - raw[9]);
    let found = traces(&Montage::TransverseBipolar, &[]);
    let names: Vec<&str> = found.iter().map(|trace| trace.name.as_str()).collect();
    assert_eq!(names[..4], ["Fp1-Fp2", "F7-F3", "F3-Fz", "Fz-F4"]);
    assert_eq!(value(&found[1]), raw[2] - raw[3]);
    let missing = Montage::LinkedEars.derive(&channels(&[]));
    let text = missing.expect_err("there are no ears").to_string();
    assert!(
        text.starts_with("there is no A1 and A2; the recording has"),
        "{text}"
    );
    let eared = ["C3", "C4", "A1", "A2"].map(|name| MontageChannel {
        name,
        is_bad: false,
        is_common: true,
        own_position: None,
    });
    let found = Montage::LinkedEars.derive(&eared).expect("ears");
    assert_eq!(
        found[0].values(&[vec![9.0], vec![1.0], vec![2.0], vec![4.0]]),
        [6.0]
    );
    // Ears take no part in the average.
    let found = Montage::AverageReference
        .derive(&eared)
        .expect("electrodes");
    assert_eq!(
        found[0].values(&[vec![9.0], vec![1.0], vec![2.0], vec![4.0]]),
        [4.0]
    );
}

#[test]
fn a_grid_has_no_montage_of_the_scalp() {
    let grid = ["A1", "A2", "A3", "A4", "B1", "B2", "B3", "C3", "C4"].map(|name| MontageChannel {
        name,
        is_bad: false,
        is_common: true,
        own_position: None,
    });
    let found = Montage::AverageReference
        .derive(&grid)
        .expect("as recorded");
    assert!(found.iter().all(|trace| trace.terms.len() == 1));
}

#[test]
fn electrodes_that_the_user_placed_count_as_those_of_the_system() {
    // Contacts whose names tell nothing, on a line; one channel has no place.
    let places = [Some((-0.2, 0.0)), Some((0.0, 0.0)), Some((0.1, 0.0)), None];
    let channels: Vec<MontageChannel<'_>> = ["G1", "G2", "G3", "Photic"]
        .into_iter()
        .zip(places)
        .map(|(name, own_position)| MontageChannel {
            name,
            is_bad: false,
            is_common: true,
            own_position,
        })
        .collect();
    let mean = Montage::AverageReference
        .derive(&channels)
        .expect("derived");
    let third = 1.0 / 3.0;
    assert_eq!(mean[0].terms, [(0, 1.0 - third), (1, -third), (2, -third)]);
    assert_eq!(mean[3].terms, [(3, 1.0)]);
    let laplacian = Montage::Laplacian.derive(&channels).expect("derived");
    assert_eq!(laplacian[1].terms, [(0, -0.5), (1, 1.0), (2, -0.5)]);
}
