//! What a file of data is known by: its path as text, without loss also where it is no Unicode.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Before the text of a path that is no Unicode: its bytes follow, those beyond ASCII as `%FF`.
const BYTES: &str = "bytes:";

/// A path as text, with `/` between its parts. Two paths that differ have texts that differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(String);

impl SourceId {
    /// What the file at `path` is known by.
    pub fn of(path: &Path) -> Self {
        match path.to_str() {
            Some(text) if !text.starts_with(BYTES) => Self(with_slashes(text)),
            _ => Self(format!(
                "{BYTES}{}",
                escaped(path.as_os_str().as_encoded_bytes())
            )),
        }
    }

    /// The source that a text names.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The path.
    pub fn path(&self) -> PathBuf {
        match self.0.strip_prefix(BYTES) {
            Some(escaped) => path_of(unescaped(escaped)),
            None => PathBuf::from(&self.0),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<SourceId> for String {
    fn from(id: SourceId) -> Self {
        id.0
    }
}

/// On Windows `\` separates, too; elsewhere it is part of a name.
fn with_slashes(text: &str) -> String {
    match cfg!(windows) {
        true => text.replace('\\', "/"),
        false => text.to_owned(),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b' '..=b'~' if *byte != b'%' => text.push(char::from(*byte)),
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match (first, code) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                &after[2..]
            }
            (byte, _) => {
                bytes.push(*byte);
                after
            }
        };
    }
    bytes
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

/// Elsewhere a path is Unicode, or it cannot be told in bytes.
#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A path in a session, for `#[serde(with = "path_text")]`.
pub(crate) mod path_text {
    use super::{Deserialize, Path, PathBuf, Serialize, SourceId};
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        SourceId::of(path).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(SourceId::deserialize(deserializer)?.path())
    }
}

/// A list or set of paths in a session, for `#[serde(with = "path_texts")]`.
pub(crate) mod path_texts {
    use super::{Deserialize, PathBuf, SourceId};
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<'a, C, S: Serializer>(
        paths: &'a C,
        serializer: S,
    ) -> Result<S::Ok, S::Error>
    where
        &'a C: IntoIterator<Item = &'a PathBuf>,
    {
        serializer.collect_seq(paths.into_iter().map(|path| SourceId::of(path)))
    }

    pub(crate) fn deserialize<'de, C: FromIterator<PathBuf>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<C, D::Error> {
        let ids = Vec::<SourceId>::deserialize(deserializer)?;
        Ok(ids.iter().map(SourceId::path).collect())
    }
}

/// What is said of paths in a session, for `#[serde(with = "path_keys")]`.
pub(crate) mod path_keys {
    use super::{Deserialize, PathBuf, Serialize, SourceId};
    use serde::{Deserializer, Serializer};
    use std::collections::BTreeMap;

    pub(crate) fn serialize<V: Serialize, S: Serializer>(
        map: &BTreeMap<PathBuf, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(path, value)| (SourceId::of(path), value)))
    }

    pub(crate) fn deserialize<'de, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<PathBuf, V>, D::Error> {
        let map = BTreeMap::<SourceId, V>::deserialize(deserializer)?;
        Ok(map
            .into_iter()
            .map(|(id, value)| (id.path(), value))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back_from_its_text() {
        for name in [
            "a.csv",
            "../data/100 %.csv",
            "bytes:a%41.csv",
            "größe/ä.edf",
        ] {
            assert_eq!(SourceId::of(Path::new(name)).path(), Path::new(name));
        }
        assert_eq!(SourceId::of(Path::new("100 %.csv")).as_str(), "100 %.csv");
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_unicode_differ_and_come_back() {
        let paths = [b"a\xff%.csv".to_vec(), b"a\xfe%.csv".to_vec()].map(path_of);
        let ids = [SourceId::of(&paths[0]), SourceId::of(&paths[1])];
        assert_eq!(ids[0].as_str(), "bytes:a%FF%25.csv");
        assert_ne!(ids[0], ids[1]);
        assert_eq!(ids.map(|id| id.path()), paths);
    }
}
