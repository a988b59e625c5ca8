//! Sources by name: a folder that fills, a file that grows or is complete, a recorded stream, `lsl:NAME`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{
    FileMark, GrowingFile, Learning, LiveJudge, LslSource, ReplaySource, SavedStream, StreamError,
    StreamSource, WatchedFolder, WholeFile, is_recorded_stream,
};
use crate::session::Session;

/// The final model of a session as the judge of a source, with what is to be said about it; none without a final model.
/// It continues from the state that is saved at `state_path`.
pub fn judge_for(
    session: &Session,
    name: &str,
    state_path: Option<&Path>,
    learning: Option<Learning>,
) -> Result<Option<(LiveJudge, Vec<String>)>, StreamError> {
    let mut saved = state_path.map_or(Ok(None), SavedStream::load)?;
    if name == "-" || name.starts_with("lsl:") || is_recorded_stream(Path::new(name)) {
        // Lines and samples come only once: what was learned continues, places and counts do not.
        saved = saved.filter(|_| learning.is_some());
        if let Some(saved) = &mut saved {
            saved.decided_until_s = None;
        }
    }
    LiveJudge::new(session, name, saved, learning)
}

/// Opens a source for a judge; files of a folder count when they have not changed for `rest`.
pub fn open_source(
    name: &str,
    judge: &mut LiveJudge,
    rest: Duration,
) -> Result<Box<dyn StreamSource>, StreamError> {
    if let Some(name) = name.strip_prefix("lsl:") {
        return Ok(Box::new(LslSource::open(name)?));
    }
    let path = Path::new(name);
    if path.is_dir() && is_recorded_stream(path) {
        return Ok(Box::new(ReplaySource::open(path)?));
    }
    if path.is_dir() {
        return Ok(Box::new(watched_folder(path, judge, rest)));
    }
    if !path.exists() {
        return Err(StreamError::NoSource {
            name: name.to_owned(),
        });
    }
    if judge.judges_segments() && GrowingFile::can_follow(path) {
        judge.follow_file(path);
        let options = judge.data().read_options();
        return Ok(Box::new(GrowingFile::new(path, options)));
    }
    Ok(Box::new(WholeFile::new(path)))
}

/// The folder without the files that were judged before.
fn watched_folder(folder: &Path, judge: &LiveJudge, rest: Duration) -> WatchedFolder {
    let inside = |file: &PathBuf| Some(file.strip_prefix(folder).ok()?.to_owned());
    let files = || judge.state.files.iter();
    let known: BTreeMap<PathBuf, FileMark> = files()
        .filter_map(|(file, judged)| Some((inside(file)?, judged.mark.clone())))
        .collect();
    let labelled: BTreeMap<PathBuf, String> = files()
        .filter_map(|(file, judged)| Some((inside(file)?, judged.label.clone()?)))
        .collect();
    WatchedFolder::new(folder, judge.class_names(), rest, known, labelled)
}
