//! Models exported for Python decide as the program does: run where a Python with numpy and
//! safetensors is at hand.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use atomscope_engine::dataset::{
    Dataset, DatasetParts, MissingPolicy, Origin, Place, Preparation, Scaling,
};
use atomscope_engine::evaluation::Classifier;
use atomscope_engine::experiment::{
    Experiment, Extent, JudgeOptions, Run, RunParts, RunState, TrainedModel,
};
use atomscope_engine::export::python_module;
use atomscope_engine::learner::{Algorithm, Head, Kernel, LearnerSettings, Pursuit};
use atomscope_engine::math::{Normal, View, random_share, random_stream};
use atomscope_engine::session::{DataPlaces, Session};
use atomscope_engine::split::{HoldOut, SplitPlan};

/// Samples on which both are compared.
const N_COMPARED: usize = 500;
/// ε of the sets that are compared.
const EPSILON: f64 = 0.05;

/// Imports every module and compares labels, scores and sets; ends with what differs.
const CHECK: &str = r#"
import importlib.util, json, sys, pathlib
import numpy as np
folder = pathlib.Path(sys.argv[1])

trouble, worst = [], 0.0
for path in sorted(folder.glob("*.py")):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    told = json.loads(path.with_suffix(".json").read_text())
    X = np.array([[np.nan if v is None else v for v in row] for row in told["samples"]])
    found = model.decision_function(X)
    if len(told["classes"]) == 2:
        margins = np.abs(found)
    else:
        ranked = np.sort(found, axis=1)
        margins = ranked[:, -1] - ranked[:, -2]
    off = np.abs(margins - told["margins"])
    for i, expected in enumerate(told["scores"]):
        if expected is not None:
            expected = expected[1] - expected[0] if len(expected) == 2 else np.array(expected)
            off[i] = max(off[i], float(np.abs(found[i] - expected).max()))
    filled = np.isnan(X).any(axis=1)
    off, of_filled = (float(off[rows].max(initial=0.0)) for rows in (~filled, filled))
    print(f"{path.stem}: {off:.1e}, filled in {of_filled:.1e}")
    worst = max(worst, off, of_filled)
    if not max(off, of_filled) < 1e-9:
        trouble.append(f"{path.stem}: scores differ by {off}, where values are filled in by {of_filled}")
    if list(model.classes_) != told["classes"] or list(model.predict(X)) != told["labels"]:
        trouble.append(f"{path.stem}: labels differ")
    if told["sets"] is not None and [list(s) for s in model.predict_set(X, told["epsilon"])] != told["sets"]:
        trouble.append(f"{path.stem}: sets differ")
    if model.predict(X[:0]).shape != (0,):
        trouble.append(f"{path.stem}: no samples, but labels")
print(f"worst difference of a score: {worst:.1e}")
sys.exit("\n".join(trouble) or None)
"#;

/// Compares the predictor of the documentation with a module.
const CHECK_PREDICTOR: &str = r#"
import json, pathlib, runpy, sys
import numpy as np
folder = pathlib.Path(sys.argv[1])
told = json.loads((folder / "model.json").read_text())
sys.argv = ["", str(next(folder.glob("*.safetensors")))]
predictor = runpy.run_path(str(folder / "predictor.py"))
off = max(np.abs(predictor["scores"](np.array(x)) - s).max() for x, s in zip(told["samples"], told["scores"]))
print(f"the predictor of the documentation: {off:.1e}")
sys.exit(None if off < 1e-9 else f"scores differ by {off}")
"#;

/// The interpreter that `ATOMSCOPE_PYTHON` names, or the system's, if it has these packages.
fn python(packages: &str) -> Option<PathBuf> {
    let python = std::env::var_os("ATOMSCOPE_PYTHON").map_or("python3".into(), PathBuf::from);
    let asked = Command::new(&python)
        .args(["-c", &format!("import {packages}")])
        .output();
    match asked {
        Ok(answer) if answer.status.success() => Some(python),
        _ => {
            eprintln!(
                "skipped: {} lacks one of {packages}; name a Python that has them in ATOMSCOPE_PYTHON",
                python.display()
            );
            None
        }
    }
}

