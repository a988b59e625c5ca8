//! Settings of an experiment by their names: `learner.n_atoms=40`.

use serde::Serialize;
use serde_json::Value;

use super::declared::find_setting;
use super::settings::Experiment;
use crate::settings::{Setting, near_names};

/// What is wrong with the assignment of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct AssignmentError {
    /// The assignment, or the name in it.
    pub name: String,
    /// What is wrong, and what is legal.
    pub problem: String,
}

impl AssignmentError {
    fn new(name: &str, problem: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }
}

/// The experiment with the settings of all assignments, each as `NAME=VALUE`; what is wrong with
/// the first bad one.
pub fn with_settings(
    experiment: Experiment,
    assignments: &[String],
) -> Result<Experiment, AssignmentError> {
    let unwritable = |error: serde_json::Error| AssignmentError::new("settings", error.to_string());
    if assignments.is_empty() {
        return Ok(experiment);
    }
    let mut tree = serde_json::to_value(&experiment).map_err(unwritable)?;
    for assignment in assignments {
        let (name, text) = assignment
            .split_once('=')
            .ok_or_else(|| AssignmentError::new(assignment, "write NAME=VALUE"))?;
        let place = place_of(&mut tree, name.trim())?;
        let before = std::mem::replace(place, parse(text.trim()));
        // Read after each, so that the message names the assignment that is wrong.
        serde_json::from_value::<Experiment>(tree.clone()).map_err(|error| {
            if let Some(problem) = lacks_inside(&tree, name.trim(), text.trim(), &before) {
                return AssignmentError::new(assignment, problem);
            }
            let known = find_setting(name.trim());
            let legal = known.map(|known| format!("; {}: {}", known.label, known.kind));
            AssignmentError::new(assignment, format!("{error}{}", legal.unwrap_or_default()))
        })?;
    }
    serde_json::from_value(tree).map_err(unwritable)
}

/// A setting that can be given other values.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSetting {
    /// Its name, as in an assignment.
    pub name: String,
    /// Its present value, as in an assignment.
    pub value: String,
    /// What is known of it.
    pub about: Option<&'static Setting>,
}

/// The settings of learner, training, preparation and feature recipe, each by its name.
pub fn named_settings(experiment: &Experiment) -> Vec<NamedSetting> {
    let Ok(tree) = serde_json::to_value(experiment) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, place) in [
        ("learner", "/learner"),
        ("training", "/training"),
        ("preparation", "/preparation"),
        ("data.recipe", "/data/recipe"),
    ] {
        if let Some(value) = tree.pointer(place) {
            note_settings(name, value, &mut found);
        }
    }
    found
}

/// In what two settings at `place` of an experiment differ, each by its letter or name:
/// "L_max (200 → 150)". A choice that is another one is named alone, without what is inside it.
pub(super) fn setting_differences<T: Serialize>(place: &str, then: &T, now: &T) -> Vec<String> {
    let mut found = Vec::new();
    if let (Ok(then), Ok(now)) = (serde_json::to_value(then), serde_json::to_value(now)) {
        note_differences(place, &then, &now, &mut found);
    }
    found
}

fn note_differences(name: &str, then: &Value, now: &Value, found: &mut Vec<String>) {
    if then == now {
        return;
    }
    if let (Value::Object(before), Value::Object(after)) = (then, now)
        && before.keys().eq(after.keys())
    {
        let is_choice = is_variant(then);
        for (word, inner) in before {
            let inside = match name {
                name if is_choice && inner.is_object() => name.to_owned(),
                name => format!("{name}.{word}"),
            };
            note_differences(&inside, inner, &after[word], found);
        }
        return;
    }
    let short = find_setting(name).map_or(name, |setting| setting.short());
    found.push(format!("{short} ({} → {})", plain(then), plain(now)));
}

/// A value for the eye: the name of a choice without what is inside it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Object(map) if is_variant(value) => map.keys().cloned().collect(),
        other => other.to_string(),
    }
}

