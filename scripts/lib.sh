# Words that the scripts share. Sourced, never run.
# shellcheck shell=bash disable=SC2034

# The Cargo profile of the binary that is demonstrated and tested; the Makefile reads this line,
# too.
PROFILE=quick

# What comes next, and when it began, in minutes and seconds since the script did.
step() { printf '\n== %s (at %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

# Passed, failed and ignored tests of a log of `cargo test`: sum LOG
sum() {
  awk '
    /^test result:/ { passed += $4; failed += $6; ignored += $8 }
    END { print passed + 0, failed + 0, ignored + 0 }' "$1"
}
