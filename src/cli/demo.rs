//! The built-in demonstration: feeder faults are simulated, learned and judged in the terminal.

use std::error::Error;
use std::io::{self, Write};
use std::time::Instant;

use crate::dataset::{Dataset, DatasetBuilder, Label};
use crate::evaluation::{Classifier, Confusion};
use crate::features::{FaultRecipe, FeatureRecipe};
use crate::learner::{
    Forgetting, LearnError, LearnerSettings, Progress, SampleStream, StepReport, Supply,
    start_learner,
};
use crate::math::{View, random_stream, shuffle};
use crate::simulate::feeder::{FeederSettings, FeederSimulator};
use crate::split::{Fold, SplitPlan, audit};

/// One seed for the records, the folds and the order of the samples.
const SEED: u64 = 1;
const N_FOLDS: usize = 5;
/// Peak of the nominal phase voltage and of the largest load current: 1 per unit.
const VOLTAGE_BASE_V: f64 = 16_330.0;
const CURRENT_BASE_A: f64 = 215.0;

/// Runs the demonstration; progress goes to `progress`, the result to `output`.
pub(super) fn run(
    output: &mut impl Write,
    progress: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let data = feeder_faults()?;
    writeln!(
        progress,
        "Simulated {} feeder records in {:.1} s",
        data.n_samples(),
        begin.elapsed().as_secs_f64()
    )?;
    let split = SplitPlan::KFold {
        n_folds: N_FOLDS,
        seed: SEED,
    }
    .split(&data)?;
    let settings = settings();
    let mut confusion = Confusion::new(data.n_classes());
    let mut accuracies = Vec::new();
    for (number, fold) in split.folds().enumerate() {
        let part = judge_fold(&data, number, &fold, &settings)?;
        let accuracy = 100.0 * part.accuracy().unwrap_or(0.0);
        writeln!(
            progress,
            "Fold {} of {N_FOLDS}: {accuracy:.2} %",
            number + 1
        )?;
        accuracies.push(accuracy);
        confusion.merge(&part);
    }
    writeln!(
        output,
        "Built-in feeder faults: {} records, {} classes, {} features each, seed {SEED}",
        data.n_samples(),
        data.n_classes(),
        data.n_features()
    )?;
    writeln!(
        output,
        "Margin-aware KRLS, {N_FOLDS} random folds, seed {SEED}"
    )?;
    for finding in audit::audit(&data, &split).findings {
        writeln!(output, "{:?}: {}", finding.severity, finding.text)?;
    }
    let mean = accuracies.iter().sum::<f64>() / accuracies.len() as f64;
    writeln!(output, "Accuracy {mean:.2} % (mean over the folds)\n")?;
    write_confusion(output, &data, &confusion)?;
    writeln!(progress, "Done in {:.1} s", begin.elapsed().as_secs_f64())?;
    Ok(())
}

/// The records of the simulator as waveforms in per unit; every record is its own group.
fn feeder_faults() -> Result<Dataset, Box<dyn Error>> {
    let simulator = FeederSimulator::new(FeederSettings {
        seed: SEED,
        ..FeederSettings::default()
    })?;
    let recipe = FaultRecipe::of_cut_records(VOLTAGE_BASE_V, CURRENT_BASE_A);
    let recipe = FeatureRecipe::Fault(recipe);
    let mut builder = DatasetBuilder::new();
    for (class, index) in simulator.records() {
        let record = simulator.record(class, index);
        let label = Label::Whole(class.name().to_owned());
        builder.add_record(&record, &recipe, &label, None, &mut |_| true)?;
    }
    Ok(builder.finish()?.dataset)
}

/// The default learner; few samples per class and one pass ask for a faster start.
fn settings() -> LearnerSettings {
    LearnerSettings {
        forgetting: Forgetting {
            start_value: 0.95,
            ..Forgetting::PAPER
        },
        ..LearnerSettings::margin_aware()
    }
}

/// Learns the training samples of a fold in one pass and judges the held-out ones.
fn judge_fold(
    data: &Dataset,
    number: usize,
    fold: &Fold,
    settings: &LearnerSettings,
) -> Result<Confusion, LearnError> {
    let matrix = data.matrix();
    let values = matrix
        .to_slice_memory_order()
        .map(|values| View::from_columns(values, data.n_features()))
        .ok_or_else(|| LearnError::Setting("the samples are not contiguous".into()))?;
    let mut training = fold.train.clone();
    shuffle(
        &mut training,
        &mut random_stream(SEED, "order", number as u64),
    );
    let mut orders = vec![Vec::new(); data.n_classes()];
    for sample in training {
        orders[data.classes()[sample]].push(sample);
    }
    let longest = orders.iter().map(Vec::len).max().unwrap_or(0);
    let n_rounds = longest.saturating_sub(settings.n_atoms) / settings.batch_size;
    let mut stream = SampleStream::new(values, orders, Supply::Proportional);
    let (mut learner, _) = start_learner(settings, &mut stream, SEED)?;
    let mut report = StepReport::default();
    for round in 0..n_rounds {
        learner.step(Progress { round, n_rounds }, &mut stream, &mut report)?;
    }
    let classifier = Classifier::of(learner.as_ref());
    let mut verdicts = Vec::with_capacity(fold.test.len());
    classifier.classify(values, &fold.test, &mut classifier.work(), &mut verdicts)?;
    let mut confusion = Confusion::new(data.n_classes());
    for (&sample, verdict) in fold.test.iter().zip(&verdicts) {
        confusion.add(data.classes()[sample], verdict.class);
    }
    Ok(confusion)
}

/// Rows are true classes, columns decisions, the last column the recall.
fn write_confusion(
    output: &mut impl Write,
    data: &Dataset,
    confusion: &Confusion,
) -> io::Result<()> {
    write!(output, "{:>10}", "")?;
    for name in data.class_names() {
        write!(output, "{name:>10}")?;
    }
    writeln!(output, "{:>10}", "recall")?;
    for (truth, name) in data.class_names().iter().enumerate() {
        write!(output, "{name:>10}")?;
        for decided in 0..confusion.n_classes() {
            write!(output, "{:>10}", confusion.count(truth, decided))?;
        }
        let recall = 100.0 * confusion.recall(truth).unwrap_or(0.0);
        writeln!(output, "{recall:>8.1} %")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demonstration_learns_the_feeder_and_says_how_well() {
        let (mut output, mut progress) = (Vec::new(), Vec::new());
        run(&mut output, &mut progress).expect("the demonstration runs");
        let text = String::from_utf8(output).expect("text");
        let accuracy: f64 = text
            .lines()
            .find_map(|line| line.strip_prefix("Accuracy "))
            .and_then(|rest| rest.split(' ').next()?.parse().ok())
            .expect("an accuracy");
        assert!(accuracy >= 97.0, "{text}");
        assert!(text.contains("seed 1") && text.contains("5 random folds"));
    }
}
