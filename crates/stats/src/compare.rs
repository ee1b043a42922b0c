//! Comparisons: whether two figures differ, how surely, and what would have been overlooked.

mod bh;
mod evidence;
mod judge;

pub use bh::q_values;
pub use evidence::{Evidence, paired, unpaired};
pub use judge::{Comparison, Question, Test, Verdict, judge, noise_floor};
