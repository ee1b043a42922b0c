module hopbench.test/gvisor

go 1.26.3

require gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237

require (
	github.com/cilium/ebpf v0.17.3 // indirect
	github.com/containerd/containerd/v2 v2.2.2 // indirect
	github.com/vishvananda/netlink v1.3.1 // indirect
	github.com/vishvananda/netns v0.0.5 // indirect
	golang.org/x/sys v0.43.0 // indirect
)

replace github.com/containerd/containerd/v2 => github.com/containerd/containerd/v2 v2.0.14

replace github.com/opencontainers/runtime-spec => github.com/opencontainers/runtime-spec v1.2.1
