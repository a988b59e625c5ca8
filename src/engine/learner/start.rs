//! Which samples a dictionary starts from.

use crate::math::{Matrix, RandomStream, shuffle};

use super::error::LearnError;
use super::samples::Samples;
use super::settings::{LearnerSettings, Start};
use super::stream::SampleStream;

/// The start samples of a class, one per atom; a class with too few samples gives some of them more
/// than once. Samples that are zero in feature space are passed over.
pub(super) fn start_samples(
    settings: &LearnerSettings,
    stream: &mut SampleStream<'_>,
    class: usize,
    random: &mut RandomStream,
) -> Result<Samples, LearnError> {
    let chosen = match &settings.start {
        Start::Given(lists) => {
            let list = lists.get(class).ok_or_else(|| {
                LearnError::Setting(format!("class {class} has no given start samples"))
            })?;
            usable(settings, stream, list, list.len())?
        }
        Start::Random => {
            let mut order = stream.order(class).to_vec();
            shuffle(&mut order, random);
            usable(settings, stream, &order, settings.n_atoms)?
        }
        Start::FarthestFirst { pool } => {
            let pool = (*pool).max(settings.n_atoms).min(stream.order(class).len());
            let candidates = usable(settings, stream, &stream.order(class)[..pool], pool)?;
            farthest_first(settings, stream, class, &candidates)
        }
    };
    if chosen.is_empty() {
        return Err(LearnError::NothingToStartFrom { class });
    }
    let mut start = Samples::new(chosen.n_features(), settings.n_atoms);
    for q in 0..settings.n_atoms {
        start.push_from(&chosen, q % chosen.len());
    }
    Ok(start)
}

/// The first `most` samples of `list` that differ from zero.
fn usable(
    settings: &LearnerSettings,
    stream: &SampleStream<'_>,
    list: &[usize],
    most: usize,
) -> Result<Samples, LearnError> {
    let data = stream.data();
    let mut usable = Samples::new(data.n_features(), most.min(list.len()));
    for &sample in list {
        usable.push_column(&settings.kernel, data, sample)?;
        if usable.is_zero(usable.len() - 1) {
            usable.truncate(usable.len() - 1);
        }
        if usable.len() == most {
            break;
        }
    }
    Ok(usable)
}

/// Begins with the first candidate and adds the one farthest from all chosen, by the
/// distance 2 − 2 k(x,y)/√(k(x,x) k(y,y)); the chosen ones leave the stream.
fn farthest_first(
    settings: &LearnerSettings,
    stream: &mut SampleStream<'_>,
    class: usize,
    candidates: &Samples,
) -> Samples {
    let n = candidates.len();
    let most = settings.n_start(stream.order(class).len());
    let mut chosen = Samples::new(candidates.n_features(), settings.n_atoms);
    let mut newest = Samples::new(candidates.n_features(), 1);
    let mut similarity = vec![f64::NEG_INFINITY; n];
    let mut row = Matrix::default();
    let mut next = (n > 0).then_some(0);
    while let Some(i) = next {
        chosen.push_from(candidates, i);
        similarity[i] = f64::INFINITY;
        newest.clear();
        newest.push_from(candidates, i);
        settings.kernel.block(&newest, candidates, &mut row);
        for (j, closest) in similarity.iter_mut().enumerate() {
            let lengths = (candidates.self_kernel()[i] * candidates.self_kernel()[j]).sqrt();
            *closest = closest.max(row[(0, j)] / lengths);
        }
        let farthest = (0..n)
            .filter(|&j| similarity[j] < f64::INFINITY)
            .min_by(|&a, &b| similarity[a].total_cmp(&similarity[b]).then(a.cmp(&b)));
        next = farthest.filter(|_| chosen.len() < most);
    }
    let order = stream.order(class);
    let position = |sample: &usize| order.iter().position(|other| other == sample);
    let positions: Vec<usize> = chosen.index().iter().filter_map(position).collect();
    stream.consume(class, &positions);
    chosen
}
