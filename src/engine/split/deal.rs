//! How samples are dealt to folds: stratified by class, by whole groups, by time.

use std::collections::BTreeMap;

use crate::dataset::{Dataset, Place};
use crate::math::{random_share, random_stream, shuffle};

/// Samples of each class.
fn by_class(dataset: &Dataset) -> Vec<Vec<usize>> {
    let mut classes = vec![Vec::new(); dataset.n_classes()];
    for (sample, class) in dataset.classes().iter().enumerate() {
        classes[*class].push(sample);
    }
    classes
}

/// Fold of every sample: each class is shuffled and dealt out in turn, the next class going on where the last one
/// ended, so that neither class counts nor fold sizes differ by more than one.
pub(super) fn stratified(dataset: &Dataset, n_folds: usize, seed: u64) -> Vec<usize> {
    let mut fold_of = vec![0; dataset.n_samples()];
    let mut next = 0;
    for (class, mut samples) in by_class(dataset).into_iter().enumerate() {
        shuffle(
            &mut samples,
            &mut random_stream(seed, "samples of a class", class as u64),
        );
        for sample in samples {
            fold_of[sample] = next;
            next = (next + 1) % n_folds;
        }
    }
    fold_of
}

/// A group with its samples counted by class; classes it lacks are not listed.
struct Group {
    number: usize,
    class_counts: Vec<(usize, usize)>,
    n_samples: usize,
}

/// The groups that have samples, largest first, equals in random order.
fn groups_by_size(dataset: &Dataset, group_of: &[usize], seed: u64) -> Vec<Group> {
    let mut pairs: Vec<(usize, usize)> = group_of
        .iter()
        .copied()
        .zip(dataset.classes().iter().copied())
        .collect();
    pairs.sort_unstable();
    let mut groups: Vec<Group> = pairs
        .chunk_by(|a, b| a.0 == b.0)
        .map(|of_group| Group {
            number: of_group[0].0,
            class_counts: of_group
                .chunk_by(|a, b| a.1 == b.1)
                .map(|of_class| (of_class[0].1, of_class.len()))
                .collect(),
            n_samples: of_group.len(),
        })
        .collect();
    shuffle(&mut groups, &mut random_stream(seed, "groups", 0));
    groups.sort_by_key(|group| std::cmp::Reverse(group.n_samples));
    groups
}

/// Class counts of folds that fill up, and what it costs to add a group: the growth of Σ (n_class / N_class)².
/// Totals being fixed, the smallest sum is the most even division of every class.
struct Filling {
    counts: Vec<Vec<f64>>,
    sizes: Vec<usize>,
    class_totals: Vec<f64>,
}

impl Filling {
    fn new(dataset: &Dataset, n_folds: usize) -> Self {
        let totals = dataset.class_counts();
        Self {
            counts: vec![vec![0.0; totals.len()]; n_folds],
            sizes: vec![0; n_folds],
            class_totals: totals.iter().map(|n| (*n).max(1) as f64).collect(),
        }
    }

    /// `target` is the share of the samples that the fold is meant to get, relative to the other folds.
    fn cost(&self, fold: usize, group: &Group, target: f64) -> f64 {
        let growth = group.class_counts.iter().map(|(class, n)| {
            let (n, total) = (*n as f64, self.class_totals[*class]);
            n * (2.0 * self.counts[fold][*class] + n) / (total * total)
        });
        growth.sum::<f64>() / target
    }

    fn add(&mut self, fold: usize, group: &Group) {
        for (class, n) in &group.class_counts {
            self.counts[fold][*class] += *n as f64;
        }
        self.sizes[fold] += group.n_samples;
    }
}

/// Fold of every group that has samples; `None` for the others.
///
/// The groups of each class, in the order of a hash of their name keyed by the seed, are dealt out in turn, the next
/// class going on where the last one ended. Neither the number of a group's samples nor the other groups' order in the
/// data counts, so that a group stays where it is when segments are excluded or get another class. Groups that are
/// `kept` stay in their fold whatever else is there; a new one joins the fold that has fewest of its class.
pub(super) fn by_name(
    dataset: &Dataset,
    group_of: &[usize],
    n_folds: usize,
    seed: u64,
    kept: &BTreeMap<String, usize>,
) -> Vec<Option<usize>> {
    let names = dataset.group_names();
    let kinds = group_kinds(dataset, group_of);
    let mut fold_of = vec![None; names.len()];
    let mut counts = vec![vec![0usize; dataset.n_classes() + 1]; n_folds];
    let mut fresh: Vec<(usize, u64, usize)> = Vec::new();
    for (group, kind) in kinds.iter().enumerate() {
        let Some(kind) = *kind else { continue };
        match kept.get(&names[group]).filter(|fold| **fold < n_folds) {
            Some(fold) => {
                fold_of[group] = Some(*fold);
                counts[*fold][kind] += 1;
            }
            None => fresh.push((kind, name_hash(seed, &names[group]), group)),
        }
    }
    fresh.sort_by(|a, b| (a.0, a.1, &names[a.2]).cmp(&(b.0, b.1, &names[b.2])));
    let deals = fresh.len() == kinds.iter().flatten().count();
    for (number, (kind, _, group)) in fresh.into_iter().enumerate() {
        let fullness = |fold: &usize| {
            let counts = &counts[*fold];
            (counts[kind], counts.iter().sum::<usize>(), *fold)
        };
        let fold = match deals {
            true => number % n_folds,
            false => (0..n_folds).min_by_key(fullness).unwrap_or(0),
        };
        fold_of[group] = Some(fold);
        counts[fold][kind] += 1;
    }
    fold_of
}

