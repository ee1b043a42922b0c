//! One watch: objects of a kind, and how they differ from what they were.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::runtime::watcher::{self, Config, Event, watcher};
use kube::{Api, Resource, ResourceExt};
use tokio::time::{Instant, sleep};

use super::change::Change;
use super::log::Log;
use crate::access::explain;

/// Between two attempts to reach an API server that is not there. A restart takes some seconds.
const AGAIN: Duration = Duration::from_millis(500);

/// A watch that lasted so long was let in: who must not is told so at once.
const LET_IN: Duration = Duration::from_secs(2);

/// A kind of object that is watched.
pub(super) trait Watched: Sized + Send + 'static {
    /// The object as the API server gives it.
    type Object: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static;

    /// What of it matters.
    fn of(object: &Self::Object) -> Self;

    /// How it changed; absent before: it is new; absent after: it is gone.
    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change>;
}

/// Notes what changes, until it is aborted, or until it learns that it must not.
pub(super) async fn follow<W: Watched>(api: Api<W::Object>, config: Config, log: Arc<Log>, what: String) {
    let mut followed = Followed::<W>::default();
    let mut was_let_in = false;
    // A watch that broke would go on without a word when it is back, so a new one is made, which lists everything first.
    loop {
        let began = Instant::now();
        let Err(error) = watched(&mut followed, &api, &config, &log, &what).await else { return };
        if !is_forbidden(&error) {
            was_let_in |= began.elapsed() >= LET_IN;
        } else if !was_let_in {
            // An API server that has just started may not know anybody's rights yet: who was let in once asks again.
            log.forbid(&what, said(&error));
            return;
        }
        // One that ran out lost nothing: the list has it.
        if !is_expired(&error) {
            log.losing(&what, said(&error));
        }
        sleep(AGAIN).await;
    }
}

/// One watch, from its list on, until it breaks.
async fn watched<W: Watched>(
    followed: &mut Followed<W>,
    api: &Api<W::Object>,
    config: &Config,
    log: &Log,
    what: &str,
) -> Result<(), watcher::Error> {
    let mut events = pin!(watcher(api.clone(), config.clone()));
    while let Some(event) = events.next().await {
        let event = event?;
        let listed = matches!(event, Event::InitDone);
        log.note(followed.take(event));
        if listed {
            log.well(what);
        }
    }
    Ok(())
}

/// The objects that are known.
struct Followed<W> {
    /// Absent: they were never listed, so nothing can have changed.
    known: Option<BTreeMap<String, W>>,
    listing: BTreeMap<String, W>,
}

impl<W> Default for Followed<W> {
    fn default() -> Self {
        Self { known: None, listing: BTreeMap::new() }
    }
}

impl<W: Watched> Followed<W> {
    /// Takes in what is new, and says what changed by it.
    fn take(&mut self, event: Event<W::Object>) -> Vec<Change> {
        match event {
            Event::Init => {
                self.listing.clear();
                Vec::new()
            }
            Event::InitApply(object) => {
                self.listing.insert(object.name_any(), W::of(&object));
                Vec::new()
            }
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                let Some(before) = self.known.replace(listed) else { return Vec::new() };
                let after = self.known.iter().flatten();
                let gone = before.iter().filter(|(name, _)| !self.known.iter().any(|known| known.contains_key(*name)));
                let mut changes: Vec<Change> =
                    after.flat_map(|(name, state)| W::compare(before.get(name), Some(state))).collect();
                changes.extend(gone.flat_map(|(_, state)| W::compare(Some(state), None)));
                changes
            }
            Event::Apply(object) => {
                let known = self.known.get_or_insert_default();
                let state = W::of(&object);
                let changes = W::compare(known.get(&object.name_any()), Some(&state));
                known.insert(object.name_any(), state);
                changes
            }
            Event::Delete(object) => {
                let before = self.known.get_or_insert_default().remove(&object.name_any());
                W::compare(before.as_ref(), None)
            }
        }
    }
}

fn is_forbidden(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status)) => status.code == 403 || status.code == 404,
        _ => false,
    }
}

fn is_expired(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status)) => status.code == 410,
        watcher::Error::WatchError(status) => status.code == 410,
        _ => false,
    }
}

fn said(error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => explain(error),
        watcher::Error::WatchError(status) => status.message.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::super::change::About;
    use super::*;

    /// Says everything.
    struct Plain(String);

    impl Watched for Plain {
        type Object = ConfigMap;

        fn of(object: &ConfigMap) -> Self {
            Self(format!("{}={}", object.name_any(), object.annotations().get("is").cloned().unwrap_or_default()))
        }

        fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
            let word = |state: Option<&Self>| state.map_or("-", |state| state.0.as_str()).to_owned();
            if word(before) == word(after) {
                return Vec::new();
            }
            vec![Change::new(About::Node(String::new()), format!("{} > {}", word(before), word(after)))]
        }
    }

    fn object(name: &str, is: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.to_owned());
        object.annotations_mut().insert("is".to_owned(), is.to_owned());
        object
    }

    fn texts(followed: &mut Followed<Plain>, events: Vec<Event<ConfigMap>>) -> Vec<String> {
        events.into_iter().flat_map(|event| followed.take(event)).map(|change| change.text).collect()
    }

    #[test]
    fn what_is_there_at_first_is_no_change() {
        let mut followed = Followed::<Plain>::default();
        let first =
            vec![Event::Init, Event::InitApply(object("a", "1")), Event::InitApply(object("b", "1")), Event::InitDone];
        assert!(texts(&mut followed, first).is_empty());
        let more = vec![
            Event::Apply(object("a", "1")),
            Event::Apply(object("a", "2")),
            Event::Apply(object("c", "1")),
            Event::Delete(object("b", "1")),
        ];
        assert_eq!(texts(&mut followed, more), ["a=1 > a=2", "- > c=1", "b=1 > -"]);
    }

    #[test]
    fn what_changed_while_nobody_watched_is_found_by_comparing() {
        let mut followed = Followed::<Plain>::default();
        texts(
            &mut followed,
            vec![Event::Init, Event::InitApply(object("a", "1")), Event::InitApply(object("b", "1")), Event::InitDone],
        );
        let again =
            vec![Event::Init, Event::InitApply(object("b", "2")), Event::InitApply(object("c", "1")), Event::InitDone];
        assert_eq!(texts(&mut followed, again), ["b=1 > b=2", "- > c=1", "a=1 > -"]);
        let same =
            vec![Event::Init, Event::InitApply(object("b", "2")), Event::InitApply(object("c", "1")), Event::InitDone];
        assert!(texts(&mut followed, same).is_empty());
    }
}
