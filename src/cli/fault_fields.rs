//! The closed-form fields of a fault record in JSON: what `analyse` writes, and `classify` beside the model's.

use std::path::Path;

use serde_json::{Map, Value, json};

use atomscope_engine::protection::FaultSummary;

/// `path`, `bay`, `type_rule`, `phases`, `inception_s`, `clearing_s`, `distance`, `warnings`.
pub(super) fn fault_fields(path: &Path, summary: &FaultSummary) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("path".to_owned(), json!(path.display().to_string()));
    if let Ok(Value::Object(known)) = serde_json::to_value(summary) {
        fields.extend(known);
    }
    fields
}
