//! What needs minutes: streams of ten thousand mini-batches, damaged files, the real window, the campaign.

mod campaign;
mod display;
mod hostile;
mod mutation;
mod stability;
