//! The time from the start of the program to its first byte.

use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::{Bench, Figures, Peer, Spread, ours};
use crate::process::clock::{self, Moment};
use crate::process::interrupt;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// `hopbench http` on loopback.
#[derive(Debug)]
pub(super) struct Start;

/// Starts of one run; the median counts.
const STARTS: usize = 5;
/// Always the same, so that every run is the same command.
const PORT: u16 = 7476;
const PATIENCE: Duration = Duration::from_secs(5);

impl Row for Start {
    fn name(&self) -> String {
        "start".to_owned()
    }

    fn what(&self) -> String {
        "start to first packet, loopback".to_owned()
    }

    fn against(&self) -> &'static str {
        ""
    }

    fn needs(&self) -> Vec<&'static Peer> {
        Vec::new()
    }

    fn goals(&self) -> &'static [Goal] {
        const { &[Goal::value("start_s", "first byte after", "ms", 1e3, Reach::AtMost(30.0))] }
    }

    fn note(&self) -> String {
        "From fork to the first byte of a request at a listener in this program, one clock. The start of `setpriv` before it \
         (about 1 ms) is in the figure."
        .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let starts = (0..STARTS).map(|_| one(bench)).collect::<Result<Vec<f64>>>()?;
        let spread = Spread::of(&starts).context("no start was timed")?;
        Ok(Figures::from([("start_s", spread.median)]))
    }

    fn theirs(&self, _: &Bench) -> Result<Option<Figures>> {
        Ok(None)
    }
}

fn one(bench: &Bench) -> Result<f64> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let listener = TcpListener::bind(address).with_context(|| format!("listener on {address}"))?;
    listener.set_nonblocking(true).context("listener on loopback")?;
    let url = format!("http://{address}/");
    let words = ours::http_words(&url, "1s", &["-c", "1"]);
    let task = bench.ours_outside(&words);
    let begun = Moment::now();
    // Dropped, and so killed, when the byte is here.
    let mut client = task.start(bench.scratch())?;
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
