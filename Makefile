# Everything a person or CI runs. `make demo` and `make test` install what they need.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

HOST := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
# The profile of this binary is named in one place.
PROFILE := $(shell sed -n 's/^PROFILE=//p' scripts/lib.sh)
TARGET := $(or $(CARGO_TARGET_DIR),target)/$(HOST)
BIN := $(TARGET)/$(PROFILE)/hopbench
DIST := $(TARGET)/release/hopbench
DIST_BYTES := 20000000
export HOPBENCH_COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)

.PHONY: help build dist demo test test-quick check fuzz asan bench bench-verdicts cluster-up cluster-down clean

help: ## Shows this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Builds the static binary, quickly
	@scripts/toolchain.sh
	@cargo build --profile $(PROFILE) --locked -p hopbench
	@echo "built $(BIN)"

dist: ## Builds the binary for others: smaller and fully optimised; checks its size and that it is static
	@scripts/toolchain.sh
	@cargo build --config .cargo/dist.toml --release --locked -p hopbench
	@scripts/check-binary.sh $(DIST) $(DIST_BYTES)

demo: ## Measures the built-in quickstart scenario in a lab, 2.5 minutes; the report is in results/
	@scripts/demo.sh $(BIN)

test: ## Everything that CI checks; installs what the tests need
	@scripts/toolchain.sh
	@scripts/test.sh

test-quick: ## The same without the tests that need a cluster
	@scripts/toolchain.sh
	@scripts/test.sh quick

check: ## Format, lints, dependencies, documentation; runs no tests
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	@[ -n "$$HOPBENCH_FUZZ_SECONDS" ] || scripts/fuzz.sh check
	@scripts/audit.sh
	@RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

fuzz: ## Fuzzes every parser of foreign bytes, TIME seconds each (60), as many at once as CPUs
	@scripts/toolchain.sh
	@scripts/fuzz.sh $(or $(TIME),60) $(TARGETS)

asan: ## Tests the unsafe code under AddressSanitizer
	@scripts/asan.sh

bench: dist build ## Compares with iperf3, sockperf, wrk, oha, k6 and others (more than 25 minutes, nothing else may run); results/bench.md
	@scripts/install-peers.sh
	@cargo build --config .cargo/dist.toml --release --locked -p hopbench-bench
	@mkdir -p results
	@$(TARGET)/release/hopbench-bench --hopbench $(DIST) --peer hopbench-quick=$(BIN) --markdown results/bench.md --json results/bench.json $(BENCH_ARGS)

bench-verdicts: dist ## How long differences of known size take to decide (about 10 hours; BENCH_RUNS, BENCH_ONLY=rr, BENCH_BUSY=1); results/verdicts.md
	@cargo build --config .cargo/dist.toml --release --locked -p hopbench-bench
	@mkdir -p results
	@$(TARGET)/release/hopbench-bench verdicts --hopbench $(DIST) --runs $(or $(BENCH_RUNS),20) $(addprefix --only ,$(BENCH_ONLY)) $(if $(BENCH_BUSY),--busy) --markdown results/verdicts.md $(BENCH_ARGS)

cluster-up: ## Starts a Kubernetes cluster on this machine for tests (root; ten minutes the first time, then one)
	@tests/cluster/up.sh

cluster-down: ## Takes it down; nothing of it is left
	@tests/cluster/down.sh

clean: ## Removes what was built
	@cargo clean
