//! What the rules for class and group say of every file, before any is loaded.

use atomscope_engine::dataset::RecordingSource;
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::records::catalog::ClassCount;
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

impl LabelPreview {
    /// Applies the rules.
    pub(super) fn of(
        source: RecordingSource,
        places: &DataPlaces,
        progress: &JobProgress,
    ) -> Result<Self, String> {
        let locate = |named: &std::path::Path| places.locate(named);
        let mut go_on = |share: f64| progress.go_on(share);
        let folders = source
            .labels(&locate, &mut go_on)
            .map_err(|error| error.to_string())?;
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
                        (None, n) => format!("{n} labelled sections"),
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

    /// Rules that cannot be used, with the reason.
    pub(super) fn failed(source: &Option<RecordingSource>, reason: String) -> Self {
        let mut preview = Self::empty(source.clone().unwrap_or_default());
        preview.problems.push(reason);
        preview
    }
}
