//! Where samples came from, in little memory: rows that follow each other in their file are one entry.

use super::{Origin, Place};

/// The origins of samples, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OriginList {
    stretches: Vec<SourceStretch>,
    /// Start and length of windows, in their order.
    windows: Vec<[f64; 2]>,
    n_samples: usize,
}

/// Samples of one file that follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SourceStretch {
    /// The first of them.
    sample: usize,
    source: usize,
    first: FirstPlace,
}

/// Where the first sample of a stretch lies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FirstPlace {
    /// In this row; the others in the rows after it.
    Row(usize),
    /// In the window of this number; the others in those after it.
    Window(usize),
}

impl OriginList {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.n_samples
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.n_samples == 0
    }

    /// Adds the origin of one more sample.
    pub fn push(&mut self, origin: Origin) {
        let sample = self.n_samples;
        self.n_samples += 1;
        let Origin { source, place } = origin;
        let first = match place {
            Place::Row(row) => FirstPlace::Row(row),
            Place::Window {
                start_s,
                duration_s,
            } => {
                self.windows.push([start_s, duration_s]);
                FirstPlace::Window(self.windows.len() - 1)
            }
        };
        let follows = self.stretches.last().is_some_and(|last| {
            let expected = last.place_of(sample);
            last.source == source && expected == Some(first)
        });
        if !follows {
            self.stretches.push(SourceStretch {
                sample,
                source,
                first,
            });
        }
    }

    /// Where a sample came from.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn of(&self, sample: usize) -> Origin {
        assert!(sample < self.n_samples, "there is no sample {sample}");
        let after = self.stretches.partition_point(|s| s.sample <= sample);
        self.origin(&self.stretches[after - 1], sample)
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = Origin> + '_ {
        let ends = self.stretches.iter().skip(1).map(|next| next.sample);
        let ends = ends.chain(std::iter::once(self.n_samples));
        let stretches = self.stretches.iter().zip(ends);
        stretches.flat_map(|(stretch, end)| {
            (stretch.sample..end).map(|sample| self.origin(stretch, sample))
        })
    }

    /// Whether all samples came from one file.
    pub(super) fn has_one_source(&self) -> bool {
        let mut sources = self.stretches.iter().map(|stretch| stretch.source);
        let first = sources.next();
        sources.all(|source| Some(source) == first)
    }

    fn origin(&self, stretch: &SourceStretch, sample: usize) -> Origin {
        let past = sample - stretch.sample;
        let place = match stretch.first {
            FirstPlace::Row(row) => Place::Row(row + past),
            FirstPlace::Window(window) => {
                let [start_s, duration_s] = self.windows[window + past];
                Place::Window {
                    start_s,
                    duration_s,
                }
            }
        };
        Origin {
            source: stretch.source,
            place,
        }
    }
}

impl SourceStretch {
    /// Where a sample lies that belongs to the stretch.
    fn place_of(&self, sample: usize) -> Option<FirstPlace> {
        let past = sample - self.sample;
        Some(match self.first {
            FirstPlace::Row(row) => FirstPlace::Row(row.checked_add(past)?),
            FirstPlace::Window(window) => FirstPlace::Window(window + past),
        })
    }
}

impl FromIterator<Origin> for OriginList {
    fn from_iter<I: IntoIterator<Item = Origin>>(origins: I) -> Self {
        let mut list = Self::default();
        origins.into_iter().for_each(|origin| list.push(origin));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_what_was_added_and_rows_in_order_take_no_room() {
        let row = |source, row| Origin {
            source,
            place: Place::Row(row),
        };
        let window = |source, start_s| Origin {
            source,
            place: Place::Window {
                start_s,
                duration_s: 2.0,
            },
        };
        let mut all: Vec<Origin> = (0..1000).map(|r| row(0, r)).collect();
        all.extend([row(0, 1001), row(0, 1002), row(1, 1003), row(1, 7)]);
        all.extend([window(1, 0.0), window(1, 2.0), window(2, 4.0), row(2, 0)]);
        all.extend([row(2, usize::MAX), row(2, 0)]);
        let list: OriginList = all.iter().copied().collect();
        assert_eq!(list.len(), all.len());
        assert_eq!(list.stretches.len(), 9);
        assert_eq!(list.iter().collect::<Vec<_>>(), all);
        for (sample, origin) in all.iter().enumerate() {
            assert_eq!(list.of(sample), *origin);
        }
        assert!(!list.has_one_source());
        let rows: OriginList = all[..1002].iter().copied().collect();
        assert!(rows.has_one_source());
    }
}
