//! Matrices, guarded solves, vectorised loops and random streams: everything the
//! stages compute with. The only module that knows faer and pulp.

mod cholesky;
mod matrix;
mod product;
mod random;
mod vectorised;

pub use cholesky::{Cholesky, NotPositiveDefinite, solve_lower_transposed_right};
pub use matrix::{Matrix, View, ViewMut};
pub use product::{Write, product};
pub use random::{Normal, RandomStream, fnv, random_below, random_share, random_stream, shuffle};
pub use vectorised::{
    Vectors, WithVectors, add_scaled, dot, exp_in_place, manhattan_distance, squared_distance,
    squared_norm, vectorised, with_vectors,
};
