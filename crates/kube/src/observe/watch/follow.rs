//! One watch over objects of a kind, and over how they differ from what they were.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::{Resource, ResourceExt};
use tokio::time::{Instant, sleep, timeout};

use super::change::Change;
use super::log::Log;
use crate::api::access::explain;
use crate::api::client::Api;

/// The length of one request for changes, s. The API server ends it then.
const ROUND_S: u32 = 60;

/// A request of which nothing was heard for so long died without a word.
const SILENT: Duration = Duration::from_secs(ROUND_S as u64 + 5);

/// Between two attempts to reach an API server that is not there. A restart takes some seconds.
const AGAIN: Duration = Duration::from_millis(500);

/// A watch that lasted so long was admitted: one without the right is refused at once.
const LET_IN: Duration = Duration::from_secs(2);

/// A kind of object that is watched.
pub(super) trait WatchedObject: Sized + Send + 'static {
    /// The object as the API server gives it.
    type Object: Resource<DynamicType = ()> + DeserializeOwned + Send + 'static;

    /// The watched state of an object.
    fn of(object: &Self::Object) -> Self;

    /// The changes between two states; absent before: it is new; absent after: it is gone.
    fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change>;
}

/// Notes what changes, until it is aborted, or until it learns that it must not.
pub(super) async fn follow<W: WatchedObject>(
    api: Api<W::Object>,
    which: ListParams,
    log: Arc<Log>,
    what: String,
) {
    let mut followed = Followed::<W>::default();
    let mut was_let_in = false;
    // A watch that broke would go on without a word when it is back, so a new one is made, which
    // lists everything first.
    loop {
        let began = Instant::now();
        let Err(error) = watched(&mut followed, &api, &which, &log, &what).await;
        if !error.is_forbidden() {
            was_let_in |= began.elapsed() >= LET_IN;
        } else if !was_let_in {
            // An API server that has just started may not know any rights yet: a watch that was
            // admitted once asks again.
            log.forbid(&what, explain(&error.why));
            return;
        }
        // One that ran out lost nothing: the list has it.
        if !error.is_expired() {
            log.losing(&what, explain(&error.why));
        }
        sleep(AGAIN).await;
    }
}

/// Why a watch ended.
struct Broken {
    /// It was not let in, rather than cut off later.
    at_once: bool,
    why: kube::Error,
}

impl Broken {
    fn at_once(why: kube::Error) -> Self {
        Self { at_once: true, why }
    }

    fn later(why: kube::Error) -> Self {
        Self { at_once: false, why }
    }

    fn is_forbidden(&self) -> bool {
        self.at_once
            && matches!(
                &self.why,
                kube::Error::Api(status) if status.code == 403 || status.code == 404,
            )
    }

    /// Whether the API server has forgotten what happened since the list.
    fn is_expired(&self) -> bool {
        matches!(&self.why, kube::Error::Api(status) if status.code == 410)
    }
}

/// One watch, from its list on, until it breaks.
async fn watched<W: WatchedObject>(
    followed: &mut Followed<W>,
    api: &Api<W::Object>,
    which: &ListParams,
    log: &Log,
    what: &str,
) -> Result<Infallible, Broken> {
    let mut version = {
        let (objects, version) =
            api.list_with_version(which.clone()).await.map_err(Broken::at_once)?;
        log.note(followed.list(&objects));
        version
    };
    log.well(what);
    let params = WatchParams {
        label_selector: which.label_selector.clone(),
        field_selector: which.field_selector.clone(),
        timeout: Some(ROUND_S),
        ..WatchParams::default()
    };
    loop {
        let began = Instant::now();
        let mut changes = pin!(api.watch(&params, &version).await.map_err(Broken::at_once)?);
        while let Ok(Some(change)) = timeout(SILENT, changes.next()).await {
            match change.map_err(Broken::later)? {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    version = object.resource_version().unwrap_or_default();
                    log.note(followed.apply(&object));
                }
                WatchEvent::Deleted(object) => {
                    version = object.resource_version().unwrap_or_default();
                    log.note(followed.remove(&object));
                }
                WatchEvent::Bookmark(mark) => version = mark.metadata.resource_version,
                WatchEvent::Error(status) => return Err(Broken::later(kube::Error::Api(status))),
            }
        }
        // A proxy without a server may end each request at once.
        if began.elapsed() < AGAIN {
            sleep(AGAIN).await;
        }
    }
}

