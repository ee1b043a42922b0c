//! The system's own tools, asked about a namespace.

use std::process::Command;

use hopbench_lab::namespace::Namespace;
use serde_json::Value;

/// What `program` prints as JSON inside `namespace`.
pub(crate) fn json(namespace: &Namespace, line: &str) -> Value {
    let text = output(namespace, line);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"))
}

/// What a line of shell prints inside `namespace`; it must succeed.
pub(crate) fn output(namespace: &Namespace, line: &str) -> String {
    let mut command: Command = namespace.command("sh").expect("a command");
    let done = command.args(["-ec", line]).env("PATH", super::inside::path()).output().expect("sh");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{line}: {}: {}", done.status, text(&done.stderr));
    text(&done.stdout)
}

/// The link `name` as `ip -d` sees it.
pub(crate) fn link(namespace: &Namespace, name: &str) -> Value {
    json(namespace, &format!("ip -d -j link show dev {name}"))[0].clone()
}
