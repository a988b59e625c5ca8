//! What a protection engineer reads from a fault record in closed form: type and phases, impedance, distance, events.

pub mod analysis;
pub mod calculated;
pub mod course;
pub mod distance;
pub mod events;
pub mod impedance;
pub mod inbox;
pub mod line;
mod onset;
pub mod other_event;
pub mod rio;
pub mod rule;
pub mod summary;
pub mod uncertainty;
pub mod zones;

pub use analysis::FaultAnalysis;
pub use line::Line;
pub use rule::RuleVerdict;
pub use summary::FaultSummary;
