//! The wait for an entrance, a Gateway or an Ingress, to work, and whether it still is where it
//! was.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Time limit for a Gateway to take a route, or for an address of an Ingress. A Gateway that the
/// run makes has what is left of the time for the start, and at least this. After it the other
/// paths are measured.
pub(super) const ATTACH: Duration = Duration::from_secs(30);
/// Polling interval meanwhile.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// Asks until there is an address, or the time is over: then the last reason why not.
pub(super) async fn until_it_works<F>(
    began: Instant,
    until: Instant,
    mut look: impl FnMut() -> F,
) -> Result<String, String>
where
    F: Future<Output = Result<String, String>>,
{
    loop {
        match look().await {
            Err(_) if Instant::now() + LOOK < until => sleep(LOOK).await,
            Err(why) => return Err(format!("{why} (waited {} s)", began.elapsed().as_secs())),
            Ok(at) => return Ok(at),
        }
    }
}

/// Whether an entrance is where the clients connected to.
pub(super) fn still(at: String, entered: &str) -> Result<String, String> {
    if at == entered {
        return Ok(at);
    }
    Err(format!("its address is now {at}, and the clients connected to {entered}"))
}
