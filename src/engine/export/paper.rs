//! The report on the paper's comparison: ours beside the published, and where the order differs.

use serde_json::{Value, json};

use super::chart::{Series, series_ink};
use super::comparison::{
    PROVENANCE_HEAD, VERSION, accuracy_chart, comparison_csv, comparison_json, missing_chart,
    provenance_cells, write_comparison,
};
use super::html::{Cell, Page};
use super::published::{Published, PublishedData};
use super::tables::{number, table};
use crate::evaluation::Superiority;
use crate::experiment::{ComparedRun, Comparison};

/// One data set of the paper with one split.
#[derive(Clone, Debug)]
pub struct PaperPart {
    /// Its name in names of files.
    pub key: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What to know about it.
    pub notes: Vec<String>,
    /// The published data set it stands beside.
    pub published: Option<&'static str>,
    /// The published name of each method, in the order of the comparison.
    pub published_names: Vec<Option<&'static str>>,
    /// Its outcome.
    pub result: PartResult,
}

/// The outcome of a part of the report.
#[derive(Clone, Debug)]
pub enum PartResult {
    /// It was run.
    Compared(Box<Comparison>),
    /// It was not, and why.
    LeftOut(String),
}

/// The whole report.
#[derive(Clone, Debug)]
pub struct PaperReport {
    /// Its parts.
    pub parts: Vec<PaperPart>,
    /// Whether folds and tests were cut short.
    pub is_quick: bool,
    /// Whether everything was run.
    pub is_complete: bool,
}

/// Why a published result is no measure of the method, where its programs are known to be at fault.
fn known_fault(data: &str, method: &str) -> Option<&'static str> {
    match (data, method) {
        ("DistNet", "sKDL") => {
            Some("the stored result of sKDL on this data set is no run with five classes")
        }
        ("EEG", _) => Some(
            "the published EEG set is one recording per class, read fourteen times, with copies of the same segments on both sides of every fold",
        ),
        (_, "OKDLRS") => Some(
            "in the published programs OKDLRS starts every mini-batch with random coefficients, which discards most of what was learned",
        ),
        (_, "sKDL") => Some(
            "in the published programs sKDL learns with a rate of 1e-13, so that its codes do not depend on the data",
        ),
        (_, "OKDLFB") => Some(
            "in the published programs two options of OKDLFB are misspelt and Ψ is stale after pruning, which shows as the fall of its curve",
        ),
        _ => None,
    }
}

impl PaperPart {
    fn comparison(&self) -> Option<&Comparison> {
        match &self.result {
            PartResult::Compared(comparison) => Some(comparison),
            PartResult::LeftOut(_) => None,
        }
    }

    fn published_data<'a>(&self, published: &'a Published) -> Option<&'a PublishedData> {
        published.data.get(self.published?)
    }

    /// The published name of each method with its place.
    fn named(&self) -> impl Iterator<Item = (usize, &'static str)> + '_ {
        let names = self.published_names.iter().enumerate();
        names.filter_map(|(place, name)| Some((place, (*name)?)))
    }

    fn curves(&self, published: &Published) -> (Vec<Series>, Vec<Series>) {
        let Some(data) = self.published else {
            return (Vec::new(), Vec::new());
        };
        // Two variants may share a published method: it is drawn once.
        let mut seen: Vec<&str> = Vec::new();
        let mut curves = (Vec::new(), Vec::new());
        for (place, name) in self.named() {
            if !seen.contains(&name) {
                seen.push(name);
                let ink = series_ink(place);
                curves.0.extend(published.curve(data, name, ink));
                curves.1.extend(published.missing(data, name, ink));
            }
        }
        curves
    }

    /// Pairs of methods whose order here is not the published one, and why.
    pub fn order_notes(&self, published: &Published) -> Vec<String> {
        let (Some(comparison), Some(data)) = (self.comparison(), self.published_data(published))
        else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        let named: Vec<(usize, &str)> = self.named().collect();
        for (n, &(first, first_name)) in named.iter().enumerate() {
            for &(second, second_name) in &named[..n] {
                let (Some(a), Some(b)) = (data.last(first_name), data.last(second_name)) else {
                    continue;
                };
                let rows = (&comparison.rows[first], &comparison.rows[second]);
                if let Some(note) =
                    order_note(rows, (first_name, second_name), a - b, self.published)
                {
                    notes.push(note);
                }
            }
        }
        notes
    }
}

