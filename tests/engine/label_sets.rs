//! Kinds, places and montages by the labels of real recordings: hospitals, sleep laboratories, public data sets, caps.

use atomscope_engine::features::electrodes::Scalp;
use atomscope_engine::features::montage::{Montage, MontageChannel};
use atomscope_engine::features::signal_kind::{SignalKind, kind_of};
use atomscope_engine::records::{Channel, Unit};

/// The labels of a file and what they are.
struct LabelSet {
    /// Where such labels come from.
    from: &'static str,
    /// Separated by `|`; `A1…A32` stands for a row.
    labels: &'static str,
    n_eeg: usize,
    /// Electrodes that have a place on the scalp: not ears, not pairs, not contacts.
    n_placed: usize,
    /// Pairs of the longitudinal and of the transverse montage.
    n_pairs: (usize, usize),
    /// Whether there are Cz, both ears, both mastoids.
    references: [bool; 3],
}

const SETS: &[LabelSet] = &[
    LabelSet {
        from: "Nihon Kohden, hospital, T3 to T6",
        labels: "EEG Fp2-Ref|EEG Fp1-Ref|EEG F4-Ref|EEG F3-Ref|EEG C4-Ref|EEG C3-Ref|EEG P4-Ref|EEG P3-Ref|EEG O2-Ref|EEG O1-Ref|EEG F8-Ref|EEG F7-Ref|EEG T4-Ref|EEG T3-Ref|EEG T6-Ref|EEG T5-Ref|EEG Fz-Ref|EEG Cz-Ref|EEG Pz-Ref|POL E|EEG A2-Ref|EEG A1-Ref|POL X1|POL $A2|POL $A1",
        n_eeg: 21,
        n_placed: 19,
        n_pairs: (18, 16),
        references: [true, true, false],
    },
    LabelSet {
        from: "Nihon Kohden, hospital, T7 to P10 and oximeter",
        labels: "EEG Fp1-Ref|EEG Fp2-Ref|EEG F3-Ref|EEG F4-Ref|EEG C3-Ref|EEG C4-Ref|EEG P3-Ref|EEG P4-Ref|EEG O1-Ref|EEG O2-Ref|EEG F7-Ref|EEG F8-Ref|EEG T7-Ref|EEG T8-Ref|EEG P7-Ref|EEG P8-Ref|EEG Fz-Ref|EEG Cz-Ref|EEG Pz-Ref|POL E|POL PG1|POL PG2|EEG A1-Ref|EEG A2-Ref|POL T1|POL T2|ECG ECG1|ECG ECG2|EEG F9-Ref|EEG T9-Ref|EEG P9-Ref|EEG F10-Ref|EEG T10-Ref|EEG P10-Ref|SaO2 X9|SaO2 X10|POL DC01|POL DC02|POL DC03|POL DC04|POL $A1|POL $A2",
        n_eeg: 31,
        n_placed: 27,
        n_pairs: (18, 16),
        references: [true, true, false],
    },
    LabelSet {
        from: "Persyst, invasive monitoring",
        labels: "Fp1-Ref|Fp2-Ref|F3-Ref|F4-Ref|C3-Ref|C4-Ref|P3-Ref|P4-Ref|O1-Ref|O2-Ref|F7-Ref|F8-Ref|T7-Ref|T8-Ref|P7-Ref|P8-Ref|Fz-Ref|Cz-Ref|Pz-Ref|POL E-Ref|POL NR1-Ref|POL NR2-Ref|TP9-Ref|TP10-Ref|FT9-Ref|FT10-Ref|POL X1-Ref|POL X2-Ref|POL DC01-Ref|POL DC02-Ref|POL BN1-Ref|POL $TP9-Ref|POL $TP10-Ref|POL EKG1-Ref|POL EKG2-Ref|POL PAT-Ref|POL TECH-Ref|POL BP3-Ref|POL BP4-Ref",
        // The four others are named as contacts are.
        n_eeg: 27,
        n_placed: 23,
        n_pairs: (18, 14),
        references: [true, false, true],
    },
    LabelSet {
        from: "grid, A to I",
        labels: "A1…A16|B1…B16|C1…C16|D1…D16|E1…E16|F1…F16|G1…G16|H1…H16|I1…I8|Ergo-Left|Ergo-Right|Status",
        n_eeg: 136,
        n_placed: 0,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "EDF with stimuli",
        labels: "EEG Fp1|EEG Fp2|EEG F7|EEG F3|EEG Fz|EEG F4|EEG F8|EEG T3|EEG C3|EEG Cz|EEG C4|EEG T4|EEG T5|EEG P3|EEG Pz|EEG P4|EEG T6|EEG O1|EEG O2|EOG VEOG_I|EOG VEOG_II|REF_EEG REF_EEG|ECG ECG1|ECG ECG2|DIG DTRIG",
        n_eeg: 20,
        n_placed: 19,
        n_pairs: (18, 14),
        references: [true, false, false],
    },
    LabelSet {
        from: "BioSemi 64 with external electrodes",
        labels: "Fp1|AF7|AF3|F1|F3|F5|F7|FT7|FC5|FC3|FC1|C1|C3|C5|T7|TP7|CP5|CP3|CP1|P1|P3|P5|P7|P9|PO7|PO3|O1|Iz|Oz|POz|Pz|CPz|Fpz|Fp2|AF8|AF4|AFz|Fz|F2|F4|F6|F8|FT8|FC6|FC4|FC2|FCz|Cz|C2|C4|C6|T8|TP8|CP6|CP4|CP2|P2|P4|P6|P8|P10|PO8|PO4|O2|EXG1|REOG|LEOG|IEOG|EXG5|M2|M1|EXG8|Status",
        n_eeg: 66,
        n_placed: 64,
        n_pairs: (18, 14),
        references: [true, false, true],
    },
    LabelSet {
        from: "PhysioNet motor imagery",
        labels: "Fc5.|Fc3.|Fc1.|Fcz.|Fc2.|Fc4.|Fc6.|C5..|C3..|C1..|Cz..|C2..|C4..|C6..|Cp5.|Cp3.|Cp1.|Cpz.|Cp2.|Cp4.|Cp6.|Fp1.|Fpz.|Fp2.|Af7.|Af3.|Afz.|Af4.|Af8.|F7..|F5..|F3..|F1..|Fz..|F2..|F4..|F6..|F8..|Ft7.|Ft8.|T7..|T8..|T9..|T10.|Tp7.|Tp8.|P7..|P5..|P3..|P1..|Pz..|P2..|P4..|P6..|P8..|Po7.|Po3.|Poz.|Po4.|Po8.|O1..|Oz..|O2..|Iz..",
        n_eeg: 64,
        n_placed: 64,
        n_pairs: (18, 14),
        references: [true, false, false],
    },
    LabelSet {
        from: "EEGLAB tutorial",
        labels: "FPz|EOG1|F3|Fz|F4|EOG2|FC5|FC1|FC2|FC6|T7|C3|C4|Cz|T8|CP5|CP1|CP2|CP6|P7|P3|Pz|P4|P8|PO7|PO3|POz|PO4|PO8|O1|Oz|O2",
        n_eeg: 30,
        n_placed: 30,
        n_pairs: (12, 11),
        references: [true, false, false],
    },
    LabelSet {
        from: "BrainVision",
        labels: "FP1|FP2|F3|F4|C3|C4|P3|P4|O1|O2|F7|F8|P7|P8|Fz|FCz|Cz|CPz|Pz|POz|FC1|FC2|CP1|CP2|FC5|FC6|CP5|CP6|HL|HR|Vb|ReRef",
        n_eeg: 28,
        n_placed: 28,
        n_pairs: (14, 12),
        references: [true, false, false],
    },
    LabelSet {
        from: "BrainVision, one ear and eyes",
        labels: "F7|F3|Fz|F4|F8|FT7|FC5|FCz|FC6|FT8|Cz|C3|CP5|CPz|CP6|C4|P7|P3|Pz|P4|P8|POz|O1|O2|A2|VEOGo|VEOGu|HEOGli|HEOGre",
        n_eeg: 25,
        n_placed: 24,
        n_pairs: (10, 11),
        references: [true, false, false],
    },
    LabelSet {
        from: "BrainVision, a space in a name",
        labels: "FP1|FP2|F3|F4|C3|C4|P3|P4|O1|O2|F7|F8|P7|P8|Fz|FCz|Cz|CPz|Pz|POz|FC1|FC2|CP1|CP2|FC5|FC6|CP5|CP 6|ECG|HEOG|VEOG|ReRef",
        n_eeg: 27,
        n_placed: 27,
        n_pairs: (14, 12),
        references: [true, false, false],
    },
    LabelSet {
        from: "flicker interface",
        labels: "Oz|O1|O2|PO3|POz|PO7|PO8|PO4",
        n_eeg: 8,
        n_placed: 8,
        n_pairs: (0, 1),
        references: [false; 3],
    },
    LabelSet {
        from: "BioSemi, three channels",
        labels: "C3|C4|Cz|Status",
        n_eeg: 3,
        n_placed: 3,
        n_pairs: (0, 2),
        references: [true, false, false],
    },
    LabelSet {
        from: "CHB-MIT, bipolar as recorded",
        labels: "FP1-F7|F7-T7|T7-P7|P7-O1|FP1-F3|F3-C3|C3-P3|P3-O1|FP2-F4|F4-C4|C4-P4|P4-O2|FP2-F8|F8-T8|T8-P8-0|P8-O2|FZ-CZ|CZ-PZ|P7-T7|T7-FT9|FT9-FT10|FT10-T8|T8-P8-1",
        n_eeg: 23,
        n_placed: 0,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "Sleep-EDF",
        labels: "EEG Fpz-Cz|EEG Pz-Oz|EOG horizontal|Resp oro-nasal|EMG submental|Temp rectal|Event marker",
        n_eeg: 2,
        n_placed: 0,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "BCI competition IV 2a, most names missing",
        labels: "EEG-Fz|EEG-0|EEG-1|EEG-2|EEG-3|EEG-4|EEG-5|EEG-C3|EEG-6|EEG-Cz|EEG-7|EEG-C4|EEG-8|EEG-9|EEG-10|EEG-11|EEG-12|EEG-13|EEG-Pz|EEG-14|EEG-15|EEG-16|EOG-left|EOG-central|EOG-right",
        n_eeg: 22,
        n_placed: 5,
        n_pairs: (2, 2),
        references: [true, false, false],
    },
    LabelSet {
        from: "Siena scalp EEG",
        labels: "EEG Fp1|EEG F3|EEG C3|EEG P3|EEG O1|EEG F7|EEG T3|EEG T5|EEG Fc1|EEG Fc5|EEG Cp1|EEG Cp5|EEG F9|EEG Fz|EEG Cz|EEG Pz|EEG Fp2|EEG F4|EEG C4|EEG P4|EEG O2|EEG F8|EEG T4|EEG T6|EEG Fc2|EEG Fc6|EEG Cp2|EEG Cp6|EEG F10|EKG EKG|SPO2|HR|1|2|MK",
        n_eeg: 29,
        n_placed: 29,
        n_pairs: (18, 14),
        references: [true, false, false],
    },
    LabelSet {
        from: "Helsinki, newborns",
        labels: "EEG Fp1-Ref|EEG Fp2-Ref|EEG F3-Ref|EEG F4-Ref|EEG C3-Ref|EEG C4-Ref|EEG P3-Ref|EEG P4-Ref|EEG O1-Ref|EEG O2-Ref|EEG F7-Ref|EEG F8-Ref|EEG T3-Ref|EEG T4-Ref|EEG T5-Ref|EEG T6-Ref|EEG Fz-Ref|EEG Cz-Ref|EEG Pz-Ref|ECG EKG-REF|Resp Effort-REF",
        n_eeg: 19,
        n_placed: 19,
        n_pairs: (18, 14),
        references: [true, false, false],
    },
    LabelSet {
        from: "Temple University hospital",
        labels: "EEG FP1-REF|EEG FP2-REF|EEG F3-REF|EEG F4-REF|EEG C3-REF|EEG C4-REF|EEG P3-REF|EEG P4-REF|EEG O1-REF|EEG O2-REF|EEG F7-REF|EEG F8-REF|EEG T3-REF|EEG T4-REF|EEG T5-REF|EEG T6-REF|EEG A1-REF|EEG A2-REF|EEG FZ-REF|EEG CZ-REF|EEG PZ-REF|EEG ROC-REF|EEG LOC-REF|EEG EKG1-REF|EEG T1-REF|EEG T2-REF|PHOTIC-REF|IBI|BURSTS|SUPPR",
        n_eeg: 23,
        n_placed: 21,
        n_pairs: (18, 16),
        references: [true, true, false],
    },
    LabelSet {
        from: "ISRUC sleep, against the ears",
        labels: "LOC-A2|ROC-A1|F3-A2|C3-A2|O1-A2|F4-A1|C4-A1|O2-A1|X1|X2|X3|X4|X5|X6|DC3|X7|X8|SaO2|DC8",
        n_eeg: 6,
        n_placed: 6,
        // O1 and O2 were recorded against different ears: their difference is not that of the channels.
        n_pairs: (2, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "Sleep Heart Health Study",
        labels: "SaO2|H.R.|EEG(sec)|ECG|EMG|EOG(L)|EOG(R)|EEG|SOUND|AIRFLOW|THOR RES|ABDO RES|POSITION|LIGHT|NEW AIR|OX stat",
        n_eeg: 2,
        n_placed: 0,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "CAP sleep",
        labels: "ROC-LOC|LOC-ROC|F2-F4|F4-C4|C4-P4|P4-O2|F1-F3|F3-C3|C3-P3|P3-O1|C4-A1|EMG1-EMG2|ECG1-ECG2|TERMISTORE|TORACE|ADDOME|Dx1-DX2|SX1-SX2|Posizione|HR|SpO2",
        // The legs, right and left, are named as contacts are.
        n_eeg: 11,
        n_placed: 1,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "EGI net of 128",
        labels: "E1…E129",
        n_eeg: 129,
        n_placed: 0,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "BioSemi 128 by letters",
        labels: "A1…A32|B1…B32|C1…C32|D1…D32|EXG1…EXG8|GSR1|GSR2|Erg1|Erg2|Resp|Plet|Temp|Status",
        n_eeg: 128,
        n_placed: 0,
        n_pairs: (0, 0),
        references: [false; 3],
    },
    LabelSet {
        from: "consumer headset",
        labels: "COUNTER|INTERPOLATED|AF3|F7|F3|FC5|T7|P7|O1|O2|P8|T8|FC6|F4|F8|AF4|RAW_CQ|GYROX|GYROY",
        n_eeg: 14,
        n_placed: 14,
        n_pairs: (6, 3),
        references: [false; 3],
    },
];

fn labels_of(set: &LabelSet) -> Vec<String> {
    let mut labels = Vec::new();
    for label in set.labels.split('|') {
        match label.split_once('…') {
            Some((first, last)) => {
                let letters = first.trim_end_matches('1');
                let n: usize = last[letters.len()..].parse().expect("a number");
                labels.extend((1..=n).map(|number| format!("{letters}{number}")));
            }
            None => labels.push(label.to_owned()),
        }
    }
    labels
}

#[test]
fn labels_of_real_recordings_are_taken_for_what_they_are() {
    for set in SETS {
        let from = set.from;
        let labels = labels_of(set);
        let kinds: Vec<SignalKind> = labels
            .iter()
            .map(|label| kind_of(&Channel::analog(label, Unit::parse("uV"), Some(256.0), 0)))
            .collect();
        let is_eeg = |place: &usize| kinds[*place] == SignalKind::Eeg;
        let eeg: Vec<usize> = (0..labels.len()).filter(is_eeg).collect();
        let names: Vec<&str> = eeg.iter().map(|place| labels[*place].as_str()).collect();
        assert_eq!(eeg.len(), set.n_eeg, "{from}: {names:?}");
        let scalp = Scalp::of(&labels);
        let placed = (0..labels.len()).filter(|place| scalp.position(*place).is_some());
        let placed: Vec<&str> = placed.map(|place| labels[place].as_str()).collect();
        assert_eq!(placed.len(), set.n_placed, "{from}: {placed:?}");
        let channels: Vec<MontageChannel<'_>> = labels
            .iter()
            .zip(&kinds)
            .map(|(name, kind)| MontageChannel {
                name,
                is_bad: false,
                is_common: *kind == SignalKind::Eeg,
                own_position: None,
            })
            .collect();
        let n_pairs = |montage: Montage| {
            let traces = montage.derive(&channels).expect("needs no reference");
            let pairs = traces.iter().filter(|trace| trace.terms.len() == 2);
            let names: Vec<&str> = pairs.map(|trace| trace.name.as_str()).collect();
            println!("{from}: {names:?}");
            names.len()
        };
        let pairs = (
            n_pairs(Montage::LongitudinalBipolar),
            n_pairs(Montage::TransverseBipolar),
        );
        assert_eq!(pairs, set.n_pairs, "{from}");
        let montages = [
            Montage::Vertex,
            Montage::LinkedEars,
            Montage::LinkedMastoids,
        ];
        let references = montages.map(|montage| montage.derive(&channels).is_ok());
        assert_eq!(references, set.references, "{from}");
        // Nothing is lost and nothing invented: what is no electrode follows as recorded.
        let average = Montage::AverageReference.derive(&channels);
        let average = average.expect("needs no reference");
        assert_eq!(average.len(), labels.len(), "{from}");
    }
}
