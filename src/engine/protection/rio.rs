//! Zones from RIO files, the text that distance relays and test sets exchange: `BEGIN TESTOBJECT … END`.
//!
//! Read are `DISTANCE` with `ZONE`s (`SHAPE` of `LINE` and `ARC`, `MHOSHAPE`), the loops they apply to and the residual
//! compensation. Scripts of XRIO are not evaluated.

use num_complex::Complex64;

use super::zones::{Shape, Zone, ZoneLoops};

/// Longest file that is read.
pub const MOST_BYTES: usize = 1 << 20;

/// Steps of an arc.
const ARC_STEPS: usize = 24;

/// Half the side of the square that half planes are cut from, as a multiple of the farthest point that they name.
const REACH: f64 = 4.0;

/// What a RIO file says of the relay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RioFile {
    /// Zones in the order of the file.
    pub zones: Vec<Zone>,
    /// Residual compensation, if it is given; ratios of resistance and reactance need the line angle, 75° without one.
    pub k0: Option<Complex64>,
    /// Whether impedances are primary.
    pub is_primary: bool,
}

impl RioFile {
    /// The zones in primary ohms; `ratio` turns secondary into primary ones.
    pub fn primary_zones(&self, ratio: f64) -> Vec<Zone> {
        let factor = if self.is_primary { 1.0 } else { ratio };
        let zones = self.zones.iter().cloned();
        zones
            .map(|zone| Zone {
                shape: zone.shape.scaled(factor),
                ..zone
            })
            .collect()
    }
}

/// Why a RIO file cannot be read.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RioError {
    /// The file is too large to be one.
    #[error("a RIO file has at most {MOST_BYTES} bytes, but this has {n_bytes}")]
    TooLarge {
        /// Its size.
        n_bytes: usize,
    },
    /// A block does not end.
    #[error("block {name} that begins in line {line} has no END")]
    Open {
        /// The block.
        name: String,
        /// Line where it begins.
        line: usize,
    },
    /// A number is missing or none.
    #[error("line {line}: {key} needs {n_needed} numbers, but has {found:?}")]
    Numbers {
        /// The line.
        line: usize,
        /// The keyword.
        key: String,
        /// How many are needed.
        n_needed: usize,
        /// What stands there.
        found: String,
    },
    /// There is no zone.
    #[error("no ZONE with a SHAPE or MHOSHAPE was found")]
    NoZone,
}

/// One line: keyword, values, number of the line.
struct Entry<'a> {
    key: String,
    values: &'a str,
    line: usize,
}

impl Entry<'_> {
    fn numbers(&self, n_needed: usize) -> Result<Vec<f64>, RioError> {
        let parts = self
            .values
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let numbers: Vec<f64> = parts.map_while(|part| part.parse().ok()).collect();
        let is_whole = numbers.len() >= n_needed && numbers.iter().all(|n| n.is_finite());
        is_whole
            .then_some(numbers)
            .ok_or_else(|| RioError::Numbers {
                line: self.line,
                key: self.key.clone(),
                n_needed,
                found: self.values.to_owned(),
            })
    }
}

/// A half plane: a point on its border, the angle of the border, and the side that is inside.
struct HalfPlane {
    at: (f64, f64),
    angle: f64,
    is_left: bool,
}

/// Reads the text of a RIO file.
pub fn parse(text: &str) -> Result<RioFile, RioError> {
    if text.len() > MOST_BYTES {
        return Err(RioError::TooLarge {
            n_bytes: text.len(),
        });
    }
    let mut file = RioFile::default();
    let mut blocks: Vec<(String, usize)> = Vec::new();
    let mut zone = OpenZone::default();
    let (mut re_rl, mut xe_xl) = (None, None);
    let mut angle_deg = 75.0;
    for (number, raw) in text.lines().enumerate() {
        let line = number + 1;
        let raw = raw.split(';').next().unwrap_or("").trim();
        let (key, values) = raw.split_once([' ', '\t', '=']).unwrap_or((raw, ""));
        let values = values.trim().trim_start_matches('=').trim();
        let entry = Entry {
            key: key.to_uppercase(),
            values,
            line,
        };
        match entry.key.as_str() {
            "" => {}
            "BEGIN" => {
                let name = values.to_uppercase();
                if name == "ZONE" {
                    zone = OpenZone::default();
                }
                blocks.push((name, line));
            }
            "END" => {
                if let Some((name, _)) = blocks.pop().filter(|(name, _)| name == "ZONE") {
                    let n = file.zones.len() + 1;
                    file.zones.extend(zone.finish(&format!("{name} {n}")));
                    zone = OpenZone::default();
                }
            }
            "IMPPRIM" => file.is_primary = is_yes(values),
            "KL" => {
                let numbers = entry.numbers(2)?;
                file.k0 = Some(Complex64::from_polar(numbers[0], numbers[1].to_radians()));
            }
            "Z0Z1" => {
                let numbers = entry.numbers(2)?;
                let ratio = Complex64::from_polar(numbers[0], numbers[1].to_radians());
                file.k0 = Some((ratio - 1.0) / 3.0);
            }
            "RE/RL" => re_rl = entry.numbers(1)?.first().copied(),
            "XE/XL" => xe_xl = entry.numbers(1)?.first().copied(),
            "RERL_XEXL" => {
                let numbers = entry.numbers(2)?;
                (re_rl, xe_xl) = (Some(numbers[0]), Some(numbers[1]));
            }
            "LINEANGLE" => angle_deg = entry.numbers(1)?[0],
            _ => zone.take(&entry)?,
        }
    }
    if let Some((name, line)) = blocks.pop() {
        return Err(RioError::Open { name, line });
    }
    if let (None, Some(r), Some(x)) = (file.k0, re_rl, xe_xl) {
        // k0 = (RE + jXE)/(RL + jXL) with RE = (RE/RL) RL.
        let (sin, cos) = f64::to_radians(angle_deg).sin_cos();
        file.k0 = Some(Complex64::new(r * cos, x * sin) / Complex64::new(cos, sin));
    }
    if file.zones.is_empty() {
        return Err(RioError::NoZone);
    }
    Ok(file)
}

