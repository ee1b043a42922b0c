//! Strategic merge patches for the templates of pods.
//!
//! - A map is merged field by field, and `null` takes a field away.
//! - A list is replaced, unless Kubernetes knows its items apart by a field (`containers` by
//!   `name`). Then items are merged one by one.
//! - `$patch: delete` takes an item or a map away.
//! - `$patch: replace` in a map replaces the map by the patch. In an item of a list it replaces the
//!   list's other items.

use std::collections::BTreeSet;

use hopbench_model::Fault;
use serde_json::{Map, Value};

/// The field by which the items of a list in a pod's template are known, by the list's name. No two
/// lists of one name differ.
const KEYS: &[(&str, &str)] = &[
    ("containers", "name"),
    ("initContainers", "name"),
    ("ephemeralContainers", "name"),
    ("volumes", "name"),
    ("imagePullSecrets", "name"),
    ("env", "name"),
    ("resourceClaims", "name"),
    ("schedulingGates", "name"),
    ("ports", "containerPort"),
    ("volumeMounts", "mountPath"),
    ("volumeDevices", "devicePath"),
    ("hostAliases", "ip"),
    ("topologySpreadConstraints", "topologyKey"),
    ("ownerReferences", "uid"),
];
/// The word that says what else to do with a map, and what it may say.
const DIRECTIVE: &str = "$patch";

/// Merges a patch into the template of a pod.
pub(crate) fn merge(template: &mut Value, patch: &Value) -> Result<(), Fault> {
    let (Some(template), Some(patch)) = (template.as_object_mut(), patch.as_object()) else {
        return Err(Fault::input(
            "patch: found no mapping, expected `metadata:` or `spec:` of a pod's template",
        ));
    };
    if let Some(field) = patch.keys().find(|field| !["metadata", "spec"].contains(&field.as_str()))
    {
        let text =
            format!("patch: found `{field}`, expected `metadata:` or `spec:` of a pod's template");
        return Err(Fault::input(text));
    }
    map(template, patch, "patch")
}

fn map(base: &mut Map<String, Value>, patch: &Map<String, Value>, at: &str) -> Result<(), Fault> {
    match directive(patch, at)? {
        Some("delete") => base.clear(),
        Some("replace") => *base = plain(patch, at)?,
        _ => {
            for (name, value) in patch.iter().filter(|(name, _)| *name != DIRECTIVE) {
                field(base, name, value, &format!("{at}.{name}"))?;
            }
        }
    }
    Ok(())
}

fn field(base: &mut Map<String, Value>, name: &str, patch: &Value, at: &str) -> Result<(), Fault> {
    if name.starts_with('$') {
        return Err(Fault::input(format!(
            "{at}: found `{name}`, expected a field or `{DIRECTIVE}`"
        )));
    }
    let key = KEYS.iter().find(|(list, _)| *list == name).map(|(_, key)| *key);
    match (base.get_mut(name), patch, key) {
        (_, Value::Null, _) => {
            base.remove(name);
        }
        (Some(Value::Object(base)), Value::Object(patch), _) => map(base, patch, at)?,
        (Some(Value::Array(base)), Value::Array(patch), Some(key)) => list(base, patch, key, at)?,
        (None, Value::Array(patch), Some(key)) => {
            let mut items = Vec::new();
            list(&mut items, patch, key, at)?;
            base.insert(name.to_owned(), items.into());
        }
        (None, Value::Object(patch), _) => {
            let mut fields = Map::new();
            map(&mut fields, patch, at)?;
            base.insert(name.to_owned(), fields.into());
        }
        (_, patch, _) => {
            base.insert(name.to_owned(), without_directives(patch, at)?);
        }
    }
    Ok(())
}

