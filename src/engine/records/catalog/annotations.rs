//! Labels from annotations: stretches of a recording that have a class of their own.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::{Annotation, Mode, ReadError, Record, open};

/// More different texts than this are remarks, not classes.
const MAX_SUGGESTED_TEXTS: usize = 20;

/// How long an annotation lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lasts {
    /// As long as it says; without a duration it is a moment and gives no stretch.
    AsSaid,
    /// Until the next annotation of a class, or the end (sleep stages).
    UntilNext,
}

/// Which annotations mean which class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnotationRule {
    /// A part of the text (upper and lower case being equal), and the class it means.
    pub classes: Vec<(String, String)>,
    /// The class of all other time, if that is one.
    pub otherwise: Option<String>,
    /// How long an annotation lasts.
    pub lasts: Lasts,
}

/// A stretch of a recording with a class.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledSpan {
    /// Its start.
    pub onset_s: f64,
    /// Its length.
    pub duration_s: f64,
    /// Its class.
    pub class: String,
}

impl LabelledSpan {
    /// Its end.
    pub fn end_s(&self) -> f64 {
        self.onset_s + self.duration_s
    }
}

impl AnnotationRule {
    /// Seizures against everything else.
    pub fn seizures() -> Self {
        Self {
            classes: vec![
                ("seizure".to_owned(), "seizure".to_owned()),
                ("sz".to_owned(), "seizure".to_owned()),
                ("ictal".to_owned(), "seizure".to_owned()),
            ],
            otherwise: Some("background".to_owned()),
            lasts: Lasts::AsSaid,
        }
    }

    /// A rule for the annotations of some records of a set, if in one of them they tell classes: seizures, or a few texts
    /// that come again and again.
    pub fn suggest(records: &[Record]) -> Option<Self> {
        let tells_classes = |rule: &Self| {
            let changes = |record: &Record| {
                let spans = rule.spans_of(record);
                spans.windows(2).any(|pair| pair[0].class != pair[1].class)
            };
            records.iter().any(changes)
        };
        let seizures = Self::seizures();
        if tells_classes(&seizures) {
            return Some(seizures);
        }
        let mut texts: Vec<&str> = records.iter().flat_map(texts_told_again).collect();
        texts.sort_unstable();
        texts.dedup();
        if texts.len() > MAX_SUGGESTED_TEXTS {
            return None;
        }
        // A text may be part of a longer one, and the first that fits wins.
        texts.sort_by_key(|text| Reverse(text.len()));
        let mut annotations = records.iter().flat_map(|record| &record.annotations);
        let rule = Self {
            classes: texts
                .iter()
                .map(|t| (t.to_string(), t.to_string()))
                .collect(),
            otherwise: None,
            lasts: match annotations.any(|a| a.duration_s.is_some_and(|s| s > 0.0)) {
                true => Lasts::AsSaid,
                false => Lasts::UntilNext,
            },
        };
        tells_classes(&rule).then_some(rule)
    }

    /// The stretches of a file.
    pub fn spans(&self, path: &Path, mode: Mode) -> Result<Vec<LabelledSpan>, ReadError> {
        Ok(self.spans_of(&open(path, mode)?))
    }

    /// The stretches of a record, in order, without overlap; none if no annotation fits.
    pub fn spans_of(&self, record: &Record) -> Vec<LabelledSpan> {
        let end_s = record.duration_s().unwrap_or(0.0);
        let marked = self.marked(&record.annotations, end_s);
        if marked.is_empty() {
            return Vec::new();
        }
        let mut spans = Vec::new();
        let mut now_s = 0.0;
        for span in marked {
            self.fill(now_s, span.onset_s, &mut spans);
            // Where two overlap, the earlier one keeps the time.
            let onset_s = span.onset_s.max(now_s);
            let until_s = span.end_s().min(end_s);
            if until_s > onset_s {
                spans.push(LabelledSpan {
                    onset_s,
                    duration_s: until_s - onset_s,
                    class: span.class,
                });
                now_s = until_s;
            }
        }
        self.fill(now_s, end_s, &mut spans);
        spans
    }

    /// Time between marked stretches.
    fn fill(&self, from_s: f64, to_s: f64, spans: &mut Vec<LabelledSpan>) {
        if let Some(class) = &self.otherwise
            && to_s > from_s
        {
            spans.push(LabelledSpan {
                onset_s: from_s,
                duration_s: to_s - from_s,
                class: class.clone(),
            });
        }
    }

    /// Annotations that mean a class, in order of time.
    fn marked(&self, annotations: &[Annotation], end_s: f64) -> Vec<LabelledSpan> {
        let mut fitting: Vec<(&Annotation, &str)> = annotations
            .iter()
            .filter_map(|annotation| Some((annotation, self.class_of(&annotation.text)?)))
            .collect();
        fitting.sort_by(|a, b| a.0.onset_s.total_cmp(&b.0.onset_s));
        let next_s: Vec<f64> = fitting
            .iter()
            .skip(1)
            .map(|(next, _)| next.onset_s)
            .collect();
        fitting
            .iter()
            .zip(next_s.into_iter().chain([end_s]))
            .filter_map(|((annotation, class), next_s)| {
                let duration_s = match self.lasts {
                    Lasts::AsSaid => annotation.duration_s?,
                    Lasts::UntilNext => next_s - annotation.onset_s,
                };
                Some(LabelledSpan {
                    onset_s: annotation.onset_s,
                    duration_s,
                    class: (*class).to_owned(),
                })
            })
            .collect()
    }

    fn class_of(&self, text: &str) -> Option<&str> {
        let text = text.to_lowercase();
        let found = self
            .classes
            .iter()
            .find(|(part, _)| text.contains(&part.to_lowercase()));
        found.map(|(_, class)| class.as_str())
    }
}

/// Texts that come more than once in a record. One that ends with a question mark tells nothing (`Sleep stage ?`).
fn texts_told_again(record: &Record) -> Vec<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for annotation in &record.annotations {
        *counts.entry(annotation.text.trim()).or_default() += 1;
    }
    let is_told = |text: &str| !text.is_empty() && !text.ends_with('?');
    let again = counts
        .into_iter()
        .filter(|(text, count)| is_told(text) && *count > 1);
    again.map(|(text, _)| text).collect()
}
