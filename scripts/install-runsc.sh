#!/bin/sh
# Builds gVisor's `runsc`, which the lab puts around pods of places like `bridge+runsc@a`, into the user's cache, where
# hopbench finds it. Optional: without it those paths are left out, and say so. Two minutes or three, once.
set -eu

# What `latest` was when this was last tried; newer ones ask for files beside the binary.
VERSION=v0.0.0-20260905035102-160fafc42237
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"

say() { echo "install-runsc: $*" >&2; }

if PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v runsc >/dev/null 2>&1 || [ -x "$bin/runsc" ]; then
    say "runsc is there already"
    exit 0
fi
if ! command -v go >/dev/null 2>&1; then
    say "no go here: install Go 1.21 or newer (it fetches what gVisor asks for), or put gVisor's static binary runsc into PATH"
    exit 1
fi
mkdir -p "$bin"
say "building gVisor $VERSION into $bin"
# Static: the sandbox starts it again from a root in which no library is. A build of its own does not know its version.
CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOBIN="$bin" nice go install \
    -ldflags "-s -w -X gvisor.dev/gvisor/runsc/version.version=$VERSION" "gvisor.dev/gvisor/runsc@$VERSION"
"$bin/runsc" --version | head -n 1
