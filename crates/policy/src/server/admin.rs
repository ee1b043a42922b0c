//! The admin endpoint: the totals, for whoever connects to a Unix socket in the network namespace,
//! or to a port of its loopback.

use std::io;
use std::net::{SocketAddr as InetAddr, TcpListener};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use hopbench_model::{Fault, Problem};
use serde_json::{Map, Value};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, timeout};

/// How long somebody may take to read the totals, which fit in the socket's buffer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait where no connection can be taken: no descriptors left.
const BREATH: Duration = Duration::from_millis(20);

/// Where the totals are told.
#[derive(Debug)]
pub(crate) enum Admin {
    Unix(UnixListener),
    Port(TcpListener),
}

/// Takes the name.
pub(crate) fn listen(name: &str) -> Result<Admin, Fault> {
    let taken = |error: io::Error| {
        Fault::environment(format!("cannot listen on {name}: {error}. Give `--admin` another name"))
    };
    // Nobody else is to read them.
    if let Some(address) =
        name.parse::<InetAddr>().ok().filter(|address| address.ip().is_loopback())
    {
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(Admin::Port(listener))
        });
        return listener.map_err(taken);
    }
    let address = name.strip_prefix('@').filter(|rest| !rest.is_empty());
    let address =
        address.and_then(|rest| SocketAddr::from_abstract_name(rest).ok()).ok_or_else(|| {
            let expected = "`@` and a name of 1 to 107 bytes, which Unix sockets of this network \
                            namespace have; or a port of the loopback, like 127.0.0.1:9000";
            Fault::from_problems(&[Problem::new("--admin", name, expected)])
        })?;
    let listener = UnixListener::bind_addr(&address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(Admin::Unix(listener))
    });
    listener.map_err(taken)
}

impl Admin {
    /// Answers every connection with the totals and closes it.
    pub(crate) async fn serve(
        self,
        totals: impl Fn() -> Map<String, Value> + Send,
    ) -> io::Result<()> {
        match self {
            Self::Unix(listener) => {
                let listener = tokio::net::UnixListener::from_std(listener)?;
                loop {
                    match listener.accept().await {
                        Ok((stream, _)) => tell(stream, &totals).await,
                        Err(_) => sleep(BREATH).await,
                    }
                }
            }
            Self::Port(listener) => {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                loop {
                    match listener.accept().await {
                        Ok((stream, _)) => tell(stream, &totals).await,
                        Err(_) => sleep(BREATH).await,
                    }
                }
            }
        }
    }
}

async fn tell(
    mut stream: impl AsyncWrite + Unpin,
    totals: &(impl Fn() -> Map<String, Value> + Send),
) {
    let text = format!("{}\n", Value::Object(totals()));
    // Who does not read gets nothing.
    let _ = timeout(PATIENCE, stream.write_all(text.as_bytes())).await;
}
