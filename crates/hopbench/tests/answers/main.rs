//! Measurements whose answers are known, by hand and in the lab: arithmetic, the kernel's counters
//! or the target's own behaviour gives them.

mod balance;
mod by_hand;
mod families;
mod in_lab;
#[path = "../lab/lab.rs"]
mod lab;
mod limited_by;
mod mesh;
mod noise;
mod peers;
mod profiles;
mod protocols;
mod quota;
mod searches;
mod sets;
mod subjects;
