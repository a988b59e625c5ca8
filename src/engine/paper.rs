//! The paper's comparison as one preset: its data sets, its methods, its protocol.
//!
//! A method is one row of `methods`, a data set with a split one row of `panels`.

mod methods;
mod panels;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dataset::{DataFile, Dataset, DatasetError};
use crate::experiment::{
    Comparison, ComparisonError, ComparisonPlan, Entrant, WidthError, median_distance,
};
use crate::export::{ExportError, PaperPart, PaperReport, PartResult, write_all};
use crate::learner::Kernel;
use crate::records::ReadError;
use crate::session::DataPlaces;

use methods::methods;
use panels::{PaperPanel, panels};

/// The distance is Euclidean for all kernels but the Laplacian.
const NO_KERNEL: Kernel = Kernel::Linear;

/// How the comparison is repeated.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// Folders in which the data are looked for.
    pub data: Vec<PathBuf>,
    /// Fewer folds and tests, for a quick look.
    pub is_quick: bool,
    /// Threads; the result does not depend on it.
    pub n_threads: usize,
}

/// Why the comparison could not be repeated.
#[derive(Debug, thiserror::Error)]
pub enum ReproductionError {
    /// The data of a part cannot be read.
    #[error("{part}: {source}")]
    Data {
        /// The part.
        part: &'static str,
        /// Why.
        source: Box<DatasetError>,
    },
    /// The samples have no usual distance.
    #[error("{part}: {reason}")]
    Median {
        /// The part.
        part: &'static str,
        /// Why.
        reason: Box<WidthError>,
    },
    /// The methods do not fit the data.
    #[error("{part}: {source}")]
    Plan {
        /// The part.
        part: &'static str,
        /// Why.
        source: Box<ComparisonError>,
    },
    /// The report cannot be written.
    #[error(transparent)]
    Write(#[from] ExportError),
}

/// Receives the share done and what is being done; cancels by returning false.
pub type KeepGoing<'a> = &'a mut dyn FnMut(f64, &str) -> bool;

impl Reproduction {
    /// Runs everything whose data are there. A part whose data are not says so; one that was
    /// not reached before `keep_going` said no says that.
    pub fn run(&self, keep_going: KeepGoing<'_>) -> Result<PaperReport, ReproductionError> {
        let panels = panels();
        let total: f64 = panels.iter().map(|panel| panel.weight).sum();
        let mut done = 0.0;
        let mut is_complete = true;
        let mut parts = Vec::with_capacity(panels.len());
        for panel in &panels {
            let mut keep = |share: f64| {
                is_complete &= keep_going((done + share * panel.weight) / total, panel.title);
                is_complete
            };
            parts.push(self.part(panel, &mut keep)?);
            done += panel.weight;
        }
        Ok(PaperReport {
            parts,
            is_quick: self.is_quick,
            is_complete,
        })
    }

    /// Writes the report with its figures and tables to a folder, which is made if need be.
    pub fn write(report: &PaperReport, folder: &Path) -> Result<(), ReproductionError> {
        Ok(write_all(folder, &report.files())?)
    }

    fn part(
        &self,
        panel: &PaperPanel,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<PaperPart, ReproductionError> {
        let planned = self.plan_part(panel, &mut |share| keep_going(0.02 * share))?;
        let run = |plan: &ComparisonPlan| {
            plan.run(self.n_threads, &mut |share| keep_going(0.02 + 0.98 * share))
        };
        Ok(planned.to_part(run))
    }

    /// Everything whose data are there, ready to be computed fold by fold; the share of the data
    /// that is read goes to `keep_going`, which cancels by returning false.
    pub fn plan(
        &self,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<PlannedPart>, ReproductionError> {
        let panels = panels();
        let n_panels = panels.len() as f64;
        let mut planned = Vec::with_capacity(panels.len());
        for (number, panel) in panels.iter().enumerate() {
            let mut keep = |share: f64| keep_going((number as f64 + share) / n_panels);
            planned.push(self.plan_part(panel, &mut keep)?);
        }
        Ok(planned)
    }

    fn plan_part(
        &self,
        panel: &PaperPanel,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<PlannedPart, ReproductionError> {
        let experiment = panel.experiment(self.is_quick);
        let places = DataPlaces::new(None, &self.data);
        let missing = experiment.data.files().into_iter();
        let missing = missing.filter(|file| places.locate(file).is_none());
        let missing: Vec<String> = missing.map(|file| file.display().to_string()).collect();
        let planned = |plan, files| PlannedPart {
            key: panel.key,
            title: panel.title,
            notes: panel.notes,
            published: panel.published,
            plan,
            files,
        };
        let left_out = |reason| planned(Err(reason), Vec::new());
        if !missing.is_empty() {
            return Ok(left_out(PartLeftOut::Missing(missing.join(", "))));
        }
        if !keep_going(0.0) {
            return Ok(left_out(PartLeftOut::NotStarted));
        }
        let built = experiment
            .data
            .load(&|named| places.locate(named), keep_going);
        let built = match built {
            Ok(built) => built,
            Err(DatasetError::Read(ReadError::Cancelled)) => {
                return Ok(left_out(PartLeftOut::Stopped));
            }
            Err(source) => {
                let part = panel.title;
                let source = Box::new(source);
                return Err(ReproductionError::Data { part, source });
            }
        };
        let dataset: Arc<Dataset> = Arc::new(built.dataset);
        let median = median_distance(&dataset, experiment.preparation, NO_KERNEL);
        let median = median.map_err(|reason| ReproductionError::Median {
            part: panel.title,
            reason: Box::new(reason),
        })?;
        let methods = methods();
        let entrants = methods.iter().map(|method| Entrant {
            name: method.name.to_owned(),
            experiment: method.on(&experiment, panel, median),
            dataset: dataset.clone(),
        });
        let plan = ComparisonPlan::new(entrants.collect(), &[experiment.seed]);
        let plan = plan.map_err(|source| ReproductionError::Plan {
            part: panel.title,
            source: Box::new(source),
        })?;
        Ok(planned(Ok(plan), built.files))
    }
}

/// Why a part of the paper's comparison is left out.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PartLeftOut {
    /// Files of its data are nowhere.
    #[error("{0} not found in the folders of data")]
    Missing(String),
    /// The comparison was stopped before its data were read.
    #[error("stopped before it started")]
    NotStarted,
    /// The comparison was stopped while its data were read.
    #[error("stopped while its data were read")]
    Stopped,
}

/// A part of the paper's comparison whose data are read.
#[derive(Debug)]
pub struct PlannedPart {
    key: &'static str,
    title: &'static str,
    notes: &'static [&'static str],
    published: Option<&'static str>,
    /// The comparison, or why it is left out.
    pub plan: Result<ComparisonPlan, PartLeftOut>,
    /// The files that were read for it.
    pub files: Vec<DataFile>,
}

impl PlannedPart {
    /// The part of the report, compared by `run`.
    pub fn to_part(&self, run: impl FnOnce(&ComparisonPlan) -> Comparison) -> PaperPart {
        let (result, published_names) = match &self.plan {
            Err(reason) => (PartResult::LeftOut(reason.to_string()), Vec::new()),
            Ok(plan) => {
                let names = methods().iter().map(|method| method.published).collect();
                (PartResult::Compared(Box::new(run(plan))), names)
            }
        };
        PaperPart {
            key: self.key,
            title: self.title,
            notes: self.notes.iter().map(|note| (*note).to_owned()).collect(),
            published: self.published,
            published_names,
            result,
        }
    }
}
