//! Loops compiled for the vector units of the machine they run on.
//!
//! Rust never fuses a multiplication with an addition unless told so, so loops run by
//! [`vectorised`] give the same bits on every processor. Work run by [`with_vectors`] may fuse them,
//! and what it compares side by side depends on the width of the vectors: its last bits are those of
//! the kind of processor.

/// Runs `work`, compiled for the widest vector instructions present. The closure and what it
/// calls must be marked `#[inline(always)]`, or they are compiled without them.
#[inline(always)]
pub fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    struct Vectorised<F>(F);
    impl<R, F: FnOnce() -> R> pulp::WithSimd for Vectorised<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> R {
            (self.0)()
        }
    }
    pulp::Arch::new().dispatch(Vectorised(work))
}

/// Arithmetic on vectors as wide as the machine has them, for loops that the compiler does not
/// find by itself, and work that is written with them.
pub use pulp::{Simd as Vectors, WithSimd as WithVectors};

/// Runs `work` with the widest vectors present; as in [`vectorised`], all it calls must be inlined.
#[inline(always)]
pub fn with_vectors<W: WithVectors>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Numbers of as many things side by side, in whole lines of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Lanes(pub [f64; TOGETHER]);

/// How many stand in [`Lanes`].
pub const TOGETHER: usize = 16;

/// `V` vectors: all but the last from the beginning of `first`, then that of `last`.
#[inline(always)]
pub fn load<S: Vectors, const V: usize>(simd: S, first: &[f64], last: &[f64]) -> [S::f64s; V] {
    let mut vectors = [simd.splat_f64s(0.0); V];
    let (elements, _) = S::as_simd_f64s(first);
    vectors[..V - 1].copy_from_slice(&elements[..V - 1]);
    vectors[V - 1] = S::as_simd_f64s(last).0[0];
    vectors
}

/// Writes `V` vectors: all but the last from `first` on, that at `last`.
#[inline(always)]
pub fn store<S: Vectors, const V: usize>(
    target: &mut [f64],
    first: usize,
    last: usize,
    vectors: [S::f64s; V],
) {
    let (elements, _) = S::as_mut_simd_f64s(&mut target[first..]);
    elements[..V - 1].copy_from_slice(&vectors[..V - 1]);
    S::as_mut_simd_f64s(&mut target[last..]).0[0] = vectors[V - 1];
}

/// `target` ← `f`(target, sources), element by element. For short columns: the compiler's own loops
/// pass over what does not fill several vectors one by one. What does not fill a vector at the end is
/// taken with elements before it, from before they changed.
#[inline(always)]
pub fn update<S: Vectors, const N: usize>(
    simd: S,
    target: &mut [f64],
    sources: [&[f64]; N],
    f: impl Fn(S::f64s, [S::f64s; N]) -> S::f64s,
) {
    let (n, lanes) = (target.len(), S::F64_LANES);
    let zero = simd.splat_f64s(0.0);
    let Some(last) = n.checked_sub(lanes) else {
        let mut padded = [0.0; WIDEST];
        padded[..n].copy_from_slice(target);
        let mut values = [zero; N];
        for (value, source) in values.iter_mut().zip(sources) {
            let mut padded = [0.0; WIDEST];
            padded[..n].copy_from_slice(&source[..n]);
            *value = S::as_simd_f64s(&padded).0[0];
        }
        let (element, _) = S::as_mut_simd_f64s(&mut padded);
        element[0] = f(element[0], values);
        target.copy_from_slice(&padded[..n]);
        return;
    };
    let at = |start: usize, target: &[f64]| {
        let mut values = [zero; N];
        for (value, source) in values.iter_mut().zip(sources) {
            *value = S::as_simd_f64s(&source[start..start + lanes]).0[0];
        }
        f(S::as_simd_f64s(&target[start..start + lanes]).0[0], values)
    };
    let end = at(last, target);
    for start in (0..=last).step_by(lanes) {
        let value = at(start, target);
        S::as_mut_simd_f64s(&mut target[start..start + lanes]).0[0] = value;
    }
    S::as_mut_simd_f64s(&mut target[last..]).0[0] = end;
}

/// Numbers in the widest vectors.
const WIDEST: usize = 8;

/// Number of running sums of a reduction: two vectors of four.
const LANES: usize = 8;

