//! The network of a lab that stands: fabric, nodes, pods, Services.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hopbench_model::{Fault, IpFamily, LabSpec, Path, Place, Plan, Via};
use hopbench_testbed::placement::{Placement, PodId};
use serde_json::Value;

use crate::mesh::interception;
use crate::network::families::{family_of, of_family};
use crate::network::netlink::Layout;
use crate::network::stack::Stack;
use crate::network::{receive_steering, refused};
use crate::services::service::Service;
use crate::services::{nft_program, service_rules};
use crate::topology::fabric::Fabric;
use crate::topology::kind::{Reach, Site};
use crate::topology::kinds::{self, KINDS, kind, subnets};
use crate::topology::node::Node;
use crate::topology::packet_path::{Link, Owner};
use crate::topology::{addresses, cpu_shares};

/// Everything that was built. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) fabric: Fabric,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: BTreeMap<PodId, Pod>,
    /// The Services, by path.
    pub(crate) services: BTreeMap<String, Service>,
    /// The tunnel devices that every node has.
    pub(crate) tunnels: BTreeSet<&'static str>,
}

/// A pod, or a seat on a node.
#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) address: Ipv4Addr,
    /// Its own stack. Absent on `host`.
    stack: Option<Stack>,
    /// The addresses and routes of its link, for runtimes, which take them over.
    pub(crate) layout: Option<Layout>,
}

/// How long the kernel keeps a closed connection in the table of those that it tracks, seconds.
const TIME_WAIT: &str = "net.netfilter.nf_conntrack_tcp_timeout_time_wait";

impl Built {
    /// Builds what a placement needs.
    pub(crate) fn build(spec: &LabSpec, placement: &Placement) -> Result<Self, Fault> {
        let families = families(placement);
        let mut fabric = Fabric::build(spec).map_err(refused("cannot build the fabric"))?;
        let mut nodes = Vec::new();
        for (number, node) in spec.nodes.iter().enumerate() {
            let built = Node::build(number, node, &mut fabric, families, spec.mtu);
            nodes.push(built.map_err(refused(format!("cannot build node {}", node.name)))?);
        }
        for node in &mut nodes {
            let name = node.spec.name.clone();
            node.route_to_others(spec.nodes.len())
                .map_err(refused(format!("cannot set the routes of node {name}")))?;
        }
        let used: BTreeSet<&str> =
            placement.pods.iter().map(|pod| pod.place.network.as_str()).collect();
        for kind in KINDS.iter().filter(|kind| used.contains(kind.name())) {
            let what = format!("cannot make the nodes ready for network `{}`", kind.name());
            kind.prepare(&mut nodes, subnets(kind.name())).map_err(refused(what))?;
        }
        let tunnels = used.iter().filter_map(|name| kind(name)?.reach().tunnel()).collect();
        let mut built =
            Self { fabric, nodes, pods: BTreeMap::new(), services: BTreeMap::new(), tunnels };
        for pod in &placement.pods {
            built.attach(spec, families, pod)?;
        }
        built.serve(placement)?;
        built.intercept(placement)?;
        Ok(built)
    }

