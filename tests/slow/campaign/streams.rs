//! Learners on troubled streams of seeds that no test uses: the recursions stay at their definitions.

use atomscope_engine::learner::{
    Kernel, LearnerSettings, Progress, SampleStream, StepReport, Supply, start_learner,
};
use rand::RngExt;

use super::super::stability::{
    error_against_definition, recursive_variants, schedules, troubled_samples, with_headroom,
};
use super::Attack;

const N_ROUNDS: usize = 500;

pub(super) fn run(attack: &mut Attack) {
    while attack.goes_on() {
        let seed: u64 = attack.random.random_range(1000..u64::MAX);
        let (variant, schedule) = (attack.below(3), attack.below(4));
        let is_gaussian = attack.below(2) == 0;
        attack.one("stream", |attack| {
            let (kernel, scale) = match is_gaussian {
                true => (Kernel::Gaussian { width: 1.5 }, 1.0),
                false => {
                    let (degree, offset) = (2, 1.0);
                    (Kernel::Polynomial { degree, offset }, 255.0)
                }
            };
            let samples = troubled_samples(24, 1000, scale, seed);
            let (name, algorithm) = recursive_variants()[variant].clone();
            let settings = LearnerSettings {
                kernel,
                n_atoms: 8,
                sparsity: 3,
                batch_size: 4,
                budget: 40,
                forgetting: schedules()[schedule].1,
                regularisation: 0.0,
                algorithm: with_headroom(algorithm, 4),
                ..LearnerSettings::margin_aware()
            };
            let orders = vec![(0..500).collect(), (500..1000).collect()];
            let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
            let started = start_learner(&settings, &mut stream, 1);
            let (mut learner, _) = started.map_err(|error| error.to_string())?;
            let mut report = StepReport::default();
            for round in 0..N_ROUNDS {
                let progress = Progress {
                    round,
                    n_rounds: N_ROUNDS,
                };
                let step = learner.step(progress, &mut stream, &mut report);
                step.map_err(|error| error.to_string())?;
                let error = match round % 5 {
                    4 => error_against_definition(learner.as_ref()),
                    _ => 0.0,
                };
                let is_kept = report.classes.iter().all(|c| c.n_kept <= settings.budget);
                if error > 1e-8 || error.is_nan() || !is_kept {
                    return Err(format!(
                        "{name}, stream {seed}: error {error:e} in round {round}"
                    ));
                }
            }
            // Two classes learn a mini-batch each round; one of them counts already.
            attack.count_more(2 * N_ROUNDS as u64 - 1);
            Ok(())
        });
    }
}
