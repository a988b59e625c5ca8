//! The paper's comparison, as `atomscope reproduce` runs it: every method beside its published figures.

use std::path::PathBuf;

use atomscope_engine::paper::Reproduction;

/// One table for each data set, accuracies in percent and times in milliseconds; nothing without
/// the data.
pub(crate) fn tables() -> Option<String> {
    let data = PathBuf::from(std::env::var_os("ATOMSCOPE_DATA")?);
    let reproduction = Reproduction {
        data: vec![data],
        is_quick: false,
        n_threads: 2,
    };
    let report = reproduction.run(&mut |_, _| true).expect("the data load");
    let files = report.files().into_iter();
    let tables = files.filter_map(|(name, text)| {
        let key = name.strip_suffix("-methods.csv")?.to_owned();
        Some(format!("### {key}\n\n{}", as_markdown(&text)))
    });
    Some(tables.collect::<Vec<_>>().join("\n"))
}

/// The columns from the method's name on; what stands before it is the same in every row.
fn as_markdown(csv_text: &str) -> String {
    let mut reader = csv::Reader::from_reader(csv_text.as_bytes());
    let heads = reader.headers().expect("the program writes a head").clone();
    let skipped = heads.iter().take_while(|head| *head != "method").count();
    let row = |cells: &csv::StringRecord| {
        let cells: Vec<String> = cells.iter().skip(skipped).map(rounded).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut table = row(&heads);
    table += &format!("|{}\n", "---|".repeat(heads.len() - skipped));
    for record in reader.records() {
        table += &row(&record.expect("the program writes sound CSV"));
    }
    table
}

fn rounded(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if number.fract() != 0.0 => format!("{number:.4}"),
        _ => cell.to_owned(),
    }
}
