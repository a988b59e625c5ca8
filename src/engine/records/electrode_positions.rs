//! Positions of electrodes from files: .sfp, .elc, .elp (BESA), .loc and .locs (EEGLAB), BIDS electrodes.tsv.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::text::quoted;
use super::{FilePlace, Findings, Input, Mode, ReadError, text_encoding};

/// Most electrodes of a file.
const MAX_ELECTRODES: usize = 10_000;

/// An electrode on the unit disc seen from above, nose up: x to the right, y to the front, the rim at the height of
/// nasion and ears.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedElectrode {
    /// Its name in the file.
    pub name: String,
    /// To the right.
    pub x: f64,
    /// To the front.
    pub y: f64,
}

impl PlacedElectrode {
    /// The place of the electrode called so, whatever the case; of several the first counts.
    pub fn place_of(all: &[Self], name: &str) -> Option<(f64, f64)> {
        let is_it = |own: &&Self| own.name.eq_ignore_ascii_case(name);
        let found = all.iter().find(is_it)?;
        (found.x.is_finite() && found.y.is_finite()).then_some((found.x, found.y))
    }
}

/// Reads a file of electrode positions.
pub fn open(path: &Path) -> Result<Vec<PlacedElectrode>, ReadError> {
    read(&Input::open(path)?)
}

/// Reads positions from a file or from bytes; the ending tells the format.
pub fn read(input: &Input) -> Result<Vec<PlacedElectrode>, ReadError> {
    let findings = Findings::new(input.path(), Mode::Tolerant);
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    let lines = || {
        let numbered = decoded.text.lines().enumerate();
        let numbered = numbered.map(|(k, line)| (k + 1, line.trim()));
        numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '%']))
    };
    let placed = match input.extension().as_str() {
        "sfp" => each(lines(), &findings, |words| match words[..] {
            [name, x, y, z] => cartesian(name, [x, y, z]),
            _ => None,
        })
        .map(on_disc)?,
        "elc" => on_disc(asa(lines(), &findings)?),
        "elp" => each(lines(), &findings, besa)?,
        "loc" | "locs" => each(lines(), &findings, eeglab)?,
        "tsv" => on_disc(bids(lines(), &findings)?),
        other => {
            let expected = ".sfp, .elc, .elp, .loc, .locs or electrodes.tsv";
            return Err(findings.refusal(FilePlace::File, "ending", quoted(other), expected));
        }
    };
    if placed.is_empty() {
        let expected = "a name and a position in each line";
        return Err(findings.refusal(FilePlace::File, "electrodes", "none", expected));
    }
    Ok(placed)
}

/// A name and where it is in space.
type InSpace = (String, [f64; 3]);

fn each<'a, T>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    findings: &Findings,
    parse: impl Fn(Vec<&'a str>) -> Option<T>,
) -> Result<Vec<T>, ReadError> {
    lines
        .take(MAX_ELECTRODES)
        .map(|(number, line)| {
            parse(line.split_whitespace().collect()).ok_or_else(|| {
                let expected = "a name and numbers";
                findings.refusal(FilePlace::Line(number), "electrode", quoted(line), expected)
            })
        })
        .collect()
}

fn number(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(number)
}

fn cartesian(name: &str, [x, y, z]: [&str; 3]) -> Option<InSpace> {
    Some((name.to_owned(), [number(x)?, number(y)?, number(z)?]))
}

/// `Positions` with `name : x y z` lines, or numbers alone whose names follow under `Labels`.
fn asa<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    findings: &Findings,
) -> Result<Vec<InSpace>, ReadError> {
    let (mut places, mut names): (Vec<[f64; 3]>, Vec<String>) = (Vec::new(), Vec::new());
    let mut section = "";
    for (line_number, line) in lines.take(2 * MAX_ELECTRODES) {
        match line.to_lowercase().as_str() {
            "positions" => section = "positions",
            "labels" => section = "labels",
            start if start.starts_with("unit") || start.contains('=') => section = "",
            _ if section == "positions" => {
                let (name, numbers) = line.split_once(':').unwrap_or(("", line));
                let words: Vec<&str> = numbers.split_whitespace().collect();
                let place = match words[..] {
                    [x, y, z] => cartesian(name.trim(), [x, y, z]),
                    _ => None,
                };
                let Some((name, place)) = place else {
                    let expected = "three numbers";
                    let place = FilePlace::Line(line_number);
                    return Err(findings.refusal(place, "position", quoted(line), expected));
                };
                places.push(place);
                if !name.is_empty() {
                    names.push(name);
                }
            }
            _ if section == "labels" && names.len() < places.len() => {
                names.extend(line.split_whitespace().map(str::to_owned));
            }
            _ => {}
        }
    }
    if names.len() != places.len() {
        let found = format!("{} for {} positions", names.len(), places.len());
        return Err(findings.refusal(FilePlace::File, "labels", found, "one for each position"));
    }
    Ok(names.into_iter().zip(places).collect())
}

