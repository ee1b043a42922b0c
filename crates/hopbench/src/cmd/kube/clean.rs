//! `hopbench kube clean`: what runs left behind that could not clean up after themselves.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_kube::Access;
use hopbench_kube::clean::{CleanupOutcome, CleanupScope, DEAD_AFTER, clean};
use hopbench_model::Fault;
use hopbench_model::units::Span;
use hopbench_report::number::counted;

use crate::cmd::subcommand::Subcommand;
use crate::output::{say, tell};

pub(super) struct Clean;

#[derive(Debug, Args)]
struct Flags {
    /// Only this run, whether it is alive or not: its name, or its namespace (`hopbench-RUN`)
    #[arg(long, value_name = "RUN", conflicts_with_all = ["all", "silent"])]
    run: Option<String>,
    /// Runs that are alive, too: of everybody
    #[arg(long, conflicts_with = "silent")]
    all: bool,
    /// Runs that gave no sign of life for so long [default: 2m]
    #[arg(long, value_name = "TIME")]
    silent: Option<Span>,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// File of the kubeconfig [default: as for kubectl]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Only what runs left in this namespace, which was given to them and stays
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
}

impl Subcommand for Clean {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("clean"))
            .about("Removes what dead runs left in a cluster, found by their label")
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Flags { run, all, silent, dry_run, context, kubeconfig, namespace } =
            Flags::from_arg_matches(matches).map_err(Fault::input)?;
        let silent_for = match silent {
            _ if all => Duration::ZERO,
            Some(silent) => Duration::from_nanos(silent.0),
            None => DEAD_AFTER,
        };
        let access = Access::open_file(kubeconfig.as_deref(), context.as_deref())?;
        let swept = clean(&access, &CleanupScope { run, silent_for, namespace, dry_run })?;
        if swept.is_empty() {
            // For people: programs read no line.
            tell(format_args!("no run left anything in the cluster {}", access.server));
        }
        swept.iter().try_for_each(say)?;
        let failed =
            swept.iter().filter(|swept| matches!(swept.outcome, CleanupOutcome::Failed(_))).count()
                as u64;
        if failed > 0 {
            let text = format!(
                "{} could not be removed; see above",
                counted(failed, "namespace", "namespaces")
            );
            return Err(Fault::environment(text));
        }
        Ok(())
    }
}
