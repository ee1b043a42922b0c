//! The image, read back by others' rules.
#![allow(clippy::unwrap_used, reason = "all of this file is test")]

#[path = "image/containerd.rs"]
mod containerd;

use std::collections::BTreeMap;
use std::io::{Read, Write};

use hopbench_kube::image::{Image, Reference, default_tag};
use ring::digest::{SHA256, digest};
use serde_json::Value;
use tar::{Archive, EntryType};

/// What stands in a tar: kind, mode, owner, time and bytes of each path.
type Contents = BTreeMap<String, (EntryType, u32, u64, u64, Vec<u8>)>;

fn contents(bytes: &[u8]) -> Contents {
    let mut found = Contents::new();
    for entry in Archive::new(bytes).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let header = entry.header();
        let (kind, mode) = (header.entry_type(), header.mode().unwrap());
        let (owner, time) =
            (header.uid().unwrap() + header.gid().unwrap(), header.mtime().unwrap());
        let mut read = Vec::new();
        entry.read_to_end(&mut read).unwrap();
        assert!(
            found.insert(path.clone(), (kind, mode, owner, time, read)).is_none(),
            "{path} twice"
        );
    }
    found
}

fn program() -> Vec<u8> {
    std::fs::read("/proc/self/exe").unwrap()
}

/// The same program, as if it were for another machine.
fn other_program() -> Vec<u8> {
    const ARM64: u16 = 183;
    const AMD64: u16 = 62;
    let mut bytes = program();
    let other = if cfg!(target_arch = "aarch64") { AMD64 } else { ARM64 };
    // Where the header of an ELF file has the machine.
    bytes[18..20].copy_from_slice(&other.to_le_bytes());
    bytes
}

fn named(tag: &str) -> Reference {
    Reference::parse("--tag", tag).unwrap()
}

fn archive(image: &Image, tag: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = image.write(&mut bytes, &named(tag)).unwrap();
    assert_eq!(length, bytes.len() as u64);
    bytes
}

fn image(tag: &str) -> (Image, Vec<u8>) {
    let image = Image::of(vec![program()]).unwrap();
    let bytes = archive(&image, tag);
    (image, bytes)
}

fn json(files: &Contents, path: &str) -> Value {
    serde_json::from_slice(&files.get(path).unwrap_or_else(|| panic!("no {path}")).4).unwrap()
}

/// The bytes that a descriptor points to, after a look at its length and digest.
fn followed<'a>(files: &'a Contents, descriptor: &Value) -> &'a [u8] {
    let name = descriptor["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
    let bytes = &files.get(&name).unwrap_or_else(|| panic!("no {name}")).4;
    assert_eq!(descriptor["size"].as_u64(), Some(bytes.len() as u64), "{name}");
    bytes
}

#[test]
fn the_same_program_gives_the_same_bytes() {
    let (first, one) = image("hopbench:x");
    let (second, other) = image("hopbench:x");
    assert!(one == other, "two archives of one program differ");
    assert_eq!(first.digest(), second.digest());
    let (renamed, another) = image("hopbench:y");
    assert_eq!(renamed.digest(), first.digest(), "the name is no part of the image");
    assert!(another != one, "but of the archive");
}

#[test]
fn blobs_have_the_digests_that_are_their_names() {
    let (_, bytes) = image("hopbench:x");
    let files = contents(&bytes);
    let blobs: Vec<_> = files
        .iter()
        .filter(|(path, (kind, ..))| path.starts_with("blobs/") && kind.is_file())
        .collect();
    assert_eq!(blobs.len(), 3, "config, layer, manifest");
    for (path, (.., bytes)) in blobs {
        let hex: String =
            digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(path, &format!("blobs/sha256/{hex}"));
    }
    assert!(
        files.values().all(|(.., owner, time, _)| *owner == 0 && *time == 0),
        "an owner or a time"
    );
}

