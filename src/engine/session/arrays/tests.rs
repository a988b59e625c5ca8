//! Values survive their way through a file of arrays; files that are none are refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::math::{Matrix, packed};

fn file_of<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    Arrays::of(value)
        .expect("the value can be taken apart")
        .write_to(&mut bytes)
        .expect("memory takes it");
    bytes
}

fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> T {
    read_arrays(&file_of(value)).expect("what was written can be read")
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Choice {
    Unit,
    Newtype(Vec<u64>),
    Tuple(u8, f64, String),
    Struct { names: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everything {
    floats: Vec<Bits>,
    singles: Vec<f32>,
    #[serde(with = "packed")]
    packed_singles: Vec<f32>,
    #[serde(with = "packed")]
    places: Vec<usize>,
    matrix: Matrix,
    nested: Vec<Vec<u64>>,
    signed: Vec<i64>,
    choices: Vec<Choice>,
    optional: Option<Vec<u32>>,
    table: BTreeMap<String, Vec<u32>>,
    pairs: Vec<(usize, Bits)>,
    text: String,
}

/// A float compared bit for bit, so that NaN equals itself.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Bits(f64);

impl PartialEq for Bits {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

fn any_bits() -> impl Strategy<Value = Bits> {
    prop_oneof![
        any::<f64>().prop_map(Bits),
        Just(Bits(f64::NAN)),
        Just(Bits(-0.0)),
        Just(Bits(f64::NEG_INFINITY)),
        Just(Bits(f64::from_bits(1))),
    ]
}

fn any_choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Unit),
        prop::collection::vec(any::<u64>(), 0..40).prop_map(Choice::Newtype),
        (any::<u8>(), any::<u32>(), ".*").prop_map(|(a, b, text)| Choice::Tuple(
            a,
            f64::from(b) / 7.0,
            text
        )),
        prop::collection::vec(".{0,5}", 0..3).prop_map(|names| Choice::Struct { names }),
    ]
}

fn anything() -> impl Strategy<Value = Everything> {
    let numbers = (
        prop::collection::vec(any_bits(), 0..50),
        prop::collection::vec(-1e30_f32..1e30, 0..50),
        prop::collection::vec(any::<usize>(), 0..50),
        (0_usize..5, 0_usize..7, any::<u32>()),
        prop::collection::vec(prop::collection::vec(any::<u64>(), 0..20), 0..40),
        prop::collection::vec(any::<i64>(), 0..40),
    );
    let rest = (
        prop::collection::vec(any_choice(), 0..30),
        prop::option::of(prop::collection::vec(any::<u32>(), 0..30)),
        prop::collection::btree_map(
            "[a-c/]{0,3}",
            prop::collection::vec(any::<u32>(), 10..30),
            0..6,
        ),
        prop::collection::vec((any::<usize>(), any_bits()), 0..60),
        ".*",
    );
    (numbers, rest).prop_map(
        |(
            (floats, singles, places, (rows, cols, seed), nested, signed),
            (choices, optional, table, pairs, text),
        )| Everything {
            floats,
            packed_singles: singles.clone(),
            singles,
            places,
            matrix: Matrix::from_fn(rows, cols, |i, j| (i + 10 * j) as f64 / f64::from(seed)),
            nested,
            signed,
            choices,
            optional,
            table,
            pairs,
            text,
        },
    )
}

/// Matrices may hold NaN, which is compared by its bits.
fn text_of(value: &Everything) -> String {
    ron::to_string(value).expect("plain values")
}

proptest! {
    #[test]
    fn every_value_survives_bit_for_bit(value in anything()) {
        let again = round_trip(&value);
        prop_assert_eq!(text_of(&again), text_of(&value));
        prop_assert_eq!(again.floats, value.floats);
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_but_never_a_panic(
        value in anything(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in any::<prop::sample::Index>(),
        cut in prop::bool::weighted(0.3),
    ) {
        let mut bytes = file_of(&value);
        for (at, byte) in damages {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(end.index(bytes.len()));
        }
        drop(read_arrays::<Everything>(&bytes));
    }
}

#[derive(Serialize)]
struct SavedProfile {
    coefficients: Matrix,
    errors: Vec<f64>,
    few: Vec<f64>,
}

#[test]
fn tensors_have_the_names_shapes_and_types_of_the_layout() {
    let profile = SavedProfile {
        coefficients: Matrix::from_fn(3, 2, |i, j| (10 * i + j) as f64),
        errors: vec![0.1; 20],
        few: vec![0.1; 15],
    };
    let part = BTreeMap::from([("Fold", 4)]);
    let record = BTreeMap::from([("part", part)]);
    let state = BTreeMap::from([("Margin", BTreeMap::from([("profiles", [profile])]))]);
    #[derive(Serialize)]
    struct SavedPart<R, M> {
        record: R,
        model: M,
    }
    let model = BTreeMap::from([("state", state)]);
    let bytes = file_of(&BTreeMap::from([("parts", [SavedPart { record, model }])]));
    let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let mut names = tensors.names();
    names.sort_unstable();
    assert_eq!(
        names,
        ["fold5/class0/coefficients", "fold5/class0/errors", "state"]
    );
    let tensor = tensors.tensor("fold5/class0/coefficients").expect("there");
    assert_eq!((tensor.dtype(), tensor.shape()), (Dtype::F64, &[2, 3][..]));
    let values = tensor
        .data()
        .chunks(8)
        .map(|b| f64::from_le_bytes(eight(b)));
    // Column after column: one row of the tensor is one column of the matrix.
    assert_eq!(
        values.collect::<Vec<_>>(),
        [0.0, 10.0, 20.0, 1.0, 11.0, 21.0]
    );
}

#[test]
fn lists_with_the_same_name_keep_their_own_numbers() {
    let value = BTreeMap::from([
        ("a".to_owned(), BTreeMap::from([("b/c", vec![1_u64; 20])])),
        ("a/b".to_owned(), BTreeMap::from([("c", vec![2_u64; 20])])),
    ]);
    let again: BTreeMap<String, BTreeMap<String, Vec<u64>>> =
        read_arrays(&file_of(&value)).expect("readable");
    assert_eq!(again["a"]["b/c"], [1; 20]);
    assert_eq!(again["a/b"]["c"], [2; 20]);
}

#[test]
fn tensors_used_twice_are_refused_because_they_would_blow_up_memory() {
    let name = || Value::Tag(LIST_TAG, Box::new(Value::Text("0".into())));
    let mut state = Vec::new();
    ciborium::into_writer(&Value::Array(vec![name(), name()]), &mut state).expect("memory");
    let tensors = vec![
        Tensor {
            name: "0".into(),
            dtype: Dtype::F64,
            shape: vec![1],
            bytes: vec![0; 8],
        },
        Tensor {
            name: STATE.into(),
            dtype: Dtype::U8,
            shape: vec![state.len()],
            bytes: state,
        },
    ];
    let header = header(&tensors).expect("a short list");
    let mut bytes = Vec::new();
    let arrays = Arrays { header, tensors };
    arrays.write_to(&mut bytes).expect("memory takes it");
    let refused = read_arrays::<Vec<Vec<f64>>>(&bytes).expect_err("used twice");
    assert!(refused.to_string().contains("used twice"));
}

#[test]
fn single_precision_is_stored_as_such_and_nothing_is_lost() {
    let singles: Vec<f32> = (0..100).map(|k| k as f32 / 7.0).collect();
    let bytes = file_of(&BTreeMap::from([("singles", &singles)]));
    let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let tensor = tensors.tensor("singles").expect("there");
    assert_eq!(tensor.dtype(), Dtype::F32);
    let again: BTreeMap<String, Vec<f32>> = read_arrays(&bytes).expect("readable");
    assert_eq!(again["singles"], singles);
}
