#!/usr/bin/env bash
# Builds programs that are written in Go, from the module in scripts/go/PART, into the user's cache,
# once. Usage:
#   go-part.sh PART [PROGRAM...]   builds these, or all of the part; prints the folder they are in
#   go-part.sh --folder PART       prints that folder only
# A version that the registry refuses is replaced by the next one that it has (go-resolve.sh), which
# is said. The go.mod and go.sum that were found stay beside the programs, so that the next start
# uses the same.
#
#   CACHE/go/PART-KEY/module/    go.mod and go.sum as resolved; KEY: the pins and how it is built
#   CACHE/go/PART-KEY/bin/       the programs; each appears when it is whole
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/go-resolve.sh
source "$scripts/go-resolve.sh"

# Where parts are described; tests have some of their own.
parts=${HOPBENCH_GO_PARTS:-$scripts/go}
# Static: no library of this machine is needed, in a sandbox or an image neither.
export CGO_ENABLED=0 GOWORK=off
flags=(-mod=readonly -buildvcs=false -trimpath)
link="-s -w"

say() { echo "hopbench: Go part $part: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

only_folder=""
if [ "${1-}" = --folder ]; then only_folder=1 && shift; fi
part=${1-}
if [ -z "$part" ] || [ ! -e "$parts/$part/part.sh" ]; then
  echo "hopbench: found Go part '$part', expected one of: $(cd "$parts" && echo *)" >&2
  exit 2
fi
shift
# What a part says: the module that it is called after, and the packages of its programs. It may
# define `link_flags`, and `patch`, which changes the sources.
main="" packages=()
link_flags() { :; }
# shellcheck source=/dev/null
source "$parts/$part/part.sh"

# All that decides what is built; comments do not.
key=$(cd "$parts/$part" && {
  uname -m
  echo "${flags[*]} $link"
  cat go.mod go.sum
  grep -v '^ *#' part.sh
} | sha256sum)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/hopbench/go/$part-${key:0:12}
if [ -n "$only_folder" ]; then
  echo "$folder/bin"
  exit
fi

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=("${packages[@]##*/}")
# Those of the wanted programs that are not there, by their packages.
missing() {
  local program package
  for program in "${wanted[@]}"; do
    [ -x "$folder/bin/$program" ] && continue
    for package in "${packages[@]}"; do [ "${package##*/}" != "$program" ] || echo "$package"; done
  done
}
for program in "${wanted[@]}"; do
  case " ${packages[*]##*/} " in
  *" $program "*) ;;
  *) fail "found program $program, expected one of: ${packages[*]##*/}" ;;
  esac
done

mapfile -t to_build < <(missing)
if [ ${#to_build[@]} -gt 0 ]; then
  command -v go >/dev/null || fail "Go is not installed, which builds ${to_build[*]##*/}"
  mkdir -p "$folder/bin"
  # Two at once: the second waits, and finds what the first has built.
  exec 8>"$folder/lock"
  flock --timeout 3600 8 || fail "another build of it holds $folder/lock for an hour"
  mapfile -t to_build < <(missing)
fi
if [ ${#to_build[@]} -gt 0 ]; then
  work=$(mktemp -d "$folder/work.XXXXXX")
  trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
  # What a build that was killed left behind: nobody else has the lock.
  find "$folder" -maxdepth 1 -name 'work.*' ! -path "$work" \
    -exec chmod -R u+w {} + -exec rm -rf {} +

  if [ -d "$folder/module" ]; then cp -r "$folder/module" "$work/module"; else
    mkdir "$work/module"
    cp "$parts/$part"/go.{mod,sum} "$work/module/"
  fi
  resolve "$work" "${to_build[@]}"
  # Both files at once; a crash in between leaves none, and the next start resolves again.
  rm -rf "$folder/module"
  cp -r "$work/module" "$work/kept"
  mv "$work/kept" "$folder/module"

  cd "$work/module"
  # Required, and taken; the same unless it was replaced.
  read -r required taken dir < <(go list -mod=readonly -m -f \
    '{{.Version}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}} {{.Dir}}' "$main")
  say "building ${to_build[*]##*/} of $main $taken"
  if [ "$(type -t patch)" = function ]; then
    cp -r "$dir" "$work/sources"
    chmod -R u+w "$work/sources"
    patch "$work/sources" "${to_build[@]##*/}"
    go mod edit -replace="$main@$required=$work/sources"
  fi
  mkdir "$work/bin"
  link="$link $(link_flags "$taken" | xargs)"
  if ! timeout 5400 go build "${flags[@]}" -ldflags "$link" -o "$work/bin/" "${to_build[@]}" \
    >"$work/log" 2>&1; then
    # What resolved does not fit together: the next start begins with the pins.
    rm -rf "$folder/module"
    fail "cannot build ${to_build[*]##*/}: $(first_lines "$work/log")"
  fi
  for package in "${to_build[@]}"; do mv -f "$work/bin/${package##*/}" "$folder/bin/"; done
fi
echo "$folder/bin"
