//! Learners in their steady state, and timing as the best of many interleaved runs.

use std::time::Instant;

use atomscope_engine::learner::{
    Learner, LearnerSettings, Progress, SampleStream, StepReport, Supply, start_learner,
};
use atomscope_engine::math::{Matrix, RandomStream, random_stream};
use rand::Rng;

/// The sizes of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) n_features: usize,
    pub(crate) budget: usize,
    pub(crate) n_atoms: usize,
    pub(crate) batch_size: usize,
    pub(crate) sparsity: usize,
    pub(crate) n_classes: usize,
}

impl Sizes {
    /// The paper's sizes with `n_features`.
    pub(crate) fn paper(n_features: usize) -> Self {
        Self {
            n_features,
            budget: 200,
            n_atoms: 30,
            batch_size: 10,
            sparsity: 5,
            n_classes: 1,
        }
    }

    pub(crate) fn settings(&self, preset: LearnerSettings) -> LearnerSettings {
        let mut settings = LearnerSettings {
            budget: self.budget,
            n_atoms: self.n_atoms,
            batch_size: self.batch_size,
            sparsity: self.sparsity,
            ..preset
        };
        if let Some(headroom) = settings.algorithm.headroom_mut() {
            // Every mini-batch then grows and prunes by its own size.
            *headroom = 0;
        }
        settings
    }
}

pub(crate) fn uniform(random: &mut RandomStream) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Samples of all classes: a few templates per class, mixed, with noise.
pub(crate) fn samples(sizes: &Sizes, per_class: usize) -> Matrix {
    let mut random = random_stream(7, "bench", 0);
    let n_templates = 12 * sizes.n_classes;
    let templates = Matrix::from_fn(sizes.n_features, n_templates, |_, _| {
        (2.0 * uniform(&mut random) - 1.0).max(0.0)
    });
    Matrix::from_fn(sizes.n_features, per_class * sizes.n_classes, |i, j| {
        let (class, k) = (j / per_class, j % per_class);
        let template = |t: usize| templates[(i, 12 * class + t % 12)];
        let mix = (k % 17) as f64 / 17.0;
        mix * template(k) + (1.0 - mix) * template(k / 12) + 1.2 * uniform(&mut random)
    })
}

/// A learner that has filled its budget, with what it needs to go on.
pub(crate) struct Running<'a> {
    pub(crate) learner: Box<dyn Learner>,
    stream: SampleStream<'a>,
    report: StepReport,
    round: usize,
}

impl<'a> Running<'a> {
    pub(crate) fn settled(settings: &LearnerSettings, sizes: &Sizes, samples: &'a Matrix) -> Self {
        let per_class = samples.cols() / sizes.n_classes;
        let orders = (0..sizes.n_classes)
            .map(|c| (c * per_class..(c + 1) * per_class).collect())
            .collect();
        let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
        let (learner, _) = start_learner(settings, &mut stream, 1).expect("sound settings");
        let mut running = Self {
            learner,
            stream,
            report: StepReport::default(),
            round: 0,
        };
        let filling = sizes.budget / sizes.batch_size + 40;
        (0..filling).for_each(|_| running.step());
        running
    }

    pub(crate) fn step(&mut self) {
        let progress = Progress {
            round: self.round % 60,
            n_rounds: 60,
        };
        self.learner
            .step(progress, &mut self.stream, &mut self.report)
            .expect("sound samples");
        self.round += 1;
    }
}

/// Seconds per call, each the best of `rounds` averages over `calls` calls; the
/// candidates take turns, so that a slow moment of the machine meets all of them.
pub(crate) fn best_of(rounds: usize, calls: usize, work: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; work.len()];
    for _ in 0..rounds {
        for (best, work) in best.iter_mut().zip(work.iter_mut()) {
            let begin = Instant::now();
            (0..calls).for_each(|_| work());
            *best = best.min(begin.elapsed().as_secs_f64() / calls as f64);
        }
    }
    best
}
