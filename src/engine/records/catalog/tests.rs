//! What each rule gives for small folders made here.

use std::fs;

use super::super::{Annotation, Channel, Format, Kind, Record, Unit, edf};
use super::*;

/// A folder that is removed with the test.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder =
            std::env::temp_dir().join(format!("atomscope-catalog-{name}-{}", std::process::id()));
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().expect("files lie in the folder"))
                .expect("folder is made");
            fs::write(path, text).expect("file is written");
        }
        Self(folder)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the folder was made by this test");
    }
}

fn labels(pattern: &str, path: &str) -> Option<(Option<String>, Option<String>)> {
    Pattern::new(pattern)
        .expect("the pattern is sound")
        .labels(Path::new(path))
}

fn pair(class: &str, group: &str) -> Option<(Option<String>, Option<String>)> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Some((some(class), some(group)))
}

#[test]
fn patterns_take_class_and_group_out_of_names() {
    assert_eq!(labels("{class:1}{group}.mat", "a/h01.mat"), pair("h", "01"));
    assert_eq!(labels("{class:1}{*}.mat", "h01.MAT"), pair("h", ""));
    assert_eq!(
        labels("{group}_{class}.edf", "S01_rest.edf"),
        pair("rest", "S01")
    );
    assert_eq!(
        labels("{group}_{class}_{*}.edf", "a_b_c_d.edf"),
        pair("b", "a")
    );
    assert_eq!(
        labels("{class}/{group}_{*}", "ill/s1_x_y.edf"),
        pair("ill", "s1")
    );
    assert_eq!(labels("{class:3}{group:2}", "abcde"), pair("abc", "de"));
    assert_eq!(labels("{class:3}{group:2}", "abcdef"), None);
    assert_eq!(labels("{group}_{class}.edf", "S01.edf"), None);
    assert_eq!(labels("{class}.edf", ".edf"), None);
}

