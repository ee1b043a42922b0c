//! Simulations of the statistical methods. They are seeded, so that each run gives the same
//! numbers. Bounds are on both sides, so that a method that says too much fails as well as one that
//! says too little. With them, the example that docs/method.md works out by hand.
//!
//! `cargo test -p hopbench-stats --test simulate -- --nocapture` prints the tables that
//! docs/method.md quotes.

mod allocated;
mod compared;
mod held;
mod method;
mod noise;
mod searched;
mod stalls;
mod stopped;

/// Prints a line of a table.
fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}
