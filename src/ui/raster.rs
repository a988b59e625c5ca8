//! A renderer without GPU and display: egui's triangles into a picture, for screenshots and tests.
//!
//! It follows egui's painters: colours are premultiplied and blended as they are stored
//! (in gamma space), and antialiasing comes from the feathered edges egui draws.

use std::collections::BTreeMap;

use egui::epaint::{ClippedPrimitive, ImageData, Mesh, Primitive, Vertex};
use egui::{Color32, Rect, TextureFilter, TextureId, TextureOptions, TextureWrapMode};

/// An opaque picture, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue of each pixel.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// The picture as the bytes of a PNG file.
    pub fn to_png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::NoFilter);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }
}

struct Texture {
    width: usize,
    height: usize,
    texels: Vec<Color32>,
    options: TextureOptions,
}

impl Texture {
    /// Takes in an image as a whole, or a part of it at `place`.
    fn update(&mut self, image: &ImageData, place: Option<[usize; 2]>) {
        let ImageData::Color(image) = image;
        let [width, height] = image.size;
        let Some([left, top]) = place else {
            (self.width, self.height) = (width, height);
            self.texels.clone_from(&image.pixels);
            return;
        };
        for (row, source) in image.pixels.chunks_exact(width.max(1)).enumerate() {
            let start = (top + row) * self.width + left;
            if let Some(target) = self.texels.get_mut(start..start + width) {
                target.copy_from_slice(source);
            }
        }
    }

    /// The colour at `u`, `v` in units of the texture.
    fn sample(&self, u: f32, v: f32) -> [f32; 4] {
        let (x, y) = (u * self.width as f32, v * self.height as f32);
        if self.options.magnification == TextureFilter::Nearest {
            return self.texel(x.floor() as isize, y.floor() as isize);
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (right_share, low_share) = (x - left, y - top);
        let (left, top) = (left as isize, top as isize);
        let mut sum = [0.0; 4];
        for (column, row, share) in [
            (left, top, (1.0 - right_share) * (1.0 - low_share)),
            (left + 1, top, right_share * (1.0 - low_share)),
            (left, top + 1, (1.0 - right_share) * low_share),
            (left + 1, top + 1, right_share * low_share),
        ] {
            if share > 0.0 {
                let texel = self.texel(column, row);
                for channel in 0..4 {
                    sum[channel] += texel[channel] * share;
                }
            }
        }
        sum
    }

    fn texel(&self, column: isize, row: isize) -> [f32; 4] {
        let column = wrap(column, self.width, self.options.wrap_mode);
        let row = wrap(row, self.height, self.options.wrap_mode);
        self.texels
            .get(row * self.width + column)
            .map_or([0.0; 4], |texel| channels(*texel))
    }
}

fn wrap(place: isize, size: usize, mode: TextureWrapMode) -> usize {
    let size = size.max(1) as isize;
    let wrapped = match mode {
        TextureWrapMode::ClampToEdge => place.clamp(0, size - 1),
        TextureWrapMode::Repeat => place.rem_euclid(size),
        TextureWrapMode::MirroredRepeat => {
            let twice = place.rem_euclid(2 * size);
            twice.min(2 * size - 1 - twice)
        }
    };
    wrapped as usize
}

/// 0 to 255 as floats.
fn channels(color: Color32) -> [f32; 4] {
    color.to_array().map(f32::from)
}

/// Keeps the textures of a window and paints its frames.
#[derive(Default)]
pub struct Rasteriser {
    textures: BTreeMap<TextureId, Texture>,
    /// Textures that the frame painted last still needed.
    outdated: Vec<TextureId>,
}

impl Rasteriser {
    /// Without textures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over the changes of textures that came with a frame; to be called for every frame.
    pub fn apply(&mut self, delta: &mut egui::TexturesDelta) {
        for id in self.outdated.drain(..) {
            self.textures.remove(&id);
        }
        // Each texture is changed on its own, so their order does not matter.
        let mut changes: Vec<_> = delta.set.drain().collect();
        changes.sort_by_key(|(id, _)| *id);
        for (id, parts) in changes {
            for part in parts {
                let texture = self.textures.entry(id).or_insert_with(|| Texture {
                    width: 0,
                    height: 0,
                    texels: Vec::new(),
                    options: part.options,
                });
                texture.options = part.options;
                texture.update(&part.image, part.pos);
            }
        }
        self.outdated.extend(delta.free.drain());
    }

