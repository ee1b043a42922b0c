//! The proof that the proxies that a path names took the traffic, and that the others did not.
//!
//! A proxy that clients connect to must have counted exactly the connections and requests that the
//! clients report. A proxy behind another must have counted what that one passed on. A figure that
//! is not known exactly lies between two that are: what certainly came, and the most that can have.

mod sent;

use hopbench_model::{BYPASSES_PROXY, Job, Path, Proof, Variant, Via, proxy_role};

pub use self::sent::{Range, Sent};
use crate::counters::{Counters, of_proxy};
use crate::route::Proxy;
use crate::seen::Seen;

/// The proxies of a path.
#[derive(Debug, Clone, Copy)]
struct PathProxies<'a> {
    path: &'a Path,
    proxies: &'a [Proxy],
}

/// The growth of counters over a trial.
#[derive(Debug, Clone, Copy)]
struct Grown<'a> {
    before: &'a Counters,
    after: &'a Counters,
}

impl Grown<'_> {
    /// By how much a counter grew. `None`: there is no such counter.
    fn by(self, name: &str) -> Option<u64> {
        Some(self.after.get(name)?.saturating_sub(*self.before.get(name)?))
    }
}

/// Evidence for every proxy in the pods of a path, from the counters of [`of_proxy`] before the
/// trial and after it.
pub fn proxy_proofs(
    path: &Path,
    proxies: &[Proxy],
    before: &Counters,
    after: &Counters,
    seen: &Seen<'_>,
) -> Vec<Proof> {
    // Of a gateway of others no counters are known: the testbed has other evidence for it.
    let is_counted = |proxy: &&Proxy| !is_by_others(path) || proxy_role(&proxy.name) != "gateway";
    let proxies: Vec<Proxy> = proxies.iter().filter(is_counted).cloned().collect();
    prove(&PathProxies { path, proxies: &proxies }, &Grown { before, after }, seen)
}

/// Whether a path enters by a gateway that is not the testbed's own.
fn is_by_others(path: &Path) -> bool {
    matches!(&path.via, Via::Gateway(node) if node.is_empty())
}

fn prove(known: &PathProxies<'_>, grown: &Grown<'_>, seen: &Seen<'_>) -> Vec<Proof> {
    let Some(variant) = known.path.variant.as_ref().filter(|_| known.path.is_proxied()) else {
        return known
            .proxies
            .iter()
            .map(|proxy| idle(proxy, grown, "no proxy is on this path"))
            .collect();
    };
    let mut proofs: Vec<Proof> = Vec::new();
    if seen.job.bypasses_proxies() {
        let why = format!("{BYPASSES_PROXY}: not TCP");
        return known.proxies.iter().map(|proxy| idle(proxy, grown, &why)).collect();
    }
    let named = |end: &str| -> Vec<&Proxy> {
        known.proxies.iter().filter(|proxy| proxy.named && proxy_role(&proxy.name) == end).collect()
    };
    let ends: [Vec<&Proxy>; 3] = ["client-sidecar", "gateway", "server-sidecar"].map(named);
    let by_others = is_by_others(known.path);
    let job = seen.job;
    let mut before: Option<&[&Proxy]> = None;
    for (at, group) in ends.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
        let all = Sent::all(seen);
        match before {
            // Each client's own connections lead to its own sidecar.
            None if at == 0 && group.len() == seen.clients.len() => {
                proofs.extend(group.iter().zip(seen.clients).map(|(proxy, (_, end))| {
                    entered(&[proxy], grown, job, Sent::by(job, end, seen.stood))
                }));
            }
            None if by_others => {
                proofs.extend(each(group, grown, job, &behind_others(group, grown, job, all)));
            }
            None => proofs.extend(each(group, grown, job, &entered(group, grown, job, all))),
            Some(ahead) => {
                proofs.extend(each(group, grown, job, &passed_on(ahead, group, grown, job, all)));
            }
        }
        before = Some(group);
    }
    // One that was there before the run is nobody's pod here, and has no counters.
    let has_gateway = matches!(&known.path.via, Via::Gateway(node) if !node.is_empty());
    // Those that the clients must pass are named by the path itself; one that never was there has
    // no counters.
    let wanted = [
        (known.path.mesh.has_client(), &ends[0], "client-sidecar"),
        (has_gateway, &ends[1], "gateway"),
        (known.path.mesh.has_server(), &ends[2], "server-sidecar"),
    ];
    for (_, _, end) in wanted.iter().filter(|(wanted, group, _)| *wanted && group.is_empty()) {
        proofs.push(Proof {
            hop: (*end).to_owned(),
            evidence: "there is none in the pods".to_owned(),
            ok: false,
        });
    }
    proofs.extend(asked(known, grown, seen, variant));
    let rest = known.proxies.iter().filter(|proxy| !proxy.named);
    proofs.extend(rest.map(|proxy| idle(proxy, grown, "not on this path")));
    proofs
}

