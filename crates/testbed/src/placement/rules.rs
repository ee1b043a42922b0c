//! The rules by which a testbed shares pods between paths.

use hopbench_mesh::Offer;
use hopbench_model::{Job, Path, ServerSpec};

/// The rules of a testbed. By default a pod has the agent and the server programs beside it, and
/// its traffic is redirected to its sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Whether a server program has pods of its own.
    pub programs_apart: bool,
    /// Whether clients connect to their own sidecar, because nothing redirects their traffic. The
    /// sidecar then needs the servers' addresses before it starts. So these clients are no path's
    /// servers.
    pub connects: bool,
    /// Whether the mesh takes all of a pod's traffic or none. Then the ends that a mode puts into
    /// the mesh have pods of their own.
    pub captures_pods: bool,
    /// Whether the mesh takes all connections to a server program or none, since it has one port
    /// for all modes. Then the program's pods that a mode puts into the mesh are apart. So are such
    /// clients of a path with a program. It needs pods of the program's own.
    pub captures_programs: bool,
    /// Whether the services that proxies ask stay on the servers' node if the servers have no pods.
    /// Otherwise they are on the clients' node then.
    pub policy_on_servers_node: bool,
    /// Whether all proxies take the version of HTTP from the port that is asked, so that HTTP/2 has
    /// ports of its own. Otherwise only those do that speak HTTP/2 with each other in any case.
    pub versions_apart: bool,
}

impl Rules {
    /// The offer that a job asks of this server on a path.
    pub fn offer(self, path: &Path, job: &Job, server: &ServerSpec) -> Offer {
        if self.has_versions_apart(path) {
            Offer::of_version(job, server)
        } else {
            Offer::of(job, server)
        }
    }

    /// Whether the mesh takes all of an end's traffic or none. That may depend on whether a server
    /// program answers.
    pub(super) fn takes_whole(self, has_program: bool) -> bool {
        self.captures_pods || self.captures_programs && has_program
    }

    /// Whether HTTP/2 has ports of its own on a path.
    pub(super) fn has_versions_apart(self, path: &Path) -> bool {
        self.versions_apart || path.carries_as_http2()
    }

    /// The server program whose pods answer as this server.
    pub(super) fn program(self, server: &ServerSpec) -> Option<String> {
        if self.programs_apart { program(server) } else { None }
    }
}

/// The name of a server program; `None`: the agent answers itself.
pub fn program(server: &ServerSpec) -> Option<String> {
    if server.is_agent() { None } else { Some(server.program.clone()) }
}
