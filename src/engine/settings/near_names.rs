//! Names that may be meant by one that does not exist.

/// Most near names suggested for one that is unknown.
const MAX_SUGGESTIONS: usize = 3;

/// The names nearest to `found`, nearest first; none that is too far to be meant.
pub fn near_names<'a>(found: &str, legal: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let found = found.to_lowercase();
    let mut near: Vec<(usize, &str)> = legal
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = edit_distance(&found, &lower);
            let part = found.len() > 2 && (lower.contains(&found) || found.contains(&lower));
            let is_near = part || distance <= 1 + lower.chars().count() / 4;
            is_near.then_some((distance, name))
        })
        .collect();
    near.sort();
    near.truncate(MAX_SUGGESTIONS);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Least number of letters to insert, delete, replace or swap with their neighbour.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(100).collect();
    let b: Vec<char> = b.chars().take(100).collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let differs = usize::from(a[i - 1] != b[j - 1]);
                let mut least = (rows[i - 1][j] + 1)
                    .min(rows[i][j - 1] + 1)
                    .min(rows[i - 1][j - 1] + differs);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
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
