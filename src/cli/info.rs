//! `atomscope info`: what a file holds, as text or JSON.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use super::folder_preview::FolderReport;
use super::terminal::one_line;
use atomscope_engine::features::signal_kind::kind_of;
use atomscope_engine::records::{
    self, Annotation, ArrayInfo, ChannelKind, Gap, Kind, Mode, ReadError, ReadOptions, Record,
};

/// Values read at once for statistics, those of all channels together.
const MOST_VALUES: usize = 1 << 20;
/// Channels and annotations shown as text; JSON has them all.
const SHOWN: usize = 40;
/// Categories of a column shown as text.
const CATEGORIES_SHOWN: usize = 8;

/// What to show and how.
#[derive(Debug, Clone, Default)]
pub(super) struct Choices {
    /// JSON instead of text.
    pub(super) json: bool,
    /// Read all samples.
    pub(super) stats: bool,
    /// Refuse what breaks a standard.
    pub(super) strict: bool,
    /// The sheet of a workbook.
    pub(super) sheet: Option<String>,
}

/// Reports on every file; fails if one could not be read.
pub(super) fn run(
    files: &[OsString],
    choices: Choices,
    out: &mut dyn Write,
) -> io::Result<ExitCode> {
    let mode = if choices.strict {
        Mode::Strict
    } else {
        Mode::Tolerant
    };
    let mut reports = Vec::new();
    let mut folders = Vec::new();
    let mut all_read = true;
    for file in files {
        if Path::new(file).is_dir() {
            let report = FolderReport::of(Path::new(file), mode);
            all_read &= report.error.is_none();
            if choices.json {
                folders.push(report);
            } else {
                report.write_text(out)?;
            }
            continue;
        }
        let options = ReadOptions {
            array: choices.sheet.clone(),
            ..mode.into()
        };
        let report = FileReport::of(Path::new(file), &options, choices.stats);
        all_read &= report.error.is_none();
        if choices.json {
            reports.push(report);
        } else {
            report.write_text(out, choices.stats)?;
        }
    }
    if choices.json {
        let all = Reports {
            files: reports,
            folders,
        };
        serde_json::to_writer_pretty(&mut *out, &all)?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(if all_read {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[derive(Debug, Serialize)]
struct Reports {
    files: Vec<FileReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    folders: Vec<FolderReport>,
}

/// What is known of one file. Numbers that are not finite become null in JSON.
#[derive(Debug, Default, Serialize)]
struct FileReport {
    path: String,
    format: Option<String>,
    kind: Option<String>,
    duration_s: Option<f64>,
    start: Option<String>,
    channels: Vec<ChannelReport>,
    annotations: Vec<Annotation>,
    gaps: Vec<Gap>,
    arrays: Vec<ArrayInfo>,
    /// All sheets of the workbook that the table is one of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sheets: Vec<String>,
    warnings: Vec<String>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct ChannelReport {
    name: String,
    unit: String,
    rate_hz: Option<f64>,
    n_samples: usize,
    /// What a channel of a recording measures, judged by label, unit and rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'static str>,
    /// The texts of a column of text with how often each occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Category>>,
    #[serde(flatten)]
    stats: Stats,
}

/// A text of a column of text.
#[derive(Clone, Debug, Serialize)]
struct Category {
    text: String,
    count: usize,
}

/// Statistics of the samples that are not missing.
#[derive(Clone, Debug, Default, Serialize)]
struct Stats {
    first: Vec<f64>,
    min: Option<f64>,
    max: Option<f64>,
    mean: Option<f64>,
    #[serde(skip)]
    n_present: usize,
    #[serde(skip)]
    sum: f64,
}

impl FileReport {
    fn of(path: &Path, options: &ReadOptions, with_stats: bool) -> FileReport {
        let opened = records::open_with(path, options);
        let read = opened.and_then(|record| Self::read(&record, with_stats));
        let mut report = read.unwrap_or_else(|error| FileReport {
            error: Some(error.to_string()),
            ..FileReport::default()
        });
        report.path = path.display().to_string();
        report
    }

    fn read(record: &Record, with_stats: bool) -> Result<FileReport, ReadError> {
        let mut stats = vec![Stats::default(); record.channels.len()];
        if with_stats {
            take_samples(record, &mut stats)?;
        }
        let mut channels = Vec::with_capacity(record.channels.len());
        for (number, (channel, stats)) in record.channels.iter().zip(stats).enumerate() {
            let categories = match &channel.kind {
                ChannelKind::Nominal { levels } => Some(categories(record, number, levels)?),
                _ => None,
            };
            channels.push(ChannelReport {
                name: channel.name.clone(),
                unit: channel.unit.symbol.clone(),
                rate_hz: channel.rate_hz,
                n_samples: channel.n_samples,
                signal: (record.kind == Kind::Recording).then(|| kind_of(channel).name()),
                // Numbers of positions in the list of texts tell nothing.
                stats: match categories {
                    Some(_) => Stats::default(),
                    None => stats,
                },
                categories,
            });
        }
        Ok(FileReport {
            path: String::new(),
            format: Some(record.format.to_string()),
            kind: Some(record.kind.to_string()),
            duration_s: record.duration_s(),
            start: record.start.map(|start| start.to_string()),
            channels,
            annotations: record.annotations.clone(),
            gaps: record.gaps.clone(),
            arrays: record.arrays.clone(),
            sheets: record.sheets.clone(),
            warnings: record.warnings.iter().map(ToString::to_string).collect(),
            error: None,
        })
    }

    fn write_text(&self, out: &mut dyn Write, with_stats: bool) -> io::Result<()> {
        writeln!(out, "{}", one_line(&self.path))?;
        if let Some(error) = &self.error {
            return writeln!(out, "  not read: {error}\n");
        }
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        writeln!(
            out,
            "  format    {}, {}",
            known(&self.format),
            known(&self.kind)
        )?;
        writeln!(out, "  start     {}", known(&self.start))?;
        let duration = self
            .duration_s
            .map(|seconds| format!("{} s", shown(seconds)));
        writeln!(out, "  duration  {}", known(&duration))?;
        writeln!(out, "  channels  {}", self.channels.len())?;
        for channel in self.channels.iter().take(SHOWN) {
            channel.write_text(out, with_stats)?;
        }
        write_unshown(out, self.channels.len())?;
        for array in &self.arrays {
            writeln!(out, "  array     {} {:?}", array.name, array.shape)?;
        }
        for sheet in self.sheets.iter().take(SHOWN) {
            writeln!(out, "  sheet     {sheet}")?;
        }
        write_unshown(out, self.sheets.len())?;
        for gap in &self.gaps {
            let (onset, lasts) = (shown(gap.onset_s), shown(gap.duration_s));
            writeln!(out, "  gap       at {onset} s for {lasts} s")?;
        }
        for annotation in self.annotations.iter().take(SHOWN) {
            let lasts = annotation
                .duration_s
                .map(|seconds| format!(" for {} s", shown(seconds)));
            let lasts = lasts.unwrap_or_default();
            let (onset, text) = (shown(annotation.onset_s), &annotation.text);
            writeln!(out, "  note      at {onset} s{lasts}: {text}")?;
        }
        write_unshown(out, self.annotations.len())?;
        for warning in &self.warnings {
            writeln!(out, "  warning   {warning}")?;
        }
        writeln!(out)
    }
}

/// The texts of a column, those that occur most first.
fn categories(
    record: &Record,
    channel: usize,
    levels: &[String],
) -> Result<Vec<Category>, ReadError> {
    let mut counts = vec![0_usize; levels.len()];
    for value in record.read_channel(channel)? {
        if let Some(count) = counts.get_mut(value as usize).filter(|_| !value.is_nan()) {
            *count += 1;
        }
    }
    let texts = levels.iter().cloned().zip(counts);
    let mut categories: Vec<Category> = texts
        .map(|(text, count)| Category { text, count })
        .collect();
    categories.sort_by_key(|category| std::cmp::Reverse(category.count));
    Ok(categories)
}

/// A number in seven digits for the eye; JSON has them all.
fn shown(value: f64) -> String {
    let scientific = format!("{value:.6e}");
    let rounded: f64 = scientific.parse().unwrap_or(value);
    let is_handy = rounded == 0.0 || (1e-4..1e12).contains(&rounded.abs()) || !value.is_finite();
    if is_handy {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}

fn write_unshown(out: &mut dyn Write, count: usize) -> io::Result<()> {
    match count.checked_sub(SHOWN) {
        Some(more) if more > 0 => writeln!(out, "            and {more} more (--json lists all)"),
        _ => Ok(()),
    }
}

impl ChannelReport {
    fn write_text(&self, out: &mut dyn Write, with_stats: bool) -> io::Result<()> {
        let rate = match (self.rate_hz, &self.categories) {
            (Some(rate_hz), _) => format!("{} Hz", shown(rate_hz)),
            (None, Some(_)) => "text".to_owned(),
            (None, None) => "rate unknown".to_owned(),
        };
        let unit = if self.unit.is_empty() {
            "-"
        } else {
            &self.unit
        };
        let (name, n_samples) = (&self.name, self.n_samples);
        write!(
            out,
            "    {name:<24} {unit:<6} {rate:>12} {n_samples:>10} samples"
        )?;
        if let Some(signal) = self.signal {
            write!(out, "  {signal}")?;
        }
        if let Some(categories) = &self.categories {
            let shown = categories.iter().take(CATEGORIES_SHOWN);
            let shown: Vec<String> = shown
                .map(|c| format!("{:?} × {}", c.text, c.count))
                .collect();
            let more = match categories.len().checked_sub(CATEGORIES_SHOWN) {
                Some(more) if more > 0 => format!(" and {more} more"),
                _ => String::new(),
            };
            write!(out, "  text: {}{more}", shown.join(", "))?;
        } else if with_stats {
            let known = |value: Option<f64>| value.map_or("-".to_owned(), shown);
            let stats = &self.stats;
            let first: Vec<String> = stats.first.iter().copied().map(shown).collect();
            write!(
                out,
                "  first [{}]  min {}  max {}  mean {}",
                first.join(", "),
                known(stats.min),
                known(stats.max),
                known(stats.mean)
            )?;
        }
        writeln!(out)
    }
}

/// Reads all samples once. Channels of one length are read together, because files keep
/// them together; others one after another.
fn take_samples(record: &Record, stats: &mut [Stats]) -> Result<(), ReadError> {
    let lengths: Vec<usize> = record.channels.iter().map(|c| c.n_samples).collect();
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        let n_samples = lengths.first().copied().unwrap_or(0);
        let most = (MOST_VALUES / lengths.len().max(1)).max(1);
        let mut blocks = vec![Vec::new(); lengths.len()];
        for first in (0..n_samples).step_by(most) {
            for block in &mut blocks {
                block.resize(most.min(n_samples - first), 0.0);
            }
            record.read_all_into(first, &mut blocks)?;
            for (stats, block) in stats.iter_mut().zip(&blocks) {
                stats.take(block);
            }
        }
        return Ok(());
    }
    let mut block = Vec::new();
    for (channel, (stats, &n_samples)) in stats.iter_mut().zip(&lengths).enumerate() {
        for first in (0..n_samples).step_by(MOST_VALUES) {
            block.resize(MOST_VALUES.min(n_samples - first), 0.0);
            record.read_into(channel, first, &mut block)?;
            stats.take(&block);
        }
    }
    Ok(())
}

impl Stats {
    /// Goes on with the next samples.
    fn take(&mut self, values: &[f64]) {
        let n_wanted = 3 - self.first.len();
        self.first.extend(values.iter().take(n_wanted));
        for &value in values.iter().filter(|value| !value.is_nan()) {
            self.min = Some(self.min.map_or(value, |min| min.min(value)));
            self.max = Some(self.max.map_or(value, |max| max.max(value)));
            self.sum += value;
            self.n_present += 1;
        }
        self.mean = (self.n_present > 0).then(|| self.sum / self.n_present as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(files: &[OsString], choices: Choices) -> (String, bool) {
        let mut out = Vec::new();
        let code = run(files, choices, &mut out).expect("memory takes all");
        let text = String::from_utf8(out).expect("text");
        // An exit code can only be compared by what it prints.
        let succeeded = format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS);
        (text, succeeded)
    }

    #[test]
    fn a_file_that_cannot_be_read_fails_and_the_others_are_reported() {
        let folder = std::env::temp_dir().join(format!("atomscope-info-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("temporary folder");
        let good = folder.join("good.csv").into_os_string();
        std::fs::write(&good, "a,b\n1,2\n3,nan\n").expect("written");
        let missing = folder.join("missing.csv").into_os_string();
        let choices = Choices {
            json: true,
            stats: true,
            strict: false,
            ..Choices::default()
        };
        let (text, succeeded) = output(&[missing, good.clone()], choices.clone());
        assert!(!succeeded);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(json["files"][0]["error"].is_string());
        let file = &json["files"][1];
        assert!(file["error"].is_null());
        assert_eq!(file["format"], "CSV");
        assert_eq!(file["channels"][1]["name"], "b");
        assert_eq!(file["channels"][1]["first"][0], 2.0);
        assert!(file["channels"][1]["first"][1].is_null());
        assert_eq!(file["channels"][0]["mean"], 2.0);
        assert!(file["channels"][0]["rate_hz"].is_null());
        let (text, succeeded) = output(
            &[good],
            Choices {
                json: false,
                ..choices
            },
        );
        assert!(succeeded);
        assert!(text.contains("format    CSV, table"), "{text}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn columns_of_text_are_shown_with_their_categories() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "x,fault\n1,LL\n2,SLG\n3,SLG\n").expect("written");
        let choices = Choices {
            json: false,
            stats: true,
            strict: false,
            ..Choices::default()
        };
        let (text, succeeded) = output(&[path.clone().into_os_string()], choices.clone());
        assert!(
            succeeded && text.contains("text: \"SLG\" × 2, \"LL\" × 1"),
            "{text}"
        );
        let json = Choices {
            json: true,
            ..choices
        };
        let (text, _) = output(&[path.into_os_string()], json);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let column = &json["files"][0]["channels"][1];
        assert_eq!(column["categories"][0]["text"], "SLG");
        assert!(column["min"].is_null(), "{column}");
    }

    #[test]
    fn numbers_are_shown_in_seven_digits() {
        let shown: Vec<String> = [0.0, 2403.432860797106, -1.23456789e-9, 2e20, f64::NAN]
            .map(shown)
            .to_vec();
        assert_eq!(shown, ["0", "2403.433", "-1.234568e-9", "2e20", "NaN"]);
    }
}
