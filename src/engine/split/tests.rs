//! Claims about splits and the audit, on sets made up for the purpose.

use std::time::Instant;

use proptest::prelude::*;

use super::audit::{Audit, AuditVerdict, FindingKind, Severity, audit};
use super::*;
use crate::dataset::{Dataset, DatasetParts, FeatureGroup, GroupKind, Origin, Place};

/// A sample of a made-up set: class, group, file, start of a window of 1 s, value.
#[derive(Debug, Clone)]
struct MadeSample {
    class: usize,
    group: usize,
    source: usize,
    start_s: f64,
    value: f64,
}

fn dataset(samples: &[MadeSample], with_groups: bool) -> Dataset {
    Dataset::new(made_parts(samples, with_groups)).expect("the parts fit")
}

fn made_parts(samples: &[MadeSample], with_groups: bool) -> DatasetParts {
    let names = |what: &str, last: Option<usize>| -> Vec<String> {
        (0..=last.unwrap_or(0))
            .map(|n| format!("{what}{n}"))
            .collect()
    };
    let groups = samples.iter().map(|s| s.group);
    DatasetParts {
        values: samples.iter().flat_map(|s| [s.value, 1.0]).collect(),
        feature_names: vec!["x".into(), "one".into()],
        class_names: names("class", samples.iter().map(|s| s.class).max()),
        classes: samples.iter().map(|s| s.class).collect(),
        group_names: names("subject", groups.clone().max()),
        groups: with_groups.then(|| groups.collect()),
        sources: names("file", samples.iter().map(|s| s.source).max())
            .iter()
            .map(std::path::PathBuf::from)
            .collect(),
        origins: samples
            .iter()
            .map(|s| Origin {
                source: s.source,
                place: Place::Window {
                    start_s: s.start_s,
                    duration_s: 1.0,
                },
            })
            .collect(),
        ..DatasetParts::default()
    }
}

/// Subjects with one recording each, all of one class, windows one after the other.
fn subjects(classes_of_subjects: &[usize], n_windows: usize) -> Vec<MadeSample> {
    let mut samples = Vec::new();
    for (subject, class) in classes_of_subjects.iter().enumerate() {
        samples.extend((0..n_windows).map(|window| MadeSample {
            class: *class,
            group: subject,
            source: subject,
            start_s: window as f64,
            value: (subject * n_windows + window) as f64,
        }));
    }
    samples
}

fn any_samples() -> impl Strategy<Value = Vec<MadeSample>> {
    let sample = (0usize..4, 0usize..12, 0usize..5, 0u32..60, 0u32..400);
    let made = sample.prop_map(|(class, group, source, start, value)| MadeSample {
        class,
        group,
        source,
        start_s: f64::from(start) / 2.0,
        value: f64::from(value),
    });
    prop::collection::vec(made, 2..120)
}

fn any_plan() -> impl Strategy<Value = SplitPlan> {
    let share = 0.01f64..0.99;
    prop_oneof![
        (2usize..8, any::<u64>()).prop_map(|(n_folds, seed)| SplitPlan::KFold { n_folds, seed }),
        (2usize..8, any::<u64>()).prop_map(|(n_folds, seed)| SplitPlan::grouped(n_folds, seed)),
        Just(SplitPlan::LeaveOneGroupOut),
        (share.clone(), any::<u64>()).prop_map(|(test_share, seed)| {
            SplitPlan::HoldOut(HoldOut::Share { test_share, seed })
        }),
        (share.clone(), any::<u64>()).prop_map(|(test_share, seed)| {
            SplitPlan::HoldOut(HoldOut::GroupShare { test_share, seed })
        }),
        Just(SplitPlan::HoldOut(HoldOut::Groups {
            names: vec!["subject1".into()]
        })),
        share.prop_map(|test_share| SplitPlan::HoldOut(HoldOut::Time { test_share })),
    ]
}

fn is_grouped(plan: &SplitPlan) -> bool {
    matches!(
        plan,
        SplitPlan::GroupedKFold { .. }
            | SplitPlan::LeaveOneGroupOut
            | SplitPlan::HoldOut(HoldOut::GroupShare { .. } | HoldOut::Groups { .. })
    )
}

