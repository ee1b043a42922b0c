//! The image of the program, and its way into a registry.
#![allow(clippy::unwrap_used, reason = "all of this is test")]

use std::io::Write;
use std::process::Command;

use ring::digest::{SHA256, digest};
use serde_json::Value;

use crate::registry::Registry;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// This program, as if it were for another machine.
fn for_another_machine() -> Vec<u8> {
    const ARM64: u16 = 183;
    const AMD64: u16 = 62;
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_hopbench")).unwrap();
    let other = if cfg!(target_arch = "aarch64") { AMD64 } else { ARM64 };
    // Where the header of an ELF file has the machine.
    bytes[18..20].copy_from_slice(&other.to_le_bytes());
    bytes
}

fn sha256(bytes: &[u8]) -> String {
    let hex: String =
        digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// A real registry takes the image from a user whom `docker login` knows, and gives the same bytes
/// back. Nobody else may push there.
#[test]
fn a_registry_takes_it_from_who_may_push() {
    let Some(registry) = Registry::start() else {
        assert!(
            std::env::var_os("HOPBENCH_REQUIRE_TOOLS").is_none_or(|set| set != "1"),
            "no docker-registry"
        );
        let _ = writeln!(std::io::stdout(), "\nSKIP a_registry_takes_it: no docker-registry");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("hopbench-other");
    std::fs::write(&other, for_another_machine()).unwrap();
    let name = format!("{}/tools/hopbench:x", registry.address());
    let args = ["--push", &name, "--program", other.to_str().unwrap()];
    for config in [folder.path(), registry.login(false).path()] {
        let refused = Registry::image(config, &args);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("`docker login"), "{said}");
    }
    let login = registry.login(true);
    let pushed = Registry::image(login.path(), &args);
    let said = String::from_utf8_lossy(&pushed.stdout).into_owned();
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    let index = registry.get("/v2/tools/hopbench/manifests/x", INDEX);
    assert!(said.starts_with(&format!("pushed {name} for ")), "{said}");
    assert!(said.trim_end().ends_with(&sha256(&index)), "{said}");
    let index: Value = serde_json::from_slice(&index).unwrap();
    let followed = |kind: &str, descriptor: &Value| {
        let digest = descriptor["digest"].as_str().unwrap();
        let bytes = registry.get(&format!("/v2/tools/hopbench/{kind}/{digest}"), MANIFEST);
        assert_eq!(
            (sha256(&bytes).as_str(), descriptor["size"].as_u64()),
            (digest, Some(bytes.len() as u64))
        );
        bytes
    };
    let mut machines = Vec::new();
    for described in index["manifests"].as_array().unwrap() {
        machines.push(described["platform"]["architecture"].as_str().unwrap());
        let manifest: Value = serde_json::from_slice(&followed("manifests", described)).unwrap();
        followed("blobs", &manifest["config"]);
        let layer = followed("blobs", &manifest["layers"][0]);
        assert!(layer.len() as u64 > std::fs::metadata(&other).unwrap().len(), "the program");
    }
    machines.sort_unstable();
    assert_eq!(machines, ["amd64", "arm64"]);
    // What is there already is no obstacle, and one program alone has no index.
    assert!(Registry::image(login.path(), &args).status.success());
    assert!(Registry::image(login.path(), &args[..2]).status.success());
    let alone = registry.get("/v2/tools/hopbench/manifests/x", MANIFEST);
    let alone: Value = serde_json::from_slice(&alone).unwrap();
    assert_eq!(alone["mediaType"], MANIFEST);
}

#[test]
fn what_cannot_be_pushed_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    let own = env!("CARGO_BIN_EXE_hopbench");
    let token = folder.path().join("config.json");
    std::fs::write(&token, r#"{"auths": {"127.0.0.1:1": {"identitytoken": "x"}}}"#).unwrap();
    let broken = tempfile::tempdir().unwrap();
    std::fs::write(broken.path().join("config.json"), "{").unwrap();
    let none = tempfile::tempdir().unwrap();
    for (config, args, says) in [
        (none.path(), vec!["--push", "No Name"], "--push: found `No Name`"),
        (none.path(), vec!["--push", "hopbench:0.1.0"], "expected REGISTRY/NAME:TAG"),
        (none.path(), vec!["--push", "me/hopbench:0.1.0"], "expected REGISTRY/NAME:TAG"),
        (none.path(), vec!["--push", "127.0.0.1:1/x:1"], "cannot push to 127.0.0.1:1: "),
        (folder.path(), vec!["--push", "127.0.0.1:1/x:1"], "they are an identity token"),
        (broken.path(), vec!["--push", "127.0.0.1:1/x:1"], "config.json cannot be used: "),
        (none.path(), vec!["--program", text.to_str().unwrap()], "no 64-bit ELF"),
        (none.path(), vec!["--program", own], "two programs for "),
        (none.path(), vec!["--push", "x:1", "--tag", "y:1"], "cannot be used with"),
    ] {
        let done = Registry::image(config, &args);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn a_proxy_on_the_way_to_a_registry_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let said = |environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hopbench"));
        command.args(["kube", "image", "--push", "registry.invalid/hopbench:1"]);
        command.env("DOCKER_CONFIG", folder.path());
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        let done = command.envs(environment.iter().copied()).output().unwrap();
        assert!(!done.status.success(), "{environment:?}");
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let proxy = "http://someone:hush@127.0.0.1:1";
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let by_proxy = said(&[(name, proxy)]);
        assert!(by_proxy.contains("cannot push to registry.invalid: "), "{name}: {by_proxy}");
        assert!(by_proxy.contains("by the proxy http://127.0.0.1:1 (of "), "{name}: {by_proxy}");
        assert!(!by_proxy.contains("hush"), "{name}: {by_proxy}");
    }
    let around = said(&[("HTTPS_PROXY", proxy), ("NO_PROXY", "registry.invalid")]);
    assert!(!around.contains("by the proxy"), "{around}");
}
