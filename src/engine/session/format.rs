//! The text of a session: RON with its format first, unknown names refused by line and column.

use std::path::Path;

use ron::error::SpannedError;
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SessionError;
use crate::settings::near_names;

/// The format written.
pub const FORMAT: u32 = 2;

/// Deepest nesting read, far beyond that of any session and far within the stack.
const RECURSION_LIMIT: usize = 64;

/// The one field that every format has; whatever else is there is passed over.
#[derive(Deserialize)]
#[serde(rename = "Session")]
struct FormatOnly {
    format: Option<u32>,
}

fn options() -> ron::Options {
    ron::Options::default()
        .with_recursion_limit(RECURSION_LIMIT)
        .with_default_extension(Extensions::IMPLICIT_SOME)
}

/// The text of a session.
pub(crate) fn to_text<T: Serialize>(value: &T, path: &Path) -> Result<String, SessionError> {
    let layout = PrettyConfig::new().compact_arrays(true);
    let mut text = ron::Options::default()
        .to_string_pretty(value, layout)
        .map_err(|error| SessionError::Unwritable {
            reason: error.to_string(),
            path: path.to_owned(),
        })?;
    text.push('\n');
    Ok(text)
}

/// The format of a text, if it is one that is read.
pub(super) fn format_of(text: &str, path: &Path) -> Result<u32, SessionError> {
    let found: FormatOnly = options()
        .from_str(text)
        .map_err(|error| syntax(&error, path))?;
    let path = || path.to_owned();
    let newest = FORMAT;
    match found.format {
        None => Err(SessionError::NoFormat {
            newest,
            path: path(),
        }),
        Some(0) => Err(SessionError::NoSuchFormat {
            found: 0,
            newest,
            path: path(),
        }),
        Some(found) if found > FORMAT => Err(SessionError::NewerFormat {
            found,
            newest,
            path: path(),
        }),
        Some(found) => Ok(found),
    }
}

/// A value from its text.
pub(crate) fn from_text<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T, SessionError> {
    options()
        .from_str(text)
        .map_err(|error| syntax(&error, path))
}

fn syntax(error: &SpannedError, path: &Path) -> SessionError {
    SessionError::Syntax {
        line: error.span.start.line,
        column: error.span.start.col,
        reason: in_words(&error.code),
        path: path.to_owned(),
    }
}

fn in_words(error: &ron::Error) -> String {
    match error {
        ron::Error::NoSuchStructField {
            expected,
            found,
            outer,
        } => unknown_name("field", found, outer.as_deref(), expected),
        ron::Error::NoSuchEnumVariant {
            expected,
            found,
            outer,
        } => unknown_name("choice", found, outer.as_deref(), expected),
        ron::Error::MissingStructField { field, outer } => {
            format!("field `{field}` is missing{}", within(outer.as_deref()))
        }
        ron::Error::DuplicateStructField { field, outer } => {
            format!("field `{field}` is given twice{}", within(outer.as_deref()))
        }
        ron::Error::ExceededRecursionLimit => {
            format!("the text is nested deeper than {RECURSION_LIMIT} levels")
        }
        other => {
            let mut words = other.to_string();
            // The parser begins its sentences with a capital; here they follow a place.
            if let Some(first) = words.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            words
        }
    }
}

fn within(outer: Option<&str>) -> String {
    outer.map_or(String::new(), |outer| format!(" in {outer}"))
}

fn unknown_name(what: &str, found: &str, outer: Option<&str>, legal: &[&str]) -> String {
    let near = near_names(found, legal.iter().copied());
    let hint = match near.as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", listed(near)),
    };
    let legal = match legal {
        [] => format!("; there are no {what}s here"),
        legal => format!(" Legal are {}", listed(legal)),
    };
    let stop = if hint.is_empty() && !legal.starts_with(';') {
        "."
    } else {
        ""
    };
    format!(
        "unknown {what} `{found}`{}{hint}{stop}{legal}",
        within(outer)
    )
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        format: u32,
        sparsity: usize,
        #[serde(default)]
        kernel: KernelOfNext,
    }

    #[derive(Debug, Default, Serialize, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    enum KernelOfNext {
        #[default]
        Linear,
        Gaussian {
            width: f64,
        },
    }

    fn refusal(text: &str) -> String {
        let path = Path::new("folder/a.ron");
        format_of(text, path)
            .and_then(|_| from_text::<Settings>(text, path))
            .expect_err("it is wrong")
            .to_string()
    }

    #[test]
    fn an_unknown_field_is_named_with_its_place_and_the_legal_ones() {
        let message = refusal("(\n    format: 1,\n    sparcity: 3,\n)");
        for part in [
            "line 3, column 5",
            "unknown field `sparcity`",
            "did you mean `sparsity`?",
            "`format`, `sparsity`, `kernel`",
            "folder/a.ron",
        ] {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    }

    #[test]
    fn an_unknown_choice_is_named_with_the_legal_ones() {
        let message = refusal("(format: 1, sparsity: 3, kernel: Gausian(width: 2.0))");
        assert!(message.contains("unknown choice `Gausian`"), "{message}");
        assert!(message.contains("did you mean `Gaussian`?"), "{message}");
    }

    #[test]
    fn formats_that_are_newer_absent_or_nought_are_refused_by_name() {
        assert!(refusal("(format: 3, anything: [1, 2])").contains("knows formats up to 2"));
        assert!(refusal("(sparsity: 3)").contains("no field `format`"));
        assert!(refusal("(format: 0)").contains("format 0, which does not exist"));
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_exhaust_the_stack() {
        for (open, close) in [("[", "]"), ("(", ")"), ("{1:", "}"), ("Some(", ")")] {
            let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
            refusal(&format!("(format: 1, sparsity: 3, kernel: {deep})"));
            refusal(&deep);
        }
    }

    #[test]
    fn text_is_read_back_and_ends_its_last_line() {
        let settings = Settings {
            format: 1,
            sparsity: 3,
            kernel: KernelOfNext::Gaussian { width: 0.1 },
        };
        let path = Path::new("a.ron");
        let text = to_text(&settings, path).expect("writable");
        assert!(text.starts_with("(\n    format: 1,\n") && text.ends_with(")\n"));
        let again: Settings = from_text(&text, path).expect("readable");
        assert_eq!(settings, again);
    }
}
