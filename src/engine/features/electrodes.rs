//! Where the electrodes of the 10–20 and 10–10 systems lie on the head seen from above, for scalp maps.

/// Radius of the ring Fpz–T7–Oz–T8: two tenths of the arc from nasion to inion lie outside it.
const RING_RADIUS: f64 = 0.8;

/// Rows from front to back: names left and right of the midline, name on the ring, degrees of the ring from the front,
/// place of the midline electrode (to the front).
const ROWS: [(&str, &str, f64, f64); 7] = [
    ("AF", "AF", 36.0, 0.6),
    ("F", "F", 54.0, 0.4),
    ("FC", "FT", 72.0, 0.2),
    ("C", "T", 90.0, 0.0),
    ("CP", "TP", 108.0, -0.2),
    ("P", "P", 126.0, -0.4),
    ("PO", "PO", 144.0, -0.6),
];

/// Older names and names off the rows, with the electrode at the same place.
const ALIASES: [(&str, &str); 12] = [
    ("T3", "T7"),
    ("T4", "T8"),
    ("T5", "P7"),
    ("T6", "P8"),
    ("T1", "FT9"),
    ("T2", "FT10"),
    ("A1", "T9"),
    ("A2", "T10"),
    ("M1", "TP9"),
    ("M2", "TP10"),
    ("CB1", "PO9"),
    ("CB2", "PO10"),
];

/// References, not places of brain activity, when named after another electrode.
const EARS: [&str; 4] = ["A1", "A2", "M1", "M2"];

/// Words of channels that are no EEG, even if another word looks like an electrode.
const OTHER_SIGNALS: [&str; 7] = ["EOG", "EMG", "ECG", "EKG", "RESP", "STI", "TRIGGER"];

/// The place of a channel on the unit disc, nose up: x to the right, y to the front; nasion, inion and ears lie on the
/// rim. Knows names such as `Fp1`, `FP1`, `Fp1.`, `EEG Fp1-REF`, `T3` (now T7); a pair of electrodes (`Fp1-F7`) lies
/// halfway between them.
pub fn position(name: &str) -> Option<(f64, f64)> {
    let upper = name.to_uppercase();
    let words = words_of(&upper);
    if words.iter().any(|word| OTHER_SIGNALS.contains(word)) {
        return None;
    }
    let mut places = words.iter().filter_map(|word| Some((*word, place(word)?)));
    let (_, (x, y)) = places.next()?;
    match places.next() {
        Some((second, (x2, y2))) if !EARS.contains(&second) => {
            Some(((x + x2) / 2.0, (y + y2) / 2.0))
        }
        _ => Some((x, y)),
    }
}

/// The electrode a channel was recorded from, in capitals and by its newer name (`T7`, not `T3`); nothing for a pair of
/// electrodes and for other signals. A second electrode that is an ear is the reference.
pub fn electrode(name: &str) -> Option<String> {
    let upper = name.to_uppercase();
    let words: Vec<&str> = words_of(&upper);
    if words.iter().any(|word| OTHER_SIGNALS.contains(word)) {
        return None;
    }
    let mut known = words.into_iter().filter(|word| place(word).is_some());
    let first = known.next()?;
    match known.next() {
        Some(second) if !EARS.contains(&second) => None,
        _ => Some(newer_name(first).to_owned()),
    }
}

