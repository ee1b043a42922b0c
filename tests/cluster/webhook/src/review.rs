//! An AdmissionReview in, an AdmissionReview out.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::inject;

/// The answer to a review of a pod.
///
/// A pod whose annotations cannot be read is refused with the reason, so that nobody measures
/// something else.
pub(crate) fn answer(body: &[u8]) -> Result<Vec<u8>, String> {
    let review: Value =
        serde_json::from_slice(body).map_err(|error| format!("no JSON: {error}"))?;
    let request = &review["request"];
    let uid = request["uid"].as_str().ok_or("no AdmissionReview: request.uid is missing")?;
    let mut response = json!({"uid": uid, "allowed": true});
    match inject::patch(&request["object"]) {
        Ok(None) => {}
        Ok(Some(patch)) => {
            response["patchType"] = "JSONPatch".into();
            response["patch"] = BASE64_STANDARD.encode(patch.to_string()).into();
        }
        Err(why) => {
            response["allowed"] = false.into();
            response["status"] = json!({"code": 422, "message": why});
        }
    }
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response,
    });
    Ok(answer.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(object: &Value) -> Value {
        let review = json!({"request": {"uid": "u-1", "object": object}});
        serde_json::from_slice(&answer(review.to_string().as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn a_pod_gets_a_patch() {
        let answer = said(&json!({"metadata": {}, "spec": {"containers": [{"name": "app"}]}}));
        assert_eq!(
            (&answer["response"]["uid"], &answer["response"]["allowed"]),
            (&json!("u-1"), &json!(true))
        );
        assert_eq!(answer["response"]["patchType"], "JSONPatch");
        let patch = BASE64_STANDARD.decode(answer["response"]["patch"].as_str().unwrap()).unwrap();
        let patch: Value = serde_json::from_slice(&patch).unwrap();
        assert!(
            patch.as_array().unwrap().iter().any(|one| one["path"] == "/spec/containers"),
            "{patch}"
        );
    }

    #[test]
    fn a_pod_of_the_node_s_network_is_left_alone() {
        let answer = said(&json!({"spec": {"hostNetwork": true, "containers": []}}));
        assert_eq!(answer["response"], json!({"uid": "u-1", "allowed": true}));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_the_reason() {
        let annotations = json!({"traffic.sidecar.istio.io/includeInboundPorts": "80,http"});
        let answer =
            said(&json!({"metadata": {"annotations": annotations}, "spec": {"containers": []}}));
        assert_eq!(answer["response"]["allowed"], false);
        let message = answer["response"]["status"]["message"].as_str().unwrap();
        assert!(
            message.contains("includeInboundPorts") && message.contains("\"http\""),
            "{message}"
        );
    }
}
