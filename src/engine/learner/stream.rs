//! Where learners take their samples from: one queue per class, drawn round by round.

use serde::{Deserialize, Serialize};

use super::stop::StopSignal;
use crate::dataset::Columns;

/// Where in the training a round stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// This round, from 0.
    pub round: usize,
    /// All rounds planned; schedules stretch over them.
    pub n_rounds: usize,
}

/// How many samples each class gives to a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Supply {
    /// A whole mini-batch of every class; a class that runs out begins again. As in the paper.
    Repeat,
    /// In proportion to what each class has, so that all classes end together: with
    /// unbalanced classes the last rounds would otherwise hold the largest class alone.
    #[default]
    Proportional,
    /// Every sample once: each class gives an even part of what the start and the rounds before have
    /// left of it, so that none is missed and none comes twice.
    Once,
}

impl Supply {
    /// How many samples a class gives to a round; the largest class has `largest`.
    fn count(
        self,
        progress: Progress,
        batch_size: usize,
        queue: &ClassQueue,
        largest: usize,
    ) -> usize {
        let size = queue.order.len();
        match self {
            Self::Repeat => batch_size,
            Self::Proportional => share_of_round(progress, batch_size, size, largest),
            Self::Once => {
                let rounds_left = progress.n_rounds.saturating_sub(progress.round).max(1);
                let left = size.saturating_sub(queue.next);
                ((left + rounds_left / 2) / rounds_left).min(batch_size)
            }
        }
    }
}

/// The samples of one class in the order in which they come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassQueue {
    order: Vec<usize>,
    next: usize,
}

/// The positions of all queues: what a saved training needs to resume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamState {
    supply: Supply,
    queues: Vec<ClassQueue>,
}

impl StreamState {
    /// A sample does not come any more; nothing changes where it never did.
    pub fn leave_out(&mut self, sample: usize) {
        for queue in &mut self.queues {
            if let Some(at) = queue.order.iter().position(|other| *other == sample) {
                queue.order.remove(at);
                queue.next -= usize::from(at < queue.next);
            }
        }
    }

    /// A sample comes as one of another class, next; nothing changes where it never comes or is of that class.
    pub fn put_into(&mut self, sample: usize, class: usize) {
        let holds = |queue: &ClassQueue| queue.order.contains(&sample);
        let is_there = self.queues.get(class).is_none_or(holds);
        if is_there || !self.queues.iter().any(holds) {
            return;
        }
        self.leave_out(sample);
        let queue = &mut self.queues[class];
        let place = queue.next.min(queue.order.len());
        queue.order.insert(place, sample);
    }
}

/// The training samples of all classes, and the circumstances under which they are learned.
#[derive(Clone, Debug)]
pub struct SampleStream<'a> {
    data: Columns<'a>,
    state: StreamState,
    stop: StopSignal<'a>,
    n_threads: usize,
}

impl<'a> SampleStream<'a> {
    /// A stream over columns of `data`; `orders` lists those of every class.
    ///
    /// # Panics
    /// If an index lies outside `data`.
    pub fn new(data: impl Into<Columns<'a>>, orders: Vec<Vec<usize>>, supply: Supply) -> Self {
        let data = data.into();
        let inside = |order: &Vec<usize>| order.iter().all(|&sample| sample < data.n_samples());
        assert!(orders.iter().all(inside), "an index lies outside the data");
        let queues = orders
            .into_iter()
            .map(|order| ClassQueue { order, next: 0 })
            .collect();
        Self::resume(data, StreamState { supply, queues })
    }

    /// A stream that continues where a saved one stopped.
    pub fn resume(data: impl Into<Columns<'a>>, state: StreamState) -> Self {
        Self {
            data: data.into(),
            state,
            stop: StopSignal::default(),
            n_threads: 1,
        }
    }

    /// The same stream; a round is left undone when `stop` is raised early enough.
    pub fn until(self, stop: StopSignal<'a>) -> Self {
        Self { stop, ..self }
    }

    /// The same stream; classes may be learned on `n_threads` of the pool at hand. What is
    /// learned does not depend on it.
    pub fn on_threads(self, n_threads: usize) -> Self {
        Self { n_threads, ..self }
    }

