//! Changes single values in the text of a task list and leaves every other byte as it is.

use crate::located::{node::Node, text::parse};

/// A key of the array of stories.
pub(super) const STORIES: &str = "userStories";

/// Adds a story as the last one.
pub fn append(text: &str, story: &str) -> String {
    insert(text, usize::MAX, story)
}

/// Says that the story at this place is done, in the list of another tool.
pub fn set_passes(text: &str, index: usize) -> String {
    set_in_story(text, index, "passes", "true")
}

/// Sets a key of the whole list.
pub(super) fn set_in_list(text: &str, key: &str, value: &str) -> String {
    match parse(text, 0) {
        Ok(root) => set(text, &root, key, value),
        Err(_) => text.to_owned(),
    }
}

/// Sets a key of the story at this place.
pub(super) fn set_in_story(text: &str, index: usize, key: &str, value: &str) -> String {
    with_story(text, index, |story| set(text, story, key, value))
}

/// Replaces the story at this place as a whole.
pub(super) fn replace(text: &str, index: usize, story: &str) -> String {
    with_story(text, index, |node| splice(text, node.position.start, node.position.end, story))
}

/// Takes out the story at this place, and the comma that stood beside it.
pub(super) fn remove(text: &str, index: usize) -> String {
    let Ok(root) = parse(text, 0) else { return text.to_owned() };
    let stories = root.get(STORIES).map_or(&[][..], Node::items);
    let Some(story) = stories.get(index) else { return text.to_owned() };
    match (index.checked_sub(1).and_then(|before| stories.get(before)), stories.get(index + 1)) {
        (_, Some(next)) => splice(text, story.position.start, next.position.start, ""),
        (Some(before), None) => splice(text, before.position.end, story.position.end, ""),
        (None, None) => splice(text, story.position.start, story.position.end, ""),
    }
}

/// Puts a story in, so that it stands at this place.
pub(super) fn insert(text: &str, index: usize, story: &str) -> String {
    let Ok(root) = parse(text, 0) else { return text.to_owned() };
    let Some(array) = root.get(STORIES) else { return text.to_owned() };
    let stories = array.items();
    if let Some(next) = stories.get(index) {
        let gap = indentation(text, next.position.start);
        return splice(text, next.position.start, next.position.start, &format!("{story},{gap}"));
    }
    match stories.last() {
        Some(last) => {
            let gap = indentation(text, last.position.start);
            splice(text, last.position.end, last.position.end, &format!(",{gap}{story}"))
        }
        None => splice(text, array.position.start, array.position.end, &format!("[\n    {story}\n  ]")),
    }
}

/// The line break and the spaces before what begins here, or one space when it does not begin its line.
fn indentation(text: &str, at: usize) -> String {
    match text[..at].rsplit_once('\n') {
        Some((_, before)) if before.bytes().all(|byte| matches!(byte, b' ' | b'\t')) => format!("\n{before}"),
        Some(_) | None => " ".to_owned(),
    }
}

fn with_story(text: &str, index: usize, change: impl FnOnce(&Node) -> String) -> String {
    let Ok(root) = parse(text, 0) else { return text.to_owned() };
    match root.get(STORIES).and_then(|stories| stories.items().get(index)) {
        Some(story) => change(story),
        None => text.to_owned(),
    }
}

fn set(text: &str, object: &Node, key: &str, value: &str) -> String {
    if let Some(present) = object.get(key) {
        return splice(text, present.position.start, present.position.end, value);
    }
    let inside = object.position.start + 1;
    match object.members().first() {
        Some(first) => {
            let gap = indentation(text, first.position.start);
            splice(text, first.position.start, first.position.start, &format!("\"{key}\": {value},{gap}"))
        }
        None => splice(text, inside, inside, &format!("\"{key}\": {value}")),
    }
}

fn splice(text: &str, from: usize, to: usize, with: &str) -> String {
    format!("{}{with}{}", &text[..from], &text[to..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "{\n  \"x\": 1,\n  \"userStories\": [\n    {\"id\": \"A\", \"n\": 1},\n    {\"id\": \"B\"},\n    {\n      \"id\": \"C\"\n    }\n  ]\n}\n";

    #[test]
    fn only_what_is_meant_changes() {
        #[track_caller]
        fn check(changed: &str, from: &str, to: &str) {
            assert!(LIST.contains(from));
            assert_eq!(changed, LIST.replacen(from, to, 1));
        }
        check(&set_in_story(LIST, 0, "n", "2"), "\"n\": 1", "\"n\": 2");
        check(&set_in_story(LIST, 1, "n", "2"), "{\"id\": \"B\"", "{\"n\": 2, \"id\": \"B\"");
        check(&set_in_story(LIST, 2, "n", "2"), "\"id\": \"C\"", "\"n\": 2,\n      \"id\": \"C\"");
        check(&set_in_list(LIST, "x", "[]"), "\"x\": 1", "\"x\": []");
        check(&remove(LIST, 0), "{\"id\": \"A\", \"n\": 1},\n    ", "");
        check(&remove(LIST, 2), ",\n    {\n      \"id\": \"C\"\n    }", "");
        check(&insert(LIST, 1, "{}"), "{\"id\": \"B\"}", "{},\n    {\"id\": \"B\"}");
        check(&insert(LIST, 3, "{}"), "\"C\"\n    }", "\"C\"\n    },\n    {}");
        check(&replace(LIST, 1, "{}"), "{\"id\": \"B\"}", "{}");
        assert_eq!(set_in_story(LIST, 9, "n", "2"), LIST);
    }

    #[test]
    fn lists_of_any_shape_are_changed() {
        assert_eq!(
            insert("{\"userStories\":[]}", 0, "{\"id\":1}"),
            "{\"userStories\":[\n    {\"id\":1}\n  ]}"
        );
        assert_eq!(insert("{\"userStories\":[{}]}", 1, "{\"id\":1}"), "{\"userStories\":[{}, {\"id\":1}]}");
        assert_eq!(remove("{\"userStories\":[{}]}", 0), "{\"userStories\":[]}");
        assert_eq!(set_in_list("{}", "a", "1"), "{\"a\": 1}");
    }
}
