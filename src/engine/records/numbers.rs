//! Numbers stored one after the other in a file, read by channel at a constant stride.

use super::{ByteSource, ReadError, SampleSource};

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the names of the types")]
pub enum Number {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int24,
    Uint24,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float16,
    Float32,
    Float64,
}

impl Number {
    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 | Self::Float16 => 2,
            Self::Int24 | Self::Uint24 => 3,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 => 8,
        }
    }

    /// The number stored in `bytes`, or 0 if there are too few.
    pub fn decode(self, bytes: &[u8], is_big_endian: bool) -> f64 {
        let width = self.bytes();
        let mut stored = [0; 8];
        if let Some(bytes) = bytes.get(..width) {
            stored[..width].copy_from_slice(bytes);
        }
        if is_big_endian {
            stored[..width].reverse();
        }
        let [a, b, c, d, ..] = stored;
        match self {
            Self::Int8 => f64::from(a as i8),
            Self::Uint8 => f64::from(a),
            Self::Int16 => f64::from(i16::from_le_bytes([a, b])),
            Self::Uint16 => f64::from(u16::from_le_bytes([a, b])),
            Self::Int24 => f64::from(i32::from_le_bytes([0, a, b, c]) >> 8),
            Self::Uint24 => f64::from(u32::from_le_bytes([a, b, c, 0])),
            Self::Int32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::Uint32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Self::Int64 => i64::from_le_bytes(stored) as f64,
            Self::Uint64 => u64::from_le_bytes(stored) as f64,
            Self::Float16 => from_half(u16::from_le_bytes([a, b])),
            Self::Float32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::Float64 => f64::from_le_bytes(stored),
        }
    }
}

/// The number whose 16 bits these are: sign, 5 of the exponent, 10 of the fraction (IEEE 754 binary16).
fn from_half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    sign * match exponent {
        0 => fraction * 2.0_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2.0_f64.powi(exponent - 15),
    }
}

/// Numbers one after the other somewhere in a file.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The file, or bytes in memory.
    pub bytes: ByteSource,
    /// Where the first number starts.
    pub offset: u64,
    /// How each is stored.
    pub number: Number,
    /// Whether the high byte comes first.
    pub is_big_endian: bool,
}

/// Bytes read at once.
const BLOCK_BYTES: usize = 1 << 18;

impl Stored {
    /// Fills `out` with number `first` and those that follow every `stride` numbers.
    pub fn read(&self, first: u64, stride: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let width = self.number.bytes();
        let step = stride.saturating_mul(width).max(1);
        let at_once = (BLOCK_BYTES / step).max(1);
        let mut block = Vec::new();
        let mut next = first;
        for part in out.chunks_mut(at_once) {
            block.resize((part.len() - 1) * step + width, 0);
            let at = self.offset + next * width as u64;
            self.bytes.read_exact_at(at, &mut block)?;
            for (value, stored) in part.iter_mut().zip(block.chunks(step)) {
                *value = self.number.decode(stored, self.is_big_endian);
            }
            next += (part.len() * stride) as u64;
        }
        Ok(())
    }
}

/// Channels whose samples lie at a constant stride, each with its own factor.
#[derive(Debug, Clone)]
pub struct StridedSamples {
    /// The numbers.
    pub stored: Stored,
    /// Numbers from the first sample of a channel to that of the next.
    pub channel_stride: usize,
    /// Numbers from one sample of a channel to the next.
    pub sample_stride: usize,
    /// Physical value of the number 1 in each channel.
    pub factors: Vec<f64>,
}

impl StridedSamples {
    /// Numbers from the first to one sample of a channel.
    fn position(&self, channel: usize, sample: usize) -> u64 {
        channel as u64 * self.channel_stride as u64 + sample as u64 * self.sample_stride as u64
    }

    /// All channels of each time lie together: reads every byte once.
    fn read_frames(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        let Stored {
            bytes,
            offset,
            number,
            is_big_endian,
        } = &self.stored;
        let width = number.bytes();
        let frame_bytes = self.sample_stride * width;
        let at_once = (BLOCK_BYTES / frame_bytes).max(1);
        let n_samples = out.first().map_or(0, Vec::len);
        let mut block = Vec::new();
        let mut done = 0;
        while done < n_samples {
            let n = at_once.min(n_samples - done);
            block.resize(n * frame_bytes, 0);
            let at = offset + self.position(0, first + done) * width as u64;
            bytes.read_exact_at(at, &mut block)?;
            for (channel, (values, factor)) in out.iter_mut().zip(&self.factors).enumerate() {
                let frames = block.chunks_exact(frame_bytes);
                for (value, frame) in values[done..done + n].iter_mut().zip(frames) {
                    *value = number.decode(&frame[channel * width..], *is_big_endian) * factor;
                }
            }
            done += n;
        }
        Ok(())
    }
}

impl SampleSource for StridedSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let start = self.position(channel, first);
        self.stored.read(start, self.sample_stride, out)?;
        let factor = self.factors[channel];
        out.iter_mut().for_each(|value| *value *= factor);
        Ok(())
    }

    fn read_all(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        let n_samples = out.first().map_or(0, Vec::len);
        let is_even = out.iter().all(|values| values.len() == n_samples);
        let is_multiplexed = self.channel_stride == 1 && self.sample_stride == out.len();
        if is_even && is_multiplexed {
            return self.read_frames(first, out);
        }
        for (channel, values) in out.iter_mut().enumerate() {
            self.read(channel, first, values)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2.0_f64.powi(-24)),
            (0x3555, 0.333_251_953_125),
            (0x7c00, f64::INFINITY),
        ] {
            let bytes = u16::to_be_bytes(bits);
            assert_eq!(Number::Float16.decode(&bytes, true), value, "{bits:x}");
        }
        assert!(Number::Float16.decode(&[0x01, 0x7e], false).is_nan());
    }
}
