use super::seen::Seen;
use super::{Check, Finding};
use crate::image::Reference;

pub(super) const CHECK: Check = Check { name: "image", needed_for: "agents", judge };

/// A kubelet tells of no more images.
const MOST_IMAGES: usize = 50;

fn judge(seen: &Seen) -> Finding {
    let image = &seen.spec.image;
    let full = Reference::parse(image).map_or_else(|_| image.clone(), |reference| reference.full());
    let mut without = Vec::new();
    let mut unknown = Vec::new();
    for (node, images) in seen.nodes.iter().zip(&seen.images).filter(|(node, _)| node.closed.is_none()) {
        if images.iter().any(|name| *name == full || name == image) {
            continue;
        }
        if images.len() >= MOST_IMAGES { &mut unknown } else { &mut without }.push(node.name.as_str());
    }
    let is_pulled = seen.spec.pull_policy != "Never";
    let bring = "`hopbench kube image` writes it; `ctr -n k8s.io images import`, `kind load image-archive` or a registry \
                 brings it there";
    match (without.is_empty(), unknown.is_empty()) {
        (true, true) => Finding::works(format!("{image} is on all nodes")),
        (true, false) => Finding::works(format!("{image}; whether it is on {} is not known", unknown.join(", "))),
        (false, _) if is_pulled => {
            let found = format!("{image} is not on {}: it will be pulled", without.join(", "));
            Finding::limited(found, format!("if that cannot be: {bring}"))
        }
        (false, _) => Finding::missing(format!("{image} is not on {}, and is not pulled", without.join(", ")), bring),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn an_image_that_is_not_there_has_to_be_pulled_or_brought() {
        let mut seen = Seen::fine();
        seen.spec.image = crate::image::default_tag();
        seen.spec.pull_policy = "IfNotPresent".to_owned();
        assert_eq!(judge(&seen).state, State::Works, "{:?}", judge(&seen));
        seen.images[1] = vec!["docker.io/library/hopbench:other".to_owned()];
        let pulled = judge(&seen);
        assert!(pulled.state == State::Limited && pulled.found.contains("is not on n2: it will be pulled"));
        seen.spec.pull_policy = "Never".to_owned();
        assert_eq!(judge(&seen).state, State::Missing);
        seen.images[1] = vec![String::new(); MOST_IMAGES];
        let unknown = judge(&seen);
        assert!(unknown.state == State::Works && unknown.found.contains("whether it is on n2 is not known"));
    }
}
