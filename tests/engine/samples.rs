//! From records to samples to folds: simulated records always, real files where the shared data folder is present.

use std::path::{Path, PathBuf};

use atomscope_engine::dataset::{
    ArrayChoice, DatasetBuilder, Label, Layout, TableChoice, TableClasses,
};
use atomscope_engine::features::fault::FaultForm;
use atomscope_engine::features::phases::{PhaseChoice, PhaseMap};
use atomscope_engine::features::{EegRecipe, FaultRecipe, FeatureRecipe};
use atomscope_engine::records::{Mode, ReadOptions, Record, open, open_with};
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator};
use atomscope_engine::simulate::feeder::{FeederSettings, FeederSimulator};
use atomscope_engine::split::SplitPlan;
use atomscope_engine::split::audit::{FindingKind, audit};

/// The shared data folder, or `None` (said aloud) where there is none.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: ATOMSCOPE_DATA is not set");
    }
    folder
}

fn opened(path: &Path) -> Record {
    open(path, Mode::Tolerant).expect("the file is readable")
}

#[test]
fn simulated_faults_become_the_published_samples() {
    let settings = FeederSettings {
        records_per_class: 3,
        ..FeederSettings::default()
    };
    let simulator = FeederSimulator::new(settings).expect("legal settings");
    let recipe = FaultRecipe::of_cut_records(16_330.0, 215.0);
    let recipe = FeatureRecipe::Fault(recipe);
    let mut builder = DatasetBuilder::new();
    for (class, index) in simulator.records() {
        let record = simulator.record(class, index);
        let label = Label::Whole(class.name().to_owned());
        builder
            .add_record(&record, &recipe, &label, None, &mut |_| true)
            .expect("not stopped");
    }
    let built = builder.finish().expect("fifteen samples");
    assert!(built.left_out.is_empty(), "{:?}", built.left_out);
    let data = &built.dataset;
    assert_eq!((data.n_samples(), data.n_features()), (15, 1206));
    assert_eq!(data.class_counts(), [3; 5]);
    let waveform = Layout::Waveform {
        n_channels: 6,
        n_points: 201,
    };
    assert_eq!(data.layout(), waveform);
    // Voltages before the fault are about 1 per unit; no value is beyond a bolted fault.
    assert!(data.sample(0)[..603].iter().all(|v| v.abs() < 1.2));
    let record = simulator.record(simulator.records().next().expect("one").0, 0);
    let first = record.read(0, 0..201).expect("201 samples");
    for (found, kilovolts) in data.sample(0).iter().zip(first) {
        assert!((found - kilovolts * 1e3 / 16_330.0).abs() < 1e-12);
    }
}

#[test]
fn the_inception_of_simulated_faults_is_found_within_a_millisecond() {
    let settings = FeederSettings {
        records_per_class: 20,
        cycles_before: 3,
        cycles_after: 3,
        ..FeederSettings::default()
    };
    let simulator = FeederSimulator::new(settings).expect("legal settings");
    let recipe = FaultRecipe {
        form: FaultForm::Phasors {
            highest_harmonic: 7,
        },
        ..FaultRecipe::of_waveforms()
    };
    let (mut n_near, mut n_faults) = (0, 0);
    for (class, index) in simulator.records() {
        let record = simulator.record(class, index);
        let window = recipe.window(&record).expect("six channels");
        let sample = recipe.extract(&record).expect("room for a cycle");
        assert_eq!(sample.samples.len(), 1, "{:?}", sample.rejected);
        // Records without a fault show a switched load or nothing at all.
        if class.label() == 0 {
            continue;
        }
        n_faults += 1;
        let known_s = record.grid.as_ref().and_then(|grid| grid.trigger_s);
        let error_s = (window.start_s - known_s.expect("a trigger")).abs();
        n_near += usize::from(window.has_inception && error_s < 1e-3);
    }
    // Not every onset is sharp enough to be dated within a millisecond.
    println!("inception within 1 ms: {n_near} of {n_faults}");
    assert!(n_near * 100 >= n_faults * 98, "{n_near} of {n_faults}");
}

