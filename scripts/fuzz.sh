#!/usr/bin/env bash
# Fuzzes every target for TIME seconds, as many at once as there are CPUs. Usage: fuzz.sh [TIME
# [TARGET...]]; `fuzz.sh check` only checks that the targets compile.
# The toolchain is the stable one: its compiler has the passes, and RUSTC_BOOTSTRAP lets it use
# them.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
# The fuzzers have a lock file of their own, which a new dependency makes stale.
if [ "${1-}" = check ]; then
  cargo metadata --locked --format-version 1 >/dev/null
  # libFuzzer itself is C++.
  if command -v c++ >/dev/null; then
    cargo check --locked --quiet --target-dir "${CARGO_TARGET_DIR:-../target}"
  else
    echo "SKIP fuzzers: they are not compiled: no C++ compiler"
  fi
  exit
fi
seconds=${1-60}
shift || true
case "$seconds" in
'' | *[!0-9]*)
  echo "fuzz: found TIME \`$seconds\`, expected whole seconds: make fuzz TIME=60" >&2
  exit 2
  ;;
esac
targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | tail -n +2)
host=$(rustc -vV | sed -n 's/^host: //p')
# What is found beside the repository's own corpus is kept for the next time.
found="${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/fuzz"
built="${CARGO_TARGET_DIR:-target}"

command -v c++ >/dev/null || {
  echo "fuzz: found no C++ compiler, expected one for libFuzzer: apt-get install g++" >&2
  exit 3
}
passes="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
passes="$passes -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
passes="$passes -Cllvm-args=-sanitizer-coverage-pc-table"
passes="$passes -Cllvm-args=-sanitizer-coverage-trace-compares"
RUSTC_BOOTSTRAP=1 RUSTFLAGS="$passes --cfg fuzzing" \
  cargo build --release --locked --quiet --target "$host" --target-dir "$built" || {
  echo "fuzz: the targets cannot be built by $(rustc -V), expected the toolchain of" \
    "rust-toolchain.toml. If it refuses a pass, install that one: rustup toolchain install" >&2
  exit 3
}

logs=$(mktemp -d)
running=()
pid=""
# Who stops this stops them: no fuzzer outlives its script.
trap 'for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done; rm -rf "$logs"' EXIT
fuzz() {
  local target=$1
  local words=()
  [ ! -s "dictionaries/$target" ] || words=("-dict=$PWD/dictionaries/$target")
  mkdir -p "$found/$target" "artifacts/$target"
  exec "$built/$host/release/$target" "$found/$target" "corpus/$target" \
    -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=1 -verbosity=1 \
    "${words[@]}" -artifact_prefix="artifacts/$target/" >"$logs/$target" 2>&1
}
for target in "${targets[@]}"; do
  fuzz "$target" &
  running+=($!)
  [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n || true
done
wait || true

broken=0
for target in "${targets[@]}"; do
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$target")
  if [ -z "$executions" ] ||
    grep -qE '^(SUMMARY|==[0-9]+== ?ERROR|Test unit written)' "$logs/$target"; then
    broken=$((broken + 1))
    echo "fuzz: $target: FOUND something; the input is below fuzz/artifacts/$target/"
    tail -n 40 "$logs/$target"
  else
    echo "fuzz: $target: $executions inputs in $seconds s, nothing found"
  fi
done
printf 'fuzz: %d passed, %d failed\n' $((${#targets[@]} - broken)) "$broken"
[ "$broken" -eq 0 ]
