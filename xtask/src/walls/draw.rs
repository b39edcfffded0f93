//! The drawing of the walls in ARCHITECTURE.md.

use std::{collections::BTreeMap, fmt::Write};

use super::{Crate, graph::Graph};

/// A line is broken before it is longer.
const MAX_WIDTH: usize = 110;

/// The crates as a picture, and the modules of each as a list from the bottom up.
pub(super) fn page(crates: &[Crate], between: &Graph) -> String {
    let mut page = String::from("```mermaid\ngraph TD\n");
    for from in between.nodes() {
        for to in between.reduced(from) {
            let _ = writeln!(page, "    {from} --> {to}");
        }
    }
    page.push_str("```\n\n```text\n");
    let mut order: Vec<&Crate> = crates.iter().collect();
    order.sort_by_key(|it| between.height(&it.name));
    let drawn: Vec<String> = order.into_iter().map(|it| modules(&it.name, &it.modules)).collect();
    page.push_str(&drawn.join("\n"));
    let all: usize = crates.iter().map(|it| it.modules.nodes().count()).sum();
    let _ = write!(page, "```\n\n{all} modules in {} crates, 0 of them in a circle.\n", crates.len());
    page
}

/// The modules of a crate by how much they stand on. What follows from the rest is left out.
fn modules(name: &str, graph: &Graph) -> String {
    let mut floors: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for node in graph.nodes() {
        let below = graph.reduced(node);
        let text = if below.is_empty() { node.to_owned() } else { format!("{node} → {}", below.join(" ")) };
        floors.entry(graph.height(node)).or_default().push(text);
    }
    let mut drawn = format!("{name}\n");
    for (height, nodes) in floors {
        let mut line = format!("  {height:>2}  ");
        let indent = line.chars().count();
        for (number, node) in nodes.iter().enumerate() {
            let mark = if number == 0 { "" } else { " · " };
            if MAX_WIDTH < line.chars().count() + mark.chars().count() + node.chars().count() {
                let _ = writeln!(drawn, "{line}");
                line = " ".repeat(indent);
            } else {
                line.push_str(mark);
            }
            line.push_str(node);
        }
        let _ = writeln!(drawn, "{line}");
    }
    drawn
}
