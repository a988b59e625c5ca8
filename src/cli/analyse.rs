//! `atomscope analyse`: what fault records say in closed form, without a model.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::ending::{self, Failure, write_result};
use super::fault_fields::{fault_fields, line_for};
use super::outputs::{Output, refuse_inputs};
use super::terminal::{self, CleanWriter, complain, one_line};
use atomscope_engine::export::fault_report::{FaultReport, ReportedRecord};
use atomscope_engine::features::fault::FaultRecipe;
use atomscope_engine::protection::inbox::{InboxRow, group_by_event, to_csv};
use atomscope_engine::protection::zones::Zone;
use atomscope_engine::protection::{FaultAnalysis, FaultSummary, Line};
use atomscope_engine::records::catalog::Folder;
use atomscope_engine::records::{Kind, Mode, open};

/// What `analyse` is told.
#[derive(Debug, Args)]
pub(super) struct AnalyseArguments {
    /// Fault records or folders of them; with --report one record, or both ends of one line
    #[arg(required = true)]
    files: Vec<OsString>,
    /// Line data for distances: (length_km: 50, z1_ohm_per_km: (0.1, 0.4), z0_ohm_per_km: (0.3, 1.2)), or a file of them
    #[arg(long, value_name = "LINE")]
    line: Option<PathBuf>,
    /// Zones of the report's impedance plane, primary: [(name: "Z1", loops: All, shape: Mho(reach: (5, 20), offset: (0, 0)))]
    #[arg(long, value_name = "ZONES", requires = "report")]
    zones: Option<String>,
    /// Write the results as JSON; - for the standard output instead of a line for each record
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write the list of records, grouped by event, as CSV
    #[arg(long, value_name = "OUT.csv")]
    csv: Option<PathBuf>,
    /// Write a report of the event as a page
    #[arg(long, value_name = "OUT.html")]
    report: Option<PathBuf>,
}

/// Analyses records one after the other.
pub(super) fn run(arguments: &AnalyseArguments) -> io::Result<ExitCode> {
    let (lines, zones, outputs) = match prepared(arguments) {
        Ok(prepared) => prepared,
        Err(failure) => return ending::tell(failure),
    };
    let is_text = !outputs.iter().flatten().any(Output::is_stdout);
    let mut is_whole = true;
    let (mut entries, mut reported, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for path in named_files(&arguments.files)? {
        let path = path.as_path();
        match open(path, Mode::Tolerant) {
            Ok(record) if record.kind == Kind::FaultRecord => {
                let recipe = FaultRecipe::default();
                let line = line_for(&lines, &record);
                let analysis = FaultAnalysis::of(&record, &recipe);
                let summary = match &analysis {
                    Ok(analysis) => FaultSummary::of_analysis(analysis, line),
                    Err(error) => FaultSummary::without(error),
                };
                tell(path, &summary, is_text)?;
                entries.push(Value::Object(fault_fields(path, &summary)));
                let found = analysis.as_ref().ok();
                rows.push(InboxRow::new(path.to_owned(), &record, summary, found));
                if let (Ok(analysis), true) = (analysis, arguments.report.is_some()) {
                    reported.push(ReportedRecord {
                        path: path.to_owned(),
                        record,
                        analysis,
                        line: line.cloned(),
                    });
                }
            }
            Ok(record) => {
                is_whole = false;
                let path = path.display();
                complain(format!(
                    "a fault record is expected, but this is a {}: {path}",
                    record.kind
                ))?;
            }
            Err(error) => {
                is_whole = false;
                complain(error)?;
            }
        }
    }
    let [json, csv, report] = &outputs;
    if let Some(output) = json {
        let text = serde_json::to_string_pretty(&json!({ "records": entries }))?;
        is_whole &= write_result(output, &text)?;
    }
    if let Some(output) = csv {
        group_by_event(&mut rows);
        let bytes = to_csv(&rows).map_err(io::Error::other)?;
        is_whole &= write_result(output, &String::from_utf8_lossy(&bytes))?;
    }
    if let (Some(output), false) = (report, reported.is_empty()) {
        let report = FaultReport::new(&reported).with_zones(zones);
        is_whole &= write_result(output, &report.page())?;
    }
    Ok(if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Line data, zones, and the files for JSON, CSV and report.
type Prepared = (Vec<Line>, Vec<Zone>, [Option<Output>; 3]);

/// What is given, with the files reserved.
fn prepared(arguments: &AnalyseArguments) -> Result<Prepared, Failure> {
    let lines = arguments.line.as_deref().map(Line::load_all).transpose();
    let lines = lines.map_err(Failure::usage)?.unwrap_or_default();
    let zones = arguments.zones.as_deref().map(Zone::parse_all).transpose();
    let zones = zones.map_err(Failure::usage)?.unwrap_or_default();
    if arguments.report.is_some() && arguments.files.len() > 2 {
        let n_files = arguments.files.len();
        return Err(Failure::Usage(format!(
            "a report is of one event, one or two ends, but {n_files} files are named: name one or two"
        )));
    }
    let results = [&arguments.json, &arguments.csv, &arguments.report];
    refuse_inputs(&results.map(Option::as_deref), &arguments.files)?;
    let outputs = [
        Output::reserve_named(arguments.json.as_deref())?,
        Output::reserve_named(arguments.csv.as_deref())?,
        Output::reserve_named(arguments.report.as_deref())?,
    ];
    Ok((lines, zones, outputs))
}

/// The files named, and the fault records of folders.
fn named_files(named: &[OsString]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named.iter().map(Path::new) {
        if !path.is_dir() {
            files.push(path.to_owned());
            continue;
        }
        match Folder::scan(path) {
            Ok(folder) => {
                files.extend(folder.fault_records());
            }
            Err(error) => complain(error)?,
        }
    }
    Ok(files)
}

/// `BC-G from 0.1469 s to 0.2300 s, Takagi 0.60 (0.58 to 0.62): path`, unless something else goes to the standard output.
fn tell(path: &Path, summary: &FaultSummary, is_text: bool) -> io::Result<()> {
    let mut text = match (summary.type_rule, &summary.phases) {
        (None, _) => "no verdict".to_owned(),
        (Some(class), None) => class.to_owned(),
        (Some(class), Some(phases)) => format!("{class} {phases}"),
    };
    if let Some(inception_s) = summary.inception_s {
        text += &format!(" from {inception_s:.4} s");
    }
    if let Some(clearing_s) = summary.clearing_s {
        text += &format!(" to {clearing_s:.4} s");
    }
    for distance in &summary.distance {
        text += &format!(", {} {:.4}", distance.method, distance.value);
        if let (Some(low), Some(high)) = (distance.low, distance.high) {
            text += &format!(" ({low:.3} to {high:.3})");
        }
    }
    let name = one_line(path.display());
    if is_text {
        writeln!(terminal::stdout(), "{text}: {name}")?;
    }
    let mut err = CleanWriter::new(io::stderr());
    for warning in &summary.warnings {
        writeln!(err, "note: {warning}: {name}")?;
    }
    Ok(())
}
