//! The picture of one atom: waveforms, scalp maps, channel × band maps, images or bars.

use std::sync::Arc;

use egui::epaint::{Mesh, Vertex, WHITE_UV};
use egui::{Color32, ColorImage, Pos2, Rect, Shape, TextureHandle, TextureOptions, Theme, Ui};
use egui::{Vec2, pos2, vec2};

use super::cache::round_up;
use super::scalp_map::{ScalpInterpolator, map_color, paint_head};
use crate::ui::palette::phase_color;
use crate::ui::theme::Tones;
use atomscope_engine::features::Layout;

/// Side of a head among the atoms.
const HEAD: f32 = 60.0;
const HEAD_PIXELS: usize = 36;
/// More channels than this are a map rather than lanes.
const MOST_LANES: usize = 8;

/// How all atoms of a grid are drawn.
#[derive(Clone)]
pub(super) enum Manner {
    /// Lanes of lines: each lane holds `lines` channels of `n_points` values.
    Lanes {
        n_lanes: usize,
        lines: usize,
        n_points: usize,
    },
    /// One head per band.
    Heads {
        interpolator: Arc<ScalpInterpolator>,
        n_channels: usize,
        n_bands: usize,
    },
    /// A picture; `by_columns` where the first column comes first.
    Image {
        n_rows: usize,
        n_columns: usize,
        by_columns: bool,
    },
    /// Bars from zero.
    Bars,
}

impl Manner {
    /// How features of a layout are drawn; `electrodes` has a place for every channel that has one.
    pub(super) fn of(layout: Layout, electrodes: &[Option<(f64, f64)>]) -> Self {
        match layout {
            Layout::Waveform {
                n_channels,
                n_points,
            } => Self::of_waveform(n_channels, n_points),
            Layout::Image {
                n_rows,
                n_columns,
                by_columns,
            } => Self::Image {
                n_rows,
                n_columns,
                by_columns,
            },
            Layout::ChannelBand {
                n_channels,
                n_bands,
            } => {
                let known: Vec<(f64, f64)> = electrodes.iter().copied().flatten().collect();
                let all_known = known.len() == n_channels && n_channels >= 4;
                let interpolator = all_known
                    .then(|| ScalpInterpolator::new(&known, HEAD_PIXELS))
                    .flatten();
                match interpolator {
                    Some(interpolator) => Self::Heads {
                        interpolator: Arc::new(interpolator),
                        n_channels,
                        n_bands,
                    },
                    None => Self::Image {
                        n_rows: n_channels,
                        n_columns: n_bands,
                        by_columns: false,
                    },
                }
            }
            Layout::Plain => Self::Bars,
        }
    }

    /// Three-phase sets share a lane: voltages above, currents below.
    fn of_waveform(n_channels: usize, n_points: usize) -> Self {
        let (n_lanes, lines) = if n_channels.is_multiple_of(3) && n_channels <= 6 {
            (n_channels / 3, 3)
        } else {
            (n_channels, 1)
        };
        if n_channels > MOST_LANES {
            return Self::Image {
                n_rows: n_channels,
                n_columns: n_points,
                by_columns: false,
            };
        }
        Self::Lanes {
            n_lanes,
            lines,
            n_points,
        }
    }

    /// Size of the picture without zoom, in points.
    pub(super) fn size(&self) -> Vec2 {
        match *self {
            Self::Lanes { n_lanes, .. } => vec2(152.0, (n_lanes as f32 * 38.0).clamp(56.0, 160.0)),
            Self::Heads { n_bands, .. } => vec2(HEAD * n_bands as f32, HEAD),
            Self::Image {
                n_rows, n_columns, ..
            } => {
                let aspect = n_columns as f32 / n_rows.max(1) as f32;
                if (0.5..=2.0).contains(&aspect) {
                    vec2(80.0 * aspect.min(1.25), 80.0 * aspect.min(1.25) / aspect)
                } else if aspect < 0.5 {
                    vec2(64.0, (n_rows as f32 * 4.0).clamp(80.0, 140.0))
                } else {
                    vec2(152.0, 72.0)
                }
            }
            Self::Bars => vec2(152.0, 56.0),
        }
    }

    /// Scales common to all atoms: one per lane for waveforms, else one.
    pub(super) fn scales<'a>(&self, atoms: impl Iterator<Item = &'a [f64]> + Clone) -> Vec<f64> {
        let largest = |values: &[f64]| {
            let size = |value: &f64| if value.is_finite() { value.abs() } else { 0.0 };
            values.iter().map(size).fold(0.0, f64::max)
        };
        match *self {
            Self::Lanes {
                n_lanes,
                lines,
                n_points,
            } => (0..n_lanes)
                .map(|lane| {
                    let start = lane * lines * n_points;
                    let lane_of = |values: &'a [f64]| values.get(start..start + lines * n_points);
                    round_up(
                        atoms
                            .clone()
                            .filter_map(lane_of)
                            .map(largest)
                            .fold(0.0, f64::max),
                    )
                })
                .collect(),
            _ => vec![round_up(atoms.map(largest).fold(0.0, f64::max))],
        }
    }
}

