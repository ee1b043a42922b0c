//! nginx: a web server that people measure.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;

use super::server::ServerProgram;

#[derive(Debug)]
pub(super) struct Nginx;

impl ServerProgram for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn summary(&self) -> &'static str {
        "nginx with one worker that serves files of the sizes asked for"
    }

    fn remedy(&self) -> &'static str {
        "install it (`apt-get install nginx-light`)"
    }

    fn version(&self) -> &'static str {
        "-v"
    }

    fn configure(
        &self,
        folder: &Path,
        listen: SocketAddr,
        sizes: &BTreeSet<u64>,
    ) -> io::Result<Vec<OsString>> {
        let files = folder.join("files/bytes");
        fs::create_dir_all(&files)?;
        fs::write(folder.join("files/index.html"), "hopbench\n")?;
        for size in sizes {
            let mut file = File::create(files.join(size.to_string()))?;
            io::copy(&mut io::repeat(b'h').take(*size), &mut file)?;
            file.flush()?;
        }
        let configuration = folder.join("nginx.conf");
        fs::write(&configuration, text(folder, listen))?;
        Ok(vec![
            "-p".into(),
            folder.into(),
            "-e".into(),
            "stderr".into(),
            "-c".into(),
            configuration.into(),
        ])
    }
}

fn text(folder: &Path, listen: SocketAddr) -> String {
    let folder = folder.display();
    let both = if listen.is_ipv6() { " ipv6only=off" } else { "" };
    // The mapped root of a rootless lab is the only user there is.
    format!(
        "daemon off;
user root root;
worker_processes 1;
worker_rlimit_nofile 65536;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 3600s;
    keepalive_requests 1000000000;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {listen}{both} backlog=4096;
        root {folder}/files;
    }}
}}
"
    )
}
