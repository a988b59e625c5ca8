//! Which channels of a fault record are VA VB VC IA IB IC: a guess from names, units and phase fields, to be corrected where it errs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::records::{Channel, ChannelKind, Quantity, Record};

/// The six quantities in the order of all fault features.
pub const PHASE_NAMES: [&str; 6] = ["VA", "VB", "VC", "IA", "IB", "IC"];

/// Channels named by hand; `None` leaves the place to the guess.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseChoice {
    /// Channel names in the order VA VB VC IA IB IC.
    pub channels: [Option<String>; 6],
    /// Whether currents count positive out of the line, so that their sign is turned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_reversed: bool,
}

/// Positions of the six channels in a record; `None` where none was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PhaseMap {
    /// Channel numbers in the order VA VB VC IA IB IC.
    pub channels: [Option<usize>; 6],
}

/// How the three phases are called, from the most to the least telling.
const SCHEMES: [[&str; 3]; 5] = [
    ["a", "b", "c"],
    ["l1", "l2", "l3"],
    ["r", "s", "t"],
    ["r", "y", "b"],
    ["1", "2", "3"],
];

/// Rank of a group found by the record's own phase fields: after plain A B C names, before all other schemes.
const PHASE_FIELD_RANK: usize = 1;

/// Letters of a name that are examined; the standard allows 128.
const MAX_NAME_LENGTH: usize = 128;

/// Words of channels that do not hold the waveform of a phase.
const OTHER_QUANTITIES: [&str; 13] = [
    "rms", "dc", "freq", "thd", "angle", "mag", "ref", "cnt", "mem", "dif", "restr", "stab", "bias",
];

/// Names of a neutral or residual quantity, after the letter of the quantity.
const NEUTRALS: [&str; 7] = ["n", "o", "0", "g", "e", "res", "sum"];

impl PhaseMap {
    /// The channels named by hand, the rest guessed. A name that the record does not have stays unmapped.
    pub fn of(record: &Record, choice: &PhaseChoice) -> Self {
        let mut map = Self::guess(&record.channels);
        for (place, name) in map.channels.iter_mut().zip(&choice.channels) {
            if let Some(name) = name {
                *place = record.channel_index(name);
            }
        }
        map
    }

    /// Guesses from names, units and phase fields.
    pub fn guess(channels: &[Channel]) -> Self {
        let voltages = groups(channels, Quantity::Voltage);
        let currents = groups(channels, Quantity::Current);
        let same_bay = voltages.iter().find_map(|v| {
            let i = currents.iter().find(|i| i.bay == v.bay)?;
            Some((v, i))
        });
        let (voltage, current) = match same_bay {
            Some((v, i)) => (Some(v), Some(i)),
            None => (voltages.first(), currents.first()),
        };
        let voltage = voltage.map(|group| group.channels);
        let current = current.map(|group| group.channels);
        let mut map = Self::default();
        let three = |found: Option<[usize; 3]>, quantity| {
            found
                .or_else(|| only_three(channels, quantity))
                .map_or([None; 3], |three| three.map(Some))
        };
        map.channels[..3].copy_from_slice(&three(voltage, Quantity::Voltage));
        map.channels[3..].copy_from_slice(&three(current, Quantity::Current));
        map
    }

    /// Names of the quantities without a channel.
    pub fn missing(&self) -> Vec<&'static str> {
        let pairs = PHASE_NAMES.iter().zip(&self.channels);
        pairs
            .filter(|(_, channel)| channel.is_none())
            .map(|(name, _)| *name)
            .collect()
    }

    /// All six channels, if they were found.
    pub fn complete(&self) -> Option<[usize; 6]> {
        let mut all = [0; 6];
        for (place, channel) in all.iter_mut().zip(&self.channels) {
            *place = (*channel)?;
        }
        Some(all)
    }
}

/// Voltages and currents of one bay of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bay {
    /// What the names of its currents share; the circuit that the record names where they share nothing.
    pub name: String,
    /// Channel numbers in the order VA VB VC IA IB IC.
    pub channels: [usize; 6],
}

