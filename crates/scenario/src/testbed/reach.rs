//! The way to a cluster that the command line says, and the namespace in it.

/// How to reach a cluster, and where in it a run is, as the command line says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterOverrides {
    /// `--context`: the context of the kubeconfig.
    pub context: Option<String>,
    /// `--kubeconfig`: the file.
    pub kubeconfig: Option<String>,
    /// `--namespace`: the namespace of the run, which exists already.
    pub namespace: Option<String>,
}

impl ClusterOverrides {
    /// Each that was said: its flag, its value, and the testbed that has it.
    pub fn said(&self) -> impl Iterator<Item = (&'static str, &str, &'static str)> {
        [
            ("--context", &self.context, "the testbed kubernetes, which has contexts"),
            ("--kubeconfig", &self.kubeconfig, "the testbed kubernetes, which has a kubeconfig"),
            ("--namespace", &self.namespace, "the testbed kubernetes, which has namespaces"),
        ]
        .into_iter()
        .filter_map(|(flag, value, expected)| Some((flag, value.as_deref()?, expected)))
    }
}
