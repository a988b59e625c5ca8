//! What a channel of a recording measures, judged by its label, its unit and its rate; and its label without trimmings.

use serde::{Deserialize, Serialize};

use super::electrodes::{self, is_ear, newer_name};
use crate::records::{Channel, ChannelKind, Record};

/// What a channel measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SignalKind {
    /// Brain potentials, on the scalp or inside.
    Eeg,
    /// Eye movements.
    Eog,
    /// Heart.
    Ecg,
    /// Muscles.
    Emg,
    /// Breathing: flow, effort, snoring.
    Respiration,
    /// Oxygen saturation and pulse wave.
    Spo2,
    /// Temperature.
    Temperature,
    /// Triggers and marks.
    Trigger,
    /// State of the recorder.
    Status,
    /// Anything else.
    Other,
}

impl SignalKind {
    /// All kinds, in the order they are shown.
    pub const ALL: [Self; 10] = [
        Self::Eeg,
        Self::Eog,
        Self::Ecg,
        Self::Emg,
        Self::Respiration,
        Self::Spo2,
        Self::Temperature,
        Self::Trigger,
        Self::Status,
        Self::Other,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eeg => "EEG",
            Self::Eog => "EOG",
            Self::Ecg => "ECG",
            Self::Emg => "EMG",
            Self::Respiration => "Respiration",
            Self::Spo2 => "SpO₂",
            Self::Temperature => "Temperature",
            Self::Trigger => "Trigger",
            Self::Status => "Status",
            Self::Other => "Other",
        }
    }
}

/// Beginnings of words that tell a kind, in capitals; the first that fits wins.
const WORDS: &[(SignalKind, &[&str])] = &[
    (SignalKind::Eog, &["LOC", "ROC"]),
    (SignalKind::Ecg, &["ECG", "EKG"]),
    (
        SignalKind::Emg,
        &["EMG", "CHIN", "TIB", "LEG", "LLEG", "RLEG", "MASSETER"],
    ),
    (
        SignalKind::Spo2,
        &["SPO2", "SAO2", "O2SAT", "OSAT", "PLETH", "PULSE"],
    ),
    (
        SignalKind::Respiration,
        &[
            "RESP", "THOR", "ABD", "FLOW", "AIRFLOW", "NASAL", "CANNULA", "EFFORT", "SNOR",
            "ETCO2", "RIP",
        ],
    ),
    (
        SignalKind::Trigger,
        &["STI", "TRIG", "DTRIG", "MARK", "EVENT", "PHOTIC"],
    ),
    (SignalKind::Status, &["STATUS", "BATT", "IMPEDANCE"]),
];

/// Words of inputs that are none of the kinds: direct inputs, marks and reserves of clinical recorders.
const OTHER_INPUTS: &[&str] = &[
    "DC", "BN", "NA", "OSC", "POS", "LIGHT", "HR", "PR", "REF", "GND", "EXG", "AUX", "GSR", "ERG",
];

/// Slowest rate at which brain potentials are recorded.
const SLOWEST_EEG_HZ: f64 = 50.0;

/// The kinds of all channels of a record.
pub fn kinds_of(record: &Record) -> Vec<SignalKind> {
    record.channels.iter().map(kind_of).collect()
}

/// The kind of a channel.
pub fn kind_of(channel: &Channel) -> SignalKind {
    if channel.kind != ChannelKind::Analog {
        return SignalKind::Status;
    }
    let upper = channel.name.to_uppercase();
    let words: Vec<&str> = upper
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    if let Some(kind) = named_kind(&words) {
        return kind;
    }
    match channel.unit.symbol.as_str() {
        "°C" => return SignalKind::Temperature,
        "%" => return SignalKind::Spo2,
        _ => {}
    }
    let is_voltage = channel.unit.volts().is_some() || !channel.unit.is_known();
    let is_fast = channel
        .rate_hz
        .is_none_or(|rate_hz| rate_hz >= SLOWEST_EEG_HZ);
    let is_named = words.contains(&"EEG") || electrodes::position(&channel.name).is_some();
    // A ground, a shorted input or a spare of a clinical amplifier.
    let is_spare = words.iter().any(|word| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let has_digits = letters.len() < word.len();
        OTHER_INPUTS.contains(&letters) && (has_digits || words.len() == 1)
    }) || upper.contains('$')
        || ["E", "Z"].contains(words.last().unwrap_or(&""));
    match (is_named, is_fast, is_voltage) {
        (true, true, true) if !is_spare => SignalKind::Eeg,
        // Contacts of grids and depth electrodes have names of their own, and microvolts.
        (false, true, _) if !is_spare && has_contact_name(&words) => match channel.unit.volts() {
            Some(volts) if volts <= 1e-6 => SignalKind::Eeg,
            _ => SignalKind::Other,
        },
        _ => SignalKind::Other,
    }
}

