//! The process tree of a lab.
//!
//! ```text
//!   hopbench ── init (process 1) ── hopbench, once more ── agents, tools
//!   outside     inside: new mount, network and process namespaces, unless root a user namespace
//! ```
//!
//! Everything inside lives exactly as long as the outer process, init and the inner hopbench do. If
//! one of the three ends, however it ends, the kernel kills the rest. Namespaces and mounts have no
//! other holder, and go with them. Init takes over orphans: so the inner hopbench waits only for
//! its own children. It has the signals of an ordinary process, which process 1 does not have.

mod forbidden;
mod inside;

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use hopbench_model::Fault;
use hopbench_sys::namespace::{is_started, start};

/// The side of the border on which a process is after [`enter`].
#[derive(Debug)]
pub enum Entered {
    /// Inside: go on.
    Inside,
    /// Outside, and the inner process has ended with this code: end with it.
    Outside(ExitCode),
}

/// Runs this program once more, with the same arguments, inside namespaces of its own, and waits
/// for its end.
///
/// Inside it returns at once. The process is root of its user namespace. `/proc` shows its tree,
/// `/sys` its network namespace, where `lo` is up. `/run` is empty and its own. No other process
/// sees its mounts. Standard input and output, directory, environment and terminal are those of the
/// caller.
///
/// Outside it passes SIGTERM and SIGHUP on to the inner process. It drops SIGINT and SIGQUIT, which
/// a terminal sends to both. A program that a signal N ended gives the exit code 128 + N. Call it
/// before there are other threads: a signal that one of those takes does not come through.
///
/// # Errors
/// Namespaces are not to be had here; the text says what forbids them and what to do.
pub fn enter() -> Result<Entered, Fault> {
    if is_inside() {
        inside::set_up()?;
        return Ok(Entered::Inside);
    }
    let arguments: Result<Vec<CString>, _> =
        std::env::args_os().map(|a| CString::new(a.into_vec())).collect();
    let arguments = arguments.map_err(Fault::input)?;
    let tree = start(c"/proc/self/exe", &arguments, !inside::is_root_enough())
        .map_err(|e| forbidden::fault(&e))?;
    let code = tree
        .wait()
        .map_err(|e| Fault::measuring(format!("cannot wait for the lab to end: {e}")))?;
    Ok(Entered::Outside(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))))
}

/// Whether this is the process that [`enter`] runs inside. Programs that it starts are not.
pub fn is_inside() -> bool {
    is_started()
}
