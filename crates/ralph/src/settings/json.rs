//! Reads the text of a settings file, and says where it is not JSON.

use ralph_core::located::{
    node::{Content, Member, Node, member_path},
    report::Report,
    text::{self, Lines, NotJson, line_and_column},
};

/// A file that is JSON.
pub(super) struct Parsed {
    pub(super) node: Node,
    pub(super) lines: Lines,
    /// What is odd in it.
    pub(super) report: Report,
}

/// Where a file is no JSON, as line and column, and why.
pub(super) struct Refused {
    pub(super) at: (usize, usize),
    pub(super) why: String,
}

/// Reads the bytes of a file; `source` is the number that its positions have.
pub(super) fn parse(bytes: &[u8], source: usize) -> Result<Parsed, Refused> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        Refused { at: line_and_column(&good, good.len()), why: "not valid UTF-8".to_owned() }
    })?;
    let mut node = text::parse(text, source).map_err(|error| refused(text, &error))?;
    let mut report = Report::default();
    keep_last(&mut node, "", &mut report);
    Ok(Parsed { node, lines: Lines::of(text), report })
}

/// Takes out members whose key comes again, and warns of them.
fn keep_last(node: &mut Node, path: &str, report: &mut Report) {
    for member in node.repeated() {
        let path = member_path(path, &member.key);
        report.warning(member.position, format!("duplicate key {path:?}; the last one counts"));
    }
    match &mut node.content {
        Content::Object(members) => {
            for Member { key, value, .. } in members.iter_mut() {
                keep_last(value, &member_path(path, key), report);
            }
            let mut seen = std::collections::BTreeSet::new();
            let mut kept: Vec<Member> = std::mem::take(members)
                .into_iter()
                .rev()
                .filter(|member| seen.insert(member.key.clone()))
                .collect();
            kept.reverse();
            *members = kept;
        }
        Content::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                keep_last(item, &format!("{path}[{i}]"), report);
            }
        }
        Content::Scalar(_) => {}
    }
}

/// Says why a text is not JSON, and names the two habits from other formats that are most common.
fn refused(text: &str, error: &NotJson) -> Refused {
    let line_start = match error.line {
        1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    let offset = text.floor_char_boundary(line_start + error.column.saturating_sub(1));
    let (offset, reason) = if text[offset..].starts_with(['/', '#']) {
        (offset, "comments are not allowed")
    } else if error.reason == "trailing comma" {
        (text[..offset].rfind(',').unwrap_or(offset), "a comma after the last entry is not allowed")
    } else {
        (offset, error.reason.as_str())
    };
    Refused { at: line_and_column(text, offset), why: format!("not valid JSON: {reason}") }
}
