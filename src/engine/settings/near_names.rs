//! Names that may be meant by one that does not exist.

/// Most near names suggested for one that is unknown.
const MAX_SUGGESTIONS: usize = 3;
/// Letters of a name that are compared; the time grows with the product of both.
const LONGEST: usize = 100;

/// The names nearest to `found`, nearest first; none that is too far to be meant.
pub fn near_names<'a>(found: &str, legal: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let found: String = found.to_lowercase().chars().take(LONGEST).collect();
    let mut near: Vec<(usize, &str)> = legal
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = strsim::osa_distance(&found, &lower);
            let part = found.len() > 2 && (lower.contains(&found) || found.contains(&lower));
            let is_near = part || distance <= 1 + lower.chars().count() / 4;
            is_near.then_some((distance, name))
        })
        .collect();
    near.sort();
    near.truncate(MAX_SUGGESTIONS);
    near.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_those_that_may_be_meant() {
        let legal = ["sparsity", "budget", "n_atoms", "forgetting"];
        assert_eq!(near_names("atoms", legal), ["n_atoms"]);
        assert_eq!(near_names("bugdet", legal), ["budget"]);
        assert!(near_names("colour", legal).is_empty());
    }
}
