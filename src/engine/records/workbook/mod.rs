//! Sheets of Excel workbooks and OpenDocument spreadsheets: each is a table, read by calamine as the text that a
//! spreadsheet program would export.

mod guard;
mod sheet_text;

use std::io::Cursor;

use calamine::{Data, DataRef, Ods, Reader, SheetType, SheetVisible, Xlsx};

use super::table;
use super::text::quoted;
use super::zip::{self, Member, PlainArchive};
use super::{FilePlace, Findings, Format, Input, ReadError, ReadOptions, Record};
use guard::{Measure, MemberUse, Refusal};
use sheet_text::{SheetExtent, SheetText};

/// Whether the first bytes are those of an archive whose first members a workbook has.
pub(super) fn is_certain(head: &[u8]) -> bool {
    let starts: [&[u8]; 4] = [b"[Content_Types].xml", b"_rels/.rels", b"xl/", b"docProps/"];
    let first = head.get(30..).unwrap_or_default();
    let is_excel = starts.iter().any(|start| first.starts_with(start));
    let is_open_document = first.strip_prefix(b"mimetype").is_some_and(|kind| {
        // Texts and books begin so too; what is deflated cannot be told yet.
        let spreadsheet = b"application/vnd.oasis.opendocument.spreadsheet";
        !kind.starts_with(b"application/") || kind.starts_with(spreadsheet)
    });
    zip::is_likely(head) && (is_excel || is_open_document)
}

/// Whether the members are those of a workbook of one kind or another.
pub(super) fn is_workbook(members: &[Member]) -> bool {
    let is_part = |member: &Member| {
        let name = plain(&member.name);
        name.starts_with("xl/") || name == "content.xml" || name == "[content_types].xml"
    };
    members.iter().any(is_part)
}

/// The name of a member as programs that are not exact in it mean it.
fn plain(name: &str) -> String {
    name.replace('\\', "/").to_lowercase()
}

/// Reads the sheet that `options.array` names, or the first one that looks like a table.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let mut workbook = Workbook::open(input, &mut findings)?;
    let names = workbook.sheets();
    let (name, extent) = chosen(&mut workbook, &names, options, &mut findings)?;
    let text = workbook.text(&name, extent, &findings)?;
    let format = workbook.format();
    // Its strings and cells are no longer needed.
    drop(workbook);
    let mut record = table::read_sheet(text, input, options, findings)?;
    record.format = format;
    let others = names.into_iter().map(|(other, _)| other);
    let others = others.filter(|other| *other != name);
    record.sheets = std::iter::once(name.clone()).chain(others).collect();
    Ok(record)
}

/// The sheet to read, with its extent.
fn chosen(
    workbook: &mut Workbook,
    names: &[(String, bool)],
    options: &ReadOptions,
    findings: &mut Findings,
) -> Result<(String, SheetExtent), ReadError> {
    let all: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(wanted) = &options.array {
        let is_wanted = |name: &&&str| **name == wanted || name.eq_ignore_ascii_case(wanted);
        let Some(name) = all.iter().find(is_wanted) else {
            let expected = format!("one of {}", quoted(&all.join(", ")));
            return Err(findings.refusal(FilePlace::File, "sheet", quoted(wanted), expected));
        };
        return match workbook.extent(name, findings)? {
            Some(extent) => Ok(((*name).to_owned(), extent)),
            None => Err(findings.refusal(FilePlace::File, "sheet", "empty", "cells")),
        };
    }
    let mut filled = Vec::new();
    for (name, _) in names.iter().filter(|(_, is_visible)| *is_visible) {
        if let Some(extent) = workbook.extent(name, findings)? {
            filled.push((name.clone(), extent));
        }
    }
    // Notes and titles fill a column or a row.
    let first = filled.iter().position(|(_, extent)| extent.is_table());
    let first = first.unwrap_or(0);
    let found: Vec<&str> = filled.iter().map(|(name, _)| name.as_str()).collect();
    if found.len() > 1 {
        let assumed = format!(
            "{} was read; another one is chosen by its name (--sheet)",
            quoted(found[first])
        );
        let found = format!("{} sheets ({})", found.len(), found.join(", "));
        findings.breach(
            FilePlace::File,
            "workbook",
            found,
            "one sheet with cells",
            assumed,
        )?;
    }
    let empty = || {
        let found = format!("{} sheets without cells", names.len());
        findings.refusal(FilePlace::File, "workbook", found, "a sheet with cells")
    };
    filled.into_iter().nth(first).ok_or_else(empty)
}

