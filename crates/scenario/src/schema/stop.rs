//! `stop:`, as many rounds as needed.

use hopbench_model::ROUNDS;
use serde_json::{Value, json};

use super::parts::{described, share};
use crate::resolve::rounds::{MAX_ROUNDS, MIN_ROUNDS, all_metrics};

/// A time.
const TIME: &str =
    "^ *([0-9][0-9._]* *(ns|us|µs|ms|s|m|min|h) *)*([0-9][0-9._]* *(ns|us|µs|ms|s|m|min|h)?)? *$";

/// The block.
pub(super) fn stop() -> Value {
    let metric = json!({"anyOf": [{"enum": all_metrics()}, {"const": "p99.9"}]});
    let rounds = |least: u32, default: u32| {
        let most = *ROUNDS.end();
        json!({"type": "integer", "minimum": least, "maximum": most, "default": default})
    };
    let keys = json!({
        "ci": described(
            share(0.001, 0.5),
            "How narrow is enough: half the 95 % interval as a share of the figure, like 2%",
        ),
        "metric": described(
            metric,
            "What the interval is of: throughput (the default), a percentile of the latency, or a \
             metric as records call it",
        ),
        "min-rounds": described(rounds(MIN_ROUNDS, MIN_ROUNDS), "Rounds that every cell gets"),
        "max-rounds": described(
            rounds(*ROUNDS.start(), MAX_ROUNDS),
            "The most rounds that a cell gets",
        ),
        "budget": described(
            budget(),
            "Time for all rounds; what is not narrow by then says how wide it is",
        ),
    });
    let stop = json!({
        "type": "object", "additionalProperties": false, "required": ["ci"], "properties": keys,
    });
    described(
        stop,
        "Rounds until the interval of each cell is narrow enough, instead of a fixed number",
    )
}

/// A time for rounds.
pub(super) fn budget() -> Value {
    json!({"anyOf": [{"type": "number", "minimum": 1}, {"type": "string", "pattern": TIME}]})
}
