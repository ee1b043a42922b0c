#!/usr/bin/env bash
# Tests the scripts that decide what is built, what runs when, and what is tried again or left out.
# Fails at the first check that does not hold.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/test-groups.sh
source scripts/test-groups.sh
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

# --- what runs beside other work, and what runs alone
mkdir -p "$work/bin" "$work/tree/scripts"
cat >"$work/bin/cargo" <<SH
#!/bin/sh
cat <<'JSON'
{"reason":"compiler-artifact","package_id":"path+file:///t/agent#made-agent@0.1.0","manifest_path":"$work/Cargo.toml",\
"target":{"kind":["test"],"crate_types":["bin"],"name":"mixed","test":true},\
"profile":{"overflow_checks":true,"test":true},"features":[],"executable":"$work/program"}
{"reason":"compiler-artifact","package_id":"path+file:///t/made#0.1.0","manifest_path":"$work/made/Cargo.toml",\
"target":{"kind":["lib"],"name":"made","test":true},\
"profile":{"overflow_checks":true,"test":true},"features":[],"executable":"$work/program"}
{"reason":"compiler-artifact","package_id":"path+file:///t/made#0.1.0","manifest_path":"$work/made/Cargo.toml",\
"target":{"kind":["bin"],"name":"made","test":true},\
"profile":{"overflow_checks":true,"test":false},"features":[],"executable":"$work/made/program"}
{"reason":"build-finished","success":true}
JSON
SH
chmod +x "$work/bin/cargo"
mkdir "$work/made"
PATH=$work/bin:$PATH test_programs >"$work/programs"
check "the programs of tests" "$(tr '\t' ' ' <"$work/programs" | paste -sd '|')" \
  "made-agent mixed $work $work/program|made - $work/made $work/program"
for target in late whole; do
  printf 'made\t%s\t%s\t%s\n' "$target" "$work" "$work/program"
done >>"$work/programs"
# A program of tests as far as it matters here.
cat >"$work/program" <<'SH'
#!/bin/bash
names=(first timing::second timing::third timings)
declare -A wanted
for name in "${names[@]}"; do wanted[$name]=1; done
case "$*" in
--list*) printf '%s: test\n' "${names[@]}" && exit ;;
"--exact --skip"*) for name in "$@"; do unset "wanted[$name]"; done ;;
--exact*) wanted=() && for name in "${@:2:$#-3}"; do wanted[$name]=1; done ;;
esac
for name in "${names[@]}"; do [ -z "${wanted[$name]-}" ] || echo "test $name ... ok"; done
echo "test result: ok. ${#wanted[@]} passed; 0 failed; 0 ignored"
[ "$PWD" = "${0%/*}" ]
SH
chmod +x "$work/program"
cp scripts/test-part.sh "$work/tree/scripts"
printf '%s\n' "# Both." "made-agent mixed" "made late go" >"$work/tree/scripts/waiting-tests.txt"
printf '%s\n' "# Some." "made-agent mixed timing::" "made whole" >"$work/tree/scripts/measuring-tests.txt"
(
  cd "$work/tree"
  stale_lines "$work/programs" || check "the lists" "stale" "true"
  names() { tr '\t' ' ' | cut -d ' ' -f 1,2,5-; }
  check "what waits" "$(waiting_parts "$work/programs" | names | paste -sd '|')" \
    "made-agent mixed --exact --skip timing::second --skip timing::third|made -"
  check "what waits for Go" "$(waiting_parts "$work/programs" go | names | xargs)" "made late"
  check "what measures" "$(measuring_parts "$work/programs" | names | paste -sd '|')" \
    "made-agent mixed --exact timing::second timing::third --test-threads 1|made whole"
  # Unit tests run in another folder than the program wants.
  waiting_parts "$work/programs" | run_parts 2 "$work/waiting" && check "a program that fails" "passed" "failed"
  measuring_parts "$work/programs" | run_parts 1 "$work/measuring"
  check "all of it ran, and once" "$(sum "$work/waiting") $(sum "$work/measuring")" "6 0 0 6 0 0"
  check "who failed" "$(failed_tests "$work/waiting")" "made - -"
  for line in "waiting made gone" "waiting made whole" "waiting made late Go" \
    "measuring made-agent mixed fourth" "measuring made gone"; do
    read -r list line <<<"$line"
    [ "$line" != "made whole" ] || echo "$line" >>"scripts/$list-tests.txt"
    echo "$line" >>"scripts/$list-tests.txt"
    ! said=$(stale_lines "$work/programs" 2>&1) || check "$line in $list-tests.txt" "kept" "stale"
    [[ "$said" == *"${line% Go}"* ]] || check "$line in $list-tests.txt" "$said" "named"
  done
)