/// What is done with a cell at a row and a column.
type TakeCell<'a> = dyn FnMut((u32, u32), &DataRef<'_>) -> Result<(), ReadError> + 'a;

/// An open workbook.
enum Workbook {
    Excel(Box<Xlsx<Cursor<Vec<u8>>>>, u64),
    OpenDocument(Ods<Cursor<Vec<u8>>>, u64),
}

impl Workbook {
    /// Measures the members and opens what calamine needs of them.
    fn open(input: &Input, findings: &mut Findings) -> Result<Self, ReadError> {
        let members = zip::members(&input.bytes, findings)?;
        let has = |name: &str| members.iter().any(|member| plain(&member.name) == name);
        if has("xl/workbook.bin") {
            return Err(ReadError::Unsupported {
                path: input.path().to_owned(),
                what: "an Excel workbook in binary form (.xlsb)".to_owned(),
                remedy: "save it as .xlsx or the sheet as CSV".to_owned(),
            });
        }
        let n_bytes = input.bytes.len();
        let archive = Cursor::new(measured(input, &members, findings)?);
        if has("content.xml") {
            let opened = Ods::new(archive);
            return opened
                .map(|ods| Self::OpenDocument(ods, n_bytes))
                .map_err(|error| damaged(error, findings));
        }
        let opened = Xlsx::new(archive);
        opened
            .map(|xlsx| Self::Excel(Box::new(xlsx), n_bytes))
            .map_err(|error| damaged(error, findings))
    }

    fn format(&self) -> Format {
        match self {
            Self::Excel(..) => Format::Excel,
            Self::OpenDocument(..) => Format::OpenDocument,
        }
    }

    /// Names of the sheets, and whether they are shown.
    fn sheets(&self) -> Vec<(String, bool)> {
        let sheets = match self {
            Self::Excel(workbook, _) => workbook.sheets_metadata(),
            Self::OpenDocument(workbook, _) => workbook.sheets_metadata(),
        };
        let of_cells = sheets
            .iter()
            .filter(|sheet| sheet.typ == SheetType::WorkSheet);
        of_cells
            .map(|sheet| (sheet.name.clone(), sheet.visible == SheetVisible::Visible))
            .collect()
    }

    /// Calls `take` for every cell that is not empty, row by row.
    fn for_each_cell(
        &mut self,
        name: &str,
        findings: &Findings,
        take: &mut TakeCell<'_>,
    ) -> Result<(), ReadError> {
        match self {
            Self::Excel(workbook, _) => {
                let cells = workbook.worksheet_cells_reader(name);
                let mut cells = cells.map_err(|error| damaged(error, findings))?;
                while let Some(cell) = cells.next_cell().map_err(|e| damaged(e, findings))? {
                    if *cell.get_value() != DataRef::Empty {
                        take(cell.get_position(), cell.get_value())?;
                    }
                }
            }
            Self::OpenDocument(workbook, _) => {
                let range = workbook.worksheet_range(name);
                let range = range.map_err(|error| damaged(error, findings))?;
                let (first_row, first_column) = range.start().unwrap_or_default();
                for (row, column, value) in range.used_cells() {
                    let place = (first_row + row as u32, first_column + column as u32);
                    take(place, &borrowed(value))?;
                }
            }
        }
        Ok(())
    }

    /// Where the cells of a sheet lie, if it has any.
    fn extent(
        &mut self,
        name: &str,
        findings: &Findings,
    ) -> Result<Option<SheetExtent>, ReadError> {
        let (Self::Excel(_, n_bytes) | Self::OpenDocument(_, n_bytes)) = *self;
        let mut extent: Option<SheetExtent> = None;
        self.for_each_cell(name, findings, &mut |place, _| {
            let new = extent.map_or(SheetExtent::of(place), |extent| extent.with(place));
            extent = Some(new);
            new.check(n_bytes, findings)
        })?;
        Ok(extent)
    }

