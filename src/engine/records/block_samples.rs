//! Samples in blocks somewhere in a file; in a block, all channels of each time lie together: FIF, Nihon Kohden.

use super::{ByteSource, Number, ReadError, SampleSource};

/// A stretch of samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampleBlock {
    /// Where its first number starts.
    pub(super) offset: u64,
    /// Number of its first sample in the recording.
    pub(super) first_sample: usize,
    pub(super) n_samples: usize,
    pub(super) number: Number,
}

/// Blocks in order of time.
pub(super) struct BlockSamples {
    pub(super) bytes: ByteSource,
    pub(super) is_big_endian: bool,
    pub(super) blocks: Vec<SampleBlock>,
    /// Numbers of each time, which may be more than there are channels.
    pub(super) frame_len: usize,
    /// Value of the stored 0 and of one step, in each channel.
    pub(super) lines: Vec<(f64, f64)>,
}

/// Bytes read at once.
const CHUNK_BYTES: usize = 1 << 18;

impl BlockSamples {
    /// Hands the bytes of all channels of samples `first .. first + n_samples` to `take`, piece by piece:
    /// the place of the piece's first sample among them, how its numbers are stored, and its bytes.
    fn visit(
        &self,
        first: usize,
        n_samples: usize,
        mut take: impl FnMut(usize, Number, &[u8]),
    ) -> Result<(), ReadError> {
        let mut bytes = Vec::new();
        let mut done = 0;
        let start = self
            .blocks
            .partition_point(|block| block.first_sample + block.n_samples <= first);
        for block in &self.blocks[start..] {
            let frame_bytes = self.frame_len * block.number.bytes();
            let at_once = (CHUNK_BYTES / frame_bytes).max(1);
            while done < n_samples {
                let inside = first + done - block.first_sample;
                let n = (block.n_samples - inside)
                    .min(n_samples - done)
                    .min(at_once);
                if n == 0 {
                    break;
                }
                bytes.resize(n * frame_bytes, 0);
                let at = block.offset + inside as u64 * frame_bytes as u64;
                self.bytes.read_exact_at(at, &mut bytes)?;
                take(done, block.number, &bytes);
                done += n;
            }
        }
        Ok(())
    }

    fn decode(&self, channel: usize, number: Number, frames: &[u8], out: &mut [f64]) {
        let (zero, step) = self.lines[channel];
        let width = number.bytes();
        let frames = frames.chunks_exact(self.frame_len * width);
        for (value, frame) in out.iter_mut().zip(frames) {
            *value = zero + number.decode(&frame[channel * width..], self.is_big_endian) * step;
        }
    }
}

impl SampleSource for BlockSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        self.visit(first, out.len(), |at, number, frames| {
            self.decode(channel, number, frames, &mut out[at..]);
        })
    }

    fn read_all(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        let n_samples = out.first().map_or(0, Vec::len);
        if out.iter().any(|values| values.len() != n_samples) {
            for (channel, values) in out.iter_mut().enumerate() {
                self.read(channel, first, values)?;
            }
            return Ok(());
        }
        self.visit(first, n_samples, |at, number, frames| {
            for (channel, values) in out.iter_mut().enumerate() {
                self.decode(channel, number, frames, &mut values[at..]);
            }
        })
    }
}
