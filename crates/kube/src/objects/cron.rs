//! A CronJob that runs a scenario with the rights of an account, and keeps the results on a volume.

use std::collections::BTreeSet;
use std::fmt::Write;

use hopbench_model::{ClusterSpec, Problem};

use crate::api::manifests::Account;
use crate::image::default_tag;
use crate::image::layout::{ENTRYPOINT, USER};
use crate::objects::pod;

/// A scenario, and when it runs.
#[derive(Debug, Clone)]
pub struct Periodic<'a> {
    /// The times as cron writes them: `0 3 * * *`.
    pub schedule: &'a str,
    /// The text of the scenario.
    pub scenario: &'a str,
    /// The text of the file that holds in place of the scenario's testbed.
    pub testbed: Option<&'a str>,
    /// The cluster as one of them has it.
    pub cluster: &'a ClusterSpec,
    /// The nodes on which the scenario measures, by its own names.
    pub nodes: BTreeSet<String>,
}

impl Periodic<'_> {
    /// The problems that Kubernetes would have with it.
    pub fn problems(&self) -> Vec<Problem> {
        let known = |c: char| c.is_ascii_alphanumeric() || "*/,-?LW#".contains(c);
        let fields: Vec<&str> = self.schedule.split(' ').collect();
        let is_known = |field: &&str| !field.is_empty() && field.chars().all(known);
        let mut problems = Vec::new();
        if fields.len() != 5 || !fields.iter().all(is_known) {
            let expected = "five fields as cron has them, with a space between: `0 3 * * *` is 3 \
                            o'clock every day";
            problems.push(Problem::new("--cron", self.schedule, expected));
        }
        if let Some(context) = &self.cluster.context {
            let expected = "none: the job has no kubeconfig, and measures the cluster that it runs \
                            in; say it with `--context` where you run by hand";
            problems.push(Problem::new("context", context, expected));
        }
        problems
    }

    /// What may keep runs of this account from what they need, a line each.
    pub fn warnings(&self, account: &Account) -> Vec<String> {
        let mut warnings = Vec::new();
        let unnamed: Vec<&str> = self
            .cluster
            .nodes
            .iter()
            .filter(|node| node.node.is_none() && self.nodes.contains(&node.name))
            .map(|node| node.name.as_str())
            .collect();
        if account.only_there && !unnamed.is_empty() {
            warnings.push(format!(
                "--cron: a Role may not list nodes, and nothing says which nodes {} are: name them \
                 (`nodes: {{{}: {{name: NODE}}}}` under `kubernetes:`), or give the account `list \
                 nodes`",
                unnamed.join(", "),
                unnamed[0]
            ));
        }
        let usual = default_tag();
        if self.cluster.image == usual {
            warnings.push(format!(
                "--cron: the job and its agents have the image {usual}, since no `image:` under \
                 `kubernetes:` says another: every node must have it"
            ));
        }
        warnings
    }
}

