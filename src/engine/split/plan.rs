//! Plans: how a data set is to be split, as plain settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{LabelDelay, Split, TimeOrder, deal};
use crate::dataset::Dataset;

/// Number of folds where nothing else is said.
const USUAL_FOLDS: usize = 5;

/// How one test set is held out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum HoldOut {
    /// A share of the samples of every class, drawn at random.
    Share {
        /// Share of the samples that are tested, between 0 and 1.
        test_share: f64,
        /// Seed of the draw.
        seed: u64,
    },
    /// Whole groups, drawn at random until about this share of the samples of every class is reached.
    GroupShare {
        /// Share of the samples that are tested, between 0 and 1.
        test_share: f64,
        /// Seed of the draw.
        seed: u64,
    },
    /// The groups named.
    Groups {
        /// Names of the groups that are tested.
        names: Vec<String>,
    },
    /// The last part of every recording, in order of time.
    Time {
        /// Share of each recording that is tested, between 0 and 1.
        test_share: f64,
    },
}

/// The folds that groups were dealt to, by name, so that a group keeps its fold when others come or go.
///
/// Two plans that differ in nothing else are equal: what is kept follows from the plan and the data it met.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptFolds {
    /// Number of folds that were dealt to; with another number the folds are dealt anew.
    n_folds: usize,
    /// Seed that they were dealt with; with another one they are dealt anew.
    seed: u64,
    /// Fold of each group, counted from 0.
    fold_of: BTreeMap<String, usize>,
}

impl PartialEq for KeptFolds {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl KeptFolds {
    /// Whether no group was dealt yet.
    pub fn is_empty(&self) -> bool {
        self.fold_of.is_empty()
    }

    /// The fold of each group, where they were dealt to so many folds with that seed.
    fn of(&self, n_folds: usize, seed: u64) -> &BTreeMap<String, usize> {
        static NONE: BTreeMap<String, usize> = BTreeMap::new();
        match (self.n_folds, self.seed) == (n_folds, seed) {
            true => &self.fold_of,
            false => &NONE,
        }
    }
}

/// How a data set is split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum SplitPlan {
    /// Every sample is tested once; classes keep their share in every fold; groups are not examined.
    KFold {
        /// Number of folds.
        n_folds: usize,
        /// Seed of the draw.
        seed: u64,
    },
    /// Every sample is tested once; a group is never divided; the groups of every class are dealt out evenly.
    GroupedKFold {
        /// Number of folds.
        n_folds: usize,
        /// Seed of the draw.
        seed: u64,
        /// The fold of every group that was dealt before: it stays there.
        #[serde(default, skip_serializing_if = "KeptFolds::is_empty")]
        kept: KeptFolds,
    },
    /// One fold per group.
    LeaveOneGroupOut,
    /// One fold.
    HoldOut(HoldOut),
    /// One fold in the order of time: every sample but the first ones is tested when it comes, then learned.
    InTime(TimeOrder),
}

/// Why a plan does not fit a data set.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SplitError {
    /// The number of folds is outside what the samples allow.
    #[error("number of folds must be 2 to {most} (the number of {what}), but is {found}")]
    Folds {
        /// The number asked for.
        found: usize,
        /// The largest number possible.
        most: usize,
        /// What sets the limit.
        what: &'static str,
    },
    /// The plan needs groups.
    #[error(
        "groups are not known: enter a subject or record for every sample, or split without groups"
    )]
    NoGroups,
    /// There is only one group.
    #[error("all samples belong to group {name:?}: at least two groups are needed")]
    OneGroup {
        /// The group.
        name: String,
    },
    /// A share is not between 0 and 1.
    #[error("test share must be more than 0 and less than 1, but is {found}")]
    Share {
        /// The share asked for.
        found: f64,
    },
    /// A named group does not exist.
    #[error("group {name:?} is not in the data set")]
    NoSuchGroup {
        /// The name.
        name: String,
    },
    /// Labels come before their samples.
    #[error("the delay of labels must be at least 0 s, but is {delay_s} s")]
    Delay {
        /// The delay asked for.
        delay_s: f64,
    },
    /// Nothing tells when samples came.
    #[error(
        "the samples have no times, since their files name no start: give the delay of labels as a number of samples"
    )]
    NoTimes,
    /// A class is not among the first samples.
    #[error(
        "class {name} first comes as sample {first}, but the learner begins with {n_start}: make the share of the start larger"
    )]
    LateClass {
        /// The class.
        name: String,
        /// Number of its first sample in the order of time.
        first: usize,
        /// Samples that the learner begins with.
        n_start: usize,
    },
    /// One side would be empty.
    #[error("no sample is left for {side}: change the share or the groups")]
    EmptySide {
        /// Training or testing.
        side: &'static str,
    },
}

