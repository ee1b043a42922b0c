# Words that the scripts share. Sourced, never run.
# shellcheck shell=bash disable=SC2034

# The Cargo profile of the binary that is demonstrated and tested; the Makefile reads this line,
# too.
PROFILE=quick

step() { printf '\n== %s\n' "$*"; }

# Passed, failed and ignored tests of a log of `cargo test`: sum LOG
sum() {
  awk '
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    END { print passed + 0, failed + 0, ignored + 0 }' "$1"
}
