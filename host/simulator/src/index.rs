//! What the loops remember of a member's objects: who controls what, and how full the nodes are.

use crate::kinds::{Key, Kind};
use crate::plan::pod::Request;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A node's room.
#[derive(Clone, Debug, Default)]
struct Room {
    capacity: Request,
    pods: i64,
    used: Request,
    placed: i64,
}

/// The index of one member.
#[derive(Debug, Default)]
pub(crate) struct Index {
    children: HashMap<String, BTreeSet<Key>>,
    parents: HashMap<Key, String>,
    owners: HashMap<String, Key>,
    nodes: BTreeMap<String, Room>,
    placed: HashMap<Key, (String, Request)>,
    waiting: BTreeSet<Key>,
}

impl Index {
    /// Notes a workload's uid.
    pub(crate) fn owner(&mut self, uid: &str, key: &Key) {
        self.owners.insert(uid.to_owned(), key.clone());
    }

    /// Forgets one.
    pub(crate) fn owner_gone(&mut self, uid: &str) {
        self.owners.remove(uid);
    }

    /// The workload of a uid.
    pub(crate) fn find_owner(&self, uid: &str) -> Option<Key> {
        self.owners.get(uid).cloned()
    }

    /// Notes who controls an object.
    pub(crate) fn child(&mut self, key: &Key, owner: &str) {
        if self.parents.get(key).is_some_and(|held| held == owner) {
            return;
        }
        self.child_gone(key);
        self.parents.insert(key.clone(), owner.to_owned());
        self.children.entry(owner.to_owned()).or_default().insert(key.clone());
    }

    /// Forgets an object; gives the uid of what controlled it.
    pub(crate) fn child_gone(&mut self, key: &Key) -> Option<String> {
        let owner = self.parents.remove(key)?;
        if let Some(siblings) = self.children.get_mut(&owner) {
            siblings.remove(key);
            if siblings.is_empty() {
                self.children.remove(&owner);
            }
        }
        Some(owner)
    }

    /// What a workload controls, of one kind.
    pub(crate) fn children(&self, owner: &str, kind: Kind) -> Vec<Key> {
        self.children.get(owner).into_iter().flatten().filter(|key| key.kind == kind).cloned().collect()
    }

    /// Notes a node and its room.
    pub(crate) fn node(&mut self, name: &str, capacity: Request, pods: i64) {
        let room = self.nodes.entry(name.to_owned()).or_default();
        (room.capacity, room.pods) = (capacity, pods);
    }

    /// Forgets a node.
    pub(crate) fn node_gone(&mut self, name: &str) {
        self.nodes.remove(name);
    }

    /// All nodes.
    pub(crate) fn nodes(&self) -> Vec<String> {
        self.nodes.keys().cloned().collect()
    }

    /// Notes that a pod takes room of a node.
    pub(crate) fn place(&mut self, pod: &Key, node: &str, request: Request) {
        self.free(pod);
        self.waiting.remove(pod);
        if let Some(room) = self.nodes.get_mut(node) {
            room.used.cpu += request.cpu;
            room.used.memory += request.memory;
            room.placed += 1;
        }
        self.placed.insert(pod.clone(), (node.to_owned(), request));
    }

    /// Gives a pod's room back.
    pub(crate) fn free(&mut self, pod: &Key) -> bool {
        let Some((node, request)) = self.placed.remove(pod) else { return false };
        if let Some(room) = self.nodes.get_mut(&node) {
            room.used.cpu -= request.cpu;
            room.used.memory -= request.memory;
            room.placed -= 1;
        }
        true
    }

    /// Takes room for a pod on the emptiest node that has it.
    pub(crate) fn reserve(&mut self, pod: &Key, request: Request) -> Option<String> {
        let fits = |room: &Room| {
            room.placed < room.pods
                && room.used.cpu + request.cpu <= room.capacity.cpu
                && room.used.memory + request.memory <= room.capacity.memory
        };
        let best = self.nodes.iter().filter(|(_, room)| fits(room)).min_by_key(|(_, room)| room.placed);
        let node = best.map(|(name, _)| name.clone());
        match &node {
            Some(node) => self.place(pod, node, request),
            None => {
                self.waiting.insert(pod.clone());
            }
        }
        node
    }

    /// Pods for which there was no room; they are to try again.
    pub(crate) fn take_waiting(&mut self) -> Vec<Key> {
        std::mem::take(&mut self.waiting).into_iter().collect()
    }

    /// A pod no longer waits.
    pub(crate) fn wait_no_more(&mut self, pod: &Key) {
        self.waiting.remove(pod);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_and_given_back() {
        let mut index = Index::default();
        index.node("n1", Request { cpu: 1000, memory: 100 }, 10);
        index.node("n2", Request { cpu: 1000, memory: 100 }, 10);
        let pod = |name: &str| Key::new(Kind::Pod, "x", name);
        let half = Request { cpu: 600, memory: 10 };
        assert_eq!(index.reserve(&pod("a"), half).as_deref(), Some("n1"));
        assert_eq!(index.reserve(&pod("b"), half).as_deref(), Some("n2"));
        assert_eq!(index.reserve(&pod("c"), half), None);
        assert!(index.free(&pod("a")) && !index.free(&pod("a")));
        assert_eq!(index.take_waiting(), [pod("c")]);
        assert_eq!(index.reserve(&pod("c"), half).as_deref(), Some("n1"));
    }
}
