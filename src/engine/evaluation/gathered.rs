//! What classes and heads make of samples, kept to be weighed by the decision layer of a later moment.
//!
//! While hardly any sample is decided wrongly, θ and b of the layer move by powers of ten. Scores of
//! different moments of a training can therefore not be compared; what they are made of can.

use serde::{Deserialize, Serialize};

use super::classifier::{Classifier, ClassifierWork, HeadScores, verdict};
use crate::dataset::Columns;
use crate::learner::{Head, LearnError};

/// Samples as every class and several heads saw them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatheredScores {
    /// z1 and z2 of every class, sample after sample.
    evidence: Vec<f64>,
    /// By head, for every class and sample: what it adds to the decision layer, or all it says where
    /// the layer has no part in it.
    added: Vec<Vec<f64>>,
}

impl GatheredScores {
    /// Of no samples yet.
    pub fn new(n_heads: usize) -> Self {
        Self {
            evidence: Vec::new(),
            added: vec![Vec::new(); n_heads],
        }
    }

    /// Numbers that are kept of a sample.
    pub fn numbers_per_sample(n_classes: usize, n_heads: usize) -> usize {
        n_classes * (2 + n_heads)
    }

    /// Whether it holds `n_samples` samples of `n_classes` classes for `n_heads` heads.
    pub fn is_of(&self, n_samples: usize, n_classes: usize, n_heads: usize) -> bool {
        let n_scores = n_samples * n_classes;
        self.evidence.len() == 2 * n_scores
            && self.added.len() == n_heads
            && self.added.iter().all(|added| added.len() == n_scores)
    }

    /// Takes the samples of another one with the same heads.
    pub fn append(&mut self, mut other: Self) {
        self.evidence.append(&mut other.evidence);
        for (own, added) in self.added.iter_mut().zip(&mut other.added) {
            own.append(added);
        }
    }
}

impl Classifier<'_> {
    /// Gathers the columns of `data` that `index` names, for several heads.
    pub fn gather(
        &self,
        data: Columns<'_>,
        index: &[usize],
        heads: &[Option<Head>],
        work: &mut ClassifierWork,
    ) -> Result<GatheredScores, LearnError> {
        let mut gathered = GatheredScores::new(heads.len());
        let n_classes = self.n_classes();
        for part in index.chunks(self.tile()) {
            self.see(data, part, work)?;
            work.layer.copy_from(work.scores.scores.view());
            for i in 0..part.len() {
                let evidence = (0..n_classes).flat_map(|c| work.scores.evidence(c, i));
                gathered.evidence.extend(evidence);
            }
            for (&head, added) in heads.iter().zip(&mut gathered.added) {
                work.scores.scores.copy_from(work.layer.view());
                self.add_head(head, work)?;
                let has_layer = self.layer_of(head).is_some();
                for i in 0..part.len() {
                    let layer = |c: usize| if has_layer { work.layer[(c, i)] } else { 0.0 };
                    let scores = work.scores.scores.col(i).iter().enumerate();
                    added.extend(scores.map(|(c, score)| score - layer(c)));
                }
            }
        }
        Ok(gathered)
    }

    /// What the head at `place` makes of gathered samples with the layer and the gate of now.
    pub fn weigh(
        &self,
        gathered: &GatheredScores,
        place: usize,
        head: Option<Head>,
        mut found: impl FnMut(HeadScores<'_>),
    ) {
        let n_classes = self.n_classes();
        let samples = gathered.evidence.chunks(2 * n_classes);
        let added = gathered.added[place].chunks(n_classes);
        let mut scores = Vec::with_capacity(n_classes);
        for (position, (evidence, added)) in samples.zip(added).enumerate() {
            let evidence = |c: usize| [evidence[2 * c], evidence[2 * c + 1]];
            scores.clear();
            scores.extend_from_slice(added);
            if let Some(layer) = self.layer_of(head) {
                let scores = scores.iter_mut().enumerate();
                scores.for_each(|(c, score)| *score += layer.score(c, evidence(c)));
            }
            if let Some(gate) = self.gate_of(head) {
                gate.apply(evidence, &mut scores);
            }
            let [z1, z2] = evidence(verdict(&scores).class);
            found(HeadScores {
                position,
                head: place,
                scores: &scores,
                fit: z1 + z2,
            });
        }
    }
}
