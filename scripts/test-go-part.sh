#!/usr/bin/env bash
# Tests go-part.sh with a registry in a folder, from which versions are gone. Fails at the first
# check that does not hold, and where fewer were made than stand here.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
if ! command -v go >/dev/null; then
  [ "${HOPBENCH_REQUIRE_GVISOR-}" != 1 ] || { echo "tests of go-part.sh: Go is not installed" >&2 && exit 1; }
  echo "SKIP tests of scripts/go-part.sh: Go is not installed"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
registry=$work/registry
GOCACHE=$(go env GOCACHE)
export GOCACHE GOPROXY=file://$registry GOMODCACHE=$work/modules XDG_CACHE_HOME=$work/cache HOPBENCH_GO_PARTS=$work/parts
# Modules of the test only, which no database of checksums knows.
export GOFLAGS=-modcacherw GOSUMDB=off GOPRIVATE="" GONOPROXY=none GOVCS='*:off' GOTOOLCHAIN=local

checks=0
check() { # WHAT FOUND PATTERN
  # shellcheck disable=SC2053
  [[ "$2" == $3 ]] || {
    printf 'go-part.sh: %s:\n  found    %s\n  expected %s\n' "$1" "$2" "$3" >&2
    exit 1
  }
  checks=$((checks + 1))
}

# A module's archive: every file below FOLDER with PREFIX before its name, in FILE: zip FILE PREFIX
# FOLDER
mkdir -p "$work/zip"
cat >"$work/zip/main.go" <<'GO'
package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	check(err)
	archive := zip.NewWriter(file)
	check(filepath.WalkDir(os.Args[3], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(os.Args[3], path)
		check(err)
		content, err := os.ReadFile(path)
		check(err)
		into, err := archive.Create(os.Args[2] + "/" + name)
		check(err)
		_, err = into.Write(content)
		return err
	}))
	check(archive.Close())
	check(file.Close())
}
GO
go build -o "$work/zip/zip" "$work/zip/main.go"

