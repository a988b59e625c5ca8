//! What needs minutes: streams of ten thousand mini-batches, damaged files, the real window, the campaign, workers on one folder.

mod campaign;
#[cfg(unix)]
mod cluster;
mod corpus;
mod display;
mod hostile;
mod mutation;
mod stability;
