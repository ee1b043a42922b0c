#!/bin/sh
# Builds gVisor's `runsc`, which the lab puts around pods of places like `bridge+runsc@a`, into the user's cache, where
# hopbench finds it. Optional: without it those paths are left out, and say so. Two minutes or three, once.
# `install-runsc.sh shim` builds what containerd starts it with, too.
set -eu

# What `latest` was when this was last tried; newer ones ask for files beside the binary.
VERSION=v0.0.0-20260905035102-160fafc42237
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"

say() { echo "install-runsc: $*" >&2; }
there() { [ -x "$bin/$1" ] || PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1; }

missing=""
for program in runsc ${1:+containerd-shim-runsc-v1}; do
    if there "$program"; then say "$program is there already"; else missing="$missing $program"; fi
done
[ -n "$missing" ] || exit 0
if ! command -v go >/dev/null 2>&1; then
    say "no go here: install Go 1.21 or newer (it fetches what gVisor asks for), or put gVisor's static binaries into PATH:$missing"
    exit 1
fi
mkdir -p "$bin"
say "building$missing of gVisor $VERSION into $bin"
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
# Static: the sandbox starts it again from a root in which no library is.
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOBIN="$work"

case "$missing" in *" runsc"*)
    # A build of its own does not know its version.
    nice go install -ldflags "-s -w -X gvisor.dev/gvisor/runsc/version.version=$VERSION" \
        "gvisor.dev/gvisor/runsc@$VERSION"
    mv "$work/runsc" "$bin/runsc"
    "$bin/runsc" --version | head -n 1
    ;;
esac
case "$missing" in *" containerd-shim-runsc-v1"*)
    # One change to it: it asks the kernel to be spared when memory is short, which root in a container may not, and
    # gives up then. It asks for what other shims have instead.
    cd "$work"
    module=$(go mod download -json "gvisor.dev/gvisor@$VERSION" | sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
    cp -r "$module" gvisor
    chmod -R u+w gvisor
    cd gvisor
    sed -i 's/^\(.*oomScoreMax *= \)-999$/\11/' pkg/shim/v1/manager.go
    if cmp -s pkg/shim/v1/manager.go "$module/pkg/shim/v1/manager.go"; then
        say "gVisor's shim is not as expected: found no \"oomScoreMax = -999\" in pkg/shim/v1/manager.go"
        exit 1
    fi
    nice go build -trimpath -ldflags "-s -w" -o "$work/shim" ./shim
    mv "$work/shim" "$bin/gvisor-shim"
    # It says where it listens as containerd 2 wants to hear it; containerd 1.6 wants the plain address, which later ones
    # understand, too.
    cat >"$work/wrapper" <<'WRAPPER'
#!/bin/sh
# containerd's word for "start a shim" comes last, behind options.
for word; do :; done
shim=$(dirname "$0")/gvisor-shim
[ "$word" = start ] || exec "$shim" "$@"
said=$("$shim" "$@") || {
    status=$?
    printf '%s' "$said"
    exit $status
}
printf '%s' "$said" | sed 's/^{.*"address":"\([^"]*\)".*$/\1/'
WRAPPER
    chmod 0755 "$work/wrapper"
    mv "$work/wrapper" "$bin/containerd-shim-runsc-v1"
    "$bin/containerd-shim-runsc-v1" -v | sed -n 's/^ *Version: *\(.*\)/containerd-shim-runsc-v1, made with containerd \1/p'
    ;;
esac