impl SplitPlan {
    /// Folds of whole groups, not dealt yet.
    pub fn grouped(n_folds: usize, seed: u64) -> Self {
        Self::GroupedKFold {
            n_folds,
            seed,
            kept: KeptFolds::default(),
        }
    }

    /// Keeps the folds that the groups of a data set have now. Groups that are gone are remembered: they may come back.
    pub fn keep_folds(&mut self, dataset: &Dataset) {
        let Self::GroupedKFold {
            n_folds,
            seed,
            kept,
        } = self
        else {
            return;
        };
        let Ok(groups) = groups(dataset) else {
            return;
        };
        let known = kept.of(*n_folds, *seed);
        let dealt = deal::by_name(dataset, groups.of_sample, *n_folds, *seed, known);
        let mut fold_of = known.clone();
        for (name, fold) in dataset.group_names().iter().zip(dealt) {
            fold_of.extend(fold.map(|fold| (name.clone(), fold)));
        }
        *kept = KeptFolds {
            n_folds: *n_folds,
            seed: *seed,
            fold_of,
        };
    }

    /// Keeps the folds in which the groups of a saved run were tested, whatever way they were dealt.
    pub fn keep_test_folds(
        &mut self,
        group_names: &[String],
        groups: &[usize],
        test_folds: &[Option<usize>],
    ) {
        if let Self::GroupedKFold {
            n_folds,
            seed,
            kept,
        } = self
        {
            let tested = groups.iter().zip(test_folds);
            let named = tested
                .filter_map(|(group, fold)| Some((group_names.get(*group)?.clone(), (*fold)?)));
            *kept = KeptFolds {
                n_folds: *n_folds,
                seed: *seed,
                fold_of: named.collect(),
            };
        }
    }

    /// The plan to start from: folds by group wherever groups are known.
    pub fn default_for(dataset: &Dataset, seed: u64) -> Self {
        let n_groups = n_groups(dataset).unwrap_or(0);
        if n_groups >= 2 {
            Self::grouped(n_groups.min(USUAL_FOLDS), seed)
        } else {
            Self::KFold {
                n_folds: USUAL_FOLDS.min(dataset.n_samples()).max(2),
                seed,
            }
        }
    }

    /// What is tested, in a few words.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        match self {
            Self::KFold { .. } => "random samples".into(),
            Self::GroupedKFold { .. } => "whole groups".into(),
            Self::LeaveOneGroupOut => "one fold per group".into(),
            Self::HoldOut(HoldOut::Share { test_share, .. }) => {
                format!("{} held out", percent(*test_share))
            }
            Self::HoldOut(HoldOut::GroupShare { test_share, .. }) => {
                format!("{} held out by group", percent(*test_share))
            }
            Self::HoldOut(HoldOut::Groups { names }) => match &names[..] {
                [name] => format!("group {name} held out"),
                names => format!("{} groups held out", names.len()),
            },
            Self::HoldOut(HoldOut::Time { test_share }) => {
                format!("last {} of each recording held out", percent(*test_share))
            }
            Self::InTime(order) if order.delay == LabelDelay::default() => {
                "in the order of time: tested, then learned".into()
            }
            Self::InTime(order) => {
                format!("in the order of time, labels {}", order.delay)
            }
        }
    }

    /// The seed of the draw, where one is made.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Self::KFold { seed, .. }
            | Self::GroupedKFold { seed, .. }
            | Self::HoldOut(HoldOut::Share { seed, .. } | HoldOut::GroupShare { seed, .. }) => {
                Some(*seed)
            }
            Self::LeaveOneGroupOut
            | Self::InTime(_)
            | Self::HoldOut(HoldOut::Groups { .. } | HoldOut::Time { .. }) => None,
        }
    }

    /// Splits a data set. The same plan and data give the same folds, bit for bit.
    pub fn split(&self, dataset: &Dataset) -> Result<Split, SplitError> {
        let n_samples = dataset.n_samples();
        let test_fold = match self {
            Self::KFold { n_folds, seed } => {
                check_folds(*n_folds, n_samples, "samples")?;
                whole(deal::stratified(dataset, *n_folds, *seed))
            }
            Self::GroupedKFold {
                n_folds,
                seed,
                kept,
            } => {
                let groups = groups(dataset)?;
                check_folds(*n_folds, groups.n_present, "groups")?;
                let known = kept.of(*n_folds, *seed);
                let fold_of = deal::by_name(dataset, groups.of_sample, *n_folds, *seed, known);
                let of_sample = groups.of_sample.iter();
                of_sample.map(|group| fold_of[*group]).collect()
            }
            // `Split` numbers the groups that have samples.
            Self::LeaveOneGroupOut => whole(groups(dataset)?.of_sample.to_vec()),
            Self::HoldOut(hold_out) => hold_out.test_samples(dataset)?,
            Self::InTime(order) => one_fold(order.test_samples(dataset)?),
        };
        let split = Split::new(test_fold);
        let n_test = split.test_folds().flatten().count();
        let side = match n_test {
            0 => Some("testing"),
            n if n == n_samples && split.n_folds() < 2 => Some("training"),
            _ => None,
        };
        match side {
            Some(side) => Err(SplitError::EmptySide { side }),
            None => Ok(split),
        }
    }
}

