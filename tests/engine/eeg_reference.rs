//! The paper's EEG features against reference numbers, where the shared data folder is present.

use std::path::PathBuf;

use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::features::eeg::{EegExtractor, EegRecipe};
use atomscope_engine::features::filter::{FilterDesign, Passband, Prototype};
use atomscope_engine::records::{ReadOptions, open_with};
use ndarray::Array2;

use super::reference::Archive;

const RATE_HZ: f64 = 250.0;

fn array(file: &Archive, name: &str) -> Array2<f64> {
    file.array(name).into_dimensionality().expect("a matrix")
}

fn closest(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1.0)
}

#[test]
fn filters_equal_the_reference_sections() {
    let Some(file) = Archive::large("eeg_features.npz") else {
        return;
    };
    let band = |low_hz, high_hz| FilterDesign {
        prototype: Prototype::Butterworth,
        passband: Passband::Band { low_hz, high_hz },
        order: 10,
    };
    let delta = FilterDesign {
        prototype: Prototype::Chebyshev1 { ripple_db: 1.0 },
        passband: Passband::Low { edge_hz: 4.5 },
        order: 10,
    };
    let designs = [
        ("sos_delta", delta),
        ("sos_theta", band(3.5, 8.5)),
        ("sos_alpha", band(7.5, 13.5)),
        ("sos_beta", band(12.5, 31.5)),
    ];
    for (name, design) in designs {
        let expected: Array2<f64> = array(&file, name);
        let filter = design.at_rate(RATE_HZ).expect("a legal design");
        assert_eq!(filter.sections().len(), expected.nrows());
        for (section, row) in filter.sections().iter().zip(expected.rows()) {
            let found = [
                section.b[0],
                section.b[1],
                section.b[2],
                1.0,
                section.a[0],
                section.a[1],
            ];
            for (found, expected) in found.iter().zip(row) {
                // The gains are tiny: their error counts relative to themselves.
                let scale = if *expected == 0.0 {
                    1.0
                } else {
                    expected.abs()
                };
                assert!(
                    (found - expected).abs() <= 1e-12 * scale,
                    "{name}: {found} instead of {expected}"
                );
            }
        }
    }
}

#[test]
fn filtered_frame_and_its_features_equal_the_reference() {
    let Some(file) = Archive::large("eeg_features.npz") else {
        return;
    };
    let raw: Array2<f64> = array(&file, "raw_h01_frame1");
    let features: Array2<f64> = array(&file, "h01");
    let widths = file.numbers("bandwidth");
    let recipe = EegRecipe::as_published();
    let band_widths: Vec<f64> = recipe.bands.iter().map(|b| b.high_hz - b.low_hz).collect();
    assert_eq!(band_widths, widths);

    let mut extractor = EegExtractor::new(&recipe, RATE_HZ).expect("a legal recipe");
    let channels: Vec<Vec<f64>> = raw.rows().into_iter().map(|row| row.to_vec()).collect();
    let stretch: Vec<&[f64]> = channels.iter().map(Vec::as_slice).collect();
    let sample = extractor
        .sample(&stretch, 0.0, &[], &mut Vec::new())
        .expect("nothing is missing");
    assert_eq!(sample.values.len(), 76);
    for (found, expected) in sample.values.iter().zip(features.column(0)) {
        assert!(
            closest(*found, *expected, 1e-9),
            "{found} instead of {expected}"
        );
    }
}

#[test]
fn whole_recordings_give_the_reference_features() {
    let Some(file) = Archive::large("eeg_features.npz") else {
        return;
    };
    let data = PathBuf::from(std::env::var_os("ATOMSCOPE_DATA").expect("it was set"));
    let recipe = FeatureRecipe::Eeg(EegRecipe::as_published());
    let options = ReadOptions {
        rate_hz: Some(RATE_HZ),
        ..ReadOptions::default()
    };
    for subject in ["h01", "s01"] {
        let expected: Array2<f64> = array(&file, subject);
        let path = data.join(format!("schizophrenia-eeg/{subject}.mat"));
        let record = open_with(&path, &options).expect("a MAT file");
        let found = recipe
            .extract(&record, &mut |_| true)
            .expect("19 channels at one rate");
        assert_eq!(found.samples.len(), expected.ncols());
        for (sample, column) in found.samples.iter().zip(expected.columns()) {
            assert_eq!(sample.values.len(), column.len());
            for (found, expected) in sample.values.iter().zip(column) {
                assert!(
                    closest(*found, *expected, 1e-9),
                    "{found} instead of {expected}"
                );
            }
        }
    }
}