#[test]
fn patterns_that_make_no_sense_are_refused_with_the_reason() {
    for (pattern, reason) in [
        ("{class", "not closed"),
        ("{klass}", "not a placeholder"),
        ("{class:x}", "not a number"),
        ("{class:0}", "not a number"),
        ("{class}{class}", "twice"),
        ("name.edf", "neither"),
    ] {
        let error = Pattern::new(pattern).expect_err(pattern).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn hostile_patterns_and_names_take_no_time() {
    let pattern = Pattern::new(&"{*}a".repeat(200).replacen("{*}", "{class}", 1)).expect("sound");
    let name = "a".repeat(1000) + "b";
    assert_eq!(pattern.labels(Path::new(&name)), None);
}

#[test]
fn a_folder_lists_recordings_without_their_companions() {
    let files = [
        ("a/h01.edf", ""),
        ("a/s01.edf", ""),
        ("b/r.vhdr", ""),
        ("b/r.eeg", ""),
        ("b/r.vmrk", ""),
        ("b/x.set", ""),
        ("b/x.fdt", ""),
        ("labels.csv", "file,class\n"),
        ("notes.md", ""),
        ("b/r_events.tsv", ""),
        ("c/SC4001E0-PSG.edf", ""),
        ("c/SC4001EC-Hypnogram.edf", ""),
        ("scored/SC4002EC-Hypnogram.edf", ""),
    ];
    let scratch = TestFolder::new("scan", &files);
    let folder = Folder::scan(&scratch.0).expect("the folder is readable");
    let listed: Vec<String> = folder
        .files
        .iter()
        .map(|f| f.to_string_lossy().replace('\\', "/"))
        .collect();
    let expected = [
        "a/h01.edf",
        "a/s01.edf",
        "b/r.vhdr",
        "b/x.set",
        "c/SC4001E0-PSG.edf",
        "scored/SC4002EC-Hypnogram.edf",
    ];
    assert_eq!(listed, expected);
    assert_eq!(folder.tables, [PathBuf::from("labels.csv")]);
    let skipped = folder.skipped_in_words();
    assert_eq!(
        skipped.as_deref(),
        Some("1 of .md, which is no format that is read"),
        "what belongs to another file is read with it"
    );
    let rules = folder.suggestions();
    assert!(rules.contains(&Rule::ParentFolder));
    assert!(rules.iter().any(|rule| matches!(rule, Rule::Table { .. })));
}

fn label_all(scratch: &TestFolder, rules: &[Rule]) -> LabelledSet {
    let folder = Folder::scan(&scratch.0).expect("the folder is readable");
    label(&folder, rules, Mode::Tolerant, |_| true).expect("the rules are sound")
}

#[test]
fn a_table_of_labels_may_call_its_columns_otherwise() {
    let text = "Name;Subject_ID;Diagnosis\nh1;A;well\nh2.edf;B;ill\n";
    let files = [("h1.edf", ""), ("h2.edf", ""), ("labels.csv", text)];
    let scratch = TestFolder::new("table_names", &files);
    let path = scratch.0.join("labels.csv");
    let set = label_all(&scratch, &[Rule::Table { path }]);
    let files = set.files.iter();
    let found: Vec<_> = files
        .map(|f| (f.class.as_deref(), f.group.as_str()))
        .collect();
    assert_eq!(found, [(Some("well"), "A"), (Some("ill"), "B")]);
}

#[test]
fn the_parent_folder_is_the_class_and_each_file_its_own_group() {
    let scratch = TestFolder::new(
        "parent",
        &[("ill/1.edf", ""), ("well/1.edf", ""), ("well/2.edf", "")],
    );
    let set = label_all(&scratch, &[Rule::ParentFolder]);
    let counts: Vec<(String, usize, usize)> = set
        .classes()
        .into_iter()
        .map(|c| (c.class, c.n_files, c.n_groups))
        .collect();
    assert_eq!(
        counts,
        [("ill".to_owned(), 1, 1), ("well".to_owned(), 2, 2)]
    );
    assert_eq!(set.files[0].group, "ill/1");
    assert!(set.problems().is_empty());
}

#[test]
fn a_table_labels_by_path_name_or_stem_and_names_what_is_missing() {
    let table =
        "File;Class;Subject\nh1.edf;well;A\nsub/h2;ill;B\nH3;ill;\nh5;ill;\nh5;well;\nh6;ill;\n";
    let files = [
        ("h1.edf", ""),
        ("sub/h2.edf", ""),
        ("h3.edf", ""),
        ("h4.edf", ""),
        ("h5.edf", ""),
        ("labels.csv", table),
    ];
    let scratch = TestFolder::new("table", &files);
    let path = scratch.0.join("labels.csv");
    let set = label_all(&scratch, &[Rule::Table { path }]);
    let found: Vec<(Option<&str>, &str)> = set
        .files
        .iter()
        .map(|f| (f.class.as_deref(), f.group.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (Some("well"), "A"),
            (Some("ill"), "h3"),
            (None, "h4"),
            (None, "h5"),
            (Some("ill"), "B")
        ]
    );
    let problems = set.problems();
    assert!(
        problems[0].contains("2 of 5 files have no class"),
        "{problems:?}"
    );
    assert!(
        problems[1].contains("1 file of the table of labels not among those that can be read: h6"),
        "{problems:?}"
    );
    let of_twice = set.files[3].problem.as_deref();
    assert_eq!(of_twice, Some("rows of the table contradict each other"));

    let wrong = Rule::Table {
        path: scratch.0.join("h1.edf"),
    };
    let folder = Folder::scan(&scratch.0).expect("the folder is readable");
    let error = label(&folder, &[wrong], Mode::Tolerant, |_| true).expect_err("no columns");
    assert!(error.to_string().contains("no column for file"), "{error}");
}

#[test]
fn bids_participants_give_class_and_group() {
    let table = "participant_id\tage\tdiagnosis\nsub-01\t30\tAD\nsub-02\t31\tn/a\n";
    let files = [
        ("participants.tsv", table),
        ("sub-01/eeg/sub-01_task-rest_eeg.edf", ""),
        ("sub-02/eeg/sub-02_task-rest_eeg.edf", ""),
        ("sub-03/eeg/sub-03_task-rest_eeg.edf", ""),
    ];
    let scratch = TestFolder::new("bids", &files);
    let path = scratch.0.join("participants.tsv");
    let set = label_all(
        &scratch,
        &[Rule::Participants {
            path,
            class_column: None,
        }],
    );
    assert_eq!(set.files[0].class.as_deref(), Some("AD"));
    assert_eq!(set.files[0].group, "sub-01");
    assert_eq!(set.files[1].class, None);
    assert!(
        set.files[2]
            .problem
            .as_ref()
            .is_some_and(|p| p.contains("sub-03"))
    );
}

#[test]
fn one_rule_may_give_the_class_and_another_the_group() {
    let scratch = TestFolder::new("two", &[("ill/p1_a.edf", ""), ("well/p1_b.edf", "")]);
    let group = Pattern::new("{group}_{*}").expect("sound");
    let set = label_all(&scratch, &[Rule::FileName(group), Rule::ParentFolder]);
    assert_eq!(set.files[0].class.as_deref(), Some("ill"));
    assert_eq!(set.files[0].group, "p1");
    assert!(
        set.problems()
            .iter()
            .any(|p| p.contains("the same subject?"))
    );
}

fn recording(annotations: Vec<Annotation>) -> Record {
    let channel = Channel::analog("Fz", Unit::parse("uV"), Some(100.0), 0);
    let values = (0..2000).map(|k| (k % 50) as f64).collect();
    let mut record = Record::in_memory(
        Format::Simulated,
        Kind::Recording,
        "r",
        vec![(channel, values)],
    );
    record.annotations = annotations;
    record
}

fn note(onset_s: f64, duration_s: Option<f64>, text: &str) -> Annotation {
    Annotation::new(onset_s, duration_s, text)
}

#[test]
fn seizure_annotations_cut_a_recording_into_spans() {
    let scratch = TestFolder::new("seizure", &[("keep.md", "")]);
    let record = recording(vec![
        note(5.0, Some(3.0), "Seizure start"),
        note(1.0, None, "eyes"),
    ]);
    edf::write_file(&record, edf::SampleWidth::Edf, &scratch.0.join("a.edf")).expect("written");
    edf::write_file(
        &recording(Vec::new()),
        edf::SampleWidth::Edf,
        &scratch.0.join("b.edf"),
    )
    .expect("written");
    let set = label_all(&scratch, &[Rule::Annotations(AnnotationRule::seizures())]);
    let spans: Vec<(f64, f64, &str)> = set.files[0]
        .spans
        .iter()
        .map(|span| (span.onset_s, span.duration_s, span.class.as_str()))
        .collect();
    assert_eq!(
        spans,
        [
            (0.0, 5.0, "background"),
            (5.0, 3.0, "seizure"),
            (8.0, 12.0, "background")
        ]
    );
    assert_eq!(
        set.files[1].problem.as_deref(),
        Some("no annotation of a class")
    );
}

#[test]
fn stages_last_until_the_next_one() {
    let rule = AnnotationRule {
        classes: vec![
            ("W".to_owned(), "wake".to_owned()),
            ("N".to_owned(), "sleep".to_owned()),
        ],
        otherwise: None,
        lasts: Lasts::UntilNext,
    };
    let record = recording(vec![
        note(0.0, None, "W"),
        note(8.0, None, "N2"),
        note(6.0, None, "x"),
    ]);
    let spans = rule.spans_of(&record);
    assert_eq!(spans.len(), 2);
    assert_eq!((spans[0].duration_s, spans[1].duration_s), (8.0, 12.0));
}

#[test]
fn a_rule_is_suggested_for_annotations_that_tell_classes() {
    let stages = recording(vec![
        note(0.0, None, "Stage W"),
        note(4.0, None, "Stage N"),
        note(8.0, None, "Stage W"),
        note(12.0, None, "Stage N"),
        note(13.0, None, "a remark"),
    ]);
    let rule =
        AnnotationRule::suggest(std::slice::from_ref(&stages)).expect("two texts that come again");
    assert_eq!(rule.lasts, Lasts::UntilNext);
    let spans = rule.spans_of(&stages);
    assert_eq!(spans.len(), 4);
    assert_eq!(
        (spans[1].class.as_str(), spans[1].end_s()),
        ("Stage N", 8.0)
    );

    let seizure = recording(vec![note(5.0, Some(3.0), "Seizure")]);
    let rule = AnnotationRule::suggest(std::slice::from_ref(&seizure));
    assert_eq!(rule, Some(AnnotationRule::seizures()));

    // A stage that the first recording lacks is one all the same.
    let asleep = recording(vec![
        note(0.0, None, "Stage R"),
        note(4.0, None, "Stage W"),
        note(8.0, None, "Stage R"),
        note(12.0, None, "Stage R"),
    ]);
    let rule = AnnotationRule::suggest(&[stages, asleep]).expect("texts that come again");
    let named: Vec<&str> = rule.classes.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(named, ["Stage N", "Stage R", "Stage W"]);

    let remarks = recording(vec![note(1.0, None, "start"), note(9.0, None, "end")]);
    assert_eq!(
        AnnotationRule::suggest(std::slice::from_ref(&remarks)),
        None
    );
    assert_eq!(AnnotationRule::suggest(&[recording(Vec::new())]), None);
}
