//! Chunks of an HDF5 array: found through a tree, unfiltered, put in their place.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::super::ReadError;
use super::{Hdf5, NOWHERE, number};

/// What was done to a chunk before it was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkFilter {
    Deflate,
    /// First bytes of all elements, then second bytes, …
    Shuffle,
    /// A sum of 4 bytes at the end.
    Fletcher32,
}

/// An array stored in chunks.
pub(super) struct Chunked {
    pub(super) shape: Vec<usize>,
    /// Size of a chunk along each axis.
    pub(super) chunk: Vec<u64>,
    pub(super) element_bytes: u64,
    /// Bytes of the whole array.
    pub(super) len: u64,
    pub(super) filters: Vec<ChunkFilter>,
    /// Where its layout is described.
    pub(super) at: u64,
}

/// A chunk as listed in the tree.
struct ChunkEntry {
    stored_bytes: u64,
    skipped_filters: u64,
    /// Position of its first element.
    start: Vec<u64>,
    address: u64,
}

impl Chunked {
    /// Bytes of a chunk, and how many chunks cover the array.
    fn counts(&self) -> Option<(u64, u64)> {
        let mut chunk_bytes = self.element_bytes;
        let mut n_chunks: u64 = 1;
        for (&size, &chunk) in self.shape.iter().zip(&self.chunk) {
            chunk_bytes = chunk_bytes.checked_mul(chunk)?;
            n_chunks = n_chunks.checked_mul((size as u64).checked_div(chunk)?.checked_add(1)?)?;
        }
        Some((chunk_bytes, n_chunks))
    }
}

impl Hdf5<'_> {
    /// The array as one piece; what no chunk covers is 0.
    pub(super) fn read_chunks(&mut self, array: &Chunked, tree: u64) -> Result<Vec<u8>, ReadError> {
        let counts = array.counts();
        // Chunks far larger than the array would be work without end for little data.
        let sound = counts.filter(|&(chunk_bytes, n_chunks)| {
            let work = chunk_bytes.checked_mul(n_chunks);
            work.is_some_and(|work| work / 16 <= array.len.saturating_add(4 << 20))
        });
        let Some((chunk_bytes, n_chunks)) = sound else {
            let found = format!("{:?}", array.chunk);
            let expected = format!("in proportion to an array of size {:?}", array.shape);
            return Err(self.refusal(array.at, "size of a chunk", found, expected));
        };
        self.spend(
            array.len.saturating_add(chunk_bytes.saturating_mul(2)),
            array.at,
        )?;
        let mut whole = vec![0; array.len as usize];
        if tree == NOWHERE || array.len == 0 {
            return Ok(whole);
        }
        let mut nodes = vec![tree];
        let mut n_left = n_chunks.saturating_mul(2).saturating_add(16);
        while let Some(address) = nodes.pop() {
            let (level, entries) = self.tree_node(array, address)?;
            n_left = n_left.saturating_sub(1 + entries.len() as u64);
            if n_left == 0 {
                let expected = format!("{n_chunks} chunks");
                return Err(self.refusal(array.at, "tree of chunks", "more entries", expected));
            }
            for entry in entries {
                if level > 0 {
                    nodes.push(entry.address);
                } else {
                    let chunk = self.read_chunk(array, &entry, chunk_bytes)?;
                    place_chunk(array, &entry.start, &chunk, &mut whole);
                }
            }
        }
        Ok(whole)
    }

    /// Level and children of a node.
    fn tree_node(&self, array: &Chunked, address: u64) -> Result<(u8, Vec<ChunkEntry>), ReadError> {
        let at = self.place(address)?;
        let head = self.read(at, 24.min(self.bytes.len() - at))?;
        if !head.starts_with(b"TREE") || head.get(4) != Some(&1) {
            let found = format!("\"{}\"", head[..head.len().min(5)].escape_ascii());
            return Err(self.refusal(at, "node of the tree of chunks", found, "TREE of type 1"));
        }
        let n_entries = number(&head, 6, 2).unwrap_or(0);
        let n_axes = array.shape.len();
        let key_bytes = 8 + 8 * (n_axes + 1);
        let entry_bytes = (key_bytes + 8) as u64;
        let body = self.read(at + 24, n_entries * entry_bytes)?;
        let entries = body.chunks_exact(entry_bytes as usize).filter_map(|entry| {
            Some(ChunkEntry {
                stored_bytes: number(entry, 0, 4)?,
                skipped_filters: number(entry, 4, 4)?,
                start: (0..n_axes)
                    .map(|axis| number(entry, 8 + 8 * axis, 8))
                    .collect::<Option<_>>()?,
                address: number(entry, key_bytes, 8)?,
            })
        });
        Ok((head.get(5).copied().unwrap_or(0), entries.collect()))
    }

    fn read_chunk(
        &self,
        array: &Chunked,
        entry: &ChunkEntry,
        chunk_bytes: u64,
    ) -> Result<Vec<u8>, ReadError> {
        let at = self.place(entry.address)?;
        let mut chunk = self.read(at, entry.stored_bytes)?;
        for (position, filter) in array.filters.iter().enumerate().rev() {
            if entry.skipped_filters >> position.min(63) & 1 != 0 {
                continue;
            }
            chunk = match filter {
                ChunkFilter::Deflate => {
                    let mut inflated = Vec::new();
                    // One byte more than there should be shows that there is too much.
                    let mut decoder = ZlibDecoder::new(chunk.as_slice()).take(chunk_bytes + 5);
                    decoder.read_to_end(&mut inflated).map_err(|error| {
                        self.refusal(at, "compressed chunk", error, "a sound zlib stream")
                    })?;
                    inflated
                }
                ChunkFilter::Shuffle => unshuffle(&chunk, array.element_bytes as usize),
                ChunkFilter::Fletcher32 => {
                    chunk.truncate(chunk.len().saturating_sub(4));
                    chunk
                }
            };
        }
        if chunk.len() as u64 != chunk_bytes {
            let found = format!("{} bytes", chunk.len());
            return Err(self.refusal(at, "size of a chunk", found, format!("{chunk_bytes} bytes")));
        }
        Ok(chunk)
    }
}

