//! Fewer points with the same picture: the lowest and highest value of each pixel column.

/// Reduces a line with growing x to at most about four points per column: first, lowest, highest,
/// last, in their order. Short lines stay as they are.
pub fn line(points: &[[f64; 2]], n_columns: usize) -> Vec<[f64; 2]> {
    let n_columns = n_columns.max(1);
    if points.len() <= 4 * n_columns {
        return points.to_vec();
    }
    let (first, last) = (points[0][0], points[points.len() - 1][0]);
    let width = (last - first) / n_columns as f64;
    let column = |x: f64| ((x - first) / width) as usize;
    let mut reduced = Vec::with_capacity(4 * n_columns + 4);
    let mut start = 0;
    while start < points.len() {
        let this = column(points[start][0]);
        let length = points[start..]
            .iter()
            .take_while(|point| column(point[0]) == this)
            .count()
            .max(1);
        push_extremes(&points[start..start + length], &mut reduced);
        start += length;
    }
    reduced
}

fn push_extremes(column: &[[f64; 2]], reduced: &mut Vec<[f64; 2]>) {
    let (mut low, mut high) = (0, 0);
    for (place, point) in column.iter().enumerate() {
        if point[1] < column[low][1] {
            low = place;
        }
        if point[1] > column[high][1] {
            high = place;
        }
    }
    let mut kept = [0, low.min(high), low.max(high), column.len() - 1];
    kept.sort_unstable();
    let mut before = None;
    for place in kept {
        if before != Some(place) {
            reduced.push(column[place]);
        }
        before = Some(place);
    }
}

/// The lowest and highest value of each of `n_columns` stretches of a signal; `None` where a
/// stretch holds nothing finite.
pub fn min_max(values: &[f64], n_columns: usize) -> Vec<Option<(f64, f64)>> {
    (0..n_columns)
        .map(|column| {
            let start = column * values.len() / n_columns;
            // One value more, so that neighbouring columns touch.
            let end = ((column + 1) * values.len() / n_columns + 1).min(values.len());
            values[start.min(end)..end]
                .iter()
                .filter(|value| value.is_finite())
                .fold(None, |range, &value| match range {
                    None => Some((value, value)),
                    Some((low, high)) => Some((value.min(low), value.max(high))),
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduced_line_keeps_its_ends_and_its_spikes() {
        let mut points: Vec<[f64; 2]> = (0..100_000)
            .map(|n| [n as f64, (n as f64 * 0.01).sin()])
            .collect();
        points[54_321][1] = 9.0;
        points[12_345][1] = -9.0;
        let reduced = line(&points, 200);
        assert!(reduced.len() <= 4 * 201);
        assert_eq!(reduced[0], points[0]);
        assert_eq!(reduced[reduced.len() - 1], points[99_999]);
        assert!(reduced.contains(&points[54_321]) && reduced.contains(&points[12_345]));
        assert!(reduced.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    }

    #[test]
    fn a_short_or_vertical_line_is_no_trouble() {
        assert_eq!(line(&[[1.0, 2.0]], 100), [[1.0, 2.0]]);
        assert!(line(&[], 10).is_empty());
        let vertical = vec![[3.0, 1.0]; 5000];
        assert!(!line(&vertical, 10).is_empty());
    }

    #[test]
    fn columns_of_a_signal_hold_its_extremes_and_show_gaps() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[300..420].fill(f64::NAN);
        let columns = min_max(&values, 10);
        assert_eq!(columns[0], Some((0.0, 100.0)));
        assert_eq!(columns[3], None);
        assert_eq!(columns[9], Some((900.0, 999.0)));
        assert_eq!(min_max(&[], 4), vec![None; 4]);
    }
}
