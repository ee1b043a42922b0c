# Finds versions of Go modules that the registry has, where it refuses those that are pinned.
# Sourced by go-part.sh, which has `say` and `fail`.
# shellcheck shell=bash

# Bounds: rounds of resolution, versions that are tried in the place of one, tries where the network
# fails.
ROUNDS=100
CANDIDATES=40
TRIES=3
LONGEST_S=3600

# Makes WORK/module so that PACKAGEs and all that they import can be had; changes nothing where they
# can. Ends the script with the reason where that is impossible: resolve WORK PACKAGE...
resolve() {
  local work=$1 round module version moved=0
  shift
  began=$SECONDS
  cd "$work/module" || return
  list "$work" readonly "$@" && return
  for ((round = 0; round < ROUNDS; round++)); do
    if list "$work" mod "$@"; then
      [ "$moved" -eq 0 ] || say "$moved versions moved"
      return
    fi
    refused <"$work/log" >"$work/refused"
    [ -s "$work/refused" ] || fail "cannot resolve it: $(first_lines "$work/log")"
    while read -r module version; do
      move "$work" "$module" "$version"
      moved=$((moved + 1))
    done <"$work/refused"
  done
  fail "cannot resolve it: after $ROUNDS rounds there are still refused versions, the last:" \
    "$(tail -n 1 "$work/refused")"
}

# Fetches what PACKAGEs import; what Go says is in WORK/log: list WORK readonly|mod PACKAGE...
list() { patient "$1" timeout 1800 go list -mod="$2" -deps "${@:3}"; }

# Runs a command that asks the registry, again where only the network failed: patient WORK
# COMMAND...
patient() {
  local work=$1 try
  shift
  for ((try = 1; try <= TRIES; try++)); do
    [ $((SECONDS - began)) -lt "$LONGEST_S" ] ||
      fail "the registry has not answered all in $LONGEST_S s"
    "$@" >/dev/null 2>"$work/log" && return
    ! grep -Eq 'SECURITY ERROR|checksum mismatch' "$work/log" ||
      fail "refusing what is there: $(first_lines "$work/log")"
    [ -z "$(refused <"$work/log")" ] || return 1
    grep -Eq "$NETWORK" "$work/log" || return 1
    [ "$try" -eq "$TRIES" ] || sleep "$try"
  done
  return 1
}

# How the network fails, which says nothing about a version.
NETWORK='dial tcp|i/o timeout|TLS handshake|connection reset|unexpected EOF|: (408|429|5[0-9][0-9]) '

# What Go says of versions that the registry has not, `MODULE VERSION` each: refused <LOG
refused() {
  # What stands in front of the reason, and the reason.
  local named='(.*[[:space:](])?([^[:space:]():@]+)@(v[^[:space:]():]+)\)?: '
  local gone='reading [^ ]*: (403|404|410|451) |reading .*(no such file or directory|file does not exist)'
  sed -nE "s#^$named($gone|invalid version: |unknown revision ).*#\\2 \\3#p" | sort -u
}

# Replaces a refused version in the go.mod here: move WORK MODULE VERSION
move() {
  local work=$1 module=$2 version=$3 candidate left target
  candidate=$(next "$work" "$module" "$version") ||
    fail "$module $version is refused, and there is no other version of it: $(first_lines "$work/why")"
  say "$module $version is refused, taking $candidate"
  # A replacement that is refused itself gets another target.
  target=""
  while read -r left; do
    go mod edit -replace="$left=$module@$candidate"
    target=1
  done < <(awk -v wanted="$module $version" '
    / => / { sub(/^replace /, ""); sub(/^[ \t]+/, ""); split($0, side, / => /)
      if (side[2] == wanted) { sub(/ /, "@", side[1]); print side[1] } }' go.mod)
  [ -n "$target" ] || go mod edit -replace="$module@$version=$module@$candidate"
}

# The nearest later version that can be fetched; `@latest` where no later one is listed or none can:
# next WORK MODULE VERSION
next() {
  local work=$1 module=$2 version=$3 candidate listed
  # In no module, so that nothing pinned has a say.
  mkdir -p "$work/empty"
  cd "$work/empty" || return
  listed=$(timeout 300 go list -m -versions "$module" 2>"$work/why") || true
  while read -r candidate; do
    if fetch "$work" "$module@$candidate"; then
      echo "$candidate"
      return
    fi
  done < <(echo "${listed#* }" | xargs -n 1 | later "$version" | head -n "$CANDIDATES")
  candidate=$(timeout 300 go list -m -f '{{.Version}}' "$module@latest" 2>"$work/why") || return 1
  [ "$candidate" != "$version" ] && fetch "$work" "$module@$candidate" && echo "$candidate"
}

fetch() {
  patient "$1" timeout 300 go mod download "$2" && return
  cp "$1/log" "$1/why"
  return 1
}

# Of the versions on standard input those after VERSION, the nearest first; no pre-releases, and no
# other major version of a module that does not say its own in its path: later VERSION
later() {
  awk -v pin="$1" '
    function parts(version, into) {
      sub(/^v/, "", version)
      sub(/[-+].*/, "", version)
      split(version, into, ".")
    }
    BEGIN { parts(pin, old); incompatible = pin ~ /\+incompatible$/; early = pin ~ /-/ }
    / /  || !/^v/ || /-/ { next }
    incompatible != /\+incompatible$/ { next }
    {
      parts($0, new)
      if (incompatible && new[1] != old[1]) next
      difference = new[1] - old[1]
      for (i = 2; i <= 3 && difference == 0; i++) difference = new[i] - old[i]
      if (difference > 0 || difference == 0 && early) print new[1], new[2], new[3], $0
    }' | sort -n -k 1,1 -k 2,2 -k 3,3 | awk '{ print $4 }'
}

# The beginning of a log, in one line, without what was fetched and what is compiled.
first_lines() {
  grep -Ev '^(go: (downloading|finding) |#)' "$1" | head -n 3 | tr '\n\t' '  ' | cut -c -400
}
