//! Whether two items may change the same files.

use super::plan::FleetItem;

/// Whether two items say that they may change the same file. An item that says nothing overlaps with none.
pub(super) fn overlap(one: &FleetItem, other: &FleetItem) -> bool {
    one.touches.iter().any(|one| other.touches.iter().any(|other| may_meet(one, other)))
}

/// Whether a file can be meant by both patterns. Where that takes more than the fixed parts to tell, it is taken for yes.
fn may_meet(one: &str, other: &str) -> bool {
    let (one, other) = (fixed(one), fixed(other));
    let shared = one.len().min(other.len());
    one[..shared] == other[..shared]
}

/// The folders and names at the beginning of a pattern that mean themselves alone. A name without a slash is meant at any
/// depth, so nothing of it is fixed.
fn fixed(pattern: &str) -> Vec<&str> {
    let pattern = pattern.trim_start_matches("./");
    if !pattern.trim_end_matches('/').contains('/') && !pattern.ends_with('/') {
        return Vec::new();
    }
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    parts.take_while(|part| !part.contains(['*', '?', '['])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_meet_where_a_file_can_be_meant_by_both() {
        for (one, other, expected) in [
            ("src/a/**", "src/b/**", false),
            ("src/a/**", "src/a/x.rs", true),
            ("src/**", "src/a/x.rs", true),
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src/*.rs", "src/b.rs", true),
            ("./docs/x.md", "docs/y.md", false),
            ("*.md", "src/a.rs", true),
            ("README.md", "src/a.rs", true),
            ("src/", "docs/", false),
        ] {
            assert_eq!(may_meet(one, other), expected, "{one} {other}");
            assert_eq!(may_meet(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn an_item_that_says_nothing_overlaps_with_none() {
        let item = |touches: &[&str]| FleetItem {
            touches: touches.iter().map(|it| (*it).to_owned()).collect(),
            ..FleetItem::default()
        };
        assert!(!overlap(&item(&[]), &item(&["src/**"])));
        assert!(!overlap(&item(&["docs/**"]), &item(&["src/**"])));
        assert!(overlap(&item(&["docs/**", "src/x/**"]), &item(&["src/**"])));
    }
}
