//! Bindings by affinity and anti-affinity group (gate `WorkloadAffinity`), each with the newest clusters known: those that
//! were decided a moment ago count before anybody else can see them.

use std::collections::{BTreeSet, HashMap};

use crate::binding::Peers;
use crate::queue::Key;
use crate::request::{Request, Target};
use crate::table::ClusterTable;

/// A group: namespace, whether it keeps apart, and the value that its bindings share.
type Group = (String, bool, String);

/// All bindings that are in a group.
#[derive(Debug, Default)]
pub struct Groups {
    members: HashMap<Key, Member>,
    by_group: HashMap<Group, BTreeSet<Key>>,
}

#[derive(Debug)]
struct Member {
    /// Name, namespace, groups, and the newest clusters.
    request: Request,
    /// Clusters as last shown, while others were decided.
    shown: Option<Vec<Target>>,
    /// The version of the own write; until it is shown, the clusters are taken from the decision. `None` while the write
    /// is on its way.
    written: Option<u64>,
}

impl Groups {
    /// A binding is there in this version. Gives whether its clusters changed for its peers.
    pub fn put(&mut self, key: &Key, request: &Request, version: u64) -> bool {
        let groups = groups_of(request);
        let before = self.members.get(key).map(|member| groups_of(&member.request));
        if before.as_ref() != Some(&groups) {
            self.remove(key);
            for group in &groups {
                self.by_group.entry(group.clone()).or_default().insert(key.clone());
            }
        }
        if groups.is_empty() {
            return before.is_some_and(|groups| !groups.is_empty());
        }
        if let Some(member) = self.members.get_mut(key) {
            let awaited = member.shown.is_some() && member.written.is_none_or(|written| version < written);
            if awaited {
                member.shown = Some(request.targets.clone());
                return false;
            }
            member.shown = None;
            if member.request.targets == request.targets {
                return false;
            }
            member.request.targets.clone_from(&request.targets);
            return true;
        }
        let request = Request {
            namespace: request.namespace.clone(),
            name: request.name.clone(),
            targets: request.targets.clone(),
            affinity_group: request.affinity_group.clone(),
            anti_affinity_group: request.anti_affinity_group.clone(),
            ..Request::default()
        };
        self.members.insert(key.clone(), Member { request, shown: None, written: None });
        true
    }

    /// A binding was decided to go there; the write is on its way.
    pub fn assume(&mut self, key: &str, targets: &[Target]) {
        if let Some(member) = self.members.get_mut(key) {
            let before = std::mem::replace(&mut member.request.targets, targets.to_vec());
            member.shown.get_or_insert(before);
            member.written = None;
        }
    }

    /// The write was accepted, and made this version; `seen` is the newest one that was shown.
    pub fn written(&mut self, key: &str, version: u64, seen: u64) {
        if let Some(member) = self.members.get_mut(key) {
            if seen >= version {
                member.shown = None;
            } else {
                member.written = Some(version);
            }
        }
    }

    /// The write was refused: the clusters are what was shown last.
    pub fn refused(&mut self, key: &str) {
        if let Some(member) = self.members.get_mut(key)
            && let Some(shown) = member.shown.take()
        {
            member.request.targets = shown;
        }
    }

    /// A binding is gone. Gives those that shared a group with it.
    pub fn remove(&mut self, key: &str) -> Vec<Key> {
        let peers = self.sharing(key);
        if let Some(member) = self.members.remove(key) {
            for group in groups_of(&member.request) {
                if let Some(keys) = self.by_group.get_mut(&group) {
                    keys.remove(key);
                    if keys.is_empty() {
                        self.by_group.remove(&group);
                    }
                }
            }
        }
        peers
    }

    /// Those that share a group with a binding.
    pub fn sharing(&self, key: &str) -> Vec<Key> {
        let Some(member) = self.members.get(key) else { return Vec::new() };
        let groups = groups_of(&member.request);
        let keys: BTreeSet<&Key> =
            groups.iter().filter_map(|group| self.by_group.get(group)).flatten().collect();
        keys.into_iter().filter(|other| &***other != key).cloned().collect()
    }

    /// Where a binding's groups are.
    pub fn peers(&self, request: &Request, table: &ClusterTable) -> Peers {
        let groups = groups_of(request);
        let keys: BTreeSet<&Key> =
            groups.iter().filter_map(|group| self.by_group.get(group)).flatten().collect();
        let others = keys.into_iter().filter_map(|key| Some(&self.members.get(key)?.request));
        Peers::among(request, others, table)
    }
}

/// Cluster-scoped bindings are in none.
fn groups_of(request: &Request) -> Vec<Group> {
    if request.namespace.is_empty() {
        return Vec::new();
    }
    [(false, &request.affinity_group), (true, &request.anti_affinity_group)]
        .into_iter()
        .filter(|(_, group)| !group.is_empty())
        .map(|(apart, group)| (request.namespace.clone(), apart, group.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(name: &str, clusters: &[&str]) -> Request {
        Request {
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            affinity_group: "app=a".to_owned(),
            targets: targets(clusters),
            ..Request::default()
        }
    }

    fn targets(clusters: &[&str]) -> Vec<Target> {
        clusters.iter().map(|name| Target { name: (*name).to_owned(), ..Target::default() }).collect()
    }

    #[test]
    fn a_decision_counts_until_it_is_shown() {
        let mut table = ClusterTable::new();
        for name in ["m1", "m2"] {
            table.upsert(&json!({"metadata": {"name": name}}));
        }
        let mut groups = Groups::default();
        let (a, b): (Key, Key) = ("shop/a".into(), "shop/b".into());
        let seen = |groups: &Groups| groups.peers(&request("b", &[]), &table).affinity;
        assert!(groups.put(&a, &request("a", &["m1"]), 1) && groups.put(&b, &request("b", &[]), 1));
        assert_eq!(seen(&groups), [vec![0]]);
        groups.assume("shop/a", &targets(&["m2"]));
        assert_eq!(seen(&groups), [vec![1]], "before it is written");
        assert!(!groups.put(&a, &request("a", &["m1"]), 2), "an older version");
        groups.written("shop/a", 3, 2);
        assert!(!groups.put(&a, &request("a", &["m1"]), 2));
        assert_eq!(seen(&groups), [vec![1]]);
        assert!(!groups.put(&a, &request("a", &["m2"]), 3), "as decided");
        assert!(groups.put(&a, &request("a", &["m1"]), 4), "somebody else's change");
        groups.assume("shop/a", &targets(&["m2"]));
        groups.refused("shop/a");
        assert_eq!(seen(&groups), [vec![0]]);
        assert_eq!(groups.sharing("shop/b"), std::slice::from_ref(&a));
        assert_eq!(groups.remove("shop/a"), [b]);
        assert!(seen(&groups).is_empty());
        groups.remove("shop/b");
        assert!(groups.by_group.is_empty() && groups.members.is_empty());
    }
}
