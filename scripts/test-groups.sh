# Which tests run beside other work, and which run alone. Sourced.
# shellcheck shell=bash

# Builds the programs of all tests and lists them, a line each, with tabs between: PACKAGE, TARGET
# (`-` for what is no file in `tests/`), the package's folder, the program.
test_programs() {
  cargo test --workspace --locked --quiet --no-run --message-format=json-render-diagnostics | awk '
    # The text of a field, or the only one in its list.
    function field(name) {
      if (!match($0, "\"" name "\":\\[?\"[^\"]*\"")) return ""
      text = substr($0, RSTART, RLENGTH - 1)
      sub(/.*"/, "", text)
      return text
    }
    /"reason":"compiler-artifact"/ && /"test":true},"features"/ {
      folder = field("manifest_path")
      sub(/\/Cargo.toml$/, "", folder)
      package = field("package_id")
      sub(/.*#/, "", package)
      if (!sub(/@.*/, "", package)) { package = folder; sub(/.*\//, "", package) }
      target = field("kind") == "test" ? field("name") : "-"
      print package "\t" target "\t" folder "\t" field("executable")
    }'
}

# Those of the tests that come in, a name a line, that measure: measuring_of PACKAGE TARGET
measuring_of() {
  awk -v package="$1" -v target="$2" '
    NR == FNR { if ($1 == package && $2 == target) begins[++count] = $3; next }
    { for (i = 1; i <= count; i++) if (begins[i] == "" || index($0, begins[i]) == 1) { print; next } }
  ' scripts/measuring-tests.txt -
}

# The names of a program's tests: tests_of FOLDER PROGRAM
tests_of() { (cd "$1" && "$2" --list --format terse) | sed -n 's/: test$//p'; }

# A program's line, and behind a tab the arguments for those of its tests that measure, or that do
# not; nothing where it has none of them: part measuring|waiting LINE
part() {
  local package target folder program measuring
  IFS=$'\t' read -r package target folder program <<<"$2"
  measuring=$(tests_of "$folder" "$program" | measuring_of "$package" "$target" | xargs)
  if [ "$1" = waiting ]; then
    printf '%s\t%s\n' "$2" "${measuring:+--exact --skip ${measuring// / --skip }}"
  elif [ -n "$measuring" ]; then
    printf '%s\t%s\n' "$2" "--exact $measuring --test-threads 1"
  fi
}

# The lines of PROGRAMS that waiting-tests.txt has with this word, or without one, in its order:
# waiting_programs PROGRAMS [WORD]
waiting_programs() {
  awk -F '\t' -v wanted="${2-}" '
    NR == FNR { program[$1 " " $2] = $0; next }
    /^#/ { next }
    { split($0, word, " "); name = word[1] " " word[2] }
    word[3] == wanted && name in program { print program[name] }
  ' "$1" scripts/waiting-tests.txt
}

# What runs beside other work: waiting_parts PROGRAMS [WORD]
waiting_parts() {
  local line
  waiting_programs "$@" | while IFS= read -r line; do part waiting "$line"; done
  # Unit tests measure nothing.
  [ -n "${2-}" ] || awk -F '\t' '$2 == "-"' "$1"
}

# What runs alone: what measures, and all of the targets that waiting-tests.txt does not have:
# measuring_parts PROGRAMS
measuring_parts() {
  local line package target
  while IFS= read -r line; do
    read -r package target _ <<<"$line"
    if [ "$target" = - ]; then
      continue
    elif grep -qE "^$package $target( |\$)" scripts/waiting-tests.txt; then
      part measuring "$line"
    else
      printf '%s\n' "$line"
    fi
  done <"$1"
}

# The line of PROGRAMS about a target: line_of PROGRAMS PACKAGE TARGET
line_of() { awk -F '\t' -v package="$2" -v target="$3" '$1 == package && $2 == target' "$1"; }

# Fails where a line of the two lists names no test that there is, and says which:
# stale_lines PROGRAMS
stale_lines() {
  local package target name folder program status=0
  while read -r package target name; do
    if [ -n "$name" ] && [ "$name" != go ]; then
      echo "waiting-tests.txt: $package $target: found \`$name\`, expected \`go\` or nothing" >&2
      status=1
    fi
    [ -n "$(line_of "$1" "$package" "$target")" ] && continue
    echo "waiting-tests.txt: $package $target: no such target" >&2
    status=1
  done < <(grep -v '^#' scripts/waiting-tests.txt)
  # What stands twice would run twice.
  while read -r package target; do
    echo "waiting-tests.txt: $package $target: it stands there twice" >&2
    status=1
  done < <(grep -v '^#' scripts/waiting-tests.txt | awk '{ print $1, $2 }' | sort | uniq -d)
  while read -r package target name; do
    IFS=$'\t' read -r _ _ folder program < <(line_of "$1" "$package" "$target") &&
      [ -n "$(tests_of "$folder" "$program" | grep "^$name")" ] && continue
    echo "measuring-tests.txt: $package $target $name: no such test" >&2
    status=1
  done < <(grep -v '^#' scripts/measuring-tests.txt)
  return "$status"
}

# Runs the parts that come in, so many at once. What each says is in one piece in LOG:
# run_parts AT_ONCE LOG
run_parts() {
  local status=0
  mkdir "$2.parts"
  APART=$(($1 > 1)) xargs -r -d '\n' -n 1 -P "$1" scripts/test-part.sh "$2.parts" || status=$?
  find "$2.parts" -type f -exec cat {} + >"$2"
  return "$status"
}
