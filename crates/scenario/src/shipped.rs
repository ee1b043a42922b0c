//! The scenarios that come with the program.

/// A scenario in the folder `scenarios`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// What it is called on the command line.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

impl Shipped {
    /// The question that it answers: the file's first comment.
    pub fn summary(&self) -> &'static str {
        self.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default()
    }
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            text: include_str!(concat!("../../../scenarios/", $name, ".yaml")),
        }),*]
    };
}

/// Every scenario that is shipped, the one to begin with first.
pub const SHIPPED: &[Shipped] = shipped![
    "quickstart",
    "tcp-fanout",
    "message-size-sweep",
    "mesh-latency",
    "mesh-variants",
    "mesh-protocols",
    "cni-matrix",
    "max-throughput",
    "ip-families",
    "before-after",
    "check-against-peers",
];

/// The scenario of this name.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|scenario| scenario.name == name)
}
