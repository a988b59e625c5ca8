//! The rounds of a part as columns in files for machines: each number of all rounds is one list.
//! In text, and in sessions of format 1, they are a list of rounds.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::record::{ClassMetric, RoundMetric};
use crate::math::packed;

/// The rounds, column by column. Columns of classes hold all classes of the first round, then all
/// of the second, and so on.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundColumns {
    n_classes: usize,
    #[serde(with = "packed")]
    batch: Vec<usize>,
    #[serde(with = "packed")]
    forgetting_factor: Vec<f64>,
    /// 1 where the round was classified before it was learned.
    #[serde(with = "packed")]
    is_judged: Vec<u8>,
    #[serde(with = "packed")]
    right: Vec<usize>,
    #[serde(with = "packed")]
    judged: Vec<usize>,
    #[serde(with = "packed")]
    admitted: Vec<u32>,
    #[serde(with = "packed")]
    rejected: Vec<u32>,
    #[serde(with = "packed")]
    removed: Vec<u32>,
    #[serde(with = "packed")]
    n_kept: Vec<u32>,
    #[serde(with = "packed")]
    repairs: Vec<u32>,
    #[serde(with = "packed")]
    residual: Vec<f32>,
    #[serde(with = "packed")]
    drift: Vec<f32>,
    #[serde(with = "packed")]
    smallest_pivot: Vec<f32>,
    #[serde(with = "packed")]
    condition: Vec<f32>,
}

/// Rounds in either form.
#[derive(Deserialize)]
#[serde(untagged)]
enum Saved {
    Columns(Box<RoundColumns>),
    Rows(Vec<RoundMetric>),
}

pub(super) fn serialize<S: Serializer>(
    rounds: &[RoundMetric],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let n_classes = rounds.first().map_or(0, |round| round.classes.len());
    let is_even = rounds.iter().all(|round| round.classes.len() == n_classes);
    match is_even && !serializer.is_human_readable() {
        true => RoundColumns::of(n_classes, rounds).serialize(serializer),
        false => rounds.serialize(serializer),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<RoundMetric>, D::Error> {
    match Saved::deserialize(deserializer)? {
        Saved::Rows(rounds) => Ok(rounds),
        Saved::Columns(columns) => columns.rounds().ok_or_else(|| {
            serde::de::Error::custom("the columns of the rounds have different lengths")
        }),
    }
}

impl RoundColumns {
    fn of(n_classes: usize, rounds: &[RoundMetric]) -> Self {
        let mut columns = Self {
            n_classes,
            ..Self::default()
        };
        for round in rounds {
            let (right, judged) = round.prequential.unwrap_or_default();
            columns.batch.push(round.batch);
            columns.forgetting_factor.push(round.forgetting_factor);
            columns.is_judged.push(round.prequential.is_some().into());
            columns.right.push(right);
            columns.judged.push(judged);
            for class in &round.classes {
                columns.admitted.push(class.admitted);
                columns.rejected.push(class.rejected);
                columns.removed.push(class.removed);
                columns.n_kept.push(class.n_kept);
                columns.repairs.push(class.repairs);
                columns.residual.push(class.residual);
                columns.drift.push(class.drift);
                columns.smallest_pivot.push(class.smallest_pivot);
                columns.condition.push(class.condition);
            }
        }
        columns
    }

    /// The rounds; nothing if a column is too short.
    fn rounds(&self) -> Option<Vec<RoundMetric>> {
        (0..self.batch.len()).map(|at| self.round(at)).collect()
    }

    fn round(&self, at: usize) -> Option<RoundMetric> {
        let prequential = (*self.right.get(at)?, *self.judged.get(at)?);
        let first = at.checked_mul(self.n_classes)?;
        let classes = first..first.checked_add(self.n_classes)?;
        Some(RoundMetric {
            batch: *self.batch.get(at)?,
            forgetting_factor: *self.forgetting_factor.get(at)?,
            prequential: (*self.is_judged.get(at)? == 1).then_some(prequential),
            classes: classes.map(|at| self.class(at)).collect::<Option<_>>()?,
        })
    }

    fn class(&self, at: usize) -> Option<ClassMetric> {
        Some(ClassMetric {
            admitted: *self.admitted.get(at)?,
            rejected: *self.rejected.get(at)?,
            removed: *self.removed.get(at)?,
            n_kept: *self.n_kept.get(at)?,
            repairs: *self.repairs.get(at)?,
            residual: *self.residual.get(at)?,
            drift: *self.drift.get(at)?,
            smallest_pivot: *self.smallest_pivot.get(at)?,
            condition: *self.condition.get(at)?,
        })
    }
}
