//! Trends against values that SciPy computes for the same signals.
//!
//! SciPy 1.17: `welch` (Hann, 2 s, half overlapping) for powers, asymmetry and spectral array; `butter(2, 0.5, 'high')`
//! and a run-length count for suppression; `firwin2` of the amplitude response 0 below 2 Hz, (f/10 Hz)^0.6 to 15 Hz, 0
//! above (401 taps, Hamming), `abs` and a moving mean of 0.5 s for amplitude-integrated EEG.

use std::f64::consts::TAU;

use atomscope_engine::features::trends::{Side, TrendChannels, Trends};
use atomscope_engine::records::{Channel, Format, Kind, Record, Unit};

const RATE_HZ: f64 = 200.0;
const N_SAMPLES: usize = 24_000;

/// Four channels of alpha, slow waves, beta, noise and drift; in the second minute suppressed for 3.5 of every 8 s.
fn recording() -> Record {
    let shapes = [
        ("C3", 12.0, 9.5, 4.0),
        ("C4", 18.0, 10.3, 6.0),
        ("P3", 25.0, 3.1, 5.0),
        ("P4", 9.0, 2.2, 3.0),
    ];
    let channels = shapes.into_iter().enumerate();
    let channels = channels.map(|(number, (name, height, hz, beta))| {
        let mut state = number as u32 + 1;
        let mut noise = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24) - 0.5
        };
        let mut value = |k: usize| {
            let time_s = k as f64 / RATE_HZ;
            let sine = |height: f64, hz: f64| height * (TAU * hz * time_s).sin();
            let whole = sine(height, hz)
                + sine(beta, 17.0 + 2.0 * number as f64)
                + 30.0 * noise()
                + sine(40.0, 0.05);
            match time_s >= 60.0 && time_s % 8.0 >= 4.5 {
                true => 0.04 * whole,
                false => whole,
            }
        };
        let channel = Channel::analog(name, Unit::parse("uV"), Some(RATE_HZ), 0);
        (channel, (0..N_SAMPLES).map(&mut value).collect())
    });
    let channels = channels.collect();
    Record::in_memory(Format::Simulated, Kind::Recording, "made", channels)
}

#[track_caller]
fn near(found: f32, expected: f64, share: f64, what: &str) {
    let is_near = (f64::from(found) - expected).abs() <= share * expected.abs().max(1e-3);
    assert!(is_near, "{what}: {found}, not {expected}");
}

/// What SciPy finds in one column.
struct Expected {
    column: usize,
    powers: [f64; 4],
    asymmetry: [f64; 4],
    suppression: f64,
    aeeg: [(f64, f64); 2],
    /// At lines 0, 5, 18, 40 and 63.
    spectra: [[f64; 5]; 2],
}

const EXPECTED: [Expected; 2] = [
    Expected {
        column: 1,
        powers: [97.12168, 3.034974, 61.77326, 23.385],
        asymmetry: [-0.6845375, -0.1329608, 0.3485575, -0.02566682],
        suppression: 0.0,
        aeeg: [(8.279831, 12.92032), (8.765305, 14.98785)],
        spectra: [
            [12.82872, 196.9408, 49.33712, 2.676088, 0.5695347],
            [13.75222, 1.168384, 2.478613, 0.8360564, 0.8991431],
        ],
    },
    Expected {
        column: 5,
        powers: [75.94993, 3.344391, 29.87566, 12.21811],
        asymmetry: [-0.4462889, -0.1921691, 0.3281333, 0.05954541],
        suppression: 0.1808958,
        aeeg: [(0.335489, 12.89724), (0.4037651, 14.08736)],
        spectra: [
            [42.70247, 91.49061, 22.33617, 1.404147, 0.3811352],
            [46.05864, 1.638833, 2.031784, 0.4605693, 0.3336337],
        ],
    },
];

#[test]
fn trends_are_what_scipy_computes() {
    let found = Trends::build(&recording(), &TrendChannels::default(), |_, _| true);
    let found = found.expect("an EEG");
    assert_eq!(found.n_columns, 8);
    let pairs = found.aeeg_from.each_ref().map(Option::as_deref);
    assert_eq!(pairs, [Some("C3-P3"), Some("C4-P4")]);
    for expected in EXPECTED {
        let column = expected.column;
        for band in 0..4 {
            let power = found.band_powers[band][column];
            near(power, expected.powers[band], 1e-5, "band power");
            let asymmetry = found.asymmetry[band][column];
            near(asymmetry, expected.asymmetry[band], 1e-4, "asymmetry");
        }
        for (side, lines) in [Side::Left, Side::Right].into_iter().zip(expected.spectra) {
            for (line, density) in [0, 5, 18, 40, 63].into_iter().zip(lines) {
                near(found.spectrum(side, column)[line], density, 1e-5, "density");
            }
        }
        let suppression = found.suppression[column];
        near(suppression, expected.suppression, 1e-4, "suppression");
        for (side, (low, high)) in expected.aeeg.into_iter().enumerate() {
            let (found_low, found_high) = found.aeeg[side][column];
            near(found_low, low, 0.01, "least amplitude");
            near(found_high, high, 0.01, "largest amplitude");
        }
    }
}
