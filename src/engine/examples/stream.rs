//! Learns a stream one mini-batch at a time, and judges samples in between.

use atomscope_engine::evaluation::Classifier;
use atomscope_engine::learner::{
    LearnError, LearnerSettings, Progress, SampleStream, StepReport, Supply, start_learner,
};
use atomscope_engine::math::Matrix;

fn main() -> Result<(), LearnError> {
    // Two classes of 200 samples with 16 features; one column per sample.
    let data = Matrix::from_fn(16, 400, |i, j| {
        let class = (j / 200) as f64;
        ((i as f64 + 1.0) * (0.2 + class) + j as f64).sin()
    });
    let orders = vec![(0..200).collect(), (200..400).collect()];
    let mut stream = SampleStream::new(data.view(), orders, Supply::Proportional);
    let settings = LearnerSettings {
        n_atoms: 10,
        sparsity: 3,
        budget: 60,
        ..LearnerSettings::default()
    };
    let (mut learner, _) = start_learner(&settings, &mut stream, 1)?;
    let mut report = StepReport::default();
    let n_rounds = 15;
    for round in 0..n_rounds {
        learner.step(Progress { round, n_rounds }, &mut stream, &mut report)?;
        if round % 5 == 4 {
            // What was learned so far can be used at any time.
            let classifier = Classifier::of(learner.as_ref());
            let mut verdicts = Vec::new();
            classifier.classify(
                data.view(),
                &[3, 300],
                &mut classifier.work(),
                &mut verdicts,
            )?;
            println!("round {}: {verdicts:?}", round + 1);
            assert_eq!((verdicts[0].class, verdicts[1].class), (0, 1));
        }
    }
    Ok(())
}
