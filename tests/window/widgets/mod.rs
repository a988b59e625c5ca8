//! Every widget with realistic data: pictures in both themes, and what clicks and keys do.

mod answers;
mod cost;
mod gallery;
mod sample_data;

use crate::pictures::{PictureHarness, assert_picture, write_picture};
use atomscope::ui::palette::class_color;
use atomscope::ui::theme;
use atomscope::ui::widgets::{
    AccuracyPlot, ChartPlot, ClassHistogram, ConfusionMatrix, FoldStrip, GramMatrix, MapLabels,
    ProfilePanel, ScalpMap, Waveform,
};
use atomscope_engine::evaluation::Confusion;
use atomscope_engine::export::Chart;
use atomscope_engine::features::Layout;
use atomscope_engine::math::Matrix;
use egui::{Theme, Ui, vec2};
use egui_kittest::kittest::NodeT;
use gallery::{Gallery, PAGES, plain_atoms_ui, window_of};

const THEMES: [(Theme, &str); 2] = [(Theme::Light, "light"), (Theme::Dark, "dark")];

#[test]
fn the_figures_of_the_manual_look_as_they_did() {
    for name in ["atom", "profile", "forgetting", "margin", "prequential"] {
        let size = vec2(680.0, 210.0);
        let mut window = PictureHarness::new(size, 1.0, Theme::Light, (), move |ui, ()| {
            atomscope::ui::manual::figure_ui(ui, name);
        });
        window.harness.run_steps(3);
        assert_picture(&format!("manual-{name}-light"), &window.picture());
    }
}

#[test]
fn the_gallery_looks_as_it_did_in_both_themes() {
    for (theme, theme_name) in THEMES {
        for (name, page, size) in PAGES {
            let window = window_of(page, size, theme, 1.0);
            let picture = window.picture();
            let name = format!("widgets-{name}-{theme_name}");
            write_picture(&name, &picture);
            assert_picture(&name, &picture);
        }
    }
}

#[test]
fn a_scale_of_two_doubles_every_side() {
    let (name, page, size) = PAGES[1];
    let picture = window_of(page, size, Theme::Light, 2.0).picture();
    write_picture(&format!("widgets-{name}-double"), &picture);
    assert_eq!((picture.width, picture.height), (2480, 1760));
}

#[test]
fn larger_text_fits_the_same_pages() {
    for (name, page, size) in PAGES {
        let larger_page = move |ui: &mut Ui, state: &mut Gallery| {
            theme::set_text_scale(ui.ctx(), 1.3);
            page(ui, state);
        };
        let state = Gallery {
            number: 30.0,
            ..Gallery::default()
        };
        let size = vec2(size[0], size[1] * 1.15);
        let mut window = PictureHarness::new(size, 1.0, Theme::Light, state, larger_page);
        window.harness.run();
        write_picture(&format!("widgets-{name}-larger"), &window.picture());
        let right_edge = window.harness.ctx.content_rect().right();
        for node in window.harness.root().children_recursive() {
            let bounds = node.accesskit_node().raw_bounds();
            let right = bounds.map_or(0.0, |bounds| bounds.x1 as f32);
            assert!(
                right <= right_edge + 1.0,
                "{name}: {node:?} ends at {right}"
            );
        }
    }
}

#[test]
fn widgets_without_data_draw_nothing_and_do_not_fail() {
    let empty_page = |ui: &mut Ui, _: &mut Gallery| {
        ConfusionMatrix {
            several_and_none: None,
            class_names: &[],
            confusion: &Confusion::new(0),
            selected: None,
            height: 100.0,
        }
        .show(ui);
        AccuracyPlot {
            folds: &[],
            current_fold: Some(3),
            earlier: &[],
            marks: &[],
            replay: None,
            n_batches: 0.0,
            height: 100.0,
        }
        .show(ui);
        plain_atoms_ui(ui, "No atoms", Layout::Plain, &[]);
        plain_atoms_ui(
            ui,
            "Empty atoms",
            Layout::Waveform {
                n_channels: 6,
                n_points: 0,
            },
            &[vec![]],
        );
        plain_atoms_ui(
            ui,
            "Odd atoms",
            Layout::ChannelBand {
                n_channels: 3,
                n_bands: 2,
            },
            &[vec![f64::NAN]],
        );
        FoldStrip {
            groups: &[],
            n_folds: 0,
            current_fold: None,
        }
        .show(ui);
        let gram = Matrix::zeros(0, 0);
        GramMatrix {
            gram: gram.view(),
            labels: MapLabels::Numbered("atom"),
            size: 80.0,
        }
        .show(ui);
        Waveform {
            name: "nothing",
            traces: &[],
            rate_hz: 0.0,
            start_s: f64::NAN,
            lane_units: &[],
            marks: &[],
            height: 50.0,
        }
        .show(ui);
        ClassHistogram {
            feature_name: "none",
            class_names: &[],
            values: &[],
            height: 80.0,
        }
        .show(ui);
        ChartPlot {
            chart: &Chart::over_shares("none", "nothing", Vec::new()),
            height: 80.0,
        }
        .show(ui);
        ScalpMap {
            title: "none",
            positions: &[],
            names: &[],
            values: &[],
            scale: 1.0,
            signed: true,
            unit: "",
            size: 60.0,
        }
        .show(ui);
        ProfilePanel {
            class_name: "none",
            class_color: class_color(0),
            n_kept: 0,
            budget: 0,
            batches: &[],
            ages: &[],
            height: 90.0,
        }
        .show(ui);
    };
    let window = PictureHarness::new(
        vec2(600.0, 900.0),
        1.0,
        Theme::Light,
        Gallery::default(),
        empty_page,
    );
    assert_eq!(window.picture().width, 600);
}