/// The class that most samples of each group have; the number of classes for a group of several classes, `None` for
/// one without samples.
fn group_kinds(dataset: &Dataset, group_of: &[usize]) -> Vec<Option<usize>> {
    let n_classes = dataset.n_classes();
    let mut kinds = vec![None; dataset.group_names().len()];
    for group in groups_by_size(dataset, group_of, 0) {
        let most = group.class_counts.iter().max_by_key(|(_, n)| *n);
        let kind = most.filter(|(_, n)| 2 * n > group.n_samples);
        kinds[group.number] = Some(kind.map_or(n_classes, |(class, _)| *class));
    }
    kinds
}

/// A number that depends on the seed and the name alone.
fn name_hash(seed: u64, name: &str) -> u64 {
    random_share(&mut random_stream(seed, &format!("fold of {name}"), 0)).to_bits()
}

fn deal_groups(dataset: &Dataset, group_of: &[usize], targets: &[f64], seed: u64) -> Vec<usize> {
    let mut filling = Filling::new(dataset, targets.len());
    let mut fold_of_group = vec![0; dataset.group_names().len()];
    for group in groups_by_size(dataset, group_of, seed) {
        let mut best = (f64::INFINITY, f64::INFINITY, 0);
        for (fold, target) in targets.iter().enumerate() {
            let fullness = filling.sizes[fold] as f64 / target;
            let candidate = (filling.cost(fold, &group, *target), fullness, fold);
            if (candidate.0, candidate.1) < (best.0, best.1) {
                best = candidate;
            }
        }
        filling.add(best.2, &group);
        fold_of_group[group.number] = best.2;
    }
    fold_of_group
}

/// Which samples are tested: of every class the share, rounded, at least one where the class has two.
pub(super) fn share(dataset: &Dataset, test_share: f64, seed: u64) -> Vec<bool> {
    let mut tested = vec![false; dataset.n_samples()];
    for (class, mut samples) in by_class(dataset).into_iter().enumerate() {
        shuffle(
            &mut samples,
            &mut random_stream(seed, "samples of a class", class as u64),
        );
        let n_test = rounded_share(samples.len(), test_share);
        for sample in &samples[..n_test] {
            tested[*sample] = true;
        }
    }
    tested
}

/// The share of a count, such that neither part is empty where there are two.
fn rounded_share(count: usize, share: f64) -> usize {
    let nearest = (count as f64 * share).round() as usize;
    nearest.clamp(usize::from(count > 1), count.saturating_sub(1))
}

/// Which samples are tested: whole groups, about the share of every class, but at least one group of every class that has two.
pub(super) fn group_share(
    dataset: &Dataset,
    group_of: &[usize],
    test_share: f64,
    seed: u64,
) -> Vec<bool> {
    let targets = [1.0 - test_share, test_share];
    let mut side_of_group = deal_groups(dataset, group_of, &targets, seed);
    let groups = groups_by_size(dataset, group_of, seed);
    for class in 0..dataset.n_classes() {
        let has_class = |group: &&Group| group.class_counts.iter().any(|(c, _)| *c == class);
        let of_class: Vec<&Group> = groups.iter().filter(has_class).collect();
        let all_learned = of_class
            .iter()
            .all(|group| side_of_group[group.number] == 0);
        if let (true, [_, .., smallest]) = (all_learned, of_class.as_slice()) {
            side_of_group[smallest.number] = 1;
        }
    }
    group_of
        .iter()
        .map(|group| side_of_group[*group] == 1)
        .collect()
}

/// Which samples are tested: the last share of every file, by time or row.
pub(super) fn last_part(dataset: &Dataset, test_share: f64) -> Vec<bool> {
    let mut order: Vec<(usize, f64, usize)> = (0..dataset.n_samples())
        .map(|sample| {
            let origin = dataset.origin(sample);
            let time = match origin.place {
                Place::Window { start_s, .. } => start_s,
                Place::Row(row) => row as f64,
            };
            (origin.source, time, sample)
        })
        .collect();
    order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut tested = vec![false; order.len()];
    for of_source in order.chunk_by(|a, b| a.0 == b.0) {
        let n_train = of_source.len() - rounded_share(of_source.len(), test_share);
        for (_, _, sample) in &of_source[n_train..] {
            tested[*sample] = true;
        }
    }
    tested
}
