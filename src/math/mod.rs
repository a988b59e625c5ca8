//! Matrices, guarded solves and random streams: everything the stages compute with.
