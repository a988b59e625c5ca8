//! What needs minutes: streams of ten thousand mini-batches, damaged files, the real window.

mod display;
mod hostile;
mod mutation;
mod stability;