/// Two samples that stand on both sides of some fold, by the folds themselves.
fn pairs_across(split: &Split, mut is_bad: impl FnMut(usize, usize) -> bool) -> bool {
    split.folds().any(|fold| {
        let mut pairs = fold
            .test
            .iter()
            .flat_map(|t| fold.train.iter().map(move |r| (*t, *r)));
        pairs.any(|(test, train)| is_bad(test, train))
    })
}

proptest! {
    #[test]
    fn folds_partition_the_samples_and_repeat_bit_for_bit(samples in any_samples(), plan in any_plan()) {
        let data = dataset(&samples, true);
        if let Ok(split) = plan.split(&data) {
            prop_assert_eq!(&split, &plan.split(&data).expect("as before"));
            let mut n_tests = vec![0; samples.len()];
            for fold in split.folds() {
                prop_assert!(!fold.test.is_empty() && !fold.train.is_empty());
                let mut all = [fold.train, fold.test.clone()].concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..samples.len()).collect::<Vec<_>>());
                fold.test.iter().for_each(|s| n_tests[*s] += 1);
            }
            let once = matches!(plan, SplitPlan::HoldOut(_));
            prop_assert!(n_tests.iter().all(|n| *n == 1 || (once && *n == 0)));
        }
    }

    #[test]
    fn no_group_is_on_both_sides_of_a_grouped_plan(samples in any_samples(), plan in any_plan()) {
        let data = dataset(&samples, true);
        if let Ok(split) = plan.split(&data) {
            let divided = pairs_across(&split, |a, b| samples[a].group == samples[b].group);
            prop_assert!(!(divided && is_grouped(&plan)));
            let found = audit(&data, &split).finding(FindingKind::GroupOnBothSides).is_some();
            prop_assert_eq!(found, divided);
        }
    }

    #[test]
    fn class_counts_of_stratified_folds_differ_by_at_most_one(samples in any_samples(), n_folds in 2usize..8, seed in any::<u64>()) {
        let data = dataset(&samples, false);
        if let Ok(split) = (SplitPlan::KFold { n_folds, seed }).split(&data) {
            for class in 0..data.n_classes() {
                let counts: Vec<usize> = split
                    .folds()
                    .map(|fold| fold.test.iter().filter(|s| samples[**s].class == class).count())
                    .collect();
                let (least, most) = (counts.iter().min(), counts.iter().max());
                prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1));
            }
        }
    }

    #[test]
    fn the_audit_finds_exactly_what_a_search_of_all_pairs_finds(samples in any_samples(), plan in any_plan()) {
        let data = dataset(&samples, true);
        if let Ok(split) = plan.split(&data) {
            let report = audit(&data, &split);
            let count = |kind| report.finding(kind).map_or(0, |finding| finding.count);
            let tested_across = |is_bad: &dyn Fn(usize, usize) -> bool| {
                let mut tested = vec![false; samples.len()];
                pairs_across(&split, |test, train| {
                    tested[test] |= is_bad(test, train);
                    false
                });
                tested.iter().filter(|t| **t).count()
            };
            let twins = tested_across(&|a, b| samples[a].value == samples[b].value);
            prop_assert_eq!(count(FindingKind::IdenticalSamples), twins);
            let overlapping = tested_across(&|a, b| {
                samples[a].source == samples[b].source && (samples[a].start_s - samples[b].start_s).abs() < 1.0
            });
            prop_assert_eq!(count(FindingKind::OverlappingWindows), overlapping);
        }
    }
}

#[test]
fn grouped_folds_keep_the_share_of_classes() {
    // 14 healthy and 14 patients: five folds hold 2 or 3 of each.
    let classes: Vec<usize> = (0..28).map(|subject| subject / 14).collect();
    let samples = subjects(&classes, 20);
    let data = dataset(&samples, true);
    for seed in 0..20 {
        let plan = SplitPlan::grouped(5, seed);
        for fold in plan.split(&data).expect("28 groups").folds() {
            let of_class = |class| {
                fold.test
                    .iter()
                    .filter(|s| samples[**s].class == class)
                    .count()
            };
            assert!((40..=60).contains(&of_class(0)) && (40..=60).contains(&of_class(1)));
            assert!((100..=120).contains(&fold.test.len()));
        }
    }
}

