//! The Secret with an agent's credentials, which its own pod mounts and no other.

use hopbench_control::conductor::RunKey;
use hopbench_control::credentials::Credentials;
use hopbench_control::keys::KeyPair;
use serde_json::{Value, json};

use crate::api::labels::RunIdentity;

/// The volume's name.
pub(crate) const CREDENTIALS: &str = "credentials";
/// The key in the Secret, and the name of the file.
const KEY: &str = "credentials";
/// The folder in which the agent finds the file.
pub(crate) const FOLDER: &str = "/var/run/hopbench";

/// The name of the Secret of a pod's agent.
pub(crate) fn name(pod: &str) -> String {
    format!("agent-{pod}")
}

/// The file, as the agent finds it.
pub(crate) fn file() -> String {
    format!("{FOLDER}/{KEY}")
}

/// The Secret of the agent in `pod`: its own key pair, and the public key of the run's conductor.
pub(crate) fn secret(run: &RunIdentity, pod: &str, keys: &KeyPair, conductor: &RunKey) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": run.metadata(&name(pod)),
        "type": "Opaque",
        "immutable": true,
        "stringData": {KEY: *Credentials::text(keys, conductor)},
    })
}