fn order_note(
    (first, second): (&ComparedRun, &ComparedRun),
    names: (&str, &str),
    published: f64,
    data: Option<&str>,
) -> Option<String> {
    let difference = first.difference(second)?;
    let ours = difference.superiority();
    let agrees = match ours {
        Superiority::Better => published > 0.0,
        Superiority::Worse => published < 0.0,
        Superiority::NotShown | Superiority::TooFewPairs => published == 0.0,
    };
    if agrees || names.0 == names.1 {
        return None;
    }
    let faults = [names.0, names.1];
    let mut reasons: Vec<&str> = faults
        .iter()
        .filter_map(|name| known_fault(data.unwrap_or(""), name))
        .collect();
    reasons.dedup();
    let why = match &reasons[..] {
        [] => String::new(),
        reasons => format!("; {}", reasons.join("; ")),
    };
    Some(format!(
        "{} against {}: published {:+.2} points, here {:+.2} ({}){why}",
        first.name,
        second.name,
        100.0 * published,
        100.0 * difference.mean,
        difference.in_words(&first.name, &second.name),
    ))
}

/// A method beside its published result.
struct WithPublished<'a> {
    row: &'a ComparedRun,
    place: Option<f64>,
    published: Option<f64>,
    published_place: Option<f64>,
    published_ms: Option<f64>,
}

impl WithPublished<'_> {
    fn last(&self) -> Option<f64> {
        self.row.summary.last.map(|point| point.mean)
    }

    /// Growing and pruning, milliseconds per mini-batch (or iteration) and dictionary.
    fn ms(&self) -> [Option<f64>; 2] {
        let timing = &self.row.summary.timing;
        let of = |us: Option<f64>| us.map(|us| us / 1000.0);
        [of(timing.grow_us_per_batch), of(timing.prune_us_per_batch)]
    }

    /// How many times faster than published.
    fn gain(&self) -> Option<f64> {
        let [grow, prune] = self.ms();
        Some(self.published_ms? / (grow? + prune?))
    }
}

/// Accuracy, place and time of every method beside the published ones.
fn beside<'a>(
    part: &PaperPart,
    comparison: &'a Comparison,
    data: Option<&PublishedData>,
) -> Vec<WithPublished<'a>> {
    let name = |place: usize| part.published_names.get(place).copied().flatten();
    let published = |place: usize| data?.last(name(place)?);
    let last = |row: &ComparedRun| row.summary.last.map(|point| point.mean);
    let ours: Vec<Option<f64>> = comparison.rows.iter().map(last).collect();
    let theirs: Vec<Option<f64>> = (0..ours.len()).map(published).collect();
    let rows = comparison.rows.iter().enumerate();
    rows.map(|(place, row)| WithPublished {
        row,
        place: rank(&ours, place),
        published: theirs[place],
        published_place: rank(&theirs, place),
        published_ms: name(place).and_then(|name| data?.total_ms(name)),
    })
    .collect()
}

const BESIDE_HEAD: [&str; 9] = [
    "method",
    "last accuracy",
    "published accuracy",
    "place here",
    "published place",
    "growing, ms per mini-batch or iteration, and dictionary",
    "pruning, ms",
    "published ms",
    "times faster",
];

fn beside_rows(methods: &[WithPublished<'_>]) -> Vec<Vec<Cell>> {
    let percent = |value: f64| format!("{:.2} %", 100.0 * value);
    let whole = |value: f64| format!("{value:.0}");
    let fine = |value: f64| format!("{value:.3}");
    let row = |method: &WithPublished<'_>| {
        let [grow, prune] = method.ms();
        vec![
            Cell::text(&method.row.name),
            Cell::of(method.last(), percent),
            Cell::of(method.published, percent),
            Cell::of(method.place, whole),
            Cell::of(method.published_place, whole),
            Cell::of(grow, fine),
            Cell::of(prune, fine),
            Cell::of(method.published_ms, |value| format!("{value:.1}")),
            Cell::of(method.gain(), whole),
        ]
    };
    methods.iter().map(row).collect()
}

