# Which integration tests may run beside other work. Sourced.
# shellcheck shell=bash

# The names of all integration tests' targets, one a line. A name that several packages use counts
# as one.
test_targets() {
  local file
  for file in crates/*/tests/*.rs crates/*/tests/*/main.rs; do
    file=${file%/main.rs}
    basename "$file" .rs
  done | sort -u
}

# Those of waiting-tests.txt.
waiting_targets() { grep -v '^#' scripts/waiting-tests.txt | sort -u; }

# Cargo's arguments for the targets whose names come in, one a line.
as_arguments() { sed 's/^/--test=/'; }