impl Bay {
    /// The bays of a record, the likeliest first: every set of currents with the voltages of its own name, else with
    /// the first ones.
    pub fn all(channels: &[Channel]) -> Vec<Self> {
        let first = PhaseMap::guess(channels).complete();
        let voltages = groups(channels, Quantity::Voltage);
        let mut bays: Vec<Self> = Vec::new();
        let mut add = |[a, b, c, d, e, f]: [usize; 6]| {
            let currents = [d, e, f];
            let is_new = bays.iter().all(|bay| {
                currents
                    .iter()
                    .all(|channel| !bay.channels[3..].contains(channel))
            });
            if is_new {
                bays.push(Self {
                    name: bay_name(channels, currents),
                    channels: [a, b, c, d, e, f],
                });
            }
        };
        first.map(&mut add);
        for current in groups(channels, Quantity::Current) {
            let own = voltages.iter().find(|voltage| voltage.bay == current.bay);
            let voltage = own.map(|voltage| voltage.channels);
            let voltage = voltage.or(first.map(|[a, b, c, ..]| [a, b, c]));
            if let Some([a, b, c]) = voltage {
                let [d, e, f] = current.channels;
                add([a, b, c, d, e, f]);
            }
        }
        bays
    }

    /// The bay of six channels that were chosen.
    pub fn of(channels: &[Channel], chosen: [usize; 6]) -> Self {
        let [.., a, b, c] = chosen;
        Self {
            name: bay_name(channels, [a, b, c]),
            channels: chosen,
        }
    }
}

/// What is left of the names of three currents without the phase and the letter of the quantity.
fn bay_name(channels: &[Channel], [a, b, _]: [usize; 3]) -> String {
    let name = |index: usize| {
        channels
            .get(index)
            .map_or("", |channel| channel.name.as_str())
    };
    let differs = name(a)
        .chars()
        .zip(name(b).chars())
        .position(|(x, y)| x != y);
    let kept: String = match differs {
        Some(at) => {
            let letters = name(a).chars().enumerate();
            letters
                .filter(|(k, _)| *k != at)
                .map(|(_, letter)| letter)
                .collect()
        }
        None => name(a).to_owned(),
    };
    let kept = kept.strip_prefix(['I', 'i']).unwrap_or(&kept);
    let kept = kept.trim_matches(|c: char| !c.is_alphanumeric());
    if kept.chars().any(char::is_alphanumeric) {
        return kept.to_owned();
    }
    let circuit = channels.get(a).and_then(|channel| channel.grid.as_ref());
    let circuit = circuit.map(|grid| grid.circuit.trim()).unwrap_or_default();
    if circuit.is_empty() {
        "1".to_owned()
    } else {
        circuit.to_owned()
    }
}

/// Three channels of one quantity, one for each phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSet {
    /// Voltage or current.
    pub quantity: Quantity,
    /// Channel numbers in the order A B C.
    pub channels: [usize; 3],
}

impl PhaseSet {
    /// Every three-phase set of a record, each channel in one set: those of `map` first, then what names, units and
    /// phase fields tell of other bays.
    pub fn all(channels: &[Channel], map: &PhaseMap) -> Vec<Self> {
        let mut sets: Vec<Self> = Vec::new();
        let mut add = |quantity, three: [usize; 3]| {
            let is_free = |channel| sets.iter().all(|set| !set.channels.contains(channel));
            if three.iter().all(is_free) {
                sets.push(Self {
                    quantity,
                    channels: three,
                });
            }
        };
        let quantities = [Quantity::Voltage, Quantity::Current];
        for (quantity, places) in quantities.into_iter().zip(map.channels.chunks(3)) {
            if let [Some(a), Some(b), Some(c)] = *places {
                add(quantity, [a, b, c]);
            }
        }
        for quantity in quantities {
            for group in groups(channels, quantity) {
                add(quantity, group.channels);
            }
        }
        sets
    }
}

/// Three channels that differ by the phase alone.
struct PhaseTriple {
    /// What their names share, without phase and without the letter of the quantity.
    bay: String,
    channels: [usize; 3],
    rank: usize,
}

/// All complete groups of one quantity, the likeliest first.
fn groups(channels: &[Channel], quantity: Quantity) -> Vec<PhaseTriple> {
    let mut found: BTreeMap<(usize, String), [Option<usize>; 3]> = BTreeMap::new();
    for (index, channel) in channels.iter().enumerate() {
        let name = folded(&channel.name);
        if quantity_of(channel, &name) != Some(quantity) {
            continue;
        }
        for (rank, phase, bay) in readings(channel, &name) {
            let group = found.entry((rank, bay)).or_default();
            group[phase].get_or_insert(index);
        }
    }
    let mut complete: Vec<PhaseTriple> = found
        .into_iter()
        .filter_map(|((rank, bay), [a, b, c])| {
            let channels = [a?, b?, c?];
            Some(PhaseTriple {
                bay,
                channels,
                rank,
            })
        })
        .collect();
    complete.sort_by_key(|group| (group.rank, group.channels));
    complete
}

