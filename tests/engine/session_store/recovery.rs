//! Recovery copies: offered after a crash, once, and never without need.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use atomscope_engine::session::{FoundRecovery, Recovery, Session, UserFolders, find_recovery};

use super::small_run::{names_in, saved_session};

struct Scene {
    folder: tempfile::TempDir,
    path: std::path::PathBuf,
    folders: UserFolders,
    _user: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let (folder, path) = saved_session(2);
        let user = tempfile::tempdir().expect("a temporary folder");
        Self {
            folder,
            path,
            folders: UserFolders::within(user.path()),
            _user: user,
        }
    }

    fn claim(&self) -> Recovery {
        Recovery::claim(Some(&self.path), &self.folders).expect("a place")
    }

    fn find(&self) -> FoundRecovery {
        find_recovery(Some(&self.path), &self.folders).expect("looked")
    }

    fn changed(&self) -> Session {
        let mut session = Session::load(&self.path).expect("whole");
        session.notes = "not saved".into();
        session
    }

    /// Dropping without closing is what a crash does.
    fn crash_with_unsaved_work(&self) {
        let mut recovery = self.claim();
        recovery
            .write(&self.changed(), Instant::now())
            .expect("written");
    }

    fn assert_no_trace(&self) {
        assert!(matches!(self.find(), FoundRecovery::Nothing));
        let names = names_in(self.folder.path());
        assert_eq!(names.len(), 3, "{names:?}");
    }
}

#[test]
fn after_a_crash_the_copy_is_offered_and_can_be_gone_on_with() {
    let scene = Scene::new();
    scene.crash_with_unsaved_work();
    let FoundRecovery::Offer(offer) = scene.find() else {
        panic!("nothing was offered");
    };
    assert!(offer.written.is_some());
    assert!(
        matches!(scene.find(), FoundRecovery::Nothing),
        "who is being asked already is not asked again"
    );
    let (mut session, mut recovery) = offer.accept();
    assert_eq!(session.notes, "not saved");
    assert!(session.run.is_some());
    assert_eq!(session.path(), Some(scene.path.as_path()));
    recovery.around_save(|| session.save()).expect("saved");
    recovery.close().expect("closed");
    scene.assert_no_trace();
    let saved = Session::load(&scene.path).expect("whole");
    assert_eq!(saved.notes, "not saved");
}

#[test]
fn a_copy_that_was_declined_is_not_offered_again() {
    let scene = Scene::new();
    scene.crash_with_unsaved_work();
    let FoundRecovery::Offer(offer) = scene.find() else {
        panic!("nothing was offered");
    };
    offer.decline().expect("removed");
    scene.assert_no_trace();
    let saved = Session::load(&scene.path).expect("whole");
    assert_eq!(saved.notes, "as it was");
}

#[test]
fn a_clean_close_leaves_nothing_to_offer() {
    let scene = Scene::new();
    let mut recovery = scene.claim();
    recovery
        .write(&scene.changed(), Instant::now())
        .expect("written");
    recovery.close().expect("closed");
    scene.assert_no_trace();
}

#[test]
fn a_process_that_is_alive_has_not_crashed_and_keeps_its_own_copy() {
    let scene = Scene::new();
    let mut first = scene.claim();
    let mut second = scene.claim();
    for recovery in [&mut first, &mut second] {
        recovery
            .write(&scene.changed(), Instant::now())
            .expect("written");
    }
    assert!(matches!(scene.find(), FoundRecovery::Nothing));
    first.close().expect("closed");
    drop(second);
    assert!(matches!(scene.find(), FoundRecovery::Offer(_)));
}

#[test]
fn a_copy_that_is_the_same_as_the_save_is_not_offered() {
    let scene = Scene::new();
    let session = Session::load(&scene.path).expect("whole");
    let mut recovery = scene.claim();
    recovery.write(&session, Instant::now()).expect("written");
    drop(recovery);
    scene.assert_no_trace();
}

