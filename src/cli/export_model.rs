//! `atomscope export-model`: a trained session as a module for Python.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::ending::{Failure, tell, write_result};
use super::outputs::{Output, refuse_inputs};
use super::trained::load_trained;
use atomscope_engine::experiment::{Part, RunState, TrainedModel};
use atomscope_engine::export::{VERSION, python_module};

/// The arguments of `export-model`.
#[derive(Debug, Args)]
pub(super) struct ExportModelArguments {
    /// A trained session, as `run --save` and the window write it
    session: PathBuf,
    /// Write a module with predict, decision_function and predict_set that needs numpy and safetensors
    /// only, to the standard output for `-`
    #[arg(long, value_name = "OUT.py", required = true)]
    python: PathBuf,
    /// The model of this fold, counted from 1, instead of the final one
    #[arg(long, value_name = "N")]
    fold: Option<usize>,
}

/// Writes the module.
pub(super) fn run(arguments: &ExportModelArguments) -> io::Result<ExitCode> {
    let (output, text) = match export(arguments) {
        Ok(exported) => exported,
        Err(failure) => return tell(failure),
    };
    Ok(match write_result(&output, &text)? {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn export(arguments: &ExportModelArguments) -> Result<(Output, String), Failure> {
    let session = load_trained(&arguments.session).map_err(Failure::usage)?;
    let run = session.run.as_ref();
    let model = run.and_then(|run| wanted(run, arguments.fold));
    let (Some(run), Some(model)) = (run, model) else {
        let path = arguments.session.display();
        let which = arguments.fold.unwrap_or_default();
        return Err(Failure::Usage(format!(
            "the session holds no complete model of fold {which}: choose another with --fold, or leave it out for the final model: {path}"
        )));
    };
    refuse_inputs(&[Some(&arguments.python)], &[&arguments.session])?;
    let output = Output::reserve(&arguments.python)?;
    let text = python_module(
        model,
        &run.facts,
        &source(&arguments.session, arguments.fold),
    )
    .map_err(Failure::failed)?;
    Ok((output, text))
}

/// The model of a fold, or the final one.
fn wanted(run: &RunState, fold: Option<usize>) -> Option<&TrainedModel> {
    let part = match fold {
        Some(number) => Part::Fold(number.checked_sub(1)?),
        None => Part::Final,
    };
    let mut parts = run.parts.iter();
    Some(
        parts
            .find(|state| state.record.part == part)?
            .model
            .as_ref()?,
    )
}

/// Where the model comes from, in words.
fn source(session: &Path, fold: Option<usize>) -> String {
    let name = session.file_name().unwrap_or_default().to_string_lossy();
    let model = fold.map_or("final model".to_owned(), |fold| {
        format!("model of fold {fold}")
    });
    format!("{model} of {name}, exported by Atomscope {VERSION}")
}
