//! Bytes to read from: a file by positioned reads, or memory; and the files beside it.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FilePlace, ReadError};

/// Random access to bytes of known length; cloning shares them.
#[derive(Clone, Debug)]
pub struct ByteSource {
    path: Arc<Path>,
    len: u64,
    storage: Storage,
}

#[derive(Clone, Debug)]
enum Storage {
    #[cfg(any(unix, windows))]
    File(Arc<File>),
    #[cfg(not(any(unix, windows)))]
    File(Arc<std::sync::Mutex<File>>),
    Memory(Arc<Vec<u8>>),
    /// A stretch of another source, from this byte on.
    Part(Arc<ByteSource>, u64),
}

impl ByteSource {
    /// A file, read in place: nothing but its length is read now.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let cannot = |source| ReadError::io(path, source);
        // Asked before opening, because opening a named pipe waits for a writer.
        let metadata = std::fs::metadata(path).map_err(cannot)?;
        if metadata.is_dir() {
            let remedy = "it is a folder; give the files in it";
            return Err(cannot(io::Error::other(remedy)));
        }
        if !metadata.is_file() {
            let remedy = "it is not a regular file; save its content to one first";
            return Err(cannot(io::Error::other(remedy)));
        }
        let file = File::open(path).map_err(cannot)?;
        Ok(Self::of_file(path, file, metadata.len()))
    }

    /// A file that is open, with the name it has or had.
    pub(super) fn of_file(path: &Path, file: File, len: u64) -> Self {
        #[cfg(not(any(unix, windows)))]
        let file = std::sync::Mutex::new(file);
        Self {
            path: path.into(),
            len,
            storage: Storage::File(Arc::new(file)),
        }
    }

    /// Bytes in memory, under a name for messages.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        // A vector is taken over as it is; a shared slice would be a copy.
        let bytes = bytes.into();
        Self {
            path: name.as_ref().into(),
            len: bytes.len() as u64,
            storage: Storage::Memory(Arc::new(bytes)),
        }
    }

    /// The bytes of a stretch, which lies inside, under a name of their own; nothing is read.
    pub(super) fn part(&self, name: impl AsRef<Path>, place: Range<u64>) -> Self {
        Self {
            path: name.as_ref().into(),
            len: place.end.min(self.len).saturating_sub(place.start),
            storage: Storage::Part(Arc::new(self.clone()), place.start),
        }
    }

    /// Path or name, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no byte at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fills `out` from `offset`, or says where the bytes end.
    pub fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> Result<(), ReadError> {
        let mut done = 0;
        while done < out.len() {
            let at = offset.saturating_add(done as u64);
            match self.read_at(at, &mut out[done..]) {
                Ok(0) => return Err(self.ends_early(offset, out.len() as u64)),
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::io(&self.path, error)),
            }
        }
        Ok(())
    }

    /// The bytes `offset .. offset + len`; memory is taken only if they exist.
    pub fn read_range(&self, offset: u64, len: u64) -> Result<Vec<u8>, ReadError> {
        let inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        let size = usize::try_from(len).ok().filter(|_| inside);
        let Some(size) = size else {
            return Err(self.ends_early(offset, len));
        };
        let mut bytes = vec![0; size];
        self.read_exact_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// At most `limit` bytes from the start.
    pub fn read_start(&self, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.read_range(0, limit.min(self.len))
    }

    /// Everything: for text and for formats that are compressed anyhow.
    pub fn read_all(&self) -> Result<Vec<u8>, ReadError> {
        self.read_range(0, self.len)
    }

    fn ends_early(&self, offset: u64, len: u64) -> ReadError {
        ReadError::malformed(
            &self.path,
            FilePlace::Byte(offset),
            "file length",
            format!("{} bytes", self.len),
            format!("{len} more bytes"),
        )
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        match &self.storage {
            #[cfg(unix)]
            Storage::File(file) => std::os::unix::fs::FileExt::read_at(&**file, out, offset),
            #[cfg(windows)]
            Storage::File(file) => std::os::windows::fs::FileExt::seek_read(&**file, out, offset),
            #[cfg(not(any(unix, windows)))]
            Storage::File(file) => {
                use std::io::{Read, Seek, SeekFrom};
                let mut file = file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                file.seek(SeekFrom::Start(offset))?;
                file.read(out)
            }
            Storage::Part(whole, start) => {
                let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
                let n = left.min(out.len());
                whole.read_at(start.saturating_add(offset), &mut out[..n])
            }
            Storage::Memory(bytes) => {
                let rest = usize::try_from(offset)
                    .ok()
                    .and_then(|start| bytes.get(start..))
                    .unwrap_or(&[]);
                let n = rest.len().min(out.len());
                out[..n].copy_from_slice(&rest[..n]);
                Ok(n)
            }
        }
    }
}

