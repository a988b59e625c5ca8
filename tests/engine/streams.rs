//! Streams: detectors of change against `river`.

use atomscope_engine::evaluation::{
    Adwin, AdwinSettings, Direction, PageHinkley, PageHinkleySettings,
};

/// The stream in the documentation of `river`: 1000 draws of 0 and 1, then 1000 of 4 to 7.
const RIVER_STREAM: &str = include_str!("../data/river_drift_stream.txt");

/// Streams that any language can draw: 64-bit xorshift and a change of each kind.
fn drawn(kind: usize, n: usize) -> Vec<f64> {
    let mut state = 88_172_645_463_325_252_u64 + kind as u64;
    (0..n)
        .map(|t| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let u = (state >> 11) as f64 / (1u64 << 53) as f64;
            match kind {
                0 => f64::from(u8::from(u < if t < n / 3 { 0.1 } else { 0.35 })),
                1 => u + if (t / 700) % 2 == 1 { 0.4 } else { 0.0 },
                2 => u + t as f64 / 1000.0,
                _ => u * u - if t >= n / 2 { 3.0 * u } else { 0.0 },
            }
        })
        .collect()
}

fn alarms<T>(values: &[f64], mut update: impl FnMut(f64) -> Option<T>) -> Vec<usize> {
    let numbered = values.iter().enumerate();
    numbered
        .filter_map(|(t, value)| update(*value).map(|_| t))
        .collect()
}

fn adwin(values: &[f64], settings: AdwinSettings) -> Vec<usize> {
    let mut detector = Adwin::new(settings);
    alarms(values, |value| detector.update(value))
}

fn page_hinkley(values: &[f64], settings: PageHinkleySettings) -> Vec<usize> {
    let mut detector = PageHinkley::new(settings);
    alarms(values, |value| detector.update(value))
}

/// Indices computed once with river 0.26.1.
#[test]
fn detectors_alarm_at_the_same_index_as_river() {
    let documented: Vec<f64> = RIVER_STREAM
        .trim()
        .bytes()
        .map(|digit| f64::from(digit - b'0'))
        .collect();
    assert_eq!(documented.len(), 2000);
    assert_eq!(adwin(&documented, AdwinSettings::default()), [1023]);
    let usual = PageHinkleySettings::default();
    assert_eq!(page_hinkley(&documented, usual), [1006]);

    let adwin_alarms: [&[usize]; 4] = [
        &[2175],
        &[735, 1439, 2175, 2847, 3551, 4255, 4959, 5663],
        &[
            351, 735, 1183, 1567, 2015, 2431, 2783, 3103, 3423, 3775, 4159, 4511, 4895, 5247, 5631,
            5951,
        ],
        &[3039],
    ];
    let eager_alarms: [&[usize]; 4] = [
        &[2101],
        &[720, 1418, 2126, 2829, 3522, 4225, 4926, 5627],
        &[
            237, 477, 788, 1168, 1501, 1777, 2085, 2420, 2713, 3014, 3338, 3602, 3895, 4197, 4475,
            4774, 5066, 5300, 5581, 5875,
        ],
        &[3007],
    ];
    let page_alarms: [&[usize]; 4] = [
        &[2251],
        &[812, 1509, 2239, 2942, 3638, 4330, 5040, 5725],
        &[
            425, 867, 1376, 1788, 2247, 2697, 3178, 3637, 4063, 4516, 4977, 5419, 5881,
        ],
        &[3033],
    ];
    let downward_alarms: [&[usize]; 4] = [
        &[
            238, 739, 851, 1545, 1720, 2440, 2838, 2997, 3117, 3328, 3413, 3573, 3652, 3704, 3788,
            3845, 3897, 4112, 4629, 5080, 5378, 5558, 5802, 5848, 5922,
        ],
        &[543, 1410, 2829, 3132, 3407, 4214, 4582, 4849, 5613],
        &[],
        &[
            334, 672, 1095, 1181, 3003, 3143, 3183, 3251, 3439, 3624, 3840, 3881, 3917, 3957, 4088,
            4375, 4444, 4529, 4587, 4620, 4833, 5068, 5098, 5128, 5180, 5256, 5309, 5389, 5449,
            5759,
        ],
    ];
    let eager = AdwinSettings {
        delta: 0.05,
        clock: 1,
        ..AdwinSettings::default()
    };
    let downward = PageHinkleySettings {
        threshold: 5.0,
        direction: Direction::Down,
        ..usual
    };
    for kind in 0..4 {
        let values = drawn(kind, 6000);
        assert_eq!(
            adwin(&values, AdwinSettings::default()),
            adwin_alarms[kind],
            "ADWIN, {kind}"
        );
        assert_eq!(adwin(&values, eager), eager_alarms[kind], "eager, {kind}");
        assert_eq!(
            page_hinkley(&values, usual),
            page_alarms[kind],
            "Page–Hinkley, {kind}"
        );
        assert_eq!(
            page_hinkley(&values, downward),
            downward_alarms[kind],
            "downward, {kind}"
        );
    }
}
