//! A trained model as a module for Python that needs numpy and safetensors alone: `model.py` with the
//! numbers of the model at its end. The guide's page `python` describes settings and tensors.

use std::collections::BTreeMap;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError};
use serde_json::{Value, json};

use crate::evaluation::Classifier;
use crate::experiment::{DataFacts, TrainedModel};
use crate::learner::{Decision, LearnError, READOUT_WEIGHT};
use crate::math::Matrix;

/// The code of the module, the same for every model.
const CODE: &str = include_str!("model.py");
/// Characters of a line of encoded numbers.
const LINE: usize = 120;

/// Why a model cannot become a module.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// The state of the learner cannot be used.
    #[error("the trained model cannot be used: {0}")]
    Learner(#[from] LearnError),
    /// The numbers cannot be written.
    #[error("the numbers of the model cannot be written: {0}")]
    Tensors(#[from] SafeTensorError),
    /// The settings cannot be written.
    #[error("the settings of the model cannot be written: {0}")]
    Settings(#[from] serde_json::Error),
}

/// The module for a model; `source` says where it comes from.
pub fn python_module(
    model: &TrainedModel,
    facts: &DataFacts,
    source: &str,
) -> Result<String, PythonError> {
    let learner = model.revive()?;
    let classifier = Classifier::of(learner.as_ref());
    let mut tensors = NamedNumbers::default();
    let mut settings = json!({
        "source": source,
        "classes": facts.class_names,
        "features": facts.feature_names,
        "preparation": model.preparation,
        "kernel": model.learner.kernel,
        "pursuit": model.learner.pursuit,
        "sparsity": model.learner.sparsity,
        "error_limit": model.learner.error_limit,
        "decision": decision(learner.decision()),
    });
    for (class, dictionary) in classifier.dictionaries().enumerate() {
        let mut add =
            |name: &str, matrix: &Matrix| tensors.add(format!("class{class}/{name}"), matrix);
        add("kept", dictionary.kept.matrix());
        add("coefficients", &dictionary.coefficients);
        add("atom_gram", &dictionary.atom_gram);
        let span = dictionary.span.as_ref();
        if let Some(span) = span.filter(|_| learner.decision().needs_distance()) {
            match span.root(dictionary.kept.self_kernel()) {
                Some(root) => add("span_root", root.rows()),
                None => add("span", span.inverse()),
            }
        }
    }
    let deciding = classifier.deciding(model.learner.head)?;
    if let Some((head, readout)) = &deciding.readout {
        for (class, part) in readout.parts().iter().enumerate() {
            tensors.add(format!("class{class}/readout"), part);
        }
        settings["readout_offsets"] = json!(readout.offsets());
        let (layer, weight) = match head.uses_decision_layer() {
            true => (1.0, READOUT_WEIGHT),
            false => (0.0, 1.0),
        };
        settings["layer_weight"] = json!(layer);
        settings["readout_weight"] = json!(weight);
    }
    if let Some(look) = deciding.second_look {
        settings["second_look"] = json!(look.weight);
    }
    if let Some(gate) = deciding.gate {
        settings["gate"] = json!({ "threshold": gate.threshold, "theta": gate.theta });
    }
    if let Some(imputation) = model.imputation(learner.as_ref()) {
        let (mean, sd, loadings, noise) = imputation.parts();
        settings["missing_noise"] = json!(noise);
        tensors.add("missing/loadings".into(), loadings);
        tensors.add_list("missing/mean".into(), mean);
        tensors.add_list("missing/sd".into(), sd);
    }
    if let Some(calibration) = &model.calibration {
        settings["margin_unit"] = json!(classifier.margin_unit(model.learner.head));
        for (class, margins) in calibration.margins.iter().enumerate() {
            tensors.add_list(format!("calibration/margins{class}"), margins);
        }
        if !calibration.weights.is_empty() {
            tensors.add_list("calibration/weights".into(), &calibration.weights);
        }
    }
    let settings = serde_json::to_string(&serde_json::to_string(&settings)?)?;
    let numbers = base64_lines(&tensors.bytes()?);
    Ok(format!(
        "{CODE}model = AtomscopeClassifier(\n    json.loads({settings}),\n    load(base64.b64decode(\"\"\"\n{numbers}\"\"\")),\n)\n{NAMES}"
    ))
}

/// The module's own names for what the model has.
const NAMES: &str = "classes_ = model.classes_
n_features_in_ = model.n_features_in_
feature_names_in_ = model.feature_names_in_
predict = model.predict
decision_function = model.decision_function
predict_set = model.predict_set
p_values = model.p_values
";

fn decision(decision: &Decision) -> Value {
    match decision {
        Decision::SmallestResidual => json!({ "kind": "SmallestResidual" }),
        Decision::CalibratedResidual { exponent, usual } => {
            json!({ "kind": "CalibratedResidual", "exponent": exponent, "usual": usual })
        }
        Decision::OnlineLogit(logit) => {
            json!({ "kind": "OnlineLogit", "theta": logit.theta, "bias": logit.bias })
        }
        Decision::NearestMean => json!({ "kind": "NearestMean" }),
        Decision::LargestSum => json!({ "kind": "LargestSum" }),
        Decision::Duels { bias } => {
            let row = |i: usize| bias.row(i).copied().collect::<Vec<f64>>();
            let rows: Vec<Vec<f64>> = (0..bias.rows()).map(row).collect();
            json!({ "kind": "Duels", "bias": rows })
        }
    }
}

/// Numbers by name, in the order of the names.
#[derive(Default)]
struct NamedNumbers(BTreeMap<String, (Vec<usize>, Vec<u8>)>);

impl NamedNumbers {
    /// A matrix column after column: a row of the tensor is a column of the matrix.
    fn add(&mut self, name: String, matrix: &Matrix) {
        let columns = (0..matrix.cols()).flat_map(|j| matrix.col(j));
        let bytes = columns.flat_map(|value| value.to_le_bytes()).collect();
        self.0
            .insert(name, (vec![matrix.cols(), matrix.rows()], bytes));
    }

    fn add_list(&mut self, name: String, values: &[f64]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.0.insert(name, (vec![values.len()], bytes.collect()));
    }

    /// The file.
    fn bytes(&self) -> Result<Vec<u8>, SafeTensorError> {
        let views = self.0.iter().map(|(name, (shape, bytes))| {
            Ok((name, TensorView::new(Dtype::F64, shape.clone(), bytes)?))
        });
        safetensors::serialize(views.collect::<Result<Vec<_>, SafeTensorError>>()?, None)
    }
}

/// Base64 (RFC 4648) in lines.
fn base64_lines(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len() * 4 / 3 * (LINE + 1) / LINE + 8);
    for (place, chunk) in bytes.chunks(3).enumerate() {
        let at = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= chunk.len() {
                char::from(digit)
            } else {
                '='
            });
        }
        if (place + 1) % (LINE / 4) == 0 {
            text.push('\n');
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let cases = [
            ("", "\n"),
            ("f", "Zg==\n"),
            ("fo", "Zm8=\n"),
            ("foo", "Zm9v\n"),
            ("foobar", "Zm9vYmFy\n"),
        ];
        for (bytes, text) in cases {
            assert_eq!(base64_lines(bytes.as_bytes()), text);
        }
        let long = base64_lines(&[0xff; 200]);
        assert!(long.lines().all(|line| line.len() <= LINE));
    }
}