impl HoldOut {
    fn test_samples(&self, dataset: &Dataset) -> Result<Vec<Option<usize>>, SplitError> {
        let tested = match self {
            Self::Share { test_share, seed } => {
                deal::share(dataset, check_share(*test_share)?, *seed)
            }
            Self::GroupShare { test_share, seed } => {
                let groups = groups(dataset)?;
                deal::group_share(dataset, groups.of_sample, check_share(*test_share)?, *seed)
            }
            Self::Groups { names } => {
                let groups = groups(dataset)?;
                let mut chosen = vec![false; dataset.group_names().len()];
                for name in names {
                    let number = dataset.group_names().iter().position(|known| known == name);
                    match number {
                        Some(number) => chosen[number] = true,
                        None => return Err(SplitError::NoSuchGroup { name: name.clone() }),
                    }
                }
                groups
                    .of_sample
                    .iter()
                    .map(|group| chosen[*group])
                    .collect()
            }
            Self::Time { test_share } => deal::last_part(dataset, check_share(*test_share)?),
        };
        Ok(one_fold(tested))
    }
}

/// Group of every sample, and how many different ones there are.
struct Groups<'a> {
    of_sample: &'a [usize],
    n_present: usize,
}

fn groups(dataset: &Dataset) -> Result<Groups<'_>, SplitError> {
    let of_sample = dataset.groups().ok_or(SplitError::NoGroups)?;
    let n_present = n_groups(dataset).unwrap_or(0);
    if n_present < 2 {
        let name = of_sample
            .first()
            .map(|group| dataset.group_names()[*group].clone());
        return Err(SplitError::OneGroup {
            name: name.unwrap_or_default(),
        });
    }
    Ok(Groups {
        of_sample,
        n_present,
    })
}

/// Number of groups that have samples.
fn n_groups(dataset: &Dataset) -> Option<usize> {
    let mut present = vec![false; dataset.group_names().len()];
    for group in dataset.groups()? {
        present[*group] = true;
    }
    Some(present.iter().filter(|p| **p).count())
}

fn check_folds(found: usize, most: usize, what: &'static str) -> Result<(), SplitError> {
    if (2..=most).contains(&found) {
        Ok(())
    } else {
        Err(SplitError::Folds { found, most, what })
    }
}

fn one_fold(tested: Vec<bool>) -> Vec<Option<usize>> {
    tested.into_iter().map(|test| test.then_some(0)).collect()
}

pub(super) fn check_share(found: f64) -> Result<f64, SplitError> {
    if found > 0.0 && found < 1.0 {
        Ok(found)
    } else {
        Err(SplitError::Share { found })
    }
}

fn whole(fold_of_sample: Vec<usize>) -> Vec<Option<usize>> {
    fold_of_sample.into_iter().map(Some).collect()
}
