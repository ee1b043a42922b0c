//! Comparisons: whether two figures differ, how surely, and which difference would have been
//! overlooked.

mod bh;
mod evidence;
mod judge;
mod resample;
mod shift;

pub use bh::q_values;
pub use evidence::{Evidence, paired, unpaired};
pub use judge::{Comparison, Question, Test, Verdict, judge, noise_floor};
pub use resample::{Permuted, permuted, sign_flip};
pub use shift::{Shift, ShiftQuestion, judge_shift};