/// Blobs on a curve; `missing` is the share of values that are not there.
fn blobs(n_classes: usize, n_features: usize, missing: f64) -> Arc<Dataset> {
    let mut random = random_stream(7, "python", n_classes as u64);
    let mut normal = Normal::default();
    let n = 720;
    let mut values = Vec::new();
    for sample in 0..n {
        let class = sample % n_classes;
        for feature in 0..n_features {
            let centre = (2.0 * class as f64 + 0.7 * feature as f64).sin();
            let value = 30.0 + 10.0 * (1.6 * centre + 0.8 * normal.draw(&mut random));
            let is_missing = random_share(&mut random) < missing;
            values.push(if is_missing { f64::NAN } else { value });
        }
    }
    let parts = DatasetParts {
        values,
        feature_names: (0..n_features)
            .map(|f| format!("feature \"{f}\""))
            .collect(),
        class_names: (0..n_classes).map(|c| format!("класс '{c}'\\")).collect(),
        classes: (0..n).map(|sample| sample % n_classes).collect(),
        sources: vec!["made".into()],
        origins: (0..n)
            .map(|row| Origin {
                source: 0,
                place: Place::Row(row),
            })
            .collect(),
        ..DatasetParts::default()
    };
    Arc::new(Dataset::new(parts).expect("the parts fit"))
}

/// The data of a shipped session; none without its files.
fn shipped(name: &str) -> Option<(Experiment, Arc<Dataset>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sessions");
    let session = Session::load(&folder.join(format!("{name}.ron"))).expect("it is shipped");
    let data = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    let is_there = data.is_some() || session.experiment.data.files().is_empty();
    if !is_there {
        eprintln!("skipped: ATOMSCOPE_DATA is not set, so {name} is not compared");
        return None;
    }
    let places = DataPlaces::new(None, data.as_slice());
    let locate = |named: &Path| places.locate(named);
    let built = session.experiment.data.load(&locate, &mut |_| true);
    let dataset = Arc::new(built.expect("the data load").dataset);
    Some((session.experiment, dataset))
}

fn small(settings: LearnerSettings) -> LearnerSettings {
    LearnerSettings {
        n_atoms: 12,
        sparsity: 3,
        budget: 50,
        ..settings
    }
}

fn experiment(learner: LearnerSettings, preparation: Preparation) -> Experiment {
    let mut experiment = Experiment {
        learner,
        preparation,
        ..Experiment::default()
    };
    experiment.tests.n_tests = 1;
    experiment
}

/// The final model of a single fold.
fn train(dataset: &Arc<Dataset>, mut experiment: Experiment) -> RunState {
    experiment.split = SplitPlan::HoldOut(HoldOut::Share {
        test_share: 0.2,
        seed: 3,
    });
    let checked = experiment.check(dataset.clone()).expect("nothing is wrong");
    let parts = RunParts {
        folds: Some(Vec::new()),
        final_model: true,
    };
    let mut run = Run::new(Arc::new(checked), &parts, Vec::new()).expect("it begins");
    let mut news = Vec::new();
    while !run.is_complete() {
        news.clear();
        run.advance(Extent::Slice, &mut news).expect("it runs");
    }
    run.state()
}

/// Scores of every class for a sample; none where values are missing, which the margins speak for.
fn scores(model: &TrainedModel, classifier: &Classifier<'_>, sample: &[f64]) -> Option<Vec<f64>> {
    let mut prepared = sample.to_vec();
    let n_missing = model
        .preparation
        .apply(&mut prepared)
        .expect("its own width");
    if n_missing != Some(0) {
        return None;
    }
    let view = View::from_columns(&prepared, prepared.len());
    let heads = [model.learner.head];
    let mut found = None;
    classifier
        .compare_heads(view, &[0], &heads, &mut classifier.work(), |one| {
            found = Some(one.scores.to_vec());
        })
        .expect("classified");
    found
}

