//! Which of several ways to decide is best, by what each of them decided about the same samples.
//!
//! Few decisions tell accuracies of a point apart, and the best of many counts is partly lucky. How sure
//! right and wrong decisions were says more of the same samples: the cross-entropy of scores, as a proper
//! score, varies less than a count. It decides between those whose accuracies chance may tell apart.

/// Standard errors of a difference that chance explains.
const CHANCE: f64 = 2.0;
/// The scale of scores is looked for within this factor of 1/their root mean square …
const WIDEST_SCALE: f64 = 1000.0;
/// … by so many halvings of its logarithm.
const N_HALVINGS: usize = 12;

/// What one way to decide made of samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankedDecisions {
    is_right: Vec<bool>,
    /// The scores of samples, one after the other.
    scores: Vec<f64>,
    /// The true class of every sample that has scores, and how many: a class may be missing among the
    /// samples that were learned.
    classes: Vec<(usize, usize)>,
    cross_entropy: Option<f64>,
}

impl RankedDecisions {
    /// A sample of a class, none where the class was not learned, that was decided by these scores.
    pub(crate) fn push(&mut self, class: Option<usize>, decided: usize, scores: &[f64]) {
        self.is_right.push(class == Some(decided));
        if let Some(class) = class {
            self.classes.push((class, scores.len()));
            self.scores.extend_from_slice(scores);
        }
    }

    /// Takes what was decided about other samples.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.is_right.append(&mut other.is_right);
        self.classes.append(&mut other.classes);
        self.scores.append(&mut other.scores);
    }

    /// All of its samples were seen: the scores are weighed and forgotten.
    pub(crate) fn finish(&mut self) {
        self.cross_entropy = Some(cross_entropy(&self.classes, &self.scores));
        (self.classes, self.scores) = Default::default();
    }

    /// Decisions.
    pub(crate) fn len(&self) -> usize {
        self.is_right.len()
    }

    /// Share of right decisions.
    pub(crate) fn accuracy(&self) -> f64 {
        let right = self.is_right.iter().filter(|is_right| **is_right).count();
        right as f64 / self.len().max(1) as f64
    }

    /// Whether it is right less often than `best` by more than chance explains, where `n_samples`
    /// different samples were judged, some of them more than once.
    fn is_behind(&self, best: &Self, n_samples: usize) -> bool {
        let n = self.len().max(1) as f64;
        let pairs = || best.is_right.iter().zip(&self.is_right);
        let count = |first: bool| {
            pairs()
                .filter(|(a, b)| **a == first && **b != first)
                .count()
        };
        let (lost, won) = (count(true) as f64 / n, count(false) as f64 / n);
        let difference = lost - won;
        let variance = lost + won - difference * difference;
        difference > CHANCE * (variance / n_samples.max(1) as f64).sqrt()
    }
}

/// The places of all from the best to the worst: first those that are not behind the most accurate one,
/// the surest first, then the others by accuracy. Of equals the first comes first.
pub(crate) fn ranked(all: &[RankedDecisions], n_samples: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|a, b| all[*b].accuracy().total_cmp(&all[*a].accuracy()));
    let Some(best) = places.first().map(|place| &all[*place]) else {
        return places;
    };
    let entropy = |place: usize| all[place].cross_entropy.unwrap_or(f64::INFINITY);
    let (mut near, far): (Vec<usize>, Vec<usize>) = places
        .into_iter()
        .partition(|place| !all[*place].is_behind(best, n_samples));
    near.sort_by(|a, b| entropy(*a).total_cmp(&entropy(*b)).then(a.cmp(b)));
    near.into_iter().chain(far).collect()
}