fn is_yes(text: &str) -> bool {
    matches!(text.trim().to_uppercase().as_str(), "YES" | "TRUE" | "1")
}

/// A zone while it is read.
#[derive(Default)]
struct OpenZone {
    name: Option<String>,
    loops: Option<ZoneLoops>,
    planes: Vec<HalfPlane>,
    points: Vec<(f64, f64)>,
    mho: (Option<f64>, Option<f64>, Option<f64>),
}

impl OpenZone {
    fn take(&mut self, entry: &Entry<'_>) -> Result<(), RioError> {
        match entry.key.as_str() {
            "LABEL" | "NAME" => self.name = Some(entry.values.trim_matches(['"', '\'']).to_owned()),
            "FAULTLOOP" => {
                self.loops = match entry.values.to_uppercase().as_str() {
                    "LN" | "LE" | "LG" => Some(ZoneLoops::Earth),
                    "LL" | "LLL" => Some(ZoneLoops::Phase),
                    _ => Some(ZoneLoops::All),
                };
            }
            "LINE" => {
                let n = entry.numbers(3)?;
                let is_left = !entry.values.to_uppercase().contains("RIGHT");
                self.planes.push(HalfPlane {
                    at: (n[0], n[1]),
                    angle: n[2].to_radians(),
                    is_left,
                });
            }
            // Centre, radius, start and end angle in degrees.
            "ARC" => {
                let n = entry.numbers(5)?;
                let is_clockwise = entry.values.to_uppercase().contains("CW")
                    && !entry.values.to_uppercase().contains("CCW");
                let (from, mut to) = (n[3].to_radians(), n[4].to_radians());
                let turn = std::f64::consts::TAU;
                if is_clockwise && to > from {
                    to -= turn;
                } else if !is_clockwise && to < from {
                    to += turn;
                }
                self.arc((n[0], n[1]), n[2], from, to);
            }
            // Centre by size and angle, then as ARC.
            "ARCP" => {
                let n = entry.numbers(5)?;
                let centre = Complex64::from_polar(n[0], n[1].to_radians());
                let (from, mut to) = (n[3].to_radians(), n[4].to_radians());
                if to < from {
                    to += std::f64::consts::TAU;
                }
                self.arc((centre.re, centre.im), n[2], from, to);
            }
            "ANGLE" => self.mho.0 = entry.numbers(1)?.first().copied(),
            "REACH" => self.mho.1 = entry.numbers(1)?.first().copied(),
            "OFFSET" => self.mho.2 = entry.numbers(1)?.first().copied(),
            _ => {}
        }
        Ok(())
    }

    fn arc(&mut self, centre: (f64, f64), radius: f64, from: f64, to: f64) {
        for k in 0..=ARC_STEPS {
            let turn = from + (to - from) * k as f64 / ARC_STEPS as f64;
            self.points.push((
                centre.0 + radius * turn.cos(),
                centre.1 + radius * turn.sin(),
            ));
        }
    }

    fn finish(&self, number: &str) -> Option<Zone> {
        let shape = match self.mho {
            (angle, Some(reach), offset) => {
                let turn = angle.unwrap_or(75.0).to_radians();
                let point = |size: f64| (size * turn.cos(), size * turn.sin());
                Shape::Mho {
                    reach: point(reach),
                    offset: point(-offset.unwrap_or(0.0)),
                }
            }
            _ => Shape::Polygon(self.polygon()?),
        };
        Some(Zone {
            name: self.name.clone().unwrap_or_else(|| number.to_owned()),
            loops: self.loops.unwrap_or(ZoneLoops::All),
            shape,
        })
    }

