//! Comparisons: whether two figures differ, by how much, and how surely.

mod bh;
mod evidence;
mod judge;
mod ranks;
mod resample;
mod shift;

pub use bh::q_values;
pub use evidence::{Evidence, Test, paired, unpaired};
pub use judge::{Comparison, Question, SAME, Verdict, judge, noise_floor, sure_floor};
pub use resample::{Permuted, permuted};
pub use shift::{Shift, ShiftQuestion, judge_shift};