/// `name inclination azimuth`, inclination negative to the left, with or without a type before.
fn besa(words: Vec<&str>) -> Option<PlacedElectrode> {
    let (name, inclination, azimuth) = match words[..] {
        [name, inclination, azimuth] => (name, inclination, azimuth),
        [_, name, inclination, azimuth] => (name, inclination, azimuth),
        _ => return None,
    };
    let (inclination, azimuth) = (number(inclination)?, number(azimuth)?.to_radians());
    let radius = inclination / 90.0;
    Some(PlacedElectrode {
        name: name.to_owned(),
        x: radius * azimuth.cos(),
        y: radius * azimuth.sin(),
    })
}

/// `number angle radius name`: the angle from the nose to the right, 0.5 being the rim.
fn eeglab(words: Vec<&str>) -> Option<PlacedElectrode> {
    let [_, angle, radius, name] = words[..] else {
        return None;
    };
    let (angle, radius) = (number(angle)?.to_radians(), 2.0 * number(radius)?);
    Some(PlacedElectrode {
        name: name.trim_end_matches('.').to_owned(),
        x: radius * angle.sin(),
        y: radius * angle.cos(),
    })
}

/// `name`, `x`, `y`, `z` columns; electrodes without a position (`n/a`) are left out.
fn bids<'a>(
    mut lines: impl Iterator<Item = (usize, &'a str)>,
    findings: &Findings,
) -> Result<Vec<InSpace>, ReadError> {
    let header = lines.next().map_or("", |(_, line)| line);
    let place = |name: &str| {
        header
            .split('\t')
            .position(|own| own.eq_ignore_ascii_case(name))
    };
    let (Some(name), Some(x), Some(y), Some(z)) =
        (place("name"), place("x"), place("y"), place("z"))
    else {
        let expected = "the columns name, x, y, z";
        return Err(findings.refusal(FilePlace::Line(1), "header", quoted(header), expected));
    };
    let rows = lines.take(MAX_ELECTRODES).filter_map(|(_, line)| {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        let field = |place: usize| fields.get(place).copied();
        cartesian(field(name)?, [field(x)?, field(y)?, field(z)?])
    });
    Ok(rows.collect())
}

/// From space (x to the right, y to the front, z up) to the disc: the angle from the top becomes the radius. The head is
/// the sphere that fits the electrodes best, or lies at the origin where they are too few to tell.
fn on_disc(electrodes: Vec<InSpace>) -> Vec<PlacedElectrode> {
    let centre = sphere_centre(&electrodes);
    let place = |(name, at): InSpace| {
        let [x, y, z] = std::array::from_fn(|k| at[k] - centre[k]);
        let across = x.hypot(y);
        let radius = across.atan2(z) / std::f64::consts::FRAC_PI_2;
        let scale = if across > 0.0 { radius / across } else { 0.0 };
        PlacedElectrode {
            name,
            x: x * scale,
            y: y * scale,
        }
    };
    electrodes.into_iter().map(place).collect()
}

