//! Exit codes by hand: when a trial that printed its figures is no success all the same.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use crate::lab::program;
use crate::lab::program::run;
use crate::lab::records::{metric, printed};

/// A server that answers so many of ten requests well, and the others with 503. It lives as long as
/// the test.
fn server(good: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        let mut asked = 0usize;
        for stream in listener.incoming().flatten() {
            let Ok(mut writer) = stream.try_clone() else { continue };
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if !line.is_empty() {
                    continue;
                }
                let status = if asked % 10 < good { "200 OK" } else { "503 Service Unavailable" };
                asked += 1;
                // At once: a second small write would wait for the first one's acknowledgement.
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
                if writer.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    address
}

#[test]
fn mostly_failed_is_no_success() {
    for (good, code) in [(10, 0), (6, 0), (4, 4), (0, 4)] {
        let url = format!("http://{}/", server(good));
        let done = run(&mut program(&["http", &url, "--json", "-t", "500ms", "--warmup", "50ms"]));
        assert_eq!(done.code, Some(code), "{good} of 10: {}", done.story());
        let record = printed(&done).remove(0);
        let failed = metric(&record, "error_ratio");
        assert!(
            (failed - (1.0 - good as f64 / 10.0)).abs() < 0.09,
            "{good} of 10: {failed} failed"
        );
        let said = match good {
            0 => "not one exchange succeeded: ",
            4 => " % of the exchanges failed: ",
            _ => "",
        };
        assert!(
            done.stderr.contains(said) && done.stderr.is_empty() == said.is_empty(),
            "{}",
            done.story()
        );
    }
}

#[test]
fn an_agent_that_does_not_answer_http_is_told_how_it_would() {
    let agent = crate::lab::Agent::insecure(&[]);
    let url = format!("http://{}/", agent.target());
    let done = run(&mut program(&["http", &url, "-t", "300ms", "--warmup", "50ms"]));
    assert_eq!(done.code, Some(4), "{}", done.story());
    assert!(done.stderr.contains("`hopbench serve --http`"), "{}", done.story());
    assert!(done.stdout.starts_with("http "), "the figures are printed first: {}", done.story());
}

#[test]
fn help_of_help_is_help() {
    for arguments in [&["help", "--help"][..], &["help", "-h"], &["help"]] {
        let done = run(&mut program(arguments));
        assert_eq!(
            (done.code, done.stderr.as_str()),
            (Some(0), ""),
            "{arguments:?}: {}",
            done.story()
        );
        assert!(
            done.stdout.contains("Usage: hopbench <COMMAND>"),
            "{arguments:?}: {}",
            done.story()
        );
    }
}
