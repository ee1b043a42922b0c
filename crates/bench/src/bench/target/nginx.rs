//! nginx as a target.

use anyhow::{Context, Result};

use crate::bench::context::Bench;
use crate::bench::peer_program::{INSTALLED, Peer, Version};
use crate::lab::End;
use crate::process::Invocation;

/// How nginx is found.
pub(crate) const PEER: Peer =
    Peer { name: "nginx", version: Version::Printed("-v", "nginx/"), source: INSTALLED };

/// Far more than the 10 000 connections of the memory row: with less than a sixteenth of them free,
/// nginx closes connections that wait for a request.
const CONNECTIONS: u64 = 16_384;

/// One process without a master, so that ending it ends all of it. The answer comes from the
/// configuration: the less the server does, the more the client decides. In a user namespace no
/// user but root exists, and nginx gives its directories to its user.
const CONFIGURATION: &str = r#"user root;
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 16384; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  tcp_nodelay on;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 80 backlog=16384;
    listen 81 http2;
    listen 443 ssl backlog=16384;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_tickets off;
    ssl_certificate certificate.pem;
    ssl_certificate_key key.pem;
    default_type text/plain;
    location = /requests { stub_status; }
    location / { return 200 "0123456789abcde\n"; }
  }
}
"#;

/// An nginx at the server's end, on its CPU.
///
/// # Errors
/// When it is not installed, or its configuration cannot be written.
pub(super) fn server(bench: &Bench) -> Result<Invocation> {
    let directory = bench.scratch().join("nginx");
    std::fs::create_dir_all(&directory).context("directory for nginx")?;
    std::fs::write(directory.join("nginx.conf"), CONFIGURATION).context("nginx.conf")?;
    let own = rcgen::generate_simple_self_signed(["bench.test".to_owned()])
        .context("a certificate for nginx")?;
    std::fs::write(directory.join("certificate.pem"), own.cert.pem()).context("certificate.pem")?;
    std::fs::write(directory.join("key.pem"), own.signing_key.serialize_pem())
        .context("key.pem")?;
    let prefix = directory.display().to_string();
    let words = ["-p", &prefix, "-e", "stderr", "-c", "nginx.conf"];
    // A few files beside the sockets.
    let files = Some(CONNECTIONS + 64);
    Ok(Invocation { files, ..bench.peer(&PEER, End::Server, &words)? })
}

/// The configuration, for who wants to repeat a run.
pub(crate) fn configuration() -> &'static str {
    CONFIGURATION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::target::STATUS_PATH;

    #[test]
    fn the_configuration_allows_the_connections_and_has_the_status_page() {
        assert!(CONFIGURATION.contains(&format!("worker_connections {CONNECTIONS};")));
        assert!(CONFIGURATION.contains(&format!("location = {STATUS_PATH} ")));
    }
}
