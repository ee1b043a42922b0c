//! `--version`: which build this is, and which formats it speaks.

use std::sync::LazyLock;

use hopbench_model::{PLAN_SCHEMA, RECORD_SCHEMA, RUN_SCHEMA};
use hopbench_wire::PROTOCOL;

/// The version alone.
pub(in crate::cmd) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// All of it, a line each. Two builds measure together if their protocols are the same, and read
/// each other's results if the schemas are.
pub(in crate::cmd) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let commit = hopbench_agent::COMMIT;
        let event = crate::cmd::run::EVENT_SCHEMA;
        format!(
            "{SHORT}\ncommit   {commit}\nprotocol {PROTOCOL}\nrecord   {RECORD_SCHEMA}\n\
             run      {RUN_SCHEMA}\n\
             plan     {PLAN_SCHEMA}\nevent    {event}"
        )
    });
    &TEXT
}