/// Every way to read a name as "phase p of bay b": (rank of the naming scheme, phase, bay).
fn readings(channel: &Channel, name: &str) -> Vec<(usize, usize, String)> {
    let mut readings = Vec::new();
    if let Some(grid) = &channel.grid {
        let field = folded(&grid.phase);
        let field = field.trim_end_matches(['n', 'g', 'e', '-', ' ']);
        if let Some(phase) = SCHEMES[..3]
            .iter()
            .chain(&SCHEMES[4..])
            .find_map(|scheme| scheme.iter().position(|letter| *letter == field))
        {
            let bay = format!("circuit {}", folded(&grid.circuit));
            readings.push((PHASE_FIELD_RANK, phase, bay));
        }
    }
    for (scheme_rank, scheme) in SCHEMES.iter().enumerate() {
        let rank = if scheme_rank == 0 {
            0
        } else {
            scheme_rank + PHASE_FIELD_RANK
        };
        for (phase, letter) in scheme.iter().enumerate() {
            for (at, _) in name.match_indices(letter) {
                let (before, after) = (&name[..at], &name[at + letter.len()..]);
                readings.push((rank, phase, bay(before, after)));
            }
            readings.extend(word_reading(name, letter).map(|bay| (rank, phase, bay)));
        }
    }
    readings
}

/// The bay of a name that says its phase in several words: "bus a, line a" is phase a of "bus *, line *".
fn word_reading(name: &str, letter: &str) -> Option<String> {
    let mut n_words = 0;
    let words = name.split_inclusive(|c: char| !c.is_alphanumeric());
    let replaced: String = words
        .map(|word| match word.strip_prefix(letter) {
            Some(rest) if !rest.starts_with(char::is_alphanumeric) => {
                n_words += 1;
                format!("*{rest}")
            }
            _ => word.to_owned(),
        })
        .collect();
    (n_words > 1).then_some(replaced)
}

/// The name around the phase, without the letter of the quantity that leads it or stands alone before the phase, so that
/// voltages and currents of one bay agree: `va_bay1` and `ia_bay1`, `bay1 va` and `bay1 ia`.
fn bay(before: &str, after: &str) -> String {
    let letter = ['v', 'u', 'i'];
    let before = before.strip_prefix(letter).unwrap_or(before);
    let own_word = before
        .strip_suffix(letter)
        .filter(|rest| rest.ends_with(|c: char| !c.is_alphanumeric()));
    let before = own_word.unwrap_or(before);
    format!("{before}*{after}")
}

/// Lower case without unit in brackets; Cyrillic letters that look Latin become Latin.
fn folded(name: &str) -> String {
    let without_unit = match name.find('(') {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    };
    without_unit
        .trim()
        .chars()
        .take(MAX_NAME_LENGTH)
        .flat_map(char::to_lowercase)
        .map(|letter| match letter {
            '\u{430}' => 'a',
            '\u{432}' => 'b',
            '\u{441}' => 'c',
            '\u{456}' => 'i',
            other => other,
        })
        .collect()
}

/// Voltage or current, by unit; without a known unit by the first letter.
fn quantity_of(channel: &Channel, name: &str) -> Option<Quantity> {
    let waveform =
        !OTHER_QUANTITIES.iter().any(|word| name.contains(word)) && !is_between_phases(name);
    if channel.kind != ChannelKind::Analog || !waveform {
        return None;
    }
    match channel.unit.quantity {
        Some(Quantity::Other) => None,
        Some(quantity) => Some(quantity),
        None if name.starts_with(['v', 'u']) => Some(Quantity::Voltage),
        None if name.starts_with('i') => Some(Quantity::Current),
        None => None,
    }
}

/// Whether a word of a name, after the letter of the quantity, is a pair of phases in either order: `vab`, `u21`, `ul1l2`,
/// `u_ab`, `bus vca`. A pair alone counts if it follows that letter as a word of its own.
fn is_between_phases(name: &str) -> bool {
    let is_pair = |text: &str| {
        SCHEMES.iter().any(|scheme| {
            let pairs = scheme.iter().flat_map(|a| scheme.map(|b| (*a, b)));
            pairs.filter(|(a, b)| a != b).any(|(a, b)| {
                let after = text.strip_prefix(a);
                let after = after.map(|after| after.trim_start_matches(['-', '_', '/']));
                let after = after.and_then(|after| after.strip_prefix(b));
                after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
            })
        })
    };
    let mut starts = name.match_indices(['v', 'u']).map(|(at, _)| at);
    starts.any(|at| {
        let (before, after) = (&name[..at], &name[at + 1..]);
        let after = after.trim_start_matches(|c: char| !c.is_alphanumeric());
        !before.ends_with(char::is_alphanumeric) && is_pair(after)
    })
}

