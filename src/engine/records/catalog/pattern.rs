//! Patterns that take class and group out of a file name.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::CatalogError;

/// A file name with placeholders, such as `{class:1}{*}.mat` for `h01.mat`.
///
/// - `{class}` and `{group}`: at least one character, as few as possible
/// - `{class:3}` and `{group:3}`: exactly three characters
/// - `{*}`: any characters, also none
/// - everything else stands for itself, upper and lower case being equal
///
/// A pattern with a slash is held against the path from the chosen folder on
/// (`{group}/{class}_{*}.edf`), one without against the file name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Letter(char),
    Any,
    Field { is_class: bool, len: Option<usize> },
}

/// Longest pattern and longest path; matching takes time with the product.
const MAX_LETTERS: usize = 1024;

impl Pattern {
    /// Reads a pattern.
    pub fn new(text: &str) -> Result<Self, CatalogError> {
        let wrong = |problem: String| CatalogError::Pattern {
            pattern: text.to_owned(),
            problem,
        };
        if text.chars().count() > MAX_LETTERS {
            return Err(wrong(format!("longer than {MAX_LETTERS} characters")));
        }
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            if letter != '{' {
                tokens.push(Token::Letter(letter));
                rest = &rest[letter.len_utf8()..];
                continue;
            }
            let Some(end) = rest.find('}') else {
                return Err(wrong("a { is not closed".to_owned()));
            };
            tokens.push(placeholder(&rest[1..end], &wrong)?);
            rest = &rest[end + 1..];
        }
        for wanted in [true, false] {
            let is_wanted = |token: &&Token| matches!(token, Token::Field { is_class, .. } if *is_class == wanted);
            if tokens.iter().filter(is_wanted).count() > 1 {
                let name = if wanted { "{class}" } else { "{group}" };
                return Err(wrong(format!("{name} stands in it twice")));
            }
        }
        if !tokens
            .iter()
            .any(|token| matches!(token, Token::Field { .. }))
        {
            return Err(wrong("it contains neither {class} nor {group}".to_owned()));
        }
        Ok(Self {
            text: text.to_owned(),
            tokens,
        })
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Class and group of a path, if it fits.
    pub fn labels(&self, path: &Path) -> Option<(Option<String>, Option<String>)> {
        let whole = path.to_string_lossy().replace('\\', "/");
        let name = match self.text.contains('/') {
            true => whole.as_str(),
            false => whole.rsplit('/').next().unwrap_or(&whole),
        };
        let letters: Vec<char> = name.chars().collect();
        if letters.len() > MAX_LETTERS {
            return None;
        }
        let ends = self.match_from_end(&letters);
        self.walk(&letters, &ends)
    }

    /// `fits[t][p]`: whether the tokens from `t` on can match the letters from `p` on.
    fn match_from_end(&self, letters: &[char]) -> Vec<Vec<bool>> {
        let n = letters.len();
        let mut fits = vec![vec![false; n + 1]; self.tokens.len() + 1];
        fits[self.tokens.len()][n] = true;
        for (t, token) in self.tokens.iter().enumerate().rev() {
            let (before, after) = fits.split_at_mut(t + 1);
            let (row, next) = (&mut before[t], &after[0]);
            for p in (0..=n).rev() {
                row[p] = match token {
                    Token::Letter(letter) => p < n && same(*letter, letters[p]) && next[p + 1],
                    Token::Any => next[p] || (p < n && row[p + 1]),
                    Token::Field { len: Some(len), .. } => {
                        p + len <= n && next[p + len] && is_name(&letters[p..p + len])
                    }
                    // One letter, then the field continues or ends.
                    Token::Field { len: None, .. } => {
                        p < n && letters[p] != '/' && (next[p + 1] || row[p + 1])
                    }
                };
            }
        }
        fits
    }

    /// Follows the matches from the start, each field as short as possible.
    fn walk(
        &self,
        letters: &[char],
        fits: &[Vec<bool>],
    ) -> Option<(Option<String>, Option<String>)> {
        if !fits[0][0] {
            return None;
        }
        let (mut class, mut group) = (None, None);
        let mut p = 0;
        for (t, token) in self.tokens.iter().enumerate() {
            let next = &fits[t + 1];
            let start = p;
            match token {
                Token::Letter(_) => p += 1,
                Token::Any => p += next[p..].iter().position(|&fits| fits)?,
                Token::Field { is_class, len } => {
                    p += match len {
                        Some(len) => *len,
                        None => 1 + next[p + 1..].iter().position(|&fits| fits)?,
                    };
                    let value: String = letters[start..p].iter().collect();
                    match is_class {
                        true => class = Some(value),
                        false => group = Some(value),
                    }
                }
            }
        }
        Some((class, group))
    }
}

/// A saved pattern is its text; it is checked when it is read.
impl TryFrom<String> for Pattern {
    type Error = CatalogError;

    fn try_from(text: String) -> Result<Self, CatalogError> {
        Self::new(&text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

fn same(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

fn is_name(letters: &[char]) -> bool {
    !letters.contains(&'/')
}

fn placeholder(
    inside: &str,
    wrong: &dyn Fn(String) -> CatalogError,
) -> Result<Token, CatalogError> {
    if inside == "*" {
        return Ok(Token::Any);
    }
    let (name, len) = match inside.split_once(':') {
        None => (inside, None),
        Some((name, len)) => match len.trim().parse() {
            Ok(len) if (1..=MAX_LETTERS).contains(&len) => (name, Some(len)),
            _ => {
                let problem = format!("{len:?} is not a number of characters, 1 or more");
                return Err(wrong(problem));
            }
        },
    };
    match name.trim() {
        "class" => Ok(Token::Field {
            is_class: true,
            len,
        }),
        "group" => Ok(Token::Field {
            is_class: false,
            len,
        }),
        other => Err(wrong(format!(
            "{other:?} is not a placeholder; use class, group or *"
        ))),
    }
}
