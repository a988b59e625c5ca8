//! Recovery copies: offered after a crash, once, and never without need.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use atomscope_engine::session::{FoundCopies, Recovery, Session, UserFolders, find_copies};

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

    fn find(&self) -> FoundCopies {
        find_copies(Some(&self.path), &self.folders).expect("searched")
    }

    fn finds_nothing(&self) -> bool {
        let found = self.find();
        found.offers.is_empty() && found.broken.is_empty()
    }

    fn changed(&self) -> Session {
        let mut session = Session::load(&self.path).expect("whole");
        session.notes = "not saved".into();
        session
    }

    /// Dropping without closing is what a crash does.
    fn crash_with_unsaved_work(&self) {
        let mut recovery = self.claim();
        recovery.write(&self.changed()).expect("written");
    }

    fn assert_no_trace(&self) {
        assert!(self.finds_nothing());
        let names = names_in(self.folder.path());
        assert_eq!(names.len(), 3, "{names:?}");
    }
}

#[test]
fn after_a_crash_the_copy_is_offered_and_can_be_gone_on_with() {
    let scene = Scene::new();
    scene.crash_with_unsaved_work();
    let offer = scene.find().offers.pop().expect("it is offered");
    assert!(offer.written.is_some());
    assert!(
        scene.finds_nothing(),
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
    let offer = scene.find().offers.pop().expect("it is offered");
    offer.decline().expect("removed");
    scene.assert_no_trace();
    let saved = Session::load(&scene.path).expect("whole");
    assert_eq!(saved.notes, "as it was");
}

#[test]
fn a_clean_close_leaves_nothing_to_offer() {
    let scene = Scene::new();
    let mut recovery = scene.claim();
    recovery.write(&scene.changed()).expect("written");
    recovery.close().expect("closed");
    scene.assert_no_trace();
}

#[test]
fn a_process_that_is_alive_has_not_crashed_and_keeps_its_own_copy() {
    let scene = Scene::new();
    let mut first = scene.claim();
    let mut second = scene.claim();
    for recovery in [&mut first, &mut second] {
        recovery.write(&scene.changed()).expect("written");
    }
    assert!(scene.finds_nothing());
    first.close().expect("closed");
    drop(second);
    assert_eq!(scene.find().offers.len(), 1);
}

#[test]
fn a_copy_that_is_the_same_as_the_save_is_not_offered() {
    let scene = Scene::new();
    let session = Session::load(&scene.path).expect("whole");
    let mut recovery = scene.claim();
    recovery.write(&session).expect("written");
    drop(recovery);
    scene.assert_no_trace();
}

#[test]
fn a_crash_right_after_the_save_offers_nothing_and_right_before_it_does() {
    for saves in [true, false] {
        let scene = Scene::new();
        let mut session = scene.changed();
        let mut recovery = scene.claim();
        recovery.write(&session).expect("written");
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
        let found = scene.find().offers;
        let notes: Vec<&str> = found
            .iter()
            .map(|offer| offer.session.notes.as_str())
            .collect();
        let expected: &[&str] = if saves { &[] } else { &["not saved"] };
        assert_eq!(notes, expected, "saves: {saves}");
    }
}

#[test]
fn a_save_that_fails_keeps_the_copy() {
    let scene = Scene::new();
    let mut recovery = scene.claim();
    let mut session = scene.changed();
    recovery.write(&session).expect("written");
    let mut other = Session::load(&scene.path).expect("whole");
    other.notes = "another window".into();
    other.save().expect("saved");
    recovery
        .around_save(|| session.save())
        .expect_err("changed meanwhile");
    drop(recovery);
    assert_eq!(scene.find().offers.len(), 1);
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
        let said = scene.find().broken.pop().expect("it is broken");
        let said = said.to_string();
        assert!(said.contains("the last save is used"), "{said}");
        assert!(scene.finds_nothing());
        let saved = Session::load(&scene.path).expect("whole");
        assert_eq!(saved.notes, "as it was");
    }
}

#[test]
fn a_session_without_a_name_is_recovered_from_the_users_folder() {
    let scene = Scene::new();
    let mut recovery = Recovery::claim(None, &scene.folders).expect("a place");
    recovery.write(&scene.changed()).expect("written");
    drop(recovery);
    assert!(scene.finds_nothing());
    let mut found = find_copies(None, &scene.folders).expect("searched");
    let offer = found.offers.pop().expect("it is offered");
    assert_eq!(offer.belongs_to(), None);
    let (mut session, recovery) = offer.accept();
    assert_eq!(session.notes, "not saved");
    assert!(session.path().is_none() && session.save().is_err());
    recovery.close().expect("closed");
    let found = find_copies(None, &scene.folders).expect("searched");
    assert!(found.offers.is_empty());
}

#[test]
fn the_newest_copy_comes_first() {
    let scene = Scene::new();
    let copies: Vec<Recovery> = ["first", "second"]
        .map(|notes| {
            let mut recovery = scene.claim();
            let mut session = scene.changed();
            session.notes = notes.into();
            recovery.write(&session).expect("written");
            std::thread::sleep(std::time::Duration::from_millis(20));
            recovery
        })
        .into();
    drop(copies);
    let found = scene.find().offers;
    let notes: Vec<&str> = found
        .iter()
        .map(|offer| offer.session.notes.as_str())
        .collect();
    assert_eq!(notes, ["second", "first"]);
    let belongs_to = found.iter().map(|offer| offer.belongs_to());
    assert!(belongs_to.eq([Some(scene.path.as_path()); 2]));
}