fn named_kind(words: &[&str]) -> Option<SignalKind> {
    let is_temperature =
        |word: &&str| word.starts_with("TEMP") && !word.starts_with("TEMPOR") || *word == "THERM";
    if words.iter().any(is_temperature) {
        return Some(SignalKind::Temperature);
    }
    // Eye electrodes of sleep montages: E1-M2, not the ground E.
    let is_eye = |word: &&str| ["E1", "E2"].contains(word);
    let names_eyes = words.iter().any(|word| word.contains("EOG"));
    if names_eyes || (words.first().is_some_and(is_eye) && words.len() == 2) {
        return Some(SignalKind::Eog);
    }
    let fits = |starts: &[&str]| {
        let fit = |word: &&str| starts.iter().any(|start| word.starts_with(start));
        words.iter().any(fit)
    };
    let found = WORDS.iter().find(|(_, starts)| fits(starts));
    found.map(|(kind, _)| *kind)
}

/// Letters and a number, with nothing but the reference behind: `A12`, `LTG3-Ref`, `POL B'4`.
fn has_contact_name(words: &[&str]) -> bool {
    const AROUND: [&str; 6] = ["EEG", "POL", "REF", "LE", "AVG", "SEEG"];
    let mut own = words.iter().filter(|word| !AROUND.contains(word));
    let (Some(first), n_more) = (own.next(), own.count()) else {
        return false;
    };
    let letters = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_lettered = !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic());
    let has_number = letters.len() < first.len();
    n_more <= 1 && is_lettered && letters.len() <= 4 && has_number && letters != "X"
}

/// A label without `EEG ` before and the reference behind: `Fp1` of `EEG Fp1-Ref`.
pub fn clean_label(label: &str) -> &str {
    const BEFORE: [&str; 7] = [
        "EEG ", "EEG:", "POL ", "SEEG ", "ECG ECG", "EOG EOG", "EMG EMG",
    ];
    const BEHIND: [&str; 5] = ["-REF", "-LE", "-AVG", "-AV", "-RE"];
    let mut clean = label.trim();
    for before in BEFORE {
        let rest = clean
            .get(..before.len())
            .filter(|s| s.eq_ignore_ascii_case(before));
        if rest.is_some() {
            // `ECG ECG1` keeps its second word.
            let kept = before.find([' ', ':']).map_or(0, |space| space + 1);
            clean = clean[kept..].trim_start();
            break;
        }
    }
    for behind in BEHIND {
        let at = clean.len().saturating_sub(behind.len());
        let ending = clean.get(at..).filter(|s| s.eq_ignore_ascii_case(behind));
        if ending.is_some() && at > 0 {
            clean = clean[..at].trim_end();
            break;
        }
    }
    let clean = clean.trim_end_matches('.');
    if clean.is_empty() { label } else { clean }
}

/// The place among labels of the channel with a name: the one called so, or the only one whose label says the same in
/// another spelling (`EEG FP1-REF` and `Fp1`, `T3` and `T7`).
pub fn place_of_channel<'a>(
    labels: impl Iterator<Item = &'a str> + Clone,
    name: &str,
) -> Option<usize> {
    if let Some(exact) = labels.clone().position(|label| label == name) {
        return Some(exact);
    }
    let wanted = spelled_alike(name);
    let mut alike = labels
        .enumerate()
        .filter(|(_, label)| spelled_alike(label) == wanted);
    let (place, _) = alike.next()?;
    alike.next().is_none().then_some(place)
}