/// The ConfigMap with the scenario and its testbed, the claim for a volume, and the CronJob. The
/// account is that of the other manifests.
pub fn cron(account: &Account, periodic: &Periodic<'_>) -> String {
    let Account { name, namespace, only_there, .. } = account;
    let Periodic { schedule, scenario, testbed, cluster, .. } = periodic;
    let image = quoted(&cluster.image);
    let policy = &cluster.pull_policy;
    let secrets = match cluster.pull_secrets.as_slice() {
        [] => String::new(),
        names => format!("          imagePullSecrets: {}\n", pod::named(names)),
    };
    let given = if *only_there { format!(", --namespace, {namespace}") } else { String::new() };
    let (file, named) = match testbed {
        Some(text) => (format!("  testbed.yaml: {}\n", block(text)), "/scenario/testbed.yaml"),
        None => (String::new(), "kubernetes"),
    };
    let mut yaml = format!(
        "---\n\
         apiVersion: v1\n\
         kind: ConfigMap\n\
         metadata: {{name: {name}-scenario, namespace: {namespace}}}\n\
         data:\n\
         \x20 scenario.yaml: {}\n\
         {file}\
         ---\n\
         # Every run leaves a folder of results here.\n\
         apiVersion: v1\n\
         kind: PersistentVolumeClaim\n\
         metadata: {{name: {name}-results, namespace: {namespace}}}\n\
         spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n\
         ---\n",
        block(scenario)
    );
    // A string takes whatever is written to it.
    let _ = write!(
        yaml,
        "apiVersion: batch/v1\n\
         kind: CronJob\n\
         metadata: {{name: {name}, namespace: {namespace}}}\n\
         spec:\n\
         \x20 schedule: \"{schedule}\"\n\
         \x20 # Two runs at once disturb each other.\n\
         \x20 concurrencyPolicy: Forbid\n\
         \x20 jobTemplate:\n\
         \x20   spec:\n\
         \x20     backoffLimit: 0\n\
         \x20     template:\n\
         \x20       spec:\n\
         \x20         serviceAccountName: {name}\n\
         \x20         restartPolicy: Never\n\
         {secrets}\
         \x20         securityContext: {{runAsNonRoot: true, runAsUser: {USER}, runAsGroup: \
         {USER}, fsGroup: {USER}, seccompProfile: {{type: RuntimeDefault}}}}\n\
         \x20         containers:\n\
         \x20         - name: hopbench\n\
         \x20           image: {image}\n\
         \x20           imagePullPolicy: {policy}\n\
         \x20           command: [{ENTRYPOINT}, run, /scenario/scenario.yaml, --testbed, \
         {named}{given}]\n\
         \x20           workingDir: /results\n\
         \x20           securityContext: {{allowPrivilegeEscalation: false, \
         readOnlyRootFilesystem: true, capabilities: {{drop: [ALL]}}}}\n\
         \x20           volumeMounts:\n\
         \x20           - {{name: scenario, mountPath: /scenario}}\n\
         \x20           - {{name: results, mountPath: /results}}\n\
         \x20           - {{name: tmp, mountPath: /tmp}}\n\
         \x20         volumes:\n\
         \x20         - {{name: scenario, configMap: {{name: {name}-scenario}}}}\n\
         \x20         - {{name: results, persistentVolumeClaim: {{claimName: {name}-results}}}}\n\
         \x20         - {{name: tmp, emptyDir: {{}}}}\n"
    );
    yaml
}

