//! What the rules for class and group say of every file, before any is loaded.

use super::background::{Answer, Background};
use super::event::Event;
use super::{Stage, TaskError, Workbench};
use atomscope_engine::dataset::{DataPlan, RecordingSource};
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::records::catalog::ClassCount;
use atomscope_engine::records::counted;
use atomscope_engine::session::DataPlaces;

/// Files named as examples.
const MOST_EXAMPLES: usize = 8;

/// What rules give for the recordings of a source.
#[derive(Clone, Debug)]
pub struct LabelPreview {
    /// The source with its rules.
    pub source: RecordingSource,
    /// Files in all.
    pub n_files: usize,
    /// The classes with their numbers of files and groups.
    pub classes: Vec<ClassCount>,
    /// A few files with class and group.
    pub examples: Vec<(String, String, String)>,
    /// What to look at before the rules are used.
    pub problems: Vec<String>,
}

/// What the rules of the draft give.
#[derive(Default)]
pub(super) struct Labels {
    tried: Background<RecordingSource, LabelPreview>,
    /// The rules that cannot be used, with the reason.
    refused: Option<LabelPreview>,
}

impl Labels {
    pub(super) fn shown(&self) -> Option<&LabelPreview> {
        self.refused
            .as_ref()
            .or(self.tried.shown().map(|preview| preview.as_ref()))
    }

    pub(super) fn take(&mut self, answer: Answer<LabelPreview>) {
        self.refused = match self.tried.take(answer) {
            Some(Err(error)) => self.tried.wanted().map(|source| LabelPreview {
                problems: vec![error.to_string()],
                ..LabelPreview::empty(source.clone())
            }),
            Some(Ok(_)) | None => None,
        };
    }
}

impl Workbench {
    /// Tries the rules of the draft whenever they change.
    pub(super) fn follow_labels(&mut self) {
        let DataPlan::Recordings(source) = &self.document.draft.experiment.data.source else {
            return;
        };
        let tried = &mut self.tasks.labels.tried;
        if tried.is_wanted(source) || tried.is_busy() || self.selection.page != Stage::Records {
            return;
        }
        let (wanted, places) = (source.clone(), self.document.places());
        let on = (&self.tasks.post, "labels", Event::Labels as _);
        tried.start(source.clone(), on, move |progress| {
            LabelPreview::of(wanted, &places, progress)
        });
    }
}

impl LabelPreview {
    /// Applies the rules.
    fn of(
        source: RecordingSource,
        places: &DataPlaces,
        progress: &JobProgress,
    ) -> Result<Self, TaskError> {
        let locate = |named: &std::path::Path| places.locate(named);
        let folders = source.labels(&locate, &mut |share| progress.go_on(share))?;
        let mut preview = Self::empty(source);
        for folder in folders {
            let files = &folder.labels.files;
            preview.n_files += files.len();
            preview.classes.extend(folder.labels.classes());
            preview.problems.extend(folder.labels.problems());
            let stride = files.len().div_ceil(MOST_EXAMPLES).max(1);
            preview
                .examples
                .extend(files.iter().step_by(stride).map(|file| {
                    let class = match (&file.class, file.spans.len()) {
                        (Some(class), _) => class.clone(),
                        (None, 0) => "–".into(),
                        (None, n) => counted(n, "labelled section"),
                    };
                    (file.path.display().to_string(), class, file.group.clone())
                }));
        }
        Ok(preview)
    }

    fn empty(source: RecordingSource) -> Self {
        Self {
            source,
            n_files: 0,
            classes: Vec::new(),
            examples: Vec::new(),
            problems: Vec::new(),
        }
    }
}
