//! Where the electrodes of the 10–20 and 10–10 systems lie on the head seen from above, for scalp maps.
//!
//! A name alone proves little: contacts of a grid are called C3 too. [`Scalp::of`] looks at all labels of a recording
//! and says what it assumed.

use std::collections::{BTreeMap, BTreeSet};

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

/// Whether an electrode (as [`electrode`] names it) is an ear or mastoid: a reference, not a place of brain activity.
pub fn is_ear(electrode: &str) -> bool {
    EARS.contains(&electrode)
}

/// The electrodes of a recording.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scalp {
    /// The electrode of each channel, as [`electrode`] names it; none where the label is no name of the system, or is
    /// one by chance only.
    pub electrodes: Vec<Option<String>>,
    /// What was assumed of labels that could be names of the system but are not taken for them.
    pub notes: Vec<String>,
}

/// A number that rows of contacts reach but rows of the system's names do not fill without a gap elsewhere.
const LONG_ROW: usize = 5;

impl Scalp {
    /// Judges all labels together. A label is an electrode of the 10–20 system only if it is named so *and* its row
    /// (`C1`, `C2`, …) has no number that the system lacks: then the row is of a grid or a depth electrode. Beside such
    /// rows, other rows that count without a gap are contacts too.
    pub fn of<S: AsRef<str>>(labels: &[S]) -> Self {
        let mut rows: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        let mut has_midline_or_pole = false;
        for label in labels {
            let upper = label.as_ref().to_uppercase();
            for word in words_of(&upper) {
                let end = word.find(|letter: char| letter.is_ascii_digit());
                let Some((letters, Ok(number))) = end.map(|at| (&word[..at], word[at..].parse()))
                else {
                    has_midline_or_pole |= place(word).is_some();
                    continue;
                };
                has_midline_or_pole |= letters.len() > 1 && place(word).is_some();
                if !letters.is_empty() && letters.len() <= 2 {
                    rows.entry(letters.to_owned()).or_default().insert(number);
                }
            }
        }
        let is_named =
            |letters: &str, number: usize| place(&format!("{letters}{number}")).is_some();
        let is_known = |letters: &str| (1..=10).any(|number| is_named(letters, number));
        // A row with numbers beyond the system's, or (without any Cz or Fp1 in sight) rows of other letters.
        let reaches_out = |(letters, numbers): &(&String, &BTreeSet<usize>)| {
            is_known(letters) && numbers.iter().any(|&number| !is_named(letters, number))
        };
        let mut contacts: BTreeSet<&str> = rows
            .iter()
            .filter(reaches_out)
            .map(|(letters, _)| letters.as_str())
            .collect();
        let other_rows = rows.iter().filter(|(letters, numbers)| {
            letters.len() == 1 && !is_known(letters) && letters.as_str() != "X" && numbers.len() > 1
        });
        let is_grid = other_rows.count() > 0 && !has_midline_or_pole;
        for (letters, numbers) in &rows {
            let is_whole =
                numbers.len() >= LONG_ROW && numbers.iter().copied().eq(1..=numbers.len());
            let beside_contacts = !contacts.is_empty() && is_whole;
            if letters.len() == 1 && (is_grid || beside_contacts) {
                contacts.insert(letters);
            }
        }
        let judge = |label: &S| {
            // Inputs with a dollar are shorted or spare, whatever they are named after.
            let label = Some(label).filter(|label| !label.as_ref().contains('$'))?;
            let found = electrode(label.as_ref())?;
            let upper = label.as_ref().to_uppercase();
            let own = words_of(&upper)
                .into_iter()
                .find(|word| place(word).is_some())?;
            let letters = own.trim_end_matches(|letter: char| letter.is_ascii_digit());
            (!contacts.contains(letters)).then_some(found)
        };
        let electrodes: Vec<Option<String>> = labels.iter().map(judge).collect();
        let is_lost = |(label, own): &(&S, &Option<String>)| {
            let is_spare = label.as_ref().contains('$');
            own.is_none() && !is_spare && electrode(label.as_ref()).is_some()
        };
        let lost: Vec<&str> = labels
            .iter()
            .zip(&electrodes)
            .filter(is_lost)
            .map(|(label, _)| label.as_ref())
            .collect();
        let notes = match lost[..] {
            [] => Vec::new(),
            [first, ..] => vec![format!(
                "{} labels such as {first} are taken for contacts of a grid or depth electrode, not for places of the 10–20 system",
                lost.len()
            )],
        };
        Self { electrodes, notes }
    }

