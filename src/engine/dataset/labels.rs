//! Names met one after the other (classes, groups, files) as numbers.

use std::collections::BTreeMap;

/// Names in the order they were met, each once.
#[derive(Debug, Clone, Default)]
pub(super) struct NameList {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl NameList {
    /// The number of a name; a new name gets the next number.
    pub(super) fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len();
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// How many different names there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The names by number.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The names by number, kept.
    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The names with numbers sorted by value, if all are numbers; and where each old number went.
    pub(super) fn into_sorted(self) -> (Vec<String>, Vec<usize>) {
        let values: Option<Vec<f64>> = self
            .names
            .iter()
            .map(|name| name.parse().ok().filter(|value: &f64| value.is_finite()))
            .collect();
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        if let Some(values) = values {
            order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        }
        let mut moved_to = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            moved_to[*old] = new;
        }
        let names = order.iter().map(|old| self.names[*old].clone()).collect();
        (names, moved_to)
    }
}

/// A number as the name of a class: whole numbers without a decimal point.
pub(super) fn number_name(value: f64) -> String {
    // Negative zero is zero.
    format!("{}", if value == 0.0 { 0.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> NameList {
        let mut list = NameList::default();
        for name in names {
            list.number(name);
        }
        list
    }

    #[test]
    fn numbers_are_sorted_by_value_and_words_stay_in_order() {
        let (names, moved_to) = list(&["10", "9", "-1"]).into_sorted();
        assert_eq!(names, ["-1", "9", "10"]);
        assert_eq!(moved_to, [2, 1, 0]);
        let (names, moved_to) = list(&["no fault", "SLG", "LL", "SLG"]).into_sorted();
        assert_eq!(names, ["no fault", "SLG", "LL"]);
        assert_eq!(moved_to, [0, 1, 2]);
    }

    #[test]
    fn whole_numbers_have_plain_names() {
        assert_eq!(number_name(3.0), "3");
        assert_eq!(number_name(-0.0), "0");
        assert_eq!(number_name(2.5), "2.5");
    }
}