    fn attach(
        &mut self,
        spec: &LabSpec,
        families: &'static [IpFamily],
        id: &PodId,
    ) -> Result<(), Fault> {
        let place = &id.place;
        let kind = kind(&place.network).ok_or_else(|| {
            Fault::input(format!("{place}: the lab has no network kind `{}`", place.network))
        })?;
        let at = self.nodes.iter().position(|node| node.spec.name == place.node);
        let at = at.ok_or_else(|| {
            Fault::input(format!("{place}: the lab has no node `{}`", place.node))
        })?;
        let is_on_fabric = |pod: &PodId| {
            kinds::kind(&pod.place.network).is_some_and(|kind| kind.reach().is_on_fabric())
        };
        let neighbours = self.pods.keys().filter(|other| {
            kind.reach().is_on_fabric() && is_on_fabric(other)
                || other.place.node == place.node && other.place.network == place.network
        });
        let number = neighbours.count() as u32;
        let subnet = subnets(kind.name()).behind(at);
        let address = match kind.reach() {
            Reach::Node => addresses::node(at),
            reach if reach.is_on_fabric() => addresses::on_fabric(number),
            _ => subnet.pod(number),
        };
        let mut pod = Pod { address, stack: None, layout: None };
        if kind.reach() != Reach::Node {
            let what = || refused(format!("cannot attach pod {id}"));
            let mut stack = Stack::create(&id.to_string(), families).map_err(what())?;
            let mut site = Site {
                fabric: &mut self.fabric,
                node: &mut self.nodes[at],
                pod: &mut stack,
                address,
                subnet,
                number: self.pods.len(),
                nodes: spec.nodes.len(),
            };
            kind.attach(&mut site).map_err(what())?;
            if place.runtime.is_some() {
                pod.layout = Some(stack.layout("eth0").map_err(what())?);
            }
            pod.stack = Some(stack);
        }
        self.pods.insert(id.clone(), pod);
        Ok(())
    }

    /// Puts every Service on the node that translates for its path, and the chains on every node.
    /// With them the kernel tracks connections, which costs the same everywhere then. More rules
    /// would make counters slower to read.
    fn serve(&mut self, placement: &Placement) -> Result<(), Fault> {
        let address = |pod: &PodId| self.pods.get(pod).map(|pod| pod.address);
        let services: Vec<Service> = placement
            .services()
            .iter()
            .filter_map(|(_, endpoints)| Service::of(endpoints, address))
            .collect();
        if services.is_empty() {
            return Ok(());
        }
        let failed = |node: &Node| {
            refused(format!("cannot put the rules of the Services on node {}", node.spec.name))
        };
        let families: BTreeSet<IpFamily> = services.iter().map(|service| service.family).collect();
        let batches = |node: &Node| -> Vec<Value> {
            let of_family = |family: &IpFamily| {
                let own = |service: &&Service| {
                    service.node == node.spec.name && service.family == *family
                };
                let address = of_family(addresses::node(node.number), *family);
                service_rules::batches(services.iter().filter(own), *family, address)
            };
            families.iter().flat_map(of_family).collect()
        };
        let batches: Vec<(&Node, Vec<_>)> =
            self.nodes.iter().map(|node| (node, batches(node))).collect();
        for at in 0..batches.iter().map(|(_, list)| list.len()).max().unwrap_or(0) {
            // The nodes at the same time: what takes long is to start a program.
            let mut started = Vec::new();
            for (node, batch) in
                batches.iter().filter_map(|(node, list)| Some((*node, list.get(at)?)))
            {
                started.push((node, nft_program::begin(&node.stack, batch).map_err(failed(node))?));
            }
            for (node, child) in started {
                nft_program::finish(child).map_err(failed(node))?;
            }
        }
        for node in &self.nodes {
            // Short connections would fill the table with those that are over.
            let _ = node.stack.namespace.set_sysctl(TIME_WAIT, "1");
        }
        self.services =
            services.into_iter().map(|service| (service.path.clone(), service)).collect();
        Ok(())
    }

    /// Puts the rules into the pods with sidecars that bring the traffic to those.
    fn intercept(&self, placement: &Placement) -> Result<(), Fault> {
        let failed =
            |pod: &PodId| refused(format!("cannot put the rules for the sidecar into pod {pod}"));
        let families = families(placement);
        let mut started = Vec::new();
        for pod in placement.sidecars.keys() {
            // Places on `host` have none: `needs` says so.
            let Some(stack) = self.pods.get(pod).and_then(|pod| pod.stack.as_ref()) else {
                continue;
            };
            started.push((
                pod,
                nft_program::begin(stack, &interception::rules(pod, placement, families))
                    .map_err(failed(pod))?,
            ));
            let _ = stack.namespace.set_sysctl(TIME_WAIT, "1");
        }
        for (pod, child) in started {
            nft_program::finish(child).map_err(failed(pod))?;
        }
        Ok(())
    }

