//! Zones of a distance relay in the impedance plane: mho circles and polygons, and when a locus is inside.

use num_complex::Complex64;
use serde::{Deserialize, Serialize};

use super::impedance::{LocusPoint, Loop};

/// Which loops a zone applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneLoops {
    /// Phase to earth.
    Earth,
    /// Between phases.
    Phase,
    /// All six.
    All,
}

impl ZoneLoops {
    /// Whether a loop is one of them.
    pub fn contains(self, of: Loop) -> bool {
        match self {
            Self::Earth => of.earth_phase().is_some(),
            Self::Phase => of.phase_pair().is_some(),
            Self::All => true,
        }
    }
}

/// The outline of a zone, in Ω.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ZoneShape {
    /// A circle through `offset` and `reach`: `|Z − (reach + offset)/2| ≤ |reach − offset|/2`.
    Mho {
        /// The far point, R and X.
        reach: (f64, f64),
        /// The near point; the origin for a plain mho.
        offset: (f64, f64),
    },
    /// A polygon.
    Polygon(Vec<(f64, f64)>),
}

/// A zone with its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Its name.
    pub name: String,
    /// Where it applies.
    pub loops: ZoneLoops,
    /// Its outline.
    pub shape: ZoneShape,
}

/// Why zones cannot be used.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ZoneError {
    /// The text is no list of zones.
    #[error("zones are not as expected at {place}: {reason}")]
    Syntax {
        /// Line and column.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A zone encloses nothing.
    #[error(
        "zone {name:?} encloses nothing: it needs finite impedances, and a polygon at least three points"
    )]
    Empty {
        /// The zone.
        name: String,
    },
}

impl Zone {
    /// A list of zones in primary ohms, as text (RON).
    pub fn parse_all(text: &str) -> Result<Vec<Self>, ZoneError> {
        let zones: Vec<Self> = ron::from_str(text).map_err(|error| ZoneError::Syntax {
            place: error.span.start.to_string(),
            reason: error.code.to_string(),
        })?;
        let encloses = |zone: &Self| {
            let outline = zone.shape.outline();
            outline.len() > 2 && outline.iter().all(|(r, x)| (r + x).is_finite())
        };
        match zones.iter().find(|zone| !encloses(zone)) {
            Some(zone) => Err(ZoneError::Empty {
                name: zone.name.clone(),
            }),
            None => Ok(zones),
        }
    }
}

/// Points of a circle when it is drawn.
const CIRCLE_POINTS: usize = 96;

impl ZoneShape {
    /// A quadrilateral: resistive reach to either side, reactive reach along the line angle, directional lines.
    pub fn quadrilateral(resistance: f64, reactance: f64, line_angle: f64) -> Self {
        let along = |x: f64| x / line_angle.tan();
        let behind = -0.15 * reactance;
        Self::Polygon(vec![
            (0.0, 0.0),
            (resistance, behind.max(-0.27 * resistance)),
            (resistance + along(reactance), reactance),
            (-0.27 * resistance + along(reactance), reactance),
            (-0.27 * resistance, 0.27 * resistance),
        ])
    }

    /// Whether an impedance is inside; the border counts.
    pub fn contains(&self, z: Complex64) -> bool {
        match self {
            Self::Mho { reach, offset } => {
                let (reach, offset) = (complex(*reach), complex(*offset));
                let radius = (reach - offset).norm() / 2.0;
                (z - (reach + offset) / 2.0).norm() <= radius * (1.0 + 1e-12)
            }
            Self::Polygon(points) => inside(points, z),
        }
    }

    /// The same with every impedance multiplied.
    pub fn scaled(self, factor: f64) -> Self {
        let point = |(r, x): (f64, f64)| (r * factor, x * factor);
        match self {
            Self::Mho { reach, offset } => Self::Mho {
                reach: point(reach),
                offset: point(offset),
            },
            Self::Polygon(points) => Self::Polygon(points.into_iter().map(point).collect()),
        }
    }

    /// The outline as points, for drawing.
    pub fn outline(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Polygon(points) => points.clone(),
            Self::Mho { reach, offset } => {
                let (reach, offset) = (complex(*reach), complex(*offset));
                let centre = (reach + offset) / 2.0;
                let spoke = (reach - offset) / 2.0;
                let at = |k: usize| {
                    let turn = std::f64::consts::TAU * k as f64 / CIRCLE_POINTS as f64;
                    let z = centre + spoke * Complex64::cis(turn);
                    (z.re, z.im)
                };
                (0..CIRCLE_POINTS).map(at).collect()
            }
        }
    }
}

fn complex((re, im): (f64, f64)) -> Complex64 {
    Complex64::new(re, im)
}

/// Whether a ray from the point crosses the polygon an odd number of times.
fn inside(points: &[(f64, f64)], z: Complex64) -> bool {
    let mut is_inside = false;
    let ends = points.iter().cycle().skip(1);
    for (&(x1, y1), &(x2, y2)) in points.iter().zip(ends) {
        let straddles = (y1 > z.im) != (y2 > z.im);
        if straddles && z.re < x1 + (z.im - y1) / (y2 - y1) * (x2 - x1) {
            is_inside = !is_inside;
        }
    }
    is_inside
}

/// One stay of a loop in a zone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stay {
    /// Number of the zone.
    pub zone: usize,
    /// The loop.
    pub of: Loop,
    /// When it enters.
    pub enters_s: f64,
    /// When it leaves; `None` if it is inside at the end.
    pub leaves_s: Option<f64>,
}

/// Entry and leaving times of every loop in every zone.
pub fn stays(zones: &[Zone], locus: &[LocusPoint]) -> Vec<Stay> {
    let mut found = Vec::new();
    for (number, zone) in zones.iter().enumerate() {
        for (place, of) in Loop::ALL.into_iter().enumerate() {
            if !zone.loops.contains(of) {
                continue;
            }
            let mut entered: Option<f64> = None;
            for point in locus {
                let is_inside = point.loops[place].is_some_and(|z| zone.shape.contains(z));
                match (entered, is_inside) {
                    (None, true) => entered = Some(point.time_s),
                    (Some(enters_s), false) => {
                        found.push(Stay {
                            zone: number,
                            of,
                            enters_s,
                            leaves_s: Some(point.time_s),
                        });
                        entered = None;
                    }
                    _ => {}
                }
            }
            found.extend(entered.map(|enters_s| Stay {
                zone: number,
                of,
                enters_s,
                leaves_s: None,
            }));
        }
    }
    found.sort_by(|a, b| a.enters_s.total_cmp(&b.enters_s));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read_as_text_and_must_enclose_something() {
        let text = r#"[(name: "Z1", loops: All, shape: Mho(reach: (5, 20), offset: (0, 0)))]"#;
        let zones = Zone::parse_all(text).expect("zones");
        assert!(zones[0].shape.contains(Complex64::new(2.5, 10.0)));
        let written = ron::to_string(&zones).expect("it can be written");
        assert_eq!(Zone::parse_all(&written), Ok(zones));
        for wrong in [
            r#"[(name: "Z", loops: All, shape: Mho(reach: (inf, 20), offset: (0, 0)))]"#,
            r#"[(name: "Z", loops: All, shape: Polygon([(0, 0), (1, 1)]))]"#,
        ] {
            let error = Zone::parse_all(wrong).expect_err("it encloses nothing");
            assert_eq!(error, ZoneError::Empty { name: "Z".into() });
        }
        let error = Zone::parse_all("[(name: 1)]").expect_err("no name");
        assert!(error.to_string().contains("1:8"), "{error}");
    }
}