/// Sum over pairs of `term`, in a fixed order with [`LANES`] running sums.
#[inline(always)]
fn reduce(x: &[f64], y: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    assert_eq!(x.len(), y.len());
    let mut sums = [0.0; LANES];
    let (x_chunks, y_chunks) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let (x_rest, y_rest) = (x_chunks.remainder(), y_chunks.remainder());
    for (a, b) in x_chunks.zip(y_chunks) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    for (lane, (a, b)) in x_rest.iter().zip(y_rest).enumerate() {
        sums[lane] += term(*a, *b);
    }
    let quarter = |k: usize| sums[k] + sums[k + 4];
    (quarter(0) + quarter(1)) + (quarter(2) + quarter(3))
}

/// Inner product; inlined so that callers inside [`vectorised`] profit.
#[inline(always)]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    reduce(x, y, |a, b| a * b)
}

/// `y += factor · x`; inlined so that callers inside [`vectorised`] profit.
#[inline(always)]
pub fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    assert_eq!(x.len(), y.len());
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

/// ‖x‖².
pub fn squared_norm(x: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || dot(x, x),
    )
}

/// ‖x − y‖².
pub fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || reduce(x, y, |a, b| (a - b) * (a - b)),
    )
}

/// Σ |x − y|.
pub fn manhattan_distance(x: &[f64], y: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || reduce(x, y, |a, b| (a - b).abs()),
    )
}

/// e^x of every element, to about one unit in the last place; arguments below −708 give 0.
pub fn exp_in_place(values: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            for value in values {
                *value = exp(*value);
            }
        },
    );
}

/// e^x by x = k ln 2 + r and the Taylor series of e^r, without branches.
#[inline(always)]
fn exp(x: f64) -> f64 {
    /// Adding this rounds to an integer that then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const RECIPROCAL_FACTORIALS: [f64; 13] = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
    ];
    let inside = x.clamp(-708.0, 709.0);
    let shifted = inside * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    // Fused by name, so that every processor gives the same bits here too.
    let r = k.mul_add(-LN_2_LOW, k.mul_add(-LN_2_HIGH, inside));
    let mut series = RECIPROCAL_FACTORIALS[12];
    for &coefficient in RECIPROCAL_FACTORIALS[..12].iter().rev() {
        series = series.mul_add(r, coefficient);
    }
    let power_of_two = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let value = series * power_of_two;
    if x < -708.0 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_library_over_its_range() {
        let mut worst = 0.0_f64;
        for step in 0..200_000 {
            let x = -700.0 + step as f64 * 0.007;
            let mut value = [x];
            exp_in_place(&mut value);
            worst = worst.max((value[0] / x.exp() - 1.0).abs());
        }
        assert!(worst < 5e-16, "relative error {worst:e}");
        let mut ends = [0.0, -1e-300, -1e9, f64::NEG_INFINITY];
        exp_in_place(&mut ends);
        assert_eq!(ends, [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn columns_of_every_length_are_updated() {
        struct AddTwice<'a>(&'a mut [f64], &'a [f64]);
        impl WithVectors for AddTwice<'_> {
            type Output = ();
            #[inline(always)]
            fn with_simd<S: Vectors>(self, simd: S) {
                update(simd, self.0, [self.1], |y, [x]| {
                    simd.mul_add_f64s(x, simd.splat_f64s(2.0), y)
                });
            }
        }
        for n in 0..40 {
            let source: Vec<f64> = (0..n).map(|i| f64::from(i * i % 5)).collect();
            let before: Vec<f64> = (0..n).map(f64::from).collect();
            let mut target = before.clone();
            with_vectors(AddTwice(&mut target, &source));
            let pairs = before.iter().zip(&source);
            let expected: Vec<f64> = pairs.map(|(y, x)| y + 2.0 * x).collect();
            assert_eq!(target, expected);
        }
    }

    #[test]
    fn reductions_agree_with_plain_sums_for_every_length() {
        for n in 0..40 {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i) - 7.0).collect();
            let y: Vec<f64> = (0..n).map(|i| f64::from(i * i % 5)).collect();
            let plain: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&x, &y), plain);
            let plain: f64 = x.iter().zip(&y).map(|(a, b)| (a - b).abs()).sum();
            assert_eq!(manhattan_distance(&x, &y), plain);
        }
    }
}