#[test]
fn simulated_subjects_split_cleanly_by_default_and_leak_in_random_folds() {
    let settings = EegSettings {
        subjects_per_class: 6,
        duration_s: 10.0,
        ..EegSettings::default()
    };
    let simulator = EegSimulator::new(settings).expect("legal settings");
    let recipe = FeatureRecipe::Eeg(EegRecipe::default());
    let mut builder = DatasetBuilder::new();
    for (class, index) in simulator.subjects() {
        let record = simulator.record(class, index);
        let label = Label::Whole(class.name().to_owned());
        let subject = simulator.subject_name(class, index);
        builder
            .add_record(&record, &recipe, &label, Some(&subject), &mut |_| true)
            .expect("not stopped");
    }
    let data = builder.finish().expect("samples").dataset;
    assert_eq!((data.n_samples(), data.n_features()), (120, 76));
    assert_eq!(data.n_missing(), 0);
    let audit_of = |plan: &SplitPlan| audit(&data, &plan.split(&data).expect("enough groups"));
    let report = audit_of(&SplitPlan::default_for(&data, 1));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let random = SplitPlan::KFold {
        n_folds: 5,
        seed: 1,
    };
    let report = audit_of(&random);
    let groups = report.finding(FindingKind::GroupOnBothSides);
    assert_eq!(groups.map(|finding| finding.count), Some(12));
    assert!(report.finding(FindingKind::NeighbouringWindows).is_some());
}

#[test]
fn schizophrenia_recordings_leak_in_random_folds_only() {
    let Some(data) = data() else { return };
    let mut builder = DatasetBuilder::new();
    let options = ReadOptions {
        rate_hz: Some(250.0),
        ..ReadOptions::default()
    };
    let recipe = FeatureRecipe::Eeg(EegRecipe::default());
    for class in ["h", "s"] {
        for number in 1..=10 {
            let subject = format!("{class}{number:02}");
            let path = data.join(format!("schizophrenia-eeg/{subject}.mat"));
            let record = open_with(&path, &options).expect("a MAT file");
            let label = Label::Whole(class.to_owned());
            builder
                .add_record(&record, &recipe, &label, Some(&subject), &mut |_| true)
                .expect("not stopped");
        }
    }
    let built = builder.finish().expect("samples");
    assert!(built.left_out.is_empty(), "{:?}", &built.left_out[..1]);
    let data = &built.dataset;
    assert_eq!((data.n_samples(), data.n_features()), (20 * 169, 76));
    let audit_of = |plan: &SplitPlan| audit(data, &plan.split(data).expect("enough groups"));
    assert!(!audit_of(&SplitPlan::default_for(data, 1)).leaks());
    assert!(
        audit_of(&SplitPlan::KFold {
            n_folds: 5,
            seed: 1
        })
        .leaks()
    );
}

#[test]
fn usps_pages_and_isolet_files_become_data_sets() {
    let Some(data) = data() else { return };
    let record = opened(&data.join("usps.mat"));
    let choice = ArrayChoice::guess(&record).expect("a 3-D array");
    let mut builder = DatasetBuilder::new();
    builder.add_arrays(&record, &choice).expect("pages");
    let usps = builder.finish().expect("samples").dataset;
    assert_eq!((usps.n_features(), usps.n_samples()), (256, 11_000));
    assert_eq!(usps.class_counts(), [1100; 10]);
    let image = Layout::Image {
        n_rows: 16,
        n_columns: 16,
        by_columns: true,
    };
    assert_eq!(usps.layout(), image);
    assert!(usps.sample(0).iter().all(|v| (0.0..=255.0).contains(v)));

    let mut builder = DatasetBuilder::new();
    let mut sum = 0.0;
    for part in 1..=4 {
        let record = opened(&data.join(format!("isolet/Isolet{part}.mat")));
        let mut choice = ArrayChoice::guess(&record).expect("a matrix and labels");
        choice.group_by_file = true;
        builder.add_arrays(&record, &choice).expect("617 features");
        let features = record.array("fea").expect("the matrix");
        sum += features.sum();
    }
    let isolet = builder.finish().expect("samples").dataset;
    assert_eq!((isolet.n_features(), isolet.n_samples()), (617, 6238));
    assert_eq!(isolet.n_classes(), 26);
    assert_eq!(isolet.class_counts()[5], 238);
    assert_eq!(isolet.group_names().len(), 4);
    assert!((isolet.matrix().sum() - sum).abs() < 1e-6);
    let plan = SplitPlan::default_for(&isolet, 0);
    assert_eq!(plan, SplitPlan::grouped(4, 0));
    assert!(!audit(&isolet, &plan.split(&isolet).expect("four groups")).leaks());
}