    /// Paints a tessellated frame on an opaque background.
    pub fn paint(
        &self,
        primitives: &[ClippedPrimitive],
        size: [usize; 2],
        pixels_per_point: f32,
        background: Color32,
    ) -> Picture {
        let [width, height] = size;
        let [red, green, blue, _] = background.to_array();
        let mut picture = Picture {
            width,
            height,
            pixels: vec![[red, green, blue]; width * height],
        };
        for ClippedPrimitive {
            clip_rect,
            primitive,
        } in primitives
        {
            if let Primitive::Mesh(mesh) = primitive
                && let Some(texture) = self.textures.get(&mesh.texture_id)
            {
                let clip = Clip::new(*clip_rect, pixels_per_point, size);
                paint_mesh(&mut picture, mesh, texture, pixels_per_point, &clip);
            }
        }
        picture
    }
}

/// The pixels that may be painted: from the first up to but without the last.
struct Clip {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Clip {
    fn new(rect: Rect, scale: f32, size: [usize; 2]) -> Self {
        let pixel =
            |value: f32, most: usize| (value * scale).round().clamp(0.0, most as f32) as i32;
        Self {
            left: pixel(rect.min.x, size[0]),
            top: pixel(rect.min.y, size[1]),
            right: pixel(rect.max.x, size[0]),
            bottom: pixel(rect.max.y, size[1]),
        }
    }
}

fn paint_mesh(picture: &mut Picture, mesh: &Mesh, texture: &Texture, scale: f32, clip: &Clip) {
    for corners in mesh.indices.chunks_exact(3) {
        let vertex = |place: usize| mesh.vertices.get(corners[place] as usize).copied();
        let (Some(a), Some(b), Some(c)) = (vertex(0), vertex(1), vertex(2)) else {
            continue;
        };
        let scaled = [a, b, c].map(|vertex| Vertex {
            pos: (vertex.pos.to_vec2() * scale).to_pos2(),
            ..vertex
        });
        paint_triangle(picture, scaled, texture, clip);
    }
}

/// Colour and place in the texture, as linear functions of the pixel.
struct Plane<const N: usize> {
    at_origin: [f32; N],
    along_x: [f32; N],
    along_y: [f32; N],
}

impl<const N: usize> Plane<N> {
    /// The plane through the values at three points; `area` is twice the signed area.
    fn through(corners: &[Vertex; 3], values: [[f32; N]; 3], area: f32) -> Self {
        let [a, b, c] = corners.map(|vertex| vertex.pos);
        let (mut along_x, mut along_y, mut at_origin) = ([0.0; N], [0.0; N], [0.0; N]);
        for n in 0..N {
            let (to_b, to_c) = (values[1][n] - values[0][n], values[2][n] - values[0][n]);
            along_x[n] = (to_b * (c.y - a.y) - to_c * (b.y - a.y)) / area;
            along_y[n] = (to_c * (b.x - a.x) - to_b * (c.x - a.x)) / area;
            at_origin[n] = values[0][n] - along_x[n] * a.x - along_y[n] * a.y;
        }
        Self {
            at_origin,
            along_x,
            along_y,
        }
    }