    /// The place of a channel on the scalp; none for ears and for what is no electrode of the system.
    pub fn position(&self, channel: usize) -> Option<(f64, f64)> {
        let electrode = self.electrodes.get(channel)?.as_deref()?;
        if is_ear(electrode) {
            return None;
        }
        place(electrode)
    }
}

/// The electrode a channel was recorded from, in capitals and by its newer name (`T7`, not `T3`); nothing for a pair of
/// electrodes and for other signals. Ears keep their names. A second electrode that is an ear is the reference.
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
        _ if is_ear(first) => Some(first.to_owned()),
        _ => Some(newer_name(first).to_owned()),
    }
}

/// The ear that a channel was recorded against, if its label names one behind the electrode: `A2` of `C3-A2`.
pub fn ear_behind(name: &str) -> Option<&'static str> {
    let upper = name.to_uppercase();
    let mut known = words_of(&upper)
        .into_iter()
        .filter(|word| place(word).is_some());
    known.next()?;
    let second = known.next()?;
    EARS.into_iter().find(|ear| *ear == second)
}

fn words_of(upper: &str) -> Vec<&str> {
    upper
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

pub(super) fn newer_name(name: &str) -> &str {
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

    /// Labels of a range of contacts.
    fn row(letters: &str, n: usize) -> Vec<String> {
        (1..=n).map(|number| format!("{letters}{number}")).collect()
    }

    #[test]
    fn contacts_of_grids_are_no_electrodes_of_the_system() {
        let grid: Vec<String> = "ABCDEFGHI"
            .chars()
            .flat_map(|c| row(&c.to_string(), 7))
            .collect();
        let scalp = Scalp::of(&grid);
        assert!(scalp.electrodes.iter().all(Option::is_none), "{scalp:?}");
        assert!(
            scalp.notes[0].starts_with("15 labels such as A1 "),
            "{:?}",
            scalp.notes
        );
        // A cap of 128 by letters, and depth electrodes beside scalp electrodes.
        let cap: Vec<String> = ["A", "B", "C", "D"]
            .iter()
            .flat_map(|c| row(c, 32))
            .collect();
        assert!(Scalp::of(&cap).electrodes.iter().all(Option::is_none));
        let mut both: Vec<String> = ["Fp1", "Fp2", "Cz", "O1", "O2", "T3"]
            .map(str::to_owned)
            .to_vec();
        both.extend(row("A", 8));
        both.extend(row("F", 6));
        both.extend(row("TP", 12));
        let scalp = Scalp::of(&both);
        assert_eq!(scalp.electrodes.iter().flatten().count(), 6);
        assert_eq!(scalp.position(0), position("Fp1"));
        // Spare inputs beside the system do not change it.
        let clinical = [
            "Fp1-Ref", "F3-Ref", "C3-Ref", "A1-Ref", "Fz-Ref", "POL X1", "POL X2", "POL E",
        ];
        let scalp = Scalp::of(&clinical);
        assert_eq!(scalp.electrodes.iter().flatten().count(), 5);
        assert_eq!(scalp.electrodes[3].as_deref(), Some("A1"));
        assert_eq!(scalp.position(3), None, "ears are no places of the scalp");
        assert!(scalp.notes.is_empty());
        let few = Scalp::of(&["C3", "C4", "Cz", "Status"]);
        assert_eq!(few.electrodes.iter().flatten().count(), 3);
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
