//! What a column of a table holds, by the evidence of all its fields: numbers, names, dates and times.

use std::collections::HashMap;

use super::super::number_column::NumberColumn;
use super::super::text::{counted, quoted};
use super::super::{ChannelKind, FilePlace, Findings, ReadError, Unit};
use super::moment::MomentForm;
use super::number_form::{
    DecimalSign, Spelling, affix_of_number, parse, spelling, without_percent,
};
use super::rows::{is_missing, is_missing_word, is_none, is_spreadsheet_error};

/// Words for no and yes.
const BOOLEAN_WORDS: [[&str; 2]; 10] = [
    ["false", "true"],
    ["no", "yes"],
    ["off", "on"],
    ["f", "t"],
    ["n", "y"],
    ["falsch", "wahr"],
    ["nein", "ja"],
    ["faux", "vrai"],
    ["non", "oui"],
    ["нет", "да"],
];

/// Where a field of some kind was met first, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Met {
    count: usize,
    first: Option<(usize, String)>,
}

impl Met {
    fn meet(&mut self, line: usize, field: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (line, quoted(field)));
    }
}

/// What the fields of a column are.
#[derive(Debug, Default)]
pub(super) struct ColumnTally {
    n_either: usize,
    point: Met,
    comma: Met,
    /// `1.234`.
    point_or_group: Met,
    /// `1,234`.
    comma_or_group: Met,
    percent: Met,
    bare: Met,
    texts: Met,
    errors: Met,
    missing_words: Met,
    /// Those among them that are rather names where names stand.
    nones: Met,
    /// Texts that each form of dates can read, and those that none can.
    moments: [usize; MomentForm::ALL.len()],
    undated: Met,
    /// Numbers that are dates written without marks: `20240131`.
    compact: Met,
    /// Numbers with something around them, all the same or one of the marks of accountants: `1.5 kV`.
    affixed: Met,
    affix: String,
    /// Those among them with a mark in the number, as classes have not.
    n_marked: usize,
    /// Whole numbers with zeros before them: `00123`.
    padded: Met,
    /// The first different texts.
    words: Vec<String>,
}

impl ColumnTally {
    pub(super) fn take(&mut self, line: usize, field: &str) {
        if let Some(spelling) = spelling(field) {
            match spelling {
                Spelling::Either => self.n_either += 1,
                Spelling::Only(DecimalSign::Point) => self.point.meet(line, field),
                Spelling::Only(DecimalSign::Comma) => self.comma.meet(line, field),
                Spelling::Two(DecimalSign::Point) => self.point_or_group.meet(line, field),
                Spelling::Two(DecimalSign::Comma) => self.comma_or_group.meet(line, field),
            }
            if MomentForm::Compact.parse(field).is_some() {
                self.compact.meet(line, field);
            }
            let is_padded = field.starts_with('0') && field.bytes().all(|b| b.is_ascii_digit());
            if is_padded && field.len() > 2 {
                self.padded.meet(line, field);
            }
            match without_percent(field).1 {
                true => self.percent.meet(line, field),
                false => self.bare.meet(line, field),
            }
        } else if is_spreadsheet_error(field) {
            self.errors.meet(line, field);
        } else if is_missing_word(field) {
            if is_none(field) {
                self.nones.meet(line, field);
            } else if !field.is_empty() {
                self.missing_words.meet(line, field);
            }
        } else {
            self.texts.meet(line, field);
            let mut is_moment = false;
            for (count, form) in self.moments.iter_mut().zip(MomentForm::ALL) {
                let can_read = form.parse(field).is_some();
                *count += usize::from(can_read);
                is_moment |= can_read;
            }
            if !is_moment {
                self.undated.meet(line, field);
            }
            if let Some(affix) = affix_of_number(field) {
                if self.affix.is_empty() {
                    affix.clone_into(&mut self.affix);
                }
                if self.affix == affix {
                    self.affixed.meet(line, field);
                    self.n_marked += usize::from(field.contains(['.', ',']));
                }
            }
            if self.words.len() < 3 && !self.words.iter().any(|word| is_same_word(word, field)) {
                self.words.push(field.to_owned());
            }
        }
    }

    fn n_numbers(&self) -> usize {
        self.percent.count + self.bare.count
    }