    fn text(
        &mut self,
        name: &str,
        extent: SheetExtent,
        findings: &Findings,
    ) -> Result<String, ReadError> {
        let (Self::Excel(_, n_bytes) | Self::OpenDocument(_, n_bytes)) = *self;
        let mut text = SheetText::new(extent, n_bytes);
        self.for_each_cell(name, findings, &mut |place, value| {
            text.put(place, value, findings)
        })?;
        Ok(text.finish())
    }
}

/// A value of an OpenDocument cell as Excel's are read.
fn borrowed(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(value) => DataRef::Int(*value),
        Data::Float(value) => DataRef::Float(*value),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(moment) => DataRef::DateTime(*moment),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

fn damaged(error: impl std::fmt::Display, findings: &Findings) -> ReadError {
    let found = format!("damaged ({error})");
    let expected = "a workbook that a spreadsheet program opens";
    findings.refusal(FilePlace::File, "workbook", found, expected)
}

/// The members that calamine reads, once each of them is known to be harmless.
fn measured(
    input: &Input,
    members: &[Member],
    findings: &mut Findings,
) -> Result<Vec<u8>, ReadError> {
    let n_bytes = input.bytes.len();
    // All of them pass by in small pieces; what is held has less room.
    let mut room = n_bytes.saturating_mul(50).saturating_add(64 << 20);
    let mut archive = PlainArchive::default();
    for member in members {
        let name = plain(&member.name);
        let is_text = name.ends_with(".xml") || name.ends_with(".rels") || name == "mimetype";
        let is_needless = [
            "pivot",
            "drawings/",
            "charts/",
            "comments",
            "docprops/",
            "calcchain",
        ]
        .iter()
        .any(|part| name.contains(part));
        let is_of_other_kind = matches!(name.as_str(), "settings.xml" | "styles.xml" | "meta.xml");
        if !is_text || is_needless || is_of_other_kind {
            continue;
        }
        let part = MemberUse::of(&name);
        let limit = match part {
            MemberUse::Sheet | MemberUse::Content => room,
            MemberUse::Strings => n_bytes.saturating_add(10 << 20).min(room),
            MemberUse::Other => n_bytes.saturating_add(4 << 20).min(room),
        };
        let held = match part {
            MemberUse::Content => n_bytes.saturating_mul(6).saturating_add(40 << 20),
            _ => limit,
        };
        let size_and_sum = match name.as_str() {
            "mimetype" => {
                let text = member.unpack(&input.bytes, 1 << 10, findings)?;
                let mut sum = flate2::Crc::new();
                sum.update(&text);
                (text.len() as u64, sum.sum())
            }
            _ => measure(member, limit, Measure::new(part, held), input, findings)?,
        };
        room = room.saturating_sub(size_and_sum.0);
        archive.add(member, size_and_sum, &input.bytes, findings)?;
    }
    Ok(archive.into_bytes())
}

/// Size and check sum of a member that is harmless.
fn measure(
    member: &Member,
    limit: u64,
    mut measure: Measure,
    input: &Input,
    findings: &mut Findings,
) -> Result<(u64, u32), ReadError> {
    let field = format!("member {}", quoted(&member.name));
    let refuse = |(found, expected): Refusal, findings: &Findings| {
        findings.refusal(FilePlace::File, &field, found, expected)
    };
    let unpacked = member.unpack_into(&input.bytes, limit, &mut measure, findings);
    // What was found says more than that unpacking stopped.
    if let Some(refusal) = measure.refusal.take() {
        return Err(refuse(refusal, findings));
    }
    let size = unpacked?;
    let formulas = &measure.formulas;
    if formulas.count > 0 {
        let first = match formulas.first.as_str() {
            "" => String::new(),
            address => format!(", the first in {address}"),
        };
        let found = format!("{} formulas without a value{first}", formulas.count);
        let assumed =
            "their cells were taken as empty; let a spreadsheet program open and save the file";
        findings.breach(
            FilePlace::File,
            &field,
            found,
            "values beside formulas",
            assumed,
        )?;
    }
    Ok((
        size,
        measure
            .finish()
            .map_err(|refusal| refuse(refusal, findings))?,
    ))
}
