//! A writer of MATLAB 5 elements, just enough to make test files of every kind.

use std::io::Write;

/// Byte order of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, value: u16) -> [u8; 2] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }

    fn f64(self, value: f64) -> [u8; 8] {
        match self {
            Self::Little => value.to_le_bytes(),
            Self::Big => value.to_be_bytes(),
        }
    }
}

/// A whole file of these elements.
pub(crate) fn file(order: Order, elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, made by a test".to_vec();
    bytes.resize(124, b' ');
    bytes.extend(order.u16(0x0100));
    bytes.extend(match order {
        Order::Little => b"IM",
        Order::Big => b"MI",
    });
    bytes.extend(elements.concat());
    bytes
}

/// Type, length, data, padding.
pub(crate) fn element(order: Order, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = order.u32(kind).to_vec();
    bytes.extend(order.u32(data.len() as u32));
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// An array: flags, dimensions, name, contents.
pub(crate) fn array(
    order: Order,
    class: u32,
    shape: &[u32],
    name: &str,
    contents: &[u8],
) -> Vec<u8> {
    let flags: Vec<u8> = [order.u32(class), order.u32(0)].concat();
    let sizes: Vec<u8> = shape.iter().flat_map(|&size| order.u32(size)).collect();
    let parts = [
        element(order, 6, &flags),
        element(order, 5, &sizes),
        element(order, 1, name.as_bytes()),
        contents.to_vec(),
    ];
    element(order, 14, &parts.concat())
}

/// A full array of doubles.
pub(crate) fn doubles(order: Order, name: &str, shape: &[u32], values: &[f64]) -> Vec<u8> {
    let stored: Vec<u8> = values.iter().flat_map(|&value| order.f64(value)).collect();
    array(order, 6, shape, name, &element(order, 9, &stored))
}

/// A row of text.
pub(crate) fn text(order: Order, name: &str, text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let stored: Vec<u8> = units.iter().flat_map(|&unit| order.u16(unit)).collect();
    array(
        order,
        4,
        &[1, units.len() as u32],
        name,
        &element(order, 4, &stored),
    )
}

/// A row of cells.
pub(crate) fn cell(order: Order, name: &str, items: &[Vec<u8>]) -> Vec<u8> {
    array(order, 1, &[1, items.len() as u32], name, &items.concat())
}

/// A row of structs: for each struct the values of all fields.
pub(crate) fn structs(order: Order, name: &str, fields: &[&str], rows: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut names = Vec::new();
    for field in fields {
        names.extend(field.as_bytes());
        names.resize(names.len().next_multiple_of(32), 0);
    }
    let mut contents = element(order, 5, &order.u32(32));
    contents.extend(element(order, 1, &names));
    contents.extend(rows.concat().concat());
    array(order, 2, &[1, rows.len() as u32], name, &contents)
}

/// A sparse 3 × 2 matrix with 5 at (2, 0) and 7 at (1, 1).
pub(crate) fn sparse(order: Order, name: &str) -> Vec<u8> {
    let words = |values: &[u32]| -> Vec<u8> { values.iter().flat_map(|&v| order.u32(v)).collect() };
    let values: Vec<u8> = [5.0, 7.0]
        .iter()
        .flat_map(|&value| order.f64(value))
        .collect();
    let contents = [
        element(order, 5, &words(&[2, 1])),
        element(order, 5, &words(&[0, 1, 2])),
        element(order, 9, &values),
    ];
    array(order, 5, &[3, 2], name, &contents.concat())
}

/// An element, compressed.
pub(crate) fn compressed(order: Order, element: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(element).expect("memory takes all bytes");
    wrapped(order, &encoder.finish().expect("memory takes all bytes"))
}

/// Compressed bytes behind their tag; they are not padded.
fn wrapped(order: Order, stored: &[u8]) -> Vec<u8> {
    let mut bytes = order.u32(15).to_vec();
    bytes.extend(order.u32(stored.len() as u32));
    bytes.extend(stored);
    bytes
}

/// A compressed array of zeros, made without holding them in memory.
pub(crate) fn compressed_zeros(order: Order, name: &str, shape: &[u32]) -> Vec<u8> {
    let len: u64 = shape.iter().map(|&size| u64::from(size)).product::<u64>() * 8;
    let empty = array(order, 6, shape, name, &element(order, 9, &[]));
    let mut head = empty.clone();
    let whole = (empty.len() as u64 - 8 + len) as u32;
    head[4..8].copy_from_slice(&order.u32(whole));
    let tag_at = head.len() - 4;
    head[tag_at..].copy_from_slice(&order.u32(len as u32));
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&head).expect("memory takes all bytes");
    for _ in 0..len / 8 / 1000 {
        encoder
            .write_all(&[0; 8000])
            .expect("memory takes all bytes");
    }
    let stored = encoder.finish().expect("memory takes all bytes");
    wrapped(order, &stored)
}

