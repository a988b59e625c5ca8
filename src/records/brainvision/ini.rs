//! Sections of `key=value` lines, as BrainVision headers and marker files have them.

/// The entries of a text, with their line numbers.
pub(super) struct Ini {
    entries: Vec<Entry>,
}

/// One `key=value` line.
pub(super) struct Entry {
    section: String,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) line: usize,
}

impl Ini {
    /// Reads everything but comments; the section `[Comment]` is free text.
    pub(super) fn parse(text: &str) -> Self {
        let mut section = String::new();
        let mut entries = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                section = name.trim().to_lowercase();
            } else if section != "comment"
                && !line.starts_with(';')
                && let Some((key, value)) = line.split_once('=')
            {
                entries.push(Entry {
                    section: section.clone(),
                    key: key.trim().to_lowercase(),
                    value: value.trim().to_owned(),
                    line: number + 1,
                });
            }
        }
        Self { entries }
    }

    /// The entries of a section (name in lower case).
    pub(super) fn section<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(move |entry| entry.section == name)
    }

    /// An entry by section and key, both in lower case.
    pub(super) fn get(&self, section: &str, key: &str) -> Option<&Entry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.section == section && entry.key == key)
    }
}

/// Splits at commas; a comma within a field is written `\1`.
pub(super) fn fields(value: &str) -> Vec<String> {
    value
        .split(',')
        .map(|field| field.replace("\\1", ",").trim().to_owned())
        .collect()
}
