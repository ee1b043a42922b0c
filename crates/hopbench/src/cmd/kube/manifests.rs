//! `hopbench kube manifests`: who may do what runs do.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_kube::cron::{Periodic, cron};
use hopbench_kube::manifests::{Account, manifests};
use hopbench_model::{Fault, TestbedSpec};

use crate::cmd::arguments::{Alone, TestbedArguments};
use crate::cmd::subcommand::Subcommand;
use crate::output::{print, tell};

pub(super) struct Manifests;

#[derive(Debug, Args)]
struct Flags {
    /// Name of the ServiceAccount, and of its role
    #[arg(long, value_name = "NAME", default_value_t = Account::default().name)]
    name: String,
    /// Namespace that exists, in which the rights hold, and nowhere else: for runs with this
    /// `--namespace`. Without it they hold in the whole cluster
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
    /// Namespace of the ServiceAccount with rights in the whole cluster; it is made, too
    #[arg(
        long,
        value_name = "NAME",
        default_value_t = Account::default().namespace,
        conflicts_with = "namespace"
    )]
    account_namespace: String,
    /// Without the rights that only some features need: changes in the cluster go unseen then, and
    /// the cluster's own meters
    #[arg(long)]
    least: bool,
    /// Adds a CronJob that runs the SCENARIO at these times, with results on a volume
    #[arg(long, value_name = "TIMES", requires = "scenario")]
    cron: Option<String>,
    /// With --cron: a YAML file with what would be under `testbed:`, in place of that of the
    /// scenario [default: the scenario's `kubernetes:` block]
    #[arg(long, value_name = "FILE", requires = "cron")]
    testbed: Option<String>,
    /// YAML file, or the name of a built-in scenario
    #[arg(value_name = "SCENARIO", requires = "cron")]
    scenario: Option<String>,
}

impl Subcommand for Manifests {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("manifests"))
            .about(
                "Prints the objects that give a ServiceAccount the rights that runs use, and no \
                 more",
            )
            .long_about(None)
            .after_help(
                "hopbench kube manifests | kubectl apply -f -\n\
                 hopbench kube manifests --namespace team | kubectl apply -f -\n\
                 hopbench kube manifests --cron '0 3 * * *' mine.yaml --testbed cluster.yaml | \
                 kubectl apply -f -",
            )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Flags { name, namespace, account_namespace, least, cron: times, testbed, scenario } =
            Flags::from_arg_matches(matches).map_err(Fault::input)?;
        let only_there = namespace.is_some();
        let testbed = TestbedArguments::cluster_of(testbed, namespace.clone());
        let namespace = namespace.unwrap_or(account_namespace);
        let account = Account { name, namespace, only_there, least };
        let problems = account.problems();
        if !problems.is_empty() {
            return Err(Fault::from_problems(&problems));
        }
        let (Some(times), Some(scenario)) = (times, scenario) else {
            return print(manifests(&account));
        };
        let Alone { text, testbed, plan } = Alone::read(&scenario, &testbed)?;
        let TestbedSpec::Kubernetes(cluster) = &plan.testbed else {
            let found = plan.testbed.name();
            let expected = "kubernetes, or a file with a `kubernetes:` block";
            return Err(Fault::input(format!("--testbed: found {found}, expected {expected}")));
        };
        let testbed = testbed.as_deref();
        let nodes = plan.paths.iter().flat_map(|path| path.nodes().map(str::to_owned)).collect();
        let (schedule, scenario) = (&times, &text);
        let periodic = Periodic { schedule, scenario, testbed, cluster, nodes };
        let problems = periodic.problems();
        if !problems.is_empty() {
            return Err(Fault::from_problems(&problems));
        }
        periodic.warnings(&account).iter().for_each(tell);
        print(manifests(&account) + &cron(&account, &periodic))
    }
}
