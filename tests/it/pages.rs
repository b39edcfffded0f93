//! The pages for users against the program.

use std::{fs, path::Path};

/// The literal texts of an expression: what stands between quotes, without what is filled in.
fn pieces(call: &str) -> Option<Vec<String>> {
    let literal = call.split_once('"')?.1;
    let mut text = String::new();
    let mut characters = literal.chars();
    loop {
        match characters.next()? {
            '"' => break,
            '\\' => text.push(characters.next()?),
            other => text.push(other),
        }
    }
    let fixed = text.split('{').enumerate().map(|(i, part)| match (i, part.split_once('}')) {
        (0, _) | (_, None) => part.to_owned(),
        (_, Some((_, after))) => after.to_owned(),
    });
    Some(fixed.map(|part| part.replace('`', "").trim().to_owned()).filter(|part| 3 < part.len()).collect())
}

/// The fixed parts of the messages that stop ralph or warn.
fn messages(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            messages(&path, into);
        } else if path.extension().is_some_and(|it| it == "rs")
            && !path.ends_with("scripted.rs")
            && !path.ends_with("tests.rs")
        {
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for call in ["Error::new(", "ledger.warn("] {
                // An argument that is no text, such as a variable, is one that was made elsewhere.
                let calls = code.split(call).skip(1);
                let calls = calls.filter(|rest| rest.trim_start().starts_with(['"', 'f']));
                into.extend(calls.filter_map(pieces).flatten());
            }
        }
    }
}

#[test]
fn every_message_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/troubleshooting.md")).expect("the page").replace('`', "");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut all = Vec::new();
    messages(&root.join("crates"), &mut all);
    assert!(30 < all.len(), "{all:?}");
    let unexplained: Vec<&String> = all.iter().filter(|piece| !page.contains(piece.as_str())).collect();
    assert!(unexplained.is_empty(), "docs/troubleshooting.md does not explain: {unexplained:#?}");
}

#[test]
fn pieces_of_messages_are_found() {
    assert_eq!(pieces("\"there is no prompt\")"), Some(vec!["there is no prompt".to_owned()]));
    let call = "format!(\"run {} is `not` running\", x))";
    assert_eq!(pieces(call), Some(vec!["is not running".to_owned()]));
}
