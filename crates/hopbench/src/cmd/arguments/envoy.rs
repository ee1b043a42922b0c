//! `--envoy`: the program that a lab's sidecars and gateways are.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use hopbench_lab::use_envoy;
use hopbench_model::Fault;

/// Which Envoy.
#[derive(Debug, Args)]
pub(in crate::cmd) struct EnvoyArgument {
    /// The Envoy for sidecars and gateways [default: the one in PATH or in the cache folder]
    #[arg(long, value_name = "FILE")]
    envoy: Option<PathBuf>,
}

impl EnvoyArgument {
    /// From now on labs of this process use it.
    pub(in crate::cmd) fn apply(&self) -> Result<(), Fault> {
        self.envoy.as_deref().map_or(Ok(()), use_envoy)
    }

    /// The same as arguments for another process, which may be in another folder.
    pub(in crate::cmd) fn for_another(&self) -> Vec<OsString> {
        let absolute = self
            .envoy
            .as_deref()
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        absolute.into_iter().flat_map(|path| [OsString::from("--envoy"), path.into()]).collect()
    }
}
