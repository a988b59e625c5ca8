//! Sessions on disk: they go on bit for bit, and nothing that happens to a save loses them.

mod formats;
mod kills;
mod recovery;
mod saving;
mod small_run;