/// Notes a value and what is inside it; names of variants are omitted where they can be.
fn note_settings(name: &str, value: &Value, found: &mut Vec<NamedSetting>) {
    let mut note = |value: String| {
        found.push(NamedSetting {
            name: name.to_owned(),
            value,
            about: find_setting(name),
        });
    };
    match value {
        Value::Null | Value::Array(_) => {}
        Value::String(word) => note(word.clone()),
        Value::Bool(_) | Value::Number(_) => note(value.to_string()),
        Value::Object(map) if is_variant(value) => {
            note(value.to_string());
            for (variant, inner) in map {
                match inner {
                    Value::Object(_) => note_inside(name, inner, found),
                    _ => note_settings(&format!("{name}.{variant}"), inner, found),
                }
            }
        }
        Value::Object(_) => note_inside(name, value, found),
    }
}

fn note_inside(name: &str, value: &Value, found: &mut Vec<NamedSetting>) {
    for (word, inner) in value.as_object().into_iter().flatten() {
        note_settings(&format!("{name}.{word}"), inner, found);
    }
}

/// Numbers, true, false and JSON as they are; anything else is a word.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// What to write instead of a word where settings are inside; `None` where something else is wrong.
fn lacks_inside(tree: &Value, name: &str, text: &str, before: &Value) -> Option<String> {
    let given = parse(text);
    let word = given.as_str()?;
    if let Some(form) = form_of_choice(tree, name, word) {
        return Some(format!(
            "{word} has settings inside: write '{name}={form}' with the values you want"
        ));
    }
    let inside = before.as_object().filter(|_| !is_variant(before))?;
    let inside: Vec<String> = inside.keys().map(|key| format!("{name}.{key}")).collect();
    Some(format!(
        "several settings are inside: set {}",
        inside.join(", ")
    ))
}

/// A choice with the numbers inside that it cannot do without: `{"Gaussian":{"width":1}}`.
fn form_of_choice(tree: &Value, name: &str, word: &str) -> Option<String> {
    const MOST_SETTINGS: usize = 10;
    let mut inside = serde_json::Map::new();
    for _ in 0..MOST_SETTINGS {
        let mut choice = serde_json::Map::new();
        choice.insert(word.to_owned(), Value::Object(inside.clone()));
        let choice = Value::Object(choice);
        let form = choice.to_string();
        let mut tried = tree.clone();
        *place_of(&mut tried, name).ok()? = choice;
        let Err(error) = serde_json::from_value::<Experiment>(tried) else {
            return Some(form);
        };
        let problem = error.to_string();
        let missing = problem.strip_prefix("missing field `")?.split('`').next()?;
        inside.insert(missing.to_owned(), Value::from(1));
    }
    None
}

/// The setting of that name. The name of a variant on the way may be omitted:
/// `learner.algorithm.second_look` is `learner.algorithm.Margin.second_look`.
pub(super) fn place_of<'a>(
    tree: &'a mut Value,
    name: &str,
) -> Result<&'a mut Value, AssignmentError> {
    let mut place = tree;
    let mut way = String::new();
    for word in name.split('.') {
        if is_variant(place) && place.get(word).is_none() {
            let inner = place
                .as_object_mut()
                .and_then(|map| map.values_mut().next());
            place = inner
                .ok_or_else(|| AssignmentError::new(name, format!("nothing is inside {way}")))?;
        }
        let legal: Vec<String> = match &place {
            Value::Object(map) => map.keys().cloned().collect(),
            Value::Array(list) => (0..list.len()).map(|number| number.to_string()).collect(),
            _ => Vec::new(),
        };
        if !legal.iter().any(|known| known == word) {
            return Err(unknown(name, word, &way, &legal));
        }
        place = match place {
            Value::Array(list) => word.parse().ok().and_then(|at: usize| list.get_mut(at)),
            other => other.get_mut(word),
        }
        .ok_or_else(|| unknown(name, word, &way, &legal))?;
        if !way.is_empty() {
            way.push('.');
        }
        way.push_str(word);
    }
    Ok(place)
}

/// A value of the form `{"Gaussian": {…}}`: names of variants are capitalised, names of settings are not.
fn is_variant(value: &Value) -> bool {
    value.as_object().is_some_and(|map| {
        let capitalised = |name: &String| name.starts_with(char::is_uppercase);
        map.len() == 1 && map.keys().all(capitalised)
    })
}

