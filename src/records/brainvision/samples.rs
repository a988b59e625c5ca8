//! Samples of a BrainVision data file, multiplexed or vectorised.

use super::super::{ByteSource, ReadError, Samples};
use super::header::{Header, Number, Orientation};

/// How to find and scale a sample.
pub(super) struct BrainVisionSamples {
    bytes: ByteSource,
    orientation: Orientation,
    number: Number,
    is_big_endian: bool,
    n_samples: usize,
    resolutions: Vec<f64>,
}

/// Bytes read at once.
const BLOCK_BYTES: usize = 1 << 18;

impl BrainVisionSamples {
    pub(super) fn new(bytes: ByteSource, header: &Header, n_samples: usize) -> Self {
        Self {
            bytes,
            orientation: header.orientation,
            number: header.number,
            is_big_endian: header.is_big_endian,
            n_samples,
            resolutions: header.channels.iter().map(|c| c.resolution).collect(),
        }
    }

    /// Samples from one sample of a channel to the next.
    fn stride(&self) -> usize {
        match self.orientation {
            Orientation::Multiplexed => self.resolutions.len(),
            Orientation::Vectorised => 1,
        }
    }

    fn position(&self, channel: usize, sample: usize) -> u64 {
        match self.orientation {
            Orientation::Multiplexed => {
                sample as u64 * self.resolutions.len() as u64 + channel as u64
            }
            Orientation::Vectorised => channel as u64 * self.n_samples as u64 + sample as u64,
        }
    }

    fn value(&self, stored: &[u8]) -> f64 {
        let mut bytes = [0; 8];
        let n = stored.len().min(8);
        bytes[..n].copy_from_slice(&stored[..n]);
        if self.is_big_endian {
            bytes[..n].reverse();
        }
        let [a, b, c, d, ..] = bytes;
        match self.number {
            Number::Int16 => f64::from(i16::from_le_bytes([a, b])),
            Number::Uint16 => f64::from(u16::from_le_bytes([a, b])),
            Number::Int32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Number::Float32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Number::Float64 => f64::from_le_bytes(bytes),
        }
    }
}

impl Samples for BrainVisionSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let width = self.number.bytes();
        let step = self.stride() * width;
        let at_once = (BLOCK_BYTES / step).max(1);
        let resolution = self.resolutions[channel];
        let mut block = Vec::new();
        let mut sample = first;
        for part in out.chunks_mut(at_once) {
            block.resize((part.len() - 1) * step + width, 0);
            let at = self.position(channel, sample) * width as u64;
            self.bytes.read_exact_at(at, &mut block)?;
            for (value, stored) in part.iter_mut().zip(block.chunks(step)) {
                *value = self.value(&stored[..width]) * resolution;
            }
            sample += part.len();
        }
        Ok(())
    }
}
