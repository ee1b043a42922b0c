#!/bin/sh
# Installs what `make bench` compares with, where it can; says what it could not, and never fails: the
# rows of a missing peer are left out and named in the table.
set -u

FORTIO_VERSION=v1.68.2
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"

say() { echo "install-peers: $*" >&2; }

# Servers live in sbin, which is not on everybody's PATH.
have() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1; }

# The packages are named after their binaries, except for the tools of the lab itself.
wanted=""
for tool in iperf3 qperf sockperf wrk nginx; do
    have "$tool" || wanted="$wanted $tool"
done
have ip || wanted="$wanted iproute2"
have setpriv || wanted="$wanted util-linux"

if [ -n "$wanted" ]; then
    if ! have apt-get; then
        say "no apt-get here; install by hand:$wanted"
    elif [ "$(id -u)" -ne 0 ]; then
        say "not root; install with: sudo apt-get install$wanted"
    else
        log=$(mktemp)
        # nginx must not come up as a service of this machine; this is how Debian lets one say so.
        policy=/usr/sbin/policy-rc.d
        if [ -e "$policy" ]; then
            policy=""
        else
            printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
            trap 'rm -f "$policy"' EXIT
            trap 'exit 1' HUP INT TERM
        fi
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update >"$log" 2>&1 || say "apt-get update failed; trying with the lists that are there"
        for package in $wanted; do
            # One by one: a package that a release does not have must not keep the others out.
            apt-get -qq install -y --no-install-recommends "$package" >"$log" 2>&1 ||
                say "could not install $package: $(tail -n 1 "$log")"
        done
        [ -z "$policy" ] || rm -f "$policy"
        rm -f "$log"
    fi
fi

if ! have fortio && [ ! -x "$bin/fortio" ]; then
    if ! have go; then
        say "could not install fortio: no go here"
    else
        mkdir -p "$bin"
        log=$(mktemp)
        GOBIN="$bin" go install "fortio.org/fortio@$FORTIO_VERSION" >"$log" 2>&1 ||
            say "could not install fortio $FORTIO_VERSION: $(tail -n 1 "$log")"
        rm -f "$log"
    fi
fi
exit 0