    /// Whether most fields are numbers, or numbers with something around them, and with fractions or different, as those
    /// of a class are not.
    fn measures_with_affix(&self, n_levels: usize) -> bool {
        let n_filled = self.n_numbers() + self.texts.count;
        let is_fraction = 2 * self.n_marked > self.affixed.count;
        2 * (self.n_numbers() + self.affixed.count) > n_filled
            && self.affixed.count > 0
            && (is_fraction || 2 * n_levels > n_filled)
    }

    /// Whether one or two words stand among numbers that are fractions or mostly different, as those of classes are not:
    /// words for what was not measured, rather.
    fn measures_beside_words(&self, n_levels: usize) -> bool {
        let n_words = self.words.len();
        let n_fractions = self.point.count + self.comma.count;
        let is_measured = 2 * n_fractions > self.n_numbers()
            || 2 * n_levels.saturating_sub(n_words) > self.n_numbers();
        n_words <= 2 && self.affixed.count == 0 && self.n_numbers() > 2 && is_measured
    }

    /// Whether nothing stands in the column.
    pub(super) fn is_empty(&self) -> bool {
        let n_words = self.missing_words.count + self.nones.count;
        self.n_numbers() + self.texts.count + self.errors.count + n_words == 0
    }

    /// The sign that fields prove which can be read in one way only.
    fn proven_sign(&self) -> Option<DecimalSign> {
        match (self.point.count, self.comma.count) {
            (0, 0) => None,
            (points, commas) if points >= commas => Some(DecimalSign::Point),
            _ => Some(DecimalSign::Comma),
        }
    }
}

/// The decimal sign of a file, where some columns leave it open.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileSigns {
    told: Option<DecimalSign>,
    has_points: bool,
    has_commas: bool,
    /// Semicolons separate the fields, as where the comma is the decimal sign and points may group thousands.
    has_semicolons: bool,
}

impl FileSigns {
    pub(super) fn of(
        tallies: &[ColumnTally],
        told: Option<DecimalSign>,
        has_semicolons: bool,
    ) -> Self {
        let has = |sign| {
            tallies
                .iter()
                .any(|tally| tally.proven_sign() == Some(sign))
        };
        Self {
            told,
            has_points: has(DecimalSign::Point),
            has_commas: has(DecimalSign::Comma),
            has_semicolons,
        }
    }
}

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    Numbers {
        decimal: DecimalSign,
        is_percent: bool,
    },
    Names,
    Moments(MomentForm),
}

/// So many things are so.
fn are(number: usize, what: &str, so: &str) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("{} {verb} {so}", counted(number, what))
}

/// A decision about a column, and why it is not beyond doubt.
pub(super) struct ColumnDecision {
    pub(super) form: Form,
    /// Numbers of the column can be read in two ways and nothing tells which.
    pub(super) is_undecided: bool,
    doubt: Option<(usize, String, &'static str, String)>,
}

impl ColumnDecision {
    pub(super) fn of(tally: &ColumnTally, signs: FileSigns) -> Self {
        let sure = |form| Self {
            form,
            is_undecided: false,
            doubt: None,
        };
        // Fewer numbers may be dates by chance.
        if tally.texts.count == 0
            && tally.compact.count > 2
            && tally.compact.count == tally.n_numbers()
        {
            return Self::of_moments(tally, MomentForm::Compact, false);
        }
        if tally.texts.count > 0 && tally.n_numbers() == 0 {
            let all = |form: usize| tally.moments[form] == tally.texts.count;
            if let Some(place) = (0..MomentForm::ALL.len()).find(|form| all(*form)) {
                return Self::of_moments(tally, MomentForm::ALL[place], all(1) && all(2));
            }
        }
        // Text among numbers is a slip of the writer unless there is much of it.
        if tally.texts.count > 0 && tally.texts.count * 20 > tally.n_numbers() {
            return sure(Form::Names);
        }
        let is_percent = tally.percent.count > tally.bare.count;
        let numbers = |decimal| Form::Numbers {
            decimal,
            is_percent,
        };
        let (open, mark) = match (&tally.point_or_group.first, &tally.comma_or_group.first) {
            (_, Some(first)) => (Some(first), DecimalSign::Comma),
            (first, None) => (first.as_ref(), DecimalSign::Point),
        };
        let (Some((line, text)), None) = (open, signs.told.or(tally.proven_sign())) else {
            let decimal = signs.told.or(tally.proven_sign());
            return sure(numbers(decimal.unwrap_or(DecimalSign::Point)));
        };
        let assumed = |decimal, is_undecided, expected, why: &str| Self {
            form: numbers(decimal),
            is_undecided,
            doubt: Some((*line, text.clone(), expected, why.to_owned())),
        };
        match (mark, signs.has_points, signs.has_commas) {
            (DecimalSign::Point, false, false) if signs.has_semicolons => assumed(
                DecimalSign::Point,
                true,
                "numbers that can be read in one way only",
                "the point was taken for the decimal sign; say whether it is (--decimal point) or groups thousands (--decimal comma)",
            ),
            // Three digits after a point are a fraction unless commas or semicolons say otherwise.
            (DecimalSign::Point, _, false) | (DecimalSign::Point, true, true) => {
                sure(numbers(DecimalSign::Point))
            }
            (DecimalSign::Point, false, true) => assumed(
                DecimalSign::Comma,
                false,
                "a decimal comma as in other columns",
                "points were taken to group thousands",
            ),
            (DecimalSign::Comma, true, false) => assumed(
                DecimalSign::Point,
                false,
                "a decimal point as in other columns",
                "commas were taken to group thousands",
            ),
            (DecimalSign::Comma, false, true) => assumed(
                DecimalSign::Comma,
                false,
                "a decimal comma that is certain",
                "commas were taken for decimal signs, as in other columns",
            ),
            (DecimalSign::Comma, _, _) => assumed(
                DecimalSign::Comma,
                true,
                "numbers that can be read in one way only",
                "the comma was taken for the decimal sign; say whether it is (--decimal comma) or groups thousands (--decimal point)",
            ),
        }
    }

