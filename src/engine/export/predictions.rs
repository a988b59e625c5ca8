//! What was decided about every held-out sample, as JSON and as a table.

use serde_json::{Value, json};

use super::tables::{number, table};
use crate::experiment::{DataFacts, Part, PartRecord};

/// The last test of every complete fold, sample by sample.
#[derive(Clone, Debug)]
pub struct Predictions<'a> {
    facts: &'a DataFacts,
    /// ε of the prediction sets.
    epsilon: f64,
    /// Folds, counted from 1.
    folds: Vec<(usize, &'a PartRecord)>,
}

/// A decision.
struct Prediction<'a> {
    fold: usize,
    sample: usize,
    group: Option<&'a str>,
    truth: Option<&'a str>,
    decided: Option<&'a str>,
    margin: f64,
    set: Option<Vec<&'a str>>,
    fit: Option<f64>,
}

impl<'a> Predictions<'a> {
    /// Of complete folds; the final model, which is tested on nothing, is passed over.
    pub fn of(
        facts: &'a DataFacts,
        epsilon: f64,
        records: impl IntoIterator<Item = &'a PartRecord>,
    ) -> Self {
        let fold = |record: &'a PartRecord| match record.part {
            Part::Fold(fold) => Some((fold + 1, record)),
            Part::Final => None,
        };
        let folds = records.into_iter().filter_map(fold).collect();
        Self {
            facts,
            epsilon,
            folds,
        }
    }

    /// An object per sample; samples count from 0, as they stand in the data.
    pub fn to_json(&self) -> Vec<Value> {
        let row = |row: Prediction<'_>| {
            json!({
                "fold": row.fold,
                "sample": row.sample,
                "group": row.group,
                "true": row.truth,
                "decided": row.decided,
                "margin": row.margin,
                "set": row.set,
                "fit_p": row.fit,
            })
        };
        self.rows().map(row).collect()
    }

    /// A row per sample; the classes of a prediction set are separated by `|`.
    pub fn to_csv(&self) -> String {
        let head = [
            "fold", "sample", "group", "true", "decided", "margin", "set", "fit_p",
        ];
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let rows = self.rows().map(|row| {
            vec![
                row.fold.to_string(),
                row.sample.to_string(),
                text(row.group),
                text(row.truth),
                text(row.decided),
                row.margin.to_string(),
                row.set.map_or(String::new(), |set| set.join("|")),
                number(row.fit),
            ]
        });
        table(head.map(str::to_owned).to_vec(), rows)
    }

    fn rows(&self) -> impl Iterator<Item = Prediction<'a>> + '_ {
        let facts = self.facts;
        let class = |class: usize| facts.class_names.get(class).map(String::as_str);
        self.folds.iter().flat_map(move |&(fold, record)| {
            let decisions = &record.decisions;
            (0..decisions.sample.len()).map(move |place| {
                let sample = decisions.sample[place];
                let group = facts.groups.as_ref().and_then(|groups| groups.get(sample));
                let set = decisions.set(place, self.epsilon);
                Prediction {
                    fold,
                    sample,
                    group: group.and_then(|group| Some(facts.group_names.get(*group)?.as_str())),
                    truth: facts.classes.get(sample).and_then(|truth| class(*truth)),
                    decided: class(decisions.class[place]),
                    margin: decisions.margin[place],
                    set: set.map(|set| set.into_iter().filter_map(class).collect()),
                    fit: decisions.fit_p.get(place).copied(),
                }
            })
        })
    }
}
