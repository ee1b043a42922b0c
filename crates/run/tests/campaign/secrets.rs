//! Secret headers: sent by the agents, in no file of the folder.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};
use std::thread;

use hopbench_agent::hello;
use hopbench_model::secret::Secrets;
use hopbench_run::results::Folder;
use hopbench_run::{Campaign, new_run, secrets_known};
use serde_json::json;

use crate::bed::Bed;
use crate::follower::Follower;
use crate::plans::{job, latency, path, plan, point};

/// Answers HTTP, and keeps what it was asked.
fn target() -> (SocketAddr, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&heard);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten().take(16) {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
                if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                    break;
                }
            }
        }
    });
    (address, heard)
}

#[test]
fn a_secret_header_is_sent_and_not_kept() {
    let headers = json!(["Authorization: Bearer topsecret", "X-Open: seen"]);
    let mut web = point("web", &[], job("http", json!({"headers": headers}), 1, 60));
    let mut secrets = Secrets::default();
    secrets.take("web", &mut web.job);
    let plan = plan(vec![path("x", 1, 1)], vec![web], 1);
    assert_eq!(secrets_known(&plan, &secrets), Ok(()));
    let fault = secrets_known(&plan, &Secrets::default()).unwrap_err();
    assert!(fault.text.contains("`Authorization` was not kept"), "{fault}");

    let (address, heard) = target();
    let dir = tempfile::tempdir().unwrap();
    let folder =
        Folder::create(&dir.path().join("r"), new_run(plan, String::new(), &hello()).unwrap())
            .unwrap();
    let mut bed = Bed { elsewhere: [("x".to_owned(), address)].into(), ..Bed::default() };
    let finished = Campaign::new(folder, hello())
        .with_secrets(secrets)
        .run(&mut bed, &mut Follower::default());
    assert_eq!(finished.fault, None);
    let heard = heard.lock().unwrap().clone();
    assert!(
        heard.contains("\r\nAuthorization: Bearer topsecret\r\n")
            && heard.contains("\r\nX-Open: seen\r\n"),
        "{heard}"
    );
    let mut redacted = 0;
    for entry in fs::read_dir(dir.path().join("r")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("topsecret"), "{} has it", path.display());
        redacted += usize::from(
            text.contains("Authorization: <redacted>") && text.contains("X-Open: seen"),
        );
    }
    assert_eq!(redacted, 2, "the record and run.json");
}

/// Links that somebody planted under the names of the folder's files lead nowhere.
#[test]
fn a_folder_follows_no_planted_link() {
    let dir = tempfile::tempdir().unwrap();
    let (at, victim) = (dir.path().join("r"), dir.path().join("victim"));
    fs::create_dir(&at).unwrap();
    fs::write(&victim, "precious").unwrap();
    let new =
        || new_run(plan(vec![path("x", 1, 1)], latency(&[1]), 1), String::new(), &hello()).unwrap();
    // What a run leaves that was killed at its beginning is welcome in a new folder; here it leads
    // elsewhere.
    symlink(&victim, at.join("run.json.tmp")).unwrap();
    let mut folder = Folder::create(&at, new()).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    for name in ["run.json.tmp", "report.html.tmp"] {
        symlink(&victim, at.join(name)).unwrap();
    }
    folder.update(|run| run.notes.push("x".to_owned())).unwrap();
    folder.add("report.html", b"page").unwrap();
    assert_eq!(fs::read_to_string(at.join("report.html")).unwrap(), "page");
    symlink(&victim, at.join("agents.log")).unwrap();
    assert!(folder.agents_log().is_err());
    drop(folder);
    // Nor do those that are appended to, when a run is resumed.
    fs::remove_file(at.join("records.jsonl")).unwrap();
    fs::write(&victim, "").unwrap();
    symlink(&victim, at.join("records.jsonl")).unwrap();
    assert!(Folder::resume(&at).is_err());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "");
}