/// Writes the module of a model, and what the program says of samples.
fn write(folder: &Path, name: &str, state: &RunState, dataset: &Dataset) {
    let model = state.final_model().expect("it is complete");
    let text = python_module(model, &state.facts, name).expect("it can be written");
    std::fs::write(folder.join(format!("{name}.py")), text).expect("written");
    let step = (dataset.n_samples() / N_COMPARED).max(1);
    let chosen: Vec<usize> = (0..dataset.n_samples())
        .step_by(step)
        .take(N_COMPARED)
        .collect();
    let dataset = dataset.subset(&chosen).expect("samples of it");
    let judged = model
        .judge(&dataset, &JudgeOptions::default(), &mut |_| true)
        .expect("judged");
    let learner = model.revive().expect("its own state");
    let classifier = Classifier::of(learner.as_ref());
    let samples: Vec<_> = judged
        .iter()
        .map(|item| dataset.sample(item.sample))
        .collect();
    let samples: Vec<&[f64]> = samples.iter().map(|sample| &**sample).collect();
    let classes = &state.facts.class_names;
    let sets: Option<Vec<Vec<&String>>> = judged
        .iter()
        .map(|item| {
            let set = item.assurance.as_ref()?.set();
            Some(set.into_iter().map(|class| &classes[class]).collect())
        })
        .collect();
    let told = serde_json::json!({
        "classes": classes,
        "samples": samples,
        "scores": samples.iter().map(|sample| scores(model, &classifier, sample)).collect::<Vec<_>>(),
        "margins": judged.iter().map(|item| item.verdict.margin).collect::<Vec<_>>(),
        "labels": judged.iter().map(|item| &classes[item.verdict.class]).collect::<Vec<_>>(),
        "sets": sets,
        "epsilon": EPSILON,
    });
    std::fs::write(folder.join(format!("{name}.json")), told.to_string()).expect("written");
}

/// Every kernel, head, preparation and algorithm, on made samples of three classes and of two.
fn made_cases() -> Vec<(String, LearnerSettings, Preparation)> {
    let preparation = |missing, scaling| Preparation { missing, scaling };
    let plain = preparation(MissingPolicy::TrainingMean, Scaling::ZScore);
    let margin = || small(LearnerSettings::margin_aware());
    let kernels = [
        Kernel::Linear,
        Kernel::Polynomial {
            degree: 3,
            offset: 0.5,
        },
        Kernel::NormalisedPolynomial {
            degree: 2,
            offset: 1.0,
        },
        Kernel::Gaussian { width: 2.0 },
        Kernel::Laplacian { width: 4.0 },
    ];
    let mut cases = Vec::new();
    for (number, kernel) in kernels.into_iter().enumerate() {
        cases.push((
            format!("kernel{number}"),
            LearnerSettings { kernel, ..margin() },
            plain,
        ));
    }
    for head in Head::ALL {
        let kernel = Kernel::Gaussian { width: 2.0 };
        let gate = head.uses_decision_layer();
        let learner = LearnerSettings {
            kernel,
            head: Some(head),
            gate,
            ..margin()
        };
        cases.push((format!("head_{head:?}"), learner, plain));
    }
    for scaling in [
        Scaling::None,
        Scaling::ClippedZScore,
        Scaling::MinMax,
        Scaling::UnitNorm,
        Scaling::Groups,
    ] {
        let kernel = Kernel::NormalisedPolynomial {
            degree: 2,
            offset: 1.0,
        };
        let learner = LearnerSettings {
            kernel,
            pursuit: Pursuit::Omp,
            ..margin()
        };
        cases.push((
            format!("scaling_{scaling:?}"),
            learner,
            preparation(MissingPolicy::Zero, scaling),
        ));
    }
    let algorithms = [
        (
            "krls",
            LearnerSettings {
                calibration: 0.7,
                ..LearnerSettings::as_published()
            },
        ),
        ("evidence", LearnerSettings::evidence_preserving()),
        ("kmod", LearnerSettings::kmod()),
        ("skdl", LearnerSettings::skdl()),
        ("okdlrs", LearnerSettings::okdlrs()),
        ("okdlfb", LearnerSettings::okdlfb()),
        ("nearest", LearnerSettings::nearest_mean()),
        ("ridge", LearnerSettings::kernel_ridge()),
        ("svm", LearnerSettings::svm()),
    ];
    for (name, settings) in algorithms {
        let learner = LearnerSettings {
            kernel: Kernel::Gaussian { width: 3.0 },
            ..small(settings)
        };
        cases.push((format!("algorithm_{name}"), learner, plain));
    }
    cases
}

