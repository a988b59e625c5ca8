//! `atomscope simulate`: faults and other events as COMTRADE files with a list of what they are.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::ending::Refusal;
use super::terminal::complain;
use atomscope_engine::export::write;
use atomscope_engine::records::Record;
use atomscope_engine::records::comtrade::{ComtradeStorage, write_combined, write_files};
use atomscope_engine::simulate::feeder::{FaultClass, FeederSettings, FeederSimulator};
use atomscope_engine::simulate::network::{NetworkClasses, NetworkSettings, NetworkSimulator};
use atomscope_engine::simulate::phase_letters;

/// What `simulate` is told.
#[derive(Debug, Args)]
pub(super) struct SimulateArguments {
    /// The built-in 20 kV feeder, faults on many networks, or faults and other events on many networks
    #[arg(long, value_enum, default_value = "networks")]
    preset: SimulationPreset,
    /// Number of records in all; classes in turn
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Seed of all random draws
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Folder for the records and labels.csv
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How the samples are stored
    #[arg(long, value_enum, default_value = "float32")]
    format: FileFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SimulationPreset {
    Feeder,
    Networks,
    Events,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FileFormat {
    Ascii,
    Binary,
    Binary32,
    Float32,
    Cff,
}

/// One record and what the list says of it.
struct SimulatedRecord {
    record: Record,
    class: String,
    phases: String,
    parameters: String,
}

/// Writes the records and the list.
pub(super) fn run(arguments: &SimulateArguments) -> io::Result<ExitCode> {
    match write_all(arguments) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(message) => {
            complain(message)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

fn write_all(arguments: &SimulateArguments) -> Result<(), Refusal> {
    let out = &arguments.out;
    let cannot =
        |error: &dyn std::fmt::Display| format!("cannot write: {error}: {}", out.display());
    fs::create_dir_all(out).map_err(|error| cannot(&error))?;
    let maker = maker(arguments)?;
    let mut list = csv::Writer::from_writer(Vec::new());
    let head = ["file", "class", "phases", "parameters"];
    list.write_record(head).map_err(|error| cannot(&error))?;
    let width = arguments.count.to_string().len().max(4);
    for number in 0..arguments.count {
        let made = maker(number);
        let stem = format!("{:0width$}-{}", number + 1, made.class.replace(' ', "-"));
        let path = out.join(&stem);
        let (ending, written) = match arguments.format {
            FileFormat::Ascii => (
                "cfg",
                write_files(&made.record, ComtradeStorage::Ascii, &path),
            ),
            FileFormat::Binary => (
                "cfg",
                write_files(&made.record, ComtradeStorage::Binary, &path),
            ),
            FileFormat::Binary32 => (
                "cfg",
                write_files(&made.record, ComtradeStorage::Binary32, &path),
            ),
            FileFormat::Float32 => (
                "cfg",
                write_files(&made.record, ComtradeStorage::Float32, &path),
            ),
            FileFormat::Cff => (
                "cff",
                write_combined(&made.record, ComtradeStorage::Float32, &path),
            ),
        };
        written.map_err(|error| cannot(&error))?;
        let file = format!("{stem}.{ending}");
        let row = [&file, &made.class, &made.phases, &made.parameters];
        list.write_record(row).map_err(|error| cannot(&error))?;
    }
    let list = list.into_inner().map_err(|error| cannot(&error))?;
    Ok(write(&out.join("labels.csv"), &list)?)
}

/// What makes record `number`, classes in turn.
fn maker(arguments: &SimulateArguments) -> Result<Box<dyn Fn(u32) -> SimulatedRecord>, Refusal> {
    let seed = arguments.seed;
    let classes = match arguments.preset {
        SimulationPreset::Feeder => return feeder(seed),
        SimulationPreset::Networks => NetworkClasses::Faults,
        SimulationPreset::Events => NetworkClasses::Events,
    };
    let settings = NetworkSettings {
        seed,
        classes,
        ..NetworkSettings::default()
    };
    let simulator = NetworkSimulator::new(settings)?;
    let all = classes.all();
    Ok(Box::new(move |number| {
        let class = all[number as usize % all.len()];
        let index = number / all.len() as u32;
        let scenario = simulator.scenario(class, index);
        let waveforms = simulator.waveforms(&scenario);
        let mut parameters = scenario.description();
        parameters += &format!(", inception {:.6} s", waveforms.inception_s);
        if let Some(clearing_s) = waveforms.clearing_s {
            parameters += &format!(", clearing {clearing_s:.6} s");
        }
        SimulatedRecord {
            record: simulator.record_of(&scenario, &waveforms, index),
            class: class.name().to_owned(),
            phases: phase_letters(scenario.phases),
            parameters,
        }
    }))
}

fn feeder(seed: u64) -> Result<Box<dyn Fn(u32) -> SimulatedRecord>, Refusal> {
    let settings = FeederSettings {
        seed,
        cycles_before: 3,
        cycles_after: 5,
        ..FeederSettings::default()
    };
    let simulator = FeederSimulator::new(settings)?;
    Ok(Box::new(move |number| {
        let class = FaultClass::ALL[number as usize % FaultClass::ALL.len()];
        let index = number / FaultClass::ALL.len() as u32;
        let scenario = simulator.scenario(class, index);
        let phases = scenario.fault.map_or([false; 3], |fault| fault.phases);
        SimulatedRecord {
            record: simulator.record(class, index),
            class: class.name().to_owned(),
            phases: phase_letters(phases),
            parameters: simulator.description(&scenario),
        }
    }))
}
