//! NumPy's array files and archives as bytes.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A NumPy array of version 1.
pub(crate) fn npy(description: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{description}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// An archive of members, deflated if so wanted; the check sums are left zero.
pub(crate) fn zip(members: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let packed = if deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(content).expect("memory takes all");
            encoder.finish().expect("memory takes all")
        } else {
            content.to_vec()
        };
        let offset = bytes.len() as u32;
        let method: u16 = if deflated { 8 } else { 0 };
        let mut common = Vec::new();
        common.extend_from_slice(&20_u16.to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        common.extend_from_slice(&method.to_le_bytes());
        common.extend_from_slice(&[0; 8]);
        common.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        common.extend_from_slice(&(content.len() as u32).to_le_bytes());
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend_from_slice(&common);
        bytes.extend(name.bytes());
        bytes.extend_from_slice(&packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (start, n) = (bytes.len() as u32, members.len() as u16);
    bytes.extend_from_slice(&directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend_from_slice(&n.to_le_bytes());
    bytes.extend_from_slice(&n.to_le_bytes());
    bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}