# --- which tests failed, as cargo tells it
cat >"$work/log" <<'LOG'
     Running tests/answers/main.rs (target/debug/deps/answers-1)
test by_hand::a_rate_cap_is_kept ... FAILED
test by_hand::streams_in_every_form ... ok

failures:

---- by_hand::a_rate_cap_is_kept stdout ----
    not_a_test

failures:
    by_hand::a_rate_cap_is_kept

test result: FAILED. 1 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p hopbench --test answers`
     Running unittests src/lib.rs (target/debug/deps/hopbench_stats-1)

failures:
    sums::tests::of_nothing

test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p hopbench-stats --lib`
error: test failed, to rerun pass `-p hopbench-lab --test sandbox`
error: 3 targets failed:
    `-p hopbench --test answers`
LOG
check "failed tests" "$(failed_tests "$work/log" | xargs)" \
  "hopbench answers by_hand::a_rate_cap_is_kept hopbench-stats - sums::tests::of_nothing hopbench-lab sandbox -"
check "sums" "$(sum "$work/log")" "4 2 2"
if second_try "$work/log"; then check "a unit test" "tried again" "not tried again"; fi
# A promise is not tried again, either.
sed '/unittests/,$d; s/by_hand::a_rate_cap_is_kept/secrets::the_hint_of_a_server_is_no_argument/' "$work/log" >"$work/promise"
check "a promise fails" "$(failed_tests "$work/promise")" "hopbench answers secrets::the_hint_of_a_server_is_no_argument"
if second_try "$work/promise"; then check "a promise" "tried again" "not tried again"; fi

# One that fails at first and passes then, and one that fails for good.
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
  "test --workspace --locked --test answers -- --ignored --exact by_hand::a_rate_cap_is_kept"
check "what passed then counts" "$(sum "$work/one")" "2 0 2"
check "it is named" "$(cat "$work/one.retried")" \
  "hopbench, answers: by_hand::a_rate_cap_is_kept: failed at first, passed at the second try"
for how in "0 0" "1 101"; do
  read -r PASSES ENDS <<<"$how"
  export PASSES ENDS
  if (PATH=$work/bin:$PATH && second_try "$work/two") >/dev/null; then check "second try, $how" passed failed; fi
done
check "what failed twice counts" "$(sum "$work/two") $(sort -u "$work/two.retried")" \
  "1 1 2 hopbench, answers: by_hand::a_rate_cap_is_kept: failed twice"

# --- what is untested
printf '%s\n' "SKIP one: no \`runsc\` here" "noise" "SKIP two: no \`runsc\` here" "SKIP three: one CPU only" >"$work/skips"
: >"$work/untested"
(
  unset "${!HOPBENCH_REQUIRE_@}"
  export HOPBENCH_REQUIRE_TOOLS=1
  printf '%s\n' "hopbench: without nginx: cannot install nginx-light: E: x" "more" >"$work/tools"
  without_tools "$work/tools"
  echo 0 >"$work/go.h2spec.status"
  echo 1 >"$work/go.gvisor.status"
  printf 'begin\nhopbench: Go part gvisor: Go is not installed\n' >"$work/go.gvisor.log"
  without_go_parts "$work/go"
  without_cluster "\`quick\` leaves it out"
  check "what must run" "$(env | grep ^HOPBENCH_REQUIRE | sort | xargs)" "HOPBENCH_REQUIRE_ENVOY=1 HOPBENCH_REQUIRE_GVISOR=0 \
HOPBENCH_REQUIRE_H2SPEC=1 HOPBENCH_REQUIRE_NETNS=1 HOPBENCH_REQUIRE_TOOLS=1"
)
check "a line for each part" "$(tell_untested "$work/skips" "$work/none" | paste -sd '|')" \
  "SKIP nginx: cannot install nginx-light: E: x|SKIP gvisor (2 tests): Go part gvisor: Go is not installed|SKIP \
cluster: \`quick\` leaves it out|SKIP one CPU only (1 test)"

scripts/test-go-part.sh
