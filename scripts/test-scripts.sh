#!/usr/bin/env bash
# Tests the scripts that decide what is built, tried again and left out. Fails at the first check
# that does not hold.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/second-try.sh
source scripts/second-try.sh
# shellcheck source=scripts/untested.sh
source scripts/untested.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || {
    printf '%s:\n  found    %s\n  expected %s\n' "$1" "$2" "$3" >&2
    exit 1
  }
}

# --- every line of the list is of tests that there are
while read -r package target name; do
  tests=crates/${package#hopbench-}/tests
  files=$(find "$tests/$target" "$tests/$target.rs" -name '*.rs' 2>/dev/null || true)
  [ -n "$files" ] || check "measuring-tests.txt: $package $target" "no such target" "one in $tests"
  # shellcheck disable=SC2086
  [ -z "$name" ] || [[ "$name" == *:: ]] || grep -q "fn ${name##*::}" $files ||
    check "measuring-tests.txt: $package $target $name" "no such test" "one in $tests"
  case "$name" in *::) [[ "$files" == *"/${name%::}.rs"* ]] || check "measuring-tests.txt: $name" "no such file" "one" ;; esac
done < <(grep -v '^#' scripts/measuring-tests.txt)

# --- which tests failed, as cargo tells it
cat >"$work/log" <<'LOG'
     Running tests/known_answers.rs (target/debug/deps/known_answers-1)
test a_rate_cap_is_kept ... FAILED
test streams_in_every_form ... ok

failures:

---- a_rate_cap_is_kept stdout ----
    not_a_test

failures:
    a_rate_cap_is_kept

test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p hopbench --test known_answers`
     Running unittests src/lib.rs (target/debug/deps/hopbench_stats-1)

failures:
    sums::tests::of_nothing

test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p hopbench-stats --lib`
error: test failed, to rerun pass `-p hopbench-lab --test sandbox`
error: 3 targets failed:
    `-p hopbench --test known_answers`
LOG
check "failed tests" "$(failed_tests "$work/log" | xargs)" \
  "hopbench known_answers a_rate_cap_is_kept hopbench-stats - sums::tests::of_nothing hopbench-lab sandbox -"
check "sums" "$(sum "$work/log")" "4 2 2"
if second_try "$work/log"; then check "tests that do not measure" "tried again" "not tried again"; fi
measures hopbench known_answers a_rate_cap_is_kept || check "a_rate_cap_is_kept" "does not measure" "measures"
measures hopbench-load http timing::a_rate_is_kept || check "timing::a_rate_is_kept" "does not measure" "measures"
for test in "hopbench hostile limits_are_enforced" "hopbench-load http counts::head_has_no_body" "hopbench-lab mesh x"; do
  # shellcheck disable=SC2086
  if measures $test; then check "$test" "measures" "does not measure"; fi
done

# One that fails at first and passes then, and one that fails for good.
mkdir "$work/bin"
cat >"$work/bin/cargo" <<'SH'
#!/bin/sh
printf '%s\n' "$*" >"$ASKED"
echo "test result: ok. $PASSES passed; 0 failed; 0 ignored"
exit "$ENDS"
SH
chmod +x "$work/bin/cargo"
export ASKED=$work/asked
sed '/unittests/,$d' "$work/log" >"$work/one"
cp "$work/one" "$work/two"
PATH=$work/bin:$PATH PASSES=1 ENDS=0 second_try "$work/one" --ignored >/dev/null || check "second try" failed passed
check "what is asked" "$(cat "$work/asked")" \
  "test --workspace --locked --test known_answers -- --ignored --exact a_rate_cap_is_kept"
check "what passed then counts" "$(sum "$work/one")" "2 0 2"
check "it is named" "$(cat "$work/one.retried")" \
  "hopbench, known_answers: a_rate_cap_is_kept: failed at first, passed at the second try"
for how in "0 0" "1 101"; do
  read -r PASSES ENDS <<<"$how"
  export PASSES ENDS
  if (PATH=$work/bin:$PATH && second_try "$work/two") >/dev/null; then check "second try, $how" passed failed; fi
done
check "what failed twice counts" "$(sum "$work/two") $(sort -u "$work/two.retried")" \
  "1 1 2 hopbench, known_answers: a_rate_cap_is_kept: failed twice"

# --- what is untested
printf '%s\n' "SKIP one: no \`runsc\` here" "noise" "SKIP two: no \`runsc\` here" "SKIP three: one CPU only" >"$work/skips"
: >"$work/untested"
(
  unset "${!HOPBENCH_REQUIRE_@}"
  export HOPBENCH_REQUIRE_TOOLS=1
  printf '%s\n' "hopbench: without nginx: cannot install nginx-light: E: x" "more" >"$work/tools"
  without_tools "$work/tools"
  echo 1 >"$work/go.gvisor.status"
  printf 'begin\nhopbench: Go part gvisor: Go is not installed\n' >"$work/go.gvisor.log"
  without_go_parts "$work/go"
  check "what must run" "$(env | grep ^HOPBENCH_REQUIRE | sort | xargs)" "HOPBENCH_REQUIRE_ENVOY=1 HOPBENCH_REQUIRE_GVISOR=0 \
HOPBENCH_REQUIRE_NETNS=1 HOPBENCH_REQUIRE_TOOLS=1"
)
check "a line for each part" "$(tell_untested "$work/skips" "$work/none" | paste -sd '|')" \
  "SKIP nginx: cannot install nginx-light: E: x|SKIP gvisor (2 tests): Go part gvisor: Go is not installed|SKIP \
one CPU only (1 test)"

scripts/test-go-part.sh
