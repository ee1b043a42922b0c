# Container images without a container tool: a folder becomes a docker-archive of one layer. Sourced, never run.
# The same folder becomes the same bytes. Needs $work (a folder that goes away) and $images (where the archives go).
# shellcheck shell=bash disable=SC2154

# The user of images whose pods do not say another.
NONROOT=65532

sum() { sha256sum "$1" | cut -d ' ' -f 1; }

# Whether the archive NAME was made from this KEY, and is whole.
made() { [ -s "$images/$1.tar" ] && [ "$(cat "$images/$1.key" 2>/dev/null)" = "$2" ]; }

# An empty root with what programs look for: /tmp, and names for root and the user of images.
new_root() {
  local root=$work/$1
  mkdir -p "$root/tmp" "$root/etc"
  chmod 1777 "$root/tmp"
  printf '%s\n' root:x:0:0::/:/bin/sh "nonroot:x:$NONROOT:$NONROOT::/:/bin/sh" >"$root/etc/passwd"
  printf '%s\n' root:x:0: "nonroot:x:$NONROOT:" >"$root/etc/group"
  echo "$root"
}

# Copies PROGRAM to PATH in ROOT with the shared libraries that it needs: add ROOT PROGRAM PATH [MODE].
add() {
  local root=$1 program=$2 path=$3 library
  install -D -m "${4:-0755}" "$program" "$root$path"
  while read -r library; do
    case "$library" in
    # The loader has its one path; everything else is found in /lib.
    */ld-linux*) install -D -m 0755 "$library" "$root$library" ;;
    *) install -D -m 0644 "$library" "$root/lib/$(basename "$library")" ;;
    esac
  done < <(libraries "$program")
}

libraries() {
  local said
  said=$(LD_LIBRARY_PATH="$unpacked/usr/lib/$(gcc -print-multiarch)" ldd "$1" 2>&1) || return 0
  if grep 'not found' <<<"$said" >&2; then fail "$1 needs a library that is not on this machine"; fi
  awk '$2 == "=>" { print $3 } $1 ~ "^/" { print $1 }' <<<"$said"
}

# Writes the archive of hopbench.test/NAME:1: archive NAME KEY ROOT USER ENTRYPOINT... With TAGS="1 2" it also has NAME:2,
# another image of the same files.
archive() {
  local name=$1 key=$2 root=$3 user=$4 out
  shift 4
  out=$work/$name.out
  mkdir -p "$out"
  tar --create --file "$out/layer.tar" --directory "$root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --format=gnu .
  local layer tag config configs=() manifest='[]'
  layer=$(sum "$out/layer.tar")
  for tag in ${TAGS:-1}; do
    jq -cnS --arg user "$user" --arg layer "sha256:$layer" --arg arch "$(dpkg --print-architecture)" --arg tag "$tag" '{
      architecture: $arch, os: "linux", created: "1970-01-01T00:00:00Z",
      config: {
        User: $user, Entrypoint: $ARGS.positional, Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], WorkingDir: "/",
        Labels: {tag: $tag}
      },
      rootfs: {type: "layers", diff_ids: [$layer]}, history: [{created: "1970-01-01T00:00:00Z"}]
    }' --args -- "$@" >"$out/config.json"
    config=$(sum "$out/config.json").json
    mv "$out/config.json" "$out/$config"
    configs+=("$config")
    manifest=$(jq -c --arg config "$config" --arg tag "hopbench.test/$name:$tag" \
      '. + [{Config: $config, RepoTags: [$tag], Layers: ["layer.tar"]}]' <<<"$manifest")
  done
  echo "$manifest" >"$out/manifest.json"
  # A name of our own first: an interrupted write must not be taken for a whole image.
  tar --create --file "$images/$name.tar.$$" --directory "$out" --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --format=gnu manifest.json "${configs[@]}" layer.tar
  mv -f "$images/$name.tar.$$" "$images/$name.tar"
  echo "$key" >"$images/$name.key"
  rm -rf "$out" "$root"
  say "image hopbench.test/$name:1, $(stat -c %s "$images/$name.tar") bytes"
}
