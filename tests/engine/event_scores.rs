//! Scores of events equal those of the package `szcore-evaluation` (0.0.7) on the same annotations.

use std::path::PathBuf;

use atomscope_engine::evaluation::{EventScore, EventScoring, TimeSpan};
use atomscope_engine::records::Mode;
use atomscope_engine::records::event_list;
use serde_json::Value;

fn spans(list: &Value) -> Vec<TimeSpan> {
    let number = |value: &Value| value.as_f64().expect("a number");
    let span = |event: &Value| TimeSpan {
        start_s: number(&event[0]),
        end_s: number(&event[0]) + number(&event[1]),
    };
    list.as_array().expect("a list").iter().map(span).collect()
}

/// Sensitivity, precision and F1 by sample, the same and false alarms a day by event.
fn assert_scores(score: &EventScore, expected: &[Option<f64>], name: &str) {
    let found = [
        score.by_sample.sensitivity(),
        score.by_sample.precision(),
        score.by_sample.f1(),
        score.by_event.sensitivity(),
        score.by_event.precision(),
        score.by_event.f1(),
        score.false_alarms_per_day(),
    ];
    for (found, expected) in found.iter().zip(expected) {
        let is_equal = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-9 * expected.abs(),
            (found, expected) => found == expected,
        };
        assert!(is_equal, "{name}: {found:?}, not {expected:?} in {score:?}");
    }
}

#[test]
fn sixty_generated_recordings_are_scored_as_the_package_scores_them() {
    let cases: Value = serde_json::from_str(include_str!("../data/event_scores.json"))
        .expect("the stored numbers are JSON");
    let cases = cases.as_array().expect("a list of cases");
    assert_eq!(cases.len(), 60);
    for (number, case) in cases.iter().enumerate() {
        let duration_s = case["duration"].as_f64().expect("a number");
        let score = EventScoring::default()
            .score(
                &spans(&case["reference"]),
                &spans(&case["hypothesis"]),
                duration_s,
            )
            .expect("the convention's settings");
        let stored = case["scores"].as_array().expect("eight scores");
        let mut expected: Vec<Option<f64>> = stored.iter().map(Value::as_f64).collect();
        // False samples a day are not a score of ours.
        expected.remove(3);
        assert_scores(&score, &expected, &format!("case {number}"));
    }
}

#[test]
fn real_cues_are_scored_as_the_package_scores_them() {
    let Some(folder) = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from) else {
        println!("skipped: ATOMSCOPE_DATA does not name a folder of real files");
        return;
    };
    // By sample; by event all are found without a false alarm.
    let expected = [
        (
            "subject01_session1.edf",
            [0.25, 0.227_272_727_272_727_27, 0.238_095_238_095_238_08],
        ),
        (
            "subject02_session1.edf",
            [0.25, 0.169_491_525_423_728_8, 0.202_020_202_020_202_02],
        ),
        (
            "subject03_session1.edf",
            [0.2, 0.190_476_190_476_190_47, 0.195_121_951_219_512_2],
        ),
        (
            "subject07_session2.edf",
            [0.25, 0.166_666_666_666_666_66, 0.2],
        ),
        (
            "subject08_session1.edf",
            [0.275, 0.2, 0.231_578_947_368_421_05],
        ),
    ];
    for (name, [sensitivity, precision, f1]) in expected {
        let path = folder.join("ssvep").join(name);
        let list = event_list::open(&path, Mode::Tolerant).expect("readable");
        let cues = list.annotations.iter().filter(|cue| cue.text == "13 Hz");
        let cue = |onset_s: f64, duration_s: f64| TimeSpan {
            start_s: onset_s,
            end_s: onset_s + duration_s,
        };
        let reference: Vec<TimeSpan> = cues
            .map(|event| cue(event.onset_s, event.duration_s.expect("cues last 5 s")))
            .collect();
        assert_eq!(reference.len(), 8);
        let hypothesis: Vec<TimeSpan> = reference
            .iter()
            .enumerate()
            .map(|(k, own)| {
                let length_s = 2.0 * (own.end_s - own.start_s);
                cue(own.start_s + 3.5 + 40.0 * (k % 3) as f64, length_s)
            })
            .collect();
        let duration_s = list.duration_s.expect("a recording");
        let score = EventScoring::default()
            .score(&reference, &hypothesis, duration_s)
            .expect("the convention's settings");
        let [one, none] = [Some(1.0), Some(0.0)];
        let all = [
            Some(sensitivity),
            Some(precision),
            Some(f1),
            one,
            one,
            one,
            none,
        ];
        assert_scores(&score, &all, name);
    }
}