/// The objects that are known.
struct Followed<W> {
    /// Absent: they were never listed, so nothing can have changed.
    known: Option<BTreeMap<String, W>>,
}

impl<W> Default for Followed<W> {
    fn default() -> Self {
        Self { known: None }
    }
}

/// Each says what changed by what is new.
impl<W: WatchedObject> Followed<W> {
    fn list(&mut self, objects: &[W::Object]) -> Vec<Change> {
        let after = objects.iter().map(|object| (object.name_any(), W::of(object))).collect();
        let Some(before) = self.known.replace(after) else { return Vec::new() };
        let after = self.known.get_or_insert_default();
        let gone = before.iter().filter(|(name, _)| !after.contains_key(*name));
        let kept = after.iter().flat_map(|(name, state)| W::compare(before.get(name), Some(state)));
        kept.chain(gone.flat_map(|(_, state)| W::compare(Some(state), None))).collect()
    }

    fn apply(&mut self, object: &W::Object) -> Vec<Change> {
        let known = self.known.get_or_insert_default();
        let state = W::of(object);
        let changes = W::compare(known.get(&object.name_any()), Some(&state));
        known.insert(object.name_any(), state);
        changes
    }

    fn remove(&mut self, object: &W::Object) -> Vec<Change> {
        let before = self.known.get_or_insert_default().remove(&object.name_any());
        W::compare(before.as_ref(), None)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::super::change::About;
    use super::*;

    /// Says everything.
    struct Plain(String);

    impl WatchedObject for Plain {
        type Object = ConfigMap;

        fn of(object: &ConfigMap) -> Self {
            Self(format!(
                "{}={}",
                object.name_any(),
                object.annotations().get("is").cloned().unwrap_or_default()
            ))
        }

        fn compare(before: Option<&Self>, after: Option<&Self>) -> Vec<Change> {
            let word =
                |state: Option<&Self>| state.map_or("-", |state| state.0.as_str()).to_owned();
            if word(before) == word(after) {
                return Vec::new();
            }
            vec![Change::new(
                About::Node(String::new()),
                format!("{} > {}", word(before), word(after)),
            )]
        }
    }

    fn object(name: &str, is: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.to_owned());
        object.annotations_mut().insert("is".to_owned(), is.to_owned());
        object
    }

    fn texts(changes: impl IntoIterator<Item = Change>) -> Vec<String> {
        changes.into_iter().map(|change| change.text).collect()
    }

    #[test]
    fn what_is_there_at_first_is_no_change() {
        let mut followed = Followed::<Plain>::default();
        assert!(followed.list(&[object("a", "1"), object("b", "1")]).is_empty());
        let mut changes = followed.apply(&object("a", "1"));
        changes.extend(followed.apply(&object("a", "2")));
        changes.extend(followed.apply(&object("c", "1")));
        changes.extend(followed.remove(&object("b", "1")));
        assert_eq!(texts(changes), ["a=1 > a=2", "- > c=1", "b=1 > -"]);
    }

    #[test]
    fn what_changed_while_nobody_watched_is_found_by_comparing() {
        let mut followed = Followed::<Plain>::default();
        followed.list(&[object("a", "1"), object("b", "1")]);
        let again = [object("b", "2"), object("c", "1")];
        assert_eq!(texts(followed.list(&again)), ["b=1 > b=2", "- > c=1", "a=1 > -"]);
        assert!(followed.list(&again).is_empty());
    }
}