/// Mean of −ln softmax(βs)_y over samples with scores s and classes y, at its smallest over β, so that
/// heads whose scores have different units can be compared. It is convex in β: bisection of its slope.
fn cross_entropy(classes: &[(usize, usize)], scores: &[f64]) -> f64 {
    let samples = || {
        classes.iter().scan(scores, |rest, (class, n_classes)| {
            let (own, others) = rest.split_at_checked(*n_classes)?;
            *rest = others;
            Some((*class, own))
        })
    };
    if scores.is_empty() {
        return f64::INFINITY;
    }
    let power = samples().map(|(_, scores)| {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>()
    });
    let unit = (power.sum::<f64>() / scores.len() as f64).sqrt();
    if !(unit > 0.0 && unit.is_finite()) {
        let equal = samples().map(|(_, scores)| (scores.len() as f64).ln());
        return equal.sum::<f64>() / classes.len() as f64;
    }
    let (mut low, mut high) = (-WIDEST_SCALE.ln(), WIDEST_SCALE.ln());
    for _ in 0..N_HALVINGS {
        let middle = 0.5 * (low + high);
        let scale = middle.exp() / unit;
        let slope: f64 = samples().map(|(y, s)| at_scale(y, s, scale).1).sum();
        if slope < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let scale = low.exp() / unit;
    let sum: f64 = samples().map(|(y, s)| at_scale(y, s, scale).0).sum();
    sum / classes.len() as f64
}

/// −ln softmax(βs)_y and its slope in β: the mean of s under softmax(βs), less s_y.
fn at_scale(class: usize, scores: &[f64], scale: f64) -> (f64, f64) {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut weighted) = (0.0, 0.0);
    for score in scores {
        let weight = (scale * (score - largest)).exp();
        total += weight;
        weighted += weight * score;
    }
    let own = scores[class];
    (total.ln() - scale * (own - largest), weighted / total - own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(decisions: &[(usize, [f64; 2])]) -> RankedDecisions {
        let mut judged = RankedDecisions::default();
        for (class, scores) in decisions {
            judged.push(Some(*class), usize::from(scores[1] > scores[0]), scores);
        }
        judged.finish();
        judged
    }

    #[test]
    fn the_unit_of_scores_does_not_matter() {
        let scores = [
            (0, [2.0, 0.5]),
            (1, [0.2, 0.3]),
            (1, [0.6, 0.1]),
            (0, [1.0, 0.0]),
        ];
        let small = judged(&scores);
        let large = judged(&scores.map(|(y, s)| (y, s.map(|s| 1e6 * s - 3.0))));
        let (small, large) = (small.cross_entropy, large.cross_entropy);
        let (small, large) = (small.expect("weighed"), large.expect("weighed"));
        assert!((small - large).abs() < 1e-6, "{small} {large}");
        // Never worse than knowing nothing.
        assert!(small < 2.0_f64.ln());
        // What is never wrong and what is always wrong.
        let right = judged(&[(0, [1.0, 0.0]), (1, [0.0, 1.0])]);
        assert!(right.cross_entropy.expect("weighed") < 1e-9);
        let wrong = judged(&[(0, [0.0, 1.0]), (1, [1.0, 0.0])]);
        assert!((wrong.cross_entropy.expect("weighed") - 2.0_f64.ln()).abs() < 1e-2);
    }

    #[test]
    fn a_class_may_be_missing_among_what_was_learned() {
        let of = |decisions: &[(Option<usize>, usize, &[f64])]| {
            let mut judged = RankedDecisions::default();
            let decisions = decisions.iter();
            decisions.for_each(|(class, decided, scores)| judged.push(*class, *decided, scores));
            judged
        };
        let mut all = of(&[
            (Some(2), 2, &[0.0, 0.1, 2.0]),
            (Some(1), 1, &[0.0, 1.0, 0.5]),
        ]);
        all.append(of(&[(Some(0), 0, &[2.0, 0.5]), (None, 0, &[1.0, 0.1])]));
        all.finish();
        assert_eq!((all.len(), all.accuracy()), (4, 0.75));
        assert!(all.cross_entropy.expect("weighed") < 0.1);
    }

    #[test]
    fn sureness_decides_only_between_what_chance_tells_apart() {
        // Right decisions of different margins, and one in `wrong` that is not.
        let of = |n: usize, wrong: usize, margin: f64, at_wrong: f64| {
            let decisions = (0..n).map(|i| match i % wrong {
                0 => (0, [0.0, at_wrong]),
                _ => (0, [margin * (1 + i % 3) as f64, 0.0]),
            });
            judged(&decisions.collect::<Vec<_>>())
        };
        let (lucky, sure) = (of(100, 20, 1.0, 3.0), of(100, 17, 1.0, 0.1));
        assert!(lucky.accuracy() > sure.accuracy());
        assert_eq!(ranked(&[lucky, sure], 100), [1, 0]);
        let (better, sure) = (of(4000, 20, 1.0, 3.0), of(4000, 5, 1.0, 0.1));
        assert_eq!(ranked(&[sure, better], 4000), [1, 0]);
        // Of equals the first comes first.
        let equal = of(100, 10, 1.0, 1.0);
        assert_eq!(
            ranked(&[equal.clone(), equal.clone(), equal], 100),
            [0, 1, 2]
        );
    }
}