fn spelled_alike(label: &str) -> String {
    let clean = clean_label(label).to_uppercase();
    match is_ear(&clean) {
        true => clean,
        false => newer_name(&clean).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Unit;

    #[track_caller]
    fn is(kind: SignalKind, labels: &[&str], unit: &str, rate_hz: f64) {
        for label in labels {
            let channel = Channel::analog(*label, Unit::parse(unit), Some(rate_hz), 0);
            assert_eq!(kind_of(&channel), kind, "{label} [{unit}] at {rate_hz} Hz");
        }
    }

    #[test]
    fn labels_of_hospitals_tell_their_kind() {
        let eeg = [
            "EEG Fp1-Ref",
            "Fp1",
            "EEG A2-Ref",
            "POL T1",
            "C3..",
            "FP1-F7",
            "A12",
            "LTG3-Ref",
            "POL B4",
        ];
        is(SignalKind::Eeg, &eeg, "uV", 200.0);
        is(
            SignalKind::Ecg,
            &["ECG ECG1", "EKG1-Ref", "POL EKG2-Ref", "ECG"],
            "uV",
            200.0,
        );
        is(
            SignalKind::Eog,
            &["EOG VEOG_I", "LOC-A2", "E1-M2", "HEOG"],
            "uV",
            256.0,
        );
        is(SignalKind::Emg, &["EMG chin", "Chin 1-Chin 2"], "uV", 256.0);
        is(SignalKind::Spo2, &["SaO2 X9", "SpO2"], "uV", 200.0);
        is(SignalKind::Spo2, &["saturation"], "%", 1.0);
        is(
            SignalKind::Respiration,
            &["Resp oro-nasal", "THOR RES", "ABDO RES", "Airflow"],
            "uV",
            50.0,
        );
        is(SignalKind::Temperature, &["Temp rectal"], "DegC", 1.0);
        is(SignalKind::Temperature, &["x"], "°C", 1.0);
        is(
            SignalKind::Trigger,
            &["tRigGer", "DIG DTRIG", "STI 014", "Mark1", "Event marker"],
            "uV",
            200.0,
        );
        is(SignalKind::Status, &["Status", "stAtUs"], "uV", 200.0);
        let other = [
            "POL DC01",
            "POL E",
            "POL $A2",
            "POL X1",
            "BN1",
            "sine 8 Hz",
            "noise",
            "REF",
        ];
        is(SignalKind::Other, &other, "uV", 200.0);
        // A contact that changes once a second is none; neither is one in volts.
        is(SignalKind::Other, &["A12"], "uV", 1.0);
        is(SignalKind::Other, &["A12"], "mV", 512.0);
        is(SignalKind::Eeg, &["Temporal T3"], "uV", 200.0);
    }

    #[test]
    fn labels_lose_what_every_channel_has() {
        let cases = [
            ("EEG Fp1-Ref", "Fp1"),
            ("EEG FP1-LE", "FP1"),
            ("POL X1", "X1"),
            ("ECG ECG1", "ECG1"),
            ("EEG:C3", "C3"),
            ("Fc5.", "Fc5"),
            ("Fp1-F7", "Fp1-F7"),
            ("-Ref", "-Ref"),
            ("EEG", "EEG"),
            ("SaO2 X9", "SaO2 X9"),
            ("é-Ref", "é"),
            ("", ""),
        ];
        for (label, clean) in cases {
            assert_eq!(clean_label(label), clean, "{label}");
        }
    }

    #[test]
    fn a_channel_is_found_by_its_name_in_another_spelling() {
        let place = |labels: &[&str], name| place_of_channel(labels.iter().copied(), name);
        assert_eq!(place(&["Cz", "EEG FP1-REF", "Fp1"], "Fp1"), Some(2));
        assert_eq!(place(&["EEG FP1-REF", "T8"], "Fp1."), Some(0));
        assert_eq!(place(&["EEG FP1-REF", "T8"], "EEG T4-LE"), Some(1));
        // Two that say the same, another reference, or a pair of electrodes are none.
        assert_eq!(place(&["EEG Fp1-Ref", "POL FP1"], "Fp1"), None);
        assert_eq!(place(&["Fp1-A2", "Fp1-F7", "A1"], "Fp1"), None);
        assert_eq!(place(&["T9"], "A1"), None);
    }
}
