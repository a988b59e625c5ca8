//! The annotations of a recording, its file's and the user's, as one list in order of time.

use std::ops::Range;

use atomscope_engine::records::Annotation;
use atomscope_engine::session::OwnAnnotation;

/// One annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationRow {
    /// When it starts.
    pub onset_s: f64,
    /// How long it lasts; 0 for a moment.
    pub duration_s: f64,
    /// Text of the annotation.
    pub text: String,
    /// The channels it is about; none where it is about all of them.
    pub channels: Vec<String>,
    /// Its place among the user's own, if it is one.
    pub own: Option<usize>,
    /// Text and channels in small letters, for searching.
    lower: String,
}

/// All annotations of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnnotationList {
    rows: Vec<AnnotationRow>,
    longest_s: f64,
}

impl AnnotationList {
    /// Those of the file and the user's own.
    pub fn of(of_file: &[Annotation], own: &[OwnAnnotation]) -> Self {
        let row = |annotation: Annotation, own| AnnotationRow {
            onset_s: annotation.onset_s,
            duration_s: annotation.duration_s.unwrap_or(0.0).max(0.0),
            lower: format!("{} {}", annotation.text, annotation.channels.join(" ")).to_lowercase(),
            text: annotation.text,
            channels: annotation.channels,
            own,
        };
        let of_file = of_file.iter().map(|a| row(a.clone(), None));
        let own = own.iter().enumerate();
        let own = own.map(|(k, a)| row(a.to_annotation(), Some(k)));
        let mut rows: Vec<AnnotationRow> = of_file.chain(own).collect();
        rows.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        let longest_s = rows.iter().map(|row| row.duration_s).fold(0.0, f64::max);
        Self { rows, longest_s }
    }

    /// All of them in order of time.
    pub fn rows(&self) -> &[AnnotationRow] {
        &self.rows
    }

    /// Places of those whose text contains `wanted`, whatever the case.
    pub fn containing(&self, wanted: &str) -> Vec<usize> {
        let wanted = wanted.to_lowercase();
        let is_match = |place: &usize| self.rows[*place].lower.contains(&wanted);
        (0..self.rows.len()).filter(is_match).collect()
    }

    /// Those that may reach into a stretch of time: found without looking at all of them.
    pub fn near(&self, start_s: f64, end_s: f64) -> &[AnnotationRow] {
        &self.rows[self.places_near(start_s, end_s)]
    }

    fn places_near(&self, start_s: f64, end_s: f64) -> Range<usize> {
        let earliest_s = start_s - self.longest_s;
        let first = self.rows.partition_point(|row| row.onset_s < earliest_s);
        let end = self.rows.partition_point(|row| row.onset_s <= end_s);
        first..end.max(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_searchable_and_knows_what_reaches_into_a_page() {
        let file = |onset_s, duration_s, text: &str| Annotation::new(onset_s, duration_s, text);
        let own = OwnAnnotation {
            onset_s: 5.0,
            duration_s: 0.0,
            text: "Spike".to_owned(),
            channels: Vec::new(),
        };
        let of_file = [file(1.0, Some(8.0), "sleep"), file(30.0, None, "spike?")];
        let list = AnnotationList::of(&of_file, &[own]);
        let texts: Vec<&str> = list.rows().iter().map(|row| row.text.as_str()).collect();
        assert_eq!(texts, ["sleep", "Spike", "spike?"]);
        assert_eq!(list.rows()[1].own, Some(0));
        assert_eq!(list.containing("SPIKE"), [1, 2]);
        assert_eq!(list.containing("").len(), 3);
        assert_eq!(list.near(7.0, 10.0).len(), 2, "sleep lasts until 9 s");
        assert_eq!(list.near(25.0, 35.0).len(), 1);
        assert_eq!(list.near(40.0, 50.0).len(), 0);
    }
}
