//! Testbeds that make no sense, and exactly what is said about them.

use crate::bad_input::compare;
use crate::common::on;

#[test]
fn clusters() {
    let rows = r#"
        nothing: 1
            x.yaml:4:5: testbed.kubernetes.nothing: found `nothing`, expected one of context, image,
                pull-policy, pull-secret, nodes, networks, runtimes, servers, peers, patch, objects,
                mesh, gateway, gateways, prometheus, network-policy, start-timeout, allow-commands
        context: ''
            x.yaml:4:14: testbed.kubernetes.context: found ``, expected a context of the kubeconfig
        context: [a]
            x.yaml:4:14: testbed.kubernetes.context: found a list, expected a context of the
                kubeconfig
        image: a b
            x.yaml:4:12: testbed.kubernetes.image: found `a b`, expected an image like name:tag,
                without spaces
        image:
            x.yaml:4:5: testbed.kubernetes.image: found nothing, expected an image like name:tag,
                without spaces
        pull-policy: Sometimes
            x.yaml:4:18: testbed.kubernetes.pull-policy: found `Sometimes`, expected one of
                IfNotPresent, Always, Never
        pull-policy: IfNotPresnt
            x.yaml:4:18: testbed.kubernetes.pull-policy: found `IfNotPresnt`, expected one of
                IfNotPresent, Always, Never; did you mean `IfNotPresent`?
        pull-secret: Registry
            x.yaml:4:18: testbed.kubernetes.pull-secret: found `Registry`, expected the name of a
                Secret, or a list of such names
        pull-secret: []
            x.yaml:4:18: testbed.kubernetes.pull-secret: found an empty list, expected the name of a
                Secret, or a list of such names
        pull-secret: {name: registry}
            x.yaml:4:18: testbed.kubernetes.pull-secret: found a mapping, expected the name of a
                Secret, or a list of such names
        pull-secret: [registry, registry]
            --namespace: found none, expected the namespace that has the Secret `registry` of
                `pull-secret`. Make it there (`kubectl create secret docker-registry registry
                --namespace NAME ...`) and give `--namespace NAME`: a namespace that a run makes has
                no such Secret
            x.yaml:4:29: testbed.kubernetes.pull-secret: found `registry` a second time, expected
                each name once
        nodes: 3
            x.yaml:4:12: testbed.kubernetes.nodes: found `3`, expected what nodes of the cluster are
                to be, like {a: {name: worker-1}, b: {zone: z2}}; all others are any
        nodes: {}
            x.yaml:4:12: testbed.kubernetes.nodes: found an empty mapping, expected what nodes of
                the cluster are to be, like {a: {name: worker-1}, b: {zone: z2}}; all others are any
        nodes: {A: {}}
            x.yaml:4:13: testbed.kubernetes.nodes: found `A`, expected a name of lower-case letters,
                digits, - and . that starts with a letter or digit
        nodes: {a: worker-1}
            x.yaml:4:16: testbed.kubernetes.nodes.a: found `worker-1`, expected what the node is to
                be, like {name: worker-1}, {labels: {pool: fast}} or {zone: z2}
        nodes: {a: {nam: worker-1}}
            x.yaml:4:17: testbed.kubernetes.nodes.a.nam: found `nam`, expected one of name, labels,
                zone, link; did you mean `name`?
        nodes: {a: {name: w1}, b: {name: w1}}
            x.yaml:4:38: testbed.kubernetes.nodes.b.name: found `w1`, which `a` is, expected another
                node of the cluster for each name
        nodes: {a: {labels: {}}}
            x.yaml:4:25: testbed.kubernetes.nodes.a.labels: found an empty mapping, expected labels
                like {app: web}
        nodes: {a: {labels: {'a b': c, d: 'e f'}}}
            x.yaml:4:26: testbed.kubernetes.nodes.a.labels: found `a b`, expected a key like app or
                example.org/app
            x.yaml:4:39: testbed.kubernetes.nodes.a.labels.d: found `e f`, expected at most 63
                letters, digits and -_. with a letter or digit at both ends
        nodes: {a: {zone: ''}}
            x.yaml:4:23: testbed.kubernetes.nodes.a.zone: found ``, expected a zone of the cluster,
                or any word for one
        nodes: {a: {}, a: {}}
            x.yaml:4:20: testbed.kubernetes.nodes.a: found `a` a second time, expected each key once
        networks: overlay
            x.yaml:4:15: testbed.kubernetes.networks: found `overlay`, expected kinds of network,
                like {overlay: {runtime-class: overlay}}
        networks: {}
            x.yaml:4:15: testbed.kubernetes.networks: found an empty mapping, expected kinds of
                network, like {overlay: {runtime-class: overlay}}
        networks: {host: }
            x.yaml:4:16: testbed.kubernetes.networks.host: found `host`, expected a kind of pods:
                host is always the node's own network
        networks: {my_net: }
            x.yaml:4:16: testbed.kubernetes.networks: found `my_net`, expected a name of at most 63
                lower-case letters, digits and -
        networks: {overlay: flannel}
            x.yaml:4:25: testbed.kubernetes.networks.overlay: found `flannel`, expected how pods get
                it, like {annotations: {...}, interface: net1}
        networks: {overlay: {runtime_clas: flannel}}
            x.yaml:4:26: testbed.kubernetes.networks.overlay.runtime_clas: found `runtime_clas`,
                expected one of runtime-class, annotations, labels, interface, patch; did you mean
                `runtime-class`?
        networks: {overlay: {runtime-class: Flannel}}
            x.yaml:4:41: testbed.kubernetes.networks.overlay.runtime-class: found `Flannel`,
                expected a name of lower-case letters, digits, - and . that starts with a letter or
                digit
        networks: {macvlan: {interface: a/b}}
            x.yaml:4:37: testbed.kubernetes.networks.macvlan.interface: found `a/b`, expected a
                network interface like net1
        networks: {macvlan: {annotations: {k8s.v1.cni.cncf.io/networks: [{name: x}]}}}
            x.yaml:4:69:
                testbed.kubernetes.networks.macvlan.annotations.k8s.v1.cni.cncf.io/networks: found a
                list, expected a text; what is a list or a mapping to others stands in quotes
        networks: {macvlan: {patch: 3}}
            x.yaml:4:33: testbed.kubernetes.networks.macvlan.patch: found `3`, expected a patch of
                the pods' template, like {spec: {priorityClassName: high}}
        runtimes: gvisor
            x.yaml:4:15: testbed.kubernetes.runtimes: found `gvisor`, expected RuntimeClasses by
                runtime, like {runsc: gvisor}
        runtimes: {runsc: {}}
            x.yaml:4:23: testbed.kubernetes.runtimes.runsc: found a mapping, expected a name of
                lower-case letters, digits, - and . that starts with a letter or digit
        servers: {nginx: nginx}
            x.yaml:4:22: testbed.kubernetes.servers.nginx: found `nginx`, expected an image and its
                port, like {image: nginx:1.28, port: 80}
        servers: {nginx: {port: 80}}
            x.yaml:4:22: testbed.kubernetes.servers.nginx: found no `image`, expected an image and
                its port, like {image: nginx:1.28, port: 80}
        servers: {nginx: {image: nginx, port: 0}}
            x.yaml:4:43: testbed.kubernetes.servers.nginx.port: found `0`, expected a port from 1 to
                65535
        servers: {nginx: {image: nginx, cpus: many}}
            x.yaml:4:43: testbed.kubernetes.servers.nginx.cpus: found `many`, expected CPUs like 2,
                0.5 or 500m, from 1m to 1024
        servers: {nginx: {image: nginx, args: -v}}
            x.yaml:4:43: testbed.kubernetes.servers.nginx.args: found `-v`, expected arguments like
                [--port, "80"]
        servers: {nginx: {image: nginx, request: index.html}}
            x.yaml:4:46: testbed.kubernetes.servers.nginx.request: found `index.html`, expected a
                path from the slash on, like /index.html?lang=en
        servers: {hopbench: {image: x}}
            x.yaml:4:15: testbed.kubernetes.servers.hopbench: found `hopbench`, expected another
                name: that is the agent itself
        peers: tools
            x.yaml:4:12: testbed.kubernetes.peers: found `tools`, expected the image that has the
                tools, like {image: tools:1}
        peers: {}
            x.yaml:4:12: testbed.kubernetes.peers: found no `image`, expected the image that has the
                tools, like {image: tools:1}
        patch: [1]
            x.yaml:4:12: testbed.kubernetes.patch: found a list, expected a patch of the pods'
                template, like {spec: {priorityClassName: high}}
        patch: {spec: {securityContext: {mode: 0644}}}
            x.yaml:4:44: testbed.kubernetes.patch.spec.securityContext.mode: found `0644`, expected
                a decimal number without a leading zero, or a text in quotes
        objects: {kind: Telemetry}
            x.yaml:4:14: testbed.kubernetes.objects: found a mapping, expected a list of objects as
                in a manifest: apiVersion, kind and metadata with a name
        objects: [{kind: Telemetry, metadata: {name: t}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found no `apiVersion`, expected a list of
                objects as in a manifest: apiVersion, kind and metadata with a name
        objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: t, namespace: x}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found `metadata.namespace`, expected only
                name, labels and annotations in metadata: the object is made in the namespace of its
                run, and goes with it
        objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: t, finalizers: [x/y]}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found `metadata.finalizers`, expected only
                name, labels and annotations in metadata: the object is made in the namespace of its
                run, and goes with it
        objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: t, labels: x}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found labels or annotations that are no
                mapping, expected a list of objects as in a manifest: apiVersion, kind and metadata
                with a name
        objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name:
                t}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found a RoleBinding of
                rbac.authorization.k8s.io, expected objects that give nobody rights
        objects: [{apiVersion: v1, kind: Secret, metadata: {name: t}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found a Secret, expected no Secret: its
                value would stand in the results. Make it beforehand in a namespace, and run with
                `--namespace`
        objects: [{apiVersion: batch/v1, kind: Job, metadata: {name: t}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found a Job, expected objects that run no
                pods; for servers there is `servers:`
        objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: run}}]
            x.yaml:4:15: testbed.kubernetes.objects[0]: found ConfigMap `run`, expected another
                name: those of the run's own objects are `run`, and begin with `path` or `gateway`
        objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: t}}, {apiVersion: v1, kind:
                ConfigMap, metadata: {name: t}}]
            x.yaml:4:71: testbed.kubernetes.objects[1]: found ConfigMap `t` a second time, expected
                each object once
        mesh: istoi
            x.yaml:4:11: testbed.kubernetes.mesh: found `istoi`, expected one of envoy, istio,
                istio-ambient, linkerd, cilium; did you mean `istio`?
        mesh: {provider: [istio]}
            x.yaml:4:22: testbed.kubernetes.mesh.provider: found a list, expected one of envoy,
                istio, istio-ambient, linkerd, cilium
        mesh: {provider: linkerd, revision: canary}
            x.yaml:4:41: testbed.kubernetes.mesh.revision: found `canary`, expected no revision:
                only the provider istio has one; linkerd does not
        mesh: {provider: istio, image: envoy}
            x.yaml:4:36: testbed.kubernetes.mesh.image: found `envoy`, expected no image: only the
                provider envoy has one; istio does not
        mesh: {revision: canary}
            x.yaml:4:22: testbed.kubernetes.mesh.revision: found `canary`, expected no revision:
                only the provider istio has one; envoy does not
        mesh: {families: [ipv4, ipv6]}
            x.yaml:4:22: testbed.kubernetes.mesh.families: found a list, expected no families: the
                proxies of envoy are hopbench's own, and take all that their pods have
        mesh: {provider: istio, families: ipv6}
            x.yaml:4:39: testbed.kubernetes.mesh.families: found `ipv6`, expected the families of
                addresses that its proxies take, like [ipv4, ipv6]
        mesh: {provider: linkerd, families: []}
            x.yaml:4:41: testbed.kubernetes.mesh.families: found an empty list, expected the
                families of addresses that its proxies take, like [ipv4, ipv6]
        mesh: {provider: istio, families: [ipv5, ipv6, ipv6]}
            x.yaml:4:40: testbed.kubernetes.mesh.families: found `ipv5`, expected ipv4 or ipv6
            x.yaml:4:52: testbed.kubernetes.mesh.families: found `ipv6` a second time, expected each
                family once
        gateway: 203.0.113.7:80
            x.yaml:4:14: testbed.kubernetes.gateway: found `203.0.113.7:80`, expected where it is,
                like {address: 203.0.113.7:80, namespace: ingress, labels: {app: gateway}}
        gateway: {}
            x.yaml:4:14: testbed.kubernetes.gateway: found no `address`, expected an address with a
                port, like 203.0.113.7:80; or `parent`, a Gateway of the Gateway API, as
                NAMESPACE/NAME; or `class`, the GatewayClass of a Gateway that the run makes; or
                `ingress`, the IngressClass of an Ingress that the run makes
        gateway: {parent: public}
            x.yaml:4:23: testbed.kubernetes.gateway.parent: found `public`, expected a Gateway of
                the Gateway API, as NAMESPACE/NAME
        gateway: {address: 203.0.113.7:80, parent: infra/public}
            x.yaml:4:48: testbed.kubernetes.gateway.parent: found `parent` beside `address`,
                expected one of them: the address of a Gateway comes from its status
        gateway: {class: contour, parent: infra/public}
            x.yaml:4:22: testbed.kubernetes.gateway.class: found `class` beside `parent`, expected
                one of them: the address of a Gateway comes from its status
        gateway: {class: Contour}
            x.yaml:4:22: testbed.kubernetes.gateway.class: found `Contour`, expected the
                GatewayClass of a Gateway that the run makes: a name of lower-case letters, digits,
                - and . that starts with a letter or digit
        gateways: {}
            x.yaml:4:15: testbed.kubernetes.gateways: found an empty mapping, expected gateways by
                name, like {public: {parent: infra/public}, new: {class: NAME}}
        gateways: {Public: {parent: infra/public}}
            x.yaml:4:16: testbed.kubernetes.gateways: found `Public`, expected a name of at most 63
                lower-case letters, digits and -
        gateways: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: {class: c}}
            x.yaml:4:16: testbed.kubernetes.gateways.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: found
                `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`, expected a name of at most 30 lower-case letters,
                digits and -
        gateways: {public: {parent: public}}
            x.yaml:4:33: testbed.kubernetes.gateways.public.parent: found `public`, expected a
                Gateway of the Gateway API, as NAMESPACE/NAME
        gateway: {address: 203.0.113.7}
            x.yaml:4:24: testbed.kubernetes.gateway.address: found `203.0.113.7`, expected an
                address with a port, like 203.0.113.7:80
        gateway: {address: 203.0.113.7:80, namespace: ingress}
            x.yaml:4:51: testbed.kubernetes.gateway.namespace: found `namespace` alone, expected
                labels beside it: by both the gateway's pods are found, whose CPU counts
        gateway: {address: 203.0.113.7:80, labels: {app: gateway}}
            x.yaml:4:48: testbed.kubernetes.gateway.labels: found `labels` alone, expected namespace
                beside it: by both the gateway's pods are found, whose CPU counts
        prometheus: monitoring/prometheus:9090
            x.yaml:4:17: testbed.kubernetes.prometheus: found `monitoring/prometheus:9090`, expected
                where it is: {url: http://prometheus.example:9090} or {service:
                monitoring/prometheus:9090}
        prometheus: {}
            x.yaml:4:17: testbed.kubernetes.prometheus: found neither `url` nor `service`, expected
                where it is: {url: http://prometheus.example:9090} or {service:
                monitoring/prometheus:9090}
        prometheus: {url: prometheus:9090}
            x.yaml:4:23: testbed.kubernetes.prometheus.url: found `prometheus:9090`, expected a URL
                like http://prometheus.example:9090
        prometheus: {service: prometheus:9090}
            x.yaml:4:27: testbed.kubernetes.prometheus.service: found `prometheus:9090`, expected a
                Service as NAMESPACE/NAME:PORT, like monitoring/prometheus:9090
        prometheus: {url: http://x, service: a/b:1}
            x.yaml:4:17: testbed.kubernetes.prometheus: found `url` beside `service`, expected where
                it is: {url: http://prometheus.example:9090} or {service:
                monitoring/prometheus:9090}
        prometheus: {ulr: http://x}
            x.yaml:4:18: testbed.kubernetes.prometheus.ulr: found `ulr`, expected one of url,
                service; did you mean `url`?
        network-policy: maybe
            x.yaml:4:21: testbed.kubernetes.network-policy: found `maybe`, expected true or false
        start-timeout: 2h
            x.yaml:4:20: testbed.kubernetes.start-timeout: found `2h`, expected a time like 60s,
                from 1s to 1h
        allow-commands: sometimes
            x.yaml:4:21: testbed.kubernetes.allow-commands: found `sometimes`, expected true or
                false
    "#;
    compare(rows, |block| {
        on(&format!("testbed:\n  kubernetes:\n    {block}\npaths: {{p: host@a -> host@b}}"))
    });
}

#[test]
fn hosts_and_testbeds_as_a_whole() {
    let rows = r#"
        ""
            x.yaml:2:1: testbed: found nothing, expected lab, kubernetes, or a mapping like {lab:
                {nodes: 3}}
        [lab]
            x.yaml:2:10: testbed: found a list, expected lab, kubernetes, or a mapping like {lab:
                {nodes: 3}}
        {}
            x.yaml:2:10: testbed: found an empty mapping, expected lab, kubernetes, or a mapping
                like {lab: {nodes: 3}}
        kubernets
            x.yaml:2:10: testbed: found `kubernets`, expected one of lab, kubernetes, hosts; did you
                mean `kubernetes`?
        {image: x}
            x.yaml:2:11: testbed.image: found `image`, expected the name of its testbed above it,
                like kubernetes: {image: NAME}
        {kubernets: {}}
            x.yaml:2:11: testbed.kubernets: found `kubernets`, expected one of lab, kubernetes,
                hosts; did you mean `kubernetes`?
        {lab: {}, lab: {}}
            x.yaml:2:20: testbed.lab: found `lab` a second time, expected each key once
        {kubernetes: 3}
            x.yaml:2:23: testbed.kubernetes: found `3`, expected a mapping like {context: staging,
                nodes: {a: {name: worker-1}}}
        {lab: , kubernetes: {image: a b}}
            x.yaml:2:38: testbed.kubernetes.image: found `a b`, expected an image like name:tag,
                without spaces
        hosts
            x.yaml:2:10: testbed: found `hosts`, expected the machines with their agents, like
                testbed: {hosts: {nodes: {a: 10.0.0.1, b: 10.0.0.2}}}
        {hosts: {}}
            x.yaml:2:18: testbed.hosts: found no `nodes`, expected machines by name, like {a:
                10.0.0.1, b: worker-2:7474}
        {hosts: {nodes: {}}}
            x.yaml:2:26: testbed.hosts.nodes: found an empty mapping, expected machines by name,
                like {a: 10.0.0.1, b: worker-2:7474}
        {hosts: {nodes: 3}}
            x.yaml:2:26: testbed.hosts.nodes: found `3`, expected machines by name, like {a:
                10.0.0.1, b: worker-2:7474}
        {hosts: {nodes: {a: 10.0.0.1, b: 10.0.0.300}}}
            x.yaml:2:43: testbed.hosts.nodes.b: found `10.0.0.300`, expected name or address of a
                machine, with a port or without, like 10.0.0.1 or worker-1:7474
        {hosts: {nodes: {a: 10.0.0.1, B: 10.0.0.2}}}
            x.yaml:2:40: testbed.hosts.nodes: found `B`, expected a name of lower-case letters,
                digits, - and . that starts with a letter or digit
        {hosts: {nodes: {a: 10.0.0.1, b: {address: 10.0.0.2}}}}
            x.yaml:2:43: testbed.hosts.nodes.b: found no `control`, expected where its agent
                listens, like {control: 10.0.0.1:7474}
        {hosts: {nodes: {a: 10.0.0.1, b: {control: x, adress: 10.0.0.2}}}}
            x.yaml:2:56: testbed.hosts.nodes.b.adress: found `adress`, expected one of control,
                address, token-file; did you mean `address`?
        {hosts: {nodes: {a: 10.0.0.1, a: 10.0.0.2}}}
            x.yaml:2:40: testbed.hosts.nodes.a: found `a` a second time, expected each key once
        {hosts: {nodes: {a: 10.0.0.1}}}
            x.yaml:3:12: paths.p: found `b`, expected `a`; did you mean `a`?
        {hosts: {nodes: {a: x, b: y}, token-file: ''}}
            x.yaml:2:52: testbed.hosts.token-file: found ``, expected the file with a token
        {hosts: {nodes: {a: x, b: y}, token: z}}
            x.yaml:2:40: testbed.hosts.token: found `token`, expected one of nodes, token-file
    "#;
    compare(rows, |testbed| on(&format!("testbed: {testbed}\npaths: {{p: host@a -> host@b}}")));
}

#[test]
fn words_that_a_testbed_does_not_have() {
    let rows = r"
        kubernetes\npaths: {p: vlan@a -> pod@b}
            x.yaml:3:12: paths.p: found `vlan`, expected one of host, pod, bridge, overlay, ptp,
                macvlan, eni; other names are declared under `networks:` of `testbed: kubernetes:`
        kubernetes\nplaces: [host, overly]
            x.yaml:3:16: places: found `overly`, expected one of host, pod, bridge, overlay, ptp,
                macvlan, eni; other names are declared under `networks:` of `testbed: kubernetes:`;
                did you mean `overlay`?
        lab\npaths: {p: pod@a -> bridge@b}
            x.yaml:3:12: paths.p: found `pod`, expected one of host, bridge, overlay, ptp, macvlan,
                eni, vlan; a pod of a lab is `bridge`, which clusters take, too
        {hosts: {nodes: {a: x, b: y}}}\npaths: {p: pod@a -> host@b}
            x.yaml:3:12: paths.p: found `pod`, expected `host`
        kubernetes\npaths: {p: pod+Kata@a -> pod@b}
            x.yaml:3:12: paths.p: found `Kata`, expected a runtime: a name of at most 63 lower-case
                letters, digits and -
        kubernetes\npaths: {p: host+kata@a -> pod@b}
            x.yaml:3:12: paths.p: found `host+kata`, expected a pod for the runtime kata; host is
                none
        kubernetes\npaths: {p: pod@A -> pod@b}
            x.yaml:3:12: paths.p: found `A`, expected a node: a name of lower-case letters, digits,
                - and . that starts with a letter or digit
        kubernetes\npaths: {p: pod@a -> pod@b via gateway}
            x.yaml:3:12: paths.p: found `gateway`, expected one of direct, cluster-ip,
                node-port@NODE, gateway@NODE, load-balancer, address@HOST:PORT; `gateway` alone is
                the one that `gateway:` under `testbed: kubernetes:` names
        kubernetes\npaths: {p: pod@a -> pod@b via address@203.0.113.7}
            x.yaml:3:12: paths.p: found `203.0.113.7`, expected an address with a port, like
                203.0.113.7:80
        kubernetes\npaths: {p: pod@a -> pod@b via load-balancr}
            x.yaml:3:12: paths.p: found `load-balancr`, expected one of direct, cluster-ip,
                node-port@NODE, gateway@NODE, load-balancer, address@HOST:PORT; did you mean
                `load-balancer`?
        kubernetes\npaths: {p: host@a -> pod@b mesh client}
            x.yaml:3:12: paths.p: found mesh client with the client on `host@a`, expected a pod for
                the client's sidecar; host is none
        {kubernetes: {gateway: {address: 'x:80'}}}\npaths: {p: pod@a -> pod@b via gateway mesh both}
            x.yaml:3:12: paths.p: found mesh both via gateway, expected mesh none or server: a
                gateway's clients are outside of the mesh
        {lab: , kubernetes: {networks: {own: }}}\npaths: {p: own@a -> bridge@b}
            x.yaml:3:12: paths.p: found `own`, expected one of host, bridge, overlay, ptp, macvlan,
                eni, vlan
        {hosts: {nodes: {a: x, b: y}}}\npaths: {p: bridge@a -> host@b}
            x.yaml:3:12: paths.p: found `bridge`, expected `host`
        {hosts: {nodes: {a: x, b: y}}}\npaths: {p: host@a -> host@c}
            x.yaml:3:12: paths.p: found `c`, expected one of a, b; did you mean `a`?
        {hosts: {nodes: {a: x}}}\nplaces: [host]
            x.yaml:3:9: places: found only the node `a`, expected two nodes, or nodes: a -> a
    ";
    compare(rows, |text| on(&format!("testbed: {text}")));
}

#[test]
fn sizes_of_answers_that_an_image_decides() {
    let rows = "
        {image: nginx}
            x.yaml:4:59: workloads.w.http.response: found `1KiB`, expected no size: what `web`
                answers is up to its image; say what to request with `request: /PATH{bytes}` under
                the testbed's servers, or leave response out
        {image: nginx, request: /index.html}
            x.yaml:4:59: workloads.w.http.response: found `1KiB`, expected no size: what `web`
                answers is up to its image; say what to request with `request: /PATH{bytes}` under
                the testbed's servers, or leave response out
        {image: nginx, request: '/files/{bytes}'}
            nothing is wrong
    ";
    compare(rows, |server| {
        format!(
            "name: x\ntestbed: {{kubernetes: {{servers: {{web: {server}}}}}}}\n\
             paths: {{p: pod@a -> pod@b}}\n\
             workloads: {{w: {{http: {{server: [hopbench, web], response: 1KiB}}}}}}\n"
        )
    });
}