    /// The signal that the round at hand is no longer wanted.
    pub(super) fn stop(&self) -> StopSignal<'a> {
        self.stop
    }

    /// Threads that may share the classes of a round.
    pub(super) fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// `places` ← how far each class is.
    pub fn places(&self, places: &mut Vec<usize>) {
        places.clear();
        places.extend(self.state.queues.iter().map(|queue| queue.next));
    }

    /// Goes back to places noted before, as if nothing had been taken since.
    pub fn go_back_to(&mut self, places: &[usize]) {
        for (queue, place) in self.state.queues.iter_mut().zip(places) {
            queue.next = *place;
        }
    }

    /// What is needed to resume later.
    pub fn state(&self) -> StreamState {
        self.state.clone()
    }

    /// The same without a copy, when the stream is no longer needed.
    pub fn into_state(self) -> StreamState {
        self.state
    }

    /// All samples of the data set, one column each.
    pub fn data(&self) -> Columns<'a> {
        self.data
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.state.queues.len()
    }

    /// The samples of `class` in their order.
    pub fn order(&self, class: usize) -> &[usize] {
        &self.state.queues[class].order
    }

    /// Moves `chosen` (positions in the order of `class`) to the front and counts them as
    /// given; those passed over come next.
    pub(super) fn consume(&mut self, class: usize, chosen: &[usize]) {
        let queue = &mut self.state.queues[class];
        let mut order: Vec<usize> = chosen.iter().map(|&at| queue.order[at]).collect();
        let passed_over = |(at, _): &(usize, &usize)| !chosen.contains(at);
        order.extend(
            queue
                .order
                .iter()
                .enumerate()
                .filter(passed_over)
                .map(|(_, &sample)| sample),
        );
        queue.order = order;
        queue.next = chosen.len();
    }

    /// The samples, class after class, that the next round will bring; nothing is taken.
    pub fn next_round(&self, progress: Progress, batch_size: usize, samples: &mut Vec<usize>) {
        samples.clear();
        let StreamState { supply, queues } = &self.state;
        let largest = self.largest_class();
        for queue in queues {
            let count = supply.count(progress, batch_size, queue, largest);
            let n = queue.order.len();
            samples.extend(
                (0..if n > 0 { count } else { 0 }).map(|k| queue.order[(queue.next + k) % n]),
            );
        }
    }

    /// `samples` ← what the rounds of a range will bring, as if they were taken now; nothing is taken.
    pub fn next_rounds(
        &mut self,
        rounds: std::ops::Range<usize>,
        n_rounds: usize,
        batch_size: usize,
        samples: &mut Vec<usize>,
    ) {
        samples.clear();
        let (mut places, mut brought) = (Vec::new(), Vec::new());
        self.places(&mut places);
        for round in rounds {
            self.take_round(Progress { round, n_rounds }, batch_size, &mut brought);
            samples.extend(brought.iter().flatten());
        }
        self.go_back_to(&places);
    }

    fn largest_class(&self) -> usize {
        let sizes = self.state.queues.iter().map(|queue| queue.order.len());
        sizes.max().unwrap_or(0)
    }

    /// `round[c]` ← the samples of class c that the next round brings.
    pub(super) fn take_round(
        &mut self,
        progress: Progress,
        batch_size: usize,
        round: &mut Vec<Vec<usize>>,
    ) {
        let largest = self.largest_class();
        let StreamState { supply, queues } = &mut self.state;
        round.resize_with(queues.len(), Vec::new);
        for (queue, batch) in queues.iter_mut().zip(round) {
            let count = supply.count(progress, batch_size, queue, largest);
            queue.take(count, batch);
        }
    }
}

impl ClassQueue {
    fn take(&mut self, count: usize, batch: &mut Vec<usize>) {
        batch.clear();
        if self.order.is_empty() {
            return;
        }
        for _ in 0..count {
            if self.next >= self.order.len() {
                self.next = 0;
            }
            batch.push(self.order[self.next]);
            self.next += 1;
        }
    }
}