/// The same for a shipped session that learns some 2000 samples, where its data are, on samples that it has not learned.
fn write_shipped(folder: &Path, name: &str) {
    let Some((experiment, dataset)) = shipped(name) else {
        return;
    };
    let step = dataset.n_samples() / 2000 + 2;
    let every = |first: usize| {
        let chosen: Vec<usize> = (first..dataset.n_samples()).step_by(step).collect();
        dataset.subset(&chosen).expect("samples of it")
    };
    let state = train(&Arc::new(every(0)), experiment);
    write(folder, &name.replace('-', "_"), &state, &every(1));
}

/// Runs a check on the files of a folder.
fn run(python: &Path, check: &str, folder: &Path) {
    let place = folder.join("check");
    std::fs::write(&place, check).expect("written");
    let output = Command::new(python)
        .arg(&place)
        .arg(folder)
        .output()
        .expect("it starts");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[test]
fn modules_for_python_decide_as_the_program_does() {
    let Some(python) = python("numpy, safetensors") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for (n_classes, missing) in [(3, 0.01), (2, 0.0)] {
        let dataset = blobs(n_classes, 9, missing);
        for (name, learner, preparation) in made_cases() {
            let state = train(&dataset, experiment(learner, preparation));
            let name = format!("{name}_of_{n_classes}");
            write(folder, &name, &state, &dataset);
        }
    }
    // A quadratic kernel of waveforms has few dimensions: with ν = 1e-5 kept samples are nearly dependent.
    for name in [
        "usps-margin",
        "isolet-margin",
        "bonn-epilepsy",
        "feeder-faults",
    ] {
        write_shipped(folder, name);
    }
    // So are samples of few features beside a Gaussian wider than their distances, also with values filled in.
    let mut dependent = LearnerSettings {
        kernel: Kernel::Gaussian { width: 1.0 },
        head: Some(Head::S4J),
        ..LearnerSettings::margin_aware()
    };
    if let Algorithm::Margin { novelty, .. } = &mut dependent.algorithm {
        *novelty = 1e-5;
    }
    let plain = Preparation {
        missing: MissingPolicy::TrainingMean,
        scaling: Scaling::ZScore,
    };
    for (name, n_features, missing) in [("dependent", 2, 0.0), ("dependent_filled_in", 3, 0.05)] {
        let dataset = blobs(3, n_features, missing);
        let state = train(&dataset, experiment(dependent.clone(), plain));
        write(folder, name, &state, &dataset);
    }
    run(&python, CHECK, folder);
}

/// The code in the documentation of sessions.
fn documented_predictor() -> &'static str {
    let text = include_str!("../../src/engine/session/layout.md");
    let (_, after) = text.split_once("```python\n").expect("it shows code");
    let (code, after) = after.split_once("```").expect("code ends");
    assert!(!after.contains("```"), "there is one piece of code");
    code
}

#[test]
fn the_documentation_of_sessions_is_enough_for_a_predictor() {
    let Some(python) = python("numpy, safetensors, cbor2") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let learner = LearnerSettings {
        kernel: Kernel::Gaussian { width: 2.0 },
        head: Some(Head::S4J),
        gate: false,
        ..small(LearnerSettings::margin_aware())
    };
    let plain = Preparation {
        missing: MissingPolicy::Refuse,
        scaling: Scaling::ZScore,
    };
    let dataset = blobs(3, 9, 0.0);
    let experiment = experiment(learner, plain);
    let state = train(&dataset, experiment.clone());
    write(folder, "model", &state, &dataset);
    let mut session = Session::new(experiment);
    session.run = Some(Arc::new(state));
    session
        .save_as(&folder.join("session.ron"))
        .expect("it is saved");
    std::fs::write(folder.join("predictor.py"), documented_predictor()).expect("written");
    run(&python, CHECK_PREDICTOR, folder);
}
