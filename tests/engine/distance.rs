//! Impedance loops and distances on a line between two sources whose phasors are known in closed form.

use atomscope_engine::protection::distance::{
    EndPhasors, Method, one_ended, synchronised, unsynchronised,
};
use atomscope_engine::protection::impedance::Loop;
use atomscope_engine::protection::uncertainty::{Seen, interval};
use atomscope_engine::protection::zones::ZoneShape;
use atomscope_engine::protection::{Line, RuleVerdict};
use atomscope_engine::simulate::FaultStar;
use atomscope_engine::simulate::feeder::FaultClass;
use atomscope_engine::simulate::two_source::{Sequences, TwoSourceLine};
use num_complex::Complex64;

fn c(re: f64, im: f64) -> Complex64 {
    Complex64::new(re, im)
}

fn polar_deg(size: f64, deg: f64) -> Complex64 {
    Complex64::from_polar(size, deg.to_radians())
}

fn line() -> TwoSourceLine {
    let source = 110e3 / 3.0_f64.sqrt();
    TwoSourceLine {
        line: Sequences {
            z1: c(5.0, 20.0),
            z0: c(15.0, 60.0),
        },
        near: Sequences {
            z1: c(1.0, 10.0),
            z0: c(2.0, 15.0),
        },
        far: Sequences {
            z1: c(2.0, 20.0),
            z0: c(3.0, 30.0),
        },
        sources: [polar_deg(source, 0.0), polar_deg(source, -10.0)],
    }
}

struct Case {
    place: f64,
    star: FaultStar,
    verdict: RuleVerdict,
    loop_z: Complex64,
    shares: [Option<f64>; 3],
}

fn cases() -> [Case; 4] {
    let star = |phases, phase_ohm, earth_ohm| FaultStar {
        phases,
        phase_ohm,
        earth_ohm,
    };
    let verdict = |class, phases| RuleVerdict { class, phases };
    let (a, bc, abc) = ([true, false, false], [false, true, true], [true; 3]);
    [
        Case {
            place: 0.3,
            star: star(a, 10.0, Some(0.0)),
            verdict: verdict(FaultClass::SingleLineToGround, a),
            loop_z: c(9.9867, 5.5856),
            shares: [Some(0.27928), Some(0.30008), Some(0.29879)],
        },
        Case {
            place: 0.6,
            star: star(bc, 2.0, None),
            verdict: verdict(FaultClass::LineToLine, bc),
            loop_z: c(6.5023, 11.6683),
            shares: [Some(0.58341), Some(0.59710), Some(0.59710)],
        },
        Case {
            place: 0.6,
            star: star(bc, 1.0, Some(5.0)),
            verdict: verdict(FaultClass::DoubleLineToGround, bc),
            loop_z: c(4.7619, 11.8337),
            shares: [Some(0.59169), Some(0.59854), Some(0.60440)],
        },
        Case {
            place: 0.8,
            star: star(abc, 1.0, None),
            verdict: verdict(FaultClass::ThreeLine, abc),
            loop_z: c(6.0484, 15.7409),
            shares: [Some(0.78705), Some(0.79652), None],
        },
    ]
}

#[test]
fn loops_and_distances_of_the_four_cases_are_right_to_four_digits() {
    let line = line();
    let k0 = (line.line.z0 - line.line.z1) / (3.0 * line.line.z1);
    for case in cases() {
        let [near, _] = line.fault(case.place, &case.star);
        let near = EndPhasors::from(&near);
        let of = Loop::of(&case.verdict).expect("a fault");
        let z = of
            .impedance(near.voltages, near.currents, k0)
            .expect("a current");
        assert!((z - case.loop_z).norm() < 1e-4, "{z} for {}", case.loop_z);
        for (method, expected) in Method::ONE_ENDED.into_iter().zip(case.shares) {
            let found = one_ended(method, &near, &case.verdict, line.line.z1, k0);
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    assert!(
                        (found - expected).abs() < 1e-4,
                        "{method:?}: {found} for {expected}"
                    );
                }
                (found, expected) => assert_eq!(found.is_some(), expected.is_some(), "{method:?}"),
            }
        }
    }
}

#[test]
fn the_earth_fault_has_the_published_phasors() {
    let [near, _] = line().fault(0.3, &cases()[0].star);
    assert!((near.voltages[0] - polar_deg(43857.63, -20.743)).norm() < 1.0);
    assert!((near.currents[0] - polar_deg(2347.42, -48.295)).norm() < 0.1);
    assert!((near.currents_before[0] - polar_deg(218.625, 4.090)).norm() < 0.01);
}

#[test]
fn both_ends_together_are_exact() {
    let line = line();
    let z1 = line.line.z1;
    let k0 = (line.line.z0 - z1) / (3.0 * z1);
    for case in cases() {
        let [near, far] = line.fault(case.place, &case.star);
        let (near, far) = (EndPhasors::from(&near), EndPhasors::from(&far));
        let found = synchronised(&near, &far, &case.verdict, z1, k0).expect("both ends");
        assert!((found - case.place).abs() < 1e-9, "synchronised {found}");
        // The far clock is off by 77 degrees.
        let turn = polar_deg(1.0, 77.0);
        let mut turned = far;
        for three in [
            &mut turned.voltages,
            &mut turned.currents,
            &mut turned.voltages_before,
            &mut turned.currents_before,
        ] {
            three.iter_mut().for_each(|x| *x *= turn);
        }
        let found = unsynchronised(&near, &turned, &case.verdict, z1).expect("both ends");
        assert!((found - case.place).abs() < 1e-9, "unsynchronised {found}");
    }
}

#[test]
fn a_mho_holds_a_fault_near_the_line_and_not_one_with_resistance() {
    let mho = ZoneShape::Mho {
        reach: (4.0, 16.0),
        offset: (0.0, 0.0),
    };
    assert!(mho.contains(c(1.5009, 6.0)));
    assert!(!mho.contains(cases()[0].loop_z));
    let square = ZoneShape::Polygon(vec![(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]);
    assert!(square.contains(c(1.0, 1.9)) && !square.contains(c(2.1, 1.0)));
}

#[test]
fn intervals_hold_the_true_place_repeat_and_grow_with_the_resistance() {
    let table = Line {
        name: "test".into(),
        length_km: 50.0,
        z1_ohm_per_km: (0.1, 0.4),
        z0_ohm_per_km: Some((0.3, 1.2)),
        source_ohm: None,
    };
    let mut widths = Vec::new();
    for (case, expected) in cases().iter().zip([0.3, 0.6, 0.6, 0.8]) {
        let seen = Seen {
            verdict: case.verdict,
            loop_z: case.loop_z,
        };
        let value = case.shares[1].expect("Takagi");
        let (low, high) = interval(Method::Takagi, value, &seen, &table).expect("a fault");
        assert_eq!(
            interval(Method::Takagi, value, &seen, &table),
            Some((low, high))
        );
        assert!(
            low <= expected && expected <= high,
            "{low} to {high} for {expected}"
        );
        widths.push(high - low);
    }
    let near = Seen {
        verdict: cases()[0].verdict,
        loop_z: c(1.6, 6.0),
    };
    let (low, high) = interval(Method::Takagi, 0.3, &near, &table).expect("a fault");
    assert!(
        high - low < widths[0],
        "{} is not below {}",
        high - low,
        widths[0]
    );
}