/// The look that all pictures of a grid share.
pub(super) struct Look<'a> {
    pub(super) manner: &'a Manner,
    pub(super) scales: &'a [f64],
    pub(super) signed: bool,
    pub(super) theme: Theme,
    /// Size of the picture.
    pub(super) size: Vec2,
}

/// A picture that can be put anywhere at little cost.
#[derive(Clone)]
pub(super) enum AtomPicture {
    /// Triangles, and the same triangles where they were drawn last.
    Drawing {
        local: Arc<Mesh>,
        placed: (Pos2, Arc<Mesh>),
    },
    /// Textures side by side.
    Textures(Vec<TextureHandle>),
}

impl AtomPicture {
    /// Draws an atom with its upper left corner at the origin.
    pub(super) fn new(ui: &Ui, values: &[f64], look: &Look<'_>) -> Self {
        match look.manner {
            Manner::Lanes {
                n_lanes,
                lines,
                n_points,
            } => Self::drawing(waveforms(values, look, (*n_lanes, *lines, *n_points))),
            Manner::Bars => Self::drawing(bars(values, look)),
            Manner::Image {
                n_rows,
                n_columns,
                by_columns,
            } => {
                let image = picture(values, look, (*n_rows, *n_columns), *by_columns);
                let load = |image| {
                    ui.ctx()
                        .load_texture("atom", image, TextureOptions::NEAREST)
                };
                Self::Textures(vec![load(image)])
            }
            Manner::Heads {
                interpolator,
                n_channels,
                n_bands,
            } => {
                let head = |band: usize| {
                    let of_channel = |channel| values.get(channel * n_bands + band).copied();
                    let channels: Vec<f64> = (0..*n_channels).filter_map(of_channel).collect();
                    let image =
                        interpolator.image(&channels, look.scales[0], look.signed, look.theme);
                    ui.ctx().load_texture("head", image, TextureOptions::LINEAR)
                };
                Self::Textures((0..*n_bands).map(head).collect())
            }
        }
    }

    fn drawing(mesh: Mesh) -> Self {
        let local = Arc::new(mesh);
        Self::Drawing {
            placed: (Pos2::ZERO, Arc::clone(&local)),
            local,
        }
    }

    /// Paints the picture into `rect`.
    pub(super) fn paint(&mut self, ui: &Ui, rect: Rect, manner: &Manner, outline: Color32) {
        match self {
            Self::Drawing { local, placed } => {
                if placed.0 != rect.min {
                    let mut mesh = Mesh::clone(local);
                    mesh.translate(rect.min.to_vec2());
                    *placed = (rect.min, Arc::new(mesh));
                }
                ui.painter().add(Shape::Mesh(Arc::clone(&placed.1)));
            }
            Self::Textures(textures) => {
                let width = rect.width() / textures.len().max(1) as f32;
                for (place, texture) in textures.iter().enumerate() {
                    let corner = rect.min + vec2(width * place as f32, 0.0);
                    let part = Rect::from_min_size(corner, vec2(width, rect.height()));
                    if matches!(manner, Manner::Heads { .. }) {
                        let square =
                            Rect::from_center_size(part.center(), Vec2::splat(width - 4.0));
                        paint_head(ui.painter(), square, texture, outline);
                    } else {
                        let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
                        ui.painter()
                            .image(texture.id(), part, whole, Color32::WHITE);
                    }
                }
            }
        }
    }
}

fn waveforms(
    values: &[f64],
    look: &Look<'_>,
    (n_lanes, lines, n_points): (usize, usize, usize),
) -> Mesh {
    let size = look.size;
    let lane_height = size.y / n_lanes as f32;
    // A point every two pixels looks like all of them.
    let stride = (n_points as f32 * 2.0 / size.x).ceil().max(1.0) as usize;
    let mut mesh = Mesh::default();
    for lane in 0..n_lanes {
        let middle = lane_height * (lane as f32 + 0.5);
        let zero = [pos2(0.0, middle), pos2(size.x, middle)];
        add_line(&mut mesh, &zero, 0.5, Tones::of(look.theme).hairline);
        let gain = (lane_height * 0.46) / look.scales[lane] as f32;
        for line in 0..lines {
            let start = (lane * lines + line) * n_points;
            let Some(channel) = values.get(start..start + n_points) else {
                continue;
            };
            let last = n_points.saturating_sub(1).max(1) as f32;
            let points: Vec<Pos2> = channel
                .iter()
                .enumerate()
                .step_by(stride)
                .filter(|(_, value)| value.is_finite())
                .map(|(n, value)| pos2(n as f32 / last * size.x, middle - *value as f32 * gain))
                .collect();
            let color = if lines == 1 {
                Tones::of(look.theme).text
            } else {
                phase_color(line, look.theme)
            };
            add_line(&mut mesh, &points, 1.1, color);
        }
    }
    mesh
}