/// The patch's items keep their order, and so do the others. These come before those of the patch
/// that stood behind them; an item that is new stands where the patch has it.
fn list(base: &mut Vec<Value>, patch: &[Value], key: &str, at: &str) -> Result<(), Fault> {
    // Wherever it stands in a list: what has no such word is all that is left.
    let replaces = |item: &Value| item[DIRECTIVE] == "replace";
    if patch.iter().any(replaces) {
        let plain = patch.iter().filter(|item| item.get(DIRECTIVE).is_none());
        *base = plain.map(|item| without_directives(item, at)).collect::<Result<_, _>>()?;
        return Ok(());
    }
    // The patch's items as they come of it, each with the place that it had.
    let mut touched: Vec<(Option<usize>, Value)> = Vec::new();
    let mut gone = BTreeSet::new();
    for (number, item) in patch.iter().enumerate() {
        let at = format!("{at}[{number}]");
        let Some(fields) = item.as_object() else {
            return Err(Fault::input(format!(
                "{at}: found {item}, expected a mapping with `{key}`"
            )));
        };
        let Some(wanted) = fields.get(key) else {
            return Err(Fault::input(format!(
                "{at}: found no `{key}`, by which items of this list are known"
            )));
        };
        let found = base.iter().position(|item| item.get(key) == Some(wanted));
        gone.extend(found);
        if directive(fields, &at)? != Some("delete") {
            let known = found.and_then(|found| base[found].as_object().cloned());
            let mut item = known.unwrap_or_default();
            map(&mut item, fields, &at)?;
            touched.push((found, item.into()));
        }
    }
    let mut untouched = std::mem::take(base)
        .into_iter()
        .enumerate()
        .filter(|(place, _)| !gone.contains(place))
        .peekable();
    for (had, item) in touched {
        while let Some((_, other)) =
            untouched.next_if(|(place, _)| had.is_some_and(|had| *place < had))
        {
            base.push(other);
        }
        base.push(item);
    }
    base.extend(untouched.map(|(_, other)| other));
    Ok(())
}

fn directive<'a>(patch: &'a Map<String, Value>, at: &str) -> Result<Option<&'a str>, Fault> {
    match patch.get(DIRECTIVE).map(|said| (said, said.as_str())) {
        None => Ok(None),
        Some((_, Some(said @ ("delete" | "replace")))) => Ok(Some(said)),
        Some((said, _)) => {
            Err(Fault::input(format!("{at}.{DIRECTIVE}: found {said}, expected delete or replace")))
        }
    }
}

fn plain(patch: &Map<String, Value>, at: &str) -> Result<Map<String, Value>, Fault> {
    let fields = patch.iter().filter(|(name, _)| *name != DIRECTIVE);
    fields
        .map(|(name, value)| {
            Ok((name.clone(), without_directives(value, &format!("{at}.{name}"))?))
        })
        .collect()
}

