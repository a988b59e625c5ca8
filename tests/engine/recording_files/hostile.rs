//! MATLAB files that expand or nest without end are refused.

use super::made_matlab::{self as matlab, Order};
use atomscope_engine::records::Mode;
use atomscope_engine::records::mat;

fn refusal(bytes: Vec<u8>) -> String {
    let outcome = mat::from_bytes("hostile.mat", bytes, Mode::Tolerant);
    outcome.expect_err("the file is hostile").to_string()
}

#[test]
fn streams_that_expand_without_bound_are_refused() {
    // 200 MB of zeros in 200 kB.
    let bomb = matlab::compressed_zeros(Order::Little, "x", &[5000, 5000]);
    let text = refusal(matlab::file(Order::Little, &[bomb]));
    assert!(text.contains("many times that of the file"), "{text}");
}

#[test]
fn nesting_without_end_is_refused() {
    let order = Order::Little;
    let mut inner = matlab::doubles(order, "", &[1, 1], &[1.0]);
    for _ in 0..500 {
        inner = matlab::cell(order, "", &[inner]);
    }
    let text = refusal(matlab::file(
        order,
        &[matlab::cell(order, "deep", &[inner])],
    ));
    assert!(text.contains("nesting"), "{text}");
}