fn unknown(name: &str, word: &str, way: &str, legal: &[String]) -> AssignmentError {
    let inside = if way.is_empty() {
        "the experiment"
    } else {
        way
    };
    let near = near_names(word, legal.iter().map(String::as_str)).join(" or ");
    let legal = legal.join(", ");
    let problem = match (legal.as_str(), near.as_str()) {
        ("", _) => format!("{inside} has no settings inside"),
        (legal, "") => format!("{inside} has no setting {word:?}; it has {legal}"),
        (legal, near) => {
            format!("{inside} has no setting {word:?}; did you mean {near}? It has {legal}")
        }
    };
    AssignmentError::new(name, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::{Algorithm, ContributionNorm, Conventions, Growing, Kernel, Pruning};

    fn set(assignments: &[&str]) -> Result<Experiment, AssignmentError> {
        let assignments: Vec<String> = assignments.iter().map(|a| (*a).to_owned()).collect();
        with_settings(Experiment::default(), &assignments)
    }

    fn refusal(assignment: &str) -> String {
        set(&[assignment]).expect_err("refused").to_string()
    }

    #[test]
    fn settings_are_set_by_name_variants_included() {
        let experiment = set(&[
            "learner.n_atoms=40",
            "learner.algorithm.second_look=false",
            r#"learner.kernel={"Gaussian":{"width":2.5}}"#,
            "seed=18446744073709551615",
            "learner.pursuit=Omp",
        ])
        .expect("all exist");
        assert_eq!(experiment.learner.n_atoms, 40);
        assert_eq!(experiment.seed, u64::MAX);
        assert_eq!(experiment.learner.kernel, Kernel::Gaussian { width: 2.5 });
        assert!(matches!(
            experiment.learner.algorithm,
            Algorithm::Margin {
                second_look: false,
                ..
            }
        ));
    }

    #[test]
    fn a_wrong_name_lists_the_near_ones() {
        let message = refusal("learner.n_atom=40");
        assert!(message.contains("did you mean n_atoms?"), "{message}");
        let message = refusal("lerner.n_atoms=40");
        assert!(message.contains("learner"), "{message}");
        let message = refusal("learner.n_atoms=many");
        assert!(message.starts_with("learner.n_atoms=many"), "{message}");
        assert!(set(&["learner.n_atoms"]).is_err());
    }

    #[test]
    fn a_word_for_a_choice_with_settings_inside_is_answered_by_what_to_write() {
        let message = refusal("learner.kernel=Gaussian");
        let form = r#"'learner.kernel={"Gaussian":{"width":1"#;
        assert!(message.contains(form), "{message}");
        let message = refusal("preparation=ZScore");
        assert!(message.contains("preparation.scaling"), "{message}");
    }

    #[test]
    fn every_named_setting_can_be_assigned_its_own_value() {
        let mut experiment = Experiment::default();
        experiment.learner.algorithm = Algorithm::Krls {
            growing: Growing::Coherence { threshold: 0.9 },
            pruning: Pruning::LeastContribution(ContributionNorm::L1),
            headroom: 10,
            conventions: Conventions::Text,
        };
        let all = named_settings(&experiment);
        let value = |name: &str| {
            let found = all.iter().find(|setting| setting.name == name);
            found.map(|setting| setting.value.as_str())
        };
        assert_eq!(value("learner.n_atoms"), Some("30"));
        assert_eq!(value("learner.algorithm.growing.threshold"), Some("0.9"));
        assert_eq!(
            value("learner.algorithm.pruning.LeastContribution"),
            Some("L1")
        );
        assert_eq!(value("seed"), None);
        for NamedSetting { name, value, .. } in &all {
            let same = with_settings(experiment.clone(), &[format!("{name}={value}")]);
            assert_eq!(same.as_ref(), Ok(&experiment), "{name}={value}");
        }
    }

    #[test]
    fn what_is_not_set_stays() {
        let before = Experiment::default();
        let after = set(&["learner.n_atoms=30"]).expect("it exists");
        assert_eq!(before, after);
    }
}