/// A text as a block of a key that is two columns in; one with control characters as a string.
fn block(text: &str) -> String {
    if text.trim().is_empty() || text.chars().any(|c| c.is_control() && c != '\n') {
        return quoted(text);
    }
    let lines = text.trim_end().lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("\n    {line}"),
    });
    format!("|2{}", lines.collect::<String>())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::batch::v1::CronJob;
    use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};

    use super::*;
    use crate::plan::fixture::spec;

    fn periodic<'a>(
        schedule: &'a str,
        scenario: &'a str,
        cluster: &'a ClusterSpec,
    ) -> Periodic<'a> {
        let nodes = ["a", "b"].map(str::to_owned).into();
        Periodic { schedule, scenario, testbed: None, cluster, nodes }
    }

    #[test]
    fn the_job_runs_the_scenario_and_keeps_what_it_found() {
        let spec = ClusterSpec { pull_secrets: vec!["registry".to_owned()], ..spec() };
        let text = "  name: x\n\n# a comment: |\n  paths: {\"a\": b}\n";
        let account = Account { namespace: "team".into(), only_there: true, ..Account::default() };
        let yaml = cron(&account, &periodic("0 3 * * *", text, &spec));
        let parts: Vec<&str> = yaml.split("---\n").skip(1).collect();
        let config: ConfigMap = serde_saphyr::from_str(parts[0]).unwrap();
        assert_eq!(config.data.unwrap()["scenario.yaml"], text);
        let claim: PersistentVolumeClaim = serde_saphyr::from_str(parts[1]).unwrap();
        let job: CronJob = serde_saphyr::from_str(parts[2]).unwrap();
        let job = job.spec.unwrap();
        assert_eq!(job.schedule, "0 3 * * *");
        let pod = job.job_template.spec.unwrap().template.spec.unwrap();
        assert_eq!(pod.service_account_name.as_deref(), Some("hopbench"));
        let command = pod.containers[0].command.as_ref().unwrap().join(" ");
        let expected =
            "/hopbench run /scenario/scenario.yaml --testbed kubernetes --namespace team";
        assert_eq!(command, expected);
        assert_eq!(pod.containers[0].image.as_ref(), Some(&spec.image));
        let secrets = pod.image_pull_secrets.unwrap();
        assert_eq!(secrets.iter().map(|secret| &secret.name).collect::<Vec<_>>(), ["registry"]);
        let volumes = pod.volumes.unwrap();
        let claimed = volumes.iter().find_map(|volume| volume.persistent_volume_claim.as_ref());
        assert_eq!(Some(&claimed.unwrap().claim_name), claim.metadata.name.as_ref());
    }

    #[test]
    fn the_job_has_the_testbed_of_a_file() {
        let (spec, testbed) = (spec(), "kubernetes:\n  image: registry.example/hopbench:1\n");
        let job = Periodic { testbed: Some(testbed), ..periodic("0 3 * * *", "name: x", &spec) };
        let yaml = cron(&Account::default(), &job);
        let parts: Vec<&str> = yaml.split("---\n").skip(1).collect();
        let config: ConfigMap = serde_saphyr::from_str(parts[0]).unwrap();
        let data = config.data.unwrap();
        assert_eq!(data["scenario.yaml"].trim(), "name: x");
        assert_eq!(data["testbed.yaml"], testbed);
        assert!(parts[2].contains("--testbed, /scenario/testbed.yaml]"), "{yaml}");
    }

    #[test]
    fn what_the_job_would_lack_is_told() {
        let account = Account { namespace: "team".into(), only_there: true, ..Account::default() };
        let mut spec = spec();
        spec.nodes[0].node = Some("worker-1".to_owned());
        let told = |spec: &ClusterSpec, account: &Account| {
            periodic("0 3 * * *", "name: x", spec).warnings(account).join("\n")
        };
        let nodes = told(&spec, &account);
        // The scenario measures nothing on c.
        let named = "nothing says which nodes b are: name them (`nodes: {b: {name: NODE}}`";
        assert!(nodes.contains(named), "{nodes}");
        assert!(!told(&spec, &Account::default()).contains("nodes"));
        spec.image = "registry.example/hopbench:1".to_owned();
        spec.nodes.truncate(1);
        assert_eq!(told(&spec, &account), "");
        spec.image = default_tag();
        assert!(told(&spec, &account).contains("every node must have it"));
        // A pod has no kubeconfig that could have contexts.
        spec.context = Some("staging".to_owned());
        let problems = periodic("0 3 * * *", "name: x", &spec).problems();
        assert!(problems[0].to_string().starts_with("context: found `staging`"), "{problems:?}");
    }

    #[test]
    fn a_scenario_with_control_characters_is_the_same_text() {
        let (spec, text) = (spec(), "a: 1\r\nb: \"\t\"\r\n");
        let yaml = cron(&Account::default(), &periodic("0 3 * * *", text, &spec));
        let config: ConfigMap =
            serde_saphyr::from_str(yaml.split("---\n").nth(1).unwrap()).unwrap();
        assert_eq!(config.data.unwrap()["scenario.yaml"], text);
        assert!(!yaml.contains("--namespace") && !yaml.contains("imagePullSecrets"));
    }

    #[test]
    fn a_schedule_has_five_fields() {
        let spec = spec();
        let wrong = |schedule| periodic(schedule, "a: 1", &spec).problems().len();
        assert_eq!((wrong("0 3 * * *"), wrong("*/5 0-6 1,2 * MON-FRI")), (0, 0));
        assert_eq!((wrong("3 o'clock"), wrong("0 3 * *"), wrong("0 3 * * \"")), (1, 1, 1));
    }
}