#[test]
fn seeds_change_the_folds_and_stay_the_same_for_ever() {
    let data = dataset(&subjects(&[0, 0, 0, 1, 1, 1], 2), true);
    let folds = |plan: SplitPlan| -> Vec<usize> {
        let split = plan.split(&data).expect("enough samples");
        split.test_folds().flatten().collect()
    };
    let plain = folds(SplitPlan::KFold {
        n_folds: 3,
        seed: 1,
    });
    assert_ne!(
        plain,
        folds(SplitPlan::KFold {
            n_folds: 3,
            seed: 2
        })
    );
    let grouped = folds(SplitPlan::grouped(3, 1));
    // Written down once: a change here changes every published score.
    assert_eq!(
        [plain, grouped],
        [
            [0, 1, 2, 1, 2, 0, 0, 0, 2, 1, 2, 1],
            [0, 0, 1, 1, 2, 2, 1, 1, 2, 2, 0, 0]
        ]
    );
}

#[test]
fn the_default_is_grouped_wherever_groups_are_known() {
    let samples = subjects(&[0, 0, 0, 1, 1, 1], 5);
    let plan = SplitPlan::default_for(&dataset(&samples, true), 4);
    assert_eq!(plan, SplitPlan::grouped(5, 4));
    let plan = SplitPlan::default_for(&dataset(&samples, false), 4);
    assert_eq!(
        plan,
        SplitPlan::KFold {
            n_folds: 5,
            seed: 4
        }
    );
    let few = SplitPlan::default_for(&dataset(&samples[..12], true), 4);
    assert_eq!(few, SplitPlan::grouped(3, 4));
}

#[test]
fn holding_out_by_time_tests_the_end_of_every_recording() {
    let samples = subjects(&[0, 1], 10);
    let plan = SplitPlan::HoldOut(HoldOut::Time { test_share: 0.3 });
    let split = plan
        .split(&dataset(&samples, true))
        .expect("two recordings");
    for (sample, fold) in samples.iter().zip(split.test_folds()) {
        assert_eq!(fold.is_some(), sample.start_s >= 7.0);
    }
}

#[test]
fn holding_out_groups_tests_whole_groups_of_every_class() {
    let samples = subjects(&[0, 0, 1, 1, 1, 1, 1, 1, 1, 1], 10);
    let data = dataset(&samples, true);
    for seed in 0..10 {
        let plan = SplitPlan::HoldOut(HoldOut::GroupShare {
            test_share: 0.25,
            seed,
        });
        let fold = plan.split(&data).expect("ten groups").fold(0);
        let n_of_class = |class| {
            fold.test
                .iter()
                .filter(|s| samples[**s].class == class)
                .count()
        };
        assert_eq!((n_of_class(0), n_of_class(1)), (10, 20));
    }
    let named = SplitPlan::HoldOut(HoldOut::Groups {
        names: vec!["subject3".into()],
    });
    assert_eq!(
        named.split(&data).expect("it exists").fold(0).test,
        (30..40).collect::<Vec<_>>()
    );
}

#[test]
fn plans_that_do_not_fit_say_why() {
    let samples = subjects(&[0, 1], 3);
    let (with, without) = (dataset(&samples, true), dataset(&samples, false));
    let one = dataset(&samples[..3], true);
    let grouped = |n_folds| SplitPlan::grouped(n_folds, 0);
    let refusal =
        |plan: &SplitPlan, data: &Dataset| plan.split(data).expect_err("no fit").to_string();
    assert_eq!(
        refusal(&grouped(5), &with),
        "number of folds must be 2 to 2 (the number of groups), but is 5"
    );
    assert_eq!(grouped(2).split(&without), Err(SplitError::NoGroups));
    assert_eq!(
        SplitPlan::LeaveOneGroupOut.split(&one),
        Err(SplitError::OneGroup {
            name: "subject0".into()
        })
    );
    let missing = SplitPlan::HoldOut(HoldOut::Groups {
        names: vec!["nobody".into()],
    });
    assert_eq!(
        refusal(&missing, &with),
        "group \"nobody\" is not in the data set"
    );
    let none = SplitPlan::HoldOut(HoldOut::Groups { names: Vec::new() });
    assert_eq!(
        none.split(&with),
        Err(SplitError::EmptySide { side: "testing" })
    );
    let all = SplitPlan::HoldOut(HoldOut::Groups {
        names: vec!["subject0".into(), "subject1".into()],
    });
    assert_eq!(
        all.split(&with),
        Err(SplitError::EmptySide { side: "training" })
    );
    for test_share in [0.0, 1.0, -1.0, f64::NAN] {
        let plan = SplitPlan::HoldOut(HoldOut::Share {
            test_share,
            seed: 0,
        });
        assert!(matches!(plan.split(&with), Err(SplitError::Share { .. })));
    }
}

