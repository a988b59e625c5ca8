//! What frames and pictures cost.

use atomscope::ui::offscreen::Offscreen;
use atomscope_engine::features::Layout;
use egui::{Theme, Ui, vec2};

use super::gallery::{Gallery, many_classes_page, plain_atoms_ui, train_page, window_of};
use super::sample_data::fault_atom;

/// Thread CPU time of building and tessellating a frame, in milliseconds: median and worst.
fn frame_cost_ms(mut page: impl FnMut(&mut Ui)) -> (f64, f64) {
    let mut window = Offscreen::new(vec2(1600.0, 1000.0), 1.0, Theme::Light);
    let mut costs: Vec<f64> = (0..60)
        .map(|_| {
            let before = cpu_time::ThreadTime::now();
            window.frame(&mut page);
            let primitives = window.context.tessellate(window.shapes(), 1.0);
            assert!(!primitives.is_empty());
            before.elapsed().as_secs_f64() * 1e3
        })
        .skip(5)
        .collect();
    costs.sort_by(f64::total_cmp);
    (costs[costs.len() / 2], costs[costs.len() - 1])
}

/// The bounds are far above what is measured; the figures are printed.
#[test]
fn frames_and_pictures_are_cheap() {
    let values: Vec<Vec<f64>> = (0..30).map(fault_atom).collect();
    let layout = Layout::Waveform {
        n_channels: 6,
        n_points: 201,
    };
    let atoms = frame_cost_ms(|ui| plain_atoms_ui(ui, "Thirty atoms", layout, &values));
    println!(
        "30 atoms of 1206 points: median {:.2} ms, worst {:.2} ms",
        atoms.0, atoms.1
    );
    let mut state = Gallery::default();
    let letters = frame_cost_ms(|ui| many_classes_page(ui, &mut state));
    println!(
        "26 classes: median {:.2} ms, worst {:.2} ms",
        letters.0, letters.1
    );
    let train = frame_cost_ms(|ui| train_page(ui, &mut state));
    println!(
        "training page: median {:.2} ms, worst {:.2} ms",
        train.0, train.1
    );
    for (median, _) in [atoms, letters, train] {
        assert!(median < 16.0, "{median}");
    }

    let window = window_of(train_page, [1600.0, 1000.0], Theme::Light, 1.0);
    let before = cpu_time::ThreadTime::now();
    let picture = window.picture();
    let paint_ms = before.elapsed().as_secs_f64() * 1e3;
    println!("picture of 1600 × 1000: {paint_ms:.0} ms");
    assert_eq!(picture.width, 1600);
    assert!(paint_ms < 1500.0);
}
