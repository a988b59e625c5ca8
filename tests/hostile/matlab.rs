//! Small MATLAB 4 and 5 files, byte by byte.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

const DOUBLE: u32 = 9;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// A data element: type, length, bytes, padding to eight.
fn element(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(body);
    while kind != COMPRESSED && !bytes.len().is_multiple_of(8) {
        bytes.push(0);
    }
    bytes
}

fn integers(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// The parts common to all matrices: class, shape, name.
fn matrix(class: u32, shape: &[i32], name: &str, rest: &[u8]) -> Vec<u8> {
    let flags: Vec<u8> = [class, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut body = element(6, &flags);
    body.extend(element(5, &integers(shape)));
    body.extend(element(1, name.as_bytes()));
    body.extend_from_slice(rest);
    element(MATRIX, &body)
}

/// A matrix of doubles.
pub(crate) fn doubles(name: &str, shape: &[i32], values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    matrix(6, shape, name, &element(DOUBLE, &bytes))
}

/// A row of characters.
pub(crate) fn characters(name: &str, text: &str) -> Vec<u8> {
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let n = text.encode_utf16().count() as i32;
    matrix(4, &[1, n], name, &element(4, &bytes))
}

/// A struct of one element.
pub(crate) fn structure(name: &str, fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    const NAME_BYTES: usize = 32;
    let mut names = Vec::new();
    for (field, _) in fields {
        let mut padded = field.as_bytes().to_vec();
        padded.resize(NAME_BYTES, 0);
        names.extend(padded);
    }
    let mut rest = element(5, &integers(&[NAME_BYTES as i32]));
    rest.extend(element(1, &names));
    for (_, value) in fields {
        rest.extend_from_slice(value);
    }
    matrix(2, &[1, 1], name, &rest)
}

/// A cell array in a column.
pub(crate) fn cells(name: &str, values: &[Vec<u8>]) -> Vec<u8> {
    matrix(1, &[values.len() as i32, 1], name, &values.concat())
}

/// An element, deflated.
pub(crate) fn compressed(element_bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(element_bytes).expect("memory takes all");
    element(COMPRESSED, &encoder.finish().expect("memory takes all"))
}

/// A version 5 file of these elements.
pub(crate) fn file(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, made by hand".to_vec();
    bytes.resize(124, b' ');
    bytes.extend_from_slice(&[0x00, 0x01, b'I', b'M']);
    bytes.extend(elements.concat());
    bytes
}

/// A version 4 file of one matrix of doubles.
pub(crate) fn version_4(name: &str, rows: i32, columns: i32) -> Vec<u8> {
    let head = [0, rows, columns, 0, name.len() as i32 + 1];
    let mut bytes = integers(&head);
    bytes.extend_from_slice(name.as_bytes());
    bytes.push(0);
    bytes.extend((0..rows * columns).flat_map(|n| f64::from(n).to_le_bytes()));
    bytes
}
