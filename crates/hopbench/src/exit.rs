//! Exit codes: 0 measured, 1 a comparison or limit failed, 2 the input is wrong, 3 the environment
//! cannot do it, 4 something failed while measuring.

use std::process::ExitCode;

use hopbench_model::{Fault, FaultKind};

use crate::invocation;
use crate::output::tell;

/// Says what went wrong, and turns it into the exit code.
pub(crate) fn code(result: Result<ExitCode, Fault>) -> ExitCode {
    let fault = match result {
        Ok(code) => return code,
        Err(fault) => fault,
    };
    invocation::typed(&fault.text).lines().for_each(tell);
    ExitCode::from(match fault.kind {
        FaultKind::Input => 2,
        FaultKind::Environment => 3,
        FaultKind::Measuring => 4,
    })
}
