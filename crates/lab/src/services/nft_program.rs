//! The `nft` program, which puts rules into a namespace and reads their counters.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::{Child, Output, Stdio};

use hopbench_model::IpFamily;
use serde_json::Value;

use super::nft_json::{TABLE, nft_word, packets};
use crate::network::stack::Stack;
use crate::processes::tools;

/// Starts to install rules in a namespace.
pub(crate) fn begin(stack: &Stack, rules: &Value) -> io::Result<Child> {
    let mut child = start(stack, &["-j", "-f", "-"], Stdio::piped())?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(rules.to_string().as_bytes())?;
    }
    Ok(child)
}

/// Waits until the rules are in place.
pub(crate) fn finish(child: Child) -> io::Result<()> {
    checked(child.wait_with_output()?).map(|_| ())
}

/// Connections of a family by counter, as they stand now.
pub(crate) fn counters(stack: &Stack, family: IpFamily) -> io::Result<BTreeMap<String, u64>> {
    let list = ["-j", "list", "counters", "table", nft_word(family), TABLE];
    let child = start(stack, &list, Stdio::null())?;
    let output = checked(child.wait_with_output()?)?;
    packets(&output.stdout).map_err(io::Error::other)
}

fn start(stack: &Stack, arguments: &[&str], input: Stdio) -> io::Result<Child> {
    let nft = tools::find("nft").ok_or_else(|| io::Error::other("no program `nft` in PATH"))?;
    let mut command = stack.namespace.command(nft.as_os_str())?;
    command.args(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn checked(output: Output) -> io::Result<Output> {
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("nft: {}: {}", output.status, said.trim())))
}
