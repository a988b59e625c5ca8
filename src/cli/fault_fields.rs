//! The closed-form fields of a fault record in JSON: what `analyse` writes, and `classify` beside the model's.

use std::path::Path;

use serde_json::{Map, Value, json};

use atomscope_engine::dataset::DataSettings;
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::protection::{FaultAnalysis, FaultSummary, Line};
use atomscope_engine::records::{Kind, Record, open_with};
use atomscope_engine::simulate::feeder::FaultClass;

/// `path`, `bay`, `type_rule`, `phases`, `inception_s`, `clearing_s`, `distance`, `warnings`.
pub(super) fn fault_fields(path: &Path, summary: &FaultSummary) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("path".to_owned(), json!(path.display().to_string()));
    if let Ok(Value::Object(known)) = serde_json::to_value(summary) {
        fields.extend(known);
    }
    fields
}

/// The entry of a file as `classify` has made it, with the closed-form fields where the file is a fault record: its one
/// segment becomes the record itself. `None` where it is something else.
pub(super) fn with_fault_fields(
    entry: &Value,
    path: &Path,
    data: &DataSettings,
    lines: &[Line],
) -> Option<Value> {
    let Some(FeatureRecipe::Fault(recipe)) = &data.recipe else {
        return None;
    };
    let record = open_with(path, &data.read_options()).ok()?;
    if record.kind != Kind::FaultRecord {
        return None;
    }
    let line = line_for(lines, &record);
    let analysis = FaultAnalysis::of(&record, recipe);
    let summary = match &analysis {
        Ok(analysis) => FaultSummary::of_analysis(analysis, line),
        Err(error) => FaultSummary::without(error),
    };
    let mut fields = fault_fields(path, &summary);
    let segment = entry.get("segments").and_then(|segments| segments.get(0));
    for name in ["class", "margin", "set", "uncertain", "fit_p"] {
        let of_model = segment.and_then(|segment| segment.get(name));
        fields.insert(name.to_owned(), of_model.cloned().unwrap_or(Value::Null));
    }
    let mut warnings: Vec<Value> = Vec::new();
    for some in [entry.get("warnings"), fields.get("warnings")] {
        warnings.extend(
            some.and_then(Value::as_array)
                .into_iter()
                .flatten()
                .cloned(),
        );
    }
    let epsilon = entry.get("epsilon").and_then(Value::as_f64);
    let set = fields.get("set").and_then(Value::as_array);
    warnings.extend(
        set.zip(epsilon)
            .and_then(|(set, epsilon)| doubt(set, epsilon)),
    );
    let class = fields.get("class").and_then(Value::as_str);
    let is_doubted = analysis
        .ok()
        .zip(class)
        .is_some_and(|(analysis, class)| analysis.doubts(class));
    if let (Some(rule), Some(model)) = (summary.type_rule, class)
        && rule != model
    {
        warnings.push(json!(format!("the rule says {rule}, the model {model}")));
    }
    if is_doubted {
        include_no_fault(&mut fields, &mut warnings);
    }
    fields.insert("warnings".to_owned(), Value::Array(warnings));
    Some(Value::Object(fields))
}

/// A model of magnitudes cannot tell a motor start from a fault far away: what the waves say of it widens its set.
fn include_no_fault(fields: &mut Map<String, Value>, warnings: &mut Vec<Value>) {
    let none = FaultClass::NoFault.name();
    if let Some(set) = fields.get_mut("set").and_then(Value::as_array_mut)
        && !set.iter().any(|name| name == none)
    {
        set.push(json!(none));
        warnings.push(json!(format!(
            "{none:?} is added to the classes that the model names, since the record looks like another event"
        )));
    }
    if fields.get("uncertain").is_some_and(Value::is_boolean) {
        fields.insert("uncertain".to_owned(), json!(true));
    }
}

/// Why a decision is uncertain: its prediction set is not one class.
fn doubt(set: &[Value], epsilon: f64) -> Option<Value> {
    let names: Vec<&str> = set.iter().filter_map(Value::as_str).collect();
    let named = match names.as_slice() {
        [] => "no class: its margin is smaller than usual for the class decided for".to_owned(),
        [_] => return None,
        several => several.join(", "),
    };
    let promised = 100.0 * (1.0 - epsilon);
    Some(json!(format!(
        "the model is uncertain: to be right in {promised} % of the cases it names {named}"
    )))
}

/// The line whose name is part of the record's station, else the only one.
pub(super) fn line_for<'a>(lines: &'a [Line], record: &Record) -> Option<&'a Line> {
    let station = record.grid.as_ref().map_or("", |grid| &grid.station);
    Line::of_station(lines, station).or(match lines {
        [only] => Some(only),
        _ => None,
    })
}