    fn of_moments(tally: &ColumnTally, form: MomentForm, two_orders: bool) -> Self {
        let first = tally.texts.first.as_ref().or(tally.compact.first.as_ref());
        let (line, text) = first.cloned().unwrap_or_default();
        let is_dotted = text.matches('.').count() >= 2;
        let form = match two_orders && !is_dotted {
            // Which number is the month cannot be told: no date is better than a wrong one.
            true => Form::Names,
            false => Form::Moments(form),
        };
        let (expected, assumed) = match form {
            Form::Moments(form) => ("a number", form.in_words().to_owned()),
            _ => (
                "dates such as 2024-01-31",
                "day and month cannot be told apart, so the dates were kept as text".to_owned(),
            ),
        };
        Self {
            form,
            is_undecided: false,
            doubt: Some((line, text, expected, assumed)),
        }
    }

    /// Says what was assumed of a column, in which there are so many different texts.
    pub(super) fn report(
        &self,
        name: &str,
        tally: &ColumnTally,
        n_levels: usize,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let field = format!("column {}", quoted(name));
        let mut breach = |met: &Met, expected: &str, assumed: String| match &met.first {
            Some((line, text)) => {
                findings.breach(FilePlace::Line(*line), &field, text, expected, assumed)
            }
            None => Ok(()),
        };
        let missing = |met: &Met| are(met.count, "such value", "missing");
        breach(&tally.errors, "a value", missing(&tally.errors))?;
        match self.form {
            Form::Names => {
                let expected = "a name that is no word for a missing value";
                breach(
                    &tally.missing_words,
                    expected,
                    missing(&tally.missing_words),
                )?;
                let assumed = "it was taken for a name".to_owned();
                breach(&tally.nones, expected, assumed)?;
                let makes_text = |met: &Met| {
                    let verb = if met.count == 1 { "makes" } else { "make" };
                    let n_fields = counted(met.count, "such field");
                    format!("{n_fields} {verb} it a column of text")
                };
                let n_moments = tally.moments.iter().max().copied().unwrap_or(0);
                if tally.n_numbers() > tally.texts.count {
                    let assumed = makes_text(&tally.texts);
                    breach(&tally.texts, "a number as in most rows", assumed)?;
                } else if 2 * n_moments > tally.texts.count {
                    let assumed = makes_text(&tally.undated);
                    breach(&tally.undated, "a date or time as in most rows", assumed)?;
                } else if tally.measures_beside_words(n_levels) {
                    let assumed = makes_text(&tally.texts);
                    let expected = "a number, or an empty field where none was measured";
                    breach(&tally.texts, expected, assumed)?;
                } else if tally.measures_with_affix(n_levels) {
                    let expected = "a number with nothing around it";
                    let assumed = "the column was kept as text; write its numbers alone";
                    breach(&tally.affixed, expected, assumed.to_owned())?;
                }
            }
            Form::Numbers {
                decimal,
                is_percent,
            } => {
                breach(&tally.texts, "a number", missing(&tally.texts))?;
                let assumed = "taken as a number, not as a code".to_owned();
                breach(&tally.padded, "a number without zeros before it", assumed)?;
                if 2 * tally.compact.count > tally.n_numbers().max(4) {
                    let assumed = "some rows are no dates, so all were taken as numbers".to_owned();
                    breach(&tally.compact, "dates in all rows, or in none", assumed)?;
                }
                let (other, expected) = match decimal {
                    DecimalSign::Point => (&tally.comma, "a decimal point as in most rows"),
                    DecimalSign::Comma => (&tally.point, "a decimal comma as in most rows"),
                };
                breach(other, expected, missing(other))?;
                let (other, expected) = match is_percent {
                    true => (&tally.bare, "percent as in most rows"),
                    false => (&tally.percent, "a number without percent as in most rows"),
                };
                breach(other, expected, missing(other))?;
            }
            Form::Moments(_) => {}
        }
        if let Some((line, found, expected, assumed)) = &self.doubt {
            findings.breach(FilePlace::Line(*line), &field, found, expected, assumed)?;
        }
        Ok(())
    }
}

/// The values of a column.
#[derive(Debug)]
pub(super) enum TableColumn {
    Numbers {
        values: NumberColumn,
        decimal: DecimalSign,
        is_percent: bool,
    },
    Names {
        names: NameColumn,
        /// Whether they are the words for no and yes, which may be written large or small.
        are_truths: bool,
    },
    Moments {
        values: NumberColumn,
        form: MomentForm,
    },
}

impl TableColumn {
    pub(super) fn new(form: Form, tally: &ColumnTally, max_levels: usize) -> Self {
        let values = NumberColumn::new();
        match form {
            Form::Numbers {
                decimal,
                is_percent,
            } => Self::Numbers {
                values,
                decimal,
                is_percent,
            },
            Form::Names => {
                let levels = boolean_levels(&tally.words);
                Self::Names {
                    are_truths: !levels.is_empty(),
                    names: NameColumn::new(levels, max_levels),
                }
            }
            Form::Moments(form) => Self::Moments { values, form },
        }
    }