fn unshuffle(bytes: &[u8], element_bytes: usize) -> Vec<u8> {
    let n_elements = bytes.len() / element_bytes.max(1);
    let mut plain = Vec::with_capacity(bytes.len());
    for element in 0..n_elements {
        plain.extend((0..element_bytes).map(|byte| bytes[byte * n_elements + element]));
    }
    plain.extend_from_slice(&bytes[plain.len()..]);
    plain
}

/// Copies the part of a chunk that lies within the array, row by row of the last axis.
fn place_chunk(array: &Chunked, start: &[u64], chunk: &[u8], whole: &mut [u8]) {
    let Some(last) = array.shape.len().checked_sub(1) else {
        whole.copy_from_slice(&chunk[..whole.len()]);
        return;
    };
    let element_bytes = array.element_bytes as usize;
    let row_bytes = array.chunk[last] as usize * element_bytes;
    let n_rows = chunk.len() / row_bytes.max(1);
    for row in 0..n_rows {
        // Position of the row's first element in the array, axis by axis from the last but one.
        let mut rest = row as u64;
        let mut index: u64 = 0;
        let mut stride: u64 = array.shape[last] as u64;
        let mut is_inside = start[last] < array.shape[last] as u64;
        for axis in (0..last).rev() {
            let position = start[axis].saturating_add(rest % array.chunk[axis]);
            rest /= array.chunk[axis];
            is_inside &= position < array.shape[axis] as u64;
            index = index.saturating_add(position.saturating_mul(stride));
            stride = stride.saturating_mul(array.shape[axis] as u64);
        }
        if !is_inside {
            continue;
        }
        let n_elements = array.chunk[last].min(array.shape[last] as u64 - start[last]) as usize;
        let from = row * row_bytes;
        let to = (index + start[last]) as usize * element_bytes;
        let len = n_elements * element_bytes;
        whole[to..to + len].copy_from_slice(&chunk[from..from + len]);
    }
}