#[test]
fn plans_survive_saving_and_misspelt_ones_are_refused() {
    let plan = SplitPlan::HoldOut(HoldOut::GroupShare {
        test_share: 0.2,
        seed: 9,
    });
    let text = ron::to_string(&plan).expect("plain data");
    assert_eq!(
        ron::from_str::<SplitPlan>(&text).expect("its own text"),
        plan
    );
    assert!(ron::from_str::<SplitPlan>("KFold(n_folds: 5, sead: 1)").is_err());
}

fn audit_of(data: &Dataset, plan: &SplitPlan) -> Audit {
    audit(data, &plan.split(data).expect("the plan fits"))
}

#[test]
fn the_published_eeg_protocol_lights_up_red() {
    // Fourteen copies of one subject per class, 169 windows each, five random folds.
    let mut samples = Vec::new();
    for class in 0..2 {
        for _copy in 0..14 {
            samples.extend((0..169).map(|window| MadeSample {
                class,
                group: class,
                source: class,
                start_s: f64::from(window),
                value: f64::from(window) + 1000.0 * class as f64,
            }));
        }
    }
    assert_eq!(samples.len(), 4732);
    let data = dataset(&samples, true);
    let report = audit_of(
        &data,
        &SplitPlan::KFold {
            n_folds: 5,
            seed: 0,
        },
    );
    assert!(report.leaks());
    let count = |kind| {
        report
            .finding(kind)
            .map(|finding| (finding.severity, finding.count))
    };
    assert_eq!(
        count(FindingKind::GroupOnBothSides),
        Some((Severity::Error, 2))
    );
    let (severity, n_twins) = count(FindingKind::IdenticalSamples).expect("copies everywhere");
    assert!(severity == Severity::Error && n_twins > 4700);
    assert_eq!(
        count(FindingKind::OverlappingWindows).map(|f| f.0),
        Some(Severity::Error)
    );
    assert_eq!(
        count(FindingKind::TooFewGroups),
        Some((Severity::Warning, 2))
    );
    assert!(report.findings[0].severity == Severity::Error);
    // Even if every copy is given out as a subject of its own, the copies show.
    let mut disguised = samples.clone();
    for (place, sample) in disguised.iter_mut().enumerate() {
        sample.group = place / 169;
        sample.source = place / 169;
    }
    let data = dataset(&disguised, true);
    let report = audit_of(&data, &SplitPlan::default_for(&data, 0));
    assert!(report.leaks());
    let twins = report
        .finding(FindingKind::IdenticalSamples)
        .expect("copies everywhere");
    assert!(twins.count == 4732, "{}", twins.text);
    assert!(report.finding(FindingKind::GroupOnBothSides).is_none());
}

#[test]
fn honest_folds_by_subject_are_clean() {
    let classes: Vec<usize> = (0..20).map(|subject| subject % 2).collect();
    let data = dataset(&subjects(&classes, 30), true);
    let report = audit_of(&data, &SplitPlan::default_for(&data, 3));
    assert_eq!(report, Audit::default());
}