/// The sum of a counter; `None`: one has no such counter.
fn sum(proxies: &[&Proxy], grown: &Grown<'_>, counter: &str) -> Option<u64> {
    proxies.iter().map(|proxy| grown.by(&of_proxy(&proxy.name, counter))).sum()
}

fn hop(proxies: &[&Proxy]) -> String {
    match proxies {
        [proxy] => proxy.name.clone(),
        [proxy, ..] => format!("{} x {}", proxies.len(), proxy.name),
        [] => String::new(),
    }
}

/// One proof for each of several that share the traffic, all with the verdict on their sum.
fn each(proxies: &[&Proxy], grown: &Grown<'_>, job: &Job, together: &Proof) -> Vec<Proof> {
    let counter = if job.shows_requests() { "requests" } else { "downstream_connections" };
    let proof = |proxy: &&Proxy| {
        let own = grown.by(&of_proxy(&proxy.name, counter)).unwrap_or(0);
        let evidence = match proxies {
            [_] => together.evidence.clone(),
            all => format!("{} +{own}; all {}: {}", words(counter), all.len(), together.evidence),
        };
        Proof { hop: proxy.name.clone(), evidence, ok: together.ok }
    };
    proxies.iter().map(proof).collect()
}

/// Proxies that the clients themselves connect to.
fn entered(proxies: &[&Proxy], grown: &Grown<'_>, job: &Job, sent: Sent) -> Proof {
    let http = job.shows_requests();
    let (Some(connections), Some(requests)) =
        (sum(proxies, grown, "downstream_connections"), sum(proxies, grown, "requests"))
    else {
        return Proof { hop: hop(proxies), evidence: "it has no counters".to_owned(), ok: false };
    };
    let mut evidence =
        format!("connections +{connections}, the clients opened {}", sent.connections);
    if http {
        evidence.push_str(&format!("; requests +{requests}, the clients sent {}", sent.requests));
    }
    Proof {
        hop: hop(proxies),
        evidence,
        ok: sent.connections.holds(connections) && sent.requests.holds(requests),
    }
}

/// Proxies behind others, `ahead` of them.
fn passed_on(
    ahead: &[&Proxy],
    proxies: &[&Proxy],
    grown: &Grown<'_>,
    job: &Job,
    sent: Sent,
) -> Proof {
    let of = |proxies: &[&Proxy], counter: &str| sum(proxies, grown, counter);
    let read = || {
        let made = of(ahead, "upstream_connections")?;
        let (connections, requests) =
            (of(proxies, "downstream_connections")?, of(proxies, "requests")?);
        let passed = of(ahead, "requests")? + of(ahead, "retries")?;
        Some((made, connections, requests, passed))
    };
    let Some((made, connections, requests, passed)) = read() else {
        return Proof { hop: hop(proxies), evidence: "it has no counters".to_owned(), ok: false };
    };
    let behind = hop(ahead);
    if job.shows_requests() {
        // Connections are kept and shared. What the proxy ahead answered itself never came here.
        let least = sent.requests.least.saturating_sub(sent.answered_by_proxies);
        let wanted = Range { least: least.min(passed), most: passed };
        let evidence = format!(
            "requests +{requests}, {behind} passed {wanted} on; connections +{connections} of \
             {made}"
        );
        return Proof {
            hop: hop(proxies),
            evidence,
            ok: wanted.holds(requests) && connections <= made,
        };
    }
    // The one that carries nothing may be gone before it is passed on.
    let wanted = Range { least: sent.used.least, most: made };
    let evidence =
        format!("connections +{connections}, {behind} made {made}, the clients used {}", sent.used);
    Proof { hop: hop(proxies), evidence, ok: wanted.holds(connections) && requests == 0 }
}

/// Proxies behind a gateway of others. Nobody knows how many connections it keeps, and which
/// requests it sends again or for itself. Of bytes it opens a connection for each that it took, and
/// perhaps more.
fn behind_others(proxies: &[&Proxy], grown: &Grown<'_>, job: &Job, sent: Sent) -> Proof {
    let (Some(connections), Some(requests)) =
        (sum(proxies, grown, "downstream_connections"), sum(proxies, grown, "requests"))
    else {
        return Proof { hop: hop(proxies), evidence: "it has no counters".to_owned(), ok: false };
    };
    if !job.shows_requests() {
        let evidence =
            format!("connections +{connections}, the clients used {} to the gateway", sent.used);
        let ok = connections >= sent.used.least && requests == 0;
        return Proof { hop: hop(proxies), evidence, ok };
    }
    let evidence =
        format!("requests +{requests}, the clients sent {} to the gateway", sent.requests);
    let least = sent.requests.least.saturating_sub(sent.answered_by_proxies);
    Proof { hop: hop(proxies), evidence, ok: requests >= least }
}

/// So many requests fill Envoy's buffer for reports (16 KiB) many times: some were sent while the
/// trial ran.
const SURELY_REPORTED: u64 = 1000;

