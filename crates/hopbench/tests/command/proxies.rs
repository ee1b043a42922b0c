//! The way to an API server through a proxy: HTTP and SOCKS5, as the kubeconfig or the environment
//! says.
#![allow(clippy::unwrap_used, reason = "all of this is test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use crate::lab::program::run;
use crate::lab::{Finished, program};

/// A name that no resolver knows: only the proxy gets there.
const SERVER: &str = "http://api.invalid:6443";

/// Takes connections, so many at most, and does this with each.
fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten().take(64) {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// An API server that knows nobody.
fn server() -> SocketAddr {
    listen(|mut stream| {
        const SAID: &str = concat!(
            r#"{"kind":"Status","status":"Failure","message":"who is this","#,
            r#""reason":"Unauthorized","code":401}"#,
        );
        let mut bytes = [0; 4096];
        while let Ok(1..) = stream.read(&mut bytes) {
            let head = format!(
                "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n",
                SAID.len()
            );
            if stream.write_all((head + SAID).as_bytes()).is_err() {
                break;
            }
        }
    })
}

/// Carries what comes on either side to the other.
fn relay(client: TcpStream, server: SocketAddr) {
    let server = TcpStream::connect(server).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    let (mut from, mut to) = (server, client);
    let _ = std::io::copy(&mut from, &mut to);
}

/// A proxy that leads to the server wherever one asks for, and what it was asked for.
fn proxy(is_socks: bool) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (kept, server) = (Arc::clone(&asked), server());
    let address = listen(move |mut client| {
        let mut bytes = [0; 1024];
        let wanted = if is_socks {
            let greeting = client.read(&mut bytes).unwrap();
            assert_eq!((bytes[0], greeting > 2), (5, true));
            client.write_all(&[5, 0]).unwrap();
            let count = client.read(&mut bytes).unwrap();
            // Version, connect, a name of this length, the name and a port.
            assert_eq!((bytes[1], bytes[3], usize::from(bytes[4]) + 7), (1, 3, count));
            client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
            String::from_utf8_lossy(&bytes[5..count - 2]).into_owned()
        } else {
            let count = client.read(&mut bytes).unwrap();
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            let head = String::from_utf8_lossy(&bytes[..count]).into_owned();
            head.lines().next().unwrap_or_default().to_owned()
        };
        kept.lock().unwrap().push(wanted);
        relay(client, server);
    });
    (address, asked)
}

/// What `doctor` says of a cluster by a kubeconfig with this line about its proxy.
fn doctor(folder: &Path, proxy_url: &str, environment: &[(&str, &str)]) -> Finished {
    let file = folder.join("kubeconfig");
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
         users: [{{name: u, user: {{token: x}}}}]\nclusters:\n- name: c\n  cluster:\n    \
         server: {SERVER}\n{proxy_url}"
    );
    std::fs::write(&file, config).unwrap();
    let arguments = ["doctor", "--testbed", "kubernetes", "--kubeconfig", file.to_str().unwrap()];
    let mut command = program(&arguments);
    command.env("KUBECONFIG", "/no/such/kubeconfig");
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    run(&mut command)
}

#[test]
fn the_api_server_is_reached_through_the_proxy_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (is_socks, scheme, wanted) in
        [(false, "http", "CONNECT api.invalid:6443 HTTP/1.1"), (true, "socks5", "api.invalid")]
    {
        let (address, asked) = proxy(is_socks);
        let url = format!("{scheme}://{address}");
        let by_file = format!("    proxy-url: {url}\n");
        for (line, environment) in
            [(by_file.as_str(), vec![]), ("", vec![("HTTPS_PROXY", url.as_str())])]
        {
            asked.lock().unwrap().clear();
            let done = doctor(folder.path(), line, &environment);
            assert!(done.stdout.contains("who is this"), "{url} {line}: {}", done.story());
            let asked = asked.lock().unwrap();
            assert!(!asked.is_empty() && asked.iter().all(|one| one == wanted), "{asked:?}");
        }
        asked.lock().unwrap().clear();
        let around = [("HTTPS_PROXY", url.as_str()), ("NO_PROXY", "api.invalid")];
        let done = doctor(folder.path(), "", &around);
        assert!(!done.stdout.contains("who is this"), "{}", done.story());
        assert!(asked.lock().unwrap().is_empty(), "NO_PROXY: {asked:?}");
    }
}

#[test]
fn a_proxy_or_a_kubeconfig_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let done = doctor(folder.path(), "    proxy-url: http://127.0.0.1:1\n", &[]);
    assert!(done.stdout.contains("api.invalid") && done.code == Some(3), "{}", done.story());
    let done = run(&mut program(&["kube", "clean", "--kubeconfig", "/no/such/file"]));
    let said = "the kubeconfig /no/such/file cannot be read: ";
    assert!(done.stderr.contains(said) && done.code == Some(3), "{}", done.story());
}
