//! What is costly to draw is kept from frame to frame, until what it shows has changed.

use egui::{Id, Ui};

/// The value made for `key`, made again when the key differs from the last frame's.
pub(in crate::ui) fn cached<T>(ui: &Ui, id: Id, key: u64, make: impl FnOnce() -> T) -> T
where
    T: Clone + Send + Sync + 'static,
{
    if let Some((kept_key, value)) = ui.data(|data| data.get_temp::<(u64, T)>(id))
        && kept_key == key
    {
        return value;
    }
    let value = make();
    ui.data_mut(|data| data.insert_temp(id, (key, value.clone())));
    value
}

/// A number that differs when the values do (but for rare coincidences).
pub(super) fn fingerprint(values: impl IntoIterator<Item = f64>) -> u64 {
    values
        .into_iter()
        .fold(0x9e37_79b9_7f4a_7c15, |hash, value| {
            (hash ^ value.to_bits())
                .wrapping_mul(0xff51_afd7_ed55_8ccd)
                .rotate_left(29)
        })
}

/// The next round number at or above `value`, so that scales seldom change.
pub(super) fn round_up(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let factor = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
        .into_iter()
        .find(|factor| factor * power >= value * (1.0 - 1e-9))
        .unwrap_or(10.0);
    factor * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_tell_values_and_their_order_apart() {
        assert_ne!(fingerprint([1.0, 2.0]), fingerprint([2.0, 1.0]));
        assert_ne!(fingerprint([0.0]), fingerprint([0.0, 0.0]));
        assert_eq!(fingerprint([1.0, 2.0]), fingerprint([1.0, 2.0]));
    }

    #[test]
    fn scales_are_round_and_large_enough() {
        assert_eq!(round_up(1.0), 1.0);
        assert_eq!(round_up(1.2), 1.5);
        assert!((round_up(0.083) - 0.1).abs() < 1e-12);
        assert_eq!(round_up(f64::NAN), 1.0);
    }
}
