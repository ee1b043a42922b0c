//! The token that a run's agents let nobody in without.

use serde_json::{Value, json};

use crate::labels::Run;

/// The Secret's name.
pub(crate) const TOKEN: &str = "token";
/// The token's key in it, and the name of its file.
pub(crate) const KEY: &str = "token";
/// The folder in which agents find the file.
pub(crate) const FOLDER: &str = "/var/run/hopbench";

/// The Secret with the token's text form.
pub(crate) fn secret(run: &Run, token: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": run.metadata(TOKEN),
        "type": "Opaque",
        "immutable": true,
        "stringData": {KEY: token},
    })
}
