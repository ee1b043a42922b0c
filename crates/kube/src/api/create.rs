//! Creation of objects, and the errors after which another attempt may succeed.

use std::time::Duration;

use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::PostParams;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::api::client::Api;
use crate::api::labels::RUN;

/// The pause before another attempt.
const AGAIN: Duration = Duration::from_millis(100);

/// Makes an object. What passes by itself is tried again until `until`. Examples are an API server
/// that is away or busy, a namespace whose service account the cluster has not made yet. An object
/// of the same run that is there already was made by an attempt whose answer got lost.
pub(crate) async fn create<K>(api: &Api<K>, object: &K, until: Instant) -> kube::Result<K>
where
    K: Serialize + DeserializeOwned,
{
    let metadata = metadata(object)?;
    let is_owned = metadata["ownerReferences"].as_array().is_some_and(|all| !all.is_empty());
    let mut first = true;
    loop {
        match api.create(&PostParams::default(), object).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() && !first => {
                let found = api.get(metadata["name"].as_str().unwrap_or_default()).await?;
                if self::metadata(&found)?["labels"][RUN] == metadata["labels"][RUN] {
                    return Ok(found);
                }
                return Err(kube::Error::Api(status));
            }
            // What the run before it left in a namespace that both were given is on its way out.
            Err(kube::Error::Api(status))
                if status.is_already_exists() && is_owned && Instant::now() + AGAIN < until =>
            {
                sleep(AGAIN).await;
                continue;
            }
            Err(error) if passes(&error) && Instant::now() + AGAIN < until => {}
            answer => return answer,
        }
        first = false;
        sleep(AGAIN).await;
    }
}

/// The metadata of an object, whatever its type.
fn metadata(object: &impl Serialize) -> kube::Result<Value> {
    let mut object = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
    Ok(object["metadata"].take())
}

/// Whether the same question may get another answer soon.
pub(crate) fn passes(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => {
            let no_account = status.is_forbidden()
                && status.message.contains("serviceaccount \"default\" not found");
            no_account || status.code == 429 || status.code >= 500
        }
        kube::Error::Service(_) | kube::Error::HyperError(_) => true,
        _ => false,
    }
}