/// The same as CSV, each row with what it belongs to.
fn beside_csv(comparison: &Comparison, methods: &[WithPublished<'_>]) -> String {
    let mut head: Vec<String> = PROVENANCE_HEAD.map(str::to_owned).to_vec();
    head.extend(
        [
            "method",
            "last accuracy",
            "standard deviation",
            "published accuracy",
            "place",
            "published place",
            "growing ms",
            "pruning ms",
            "published ms",
        ]
        .map(str::to_owned),
    );
    let rows = methods.iter().map(|method| {
        let [grow, prune] = method.ms();
        let sd = method.row.summary.last.and_then(|point| point.sd);
        let numbers = [
            method.last(),
            sd,
            method.published,
            method.place,
            method.published_place,
            grow,
            prune,
            method.published_ms,
        ];
        let mut cells = provenance_cells(comparison, method.row);
        cells.push(method.row.name.clone());
        cells.extend(numbers.map(number));
        cells
    });
    table(head, rows)
}

/// Place among those that have a value, the best first.
fn rank(values: &[Option<f64>], place: usize) -> Option<f64> {
    let own = values[place]?;
    let better = values
        .iter()
        .flatten()
        .filter(|value| **value > own)
        .count();
    Some(better as f64 + 1.0)
}

impl PaperReport {
    /// The report as HTML.
    pub fn to_html(&self) -> String {
        let published = Published::shipped();
        let title = "The paper's comparison, repeated";
        let mut page = Page::default();
        page.title(title);
        page.paragraph(&format!(
            "Online dictionary learning in kernel space on the paper's data sets, by Atomscope {VERSION}. \
             Solid lines are ours, dashed lines the published results. {}",
            published.note
        ));
        page.paragraph(
            "Methods of the paper, evidence-preserving KRLS and the nearest mean have its kernel, the polynomial of degree 2; \
             margin-aware KRLS and kernel ridge one that suits the data set; the SVM a Gaussian as wide as the median \
             distance between samples and C = 10, not tuned any further.",
        );
        if self.is_quick {
            page.paragraph("Quick run: fewer folds and tests than in the paper, so the figures are only indicative.");
        }
        for part in &self.parts {
            page.section(part.title);
            if !part.notes.is_empty() {
                page.list(&part.notes);
            }
            match &part.result {
                PartResult::LeftOut(reason) => page.paragraph(&format!("Skipped: {reason}")),
                PartResult::Compared(comparison) => {
                    let data = part.published_data(&published);
                    page.subsection("Beside the published results");
                    page.table(&BESIDE_HEAD, &beside_rows(&beside(part, comparison, data)));
                    let notes = part.order_notes(&published);
                    if !notes.is_empty() {
                        page.paragraph(
                            "Where the order of the methods differs from the published one:",
                        );
                        page.list(&notes);
                    }
                    let (curves, missing) = part.curves(&published);
                    write_comparison(&mut page, comparison, &curves, &missing);
                }
            }
        }
        page.finish(title)
    }

    /// Everything as JSON.
    pub fn to_json(&self) -> Value {
        let published = Published::shipped();
        let part = |part: &PaperPart| {
            let data = part.published_data(&published);
            json!({
                "key": part.key,
                "title": part.title,
                "notes": part.notes,
                "left_out": match &part.result {
                    PartResult::LeftOut(reason) => Some(reason),
                    PartResult::Compared(_) => None,
                },
                "comparison": part.comparison().map(comparison_json),
                "order_notes": part.order_notes(&published),
                "published": part.named().map(|(place, name)| json!({
                    "method": part.comparison().map(|comparison| comparison.rows[place].name.clone()),
                    "published_name": name,
                    "last": data.and_then(|data| data.last(name)),
                    "ms": data.and_then(|data| data.total_ms(name)),
                })).collect::<Vec<_>>(),
            })
        };
        json!({
            "atomscope_version": VERSION,
            "is_quick": self.is_quick,
            "is_complete": self.is_complete,
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
        })
    }

    /// Every file of the report with its name: HTML, JSON, and figures and tables of each part.
    pub fn files(&self) -> Vec<(String, String)> {
        let published = Published::shipped();
        let mut files = vec![
            ("report.html".to_owned(), self.to_html()),
            ("report.json".to_owned(), format!("{:#}\n", self.to_json())),
        ];
        for part in &self.parts {
            let Some(comparison) = part.comparison() else {
                continue;
            };
            let (curves, missing) = part.curves(&published);
            let accuracy = accuracy_chart(comparison, &curves).figure().to_svg();
            let missing = missing_chart(comparison, &missing).figure().to_svg();
            files.push((format!("{}-accuracy.svg", part.key), accuracy));
            files.push((format!("{}-missing.svg", part.key), missing));
            files.push((
                format!("{}-curves.csv", part.key),
                comparison_csv(comparison),
            ));
            let methods = beside(part, comparison, part.published_data(&published));
            files.push((
                format!("{}-methods.csv", part.key),
                beside_csv(comparison, &methods),
            ));
        }
        files
    }
}
