//! What a member of a workbook may hold before calamine is given it.
//!
//! calamine reserves the number of strings that a file declares, expands repeated cells of OpenDocument sheets before
//! it counts them (16 384 for every 90 bytes), and waits for ever where a document ends inside a sheet. Every member
//! is therefore gone through once in small pieces: XML whose tags close, of bounded length, whose cells are paid for.

use std::io::{self, Write};

/// Longest tag and longest text between two tags; Excel allows 32 767 characters in a cell.
const MAX_PIECE: usize = 1 << 20;
/// Deepest nesting.
const MAX_DEPTH: usize = 100;
/// Most tags of members that are neither sheets nor strings: styles, relations, the list of sheets.
const MAX_TAGS: u64 = 100_000;
/// Memory that a cell of an OpenDocument sheet takes in calamine: its value and formula, each in two lists, and a
/// copy of the value.
const CELL_BYTES: u64 = 112;
/// Columns of the widest sheet.
const MAX_COLUMNS: u64 = 1 << 14;
/// Shortest string among shared ones: `<si><t/></si>`.
const SHORTEST_STRING: u64 = 13;

/// What a member is for, which says what it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberUse {
    /// The cells of an Excel sheet, read one by one.
    Sheet,
    /// The texts of all Excel sheets, held in memory.
    Strings,
    /// All sheets of an OpenDocument file, expanded in memory.
    Content,
    /// Anything else.
    Other,
}

impl MemberUse {
    /// By the name of the member, in lower case.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "content.xml" => Self::Content,
            name if name.ends_with("sharedstrings.xml") => Self::Strings,
            name if name.ends_with(".rels") || name.ends_with("styles.xml") => Self::Other,
            name if name.contains("worksheets/") => Self::Sheet,
            _ => Self::Other,
        }
    }
}

/// Goes through a member: what it would take, or why it is refused.
pub(super) struct Measure {
    part: MemberUse,
    /// Memory that strings or expanded cells may take.
    room: u64,
    state: GuardState,
    tag: Vec<u8>,
    n_text: usize,
    n_tags: u64,
    open: Vec<Vec<u8>>,
    cells: Cells,
    pub(super) formulas: BareFormulas,
    check_sum: flate2::Crc,
    /// Why the member is refused, once it is.
    pub(super) refusal: Option<Refusal>,
}

/// What was found, and what is expected instead.
pub(super) type Refusal = (String, &'static str);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuardState {
    Text,
    Tag,
    Quote(u8),
}

impl Measure {
    pub(super) fn new(part: MemberUse, room: u64) -> Self {
        Self {
            part,
            room,
            state: GuardState::Text,
            tag: Vec::new(),
            n_text: 0,
            n_tags: 0,
            open: Vec::new(),
            cells: Cells::default(),
            formulas: BareFormulas::default(),
            check_sum: flate2::Crc::new(),
            refusal: None,
        }
    }