#[test]
fn a_crash_right_after_the_save_offers_nothing_and_right_before_it_does() {
    for saves in [true, false] {
        let scene = Scene::new();
        let mut session = scene.changed();
        let mut recovery = scene.claim();
        recovery.write(&session, Instant::now()).expect("written");
        session.notes = "later".into();
        let crash = catch_unwind(AssertUnwindSafe(|| {
            recovery.around_save(|| {
                if saves {
                    session.save()?;
                }
                panic!("the crash");
                #[expect(unreachable_code, reason = "gives the type of the result")]
                Ok(())
            })
        }));
        assert!(crash.is_err());
        drop(recovery);
        match (saves, scene.find()) {
            (true, FoundRecovery::Nothing) => {}
            (false, FoundRecovery::Offer(offer)) => assert_eq!(offer.session.notes, "not saved"),
            (saves, found) => panic!("saves {saves}: {found:?}"),
        }
    }
}

#[test]
fn a_save_that_fails_keeps_the_copy() {
    let scene = Scene::new();
    let mut recovery = scene.claim();
    let mut session = scene.changed();
    recovery.write(&session, Instant::now()).expect("written");
    let mut other = Session::load(&scene.path).expect("whole");
    other.notes = "another window".into();
    other.save().expect("saved");
    recovery
        .around_save(|| session.save())
        .expect_err("changed meanwhile");
    drop(recovery);
    assert!(matches!(scene.find(), FoundRecovery::Offer(_)));
}

#[test]
fn a_broken_copy_is_told_once_and_the_last_save_is_used() {
    let breaks: [fn(&Path); 2] = [
        |folder| {
            let copy = folder.join("a.recovery.ron");
            let text = fs::read_to_string(&copy).expect("readable");
            fs::write(&copy, &text[..text.len() / 2]).expect("cut");
        },
        |folder| {
            let names = names_in(folder);
            let arrays = names
                .iter()
                .find(|name| name.starts_with("a.recovery.") && name.ends_with("rs"));
            fs::write(folder.join(arrays.expect("arrays")), "torn").expect("written");
        },
    ];
    for damage in breaks {
        let scene = Scene::new();
        scene.crash_with_unsaved_work();
        damage(scene.folder.path());
        let FoundRecovery::Broken(said) = scene.find() else {
            panic!("it is broken");
        };
        let said = said.to_string();
        assert!(said.contains("the last save is used"), "{said}");
        assert!(matches!(scene.find(), FoundRecovery::Nothing));
        let saved = Session::load(&scene.path).expect("whole");
        assert_eq!(saved.notes, "as it was");
    }
}

#[test]
fn a_session_without_a_name_is_recovered_from_the_users_folder() {
    let scene = Scene::new();
    let mut recovery = Recovery::claim(None, &scene.folders).expect("a place");
    recovery
        .write(&scene.changed(), Instant::now())
        .expect("written");
    drop(recovery);
    assert!(matches!(scene.find(), FoundRecovery::Nothing));
    let found = find_recovery(None, &scene.folders).expect("looked");
    let FoundRecovery::Offer(offer) = found else {
        panic!("nothing was offered");
    };
    let (mut session, recovery) = offer.accept();
    assert_eq!(session.notes, "not saved");
    assert!(session.path().is_none() && session.save().is_err());
    recovery.close().expect("closed");
    let found = find_recovery(None, &scene.folders).expect("looked");
    assert!(matches!(found, FoundRecovery::Nothing));
}

#[test]
fn copies_are_due_every_thirty_seconds() {
    let scene = Scene::new();
    let mut recovery = scene.claim();
    let begin = Instant::now();
    assert!(!recovery.is_due(begin + Duration::from_secs(29)));
    let later = begin + Duration::from_secs(31);
    assert!(recovery.is_due(later));
    recovery.write(&scene.changed(), later).expect("written");
    assert!(!recovery.is_due(later + Duration::from_secs(29)));
    assert!(recovery.is_due(later + Duration::from_secs(30)));
    recovery.close().expect("closed");
}