/// A recording of 3 channels × 200 samples at 250 Hz with channel names.
pub(crate) fn recording(order: Order) -> Vec<u8> {
    let values: Vec<f64> = (0..600).map(f64::from).collect();
    let names = [
        text(order, "", "Fz"),
        text(order, "", "Cz"),
        text(order, "", "Pz"),
    ];
    let elements = [
        doubles(order, "eeg", &[3, 200], &values),
        structs(
            order,
            "info",
            &["fs", "labels"],
            &[vec![
                doubles(order, "", &[1, 1], &[250.0]),
                cell(order, "", &names),
            ]],
        ),
        sparse(order, "sp"),
    ];
    let last = compressed(order, &text(order, "note", "größe"));
    file(order, &[elements.concat(), last])
}

/// An EEGLAB data set of 2 channels × 64 samples, with or without its samples.
pub(crate) fn eeglab(order: Order, has_samples: bool) -> Vec<u8> {
    let number = |value: f64| doubles(order, "", &[1, 1], &[value]);
    let values: Vec<f64> = (0..128).map(f64::from).collect();
    let data = match has_samples {
        true => doubles(order, "", &[2, 64], &values),
        false => text(order, "", "elsewhere.fdt"),
    };
    let label = |name: &str| vec![text(order, "", name)];
    let locations = structs(order, "", &["labels"], &[label("Fz"), label("Oz")]);
    let event = |kind: &str, latency: f64, duration: f64| {
        vec![text(order, "", kind), number(latency), number(duration)]
    };
    let events = structs(
        order,
        "",
        &["type", "latency", "duration"],
        &[
            event("blink", 9.0, 0.0),
            event("boundary", 32.5, 16.0),
            event("target", 41.0, 4.0),
        ],
    );
    let fields = [
        "data", "srate", "nbchan", "pnts", "trials", "chanlocs", "event",
    ];
    let values = vec![
        data,
        number(32.0),
        number(2.0),
        number(64.0),
        number(1.0),
        locations,
        events,
    ];
    file(
        order,
        &[compressed(
            order,
            &structs(order, "EEG", &fields, &[values]),
        )],
    )
}

/// MATLAB 4: a 2 × 3 matrix of doubles, then a row of text.
pub(crate) fn version4(order: Order) -> Vec<u8> {
    let head = |kind: u32, rows: u32, columns: u32, name: &str| -> Vec<u8> {
        let machine = if order == Order::Big { 1000 } else { 0 };
        let words = [machine + kind, rows, columns, 0, name.len() as u32 + 1];
        let mut bytes: Vec<u8> = words.iter().flat_map(|&word| order.u32(word)).collect();
        bytes.extend(name.as_bytes());
        bytes.push(0);
        bytes
    };
    let mut bytes = head(0, 2, 3, "x");
    bytes.extend(
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
            .iter()
            .flat_map(|&value| order.f64(value)),
    );
    bytes.extend(head(51, 1, 2, "t"));
    bytes.extend(b"hi");
    bytes
}