/// Whether a name is that of a neutral or residual quantity: `vo`, `u0`, `3u0`, `in`, `un`.
fn is_neutral(name: &str) -> bool {
    let name = name.strip_prefix('3').unwrap_or(name);
    let rest = name.strip_prefix(['v', 'u', 'i']);
    rest.is_some_and(|rest| NEUTRALS.contains(&rest.trim_start_matches(['_', '-', ' '])))
}

/// Three channels of a quantity and no fourth are its phases, in order.
fn only_three(channels: &[Channel], quantity: Quantity) -> Option<[usize; 3]> {
    let of_quantity: Vec<usize> = channels
        .iter()
        .enumerate()
        .filter(|(_, channel)| {
            let name = folded(&channel.name);
            quantity_of(channel, &name) == Some(quantity) && !is_neutral(&name)
        })
        .map(|(index, _)| index)
        .collect();
    of_quantity.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{GridChannel, Unit};

    fn channels(names_and_units: &[(&str, &str)]) -> Vec<Channel> {
        names_and_units
            .iter()
            .map(|(name, unit)| Channel::analog(*name, Unit::parse(unit), Some(1e4), 10))
            .collect()
    }

    fn guess(names_and_units: &[(&str, &str)]) -> Vec<String> {
        let channels = channels(names_and_units);
        let map = PhaseMap::guess(&channels);
        let name = |index: Option<usize>| match index {
            Some(index) => channels[index].name.clone(),
            None => "-".to_owned(),
        };
        map.channels.iter().map(|index| name(*index)).collect()
    }

    #[test]
    fn plain_names_are_found_in_any_order() {
        let found = guess(&[
            ("IC", "A"),
            ("IA", "A"),
            ("IB", "A"),
            ("IN", "A"),
            ("VB", "kV"),
            ("VA", "kV"),
            ("VC", "kV"),
        ]);
        assert_eq!(found, ["VA", "VB", "VC", "IA", "IB", "IC"]);
    }

    #[test]
    fn currents_come_from_the_bay_of_the_voltages() {
        let found = guess(&[
            ("IA_TF8", "A"),
            ("IB_TF8", "A"),
            ("IC_TF8", "A"),
            ("VA_GC1", "kV"),
            ("VB_GC1", "kV"),
            ("VC_GC1", "kV"),
            ("IA_GC1", "A"),
            ("IB_GC1", "A"),
            ("IC_GC1", "A"),
            ("VDC_G1", "V"),
            ("VDC_G2", "V"),
            ("VDC_G3", "V"),
        ]);
        let expected = ["VA_GC1", "VB_GC1", "VC_GC1", "IA_GC1", "IB_GC1", "IC_GC1"];
        assert_eq!(found, expected);
    }

    #[test]
    fn every_bay_is_a_set_of_its_own_and_no_channel_is_in_two() {
        let names = [
            ("IA_TF8", "A"),
            ("IB_TF8", "A"),
            ("IC_TF8", "A"),
            ("VA_GC1", "kV"),
            ("VB_GC1", "kV"),
            ("VC_GC1", "kV"),
            ("IA_GC1", "A"),
            ("IB_GC1", "A"),
            ("IC_GC1", "A"),
            ("IN_GC1", "A"),
        ];
        let channels = channels(&names);
        let sets = PhaseSet::all(&channels, &PhaseMap::guess(&channels));
        let found: Vec<[usize; 3]> = sets.iter().map(|set| set.channels).collect();
        assert_eq!(found, [[3, 4, 5], [6, 7, 8], [0, 1, 2]]);
        assert_eq!(sets[0].quantity, Quantity::Voltage);
    }

    #[test]
    fn phase_letters_inside_and_at_the_end_of_names_are_found() {
        let found = guess(&[
            ("IBURA1", "Amps"),
            ("IBURB1", "Amps"),
            ("IBURC1", "Amps"),
            ("Ua_SUB_A_VT2", ""),
            ("Ub_SUB_A_VT2", ""),
            ("Uc_SUB_A_VT2", ""),
        ]);
        let expected = [
            "Ua_SUB_A_VT2",
            "Ub_SUB_A_VT2",
            "Uc_SUB_A_VT2",
            "IBURA1",
            "IBURB1",
            "IBURC1",
        ];
        assert_eq!(found, expected);
        let found = guess(&[
            ("SBUS A          V-node", "V"),
            ("SBUS B          V-node", "V"),
            ("SBUS C          V-node", "V"),
            ("SBUS A 25   A I-branch", "A"),
            ("SBUS B 25   B I-branch", "A"),
            ("SBUS C 25   C I-branch", "A"),
            ("FAULTA        I-branch", "A"),
            ("FAULTB        I-branch", "A"),
            ("FAULTC        I-branch", "A"),
        ]);
        let expected = [
            "SBUS A          V-node",
            "SBUS B          V-node",
            "SBUS C          V-node",
            "SBUS A 25   A I-branch",
            "SBUS B 25   B I-branch",
            "SBUS C 25   C I-branch",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn numbered_and_lettered_schemes_are_found() {
        let numbered = guess(&[
            ("I1", "ampere"),
            ("I2", "ampere"),
            ("I3", "ampere"),
            ("I4", "ampere"),
            ("U1", "volt"),
            ("U2", "volt"),
            ("U3", "volt"),
            ("U4", "volt"),
        ]);
        assert_eq!(numbered, ["U1", "U2", "U3", "I1", "I2", "I3"]);
        let german = guess(&[
            ("UL1", "kV"),
            ("UL2", "kV"),
            ("UL3", "kV"),
            ("IL1", "A"),
            ("IL2", "A"),
            ("IL3", "A"),
        ]);
        assert_eq!(german, ["UL1", "UL2", "UL3", "IL1", "IL2", "IL3"]);
        let cyrillic = guess(&[("U\u{410}", "\u{432}"), ("U\u{412}", ""), ("U\u{421}", "")]);
        assert_eq!(cyrillic[..3], ["U\u{410}", "U\u{412}", "U\u{421}"]);
    }

    #[test]
    fn line_to_line_voltages_and_effective_values_are_no_phases() {
        let found = guess(&[
            ("VAB", "kV"),
            ("VBC", "kV"),
            ("IARMS", "A"),
            ("IBRMS", "A"),
            ("ICRMS", "A"),
        ]);
        assert_eq!(found, ["-"; 6]);
        let found = guess(&[
            ("U21", "V"),
            ("U32", "V"),
            ("Vo", "V"),
            ("Bus Vca", "V"),
            ("Bus V_ab", "V"),
            ("I1", "A"),
            ("I2", "A"),
            ("I3", "A"),
        ]);
        assert_eq!(found, ["-", "-", "-", "I1", "I2", "I3"]);
        let found = guess(&[("Ia", "A"), ("Ib", "A"), ("3I0", "A")]);
        assert_eq!(found, ["-"; 6]);
    }

    #[test]
    fn phase_fields_help_where_names_do_not() {
        let mut named = channels(&[
            ("Leitung", "A"),
            ("Leitung 2", "A"),
            ("Leitung 3", "A"),
            ("Summe", "A"),
        ]);
        for (channel, phase) in named.iter_mut().zip(["L1", "L2", "L3", "N"]) {
            channel.grid = Some(GridChannel {
                phase: phase.to_owned(),
                circuit: "Abzweig".to_owned(),
                primary: 1.0,
                secondary: 1.0,
                scaling: None,
                skew_s: 0.0,
            });
        }
        let map = PhaseMap::guess(&named);
        assert_eq!(map.channels[3..], [Some(0), Some(1), Some(2)]);
        assert_eq!(map.missing(), ["VA", "VB", "VC"]);
    }

    #[test]
    fn a_choice_by_hand_overrules_the_guess() {
        let data = ["VA", "VB", "VC", "IA", "IB", "IC", "spare"];
        let channels = data.map(|name| {
            let unit = Unit::parse(if name.starts_with('I') { "A" } else { "V" });
            (Channel::analog(name, unit, Some(1e4), 0), vec![0.0; 4])
        });
        let record = Record::in_memory(
            crate::records::Format::Simulated,
            crate::records::Kind::FaultRecord,
            "faults",
            channels.into(),
        );
        let mut choice = PhaseChoice::default();
        choice.channels[1] = Some("spare".to_owned());
        choice.channels[2] = Some("nowhere".to_owned());
        let map = PhaseMap::of(&record, &choice);
        assert_eq!(
            map.channels,
            [Some(0), Some(6), None, Some(3), Some(4), Some(5)]
        );
    }
}