    /// Gives the nodes CPUs of their own, where there are enough.
    pub(crate) fn give_cpus(&mut self, plan: &Plan) -> Result<(), String> {
        let allowed = hopbench_sys::cpu::allowed().map_err(|e| e.to_string())?;
        // A node of another subject has the CPUs of the one that it stands for.
        let is_own = |node: &&Node| node.spec.stands_for.is_none();
        let own: Vec<String> =
            self.nodes.iter().filter(is_own).map(|node| node.spec.name.clone()).collect();
        let stands_for = |name: &str| {
            let node = self.node(name)?;
            Some(node.spec.stands_for.clone().unwrap_or_else(|| node.spec.name.clone()))
        };
        let number = |name: &str| {
            let stands_for = stands_for(name)?;
            own.iter().position(|own| *own == stands_for)
        };
        let pairs = |path: &Path| -> Vec<(usize, usize)> {
            let numbers = |place: &Place| place.nodes().filter_map(number).collect::<Vec<_>>();
            let (from, to) = (numbers(&path.from), numbers(&path.to));
            from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))).collect()
        };
        let ends: Vec<(usize, usize)> = plan.paths.iter().flat_map(pairs).collect();
        let gateway =
            |path: &Path| if let Via::Gateway(node) = &path.via { number(node) } else { None };
        let with = |path: &Path, end: &str| Some((number(end)?, gateway(path)?));
        let between: Vec<(usize, usize)> = plan
            .paths
            .iter()
            .flat_map(|path| path.from.nodes().chain(path.to.nodes()).map(|end| with(path, end)))
            .flatten()
            .collect();
        let shares = cpu_shares::deal_around(&allowed, own.len(), &ends, &between)?;
        let numbers: Vec<Option<usize>> =
            self.nodes.iter().map(|node| number(&node.spec.name)).collect();
        for (node, number) in self.nodes.iter_mut().zip(numbers) {
            node.cpus = number.and_then(|number| shares.get(number).cloned());
        }
        for node in &self.nodes {
            let cpus = node.cpus.as_deref().unwrap_or_default();
            let pods =
                self.pods.keys().filter(|pod| pod.place.node == node.spec.name && !pod.is_host());
            for stack in pods.filter_map(|pod| self.stack(pod)).chain([&node.stack]) {
                receive_steering::steer(stack, cpus)
                    .map_err(|e| format!("node {}: {e}", node.spec.name))?;
            }
        }
        Ok(())
    }

    /// A node by its name.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.spec.name == name)
    }

    /// The namespace that a pod's programs run in.
    pub(crate) fn stack(&self, id: &PodId) -> Option<&Stack> {
        let pod = self.pods.get(id)?;
        pod.stack.as_ref().or_else(|| Some(&self.node(&id.place.node)?.stack))
    }

    /// The stack of a pod that has one of its own.
    pub(crate) fn pod_stack(&mut self, id: &PodId) -> Option<&mut Stack> {
        self.pods.get_mut(id)?.stack.as_mut()
    }

    /// The namespace that a link is in.
    pub(crate) fn stack_of(&mut self, link: &Link) -> Option<&mut Stack> {
        match &link.owner {
            Owner::Fabric => Some(&mut self.fabric.stack),
            Owner::Node(name) => self
                .nodes
                .iter_mut()
                .find(|node| node.spec.name == *name)
                .map(|node| &mut node.stack),
            Owner::Pod(id) => self.pod_stack(id),
        }
    }
}

/// The families that the paths of a lab have. All its interfaces have addresses of IPv4.
pub(crate) fn families(placement: &Placement) -> &'static [IpFamily] {
    let mut paths = placement.paths.values();
    if paths.any(|endpoints| family_of(&endpoints.path) == IpFamily::Ipv6) {
        &IpFamily::ALL
    } else {
        &[IpFamily::Ipv4]
    }
}