/// What a reader gets: the file it was asked to open, and a way to the files beside it.
#[derive(Clone, Debug)]
pub struct Input {
    /// The bytes of the file itself.
    pub bytes: ByteSource,
    beside: Beside,
}

#[derive(Clone, Debug)]
enum Beside {
    Folder,
    Memory(Vec<(String, ByteSource)>),
}

impl Input {
    /// A file on disk; its companions are looked for in the same folder.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Ok(Self {
            bytes: ByteSource::open(path)?,
            beside: Beside::Folder,
        })
    }

    /// Bytes in memory, with no companion yet.
    pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: ByteSource::from_bytes(name, bytes),
            beside: Beside::Memory(Vec::new()),
        }
    }

    /// Adds a file that lies beside bytes in memory.
    pub fn with_companion(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        if let Beside::Memory(files) = &mut self.beside {
            files.push((name.to_owned(), ByteSource::from_bytes(name, bytes)));
        }
        self
    }

    /// Path or name of the file itself.
    pub fn path(&self) -> &Path {
        self.bytes.path()
    }

    /// Extension in lower case, without the dot.
    pub fn extension(&self) -> String {
        self.path()
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase())
            .unwrap_or_default()
    }

    /// The file called `name` beside this one, upper and lower case being equal.
    ///
    /// Only the last part of `name` counts: a header cannot point out of its folder.
    pub fn companion(&self, name: &str) -> Result<Option<ByteSource>, ReadError> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        if name.is_empty() || name == ".." || name.contains('\0') {
            return Ok(None);
        }
        match &self.beside {
            Beside::Memory(files) => Ok(files
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, bytes)| bytes.clone())),
            Beside::Folder => match find_in_folder(&self.folder(), name) {
                Some(path) => ByteSource::open(&path).map(Some),
                None => Ok(None),
            },
        }
    }

    /// Names of the files beside this one, in alphabetical order.
    pub fn names_beside(&self) -> Vec<String> {
        let mut names: Vec<String> = match &self.beside {
            Beside::Memory(files) => files.iter().map(|(name, _)| name.clone()).collect(),
            Beside::Folder => std::fs::read_dir(self.folder())
                .into_iter()
                .flatten()
                .filter_map(Result::ok)
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .collect(),
        };
        names.sort_unstable();
        names
    }

    /// The file of the same stem with another extension (without the dot).
    pub fn companion_with_extension(&self, ending: &str) -> Result<Option<ByteSource>, ReadError> {
        self.companion(&self.sibling_name(ending))
    }

    /// The name of this file with another extension (without the dot).
    pub fn sibling_name(&self, ending: &str) -> String {
        let sibling = self.path().with_extension(ending);
        let name = sibling.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The same folder, seen from one of its other files.
    pub fn seen_from(&self, bytes: ByteSource) -> Self {
        Self {
            bytes,
            beside: self.beside.clone(),
        }
    }

    fn folder(&self) -> PathBuf {
        match self.path().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

/// The exact name first; otherwise the only other way to find it is to list the folder.
fn find_in_folder(folder: &Path, name: &str) -> Option<PathBuf> {
    let exact = folder.join(name);
    if exact.is_file() {
        return Some(exact);
    }
    std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .find(|entry| {
            let known = entry.file_name();
            known.to_string_lossy().to_lowercase() == name.to_lowercase()
        })
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
}
