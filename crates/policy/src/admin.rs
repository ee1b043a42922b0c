//! The totals, for whoever connects to a Unix socket in the network namespace.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

use hopbench_model::{Fault, Problem};
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;
use tokio::time::{sleep, timeout};

/// How long somebody may take to read the totals, which fit in the socket's buffer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait where no connection can be taken: no descriptors left.
const BREATH: Duration = Duration::from_millis(20);

/// Takes the name.
pub(crate) fn listen(name: &str) -> Result<UnixListener, Fault> {
    let address = name.strip_prefix('@').filter(|rest| !rest.is_empty());
    let address = address.and_then(|rest| SocketAddr::from_abstract_name(rest).ok()).ok_or_else(|| {
        let expected = "`@` and a name of 1 to 107 bytes, which Unix sockets of this network namespace have";
        Fault::from_problems(&[Problem::new("--admin", name, expected)])
    })?;
    let listener = UnixListener::bind_addr(&address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|e| Fault::environment(format!("cannot listen on {name}: {e}. Give `--admin` another name")))
}

/// Answers every connection with the totals and closes it.
pub(crate) async fn serve(listener: tokio::net::UnixListener, totals: impl Fn() -> Map<String, Value> + Send) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            sleep(BREATH).await;
            continue;
        };
        let text = format!("{}\n", Value::Object(totals()));
        // Who does not read gets nothing.
        let _ = timeout(PATIENCE, stream.write_all(text.as_bytes())).await;
    }
}
