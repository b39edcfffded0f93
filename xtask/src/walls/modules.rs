//! Which of a crate's modules depends on which, at its top: `engine/state.rs` belongs to `engine`. The root is a module
//! too, under the crate's name; what it only passes on belongs to where it comes from.

use std::{collections::BTreeMap, path::Path as FilePath};

use anyhow::Result;

use super::{
    graph::Graph,
    paths::{Named, Path, named},
};

/// The files of a crate, by the module that each is: nothing for the root.
pub(super) type Files = BTreeMap<Vec<String>, Named>;

/// Reads all source files below a folder. The program itself, which only calls the library, is none of it.
pub(super) fn read(folder: &FilePath) -> Result<Files> {
    let mut files = Files::new();
    add(folder, &mut Vec::new(), &mut files)?;
    Ok(files)
}

fn add(folder: &FilePath, module: &mut Vec<String>, files: &mut Files) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        module.push(name);
        if path.is_dir() {
            add(&path, module, files)?;
        } else if path.extension().is_some_and(|it| it == "rs") && *module != ["main"] {
            let key = if *module == ["lib"] { Vec::new() } else { module.clone() };
            files.insert(key, named(&fs_err::read_to_string(&path)?));
        }
        module.pop();
    }
    Ok(())
}

/// Draws the modules of a crate.
pub(super) fn graph(root: &str, files: &Files) -> Graph {
    let mut graph = Graph::default();
    let nothing = Named::default();
    let exported = exports(files.get(&Vec::new()).unwrap_or(&nothing));
    let is_for_tests = |module: &[String]| {
        (1..=module.len()).any(|end| {
            let (above, name) = (&module[..end - 1], &module[end - 1]);
            files.get(above).is_some_and(|file| file.for_tests.contains(name))
        })
    };
    let shipped: Vec<_> = files.iter().filter(|(module, _)| !is_for_tests(module)).collect();
    let is_module =
        |name: &str| shipped.iter().any(|(module, _)| module.first().is_some_and(|top| top == name));
    for (module, file) in &shipped {
        let from = module.first().map_or(root, String::as_str);
        graph.node(from);
        for path in &file.paths {
            let Some(parts) = absolute(module, path, &is_module) else { continue };
            let Some(first) = parts.first() else { continue };
            let to = match exported.get(first) {
                _ if is_module(first) => first,
                Some(origin) => origin,
                None => root,
            };
            if to != from {
                graph.edge(from, to, &format!("{} names {}", module.join("::"), path.parts.join("::")));
            }
        }
    }
    graph
}

/// What the root passes on, with the module that it comes from.
fn exports(root: &Named) -> BTreeMap<String, String> {
    let exported = root.paths.iter().filter(|path| path.is_exported && 1 < path.parts.len());
    let inside = exported.map(|path| match &path.parts[..] {
        [keyword, rest @ ..] if keyword == "crate" || keyword == "self" => (path, rest),
        parts => (path, parts),
    });
    let named = inside.filter_map(|(path, parts)| {
        let name = path.alias.as_ref().or(parts.last())?;
        Some((name.clone(), parts.first()?.clone()))
    });
    named.collect()
}

/// A path from the crate's root on; nothing if it leads elsewhere or is relative to a module below.
fn absolute(module: &[String], path: &Path, is_module: &dyn Fn(&str) -> bool) -> Option<Vec<String>> {
    let parts = &path.parts;
    match parts.first()?.as_str() {
        "crate" => Some(parts[1..].to_vec()),
        "super" => {
            let up = parts.iter().take_while(|part| *part == "super").count();
            let above = module.len().checked_sub(up.checked_sub(path.depth)?)?;
            // Inside of the same file, or of the same module.
            (up != path.depth).then(|| [&module[..above], &parts[up..]].concat())
        }
        "self" if module.is_empty() && path.depth == 0 => Some(parts[1..].to_vec()),
        first if module.is_empty() && path.depth == 0 && is_module(first) => Some(parts.clone()),
        _ => None,
    }
}
