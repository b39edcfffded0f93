//! Which tasks wait for which, and whether they could wait for ever.

use std::collections::BTreeMap;

/// What each task waits for.
pub type Graph = BTreeMap<String, Vec<String>>;

/// The way from a task back to itself, if there is one: it would wait for its own end.
pub fn cycle(graph: &Graph, task: &str) -> Option<Vec<String>> {
    let mut path = vec![task.to_owned()];
    let mut seen = Vec::new();
    leads_back(graph, task, &mut path, &mut seen).then_some(path)
}

/// Walks on from the end of `path`; leaves the way there when it leads back to `task`.
fn leads_back(graph: &Graph, task: &str, path: &mut Vec<String>, seen: &mut Vec<String>) -> bool {
    let here = path.last().cloned().unwrap_or_default();
    for next in graph.get(&here).into_iter().flatten() {
        if next == task {
            path.push(next.clone());
            return true;
        }
        if seen.contains(next) {
            continue;
        }
        seen.push(next.clone());
        path.push(next.clone());
        if leads_back(graph, task, path, seen) {
            return true;
        }
        path.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().push((*to).to_owned());
        }
        graph
    }

    #[test]
    fn ways_back_are_found() {
        #[track_caller]
        fn check(edges: &[(&str, &str)], expected: Option<&[&str]>) {
            let found = cycle(&graph(edges), "a");
            assert_eq!(
                found.as_deref().map(|path| path.iter().map(String::as_str).collect()),
                expected.map(<[_]>::to_vec)
            );
        }
        check(&[], None);
        check(&[("a", "a")], Some(&["a", "a"]));
        check(&[("a", "b"), ("b", "a")], Some(&["a", "b", "a"]));
        check(&[("a", "b"), ("a", "c"), ("c", "d"), ("d", "a")], Some(&["a", "c", "d", "a"]));
        // Two ways to the same task are no way back, nor is a circle that the task is not on.
        check(&[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")], None);
        check(&[("a", "b"), ("b", "c"), ("c", "b")], None);
    }

    proptest! {
        #[test]
        fn a_way_back_is_one(edges in prop::collection::vec((0_u8..6, 0_u8..6), 0..16)) {
            let mut graph = Graph::new();
            for (from, to) in &edges {
                graph.entry(from.to_string()).or_default().push(to.to_string());
            }
            // Oracle: what can be reached, by steps until nothing is added.
            let mut reached: Vec<String> = graph.get("0").cloned().unwrap_or_default();
            for _ in 0..6 {
                let more: Vec<String> = reached.iter().filter_map(|task| graph.get(task)).flatten().cloned().collect();
                reached.extend(more);
                reached.sort();
                reached.dedup();
            }
            let found = cycle(&graph, "0");
            prop_assert_eq!(found.is_some(), reached.contains(&"0".to_owned()));
            if let Some(path) = found {
                prop_assert_eq!((path.first(), path.last()), (Some(&"0".to_owned()), Some(&"0".to_owned())));
                for step in path.windows(2) {
                    prop_assert!(graph[&step[0]].contains(&step[1]), "{path:?} in {graph:?}");
                }
            }
        }
    }
}
