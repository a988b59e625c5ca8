//! Trains and tests on held-out folds, and says how well it went.

use std::sync::Arc;

use atomscope_engine::dataset::DataSettings;
use atomscope_engine::experiment::{Experiment, Extent, Run, RunParts, RunSummary};
use atomscope_engine::session::DataPlaces;
use atomscope_engine::simulate::feeder::FeederSettings;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Simulated short circuits; `DataSettings` of files come from `DataSettings::guess` or a session.
    let data = DataSettings::feeder_faults(FeederSettings {
        records_per_class: 40,
        ..FeederSettings::default()
    });
    // Where files that data settings name are looked for; simulated records need none.
    let places = DataPlaces::new(None, &[]);
    let built = data.load(&|named| places.locate(named), &mut |_| true)?;
    let mut experiment = Experiment::on(data);
    experiment.learner.n_atoms = 10;
    experiment.learner.budget = 40;

    let checked = experiment.check(Arc::new(built.dataset));
    let checked = Arc::new(checked.map_err(|problems| format!("{problems:?}"))?);
    let mut run = Run::new(checked, &RunParts::default(), Vec::new())?;
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(Extent::Slice, &mut news)?;
        news.clear();
    }
    let summary = RunSummary::of(run.checked().facts(), &run.complete_folds());
    let accuracy = summary.accuracy.ok_or("nothing was tested")?;
    println!(
        "accuracy {:.3} in {} folds",
        accuracy.mean,
        summary.folds.len()
    );
    assert!(accuracy.mean > 0.7);
    Ok(())
}
