//! Figures over loads: searches, the law of scalability, and the line that a cost follows.

mod capacity;
mod line;
mod search;
mod usl;

pub use capacity::{Capacity, Predicted};
pub use line::{FEWEST_PLACES, Line, fit, places};
pub use search::{Ceiling, Growth, Highest, Knee, Outcome, Search, Seen, Step, Why};
pub use usl::{Usl, UslFit, usl};
