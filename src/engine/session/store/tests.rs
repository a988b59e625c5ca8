//! Whatever fails while saving, the old session or the new one is there, whole.

use std::collections::BTreeMap;

use super::super::atomic_file::RealDisk;
use super::super::atomic_file::failing::FailingDisk;
use super::super::format::{from_text, to_text};
use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SmallSession {
    format: u32,
    note: String,
    arrays: Option<ArraysReference>,
}

type StoredTensors = BTreeMap<String, Vec<f64>>;

fn state(number: f64) -> StoredTensors {
    BTreeMap::from([("numbers".to_owned(), vec![number; 60])])
}

fn put(
    disk: &dyn Disk,
    path: &Path,
    replace: Replace<'_>,
    note: &str,
    state: Option<&StoredTensors>,
) -> Result<Stamp, SessionError> {
    let arrays = state.map(|state| Arrays::of(state).expect("plain numbers"));
    let arrays = arrays
        .as_ref()
        .map_or(SavedArrays::Nothing, SavedArrays::New);
    save(disk, path, replace, [arrays], &|[arrays]| {
        let small = SmallSession {
            format: 1,
            note: note.to_owned(),
            arrays,
        };
        to_text(&small, path)
    })
}

fn get(path: &Path) -> Result<(String, Option<StoredTensors>), SessionError> {
    let (text, _) = read_text(path)?;
    let small: SmallSession = from_text(&text, path)?;
    let state = match &small.arrays {
        Some(reference) => Some(load_arrays(path, reference)?),
        None => None,
    };
    Ok((small.note, state))
}

fn names_in(folder: &Path) -> Vec<String> {
    files_in(folder).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_save_leaves_the_ron_and_its_arrays_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let first = put(&RealDisk, &path, Replace::Nothing, "one", Some(&state(1.0)));
    let first = first.expect("saved");
    put(
        &RealDisk,
        &path,
        Replace::Unchanged(&first),
        "two",
        Some(&state(2.0)),
    )
    .expect("saved again");
    let names = names_in(folder.path());
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with("a.") && names[0].ends_with(".safetensors"));
    assert_eq!(get(&path).expect("whole"), ("two".into(), Some(state(2.0))));
}

#[test]
fn a_disk_that_fails_after_every_byte_and_deed_loses_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let old = ("old".to_owned(), Some(state(1.0)));
    let new = ("new".to_owned(), Some(state(2.0)));
    let mut n_failures = 0;
    for units in 0.. {
        put(
            &FailingDisk::after(usize::MAX),
            &path,
            Replace::Anything,
            &old.0,
            old.1.as_ref(),
        )
        .expect("the old session");
        let disk = FailingDisk::after(units);
        let saved = put(&disk, &path, Replace::Anything, &new.0, new.1.as_ref());
        let found = get(&path).expect("a whole session");
        match saved {
            Ok(_) => assert_eq!(found, new),
            Err(_) => {
                n_failures += 1;
                assert!(found == old || found == new, "{found:?}");
            }
        }
        if disk.has_units_left() {
            break;
        }
    }
    assert!(n_failures > 500, "only {n_failures} moments failed");
    // What the failures left behind was cleared by the saves after them.
    assert_eq!(names_in(folder.path()).len(), 2);
}

#[test]
fn two_windows_do_not_overwrite_each_other_unseen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let mine = put(&RealDisk, &path, Replace::Nothing, "opened", None).expect("saved");
    let theirs = read_text(&path).expect("readable").1;
    put(
        &RealDisk,
        &path,
        Replace::Unchanged(&theirs),
        "theirs",
        None,
    )
    .expect("they save first");
    let refused = put(&RealDisk, &path, Replace::Unchanged(&mine), "mine", None);
    let message = refused.expect_err("changed meanwhile").to_string();
    assert!(message.contains("another window"), "{message}");
    assert_eq!(get(&path).expect("whole").0, "theirs");
    put(&RealDisk, &path, Replace::Anything, "mine", None).expect("explicitly");
    assert_eq!(get(&path).expect("whole").0, "mine");
}

