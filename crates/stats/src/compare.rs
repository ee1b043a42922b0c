//! Comparisons: whether two figures differ, by how much, and how surely.

mod aligned;
mod bh;
mod evidence;
mod judge;
mod ranks;
mod resample;
mod round_pair;
mod settled;
mod shift;
mod together;
mod zeros;

pub use bh::q_values;
pub use evidence::{Evidence, Test, paired, paired_rates, unpaired};
pub use judge::{
    Comparison, FEWEST_TO_JUDGE, Judgement, Question, SAME, judge, noise_floor, sure_floor,
};
pub use resample::{Permuted, permuted};
pub use round_pair::RoundPair;
pub use settled::{is_look, is_settled};
pub use shift::{Shift, ShiftQuestion, judge_shift};
pub use zeros::Zeros;