    pub(super) fn push(&mut self, field: &str) {
        match self {
            Self::Numbers {
                values,
                decimal,
                is_percent,
            } => {
                let (number, has_percent) = without_percent(field);
                let value = parse(number, *decimal).filter(|_| has_percent == *is_percent);
                values.push(value.unwrap_or(f64::NAN));
            }
            Self::Names { names, .. } if is_missing(field) && !is_none(field) => {
                names.push_missing();
            }
            Self::Names { names, are_truths } => {
                let same = |level: &&String| *are_truths && is_same_word(level, field);
                let known = names.levels.iter().take(2).find(same).cloned();
                names.push(known.as_deref().unwrap_or(field));
            }
            Self::Moments { values, form } => values.push(form.parse(field).unwrap_or(f64::NAN)),
        }
    }

    /// A column like this with the values of these rows; missing ones where there is no row.
    pub(super) fn of_rows(&self, rows: impl Iterator<Item = Option<usize>>) -> Self {
        let mut values = NumberColumn::new();
        rows.for_each(|row| values.push(row.map_or(f64::NAN, |row| self.get(row))));
        match self {
            Self::Numbers {
                decimal,
                is_percent,
                ..
            } => Self::Numbers {
                values,
                decimal: *decimal,
                is_percent: *is_percent,
            },
            Self::Names { names, are_truths } => {
                let mut of_rows = NameColumn::new(names.levels.clone(), names.max_levels);
                of_rows.positions = values;
                Self::Names {
                    names: of_rows,
                    are_truths: *are_truths,
                }
            }
            Self::Moments { form, .. } => Self::Moments {
                values,
                form: *form,
            },
        }
    }