    fn at(&self, x: f32, y: f32) -> [f32; N] {
        std::array::from_fn(|n| self.at_origin[n] + self.along_x[n] * x + self.along_y[n] * y)
    }
}

fn paint_triangle(picture: &mut Picture, mut corners: [Vertex; 3], texture: &Texture, clip: &Clip) {
    // One order for all triangles: a common edge then meets the rows at the very same places,
    // and no pixel along it is painted twice or omitted.
    corners.sort_by(|a, b| {
        a.pos
            .y
            .total_cmp(&b.pos.y)
            .then(a.pos.x.total_cmp(&b.pos.x))
    });
    let [a, b, c] = corners.map(|vertex| vertex.pos);
    let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if !area.is_finite() || area.abs() < 1e-6 {
        return;
    }
    let one_color = corners[0].color == corners[1].color && corners[0].color == corners[2].color;
    let one_texel = corners[0].uv == corners[1].uv && corners[0].uv == corners[2].uv;
    if one_color && corners[0].color == Color32::TRANSPARENT {
        return;
    }
    let shade = Plane::through(&corners, corners.map(|v| channels(v.color)), area);
    let place = Plane::through(&corners, corners.map(|v| [v.uv.x, v.uv.y]), area);
    let texel = one_texel.then(|| texture.sample(corners[0].uv.x, corners[0].uv.y));
    let flat = texel
        .filter(|_| one_color)
        .map(|texel| product(texel, channels(corners[0].color)));

    let first_row = (first_centre(a.y)).max(clip.top);
    let end_row = (first_centre(c.y)).min(clip.bottom);
    for row in first_row..end_row {
        let y = row as f32 + 0.5;
        let long = crossing(a, c, y);
        let short = if y < b.y {
            crossing(a, b, y)
        } else {
            crossing(b, c, y)
        };
        let start = first_centre(long.min(short)).max(clip.left);
        let end = first_centre(long.max(short)).min(clip.right);
        if start >= end {
            continue;
        }
        let offset = row as usize * picture.width;
        let span = &mut picture.pixels[offset + start as usize..offset + end as usize];
        if let Some(color) = flat {
            fill(span, color);
            continue;
        }
        let x = start as f32 + 0.5;
        let mut color = shade.at(x, y);
        let mut uv = place.at(x, y);
        for pixel in span {
            let texel = texel.unwrap_or_else(|| texture.sample(uv[0], uv[1]));
            blend(
                pixel,
                product(texel, color.map(|value| value.clamp(0.0, 255.0))),
            );
            for (value, step) in color.iter_mut().zip(shade.along_x) {
                *value += step;
            }
            uv[0] += place.along_x[0];
            uv[1] += place.along_x[1];
        }
    }
}

/// The first pixel whose centre lies at `edge` or beyond.
fn first_centre(edge: f32) -> i32 {
    (edge - 0.5).ceil() as i32
}

/// Where the edge from `upper` to `lower` crosses the row at `y`.
fn crossing(upper: egui::Pos2, lower: egui::Pos2, y: f32) -> f32 {
    upper.x + (lower.x - upper.x) * ((y - upper.y) / (lower.y - upper.y))
}

fn product(texel: [f32; 4], color: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|n| texel[n] * color[n] * (1.0 / 255.0))
}

fn fill(span: &mut [[u8; 3]], color: [f32; 4]) {
    if color[3] >= 254.5 {
        span.fill([color[0], color[1], color[2]].map(|value| (value + 0.5) as u8));
    } else {
        for pixel in span {
            blend(pixel, color);
        }
    }
}

/// Puts a premultiplied colour over a pixel.
fn blend(pixel: &mut [u8; 3], color: [f32; 4]) {
    let below = 1.0 - color[3] * (1.0 / 255.0);
    for (channel, value) in pixel.iter_mut().zip(color) {
        *channel = (value + f32::from(*channel) * below + 0.5).min(255.0) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::epaint::ImageDelta;
    use egui::{ColorImage, Pos2, TexturesDelta, pos2, vec2};

    const USER: TextureId = TextureId::User(7);

    fn rasteriser(size: [usize; 2], texels: Vec<Color32>, options: TextureOptions) -> Rasteriser {
        let mut delta = TexturesDelta::default();
        let image = ColorImage::new(size, texels);
        delta.push(USER, ImageDelta::full(image, options));
        let mut rasteriser = Rasteriser::new();
        rasteriser.apply(&mut delta);
        rasteriser
    }

    fn white() -> Rasteriser {
        rasteriser([1, 1], vec![Color32::WHITE], TextureOptions::LINEAR)
    }

    fn clipped(mesh: Mesh, clip_rect: Rect) -> ClippedPrimitive {
        ClippedPrimitive {
            clip_rect,
            primitive: Primitive::Mesh(mesh),
        }
    }

    fn rect_mesh(rect: Rect, color: Color32) -> Mesh {
        let mut mesh = Mesh::with_texture(USER);
        mesh.add_rect_with_uv(rect, Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0)), color);
        mesh
    }

    fn screen() -> Rect {
        Rect::from_min_size(Pos2::ZERO, vec2(8.0, 8.0))
    }