    /// Arcs give their points; lines cut a large square.
    fn polygon(&self) -> Option<Vec<(f64, f64)>> {
        if self.planes.is_empty() {
            return (self.points.len() > 2).then(|| self.points.clone());
        }
        let far = self
            .planes
            .iter()
            .map(|p| p.at.0.abs().max(p.at.1.abs()))
            .fold(1.0, f64::max);
        let side = REACH * far;
        let mut polygon = match self.points.len() {
            0 => vec![(-side, -side), (side, -side), (side, side), (-side, side)],
            _ => self.points.clone(),
        };
        for plane in &self.planes {
            polygon = cut(&polygon, plane);
        }
        // Some devices list the corners and mean the lines between them.
        let corners = || self.planes.iter().map(|plane| plane.at).collect::<Vec<_>>();
        let polygon = if polygon.len() > 2 {
            polygon
        } else {
            corners()
        };
        (polygon.len() > 2).then_some(polygon)
    }
}

/// What of a polygon lies inside a half plane (Sutherland and Hodgman).
fn cut(polygon: &[(f64, f64)], plane: &HalfPlane) -> Vec<(f64, f64)> {
    let (sin, cos) = plane.angle.sin_cos();
    let sign = if plane.is_left { 1.0 } else { -1.0 };
    let side = |(x, y): (f64, f64)| sign * (cos * (y - plane.at.1) - sin * (x - plane.at.0));
    let mut kept = Vec::new();
    let nexts = polygon.iter().cycle().skip(1);
    for (&from, &to) in polygon.iter().zip(nexts) {
        let (a, b) = (side(from), side(to));
        if a >= 0.0 {
            kept.push(from);
        }
        if (a >= 0.0) != (b >= 0.0) {
            let t = a / (a - b);
            kept.push((from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1)));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "BEGIN TESTOBJECT\n BEGIN DISTANCE\n  IMPPRIM YES\n  KL 0.6667, -3\n  BEGIN ZONE\n   LABEL \"Z1\"\n   FAULTLOOP LN\n   BEGIN SHAPE\n    LINE 0, 0, -15, LEFT\n    LINE 4, 0, 75, LEFT\n    LINE 0, 8, 180, LEFT\n    LINE 0, 0, 115, RIGHT\n   END SHAPE\n  END ZONE\n  BEGIN ZONE\n   FAULTLOOP LL\n   BEGIN MHOSHAPE\n    ANGLE 75.96\n    REACH 16.492\n    OFFSET 0\n   END MHOSHAPE\n  END ZONE\n END DISTANCE\nEND TESTOBJECT\n";

    #[test]
    fn polygons_and_mhos_of_a_file_hold_what_they_should() {
        let file = parse(TEXT).expect("a RIO file");
        assert!(file.is_primary);
        assert!((file.k0.expect("KL").norm() - 0.6667).abs() < 1e-12);
        let [quad, mho] = file.zones.as_slice() else {
            panic!("two zones: {file:?}");
        };
        assert_eq!((quad.name.as_str(), quad.loops), ("Z1", ZoneLoops::Earth));
        assert_eq!((mho.name.as_str(), mho.loops), ("ZONE 2", ZoneLoops::Phase));
        let inside = [(1.0, 4.0), (4.0, 1.0), (3.9, 7.9)];
        let outside = [(1.0, 8.1), (-3.0, 1.0), (6.5, 1.0), (1.0, -1.0)];
        for (r, x) in inside {
            assert!(quad.shape.contains(Complex64::new(r, x)), "{r} {x}");
        }
        for (r, x) in outside {
            assert!(!quad.shape.contains(Complex64::new(r, x)), "{r} {x}");
        }
        assert!(mho.shape.contains(Complex64::new(1.5009, 6.0)));
        assert!(!mho.shape.contains(Complex64::new(9.9867, 5.5856)));
    }

    #[test]
    fn secondary_zones_are_turned_into_primary_ones() {
        let reach = |text: &str| {
            let file = parse(text).expect("zones");
            match file.primary_zones(2.5)[1].shape {
                Shape::Mho { reach, .. } => Complex64::new(reach.0, reach.1).norm(),
                Shape::Polygon(_) => 0.0,
            }
        };
        assert!((reach(TEXT) - 16.492).abs() < 1e-9);
        assert!((reach(&TEXT.replace("YES", "NO")) - 2.5 * 16.492).abs() < 1e-9);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        assert_eq!(parse("").expect_err("wrong"), RioError::NoZone);
        let open = parse("BEGIN TESTOBJECT\n").expect_err("wrong");
        assert_eq!(
            open.to_string(),
            "block TESTOBJECT that begins in line 1 has no END"
        );
        let wrong = TEXT.replace("LINE 4, 0, 75", "LINE 4, x, 75");
        assert!(
            parse(&wrong)
                .expect_err("wrong")
                .to_string()
                .starts_with("line 10: LINE needs 3 numbers")
        );
        let ratios = TEXT.replace("KL 0.6667, -3", "RE/RL 0.8\n  XE/XL 0.8");
        let k0 = parse(&ratios).expect("ratios").k0.expect("both");
        assert!((k0 - Complex64::new(0.8, 0.0)).norm() < 1e-12);
    }
}