/// A class of `size` gives size/largest of what the largest gives, evenly over the rounds.
fn share_of_round(progress: Progress, batch_size: usize, size: usize, largest: usize) -> usize {
    let given_after = |rounds: usize| {
        let wanted = rounds as u128 * batch_size as u128 * size as u128;
        // Rounded, so that no class waits for the end of a long stream to give anything.
        (wanted + largest as u128 / 2) / largest.max(1) as u128
    };
    (given_after(progress.round + 1) - given_after(progress.round)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Matrix;

    fn rounds(sizes: &[usize], supply: Supply, n_rounds: usize, batch: usize) -> Vec<Vec<usize>> {
        let total = sizes.iter().sum();
        let data = Matrix::zeros(1, total);
        let mut first = 0;
        let orders = sizes
            .iter()
            .map(|&n| {
                first += n;
                (first - n..first).collect()
            })
            .collect();
        let mut stream = SampleStream::new(data.view(), orders, supply);
        let mut given = vec![Vec::new(); sizes.len()];
        let mut round = Vec::new();
        for r in 0..n_rounds {
            let progress = Progress { round: r, n_rounds };
            stream.take_round(progress, batch, &mut round);
            for (all, part) in given.iter_mut().zip(&round) {
                all.extend_from_slice(part);
            }
        }
        given
    }

    #[test]
    fn repeating_classes_begin_again() {
        let given = rounds(&[3, 5], Supply::Repeat, 2, 4);
        assert_eq!(given[0], [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(given[1], [3, 4, 5, 6, 7, 3, 4, 5]);
    }

    #[test]
    fn proportional_classes_end_together() {
        let given = rounds(&[100, 33, 1, 0], Supply::Proportional, 10, 10);
        let counts: Vec<usize> = given.iter().map(Vec::len).collect();
        assert_eq!(counts, [100, 33, 1, 0]);
        let half = rounds(&[100, 33, 1, 0], Supply::Proportional, 5, 10);
        assert_eq!(half[1].len(), 17);
    }

    #[test]
    fn every_sample_comes_once_after_the_start() {
        let data = Matrix::zeros(1, 200);
        let sizes = [0..95, 95..128, 128..131, 131..131];
        let orders = sizes.into_iter().map(Iterator::collect).collect();
        let mut stream = SampleStream::new(data.view(), orders, Supply::Once);
        stream.consume(0, &[3, 5, 7]);
        stream.consume(1, &(0..16).collect::<Vec<usize>>());
        stream.consume(2, &[0]);
        let (mut round, mut given) = (Vec::new(), Vec::new());
        for number in 0..10 {
            let progress = Progress {
                round: number,
                n_rounds: 10,
            };
            stream.take_round(progress, 10, &mut round);
            assert!(round.iter().all(|batch| batch.len() <= 10));
            given.extend(round.concat());
        }
        given.sort_unstable();
        let start = |sample: &usize| [3, 5, 7, 128].contains(sample) || (95..111).contains(sample);
        let others: Vec<usize> = (0..131).filter(|sample| !start(sample)).collect();
        assert_eq!(given, others);
    }

    #[test]
    fn the_next_round_is_told_before_it_is_taken() {
        let data = Matrix::zeros(1, 8);
        let orders = vec![vec![0, 1, 2], vec![3, 4, 5, 6, 7], vec![]];
        for supply in [Supply::Repeat, Supply::Proportional, Supply::Once] {
            let mut stream = SampleStream::new(data.view(), orders.clone(), supply);
            let (mut told, mut taken) = (Vec::new(), Vec::new());
            for round in 0..5 {
                let progress = Progress { round, n_rounds: 5 };
                stream.next_round(progress, 4, &mut told);
                stream.take_round(progress, 4, &mut taken);
                assert_eq!(told, taken.concat());
            }
        }
    }

    #[test]
    fn a_round_that_was_given_back_comes_again() {
        let data = Matrix::zeros(1, 5);
        let orders = vec![vec![0, 1, 2], vec![3, 4]];
        let mut stream = SampleStream::new(data.view(), orders, Supply::Repeat);
        let (mut places, mut first, mut again) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..4 {
            let progress = Progress { round, n_rounds: 4 };
            stream.places(&mut places);
            let before = stream.state();
            stream.take_round(progress, 2, &mut first);
            stream.go_back_to(&places);
            assert_eq!(stream.state(), before);
            stream.take_round(progress, 2, &mut again);
            assert_eq!(first, again);
        }
    }

    #[test]
    fn consumed_samples_come_first_and_only_later_again() {
        let data = Matrix::zeros(1, 6);
        let mut stream = SampleStream::new(data.view(), vec![(0..6).collect()], Supply::Repeat);
        stream.consume(0, &[4, 1]);
        let mut round = Vec::new();
        let progress = Progress {
            round: 0,
            n_rounds: 1,
        };
        stream.take_round(progress, 6, &mut round);
        assert_eq!(round[0], [0, 2, 3, 5, 4, 1]);
    }
}