    #[test]
    fn a_translucent_rectangle_is_blended_once_per_pixel_also_along_its_diagonal() {
        let half_red = Color32::from_rgba_premultiplied(128, 0, 0, 128);
        let mesh = rect_mesh(Rect::from_min_max(pos2(1.0, 2.0), pos2(6.0, 7.0)), half_red);
        let picture = white().paint(&[clipped(mesh, screen())], [8, 8], 1.0, Color32::WHITE);
        for (place, pixel) in picture.pixels.iter().enumerate() {
            let inside = (1..6).contains(&(place % 8)) && (2..7).contains(&(place / 8));
            let expected = if inside { [255, 127, 127] } else { [255; 3] };
            assert_eq!(*pixel, expected, "pixel {place}");
        }
    }

    #[test]
    fn clipping_and_scale_count_in_pixels() {
        let mesh = rect_mesh(screen(), Color32::BLACK);
        let clip = Rect::from_min_max(pos2(1.0, 1.0), pos2(3.0, 2.0));
        let picture = white().paint(&[clipped(mesh, clip)], [16, 16], 2.0, Color32::WHITE);
        let dark = picture.pixels.iter().filter(|pixel| pixel[0] == 0).count();
        assert_eq!(dark, 4 * 2);
        assert_eq!(picture.pixels[2 * 16 + 2], [0; 3]);
    }

    #[test]
    fn textures_are_sampled_linearly_or_to_the_nearest_and_updated_in_part() {
        let texels = vec![Color32::BLACK, Color32::WHITE];
        let mesh = || rect_mesh(screen(), Color32::WHITE);
        let linear = rasteriser([2, 1], texels.clone(), TextureOptions::LINEAR);
        let row = linear.paint(&[clipped(mesh(), screen())], [8, 8], 1.0, Color32::RED);
        assert_eq!(row.pixels[0], [0; 3]);
        assert_eq!(row.pixels[7], [255; 3]);
        assert!((60..190).contains(&row.pixels[4][0]));

        let mut nearest = rasteriser([2, 1], texels, TextureOptions::NEAREST);
        let mut delta = TexturesDelta::default();
        let part = ColorImage::new([1, 1], vec![Color32::RED]);
        delta.push(
            USER,
            ImageDelta::partial([1, 0], part, TextureOptions::NEAREST),
        );
        nearest.apply(&mut delta);
        let row = nearest.paint(&[clipped(mesh(), screen())], [8, 8], 1.0, Color32::WHITE);
        assert_eq!(row.pixels[3], [0; 3]);
        assert_eq!(row.pixels[4], [255, 0, 0]);
    }

    #[test]
    fn colours_run_evenly_between_the_corners() {
        let mut mesh = Mesh::with_texture(USER);
        for (x, y, color) in [
            (0.0, 0.0, Color32::BLACK),
            (8.0, 0.0, Color32::WHITE),
            (0.0, 8.0, Color32::BLACK),
            (8.0, 8.0, Color32::WHITE),
        ] {
            mesh.vertices.push(Vertex {
                pos: pos2(x, y),
                uv: Pos2::ZERO,
                color,
            });
        }
        mesh.indices = vec![0, 1, 2, 2, 1, 3];
        let picture = white().paint(&[clipped(mesh, screen())], [8, 8], 1.0, Color32::RED);
        for (place, pixel) in picture.pixels.iter().enumerate() {
            let expected = ((place % 8) as f32 + 0.5) / 8.0 * 255.0;
            assert!((f32::from(pixel[0]) - expected).abs() <= 1.0);
        }
    }

    #[test]
    fn broken_meshes_are_left_out() {
        let mut mesh = rect_mesh(screen(), Color32::BLACK);
        mesh.indices.extend([0, 1, 99]);
        mesh.vertices[0].pos = pos2(f32::NAN, f32::INFINITY);
        let picture = white().paint(&[clipped(mesh, screen())], [8, 8], 1.0, Color32::WHITE);
        assert_eq!(picture.pixels.len(), 64);
    }

    #[test]
    fn a_freed_texture_serves_the_frame_that_frees_it_and_no_later_one() {
        let mut rasteriser = white();
        let frame = [clipped(rect_mesh(screen(), Color32::BLACK), screen())];
        let mut delta = TexturesDelta::default();
        delta.free(USER);
        rasteriser.apply(&mut delta);
        let painted = rasteriser.paint(&frame, [8, 8], 1.0, Color32::WHITE);
        assert_eq!(painted.pixels[0], [0; 3]);
        rasteriser.apply(&mut TexturesDelta::default());
        let painted = rasteriser.paint(&frame, [8, 8], 1.0, Color32::WHITE);
        assert_eq!(painted.pixels[0], [255; 3]);
    }
}