#[test]
fn shuffled_rows_with_duplicates_light_up_red() {
    let Some(data) = data() else { return };
    let record = opened(&data.join("faults/sgah/2-data.csv"));
    let choice = TableChoice {
        classes: TableClasses::Whole("inter-phase".to_owned()),
        group_column: None,
        feature_columns: None,
    };
    let mut builder = DatasetBuilder::new();
    builder.add_table(&record, &choice).expect("six columns");
    let table = builder.finish().expect("rows").dataset;
    assert_eq!((table.n_samples(), table.n_features()), (7000, 6));
    let plan = SplitPlan::default_for(&table, 0);
    assert_eq!(
        plan,
        SplitPlan::KFold {
            n_folds: 5,
            seed: 0
        }
    );
    let report = audit(&table, &plan.split(&table).expect("enough rows"));
    let twins = report
        .finding(FindingKind::IdenticalSamples)
        .expect("copies");
    println!("{}", twins.text);
    assert!(twins.count > 4000);

    let record = opened(&data.join("faults/kaggle-efdc/classData.csv"));
    let flags = ["G", "C", "B", "A"].map(str::to_owned).to_vec();
    let choice = TableChoice {
        classes: TableClasses::Columns(flags),
        group_column: None,
        feature_columns: None,
    };
    let mut builder = DatasetBuilder::new();
    builder.add_table(&record, &choice).expect("ten columns");
    let table = builder.finish().expect("rows").dataset;
    assert_eq!((table.n_samples(), table.n_features()), (7861, 6));
    let position = |name: &str| table.class_names().iter().position(|known| known == name);
    let healthy = position("0-0-0-0").expect("the healthy class");
    assert_eq!(table.class_counts()[healthy], 2365);
    assert_eq!(table.n_classes(), 6);
}

#[test]
fn phases_of_real_fault_records_are_found() {
    let Some(data) = data() else { return };
    let cases: [(&str, [&str; 6]); 6] = [
        (
            "pycomtrade/test1.cfg",
            ["VA_G1", "VB_G1", "VC_G1", "IA_G1", "IB_G1", "IC_G1"],
        ),
        (
            "pycomtrade/test2.cfg",
            ["VA_GC1", "VB_GC1", "VC_GC1", "IA_GC1", "IB_GC1", "IC_GC1"],
        ),
        (
            "tshort/1999-ascii-pq.cfg",
            ["Va", "Vb", "Vc", "Ia", "Ib", "Ic"],
        ),
        (
            "tshort/1991-ascii-sel.cfg",
            ["VA(kV)", "VB(kV)", "VC(kV)", "IA", "IB", "IC"],
        ),
        (
            "ieeecomtrade/keating_1999.CFG",
            ["U1", "U2", "U3", "I1", "I2", "I3"],
        ),
        (
            "rtds-mpei/rtds_case01_690.cfg",
            [
                "Ua_SUB_A_VT2",
                "Ub_SUB_A_VT2",
                "Uc_SUB_A_VT2",
                "IBURA1",
                "IBURB1",
                "IBURC1",
            ],
        ),
    ];
    for (file, expected) in cases {
        let record = opened(&data.join("comtrade").join(file));
        let map = PhaseMap::of(&record, &PhaseChoice::default());
        let names = map
            .channels
            .map(|channel| channel.map(|c| record.channels[c].name.as_str()));
        assert_eq!(names, expected.map(Some), "{file}");
    }
}

#[test]
fn windows_of_real_fault_records_start_at_the_fault() {
    let Some(data) = data() else { return };
    // The first by the record's own trigger, the second read off the samples (the current of phase C leaves its course).
    let cases = [
        ("rtds-mpei/rtds_case01_690.cfg", 0.147, 0.001, 50.0),
        ("tshort/1991-ascii-sel.cfg", 49.0 / 960.0, 0.002, 60.0),
    ];
    for (file, expected_s, tolerance_s, nominal_hz) in cases {
        let record = opened(&data.join("comtrade").join(file));
        let window = FaultRecipe::of_waveforms()
            .window(&record)
            .expect("six phases");
        assert!(window.has_inception);
        assert!(
            (window.start_s - expected_s).abs() <= tolerance_s,
            "{file}: {window:?}"
        );
        assert!((window.duration_s * nominal_hz - 1.0).abs() < 1e-9);
    }
    // These state 50 Hz and hold 60 Hz.
    for file in [
        "pnnl-ieee123/f1_1b274run.cfg",
        "pnnl-ieee123/f3_43abc675run.cfg",
    ] {
        let record = opened(&data.join("comtrade").join(file));
        let found = FaultRecipe::of_waveforms()
            .extract(&record)
            .expect("six phases");
        println!("{file}: {} {:?}", found.samples[0].start_s, found.notes);
        assert!(
            found.notes[0].contains("repeat at 60 Hz"),
            "{file}: {:?}",
            found.notes
        );
        let currents = &found.samples[0].values[603..];
        assert!(
            currents.iter().any(|value| value.abs() > 5.0),
            "{file}: no fault in the window"
        );
    }
}
