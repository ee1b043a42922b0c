//! The time from the start of the program to its first byte.

use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::{Bench, Figures, Spread, ours};
use crate::process::clock::{self, Moment};
use crate::process::interrupt;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// Starts of one run; the median counts.
const STARTS: usize = 5;
/// Always the same, so that every run is the same command.
const PORT: u16 = 7476;
const PATIENCE: Duration = Duration::from_secs(5);

const GOALS: &[Goal] =
    &[Goal::value("start_s", "first byte after", "ms", 1e3, Reach::AtMost(30.0))];

/// `hopbench http` on loopback.
pub(super) fn row() -> Row {
    Row {
        name: "start".to_owned(),
        what: "start to first packet, loopback".to_owned(),
        against: "",
        needs: Vec::new(),
        goals: GOALS,
        note: "From fork to the first byte of a request at a listener in this program, one clock. \
               The start of `setpriv` before it (about 1 ms) is in the figure."
            .to_owned(),
        ours: Box::new(|bench| {
            let starts = (0..STARTS).map(|_| one(bench)).collect::<Result<Vec<f64>>>()?;
            let spread = Spread::of(&starts).context("no start was timed")?;
            Ok(Figures::from([("start_s", spread.median)]))
        }),
        theirs: None,
    }
}

fn one(bench: &Bench) -> Result<f64> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let listener = TcpListener::bind(address).with_context(|| format!("listener on {address}"))?;
    listener.set_nonblocking(true).context("listener on loopback")?;
    let url = format!("http://{address}/");
    let program = bench.ours_outside(&ours::http_words(&url, "1s", "-c 1"));
    let begun = Moment::now();
    // Dropped, and so killed, when the byte is here.
    let mut client = bench.start(&program)?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                if first_byte(stream)? {
                    return Ok(begun.elapsed().as_secs_f64());
                }
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => clock::sleep(Duration::from_micros(50)),
            Err(e) => return Err(e).context("accept on loopback"),
        }
        interrupt::check()?;
        if client.ended()? || begun.elapsed() > PATIENCE {
            bail!("`{}` sent nothing{}", client.shown(), client.last_words());
        }
    }
}

/// Waits for a byte; false where the connection was closed without one.
fn first_byte(mut stream: TcpStream) -> Result<bool> {
    stream.set_nonblocking(false).context("connection on loopback")?;
    stream.set_read_timeout(Some(PATIENCE)).context("connection on loopback")?;
    Ok(stream.read(&mut [0]).context("first byte on loopback")? == 1)
}
