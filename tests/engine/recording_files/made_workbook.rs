//! Workbooks as bytes, the way spreadsheet programs write them.

use super::made_numpy::zip;

/// An Excel workbook of sheets, each a name and the XML between `<sheetData>` tags; style 1 is a date.
pub(crate) fn excel(sheets: &[(&str, &str)], strings: &str, deflated: bool) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
    let numbered = || sheets.iter().enumerate().map(|(i, s)| (i + 1, s));
    let list: String = numbered()
        .map(|(i, (name, _))| format!("<sheet name=\"{name}\" sheetId=\"{i}\" r:id=\"rId{i}\"/>"))
        .collect();
    let relations: String = numbered()
        .map(|(i, _)| {
            format!(
                "<Relationship Id=\"rId{i}\" Type=\"{office}/worksheet\" Target=\"worksheets/sheet{i}.xml\"/>"
            )
        })
        .collect();
    let mut members = vec![
        (
            "[Content_Types].xml".to_owned(),
            format!("{head}<Types xmlns=\"{package}/content-types\"/>"),
        ),
        (
            "_rels/.rels".to_owned(),
            format!(
                "{head}<Relationships xmlns=\"{package}/relationships\"><Relationship Id=\"rId1\" Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml".to_owned(),
            format!(
                "{head}<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{list}</sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                "{head}<Relationships xmlns=\"{package}/relationships\">{relations}</Relationships>"
            ),
        ),
        (
            "xl/styles.xml".to_owned(),
            format!(
                "{head}<styleSheet xmlns=\"{main}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/sharedStrings.xml".to_owned(),
            format!("{head}{strings}"),
        ),
    ];
    for (i, (_, cells)) in numbered() {
        members.push((
            format!("xl/worksheets/sheet{i}.xml"),
            format!("{head}<worksheet xmlns=\"{main}\"><sheetData>{cells}</sheetData></worksheet>"),
        ));
    }
    archive(&members, deflated)
}

/// An OpenDocument spreadsheet whose `content.xml` has this between the tags of the spreadsheet.
pub(crate) fn open_document(tables: &str, deflated: bool) -> Vec<u8> {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let members = [
        (
            "mimetype".to_owned(),
            "application/vnd.oasis.opendocument.spreadsheet".to_owned(),
        ),
        (
            "content.xml".to_owned(),
            format!(
                "{head}<office:document-content><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
            ),
        ),
        (
            "META-INF/manifest.xml".to_owned(),
            format!("{head}<manifest:manifest><manifest:file-entry/></manifest:manifest>"),
        ),
    ];
    archive(&members, deflated)
}

fn archive(members: &[(String, String)], deflated: bool) -> Vec<u8> {
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    zip(&members, deflated)
}

/// Numbers, a text, a date, a truth value and an error of a formula below a title.
pub(crate) fn small_excel(deflated: bool) -> Vec<u8> {
    let strings = "<sst count=\"5\" uniqueCount=\"5\"><si><t>U [kV]</t></si><si><t>when</t></si>\
        <si><t>class</t></si><si><t>a &amp; b, c</t></si><si><r><t>o</t></r><r><t>k</t></r></si></sst>";
    let data = "<row r=\"1\"><c r=\"B1\" t=\"inlineStr\"><is><t>Measured in May</t></is></c></row>\
        <row r=\"3\"><c r=\"B3\" t=\"s\"><v>0</v></c><c r=\"C3\" t=\"s\"><v>1</v></c><c r=\"D3\" t=\"inlineStr\"><is><t>trip</t></is></c><c r=\"E3\" t=\"s\"><v>2</v></c></row>\
        <row r=\"4\"><c r=\"B4\"><v>1.234</v></c><c r=\"C4\" s=\"1\"><v>45943</v></c><c r=\"D4\" t=\"b\"><v>1</v></c><c r=\"E4\" t=\"s\"><v>3</v></c></row>\
        <row r=\"5\"><c r=\"B5\" t=\"e\"><v>#DIV/0!</v></c><c r=\"C5\" s=\"1\"><v>45944</v></c><c r=\"D5\" t=\"b\"><v>0</v></c><c r=\"E5\" t=\"s\"><v>4</v></c></row>\
        <row r=\"6\"><c r=\"B6\"><f>1+1</f><v>2</v></c><c r=\"C6\" s=\"1\"><v>45945</v></c></row>";
    let other = "<row r=\"1\"><c r=\"A1\"><v>7</v></c></row>";
    let sheets = [("Empty", ""), ("Data", data), ("More", other)];
    excel(&sheets, strings, deflated)
}

/// The same kinds of cells, with repeated ones and the endless empty rest.
pub(crate) fn small_open_document(deflated: bool) -> Vec<u8> {
    let text = |text: &str| {
        format!(
            "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
        )
    };
    let number = |value: &str, repeats: u32| {
        format!(
            "<table:table-cell table:number-columns-repeated=\"{repeats}\" office:value-type=\"float\" office:value=\"{value}\"><text:p>{value}</text:p></table:table-cell>"
        )
    };
    let row = |repeats: u32, cells: &str| {
        format!(
            "<table:table-row table:number-rows-repeated=\"{repeats}\">{cells}</table:table-row>"
        )
    };
    let date = "<table:table-cell office:value-type=\"date\" office:date-value=\"2024-01-31\"/>";
    let rows = [
        row(1, &["x", "y", "when", "class"].map(text).concat()),
        row(2, &(number("1.5", 2) + date + &text("a"))),
        row(
            1,
            &(number("3", 1) + "<table:table-cell/>" + date + &text("b")),
        ),
        row(
            1_048_000,
            "<table:table-cell table:number-columns-repeated=\"16384\"/>",
        ),
    ];
    let table = format!(
        "<table:table table:name=\"Tabelle1\">{}</table:table>",
        rows.concat()
    );
    open_document(&table, deflated)
}
