# What cannot be tested here, and why: one line each at the end. Sourced, needs `work`, a folder.
# shellcheck shell=bash disable=SC2154

# Notes a part of the project; PATTERN tells its tests from others by what they say when they are
# skipped: untested PART PATTERN REASON
untested() {
  printf '%s\t%s\t%s\n' "$1" "$2" "$(sed -E 's/^(hopbench|cluster): //' <<<"$3")" >>"$work/untested"
}

# Says why no test on a cluster runs: without_cluster REASON
without_cluster() { untested cluster 'cluster|containerd' "$1"; }

# Where a program could be had its tests must run, unless somebody said otherwise: required VARIABLE
# [MISSING]
required() {
  [ -z "${!1-}" ] || return 0
  if [ -n "${2-}" ]; then export "$1=0"; else export "$1=1"; fi
}

# Takes up what install-test-tools.sh said: without_tools LOG
without_tools() {
  local tool reason netns="" tools="" envoy=""
  while IFS=$'\t' read -r tool reason; do
    untested "$tool" "(^|[^a-z])$tool([^a-z]|\$)" "$reason"
    case "$tool" in
    ip | tc | nft | unshare) netns=1 ;;
    envoy) envoy=1 ;;
    *) tools=1 ;;
    esac
  done < <(sed -n 's/^hopbench: without \([a-z]*\): /\1\t/p' "$1")
  required HOPBENCH_REQUIRE_NETNS "$netns"
  required HOPBENCH_REQUIRE_TOOLS "$tools"
  required HOPBENCH_REQUIRE_ENVOY "$envoy"
}

# Takes up what build-go-parts.sh left behind: without_go_parts LOGS
without_go_parts() {
  local part failed
  local -A pattern=([gvisor]='gvisor|runsc' [h2spec]=h2spec)
  for part in gvisor h2spec; do
    failed=""
    if [ "$(cat "$1.$part.status")" -ne 0 ]; then
      failed=1
      untested "$part" "${pattern[$part]}" "$(tail -n 1 "$1.$part.log")"
    fi
    required "HOPBENCH_REQUIRE_${part^^}" "$failed"
  done
}

# Says what is untested, a line for each part and one for each other reason, by the SKIP lines of
# tests: tell_untested LOG...
tell_untested() {
  { grep -hs '^SKIP ' "$@" || true; } | sort -u | awk -F '\t' -v parts="$work/untested" '
    function tests(count) { return count == 0 ? "" : count == 1 ? " (1 test)" : " (" count " tests)" }
    BEGIN {
      while ((getline <parts) > 0) { part[++last] = $1; pattern[last] = tolower($2); reason[last] = $3 }
    }
    {
      for (i = 1; i <= last; i++) if (tolower($0) ~ pattern[i]) { of_part[i]++; next }
      why = substr($0, 6)
      if (match(why, /: /)) why = substr(why, RSTART + 2)
      if (!(why in of_reason)) order[++reasons] = why
      of_reason[why]++
    }
    END {
      for (i = 1; i <= last; i++) print "SKIP " part[i] tests(of_part[i]) ": " reason[i]
      for (i = 1; i <= reasons; i++) print "SKIP " order[i] tests(of_reason[order[i]])
    }'
}
