# A second try, alone, for integration tests that failed: a machine can stall for a moment, and most
# tests run beside others and beside builds. Sourced, needs lib.sh.
# shellcheck shell=bash

# More than these failed for another reason.
MOST_TRIED_AGAIN=3

# The failed tests of a log of `cargo test --no-fail-fast`, `PACKAGE TARGET TEST` each; TARGET is
# `-` for what is no file in `tests/`, and TEST for a target that failed without naming one:
# failed_tests LOG
failed_tests() {
  awk '
    /^failures:$/ { count = 0; listed = 1; next }
    listed && /^    [^ ]+$/ { name[count++] = $1 }
    /^test result:/ { listed = 0 }
    /^error: (doc)?test failed, to rerun pass `-p / {
      split($0, word, "`"); fields = split(word[2], argument, " ")
      target = fields == 4 && argument[3] == "--test" ? argument[4] : "-"
      if (count == 0) name[count++] = "-"
      for (i = 0; i < count; i++) print argument[2], target, name[i]
      count = 0
    }' "$1"
}

# Whether SECURITY.md names the test: a second try would hide a promise that is broken now and then.
is_promise() { grep -qF " \`${1##*::}\` |" SECURITY.md; }

# Tries what failed once more, unless a unit test, a promise or a whole target is among it. LOG then
# counts what passed now as passed, and LOG.retried has the names. Fails where something has failed
# for good: second_try LOG [--ignored]
second_try() {
  local log=$1 package target test failed status=0
  mapfile -t failed < <(failed_tests "$log")
  [ ${#failed[@]} -gt 0 ] && [ ${#failed[@]} -le "$MOST_TRIED_AGAIN" ] || return 1
  for test in "${failed[@]}"; do
    [[ "$test" != *" -"* ]] && ! is_promise "$test" || return 1
  done
  for test in "${failed[@]}"; do
    read -r package target test <<<"$test"
    step "second try of $package, $target: $test"
    # All of the workspace is named, so that nothing is built again with fewer features.
    if cargo test --workspace --locked --test "$target" -- "${@:2}" --exact "$test" >"$log.again" 2>&1 &&
      [ "$(sum "$log.again" | cut -d ' ' -f 1)" -ge 1 ]; then
      echo "$package, $target: $test: failed at first, passed at the second try" >>"$log.retried"
    else
      status=1
      echo "$package, $target: $test: failed twice" >>"$log.retried"
    fi
    grep -Ev '^(running|$)' "$log.again" || true
  done
  # They count as what they were at their last try.
  if [ "$status" -eq 0 ]; then
    awk '/^test result:/ { $4 += $6; $6 = 0 } { print }' "$log" >"$log.again"
    mv "$log.again" "$log"
  fi
  return "$status"
}
