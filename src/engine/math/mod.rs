//! Matrices, guarded solves, vectorised loops and random streams: everything the
//! stages compute with. The only module that knows faer and pulp.

mod cholesky;
mod matrix;
pub(crate) mod packed;
mod precise_product;
mod product;
mod random;
mod small_product;
mod streamed_product;
mod symmetric_eigen;
mod vectorised;

pub use cholesky::{Cholesky, NotPositiveDefinite, solve_lower_transposed_right};
pub use matrix::{Matrix, View, ViewMut};
pub use precise_product::{
    Halves, precise_inner_products, precise_inner_products_of_sum, precise_ridge,
    subtract_precise_lengths,
};
pub use product::{Write, columns_stand_alone, product};
pub use random::{Normal, RandomStream, fnv, random_below, random_share, random_stream, shuffle};
pub use small_product::{add_symmetric_product, inner_products, small_product};
pub use streamed_product::streamed_product;
pub use symmetric_eigen::{NotConverged, SymmetricEigen};
pub use vectorised::{
    Lanes, TOGETHER, Vectors, WithVectors, add_scaled, dot, exp_in_place, load, manhattan_distance,
    squared_distance, squared_norm, store, update, vectorised, with_vectors,
};
