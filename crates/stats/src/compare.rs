//! Comparisons: whether two figures differ, how surely, and which difference would have been overlooked.

mod evidence;
mod judge;
mod shift;

pub use evidence::{Evidence, paired, unpaired};
pub use judge::{Comparison, Question, Test, Verdict, judge, noise_floor};
pub use shift::{Shift, ShiftQuestion, judge_shift};