# publish MODULE VERSION FOLDER: what is in FOLDER, which goes
publish() {
  local at=$registry/$1/@v
  mkdir -p "$at"
  cp "$3/go.mod" "$at/$2.mod"
  printf '{"Version": "%s", "Time": "2026-01-01T00:00:00Z"}\n' "$2" >"$at/$2.info"
  "$work/zip/zip" "$at/$2.zip" "$1@$2" "$3"
  echo "$2" >>"$at/list"
  rm -rf "$3"
}
# A library that says its version: library MODULE VERSION [LINE-OF-GO.MOD...]
library() {
  mkdir "$work/next"
  printf '%s\n' "module $1" "" "go 1.18" "${@:3}" >"$work/next/go.mod"
  printf 'package %s\n\n// Version is its own.\nconst Version = "%s"\n' "${1##*/}" "$2" >"$work/next/lib.go"
  publish "$1" "$2" "$work/next"
}
# A part with the one program `tell`, which prints its version and those of libraries; it requires
# them as MODULE VERSION: part NAME MODULE VERSION...
part() {
  local name=$1 module imports="" words="" requires=()
  shift
  mkdir -p "$work/next/tell" "$HOPBENCH_GO_PARTS/$name"
  while [ $# -gt 0 ]; do
    module=$1
    imports+=" \"$module\";" words+=", ${module##*/}.Version" requires+=("require $module $2")
    shift 2
  done
  printf '%s\n' "module made.test/the-$name" "" "go 1.18" "${requires[@]}" >"$work/next/go.mod"
  printf 'package main\n\nimport ("fmt";%s)\n\nvar built string\n\nfunc main() { fmt.Println(built%s) }\n' \
    "$imports" "$words" >"$work/next/tell/main.go"
  publish "made.test/the-$name" v1.0.0 "$work/next"
  # shellcheck disable=SC2016
  printf '%s\n' "main=made.test/the-$name" "packages=(made.test/the-$name/tell)" 'link_flags() { echo "-X main.built=$1"; }' \
    >"$HOPBENCH_GO_PARTS/$name/part.sh"
  # With a list of all that it needs, as `go mod tidy` leaves it.
  printf '%s\n' "module pins.test/$name" "" "go 1.18" "" "require made.test/the-$name v1.0.0" "${requires[@]}" \
    >"$HOPBENCH_GO_PARTS/$name/go.mod"
  : >"$HOPBENCH_GO_PARTS/$name/go.sum"
}
# The sums of the pins, while everything is there.
pin() {
  cp "$HOPBENCH_GO_PARTS/$1"/go.* "$work/zip/" && (cd "$work/zip" && go list -mod=mod -deps "made.test/the-$1/tell" >/dev/null)
  mv "$work/zip"/go.{mod,sum} "$HOPBENCH_GO_PARTS/$1/"
  rm -rf "$GOMODCACHE"
}
gone() { rm "$registry/$1/@v/$2".{info,mod,zip}; }

# Runs it; what it said is in `said`, without the line that it builds.
run() {
  status=0
  folder=$("$scripts/go-part.sh" "$@" 2>"$work/said") || status=$?
  said=$(grep -v ': building ' "$work/said" | tr '\n' ' ') || said=""
}
tell() { "$folder/tell"; }

# --- what is there is taken as it is, and only once
library made.test/plain v1.0.0
part whole made.test/plain v1.0.0
pin whole
run whole
check "pins that are there" "$status $said$(tell)" "0 v1.0.0 v1.0.0"
check "they are kept as they are" "$(diff -r "$folder/../module" "$HOPBENCH_GO_PARTS/whole" | tr '\n' ' ')" "Only in *part.sh "
mkdir "$work/nothing"
for program in bash dirname sha256sum uname cat grep; do ln -s "$(command -v "$program")" "$work/nothing/"; done
check "the second time neither Go nor the registry is asked" \
  "$(PATH=$work/nothing "$scripts/go-part.sh" whole 2>&1)" "$folder"
check "a folder is told without building" "$("$scripts/go-part.sh" --folder whole)" "$folder"

# --- versions that are gone
for version in v1.2.0 v1.2.1 v1.2.2 v1.2.10 v1.3.0; do library made.test/patch "$version"; done
for version in v1.2.0 v1.3.1 v1.10.0; do library made.test/minor "$version"; done
library made.test/pseudo v0.0.0-20250101000000-123456789abc
library made.test/pseudo v0.0.0-20260101000000-abcdef123456
for version in v1.0.0 v1.0.1; do library made.test/replaced "$version"; done
for version in v1.0.0 v1.1.0; do library made.test/deep "$version"; done
for version in v3.0.0+incompatible v3.0.2+incompatible v4.0.0+incompatible; do library made.test/older "$version"; done
mkdir "$work/next"
printf '%s\n' "module made.test/between" "" "go 1.16" "require made.test/deep v1.0.0" >"$work/next/go.mod"
printf 'package between\n\nimport "made.test/deep"\n\nconst Version = "by " + deep.Version\n' >"$work/next/lib.go"
publish made.test/between v1.0.0 "$work/next"
part gone made.test/patch v1.2.0 made.test/minor v1.2.0 made.test/pseudo v0.0.0-20250101000000-123456789abc \
  made.test/replaced v0.0.0 made.test/between v1.0.0 made.test/older v3.0.0+incompatible
echo "replace made.test/replaced => made.test/replaced v1.0.0" >>"$HOPBENCH_GO_PARTS/gone/go.mod"
pin gone
# Listed all the same, the next one too.
gone made.test/patch v1.2.0
gone made.test/patch v1.2.1
gone made.test/minor v1.2.0
gone made.test/pseudo v0.0.0-20250101000000-123456789abc
cp "$registry/made.test/pseudo/@v/v0.0.0-20260101000000-abcdef123456.info" "$registry/made.test/pseudo/@latest"
: >"$registry/made.test/pseudo/@v/list"
gone made.test/replaced v1.0.0
gone made.test/deep v1.0.0
gone made.test/older v3.0.0+incompatible
run gone
check "versions that are gone: the end" "$status" 0
check "the next patch that is there" "$said" "*: made.test/patch v1.2.0 is refused, taking v1.2.2 *"
check "the next minor" "$said" "*: made.test/minor v1.2.0 is refused, taking v1.3.1 *"
check "the latest where none is listed" "$said" "*: made.test/pseudo v0.0.0-2025* is refused, taking v0.0.0-2026*"
check "the target of a replacement" "$said" "*: made.test/replaced v1.0.0 is refused, taking v1.0.1 *"
check "what only others require" "$said" "*: made.test/deep v1.0.0 is refused, taking v1.1.0 *"
check "of the same major version" "$said" "*: made.test/older v3.0.0+incompatible is refused, taking v3.0.2+incompatible *"
check "no others" "$(grep -c refused "$work/said") $said" "6 *: 6 versions moved "
check "the program has them" "$(tell)" \
  "v1.0.0 v1.2.2 v1.3.1 v0.0.0-20260101000000-abcdef123456 v1.0.1 by v1.1.0 v3.0.2+incompatible"
first=$(sha256sum <"$folder/tell")
rm "$folder/tell"
GOPROXY=off run gone
check "the next start takes the same and resolves nothing" "$status $said$(sha256sum <"$folder/tell")" "0 $first"

# --- what cannot be built says why, and leaves no program
library made.test/lost v1.0.0
part lost made.test/lost v1.0.0
pin lost
gone made.test/lost v1.0.0
: >"$registry/made.test/lost/@v/list"
run lost
check "a module of which nothing is left" "$status $folder $said" "1  *: made.test/lost v1.0.0 is refused, and there is no other*"
check "nothing of it is there" "$(ls "$("$scripts/go-part.sh" --folder lost)")" ""

library made.test/changed v1.0.0
mkdir "$work/next"
printf 'module made.test/changed\n\ngo 1.18\n' >"$work/next/go.mod"
printf 'package changed\n' >"$work/next/lib.go"
publish made.test/changed v1.0.1 "$work/next"
part changed made.test/changed v1.0.0
pin changed
gone made.test/changed v1.0.0
run changed
check "a version that does not fit" "$status $said" "1 *taking v1.0.1 *cannot build tell: *undefined: changed.Version*"
at=$("$scripts/go-part.sh" --folder changed)
check "its resolution is not kept" "$(echo "$at"/../* "$at"/*)" "$at/../bin $at/../lock $at/[*]"
library made.test/changed v1.0.0
run changed
check "the pins are tried again" "$status $said$(tell)" "0 v1.0.0 v1.0.0"

part away made.test/plain v1.0.0
pin away
# Nobody listens there.
GOPROXY=http://127.0.0.1:1 run away
check "a registry that cannot be reached moves nothing" "$status $said" "1 *: cannot resolve it: *127.0.0.1:1*"
check "and no version is said to be refused" "$(grep -c 'is refused' "$work/said" || true)" 0

part forged made.test/plain v1.0.0
pin forged
sed -i 's#^\(made.test/plain v1.0.0 h1:\).*#\1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=#' "$HOPBENCH_GO_PARTS/forged/go.sum"
run forged
check "another content than the pinned one is no other version" "$status $said" "1 *: refusing what is there: *checksum mismatch*"

run nowhere
check "an unknown part" "$status" 2
run whole other
check "an unknown program" "$status $said" "1 *: found program other, expected one of: tell "

# --- two at once, and one that is killed
rm -r "$work/cache"
"$scripts/go-part.sh" whole >"$work/one" 2>&1 &
one=$!
"$scripts/go-part.sh" whole >"$work/two" 2>&1
wait "$one"
check "of two at once one builds" "$(cat "$work/one" "$work/two" | grep -c ': building ')" 1
check "and both say where" "$(tail -qn 1 "$work/one" "$work/two" | uniq)" "$("$scripts/go-part.sh" --folder whole)"

rm -r "$work/cache"
mkdir "$work/killing"
cat >"$work/killing/go" <<SH
#!/bin/sh
# Kills whoever builds, with half a program there.
case "\$1" in build) ;; *) PATH=\${PATH#*:} exec go "\$@" ;; esac
for word; do case "\$word" in */bin/) echo half >"\$word/tell" ;; esac; done
kill -KILL "\$(cat "$work/pid")"
SH
chmod +x "$work/killing/go"
# The shell's own word about that is no news.
{ (PATH=$work/killing:$PATH exec bash -c "echo \$\$ >$work/pid; exec $scripts/go-part.sh whole") 2>"$work/killed" || true; } \
  2>/dev/null
at=$("$scripts/go-part.sh" --folder whole)
check "one that is killed leaves no program" "$(ls "$at")$(tail -n 1 "$work/killed")" "*: building tell *"
check "but rubbish" "$(ls "$at/..")" "*work.*"
run whole
check "the next one builds it" "$status $said$(tell)" "0 v1.0.0 v1.0.0"
check "and tidies up" "$(echo "$at"/../*)" "$at/../bin $at/../lock $at/../module"

written=$(grep -c '^check ' "$0")
[ "$checks" -eq "$written" ] || {
  echo "go-part.sh: made $checks checks, $written are written" >&2
  exit 1
}
echo "go-part.sh: $checks checks hold"
