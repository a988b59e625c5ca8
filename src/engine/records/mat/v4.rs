//! MATLAB 4 files: matrices one after the other, each behind a header of five words.

use super::super::text::{decode, quoted};
use super::super::{ByteSource, FilePlace, Findings, Number, ReadError, Stored};
use super::budget::Budget;
use super::v5::rows_of;
use super::value::{Numeric, Sparse, Value, Variable};

const HEADER_BYTES: u64 = 20;

/// The five words before a matrix.
struct MatrixHead {
    is_big_endian: bool,
    number: Number,
    kind: u32,
    n_rows: u64,
    n_columns: u64,
    is_complex: bool,
    name_bytes: u64,
}

impl MatrixHead {
    /// `None` if the words make no matrix.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |position: usize, is_big_endian: bool| -> Option<u32> {
            let word: [u8; 4] = bytes.get(position * 4..position * 4 + 4)?.try_into().ok()?;
            Some(match is_big_endian {
                true => u32::from_be_bytes(word),
                false => u32::from_le_bytes(word),
            })
        };
        // The first word is machine · 1000 + precision · 10 + kind; machine 1 is big-endian.
        let is_big_endian = word(0, false)? > 4052;
        let word = |position| word(position, is_big_endian);
        let (machine, precision, kind) = (word(0)? / 1000, word(0)? / 10 % 100, word(0)? % 10);
        let number = match precision {
            0 => Number::Float64,
            1 => Number::Float32,
            2 => Number::Int32,
            3 => Number::Int16,
            4 => Number::Uint16,
            5 => Number::Uint8,
            _ => return None,
        };
        let head = Self {
            is_big_endian,
            number,
            kind,
            n_rows: u64::from(word(1)?),
            n_columns: u64::from(word(2)?),
            is_complex: word(3)? == 1,
            name_bytes: u64::from(word(4)?),
        };
        let sound = machine == u32::from(is_big_endian)
            && kind <= 2
            && word(3)? <= 1
            && (1..=256).contains(&head.name_bytes)
            && head.n_rows < 1 << 31
            && head.n_columns < 1 << 31;
        sound.then_some(head)
    }
}

/// Whether the first words make a matrix; there is no signature.
pub(super) fn is_likely(head: &[u8]) -> bool {
    let Some(matrix) = MatrixHead::parse(head) else {
        return false;
    };
    let start = HEADER_BYTES as usize;
    let name = head.get(start..start + matrix.name_bytes as usize);
    name.is_some_and(|name| {
        let letters = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        !letters.is_empty() && letters.iter().all(is_name)
    })
}

/// Reads all matrices; their numbers stay in the file.
pub(super) fn read(
    bytes: &ByteSource,
    findings: &mut Findings,
) -> Result<Vec<Variable>, ReadError> {
    let mut budget = Budget::new(bytes.len());
    let mut variables = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let place = FilePlace::Byte(at);
        budget.spend_value(place, findings)?;
        budget.spend_variable(place, findings)?;
        let left = bytes.len() - at;
        let head = bytes.read_range(at, left.min(HEADER_BYTES))?;
        let Some(head) = MatrixHead::parse(&head) else {
            let found = format!("\"{}\"", head.escape_ascii());
            return Err(findings.refusal(
                place,
                "header of a matrix",
                quoted(&found),
                "the five words of a MATLAB 4 matrix",
            ));
        };
        let len = head.n_rows * head.n_columns;
        let parts = if head.is_complex { 2 } else { 1 };
        let data_bytes = len
            .checked_mul(parts * head.number.bytes() as u64)
            .filter(|&n| n <= left.saturating_sub(HEADER_BYTES + head.name_bytes));
        let Some(data_bytes) = data_bytes else {
            return Err(findings.refusal(
                place,
                "size of a matrix",
                format!("{} × {}", head.n_rows, head.n_columns),
                format!("at most the {left} bytes that follow"),
            ));
        };
        let name = bytes.read_range(at + HEADER_BYTES, head.name_bytes)?;
        let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
        let offset = at + HEADER_BYTES + head.name_bytes;
        variables.push(Variable {
            name: decode(name),
            value: value(bytes, &head, offset, &mut budget, findings)?,
        });
        at = offset + data_bytes;
    }
    Ok(variables)
}

fn value(
    bytes: &ByteSource,
    head: &MatrixHead,
    offset: u64,
    budget: &mut Budget,
    findings: &Findings,
) -> Result<Value, ReadError> {
    let numeric = Numeric {
        shape: vec![head.n_rows as usize, head.n_columns as usize],
        real: Stored {
            bytes: bytes.clone(),
            offset,
            number: head.number,
            is_big_endian: head.is_big_endian,
        },
        is_complex: head.is_complex,
        is_logical: false,
        is_row_major: false,
    };
    if head.kind == 0 {
        return Ok(Value::Numeric(numeric));
    }
    let place = FilePlace::Byte(offset);
    budget.spend(numeric.len() as u64 * 64, place, findings)?;
    let values = numeric.values()?;
    if head.kind == 1 {
        let letters: Vec<char> = values
            .iter()
            .map(|&code| char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        return Ok(Value::Text {
            rows: rows_of(&letters, numeric.shape[0]),
            shape: numeric.shape,
        });
    }
    sparse(&values, numeric.shape[0], numeric.shape[1])
        .map(Value::Sparse)
        .ok_or_else(|| {
            let found = format!("{} × {}", numeric.shape[0], numeric.shape[1]);
            findings.refusal(
                place,
                "sparse matrix",
                found,
                "rows of row, column, value; the size last",
            )
        })
}

/// Rows of (row, column, value) from 1; the last row holds the size.
fn sparse(values: &[f64], n_rows: usize, n_columns: usize) -> Option<Sparse> {
    if n_columns < 3 {
        return None;
    }
    let column = |k: usize| values.get(k * n_rows..(k + 1) * n_rows);
    let (rows, columns, entries) = (column(0)?, column(1)?, column(2)?);
    let index = |value: f64| (1.0..1e9).contains(&value).then_some(value as usize);
    let shape = [index(*rows.last()?)?, index(*columns.last()?)?];
    let mut sparse = Sparse {
        shape,
        entries: Vec::with_capacity(n_rows - 1),
    };
    for k in 0..n_rows - 1 {
        let (row, column) = (index(rows[k])? - 1, index(columns[k])? - 1);
        if row >= shape[0] || column >= shape[1] {
            return None;
        }
        sparse.entries.push((row, column, entries[k]));
    }
    Some(sparse)
}