#[test]
fn random_folds_of_windows_warn_of_neighbours_and_a_seam_is_only_noted() {
    let classes: Vec<usize> = (0..20).map(|subject| subject % 2).collect();
    let data = dataset(&subjects(&classes, 100), true);
    let severity = |plan: &SplitPlan| {
        let report = audit_of(&data, plan);
        report
            .finding(FindingKind::NeighbouringWindows)
            .map(|f| f.severity)
    };
    let random = SplitPlan::KFold {
        n_folds: 5,
        seed: 0,
    };
    assert_eq!(severity(&random), Some(Severity::Warning));
    let late = SplitPlan::HoldOut(HoldOut::Time { test_share: 0.5 });
    assert_eq!(severity(&late), Some(Severity::Note));
    assert_eq!(severity(&SplitPlan::LeaveOneGroupOut), None);
}

#[test]
fn folds_without_a_class_are_named() {
    let data = dataset(&subjects(&[0, 0, 1, 1], 10), true);
    let report = audit_of(&data, &SplitPlan::LeaveOneGroupOut);
    let finding = report
        .finding(FindingKind::ClassImbalance)
        .expect("one class per fold");
    assert_eq!((finding.severity, finding.count), (Severity::Warning, 4));
    assert_eq!(
        finding.examples[0],
        "fold 1: class class1 has no test sample"
    );
    let lonely = dataset(&subjects(&[0, 0, 1], 10), true);
    let report = audit_of(&lonely, &SplitPlan::LeaveOneGroupOut);
    let finding = report
        .finding(FindingKind::ClassImbalance)
        .expect("one class per fold");
    assert_eq!(
        finding.examples[2],
        "fold 3: class class1 has no training sample"
    );
}

#[test]
fn unknown_groups_are_noted_and_examples_name_the_place() {
    let mut samples = subjects(&[0, 1], 6);
    samples[1].start_s = 0.5;
    let data = dataset(&samples, false);
    let mut sides = vec![Some(0); 12];
    sides[1] = None;
    let report = audit(&data, &Split::new(sides));
    let overlap = report
        .finding(FindingKind::OverlappingWindows)
        .expect("0–1 s and 0.5–1.5 s");
    assert_eq!(overlap.count, 1);
    assert_eq!(overlap.examples, ["file0 0–1 s and file0 0.5–1.5 s"]);
    let unknown = report
        .finding(FindingKind::GroupsUnknown)
        .expect("no groups");
    assert_eq!(unknown.severity, Severity::Note);
}

#[test]
fn a_hundred_thousand_samples_are_audited_at_once() {
    let classes: Vec<usize> = (0..200).map(|subject| subject % 5).collect();
    let mut samples = subjects(&classes, 500);
    // The worst case of windows: all of a recording at the same place.
    samples
        .iter_mut()
        .filter(|s| s.source < 20)
        .for_each(|s| s.start_s = 0.0);
    let data = dataset(&samples, true);
    let plan = SplitPlan::KFold {
        n_folds: 5,
        seed: 0,
    };
    let start = Instant::now();
    let report = audit_of(&data, &plan);
    let elapsed = start.elapsed();
    println!(
        "split and audit of {} samples: {elapsed:?}",
        data.n_samples()
    );
    assert!(report.leaks());
    assert!(elapsed.as_secs_f64() < 2.0, "{elapsed:?}");
}

/// The fold of every group, by name.
fn folds_by_name(plan: &SplitPlan, data: &Dataset) -> std::collections::BTreeMap<String, usize> {
    let split = plan.split(data).expect("the plan fits");
    let groups = data.groups().expect("with groups").iter();
    let names = groups.map(|group| data.group_names()[*group].clone());
    let folds = split.test_folds().map(|fold| fold.expect("tested"));
    names.zip(folds).collect()
}

