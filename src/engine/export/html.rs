//! Reports as pages of HTML that need nothing else: styles, figures and numbers in one file.

use std::fmt::Write;

use super::figure::{Figure, escaped};

const STYLE: &str = "body{font:15px/1.5 Inter,Helvetica,Arial,sans-serif;color:#212529;max-width:1100px;margin:32px auto;padding:0 24px}\
h1{font-size:26px;margin-bottom:4px}h2{font-size:20px;margin-top:36px;border-top:1px solid #dee2e6;padding-top:20px}h3{font-size:16px;margin-top:24px}\
table{border-collapse:collapse;margin:12px 0;font-variant-numeric:tabular-nums}th,td{padding:4px 12px;text-align:right;border-bottom:1px solid #e9ecef}\
th{font-weight:600;border-bottom:2px solid #adb5bd;cursor:pointer}th:first-child,td:first-child{text-align:left}td.text,th.text{text-align:left}\
.wide{overflow-x:auto}figure{margin:16px 0;display:inline-block;vertical-align:top}figcaption{color:#6c757d;font-size:13px;max-width:700px}\
td[data-value]{white-space:nowrap}summary{font-size:16px;font-weight:600;margin-top:24px;cursor:pointer}p.weak,li{color:#495057}p.mind{border-left:3px solid #d55e00;padding-left:12px}h1,td.text{overflow-wrap:anywhere}svg{max-width:100%;height:auto}\
article+article{border-top:3px solid #adb5bd;margin-top:48px;padding-top:12px}\
.columns{columns:20em auto}\
@media print{body{font-size:11px;margin:0;padding:0;max-width:none}h1{font-size:18px}h2{font-size:15px;margin-top:16px;padding-top:8px}h3{font-size:12px;margin-top:12px}\
th,td{padding:1px 8px}table{margin:6px 0}figure{margin:8px 0}svg{max-height:85mm}figcaption{font-size:10px}article{break-before:page}figure,tr{break-inside:avoid}h1,h2,h3{break-after:avoid}}";

/// A click on a head sorts by that column: by the exact value where a cell has one.
const SORTING: &str = "document.querySelectorAll('th').forEach(function(head){head.onclick=function(){\
var body=head.closest('table').tBodies[0],at=head.cellIndex,up=head.dataset.up!=='1';head.dataset.up=up?'1':'0';\
var key=function(row){var cell=row.cells[at];return cell.dataset.value!==undefined?parseFloat(cell.dataset.value):cell.textContent};\
Array.from(body.rows).sort(function(a,b){var x=key(a),y=key(b);\
var order=typeof x==='number'&&typeof y==='number'?x-y:String(x).localeCompare(String(y));return up?order:-order})\
.forEach(function(row){body.appendChild(row)})}});";

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// Words.
    Text(String),
    /// A number: how it is shown, and exactly.
    Number(String, f64),
    /// Nothing was measured.
    Nothing,
}

impl Cell {
    /// A number that may be missing, shown by `show`.
    pub(super) fn of(value: Option<f64>, show: impl Fn(f64) -> String) -> Self {
        value.map_or(Self::Nothing, |value| Self::Number(show(value), value))
    }

    /// Words.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// A page that grows from top to bottom.
#[derive(Debug, Default)]
pub(super) struct Page {
    body: String,
}

impl Page {
    fn tagged(&mut self, tag: &str, text: &str) {
        let text = escaped(text);
        // Writing to a string cannot fail.
        writeln!(self.body, "<{tag}>{text}</{tag}>").unwrap_or_default();
    }

    pub(super) fn title(&mut self, text: &str) {
        self.tagged("h1", text);
    }

    pub(super) fn section(&mut self, text: &str) {
        self.tagged("h2", text);
    }

    pub(super) fn subsection(&mut self, text: &str) {
        self.tagged("h3", text);
    }

    /// A part with a title that long reports show only when asked for.
    pub(super) fn folded(&mut self, text: &str, is_open: bool, contents: impl FnOnce(&mut Self)) {
        self.body.push_str(match is_open {
            true => "<details open>",
            false => "<details>",
        });
        self.tagged("summary", text);
        contents(self);
        self.body.push_str("</details>\n");
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.tagged("p", text);
    }

    /// What the reader must mind.
    pub(super) fn mind(&mut self, text: &str) {
        // Writing to a string cannot fail.
        writeln!(self.body, "<p class=\"mind\">{}</p>", escaped(text)).unwrap_or_default();
    }

    /// Names and values, one line each.
    pub(super) fn facts(&mut self, facts: &[(&str, String)]) {
        let cells = |(name, value): &(&str, String)| vec![Cell::text(*name), Cell::text(value)];
        let rows: Vec<Vec<Cell>> = facts.iter().map(cells).collect();
        self.table(&["Fact", "Value"], &rows);
    }

    /// A line that leads to the part called `id`.
    pub(super) fn link(&mut self, id: &str, text: &str) {
        let text = escaped(text);
        writeln!(self.body, "<p><a href=\"#{id}\">{text}</a></p>").unwrap_or_default();
    }

    /// Another page as a part of this one, called `id`, on a sheet of its own when it is printed.
    pub(super) fn part(&mut self, id: &str, other: &Self) {
        let body = &other.body;
        writeln!(self.body, "<article id=\"{id}\">\n{body}</article>").unwrap_or_default();
    }

    pub(super) fn list<'a>(&mut self, items: impl IntoIterator<Item = &'a String>) {
        self.body.push_str("<ul>\n");
        for item in items {
            self.tagged("li", item);
        }
        self.body.push_str("</ul>\n");
    }

    /// Contents in as many columns as fit.
    pub(super) fn columns(&mut self, contents: impl FnOnce(&mut Self)) {
        self.body.push_str("<div class=\"columns\">");
        contents(self);
        self.body.push_str("</div>\n");
    }

    pub(super) fn figure(&mut self, figure: &Figure, caption: &str) {
        self.body.push_str("<figure>\n");
        self.body.push_str(&figure.to_svg());
        self.tagged("figcaption", caption);
        self.body.push_str("</figure>\n");
    }

    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<Cell>]) {
        self.body.push_str("<div class=\"wide\"><table><thead><tr>");
        for (place, title) in head.iter().enumerate() {
            let holds_text = |row: &Vec<Cell>| matches!(row.get(place), Some(Cell::Text(_)));
            let class = match rows.first().is_some_and(holds_text) {
                true => " class=\"text\"",
                false => "",
            };
            // Writing to a string cannot fail.
            write!(self.body, "<th{class}>{}</th>", escaped(title)).unwrap_or_default();
        }
        self.body.push_str("</tr></thead><tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for cell in row {
                self.cell(cell);
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    fn cell(&mut self, cell: &Cell) {
        let written = match cell {
            Cell::Text(text) => write!(self.body, "<td class=\"text\">{}</td>", escaped(text)),
            Cell::Number(shown, value) => write!(
                self.body,
                "<td data-value=\"{value}\">{}</td>",
                escaped(shown)
            ),
            Cell::Nothing => write!(self.body, "<td>–</td>"),
        };
        written.unwrap_or_default();
    }

    /// The whole page.
    pub(super) fn finish(self, title: &str) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{}</title>\n<style>{STYLE}</style></head>\n<body>\n{}\
             <script>{SORTING}</script>\n</body></html>\n",
            escaped(title),
            self.body
        )
    }
}
