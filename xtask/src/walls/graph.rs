//! What depends on what, and whether anything depends on itself.

use std::collections::{BTreeMap, BTreeSet};

/// Nodes with edges; every edge knows where it comes from.
#[derive(Debug, Default)]
pub(super) struct Graph {
    edges: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Graph {
    /// Adds a node, which may stay alone.
    pub(super) fn node(&mut self, name: &str) {
        self.edges.entry(name.to_owned()).or_default();
    }

    /// Adds an edge, and why it is there.
    pub(super) fn edge(&mut self, from: &str, to: &str, why: &str) {
        self.node(to);
        let edges = self.edges.entry(from.to_owned()).or_default();
        edges.entry(to.to_owned()).or_default().insert(why.to_owned());
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.edges.keys().map(String::as_str)
    }

    /// What a node depends on directly.
    pub(super) fn of<'a>(&'a self, node: &str) -> impl Iterator<Item = &'a str> {
        self.edges.get(node).into_iter().flat_map(BTreeMap::keys).map(String::as_str)
    }

    /// What a node depends on directly and by no other way.
    pub(super) fn reduced(&self, node: &str) -> Vec<&str> {
        let is_indirect = |to: &str| self.of(node).any(|other| other != to && self.reach(other).contains(to));
        self.of(node).filter(|to| !is_indirect(to)).collect()
    }

    /// Everything that a node depends on, by whatever way.
    pub(super) fn reach(&self, node: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&str> = self.of(node).collect();
        while let Some(node) = next.pop() {
            if reached.insert(node) {
                next.extend(self.of(node));
            }
        }
        reached
    }

    /// How many steps a node is above those that depend on nothing. Only where nothing goes in circles.
    pub(super) fn height(&self, node: &str) -> usize {
        self.of(node).map(|to| 1 + self.height(to)).max().unwrap_or(0)
    }

    /// Every edge on a circle, with where it comes from.
    pub(super) fn circles(&self) -> Vec<String> {
        let mut circles = Vec::new();
        for (from, edges) in &self.edges {
            for (to, why) in edges {
                if to == from || self.reach(to).contains(from.as_str()) {
                    let why: Vec<&str> = why.iter().map(String::as_str).collect();
                    circles.push(format!("{from} -> {to}: {}", why.join(", ")));
                }
            }
        }
        circles
    }
}
