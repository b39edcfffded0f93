//! What ralph is made of, as `CycloneDX` writes it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::json;

use crate::cargo::{cargo, root};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Crate {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// Nothing for what becomes part of the program.
    kind: Option<String>,
}

/// The document.
pub(super) fn make(version: &str, triple: &str) -> Result<Vec<u8>> {
    let args = ["metadata", "--locked", "--format-version=1", "--filter-platform", triple];
    let output = cargo().args(args).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let sums = checksums(&fs_err::read_to_string(root().join("Cargo.lock"))?);
    let used = used(&metadata)?;
    let mut crates: Vec<&Crate> =
        metadata.packages.iter().filter(|it| used.contains(it.id.as_str())).collect();
    crates.sort_by_key(|it| (&it.name, &it.version));
    let components: Vec<_> = crates
        .iter()
        .filter(|it| it.name != "ralph")
        .map(|it| {
            let purl = format!("pkg:cargo/{}@{}", it.name, it.version);
            let mut component = json!({
                "type": "library", "bom-ref": purl, "name": it.name, "version": it.version, "purl": purl,
                "licenses": [{"expression": it.license.as_deref().unwrap_or("NOASSERTION").replace('/', " OR ")}],
            });
            let sum = it.source.as_ref().and_then(|_| sums.get(&(it.name.clone(), it.version.clone())));
            if let Some(sum) = sum {
                component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
            }
            component
        })
        .collect();
    let document = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": format!("pkg:cargo/ralph@{version}"), "name": "ralph", "version": version,
            "properties": [{"name": "target", "value": triple}],
        }},
        "components": components,
    });
    Ok(format!("{document:#}\n").into_bytes())
}

/// What becomes part of the program.
fn used(metadata: &Metadata) -> Result<BTreeSet<&str>> {
    let nodes: BTreeMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let ralph = metadata.packages.iter().find(|it| it.name == "ralph").context("there is no ralph")?;
    let mut used = BTreeSet::new();
    let mut next = vec![ralph.id.as_str()];
    while let Some(id) = next.pop() {
        if !used.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).map_or(&[][..], |node| &node.deps);
        let is_part = |it: &&Dependency| it.dep_kinds.iter().any(|kind| kind.kind.is_none());
        next.extend(dependencies.iter().filter(is_part).map(|it| it.pkg.as_str()));
    }
    Ok(used)
}

/// The digests of the lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
            line.and_then(|value| value.strip_suffix('"')).map(str::to_owned)
        };
        if let (Some(name), Some(version), Some(sum)) = (field("name"), field("version"), field("checksum")) {
            sums.insert((name, version), sum);
        }
    }
    sums
}
