//! A folder of recordings as a data set: every file labelled by the rules, read in turn, sampled by one recipe.

use super::builder::{DatasetBuilder, Label, LabelInterval};
use super::error::DatasetError;
use crate::features::FeatureRecipe;
use crate::records::catalog::{Folder, LabelledFile, LabelledSet};
use crate::records::{ReadOptions, open_with};

impl DatasetBuilder {
    /// Adds the samples of every file that the rules gave a class. Other files, and those that cannot be read, are left
    /// out with the reason. `keep_going` hears the share of the files done and stops the work by saying false.
    pub fn add_folder(
        &mut self,
        folder: &Folder,
        labels: &LabelledSet,
        recipe: &FeatureRecipe,
        options: &ReadOptions,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), DatasetError> {
        let n_files = labels.files.len() as f64;
        for (number, file) in labels.files.iter().enumerate() {
            let mut go_on = |share: f64| keep_going((number as f64 + share) / n_files);
            let path = folder.path.join(&file.path);
            let Some(label) = label_of(file) else {
                let reason = file.problem.as_deref().unwrap_or("no rule gives a class");
                self.leave_out(&path, None, reason.to_owned());
                continue;
            };
            match open_with(&path, options) {
                Ok(record) => {
                    self.add_record(&record, recipe, &label, Some(&file.group), &mut go_on)?;
                }
                Err(error) => self.leave_out(&path, None, error.to_string()),
            }
        }
        Ok(())
    }
}

/// The label of a file: one class, or those of its stretches.
fn label_of(file: &LabelledFile) -> Option<Label> {
    if let Some(class) = &file.class {
        return Some(Label::Whole(class.clone()));
    }
    let intervals: Vec<LabelInterval> = file
        .spans
        .iter()
        .map(|span| LabelInterval {
            start_s: span.onset_s,
            end_s: span.onset_s + span.duration_s,
            class: span.class.clone(),
        })
        .collect();
    (!intervals.is_empty()).then_some(Label::Intervals {
        intervals,
        otherwise: None,
    })
}
