//! Sections of `key=value` lines, as headers of BrainVision and Persyst and electrode lists of Nihon Kohden have them.

/// A text of sections; entries are found when asked for, so that a long text takes no more memory.
pub(super) struct Ini<'a> {
    text: &'a str,
}

/// One `key=value` line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    section: &'a str,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) line: usize,
}

impl<'a> Ini<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// The lines of a section as they are, with their numbers.
    pub(super) fn lines<'b>(
        &self,
        section: &'b str,
    ) -> impl Iterator<Item = (usize, &'a str)> + use<'a, 'b> {
        let mut is_inside = false;
        let numbered = self.text.lines().enumerate();
        numbered.filter_map(move |(number, line)| {
            let line = line.trim();
            let head = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            if let Some(name) = head {
                is_inside = name.trim().eq_ignore_ascii_case(section);
                return None;
            }
            (is_inside && !line.is_empty()).then_some((number + 1, line))
        })
    }

    /// Everything but comments; the section `[Comment]` is free text.
    fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let mut section = "";
        self.text
            .lines()
            .enumerate()
            .filter_map(move |(number, line)| {
                let line = line.trim();
                if let Some(name) = line
                    .strip_prefix('[')
                    .and_then(|rest| rest.strip_suffix(']'))
                {
                    section = name.trim();
                    return None;
                }
                if section.eq_ignore_ascii_case("comment") || line.starts_with(';') {
                    return None;
                }
                let (key, value) = line.split_once('=')?;
                Some(Entry {
                    section,
                    key: key.trim(),
                    value: value.trim(),
                    line: number + 1,
                })
            })
    }

    /// The entries of a section.
    pub(super) fn section<'b>(
        &self,
        name: &'b str,
    ) -> impl Iterator<Item = Entry<'a>> + use<'a, 'b> {
        self.entries()
            .filter(move |entry| entry.section.eq_ignore_ascii_case(name))
    }

    /// The first entry with a key in a section.
    pub(super) fn get(&self, section: &str, key: &str) -> Option<Entry<'a>> {
        self.section(section)
            .find(|entry| entry.key.eq_ignore_ascii_case(key))
    }
}

impl Entry<'_> {
    /// `17` of `Ch17`: the number that follows `prefix` in the key.
    pub(super) fn number_after(&self, prefix: &str) -> Option<usize> {
        let (start, rest) = self.key.split_at_checked(prefix.len())?;
        if !start.eq_ignore_ascii_case(prefix) {
            return None;
        }
        rest.trim().parse().ok()
    }
}

/// Splits at commas; a comma within a field is written `\1`.
pub(super) fn fields(value: &str) -> Vec<String> {
    // The formats have six fields; a line of nothing but commas has more than memory.
    value
        .splitn(16, ',')
        .map(|field| field.replace("\\1", ",").trim().to_owned())
        .collect()
}