#[test]
fn a_group_keeps_its_fold_when_segments_go_and_recordings_come() {
    let classes: Vec<usize> = (0..20).map(|subject| subject / 10).collect();
    let samples = subjects(&classes, 10);
    let data = dataset(&samples, true);
    let mut plan = SplitPlan::grouped(5, 1);
    let before = folds_by_name(&plan, &data);
    // Segments excluded and relabelled, not yet saved by name.
    let mut fewer: Vec<MadeSample> = samples.iter().skip(4).cloned().collect();
    fewer[30].class = 1;
    assert_eq!(folds_by_name(&plan, &dataset(&fewer, true)), before);
    // Saved by name: two subjects more, one gone, and the order of the files turned round.
    plan.keep_folds(&data);
    let text = ron::to_string(&plan).expect("plain data");
    let plan: SplitPlan = ron::from_str(&text).expect("its own text");
    let mut more = samples.clone();
    more.retain(|sample| sample.group != 7);
    let mut new = subjects(&[0, 1], 10);
    for sample in &mut new {
        sample.group += 20;
        sample.source += 20;
        sample.value += 1e6;
    }
    more.extend(new);
    more.reverse();
    let after = folds_by_name(&plan, &dataset(&more, true));
    for (name, fold) in &before {
        assert!(name == "subject7" || after[name] == *fold, "{name}");
    }
    // The new healthy one goes where the one that left was missed.
    assert_eq!(after["subject20"], before["subject7"]);
    // Another seed deals anew.
    let other = SplitPlan::grouped(5, 2);
    assert_ne!(folds_by_name(&other, &data), before);
}

#[test]
fn groups_of_several_classes_are_dealt_by_name_too() {
    // Eight subjects with all four classes in every recording.
    let mut samples = subjects(&[0; 8], 16);
    for sample in &mut samples {
        sample.class = sample.start_s as usize % 4;
    }
    let plan = SplitPlan::grouped(4, 3);
    let before = folds_by_name(&plan, &dataset(&samples, true));
    samples.remove(0);
    assert_eq!(folds_by_name(&plan, &dataset(&samples, true)), before);
    let mut counts = [0; 4];
    before.values().for_each(|fold| counts[*fold] += 1);
    assert_eq!(counts, [2; 4]);
}

#[test]
fn one_recording_under_two_subjects_turns_the_audit_red() {
    let classes: Vec<usize> = (0..20).map(|subject| subject % 2).collect();
    let mut samples = subjects(&classes, 30);
    for window in 0..30 {
        samples[30 * 7 + window].value = samples[30 * 3 + window].value;
    }
    let data = dataset(&samples, true);
    // In one fold or in two: it is said.
    for seed in 0..5 {
        let report = audit_of(&data, &SplitPlan::grouped(5, seed));
        let finding = report
            .finding(FindingKind::RecordingInTwoGroups)
            .expect("a copy");
        assert_eq!((finding.severity, finding.count), (Severity::Error, 1));
        assert_eq!(
            finding.examples,
            ["file3 of subject3 and file7 of subject7"]
        );
        assert_eq!(report.verdict(), AuditVerdict::Leaks);
    }
}

#[test]
fn a_copy_in_another_format_is_one_too() {
    let classes: Vec<usize> = (0..20).map(|subject| subject % 2).collect();
    let samples = subjects(&classes, 30);
    // The features of subject 7 are those of subject 3 but for rounding, an epoch later.
    let value = |sample: usize, feature: usize| {
        let spread = ((sample * 8 + feature) as f64 * 12.9898).sin() * 43758.5453;
        spread - spread.floor() + 1.0
    };
    let copied = |sample: usize, feature: usize| match sample {
        210..=238 => value(sample - 119, feature) * (1.0 + 1e-5),
        _ => value(sample, feature),
    };
    let of = |value: &dyn Fn(usize, usize) -> f64| {
        let mut parts = made_parts(&samples, true);
        parts.values = (0..8 * samples.len())
            .map(|k| value(k / 8, k % 8))
            .collect();
        parts.feature_names = (0..8).map(|feature| format!("x{feature}")).collect();
        let data = Dataset::new(parts).expect("the parts fit");
        let report = audit_of(&data, &SplitPlan::grouped(5, 1));
        report
            .finding(FindingKind::RecordingInTwoGroups)
            .map(|finding| finding.examples.clone())
    };
    assert_eq!(of(&value), None);
    assert_eq!(
        of(&copied),
        Some(vec!["file3 of subject3 and file7 of subject7".to_owned()])
    );
}