fn bars(values: &[f64], look: &Look<'_>) -> Mesh {
    let size = look.size;
    let tones = Tones::of(look.theme);
    let (zero, gain) = if look.signed {
        (size.y / 2.0, size.y * 0.48 / look.scales[0] as f32)
    } else {
        (size.y, size.y * 0.96 / look.scales[0] as f32)
    };
    let mut mesh = Mesh::default();
    let columns = crate::ui::reduce::min_max(values, values.len().min(size.x as usize));
    let width = size.x / columns.len().max(1) as f32;
    for (place, range) in columns.iter().enumerate() {
        let Some((low, high)) = *range else { continue };
        let single = columns.len() == values.len();
        let (low, high) = if single {
            let value = values[place];
            (value.min(0.0), value.max(0.0))
        } else {
            (low.min(0.0), high.max(0.0))
        };
        let left = place as f32 * width;
        let gap = if width > 4.0 { 1.0 } else { 0.0 };
        let bar = Rect::from_min_max(
            pos2(left, zero - high as f32 * gain),
            pos2(left + width - gap, zero - low as f32 * gain),
        );
        mesh.add_colored_rect(bar, tones.accent);
    }
    add_line(
        &mut mesh,
        &[pos2(0.0, zero), pos2(size.x, zero)],
        0.5,
        tones.weak,
    );
    mesh
}

fn picture(
    values: &[f64],
    look: &Look<'_>,
    (n_rows, n_columns): (usize, usize),
    by_columns: bool,
) -> ColorImage {
    // A texture wider than what is shown would only cost.
    let stride = n_columns.div_ceil(256).max(1);
    let shown = n_columns.div_ceil(stride);
    let mut pixels = Vec::with_capacity(n_rows * shown);
    for row in 0..n_rows {
        for column in (0..n_columns).step_by(stride) {
            let place = if by_columns {
                column * n_rows + row
            } else {
                row * n_columns + column
            };
            let value = values.get(place).copied().unwrap_or(0.0) as f32;
            pixels.push(map_color(value, look.scales[0], look.signed, look.theme));
        }
    }
    ColorImage::new([shown, n_rows], pixels)
}

/// A line whose colour fades to both sides over `half_width`: smooth without a tessellator.
fn add_line(mesh: &mut Mesh, points: &[Pos2], half_width: f32, color: Color32) {
    let first = mesh.vertices.len() as u32;
    for (place, point) in points.iter().enumerate() {
        let before = points[place.saturating_sub(1)];
        let after = points[(place + 1).min(points.len() - 1)];
        let along = (after - before).normalized();
        let aside = vec2(-along.y, along.x) * half_width.max(1.0);
        let strength = half_width.min(1.0);
        for (offset, color) in [
            (-aside, Color32::TRANSPARENT),
            (Vec2::ZERO, color.gamma_multiply(strength)),
            (aside, Color32::TRANSPARENT),
        ] {
            mesh.vertices.push(Vertex {
                pos: *point + offset,
                uv: WHITE_UV,
                color,
            });
        }
    }
    for segment in 0..points.len().saturating_sub(1) as u32 {
        let here = first + 3 * segment;
        for side in 0..2 {
            let (a, b) = (here + side, here + side + 1);
            mesh.indices.extend([a, b, a + 3, a + 3, b, b + 3]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_records_have_two_lanes_of_three_phases_with_a_scale_each() {
        let layout = Layout::Waveform {
            n_channels: 6,
            n_points: 4,
        };
        let manner = Manner::of(layout, &[]);
        let mut atom = vec![0.5; 12];
        atom.extend([-3.0; 12]);
        assert!(matches!(
            manner,
            Manner::Lanes {
                n_lanes: 2,
                lines: 3,
                ..
            }
        ));
        assert_eq!(manner.scales([atom.as_slice()].into_iter()), [0.5, 3.0]);
    }

    #[test]
    fn heads_need_a_place_for_every_channel() {
        let layout = Layout::ChannelBand {
            n_channels: 4,
            n_bands: 2,
        };
        let places = [(0.0, 0.5), (0.5, 0.0), (0.0, -0.5), (-0.5, 0.0)].map(Some);
        assert!(matches!(Manner::of(layout, &places), Manner::Heads { .. }));
        let mut one_missing = places;
        one_missing[2] = None;
        let manner = Manner::of(layout, &one_missing);
        assert!(matches!(
            manner,
            Manner::Image {
                n_rows: 4,
                n_columns: 2,
                ..
            }
        ));
    }

    #[test]
    fn too_few_or_strange_values_draw_something_all_the_same() {
        let manner = Manner::of(Layout::Plain, &[]);
        let look = Look {
            manner: &manner,
            scales: &[1.0],
            signed: true,
            theme: Theme::Light,
            size: manner.size(),
        };
        assert!(!bars(&[f64::NAN, 1.0], &look).vertices.is_empty());
        assert!(!bars(&[], &look).vertices.is_empty());
        assert_eq!(picture(&[1.0], &look, (3, 2), false).pixels.len(), 6);
    }
}