/// Least squares of |p|² = 2 c·p + k over all electrodes; the origin if that has no sensible answer.
fn sphere_centre(electrodes: &[InSpace]) -> [f64; 3] {
    const FEWEST: usize = 8;
    if electrodes.len() < FEWEST {
        return [0.0; 3];
    }
    let mut system = [[0.0; 5]; 4];
    for (_, [x, y, z]) in electrodes {
        let row = [2.0 * x, 2.0 * y, 2.0 * z, 1.0, x * x + y * y + z * z];
        for i in 0..4 {
            for j in 0..5 {
                system[i][j] += row[i] * row[j];
            }
        }
    }
    for i in 0..4 {
        let pivot = (i..4).max_by(|a, b| system[*a][i].abs().total_cmp(&system[*b][i].abs()));
        system.swap(i, pivot.unwrap_or(i));
        if system[i][i].abs() < 1e-12 {
            return [0.0; 3];
        }
        for row in 0..4 {
            if row != i {
                let factor = system[row][i] / system[i][i];
                let used = system[i];
                system[row]
                    .iter_mut()
                    .zip(used)
                    .for_each(|(v, u)| *v -= factor * u);
            }
        }
    }
    let centre = std::array::from_fn(|k| system[k][4] / system[k][k]);
    if centre.iter().all(|c: &f64| c.is_finite()) {
        centre
    } else {
        [0.0; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(name: &str, text: &str) -> Vec<PlacedElectrode> {
        read(&Input::from_bytes(name, text)).expect("readable")
    }

    #[track_caller]
    fn near(found: &PlacedElectrode, name: &str, x: f64, y: f64) {
        assert_eq!(found.name, name);
        let is_near = (found.x - x).abs() < 0.02 && (found.y - y).abs() < 0.02;
        assert!(is_near, "{found:?}, not {x}, {y}");
    }

    #[test]
    fn every_format_puts_electrodes_where_they_are() {
        // Cz on top, T8 at 90 degrees to the right, Fp1 in front to the left.
        let found = placed("a.sfp", "Cz 0 0 9.5\nT8 9.5 0 0\nFpz 0 9.0 2.9\n");
        near(&found[0], "Cz", 0.0, 0.0);
        near(&found[1], "T8", 1.0, 0.0);
        near(&found[2], "Fpz", 0.0, 0.8);
        let found = placed("a.elp", "Fp1 -92 -72\nEEG Cz 0 0\nT8 92 0\n");
        near(&found[0], "Fp1", -0.316, 0.972);
        near(&found[1], "Cz", 0.0, 0.0);
        near(&found[2], "T8", 1.022, 0.0);
        let found = placed("a.locs", "1 -18 0.511 Fp1.\n2 90 0.256 C4\n");
        near(&found[0], "Fp1", -0.316, 0.972);
        near(&found[1], "C4", 0.512, 0.0);
        let text = "# ASA\nUnitPosition mm\nPositions\nCz : 0 0 90\nT7 : -90 0 0\nLabels\nCz\nT7\n";
        near(&placed("a.elc", text)[1], "T7", -1.0, 0.0);
        let text = "UnitPosition mm\nPositions\n0 0 90\n-90 0 0\nLabels\nCz T7\n";
        near(&placed("a.elc", text)[1], "T7", -1.0, 0.0);
        let text = "name\tx\ty\tz\timpedance\nCz\t0\t0\t0.09\t5\nO1\tn/a\tn/a\tn/a\t5\nT8\t0.09\t0\t0\t5\n";
        let found = placed("sub-1_electrodes.tsv", text);
        assert_eq!(found.len(), 2);
        near(&found[1], "T8", 1.0, 0.0);
    }

    #[test]
    fn a_head_off_the_origin_is_found_and_nonsense_is_refused() {
        let ring = (0..12).map(|k| {
            let angle = f64::from(k) * std::f64::consts::PI / 6.0;
            format!(
                "E{k} {} {} 40\n",
                85.0 * angle.cos() + 5.0,
                85.0 * angle.sin()
            )
        });
        let text = format!("Top 5 0 125\n{}", ring.collect::<String>());
        let found = placed("a.sfp", &text);
        near(&found[0], "Top", 0.0, 0.0);
        near(&found[1], "E0", 1.0, 0.0);
        for (name, text) in [
            ("a.sfp", "Cz 0 0"),
            ("a.xyz", "Cz 0 0 0"),
            ("a.locs", ""),
            ("a.sfp", "Cz 0 nan 1"),
        ] {
            assert!(
                read(&Input::from_bytes(name, text)).is_err(),
                "{name}: {text}"
            );
        }
    }
}
