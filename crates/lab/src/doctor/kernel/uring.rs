//! The check of io_uring.

use std::sync::Arc;

use hopbench_sys::Waker;
use hopbench_sys::uring::Ring;
use hopbench_testbed::Finding;

use crate::doctor::check::Check;

pub(crate) const CHECK: Check =
    Check { name: "io_uring", needed_for: "--engine uring", inside: false, run };

fn run() -> Finding {
    let made = Waker::new().and_then(|waker| Ring::new(8, Arc::from([0; 64]), Arc::new(waker)));
    match made {
        Ok(_) => Finding::works("a ring could be made"),
        Err(error) => Finding::missing(
            error.to_string(),
            "`sysctl kernel.io_uring_disabled=0`, and a seccomp profile that allows \
             io_uring_setup; or another engine",
        ),
    }
}