#[test]
fn a_new_session_replaces_no_file_unless_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    fs::write(&path, "something else").expect("written");
    let refused = put(&RealDisk, &path, Replace::Nothing, "new", None);
    assert!(matches!(refused, Err(SessionError::Exists { .. })));
}

#[test]
fn a_session_that_is_being_saved_elsewhere_is_busy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let lock = LockFile::try_acquire(&folder.path().join(".a.ron.lock")).expect("lockable");
    let refused = put(&RealDisk, &path, Replace::Nothing, "new", None);
    assert!(matches!(refused, Err(SessionError::Busy { .. })));
    drop(lock);
    put(&RealDisk, &path, Replace::Nothing, "new", None).expect("free again");
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    put(&RealDisk, &path, Replace::Nothing, "old", None).expect("saved");
    let mut permissions = fs::metadata(&path).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("set");
    let refused = put(&RealDisk, &path, Replace::Anything, "new", None);
    assert!(matches!(refused, Err(SessionError::ReadOnly { .. })));
    assert_eq!(get(&path).expect("whole").0, "old");
}

#[test]
fn damaged_arrays_are_told_from_missing_ones_and_the_ron_still_loads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    put(
        &RealDisk,
        &path,
        Replace::Nothing,
        "note",
        Some(&state(1.0)),
    )
    .expect("saved");
    let arrays = folder.path().join(&names_in(folder.path())[0]);
    let mut bytes = fs::read(&arrays).expect("readable");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&arrays, &bytes).expect("damaged");
    let message = get(&path).expect_err("a wrong hash").to_string();
    assert!(message.contains("damaged") && message.contains("results are intact"));
    bytes.pop();
    fs::write(&arrays, &bytes).expect("cut");
    assert!(matches!(
        get(&path),
        Err(SessionError::ArraysDamaged { .. })
    ));
    fs::remove_file(&arrays).expect("removed");
    let message = get(&path).expect_err("no arrays").to_string();
    assert!(message.contains("missing") && message.contains("results are intact"));
    let (text, _) = read_text(&path).expect("the RON is there");
    let small: SmallSession = from_text(&text, &path).expect("and whole");
    assert_eq!(small.note, "note");
}

#[test]
fn a_renamed_or_copied_session_keeps_its_arrays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let copy = folder.path().join("copy.ron");
    put(&RealDisk, &path, Replace::Nothing, "one", Some(&state(1.0))).expect("saved");
    fs::copy(&path, &copy).expect("copied");
    put(
        &RealDisk,
        &path,
        Replace::Anything,
        "two",
        Some(&state(2.0)),
    )
    .expect("saved");
    assert_eq!(get(&copy).expect("whole"), ("one".into(), Some(state(1.0))));
    assert_eq!(get(&path).expect("whole"), ("two".into(), Some(state(2.0))));
}

#[test]
fn saving_leaves_the_arrays_of_other_sessions_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let others = [
        "b.0123456789abcdef.safetensors",
        "a.b.0123456789abcdef.safetensors",
        "a.safetensors",
    ];
    for other in others {
        fs::write(folder.path().join(other), "not ours").expect("written");
    }
    let path = folder.path().join("a.ron");
    put(&RealDisk, &path, Replace::Nothing, "note", None).expect("saved");
    for other in others {
        assert!(folder.path().join(other).exists(), "{other} was removed");
    }
}

#[test]
fn hostile_references_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    for sha256 in ["", "../../../etc/passwd", "é", &"g".repeat(64)] {
        let reference = ArraysReference {
            sha256: sha256.to_owned(),
            size: u64::MAX,
        };
        let refused = load_arrays::<StoredTensors>(&path, &reference);
        assert!(matches!(refused, Err(SessionError::ArraysDamaged { .. })));
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_session_stays_a_link() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let link = folder.path().join("link.ron");
    put(&RealDisk, &path, Replace::Nothing, "one", None).expect("saved");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    put(
        &RealDisk,
        &link,
        Replace::Anything,
        "two",
        Some(&state(2.0)),
    )
    .expect("saved");
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(get(&path).expect("whole").0, "two");
    assert_eq!(get(&link).expect("whole").1, Some(state(2.0)));
}