    /// Check sum of the member, or why it is refused.
    pub(super) fn finish(self) -> Result<u32, Refusal> {
        let is_whole = self.open.is_empty() && self.state == GuardState::Text && self.n_tags > 0;
        match (self.refusal, is_whole) {
            (Some(refusal), _) => Err(refusal),
            (None, false) => Err(("cut off".to_owned(), "XML whose tags close")),
            (None, true) => Ok(self.check_sum.sum()),
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), Refusal> {
        let odd = |found: &str| Err((found.to_owned(), "XML as spreadsheet programs write it"));
        match (self.state, byte) {
            (_, 0) => return odd("another encoding than UTF-8"),
            (GuardState::Text, b'<') => {
                self.cells.text(self.n_text as u64);
                let is_value =
                    matches!(self.open.last().map(|name| local(name)), Some(b"v" | b"t"));
                self.formulas.has_value |= is_value && self.n_text > 0;
                self.n_text = 0;
                self.tag.clear();
                self.state = GuardState::Tag;
            }
            (GuardState::Text, _) => self.n_text += 1,
            (GuardState::Tag, b'<') => return odd("\"<\" within a tag"),
            (GuardState::Tag, b'>') => {
                self.state = GuardState::Text;
                let tag = std::mem::take(&mut self.tag);
                self.take_tag(&tag)?;
                self.tag = tag;
            }
            (GuardState::Tag, quote @ (b'"' | b'\'')) => {
                self.state = GuardState::Quote(quote);
                self.tag.push(byte);
            }
            (GuardState::Quote(quote), byte) => {
                if byte == quote {
                    self.state = GuardState::Tag;
                }
                self.tag.push(byte);
            }
            (GuardState::Tag, byte) => self.tag.push(byte),
        }
        match self.tag.len().max(self.n_text) > MAX_PIECE {
            true => odd("a text or tag of more than a million bytes"),
            false => Ok(()),
        }
    }

    fn take_tag(&mut self, tag: &[u8]) -> Result<(), Refusal> {
        let odd = |found: &str| Err((found.to_owned(), "XML as spreadsheet programs write it"));
        let is_first = self.n_tags == 0;
        self.n_tags += 1;
        if self.part == MemberUse::Other && self.n_tags > MAX_TAGS {
            return odd("more than 100000 tags");
        }
        match tag.first() {
            // Comments, unparsed text and entities could hide tags.
            Some(b'!') if !is_plain_doctype(tag) => {
                return odd("a comment, unparsed text or entities");
            }
            Some(b'!') => return Ok(()),
            Some(b'?') if is_first => return declared_utf8(tag),
            Some(b'?') => return odd("a processing instruction"),
            Some(b'/') => {
                let name = tag.get(1..).unwrap_or_default().trim_ascii_end();
                if self.open.pop().as_deref() != Some(name) {
                    return odd("a tag that was not opened");
                }
                self.formulas.close(local(name));
                return self.cells.close(name, self.room);
            }
            _ => {}
        }
        let (body, is_empty) = match tag.strip_suffix(b"/") {
            Some(body) => (body, true),
            None => (tag, false),
        };
        let end = body.iter().position(u8::is_ascii_whitespace);
        let name = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
        if name.is_empty() || self.open.len() >= MAX_DEPTH {
            return odd("a tag without a name, or nested too deeply");
        }
        self.check_place(name, body)?;
        self.formulas.open(local(name), body);
        if self.part == MemberUse::Content {
            self.cells.open(name, body)?;
        }
        if is_empty {
            return self.cells.close(name, self.room);
        }
        self.open.push(name.to_vec());
        Ok(())
    }

    /// Refuses what would be held in memory where cells are expected to pass by, and counts that are not true.
    fn check_place(&self, name: &[u8], tag: &[u8]) -> Result<(), Refusal> {
        let local = local(name);
        let is_held = matches!(
            local,
            b"sheets" | b"sst" | b"si" | b"cellXfs" | b"Relationship" | b"definedNames"
        );
        let is_root = self.open.is_empty();
        if self.part == MemberUse::Sheet && (is_held || is_root != (local == b"worksheet")) {
            let found = format!("<{}> in a sheet", String::from_utf8_lossy(local));
            return Err((found, "rows of cells"));
        }
        if local == b"sst" {
            let declared = largest(tag, b"uniqueCount")?.unwrap_or(0);
            if declared > self.room / SHORTEST_STRING {
                return Err((
                    format!("{declared} strings"),
                    "as many as the file can hold",
                ));
            }
        }
        Ok(())
    }
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check_sum.update(bytes);
        for byte in bytes {
            if let Err(refusal) = self.take(*byte) {
                self.refusal = Some(refusal);
                return Err(io::Error::other("refused"));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The name of a tag without its prefix.
fn local(name: &[u8]) -> &[u8] {
    name.rsplit(|b| *b == b':').next().unwrap_or(name)
}

/// Formulas without a stored value, as programs write them that do not calculate: cells that are read as empty.
#[derive(Debug, Default)]
pub(super) struct BareFormulas {
    pub(super) count: u64,
    /// Address of the first, where the file gives it.
    pub(super) first: String,
    /// Of the cell that is open.
    address: String,
    has_formula: bool,
    has_value: bool,
}

impl BareFormulas {
    fn open(&mut self, name: &[u8], tag: &[u8]) {
        let has = |text: &[u8]| tag.windows(text.len()).any(|part| part == text);
        match name {
            b"c" => {
                if self.count == 0 {
                    let tag = String::from_utf8_lossy(tag);
                    let address = tag.split_once(" r=\"");
                    let address = address.and_then(|(_, rest)| rest.split('"').next());
                    self.address = address.unwrap_or_default().to_owned();
                }
                (self.has_formula, self.has_value) = (false, false);
            }
            b"f" => self.has_formula = true,
            // OpenDocument: a formula and its value are attributes of the cell.
            b"table-cell" if has(b":formula=") && !has(b":value-type=") => self.count += 1,
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if name == b"c" && self.has_formula && !self.has_value {
            self.count += 1;
            if self.count == 1 {
                self.first.clone_from(&self.address);
            }
        }
    }
}

/// Whether a tag only names a document type, as manifests of OpenDocument do.
fn is_plain_doctype(tag: &[u8]) -> bool {
    tag.starts_with(b"!DOCTYPE ") && !tag.iter().any(|b| matches!(b, b'[' | b']' | b'>'))
}

/// Whether the first line of a document leaves the encoding at UTF-8: in others tags could hide.
fn declared_utf8(tag: &[u8]) -> Result<(), Refusal> {
    let text = String::from_utf8_lossy(tag).to_ascii_lowercase();
    let is_told = text.contains("encoding");
    let is_utf8 = !is_told || text.contains("\"utf-8\"") || text.contains("'utf-8'");
    match text.starts_with("?xml") && text.ends_with('?') && is_utf8 {
        true => Ok(()),
        false => Err((text, "an XML document in UTF-8")),
    }
}

/// The largest number that an attribute of this name gives; of doubtful ones none is believed.
fn largest(tag: &[u8], name: &[u8]) -> Result<Option<u64>, Refusal> {
    let mut found = None;
    for start in 0..tag.len().saturating_sub(name.len()) {
        let Some(rest) = tag[start..].strip_prefix(name) else {
            continue;
        };
        let rest = rest.trim_ascii_start();
        let Some(rest) = rest.strip_prefix(b"=") else {
            continue;
        };
        let rest = rest.trim_ascii_start();
        let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'"));
        let rest = rest.unwrap_or_default();
        let end = rest.iter().position(|b| matches!(b, b'"' | b'\''));
        let value = std::str::from_utf8(rest.get(..end.unwrap_or(0)).unwrap_or_default());
        let value = value.unwrap_or_default();
        let Ok(number) = value.trim().parse::<u64>() else {
            return Err((format!("{value:?} as a count"), "a number"));
        };
        found = found.max(Some(number));
    }
    Ok(found)
}

/// Cells of an OpenDocument file as calamine expands them.
#[derive(Debug, Default)]
struct Cells {
    /// Memory of the sheets before this one.
    before: u64,
    n_rows: u64,
    width: u64,
    /// Memory of texts and formulas in the rows of this sheet.
    text_bytes: u64,
    /// Empty rows that count only if another row follows.
    pending_rows: u64,
    row: GuardRow,
}

#[derive(Debug, Default)]
struct GuardRow {
    repeats: u64,
    width: u64,
    text_bytes: u64,
    /// Empty cells that count only if another cell follows.
    pending_cells: u64,
    /// How often the cell is repeated whose text is being read.
    cell_repeats: u64,
}

impl Cells {
    fn open(&mut self, name: &[u8], tag: &[u8]) -> Result<(), Refusal> {
        match name {
            b"table:table-row" => {
                let repeats = largest(tag, b"table:number-rows-repeated")?.unwrap_or(1);
                self.row = GuardRow {
                    repeats,
                    ..GuardRow::default()
                };
            }
            b"table:table-cell" | b"table:covered-table-cell" => {
                let repeats = largest(tag, b"table:number-columns-repeated")?.unwrap_or(1);
                let repeats = repeats.min(MAX_COLUMNS);
                let says = |what: &[u8]| tag.windows(what.len()).any(|part| part == what);
                let row = &mut self.row;
                row.cell_repeats = repeats;
                if says(b"office:") || says(b"table:formula") || says(b"calcext:") {
                    row.width = (row.width + row.pending_cells + repeats).min(MAX_COLUMNS);
                    row.pending_cells = 0;
                    row.text_bytes += 3 * repeats * tag.len() as u64;
                } else {
                    row.pending_cells = (row.pending_cells + repeats).min(MAX_COLUMNS);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, n_bytes: u64) {
        self.row.text_bytes += 3 * self.row.cell_repeats * n_bytes;
    }

    fn close(&mut self, name: &[u8], room: u64) -> Result<(), Refusal> {
        match name {
            b"table:table-cell" | b"table:covered-table-cell" => self.row.cell_repeats = 0,
            b"table:table-row" => {
                let row = std::mem::take(&mut self.row);
                if row.width == 0 {
                    // Rows above the first cell are not kept.
                    let repeats = if self.n_rows == 0 { 0 } else { row.repeats };
                    self.pending_rows = self.pending_rows.saturating_add(repeats);
                } else {
                    let more = self.pending_rows.saturating_add(row.repeats);
                    self.n_rows = self.n_rows.saturating_add(more);
                    self.pending_rows = 0;
                    self.width = self.width.max(row.width);
                    let texts = row.repeats.saturating_mul(row.text_bytes);
                    self.text_bytes = self.text_bytes.saturating_add(texts);
                }
            }
            b"table:table" => {
                self.before = self.bytes();
                (self.n_rows, self.width, self.text_bytes) = (0, 0, 0);
                self.pending_rows = 0;
            }
            _ => {}
        }
        let taken = self.bytes().saturating_add(self.row.text_bytes);
        match taken > room {
            true => Err((
                format!("cells that take {} MB", taken >> 20),
                "as many as the file can hold; save the sheet as .xlsx or CSV",
            )),
            false => Ok(()),
        }
    }

    fn bytes(&self) -> u64 {
        let cells = self.n_rows.saturating_mul(self.width);
        let cells = cells.saturating_add(self.row.width);
        let cells = cells.saturating_mul(CELL_BYTES);
        self.before
            .saturating_add(cells)
            .saturating_add(self.text_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(part: MemberUse, text: &str) -> Result<u32, Refusal> {
        let mut measure = Measure::new(part, 1 << 20);
        drop(measure.write(text.as_bytes()));
        measure.finish()
    }

    #[test]
    fn documents_that_would_hang_or_fill_the_memory_are_refused() {
        for text in [
            "",
            "<a>",
            "<a></b>",
            "<a><!-- </a> --></a>",
            "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>",
            "<a b=\"",
            "<a/><?pi?>",
        ] {
            assert!(measured(MemberUse::Other, text).is_err(), "{text}");
        }
        assert!(measured(MemberUse::Other, "<?xml version='1.0'?><a b='>'><c/>x</a>").is_ok());
        let strings = |count: &str| format!("<sst uniqueCount=\"{count}\"></sst>");
        assert!(measured(MemberUse::Strings, &strings("100")).is_ok());
        assert!(measured(MemberUse::Strings, &strings("99999999999999")).is_err());
        assert!(measured(MemberUse::Sheet, "<worksheet><sst/></worksheet>").is_err());
    }

    #[test]
    fn repeated_cells_are_paid_for_where_they_are_kept() {
        let sheet = |rows: &str| format!("<d><table:table>{rows}</table:table></d>");
        let cell = |repeats: u64, inner: &str| {
            format!("<table:table-cell table:number-columns-repeated=\"{repeats}\"{inner}/>")
        };
        let row = |repeats: u64, cells: &str| {
            format!(
                "<table:table-row table:number-rows-repeated=\"{repeats}\">{cells}</table:table-row>"
            )
        };
        let value = " office:value=\"1\"";
        let is_taken = |rows: &str| measured(MemberUse::Content, &sheet(rows)).is_ok();
        assert!(is_taken(&row(100, &cell(10, value))));
        // What LibreOffice writes below and beside the cells.
        let rest = row(1_048_000, &cell(16_384, ""));
        assert!(is_taken(
            &(row(10, &(cell(3, value) + &cell(16_381, ""))) + &rest)
        ));
        assert!(!is_taken(
            &(rest + &row(1, &cell(1, value)) + &row(1 << 20, &cell(1, value)))
        ));
        assert!(!is_taken(&row(1, &cell(16_384, value))));
        assert!(!is_taken(&row(1 << 20, &cell(16_384, value))));
    }
}
