//! Features of recordings that were computed before: after an interruption only the rest is computed, and what comes out
//! is the same, bit for bit.

use std::fs;
use std::path::{Path, PathBuf};

use atomscope_engine::dataset::{
    Built, DataPlan, DataSettings, DatasetError, KeptFeatures, RecordingSource,
};
use atomscope_engine::features::{EegGroupsRecipe, EegRecipe, FeatureRecipe};
use atomscope_engine::records::ReadError;
use atomscope_engine::records::catalog::{Pattern, Rule};
use atomscope_engine::records::edf::{self, SampleWidth};
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator};

const N_FILES: usize = 6;

/// Recordings of six simulated subjects.
fn study() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = EegSettings {
        subjects_per_class: 3,
        duration_s: 60.0,
        ..EegSettings::default()
    };
    let simulator = EegSimulator::new(settings).expect("legal settings");
    for (class, index) in simulator.subjects() {
        let record = simulator.record(class, index);
        let path = folder.path().join(format!("{}-{index}.edf", class.name()));
        edf::write_file(&record, SampleWidth::Edf, &path).expect("the folder is writable");
    }
    folder
}

fn settings(recipe: FeatureRecipe) -> DataSettings {
    let source = RecordingSource {
        paths: vec!["study".into()],
        rules: vec![Rule::FileName(
            Pattern::new("{class}-{*}.edf").expect("a pattern"),
        )],
        ..RecordingSource::default()
    };
    DataSettings::new(DataPlan::Recordings(source), Some(recipe))
}

fn eeg() -> DataSettings {
    settings(FeatureRecipe::Eeg(EegRecipe::default()))
}

/// Loads with features kept in `kept`, if anywhere, on so many threads, until `keep_going` says no.
fn load_until(
    settings: &DataSettings,
    (study, kept): (&Path, Option<&Path>),
    n_threads: usize,
    keep_going: &mut (dyn FnMut(f64) -> bool + Send),
) -> Result<Built, DatasetError> {
    let kept = kept.map(KeptFeatures::in_folder);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
    pool.build().expect("threads").install(|| {
        let locate = |_: &Path| Some(study.to_owned());
        settings.load_with(kept.as_ref(), &locate, keep_going)
    })
}

fn load(settings: &DataSettings, places: (&Path, Option<&Path>), n_threads: usize) -> Built {
    load_until(settings, places, n_threads, &mut |_| true).expect("samples")
}

fn bits(built: &Built) -> Vec<u64> {
    let all = built.dataset.matrix();
    all.iter().map(|value| value.to_bits()).collect()
}

fn same(found: &Built, expected: &Built) {
    assert_eq!(bits(found), bits(expected));
    let facts = |built: &Built| {
        let data = &built.dataset;
        let names = (data.feature_names().to_vec(), data.group_names().to_vec());
        let origins: Vec<_> = (0..data.n_samples()).map(|n| data.origin(n)).collect();
        let omitted = (built.left_out.clone(), built.notes.clone());
        (
            names,
            data.classes().to_vec(),
            origins,
            omitted,
            built.files.clone(),
        )
    };
    assert_eq!(facts(found), facts(expected));
}

fn kept_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it was made");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    files
}

#[test]
fn what_was_computed_is_used_again_for_any_number_of_threads() {
    let (study, kept) = (study(), tempfile::tempdir().expect("a folder"));
    let places = (study.path(), Some(kept.path()));
    for recipe in [
        FeatureRecipe::Eeg(EegRecipe::default()),
        FeatureRecipe::EegGroups(EegGroupsRecipe::for_traits()),
    ] {
        let settings = settings(recipe);
        let without = load(&settings, (study.path(), None), 1);
        assert_eq!(without.n_reused, 0);
        for (n_threads, n_reused) in [(2, 0), (1, N_FILES), (3, N_FILES)] {
            let found = load(&settings, places, n_threads);
            assert_eq!(
                found.n_reused, n_reused,
                "another recipe uses nothing of this one"
            );
            same(&found, &without);
        }
    }
    assert_eq!(kept_files(kept.path()).len(), 2 * N_FILES);
}

#[test]
fn an_interrupted_folder_resumes_with_what_is_missing() {
    let (study, kept) = (study(), tempfile::tempdir().expect("a folder"));
    let places = (study.path(), Some(kept.path()));
    let stopped = load_until(&eeg(), places, 1, &mut |share| share < 0.5);
    assert!(matches!(
        stopped,
        Err(DatasetError::Read(ReadError::Cancelled))
    ));
    let n_kept = kept_files(kept.path()).len();
    assert!((1..N_FILES).contains(&n_kept), "{n_kept}");
    let resumed = load(&eeg(), places, 2);
    assert_eq!(resumed.n_reused, n_kept);
    same(&resumed, &load(&eeg(), (study.path(), None), 2));
}

#[test]
fn only_what_has_changed_or_was_damaged_is_computed_again() {
    let (study, kept) = (study(), tempfile::tempdir().expect("a folder"));
    let places = (study.path(), Some(kept.path()));
    let whole = load(&eeg(), places, 2);
    // Other names, the same content.
    fs::rename(
        study.path().join("case-0.edf"),
        study.path().join("case-9.edf"),
    )
    .expect("moved");
    assert_eq!(load(&eeg(), places, 2).n_reused, N_FILES);
    fs::rename(
        study.path().join("case-9.edf"),
        study.path().join("case-0.edf"),
    )
    .expect("moved");
    // One byte of a sample of one recording.
    let path = study.path().join("case-1.edf");
    let mut bytes = fs::read(&path).expect("there");
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    fs::write(&path, &bytes).expect("writable");
    let changed = load(&eeg(), places, 2);
    assert_eq!(changed.n_reused, N_FILES - 1);
    assert_ne!(bits(&changed), bits(&whole));
    bytes[place] ^= 1;
    fs::write(&path, &bytes).expect("writable");
    // One byte of what was kept of one, and half of what was kept of another.
    let files = kept_files(kept.path());
    assert_eq!(files.len(), N_FILES + 1);
    for path in &files {
        let mut bytes = fs::read(path).expect("there");
        let place = bytes.len() / 3;
        bytes[place] ^= 16;
        fs::write(path, &bytes).expect("writable");
    }
    let mended = load(&eeg(), places, 2);
    assert_eq!(mended.n_reused, 0);
    same(&mended, &whole);
    let cut = fs::File::options().write(true).open(&files[0]);
    cut.and_then(|file| file.set_len(1000)).expect("writable");
    let again = load(&eeg(), places, 2);
    assert!(again.n_reused >= N_FILES - 1);
    same(&again, &whole);
}

#[test]
fn where_nothing_can_be_kept_the_set_is_made_and_says_so() {
    let (study, kept) = (study(), tempfile::tempdir().expect("a folder"));
    let no_folder = kept.path().join("file");
    fs::write(&no_folder, "not a folder").expect("writable");
    let found = load(&eeg(), (study.path(), Some(&no_folder)), 2);
    let without = load(&eeg(), (study.path(), None), 2);
    assert_eq!((found.n_reused, bits(&found)), (0, bits(&without)));
    let told: Vec<&String> = found
        .notes
        .iter()
        .filter(|note| note.contains("kept"))
        .collect();
    assert_eq!(told.len(), 1, "said once: {told:?}");
    let folder = no_folder.display().to_string();
    assert!(told[0].ends_with(&folder), "the place: {told:?}");
    assert_eq!(found.notes.len(), without.notes.len() + 1);
}
