//! Pictures of the interface as tests: a renderer for the harness, and a comparison with stored ones.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use atomscope::ui::raster::{Picture, Rasteriser};
use atomscope::ui::theme::{self, Tones};
use egui::{Theme, Vec2};
use egui_kittest::{Harness, HarnessBuilder, TestRenderer};

/// A pixel differs when a channel is off by more than this: rounding of other machines is less.
const CHANNEL_TOLERANCE: u8 = 12;
/// So many pixels of a picture may differ.
const SHARE_TOLERANCE: f64 = 0.002;

/// Hands the textures of a harness to a rasteriser that the test keeps.
pub(crate) struct SharedRenderer(Rc<RefCell<Rasteriser>>);

impl TestRenderer for SharedRenderer {
    fn handle_delta(&mut self, delta: &mut egui::TexturesDelta) {
        self.0.borrow_mut().apply(delta);
    }
}

/// A harness whose frames can be turned into pictures.
pub(crate) struct PictureHarness<'a, State> {
    pub(crate) harness: Harness<'a, State>,
    rasteriser: Rc<RefCell<Rasteriser>>,
    theme: Theme,
    pixels_per_point: f32,
}

impl<'a, State> PictureHarness<'a, State> {
    /// A window of `size` points with the theme of the program.
    pub(crate) fn new(
        size: Vec2,
        pixels_per_point: f32,
        theme: Theme,
        state: State,
        mut page: impl FnMut(&mut egui::Ui, &mut State) + 'a,
    ) -> Self {
        let rasteriser = Rc::new(RefCell::new(Rasteriser::new()));
        let builder: HarnessBuilder<State> = Harness::builder();
        let harness = builder
            .with_size(size)
            .with_pixels_per_point(pixels_per_point)
            .with_theme(theme)
            .with_context_setup(theme::install)
            .renderer(SharedRenderer(Rc::clone(&rasteriser)))
            .build_ui_state(move |ui, state| page(ui, state), state);
        Self {
            harness,
            rasteriser,
            theme,
            pixels_per_point,
        }
    }

    /// The frame shown now.
    pub(crate) fn picture(&self) -> Picture {
        let context = &self.harness.ctx;
        let size = context.content_rect().size() * self.pixels_per_point;
        let shapes = self.harness.output().shapes.clone();
        let primitives = context.tessellate(shapes, self.pixels_per_point);
        self.rasteriser.borrow().paint(
            &primitives,
            [size.x.round() as usize, size.y.round() as usize],
            self.pixels_per_point,
            Tones::of(self.theme).page,
        )
    }
}

/// Compares a picture with `tests/data/pictures/NAME.png`. With `UPDATE_SNAPSHOTS=1` it is
/// stored instead. A difference is written to `target/pictures` as NAME.new.png and NAME.diff.png.
pub(crate) fn assert_picture(name: &str, picture: &Picture) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stored = root.join("tests/data/pictures").join(format!("{name}.png"));
    let bytes = picture.to_png().expect("a picture encodes");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        fs::write(&stored, bytes).expect("the picture can be stored");
        return;
    }
    let expected = read_png(&stored);
    let same_size = expected.width == picture.width && expected.height == picture.height;
    let differing: Vec<bool> = picture
        .pixels
        .iter()
        .zip(&expected.pixels)
        .map(|(a, b)| {
            a.iter()
                .zip(b)
                .any(|(a, b)| a.abs_diff(*b) > CHANNEL_TOLERANCE)
        })
        .collect();
    let n_differing = differing.iter().filter(|differs| **differs).count();
    let share = n_differing as f64 / picture.pixels.len().max(1) as f64;
    if same_size && share <= SHARE_TOLERANCE {
        return;
    }
    let folder = output_folder();
    fs::write(folder.join(format!("{name}.new.png")), bytes).expect("the new picture is written");
    if same_size {
        let marked = mark_differences(picture, &differing);
        let bytes = marked.to_png().expect("a picture encodes");
        fs::write(folder.join(format!("{name}.diff.png")), bytes)
            .expect("the difference is written");
    }
    panic!(
        "{name}: {n_differing} pixels ({:.2} %) differ from {}, size {}x{} against {}x{}; see {}, \
         and store the new picture with UPDATE_SNAPSHOTS=1 if it is right",
        share * 100.0,
        stored.display(),
        picture.width,
        picture.height,
        expected.width,
        expected.height,
        folder.display()
    );
}

/// Writes a picture to `target/pictures`, for looking at it.
pub(crate) fn write_picture(name: &str, picture: &Picture) {
    let bytes = picture.to_png().expect("a picture encodes");
    let path = output_folder().join(format!("{name}.png"));
    fs::write(path, bytes).expect("the picture is written");
}

fn output_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pictures");
    fs::create_dir_all(&folder).expect("target can be written");
    folder
}

/// The picture faintly, with what differs in red.
fn mark_differences(picture: &Picture, differing: &[bool]) -> Picture {
    let pixels = picture
        .pixels
        .iter()
        .zip(differing)
        .map(|(pixel, differs)| match differs {
            true => [220, 20, 20],
            false => pixel.map(|channel| channel / 4 + 180),
        })
        .collect();
    Picture {
        width: picture.width,
        height: picture.height,
        pixels,
    }
}

fn read_png(path: &Path) -> Picture {
    let file = fs::File::open(path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; store it with UPDATE_SNAPSHOTS=1",
            path.display()
        )
    });
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .expect("a stored picture is a PNG");
    let mut bytes = vec![
        0;
        reader
            .output_buffer_size()
            .expect("a stored picture is small")
    ];
    let info = reader
        .next_frame(&mut bytes)
        .expect("a stored picture is whole");
    assert_eq!(info.color_type, png::ColorType::Rgb, "{}", path.display());
    Picture {
        width: info.width as usize,
        height: info.height as usize,
        pixels: bytes
            .chunks_exact(3)
            .map(|pixel| [pixel[0], pixel[1], pixel[2]])
            .collect(),
    }
}
