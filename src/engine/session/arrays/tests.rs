//! Values survive their way through a file of arrays; files that are none are refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::math::Matrix;

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
struct Id(u64);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Marker;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Choice {
    Unit,
    Newtype(Vec<i64>),
    Tuple(u8, f64, String),
    Struct {
        names: Vec<String>,
        flags: Vec<bool>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everything {
    floats: Vec<Bits>,
    singles: Vec<SingleBits>,
    bytes: Vec<u8>,
    nested: Vec<Vec<u64>>,
    ids: Vec<Id>,
    choices: Vec<Choice>,
    optional: Option<Option<Vec<i64>>>,
    table: BTreeMap<String, Vec<u32>>,
    by_number: BTreeMap<i8, (char, bool, Marker)>,
    fixed: [Bits; 20],
    pairs: Vec<(usize, Bits)>,
    nothing: (),
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

/// The same in single precision.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct SingleBits(f32);

impl PartialEq for SingleBits {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

fn any_bits() -> impl Strategy<Value = Bits> {
    prop_oneof![
        any::<u64>().prop_map(|bits| Bits(f64::from_bits(bits))),
        Just(Bits(-0.0)),
        Just(Bits(f64::NEG_INFINITY)),
        Just(Bits(f64::from_bits(1))),
    ]
}

fn any_choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Unit),
        prop::collection::vec(any::<i64>(), 0..40).prop_map(Choice::Newtype),
        (any::<u8>(), any::<u32>(), ".*").prop_map(|(a, b, text)| Choice::Tuple(
            a,
            f64::from(b) / 7.0,
            text
        )),
        (
            prop::collection::vec(".{0,5}", 0..3),
            prop::collection::vec(any::<bool>(), 0..40)
        )
            .prop_map(|(names, flags)| Choice::Struct { names, flags }),
    ]
}

fn anything() -> impl Strategy<Value = Everything> {
    let lists = (
        prop::collection::vec(any_bits(), 0..50),
        prop::collection::vec(
            any::<u32>().prop_map(|bits| SingleBits(f32::from_bits(bits))),
            0..50,
        ),
        prop::collection::vec(any::<u8>(), 0..50),
        prop::collection::vec(prop::collection::vec(any::<u64>(), 0..20), 0..40),
        prop::collection::vec(any::<u64>().prop_map(Id), 0..40),
        prop::collection::vec(any_choice(), 0..30),
        prop::option::of(prop::option::of(prop::collection::vec(any::<i64>(), 0..30))),
    );
    let rest = (
        prop::collection::btree_map(
            "[a-c.]{0,3}",
            prop::collection::vec(any::<u32>(), 10..30),
            0..6,
        ),
        prop::collection::btree_map(any::<i8>(), (any::<char>(), any::<bool>()), 0..5),
        prop::array::uniform20(any_bits()),
        prop::collection::vec((any::<usize>(), any_bits()), 0..60),
        ".*",
    );
    (lists, rest).prop_map(
        |(
            (floats, singles, bytes, nested, ids, choices, optional),
            (table, by_number, fixed, pairs, text),
        )| {
            Everything {
                floats,
                singles,
                bytes,
                nested,
                ids,
                choices,
                optional,
                table,
                by_number: by_number
                    .into_iter()
                    .map(|(key, (letter, flag))| (key, (letter, flag, Marker)))
                    .collect(),
                fixed,
                pairs,
                nothing: (),
                text,
            }
        },
    )
}

proptest! {
    #[test]
    fn every_value_survives_bit_for_bit(value in anything()) {
        prop_assert_eq!(&round_trip(&value), &value);
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

#[test]
fn long_sequences_become_arrays_named_by_their_place() {
    let value = BTreeMap::from([("errors", vec![Some(vec![0.5; 100]), None])]);
    let bytes = file_of(&value);
    let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let mut names = tensors.names();
    names.sort_unstable();
    assert_eq!(names, ["(tree)", "errors.0"]);
    let tensor = tensors.tensor("errors.0").expect("it is there");
    assert_eq!(tensor.shape(), [100]);
    assert_eq!(tensor.data().len(), 800);
}

#[test]
fn short_sequences_and_empty_ones_stay_in_the_tree() {
    let value = (vec![0.5; 15], Vec::<f64>::new(), vec![vec![1_u64; 3]; 2]);
    let bytes = file_of(&value);
    let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    assert_eq!(tensors.names(), ["(tree)"]);
    assert_eq!(round_trip(&value), value);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Metric {
    batch: usize,
    hits: Option<(u32, u32)>,
    classes: Vec<(u8, SingleBits)>,
    choice: Choice,
}

#[test]
fn long_sequences_of_structs_become_columns_and_survive() {
    let metrics: Vec<Metric> = (0..1000_u32)
        .map(|batch| Metric {
            batch: batch as usize,
            hits: (batch % 3 > 0).then_some((batch, 2 * batch)),
            classes: (0..batch % 5)
                .map(|class| (class as u8, SingleBits(1.0 / batch as f32)))
                .collect(),
            choice: if batch % 2 == 0 {
                Choice::Unit
            } else {
                Choice::Newtype(vec![i64::from(batch)])
            },
        })
        .collect();
    assert_eq!(round_trip(&metrics), metrics);
    let plain: Vec<(usize, Option<(u32, u32)>)> = metrics
        .iter()
        .map(|metric| (metric.batch, metric.hits))
        .collect();
    let bytes = file_of(&plain);
    let tensors = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let tree = tensors.tensor(TREE).expect("the tree");
    assert!(
        tree.data().len() < 200,
        "the tree has {} bytes",
        tree.data().len()
    );
}

#[test]
fn places_with_the_same_name_keep_their_own_arrays() {
    let value = BTreeMap::from([
        ("a".to_owned(), BTreeMap::from([("b.c", vec![1_u64; 20])])),
        ("a.b".to_owned(), BTreeMap::from([("c", vec![2_u64; 20])])),
    ]);
    let again: BTreeMap<String, BTreeMap<String, Vec<u64>>> =
        read_arrays(&file_of(&value)).expect("readable");
    assert_eq!(again["a"]["b.c"], [1; 20]);
    assert_eq!(again["a.b"]["c"], [2; 20]);
}

#[test]
fn matrices_and_integers_beyond_two_to_the_53_survive() {
    let mut matrix = Matrix::zeros(30, 40);
    matrix[(29, 39)] = -0.0;
    matrix[(3, 4)] = f64::from_bits(0x7ff8_0000_dead_beef);
    let entered: Vec<u64> = (0..20).map(|i| u64::MAX - i).collect();
    let (again, entered_again): (Matrix, Vec<u64>) = round_trip(&(matrix.clone(), entered.clone()));
    assert_eq!(entered_again, entered);
    assert_eq!(again[(29, 39)].to_bits(), (-0.0_f64).to_bits());
    assert_eq!(again[(3, 4)].to_bits(), 0x7ff8_0000_dead_beef);
}

#[test]
fn arrays_used_twice_are_refused_because_they_would_blow_up_memory() {
    let tree = Tree::Sequence(vec![Tree::Array("0".into()), Tree::Array("0".into())]);
    let array = NamedArray {
        name: "0".into(),
        kind: Kind::Double,
        bits: vec![0; 20],
    };
    let mut bytes = Vec::new();
    Arrays::with_tree(&tree, vec![array])
        .expect("a file")
        .write_to(&mut bytes)
        .expect("memory takes it");
    let refused = read_arrays::<Vec<Vec<f64>>>(&bytes).expect_err("used twice");
    assert!(refused.to_string().contains("used twice"));
}

#[test]
fn the_wrong_number_of_elements_is_refused() {
    let bytes = file_of(&[1.0; 20]);
    assert!(read_arrays::<(f64, f64)>(&bytes).is_err());
    assert!(read_arrays::<[f64; 21]>(&bytes).is_err());
    assert!(read_arrays::<[f64; 20]>(&bytes).is_ok());
}

#[derive(Serialize, Deserialize)]
struct Nest(Option<Box<Nest>>, u8);

#[test]
fn what_is_nested_too_deep_to_be_read_back_is_not_written() {
    let nested = |depth: usize| {
        let mut nest = Nest(None, 0);
        for _ in 0..depth {
            nest = Nest(Some(Box::new(nest)), 1);
        }
        nest
    };
    for depth in 0..100 {
        let nest = nested(depth);
        if Arrays::of(&nest).is_ok() {
            read_arrays::<Nest>(&file_of(&nest)).expect("what was written can be read");
        }
    }
    assert!(Arrays::of(&nested(100)).is_err());
}