/// A value that is taken as a whole: a directive in it would have no effect.
fn without_directives(value: &Value, at: &str) -> Result<Value, Fault> {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields.keys().find(|name| name.starts_with('$')) {
                return Err(Fault::input(format!(
                    "{at}: found `{name}` in what is replaced as a whole, expected a field"
                )));
            }
            let fields = fields
                .iter()
                .map(|(name, value)| Ok((name.clone(), without_directives(value, at)?)));
            Ok(Value::Object(fields.collect::<Result<_, Fault>>()?))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| without_directives(item, at));
            Ok(Value::Array(items.collect::<Result<_, Fault>>()?))
        }
        other => Ok(other.clone()),
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout)]
mod oracle;

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use serde_json::json;

    use super::*;

    fn base() -> Value {
        json!({
            "metadata": {"labels": {"run": "x"}},
            "spec": {
                "containers": [{
                    "name": "agent",
                    "image": "hopbench",
                    "args": ["serve", "--port"],
                    "env": [{"name": "A", "value": "1"}],
                    "ports": [{"name": "agent", "containerPort": 7474}],
                    "resources": {"requests": {"cpu": "10m"}},
                    "securityContext": {"capabilities": {"drop": ["ALL"]}},
                }],
                "volumes": [{"name": "token", "secret": {"secretName": "token"}}],
                "tolerations": [{"operator": "Exists"}],
            },
        })
    }

    fn merged(patch: Value) -> Value {
        let mut template = base();
        merge(&mut template, &patch).unwrap();
        template
    }

    fn refused(patch: Value) -> String {
        merge(&mut base(), &patch).unwrap_err().text
    }

    #[test]
    fn maps_are_merged_and_null_takes_away() {
        let template = merged(json!({
            "metadata": {"labels": {"team": "net"}, "annotations": {"a/b": "c"}},
            "spec": {"hostPID": true, "tolerations": null},
        }));
        assert_eq!(
            template["metadata"],
            json!({"labels": {"run": "x", "team": "net"}, "annotations": {"a/b": "c"}})
        );
        assert_eq!(template["spec"]["hostPID"], true);
        assert_eq!(template["spec"].get("tolerations"), None);
        assert_eq!(merged(json!({})), base());
    }

    #[test]
    fn lists_are_merged_by_their_key_where_they_have_one_and_replaced_where_not() {
        let template = merged(json!({"spec": {
            "containers": [
                {
                    "name": "agent",
                    "args": ["serve"],
                    "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "3"}],
                    "ports": [{"containerPort": 7474, "hostPort": 1}],
                    "resources": {"limits": {"cpu": "1"}},
                    "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}},
                },
                {"name": "more", "image": "busybox"},
            ],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "tolerations": [{"key": "k"}],
        }}));
        let spec = &template["spec"];
        let names: Vec<_> = spec["containers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["agent", "more"], "in the order of the patch");
        let agent = &spec["containers"][0];
        assert_eq!(agent["args"], json!(["serve"]), "plain lists are replaced");
        assert_eq!(agent["env"], json!([{"name": "B", "value": "2"}, {"name": "A", "value": "3"}]));
        assert_eq!(
            agent["ports"],
            json!([{"name": "agent", "containerPort": 7474, "hostPort": 1}])
        );
        assert_eq!(agent["resources"], json!({"requests": {"cpu": "10m"}, "limits": {"cpu": "1"}}));
        assert_eq!(
            agent["securityContext"]["capabilities"],
            json!({"drop": ["ALL"], "add": ["NET_ADMIN"]})
        );
        assert_eq!(spec["volumes"].as_array().unwrap().len(), 2);
        assert_eq!(spec["tolerations"], json!([{"key": "k"}]));
    }

    #[test]
    fn directives_delete_and_replace() {
        let spec = |patch: Value| merged(json!({"spec": patch}))["spec"].clone();
        assert_eq!(
            spec(json!({"volumes": [{"name": "token", "$patch": "delete"}]}))["volumes"],
            json!([])
        );
        assert_eq!(
            spec(json!({"volumes": [{"name": "other", "$patch": "delete"}]}))["volumes"],
            base()["spec"]["volumes"]
        );
        let one = json!([{"name": "v", "emptyDir": {}}]);
        let replaced =
            spec(json!({"volumes": [{"$patch": "replace"}, {"name": "v", "emptyDir": {}}]}));
        assert_eq!(replaced["volumes"], one);
        let agent =
            json!({"name": "agent", "securityContext": {"runAsUser": 1, "$patch": "replace"}});
        let replaced = &spec(json!({"containers": [agent]}))["containers"][0];
        assert_eq!(
            (&replaced["securityContext"], &replaced["image"]),
            (&json!({"runAsUser": 1}), &json!("hopbench"))
        );
    }

    #[test]
    fn what_cannot_be_merged_is_told_with_its_place() {
        let told = refused(json!({"containers": []}));
        assert!(
            told.starts_with("patch: found `containers`, expected `metadata:` or `spec:`"),
            "{told}"
        );
        let told = refused(json!({"spec": {"containers": [{"image": "x"}]}}));
        assert_eq!(
            told,
            "patch.spec.containers[0]: found no `name`, by which items of this list are known"
        );
        let told = refused(json!({"spec": {"volumes": ["v"]}}));
        assert_eq!(told, "patch.spec.volumes[0]: found \"v\", expected a mapping with `name`");
        let told = refused(json!({"spec": {"$patch": "drop"}}));
        assert_eq!(told, "patch.spec.$patch: found \"drop\", expected delete or replace");
        let told = refused(json!({"spec": {"$setElementOrder/containers": []}}));
        assert!(told.contains("found `$setElementOrder/containers`"), "{told}");
        let told = refused(json!({"spec": {"tolerations": [{"$patch": "delete"}]}}));
        assert!(told.contains("in what is replaced as a whole"), "{told}");
    }
}
