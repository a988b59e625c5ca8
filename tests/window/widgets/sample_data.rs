//! Data that look like those of a run: curves, confusion, atoms of faults and of EEG.

use std::f64::consts::TAU;

use atomscope_engine::evaluation::Confusion;

/// Repeatable numbers between 0 and 1 that look irregular.
pub(crate) fn noise(n: usize) -> f64 {
    let x = (n as f64 * 12.9898).sin() * 43_758.545_3;
    x - x.floor()
}

pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(crate) fn fault_classes() -> Vec<String> {
    names(&["healthy", "SLG", "LL", "LLG", "LLL"])
}

pub(crate) fn confusion(rows: &[&[u64]]) -> Confusion {
    let mut confusion = Confusion::new(rows.len());
    for (truth, row) in rows.iter().enumerate() {
        for (decided, &count) in row.iter().enumerate() {
            (0..count).for_each(|_| confusion.add(truth, decided));
        }
    }
    confusion
}

pub(crate) fn fault_confusion() -> Confusion {
    confusion(&[
        &[80, 0, 0, 0, 0],
        &[1, 76, 3, 0, 0],
        &[0, 2, 74, 4, 0],
        &[0, 0, 9, 69, 2],
        &[0, 0, 0, 1, 79],
    ])
}

pub(crate) fn learning_curve(seed: usize, n: usize, top: f64) -> Vec<[f64; 2]> {
    (0..n)
        .map(|batch| {
            let rise = 1.0 - (-(batch as f64) / 8.0).exp();
            let wobble = (noise(seed * 1000 + batch) - 0.5) * 0.02;
            [batch as f64, (0.62 + (top - 0.62) * rise + wobble).min(1.0)]
        })
        .collect()
}

/// Six phases of a feeder fault: voltages sag, currents rise.
pub(crate) fn fault_atom(kind: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for channel in 0..6 {
        let phase = channel % 3;
        let hit = phase <= kind % 3;
        for point in 0..201 {
            let t = point as f64 / 200.0;
            let fault = if t > 0.35 { 1.0 } else { 0.0 };
            let strength = match (channel < 3, hit) {
                (true, true) => 1.0 - 0.7 * fault * (0.5 + 0.5 * noise(kind)),
                (true, false) => 1.0,
                (false, true) => 0.4 + 3.0 * fault * (0.4 + 0.6 * noise(kind + 7)),
                (false, false) => 0.4 + 0.15 * fault,
            };
            let decay = if channel >= 3 && hit {
                (-(t - 0.35) * 6.0).exp() * fault
            } else {
                0.0
            };
            let angle = TAU * (3.0 * t - phase as f64 / 3.0 + 0.03 * kind as f64);
            values.push(strength * angle.sin() + 0.8 * decay);
        }
    }
    values
}

pub(crate) const ELECTRODES: [(&str, f64, f64); 19] = [
    ("Fp1", -0.31, 0.95),
    ("Fp2", 0.31, 0.95),
    ("F7", -0.81, 0.59),
    ("F3", -0.42, 0.52),
    ("Fz", 0.0, 0.5),
    ("F4", 0.42, 0.52),
    ("F8", 0.81, 0.59),
    ("T7", -1.0, 0.0),
    ("C3", -0.5, 0.0),
    ("Cz", 0.0, 0.0),
    ("C4", 0.5, 0.0),
    ("T8", 1.0, 0.0),
    ("P7", -0.81, -0.59),
    ("P3", -0.42, -0.52),
    ("Pz", 0.0, -0.5),
    ("P4", 0.42, -0.52),
    ("P8", 0.81, -0.59),
    ("O1", -0.31, -0.95),
    ("O2", 0.31, -0.95),
];

pub(crate) fn electrode_places() -> Vec<(f64, f64)> {
    ELECTRODES.iter().map(|&(_, x, y)| (x, y)).collect()
}

pub(crate) fn electrode_names() -> Vec<String> {
    ELECTRODES
        .iter()
        .map(|(name, _, _)| (*name).to_owned())
        .collect()
}

/// Strong at the back in alpha, elsewhere in the other bands.
pub(crate) fn band_atom(kind: usize) -> Vec<f64> {
    let mut values = Vec::new();
    for (x, y) in electrode_places() {
        for band in 0..5 {
            let angle = (kind * 5 + band) as f64;
            let (cx, cy) = (
                0.6 * angle.cos(),
                if band == 2 { -0.8 } else { 0.6 * angle.sin() },
            );
            let near = (-((x - cx).powi(2) + (y - cy).powi(2)) * 2.0).exp();
            values.push(near * 1.4 - 0.4 + 0.1 * noise(kind * 31 + band));
        }
    }
    values
}
