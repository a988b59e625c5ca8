//! `atomscope info FOLDER`: what each rule that suits a folder would make of its recordings.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use atomscope_engine::dataset::{DataPlan, DataSettings};
use atomscope_engine::records::catalog::{
    CatalogError, ClassCount, Folder, LabelledSet, Rule, label,
};
use atomscope_engine::records::{Mode, counted};

/// What rules give for a folder.
#[derive(Debug, Serialize)]
pub(super) struct FolderReport {
    path: String,
    n_files: usize,
    /// Why files were skipped, and how many.
    skipped: BTreeMap<String, usize>,
    /// What opening the folder makes of it, if it can tell classes.
    opened: Option<OpenedReport>,
    rules: Vec<RuleReport>,
    pub(super) error: Option<String>,
}

/// What opening a folder of recordings chooses by itself.
#[derive(Debug, Serialize)]
struct OpenedReport {
    rules: Vec<String>,
    /// The recipe, and why it is that one.
    recipe: Option<String>,
    classes: Vec<ClassReport>,
    problems: Vec<String>,
}

/// What one rule gives.
#[derive(Debug, Serialize)]
struct RuleReport {
    /// The rule as a session names it.
    rule: String,
    #[serde(skip)]
    words: String,
    classes: Vec<ClassReport>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ClassReport {
    class: String,
    n_files: usize,
    n_groups: usize,
}

impl FolderReport {
    pub(super) fn of(path: &Path, mode: Mode) -> Self {
        let shown = path.display().to_string();
        match Self::read(path, mode) {
            Ok((folder, rules)) => Self {
                path: shown,
                n_files: folder.files.len(),
                skipped: folder.skipped,
                opened: OpenedReport::of(path),
                rules,
                error: None,
            },
            Err(error) => Self {
                path: shown,
                n_files: 0,
                skipped: BTreeMap::new(),
                opened: None,
                rules: Vec::new(),
                error: Some(error.to_string()),
            },
        }
    }

    fn read(path: &Path, mode: Mode) -> Result<(Folder, Vec<RuleReport>), CatalogError> {
        let folder = Folder::scan(path)?;
        let mut reports = Vec::new();
        for rule in folder.suggestions() {
            reports.push(RuleReport::of(&folder, rule, mode)?);
        }
        Ok((folder, reports))
    }

    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.path)?;
        if let Some(error) = &self.error {
            return writeln!(out, "  cannot be read: {error}");
        }
        let n_files = counted(self.n_files, "file");
        writeln!(out, "  folder with {n_files} that can be read")?;
        for (reason, count) in &self.skipped {
            writeln!(out, "  skipped   {count} {reason}")?;
        }
        if let Some(opened) = &self.opened {
            writeln!(out, "  When it is opened: {}", opened.rules.join("; "))?;
            if let Some(recipe) = &opened.recipe {
                writeln!(out, "    {recipe}")?;
            }
            write_labels(&opened.classes, &opened.problems, out)?;
        }
        if self.rules.is_empty() {
            writeln!(out, "  no rule for classes found")?;
        }
        for report in &self.rules {
            writeln!(out, "  {}", report.words)?;
            write_labels(&report.classes, &report.problems, out)?;
        }
        Ok(())
    }
}

fn write_labels(
    classes: &[ClassReport],
    problems: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    for class in classes {
        let n_files = counted(class.n_files, "file");
        let n_groups = counted(class.n_groups, "group");
        writeln!(out, "    class {}: {n_files}, {n_groups}", class.class)?;
    }
    for problem in problems {
        writeln!(out, "    {problem}")?;
    }
    Ok(())
}

impl OpenedReport {
    fn of(path: &Path) -> Option<Self> {
        let settings = DataSettings::for_path(path, &mut |_| true).ok()?;
        let DataPlan::Recordings(source) = &settings.source else {
            return None;
        };
        let as_named = |path: &Path| Some(path.to_owned());
        let folders = source.labels(&as_named, &mut |_| true).ok()?;
        let labels = &folders.first()?.labels;
        let rules = source.rules.iter().map(Rule::in_words).collect();
        (!source.rules.is_empty()).then(|| Self {
            rules,
            recipe: settings.recipe_reason(),
            classes: ClassReport::all_of(labels),
            problems: labels.problems(),
        })
    }
}

impl ClassReport {
    fn all_of(labels: &LabelledSet) -> Vec<Self> {
        let classes = labels.classes().into_iter();
        let report = |count: ClassCount| Self {
            class: count.class,
            n_files: count.n_files,
            n_groups: count.n_groups,
        };
        classes.map(report).collect()
    }
}

impl RuleReport {
    fn of(folder: &Folder, rule: Rule, mode: Mode) -> Result<Self, CatalogError> {
        let text = ron::to_string(&rule).unwrap_or_else(|error| error.to_string());
        let words = rule.in_words();
        let labels = label(folder, &[rule], mode, |_| true)?;
        Ok(Self {
            rule: text,
            words,
            classes: ClassReport::all_of(&labels),
            problems: labels.problems(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_previewed_rule_by_rule() {
        let folder = tempfile::tempdir().expect("a folder");
        for (class, name) in [("rest", "a.txt"), ("rest", "b.txt"), ("task", "c.txt")] {
            let inside = folder.path().join(class);
            std::fs::create_dir_all(&inside).expect("made");
            std::fs::write(inside.join(name), "1\n2\n3\n4\n").expect("written");
        }
        std::fs::write(folder.path().join("notes.docx"), "x").expect("written");
        let report = FolderReport::of(folder.path(), Mode::Tolerant);
        assert_eq!((report.n_files, &report.error), (3, &None));
        let skipped: Vec<_> = report.skipped.iter().collect();
        assert_eq!(skipped.len(), 1, "{skipped:?}");
        assert!(
            skipped[0].0.contains(".docx") && *skipped[0].1 == 1,
            "{skipped:?}"
        );
        let by_folder = report
            .rules
            .iter()
            .find(|rule| rule.rule.contains("ParentFolder"))
            .expect("folders are named by class");
        let counts: Vec<(&str, usize)> = by_folder
            .classes
            .iter()
            .map(|class| (class.class.as_str(), class.n_files))
            .collect();
        assert_eq!(counts, [("rest", 2), ("task", 1)]);
        let mut text = Vec::new();
        report.write_text(&mut text).expect("memory takes it");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("class rest: 2 files"), "{text}");
        let nowhere = FolderReport::of(&folder.path().join("nowhere"), Mode::Tolerant);
        assert!(nowhere.error.is_some());
    }
}
