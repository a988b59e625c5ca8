//! The signal that what is being computed is no longer wanted.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::LearnError;

/// Raised by whoever waits for the end. Long computations look at it where nothing has
/// changed yet, so that an interrupted one can be begun again as if it had never begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct StopSignal<'a>(Option<&'a AtomicBool>);

impl<'a> StopSignal<'a> {
    /// Raised as soon as `flag` is true.
    pub fn new(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Whether the end is wanted.
    pub fn is_raised(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// An error that ends the computation, if the end is wanted.
    pub(crate) fn check(self) -> Result<(), LearnError> {
        if self.is_raised() {
            Err(LearnError::Interrupted)
        } else {
            Ok(())
        }
    }
}