fn words_of(upper: &str) -> Vec<&str> {
    upper
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

fn newer_name(name: &str) -> &str {
    let alias = ALIASES.iter().find(|(old, _)| *old == name);
    alias.map_or(name, |(_, same)| same)
}

/// The place of an electrode by its name in capitals.
fn place(name: &str) -> Option<(f64, f64)> {
    let name = newer_name(name);
    let digits = name.find(|letter: char| letter.is_ascii_digit());
    match digits {
        Some(at) => lateral(&name[..at], name[at..].parse().ok()?),
        None => midline(name),
    }
}

fn midline(name: &str) -> Option<(f64, f64)> {
    let ahead = match name {
        "NZ" => 1.0,
        "FPZ" => RING_RADIUS,
        "IZ" => -1.0,
        "OZ" => -RING_RADIUS,
        _ => {
            ROWS.iter()
                .find(|row| name.strip_suffix('Z') == Some(row.0))?
                .3
        }
    };
    Some((0.0, ahead))
}

/// Odd numbers lie left, even ones right, and higher ones farther out: 7 and 8 on the ring, 9 and 10 on the rim.
fn lateral(letters: &str, number: usize) -> Option<(f64, f64)> {
    let side = if number % 2 == 1 { -1.0 } else { 1.0 };
    let step = number.checked_sub(1)? / 2;
    let on_circle = |degrees: f64, radius: f64| {
        let (across, ahead) = degrees.to_radians().sin_cos();
        (side * radius * across, radius * ahead)
    };
    let outer_radius = |step: usize| (step == 4).then_some(1.0);
    match letters {
        "FP" if step == 0 => return Some(on_circle(18.0, RING_RADIUS)),
        "O" if step == 0 => return Some(on_circle(162.0, RING_RADIUS)),
        "O" => return Some(on_circle(162.0, outer_radius(step)?)),
        "FP" => return Some(on_circle(18.0, outer_radius(step)?)),
        _ => {}
    }
    let is_row = |row: &&(&str, &str, f64, f64)| match step {
        0..=2 => row.0 == letters,
        _ => row.1 == letters,
    };
    let (_, _, degrees, midline) = *ROWS.iter().find(is_row)?;
    match step {
        0..=2 => {
            // Rows are arcs over the head: from above, parabolas from the midline to the ring.
            let (x, y) = on_circle(degrees, RING_RADIUS);
            let share = (step + 1) as f64 / 4.0;
            Some((share * x, midline + share * share * (y - midline)))
        }
        3 => Some(on_circle(degrees, RING_RADIUS)),
        _ => Some(on_circle(degrees, outer_radius(step)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str) -> (f64, f64) {
        position(name).unwrap_or_else(|| panic!("{name} has a place"))
    }

    fn near(name: &str, x: f64, y: f64) {
        let (found_x, found_y) = at(name);
        let close = (found_x - x).abs() < 0.03 && (found_y - y).abs() < 0.03;
        assert!(close, "{name} at {found_x:.3}, {found_y:.3}");
    }

    #[test]
    fn landmarks_lie_where_the_system_puts_them() {
        near("Cz", 0.0, 0.0);
        near("Nz", 0.0, 1.0);
        near("Iz", 0.0, -1.0);
        near("A1", -1.0, 0.0);
        near("T7", -0.8, 0.0);
        near("C4", 0.4, 0.0);
        near("Fpz", 0.0, 0.8);
        near("Oz", 0.0, -0.8);
        near("Pz", 0.0, -0.4);
        near("POz", 0.0, -0.6);
        // On a sphere, halfway between F7 and Fz, as the 10–20 system says.
        near("F3", -0.335, 0.414);
        near("P4", 0.335, -0.414);
    }

    #[test]
    fn names_are_taken_as_recorders_write_them() {
        for name in [
            "FP1",
            "fp1",
            "Fp1.",
            "Fp1..",
            "EEG Fp1-REF",
            "EEG FP1-LE",
            "Fp1-A2",
        ] {
            assert_eq!(position(name), position("Fp1"), "{name}");
        }
        for (old, new) in [("T3", "T7"), ("T4", "T8"), ("T5", "P7"), ("T6", "P8")] {
            assert_eq!(at(old), at(new));
        }
        let (fp1, f7) = (at("Fp1"), at("F7"));
        let halfway = ((fp1.0 + f7.0) / 2.0, (fp1.1 + f7.1) / 2.0);
        assert_eq!(position("FP1-F7"), Some(halfway));
        let others = [
            "",
            "ch1",
            "ECG",
            "EMG C3",
            "EOG F7",
            "VA",
            "Fp5",
            "C7",
            "FT3",
            "F11",
            "P0",
            "X1",
            "REF",
            "EDF Annotations",
            "column 1",
            "C99999999999999999999",
        ];
        for name in others {
            assert_eq!(position(name), None, "{name}");
        }
    }

    #[test]
    fn a_channel_of_one_electrode_is_known_by_its_newer_name() {
        for (name, electrode) in [
            ("EEG Fp1-REF", Some("FP1")),
            ("T3", Some("T7")),
            ("C3-A2", Some("C3")),
            ("Fp1-F7", None),
            ("EOG F7", None),
            ("ch1", None),
        ] {
            assert_eq!(super::electrode(name).as_deref(), electrode, "{name}");
        }
    }

    #[test]
    fn the_whole_system_mirrors_and_stays_on_the_disc_without_collision() {
        let mut all: Vec<(String, (f64, f64))> = Vec::new();
        let rows = [
            "Fp", "AF", "F", "FC", "FT", "C", "T", "CP", "TP", "P", "PO", "O",
        ];
        for row in rows {
            for number in 1..=10 {
                let name = format!("{row}{number}");
                let Some((x, y)) = position(&name) else {
                    continue;
                };
                assert!(x.hypot(y) < 1.0 + 1e-12, "{name}");
                let mirrored = match number % 2 {
                    1 => format!("{row}{}", number + 1),
                    _ => format!("{row}{}", number - 1),
                };
                let (other_x, other_y) = at(&mirrored);
                assert!((x + other_x).abs() < 1e-12 && (y - other_y).abs() < 1e-12);
                all.push((name, (x, y)));
            }
        }
        // T1 to T6 are older names of places that have another name.
        all.retain(|(name, _)| !["T1", "T2", "T3", "T4", "T5", "T6"].contains(&name.as_str()));
        assert_eq!(all.len(), 78);
        for (i, (name, (x, y))) in all.iter().enumerate() {
            for (other, (x2, y2)) in &all[..i] {
                assert!((x - x2).hypot(y - y2) > 0.05, "{name} and {other}");
            }
        }
    }
}
