//! Samples of a file whose class is not known, made as the settings make samples with a class.

use std::path::Path;

use super::{DataPlan, DataSettings, no_arrays};
use crate::dataset::builder::{DatasetBuilder, Label};
use crate::dataset::{ArrayChoice, Built, DatasetError, TableChoice, TableClasses};
use crate::records::{Mode, ReadOptions, open, open_with};

/// The class that stands for not knowing it.
const UNKNOWN: &str = "unknown";

impl DataSettings {
    /// The samples of one file. Their features must be those of `feature_names`.
    pub fn load_unlabelled(
        &self,
        path: &Path,
        feature_names: &[String],
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Built, DatasetError> {
        let mut builder = DatasetBuilder::new();
        match &self.source {
            DataPlan::Table(table) => {
                let choice = TableChoice {
                    classes: TableClasses::Whole(UNKNOWN.into()),
                    group_column: None,
                    feature_columns: Some(feature_names.to_vec()),
                };
                builder.add_table(&open(path, table.mode)?, &choice)?;
            }
            DataPlan::Arrays(arrays) => {
                let record = open(path, arrays.mode)?;
                let choice = match &arrays.choice {
                    Some(choice) => choice.clone(),
                    None => ArrayChoice::guess(&record).ok_or_else(|| no_arrays(&record))?,
                };
                builder.add_arrays(&record, &choice)?;
            }
            DataPlan::Recordings(recordings) => {
                self.add_unlabelled(&mut builder, path, &recordings.options, keep_going)?;
            }
            DataPlan::FeederFaults(_) | DataPlan::SimulatedEeg(_) => {
                let options = Mode::Tolerant.into();
                self.add_unlabelled(&mut builder, path, &options, keep_going)?;
            }
        }
        let built = builder.finish()?;
        match difference(built.dataset.feature_names(), feature_names) {
            None => Ok(built),
            Some(reason) => Err(DatasetError::Unclear {
                reason,
                path: path.to_owned(),
            }),
        }
    }

    fn add_unlabelled(
        &self,
        builder: &mut DatasetBuilder,
        path: &Path,
        options: &ReadOptions,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), DatasetError> {
        let Some(recipe) = &self.recipe else {
            return Err(DatasetError::NoFeatures);
        };
        let record = open_with(path, options)?;
        let label = Label::Whole(UNKNOWN.into());
        builder.add_record(&record, recipe, &label, None, keep_going)
    }
}

/// In what the features differ from those that were learned.
fn difference(found: &[String], learned: &[String]) -> Option<String> {
    if found.len() != learned.len() {
        return Some(format!(
            "it gives {} features, but the model has learned from {}",
            found.len(),
            learned.len()
        ));
    }
    let mut pairs = found.iter().zip(learned);
    let (found, learned) = pairs.find(|(found, learned)| found != learned)?;
    Some(format!(
        "it gives feature {found:?} where the model has learned from {learned:?}"
    ))
}