    fn values(&self) -> &NumberColumn {
        match self {
            Self::Numbers { values, .. } | Self::Moments { values, .. } => values,
            Self::Names { names, .. } => &names.positions,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values().len()
    }

    pub(super) fn get(&self, row: usize) -> f64 {
        self.values().get(row)
    }

    /// How many different texts there are, if there are any.
    pub(super) fn n_levels(&self) -> usize {
        match self {
            Self::Names { names, .. } => names.levels.len(),
            Self::Numbers { .. } | Self::Moments { .. } => 0,
        }
    }

    /// What the channel of the column is.
    pub(super) fn kind(&self) -> ChannelKind {
        match self {
            Self::Numbers { .. } => ChannelKind::Analog,
            Self::Names { names, .. } => ChannelKind::Nominal {
                levels: names.levels.as_slice().into(),
            },
            Self::Moments { .. } => ChannelKind::Time,
        }
    }

    /// The unit that the way of writing tells.
    pub(super) fn unit(&self) -> Option<Unit> {
        match self {
            Self::Numbers { is_percent, .. } => is_percent.then(|| Unit::parse("%")),
            Self::Names { .. } => None,
            Self::Moments { .. } => Some(Unit::parse("s")),
        }
    }

    /// Says that there were more names than are kept.
    pub(super) fn report(&self, name: &str, findings: &mut Findings) -> Result<(), ReadError> {
        match self {
            Self::Names { names, .. } if names.overflowed => {
                let field = format!("column {}", quoted(name));
                let found = format!("more than {} different texts", names.levels.len());
                let assumed = "later ones are missing";
                findings.breach(FilePlace::File, &field, found, "class names", assumed)
            }
            _ => Ok(()),
        }
    }
}

/// The words of a column of truth values, that for no first; nothing for other words.
fn boolean_levels(words: &[String]) -> Vec<String> {
    let [a, b] = words else {
        return Vec::new();
    };
    match (truth(a), truth(b)) {
        (Some((pair, false)), Some((other, true))) if pair == other => vec![a.clone(), b.clone()],
        (Some((pair, true)), Some((other, false))) if pair == other => vec![b.clone(), a.clone()],
        _ => Vec::new(),
    }
}

/// Whether two fields are the same name; words for no and yes may be written large or small.
fn is_same_word(a: &str, b: &str) -> bool {
    a == b || (a.len() == b.len() && truth(a).is_some_and(|found| truth(b) == Some(found)))
}

/// Which pair of words a word belongs to, and which of the two it is.
fn truth(word: &str) -> Option<(usize, bool)> {
    let word = word.to_lowercase();
    let mut pairs = BOOLEAN_WORDS.iter().enumerate();
    pairs.find_map(|(number, [no, yes])| match word.as_str() {
        found if found == *no => Some((number, false)),
        found if found == *yes => Some((number, true)),
        _ => None,
    })
}

/// Whether the names of a column are the words for no and yes, in this order: its values are 0 and 1.
pub fn are_truth_values(levels: &[String]) -> bool {
    matches!(levels, [_, _]) && boolean_levels(levels) == levels
}

/// Names by their position in the list of different names.
#[derive(Debug)]
pub(in super::super) struct NameColumn {
    /// The different names, in order of appearance.
    pub(in super::super) levels: Vec<String>,
    /// Positions; NaN where missing.
    pub(in super::super) positions: NumberColumn,
    /// Whether there were more names than fit.
    pub(in super::super) overflowed: bool,
    max_levels: usize,
    known: HashMap<String, i32>,
}

impl NameColumn {
    /// A column with these names to begin with, and room for `max_levels`.
    pub(in super::super) fn new(levels: Vec<String>, max_levels: usize) -> Self {
        let known = levels
            .iter()
            .enumerate()
            .filter_map(|(position, name)| Some((name.clone(), i32::try_from(position).ok()?)))
            .collect();
        Self {
            levels,
            positions: NumberColumn::new(),
            overflowed: false,
            max_levels,
            known,
        }
    }

    /// Position of a name, if it is known.
    pub(in super::super) fn position(&self, name: &str) -> Option<i32> {
        self.known.get(name).copied()
    }

    /// Adds a name, known or new.
    pub(in super::super) fn push(&mut self, name: &str) {
        let position = self.position(name).or_else(|| {
            let next = i32::try_from(self.levels.len()).ok()?;
            (self.levels.len() < self.max_levels).then(|| {
                self.levels.push(name.to_owned());
                self.known.insert(name.to_owned(), next);
                next
            })
        });
        match position {
            Some(position) => self.positions.push_whole(position),
            None => {
                self.overflowed = true;
                self.positions.push(f64::NAN);
            }
        }
    }

    /// Adds a missing value.
    pub(in super::super) fn push_missing(&mut self) {
        self.positions.push(f64::NAN);
    }
}