/// The services that proxies ask: as the proxies count it, and as the services do.
fn asked(
    known: &PathProxies<'_>,
    grown: &Grown<'_>,
    seen: &Seen<'_>,
    variant: &Variant,
) -> Vec<Proof> {
    let (job, sent) = (seen.job, Sent::all(seen));
    let unit = if job.shows_requests() { "requests" } else { "downstream_connections" };
    let named = |name: &str| known.proxies.iter().any(|proxy| proxy.named && proxy.name == name);
    let of = |proxies: &[&Proxy], counter: &str| sum(proxies, grown, counter);
    let carriers: Vec<&Proxy> =
        known.proxies.iter().filter(|proxy| proxy.named && !proxy.is_service()).collect();
    let checking: Vec<&Proxy> =
        carriers.iter().copied().filter(|p| proxy_role(&p.name) != "client-sidecar").collect();
    let own = |service: &str, counter: &str| grown.by(&of_proxy(service, counter));
    let mut proofs = Vec::new();
    if variant.policy_check && named("policy") {
        // Each of them asks about what it took: all that was answered, and what was cut off
        // perhaps.
        let ends = ["gateway", "server-sidecar"];
        let least = |end: &str| -> Option<u64> {
            let of_end: Vec<&Proxy> =
                checking.iter().copied().filter(|proxy| proxy_role(&proxy.name) == end).collect();
            let took = of(&of_end, unit)?;
            let http = took.saturating_sub(sent.requests.most - sent.requests.least);
            Some(if job.shows_requests() { http } else { took.min(sent.used.least) })
        };
        let least: Option<u64> = ends.into_iter().map(least).sum();
        let read = (
            of(&checking, "policy_checks"),
            of(&checking, "policy_errors"),
            of(&checking, unit),
            least,
        );
        let (evidence, ok) = match (read, own("policy", "checks")) {
            ((Some(asked), Some(errors), Some(took), Some(least)), Some(checks)) => {
                let wanted = Range { least: least.min(took), most: took };
                let text = format!(
                    "asked {asked} times, {errors} without an answer; {wanted} {} were to be \
                     checked; it made {checks} checks",
                    words(unit)
                );
                // Whoever asked may have gone before the answer.
                let made = Range { least: asked.saturating_sub(errors), most: took.max(asked) };
                (text, wanted.holds(asked) && made.holds(checks))
            }
            (_, None) => ("it has no counters".to_owned(), false),
            _ => ("those that ask have no counters".to_owned(), false),
        };
        proofs.push(Proof { hop: "policy".to_owned(), evidence, ok });
    }
    if variant.policy_report && named("telemetry") {
        let read = (of(&carriers, "reports"), of(&carriers, "reports_lost"), of(&carriers, unit));
        let (evidence, ok) = match (
            read,
            own("telemetry", "reports"),
            own("telemetry", "failed_calls"),
        ) {
            // Reports are sent every 100 ms, of a connection when it is over. The last ones of a
            // trial come after it, and are under way when the service is asked. If the next trial
            // begins soon, they count there: no more than a trial has itself. Envoy drops reports
            // rather than requests when the service is slower than the traffic: a fact about the
            // load, not about the way.
            ((Some(reports), Some(lost), Some(took)), Some(got), Some(failed)) => {
                let text = format!(
                    "{reports} reports sent, {lost} lost, {got} received so far in calls of which \
                     {failed} failed; {took} {}",
                    words(unit)
                );
                let is_reported = reports > 0 || took < SURELY_REPORTED;
                (text, is_reported && failed == 0 && got <= reports + took)
            }
            (_, None, _) | (_, _, None) => ("it has no counters".to_owned(), false),
            _ => ("those that report have no counters".to_owned(), false),
        };
        proofs.push(Proof { hop: "telemetry".to_owned(), evidence, ok });
    }
    proofs
}

fn words(counter: &str) -> &str {
    if counter == "requests" { "requests" } else { "connections" }
}

/// A proxy that must not have moved, or a service that must not have been asked.
fn idle(proxy: &Proxy, grown: &Grown<'_>, why: &str) -> Proof {
    let counters: &[(&str, &str)] = match proxy.name.as_str() {
        "policy" => &[("checks", "checks")],
        "telemetry" => &[("reports", "reports")],
        _ => &[("connections", "downstream_connections"), ("requests", "requests")],
    };
    let by = |counter: &str| grown.by(&of_proxy(&proxy.name, counter));
    let read: Option<Vec<(&str, u64)>> =
        counters.iter().map(|(word, counter)| Some((*word, by(counter)?))).collect();
    let (evidence, ok) = match read {
        Some(read) => {
            let each: Vec<String> =
                read.iter().map(|(word, grown)| format!("{word} +{grown}")).collect();
            (format!("{why}: {}", each.join(", ")), read.iter().all(|(_, grown)| *grown == 0))
        }
        None => (format!("{why}: does not run, it took nothing"), true),
    };
    Proof { hop: proxy.name.clone(), evidence, ok }
}

#[cfg(test)]
mod tests;
