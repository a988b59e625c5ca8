//! Results as tables in CSV.

use super::RunResult;

/// Rows are true classes, columns decisions; recall and precision of each class at the end.
pub(super) fn confusion(result: &RunResult<'_>) -> String {
    let names = &result.facts.class_names;
    let confusion = &result.summary.confusion;
    let mut head = vec!["true class".to_owned()];
    head.extend(names.iter().cloned());
    head.extend(["recall".to_owned(), "precision".to_owned()]);
    let rows = names.iter().enumerate().map(|(truth, name)| {
        let mut row = vec![name.clone()];
        let counts = (0..names.len()).map(|decided| confusion.count(truth, decided).to_string());
        row.extend(counts);
        row.push(number(confusion.recall(truth)));
        row.push(number(confusion.precision(truth)));
        row
    });
    table(head, rows)
}

/// The vote of each group.
pub(super) fn groups(result: &RunResult<'_>) -> String {
    let names = &result.facts.class_names;
    let name_of = |list: &[String], at: usize| list.get(at).cloned().unwrap_or_default();
    let mut head = vec![
        "group".to_owned(),
        "true class".into(),
        "voted class".into(),
    ];
    head.extend(names.iter().map(|name| format!("votes for {name}")));
    let rows = result.summary.votes.iter().map(|vote| {
        let mut row = vec![
            name_of(&result.facts.group_names, vote.group),
            name_of(names, vote.truth),
            name_of(names, vote.decided),
        ];
        row.extend(vote.votes.iter().map(u64::to_string));
        row
    });
    table(head, rows)
}

/// Accuracy against mini-batches.
pub(super) fn curve(result: &RunResult<'_>) -> String {
    let head = ["mini-batches", "mean accuracy", "standard deviation"];
    let rows = result.summary.curve.iter().map(|point| {
        vec![
            point.at.to_string(),
            point.mean.to_string(),
            number(point.sd),
        ]
    });
    table(head.map(str::to_owned).to_vec(), rows)
}

pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

pub(super) fn table(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    for row in std::iter::once(head).chain(rows) {
        // Memory takes every row, and all rows are as long as the head.
        writer.write_record(&row).unwrap_or_default();
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