#[test]
fn clean_is_said_only_where_the_audit_could_look() {
    let classes: Vec<usize> = (0..20).map(|subject| subject % 2).collect();
    let samples = subjects(&classes, 30);
    let verdict = |data: &Dataset, plan: &SplitPlan| audit_of(data, plan).verdict();
    let grouped = SplitPlan::grouped(5, 0);
    assert_eq!(
        verdict(&dataset(&samples, true), &grouped),
        AuditVerdict::Clean
    );
    let random = SplitPlan::KFold {
        n_folds: 5,
        seed: 0,
    };
    let unknown = dataset(&samples, false);
    let report = audit_of(&unknown, &random);
    assert_eq!(report.verdict(), AuditVerdict::Doubtful);
    let finding = report
        .finding(FindingKind::RecordingOnBothSides)
        .expect("windows at random");
    assert_eq!(finding.count, 20);
    let rows = |with_files: bool| {
        let n = samples.len();
        Dataset::new(DatasetParts {
            values: samples.iter().map(|s| s.value).collect(),
            feature_names: vec!["x".into()],
            class_names: vec!["a".into(), "b".into()],
            classes: samples.iter().map(|s| s.class).collect(),
            group_names: (0..20).map(|n| format!("file{n}")).collect(),
            groups: with_files.then(|| samples.iter().map(|s| s.group).collect()),
            groups_are_files: with_files,
            sources: vec!["table.csv".into()],
            origins: (0..n)
                .map(|row| Origin {
                    source: 0,
                    place: Place::Row(row),
                })
                .collect(),
            ..DatasetParts::default()
        })
        .expect("the parts fit")
    };
    assert_eq!(verdict(&rows(false), &random), AuditVerdict::CannotTell);
    assert_eq!(verdict(&rows(true), &grouped), AuditVerdict::CannotTell);
}

#[test]
fn recentring_on_recordings_of_one_class_is_an_error() {
    let recentred = |samples: &[MadeSample]| {
        let n = samples.len();
        Dataset::new(DatasetParts {
            values: (0..n).map(|k| k as f64).collect(),
            feature_names: vec!["x".into()],
            feature_groups: vec![FeatureGroup {
                name: "alpha".into(),
                n_features: 1,
                kind: GroupKind::Covariance {
                    channels: vec!["Cz".into()],
                    recentred: true,
                },
            }],
            class_names: vec!["a".into(), "b".into()],
            classes: samples.iter().map(|s| s.class).collect(),
            group_names: (0..20).map(|n| format!("subject{n}")).collect(),
            groups: Some(samples.iter().map(|s| s.group).collect()),
            sources: (0..20).map(|n| format!("file{n}").into()).collect(),
            origins: samples
                .iter()
                .map(|s| Origin {
                    source: s.source,
                    place: Place::Window {
                        start_s: s.start_s,
                        duration_s: 1.0,
                    },
                })
                .collect(),
            ..DatasetParts::default()
        })
        .expect("the parts fit")
    };
    let classes: Vec<usize> = (0..20).map(|subject| subject % 2).collect();
    let mut samples = subjects(&classes, 10);
    let plan = SplitPlan::grouped(5, 0);
    let report = audit_of(&recentred(&samples), &plan);
    assert!(report.finding(FindingKind::RecentredTraits).is_some() && report.leaks());
    // As soon as one recording holds both classes, it may be right.
    samples[0].class = 1;
    let report = audit_of(&recentred(&samples), &plan);
    assert!(report.finding(FindingKind::RecentredTraits).is_none());
}

#[test]
fn labels_alone_are_split_like_the_samples() {
    let data = dataset(&subjects(&[0, 0, 0, 1, 1, 1], 4), true);
    let some: Vec<usize> = (0..24).filter(|sample| sample % 5 != 0).rev().collect();
    let own = data.subset(&some).expect("they exist");
    let labels = data.labels_of(&some).expect("they exist");
    let by_sample = SplitPlan::KFold {
        n_folds: 4,
        seed: 3,
    };
    for plan in [by_sample, SplitPlan::grouped(3, 2)] {
        assert_eq!(plan.split(&labels), plan.split(&own));
    }
}

#[test]
fn folds_are_numbered_without_gaps_and_none_is_none() {
    let split = Split::new([Some(7), None, Some(2), Some(7)]);
    let folds: Vec<Option<usize>> = split.test_folds().collect();
    assert_eq!(folds, [Some(1), None, Some(0), Some(1)]);
    assert_eq!((split.n_folds(), split.test_fold(4)), (2, None));
    assert_eq!(split.fold(1).train, [1, 2]);
}
