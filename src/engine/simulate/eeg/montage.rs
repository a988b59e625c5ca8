//! The 19 electrodes of the 10–20 system on a unit sphere.

/// A point on the head: x to the right, y to the front, z up.
pub(super) type Position = [f64; 3];

/// Names and order of the channels, front to back and left to right.
pub const ELECTRODES: [&str; 19] = [
    "Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "T7", "C3", "Cz", "C4", "T8", "P7", "P3", "Pz",
    "P4", "P8", "O1", "O2",
];

/// Number of channels.
pub(super) const N_CHANNELS: usize = ELECTRODES.len();

/// The direction the eyes look in, slightly below the frontal pole.
pub(super) const EYES: Position = [0.0, 0.966, -0.259];

/// Above the right jaw muscle; the left one mirrors it.
pub(super) const RIGHT_JAW: Position = [0.940, 0.250, -0.231];

/// Positions in the order of [`ELECTRODES`].
///
/// The outer ring lies on the equator, 36° apart from 18° beside the midline; the
/// inner ones halfway to the vertex. F3, F4, P3, P4 lie halfway between their
/// neighbours on the ring and on the midline.
pub(super) fn positions() -> [Position; N_CHANNELS] {
    let ring = |degrees_from_front: f64| on_sphere(degrees_from_front, 90.0);
    let inner = |degrees_from_front: f64| on_sphere(degrees_from_front, 45.0);
    let (f7, f8, p7, p8) = (ring(-54.0), ring(54.0), ring(-126.0), ring(126.0));
    let (fz, pz) = (inner(0.0), inner(180.0));
    [
        ring(-18.0),
        ring(18.0),
        f7,
        halfway(f7, fz),
        fz,
        halfway(f8, fz),
        f8,
        ring(-90.0),
        inner(-90.0),
        [0.0, 0.0, 1.0],
        inner(90.0),
        ring(90.0),
        p7,
        halfway(p7, pz),
        pz,
        halfway(p8, pz),
        p8,
        ring(-162.0),
        ring(162.0),
    ]
}

/// A point by its direction from the front (positive to the right) and its angle from the vertex.
pub(super) fn on_sphere(degrees_from_front: f64, degrees_from_vertex: f64) -> Position {
    let (across, ahead) = degrees_from_front.to_radians().sin_cos();
    let (out, up) = degrees_from_vertex.to_radians().sin_cos();
    [out * across, out * ahead, up]
}

fn halfway(p: Position, q: Position) -> Position {
    let sum = [p[0] + q[0], p[1] + q[1], p[2] + q[2]];
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    sum.map(|x| x / length)
}

/// Angle between two directions in radians.
pub(super) fn angle_between(p: Position, q: Position) -> f64 {
    let cosine: f64 = p.iter().zip(q).map(|(a, b)| a * b).sum();
    cosine.clamp(-1.0, 1.0).acos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Position {
        let index = ELECTRODES.iter().position(|&known| known == name);
        positions()[index.expect("an electrode of the system")]
    }

    #[test]
    fn electrodes_lie_on_the_unit_sphere_and_left_mirrors_right() {
        let radius = |p: Position| p.iter().map(|x| x * x).sum::<f64>();
        assert!(positions().iter().all(|&p| (radius(p) - 1.0).abs() < 1e-12));
        for (left, right) in [("Fp1", "Fp2"), ("F3", "F4"), ("T7", "T8"), ("P7", "P8")] {
            let [x, y, z] = of(left);
            let mirrored = [-x, y, z];
            assert!(angle_between(mirrored, of(right)) < 1e-6, "{left} {right}");
        }
        assert!((radius(EYES) - 1.0).abs() < 1e-3 && (radius(RIGHT_JAW) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn neighbours_in_the_system_are_neighbours_on_the_sphere() {
        assert!(angle_between(of("O1"), of("P3")) < angle_between(of("O1"), of("Fz")));
        assert!(angle_between(of("Fp1"), EYES) < angle_between(of("Cz"), EYES));
        assert!(angle_between(of("T8"), RIGHT_JAW) < angle_between(of("T7"), RIGHT_JAW));
    }
}
