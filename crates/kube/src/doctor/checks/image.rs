//! The check for the agents' image on the nodes.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;
use crate::image::Reference;

pub(super) const CHECK: Check = Check { name: "image", needed_for: "agents", judge };

/// A kubelet tells of no more images.
const MOST_IMAGES: usize = 50;

fn judge(inventory: &Inventory) -> Finding {
    let image = &inventory.spec.image;
    let full = Reference::parse("image", image)
        .map_or_else(|_| image.clone(), |reference| reference.full());
    let mut without = Vec::new();
    let mut unknown = Vec::new();
    for (node, images) in
        inventory.nodes.iter().zip(&inventory.images).filter(|(node, _)| node.closed.is_none())
    {
        if images.iter().any(|name| *name == full || name == image) {
            continue;
        }
        if images.len() >= MOST_IMAGES { &mut unknown } else { &mut without }
            .push(node.name.as_str());
    }
    let is_pulled = inventory.spec.pull_policy != "Never";
    let bring = "`hopbench kube image` writes it; `ctr -n k8s.io images import`, `kind load \
                 image-archive` or a registry brings it there";
    match (without.is_empty(), unknown.is_empty()) {
        (true, true) => Finding::works(format!("{image} is on all nodes")),
        (true, false) => {
            Finding::works(format!("{image}; whether it is on {} is not known", unknown.join(", ")))
        }
        (false, _) if is_pulled => {
            let found = format!("{image} is not on {}: it will be pulled", without.join(", "));
            Finding::limited(found, format!("if that cannot be: {bring}"))
        }
        (false, _) => Finding::missing(
            format!("{image} is not on {}, and is not pulled", without.join(", ")),
            bring,
        ),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn an_image_that_is_not_there_has_to_be_pulled_or_brought() {
        let mut inventory = Inventory::fine();
        inventory.spec.image = crate::image::default_tag();
        inventory.spec.pull_policy = "IfNotPresent".to_owned();
        assert_eq!(judge(&inventory).state, State::Works, "{:?}", judge(&inventory));
        inventory.images[1] = vec!["docker.io/library/hopbench:other".to_owned()];
        let pulled = judge(&inventory);
        assert!(
            pulled.state == State::Limited
                && pulled.found.contains("is not on n2: it will be pulled")
        );
        inventory.spec.pull_policy = "Never".to_owned();
        assert_eq!(judge(&inventory).state, State::Missing);
        inventory.images[1] = vec![String::new(); MOST_IMAGES];
        let unknown = judge(&inventory);
        assert!(
            unknown.state == State::Works
                && unknown.found.contains("whether it is on n2 is not known")
        );
    }
}