#[test]
fn both_ways_into_the_archive_lead_to_the_same_image() {
    let (written, bytes) = image("tools/hopbench:x");
    let files = contents(&bytes);
    assert_eq!(json(&files, "oci-layout")["imageLayoutVersion"], "1.0.0");
    let index = json(&files, "index.json");
    let described = &index["manifests"][0];
    assert_eq!(index["manifests"].as_array().unwrap().len(), 1);
    assert_eq!(described["digest"].as_str(), Some(written.digest().as_str()));
    assert_eq!(described["annotations"]["io.containerd.image.name"], "docker.io/tools/hopbench:x");
    assert_eq!(described["annotations"]["org.opencontainers.image.ref.name"], "x");
    assert_eq!(described["platform"]["architecture"].as_str(), Some(written.architectures()[0]));
    let manifest: Value = serde_json::from_slice(followed(&files, described)).unwrap();
    let config: Value = serde_json::from_slice(followed(&files, &manifest["config"])).unwrap();
    followed(&files, &manifest["layers"][0]);
    let docker = &json(&files, "manifest.json")[0];
    let blob =
        |value: &Value| value["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
    assert_eq!(docker["Config"].as_str(), Some(blob(&manifest["config"]).as_str()));
    assert_eq!(docker["Layers"][0].as_str(), Some(blob(&manifest["layers"][0]).as_str()));
    assert_eq!(docker["RepoTags"][0], "tools/hopbench:x");
    // The layer is not compressed: its digest and the one of what it unpacks to are the same.
    assert_eq!(config["rootfs"]["diff_ids"][0], manifest["layers"][0]["digest"]);
    assert_eq!(config["config"]["User"], "65532:65532");
    assert_eq!(config["config"]["Entrypoint"][0], "/hopbench");
}

#[test]
fn the_layer_has_the_program_and_little_else() {
    let (_, bytes) = image("hopbench:x");
    let files = contents(&bytes);
    let docker = json(&files, "manifest.json");
    let layer = contents(&files[docker[0]["Layers"][0].as_str().unwrap()].4);
    let paths: Vec<&str> = layer.keys().map(String::as_str).collect();
    assert_eq!(paths, ["etc/", "etc/group", "etc/passwd", "hopbench", "tmp/"]);
    let (kind, mode, .., run) = &layer["hopbench"];
    assert!(kind.is_file() && *mode == 0o755 && *run == program(), "the program");
    assert_eq!(layer["tmp/"].1, 0o1777);
    let passwd = String::from_utf8(layer["etc/passwd"].4.clone()).unwrap();
    assert!(passwd.contains("\nhopbench:x:65532:65532:"), "{passwd}");
}

#[test]
fn programs_for_two_machines_are_one_image() {
    let image = Image::of(vec![program(), other_program()]).unwrap();
    let mut both = image.architectures();
    both.sort_unstable();
    assert_eq!(both, ["amd64", "arm64"]);
    let files = contents(&archive(&image, "hopbench:x"));
    let described = &json(&files, "index.json")["manifests"][0];
    assert_eq!(described["digest"].as_str(), Some(image.digest().as_str()));
    let of_all: Value = serde_json::from_slice(followed(&files, described)).unwrap();
    for (described, machine) in
        of_all["manifests"].as_array().unwrap().iter().zip(image.architectures())
    {
        assert_eq!(
            described["platform"],
            serde_json::json!({"architecture": machine, "os": "linux"})
        );
        let manifest: Value = serde_json::from_slice(followed(&files, described)).unwrap();
        let config: Value = serde_json::from_slice(followed(&files, &manifest["config"])).unwrap();
        assert_eq!(config["architecture"].as_str(), Some(machine));
        followed(&files, &manifest["layers"][0]);
    }
    let twice = Image::of(vec![program(), program()]).unwrap_err();
    assert!(twice.text.starts_with("two programs for "), "{twice}");
    assert!(Image::of(Vec::new()).is_err());
}

#[test]
fn a_file_is_there_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("hopbench.tar");
    let image = Image::of_running(&[] as &[&str]).unwrap();
    let length = image.save(&output, &named(&default_tag())).unwrap();
    assert_eq!(length, std::fs::metadata(&output).unwrap().len());
    let lost = image.save(&folder.path().join("none/x.tar"), &named("x")).unwrap_err();
    assert!(lost.text.contains("cannot create"), "{lost}");
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [output]);
}

/// The real thing that nodes have: containerd takes the archive, under the name that a kubelet asks
/// for.
#[test]
fn containerd_imports_it() {
    let Some(containerd) = containerd::Containerd::start() else {
        assert!(
            std::env::var_os("HOPBENCH_REQUIRE_CLUSTER").is_none_or(|set| set != "1"),
            "no containerd"
        );
        let why = "no containerd that this user may run";
        let _ = writeln!(std::io::stdout(), "\nSKIP containerd_imports_it: {why}");
        return;
    };
    let archive = containerd.folder().join("hopbench.tar");
    let image = Image::of(vec![program(), other_program()]).unwrap();
    image.save(&archive, &named("hopbench:x")).unwrap();
    containerd.ctr(&["images", "import", "--snapshotter", "native", archive.to_str().unwrap()]);
    let listed = containerd.ctr(&["images", "ls"]);
    let line = listed
        .lines()
        .find(|line| line.starts_with("docker.io/library/hopbench:x "))
        .expect(&listed);
    assert!(
        line.contains(&image.digest())
            && image.architectures().iter().all(|one| line.contains(&format!("linux/{one}"))),
        "{line}"
    );
    let checked = containerd.ctr(&["images", "check", "--snapshotter", "native"]);
    let whole = checked
        .lines()
        .any(|line| line.contains("complete (2/2)") && line.trim_end().ends_with("true"));
    assert!(whole, "{checked}");
    let mounted = containerd.folder().join("mounted");
    std::fs::create_dir(&mounted).unwrap();
    let at = mounted.to_str().unwrap();
    containerd.ctr(&[
        "images",
        "mount",
        "--snapshotter",
        "native",
        "docker.io/library/hopbench:x",
        at,
    ]);
    let found = std::fs::read(mounted.join("hopbench"));
    containerd.ctr(&["images", "unmount", "--rm", "--snapshotter", "native", at]);
    assert!(found.unwrap() == program(), "another program");
}
