//! Makes a story one for a person: what the agent lacks stands in its notes.

use super::{Kind, edit::set_in_story, schema::read, step::joined};

/// The text of the list afterwards; nothing if it has no such story, or nothing is to be changed.
pub fn hand_over(text: &str, id: &str, reason: &str) -> Option<String> {
    let reading = read(text);
    let index = reading.entries.iter().position(|entry| entry.id.as_deref() == Some(id))?;
    let story = reading.entries[index].story.as_ref()?;
    let note = format!("Blocked: {reason}");
    let notes = if story.notes.contains(&note) { story.notes.clone() } else { joined(&story.notes, &note) };
    if story.kind == Kind::Human && notes == story.notes {
        return None;
    }
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let text = set_in_story(text, index, "notes", &json(&notes));
    Some(set_in_story(&text, index, "kind", &json("human")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_handed_over_once_and_nothing_else_changes() {
        let story = |id: &str, notes: &str| {
            format!(
                r#"{{"id": "{id}", "title": "t", "acceptanceCriteria": ["it works"], "description": "", "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "dependsOn": [], "notes": "{notes}"}}"#
            )
        };
        let text = &format!(
            r#"{{"project": "p", "branchName": "b", "description": "", "verifyCommands": [], "userStories": [{}, {}]}}"#,
            story("US-1", "Begun."),
            story("US-2", "")
        );
        let after = hand_over(text, "US-1", "no \"key\"").expect("a change");
        assert_eq!(after.matches("human").count(), 1, "{after}");
        let list = read(&after).list;
        let story = list.story("US-1");
        assert_eq!(
            story.map(|it| (it.kind, it.notes.as_str())),
            Some((Kind::Human, "Begun.\nBlocked: no \"key\""))
        );
        assert_eq!(list.story("US-2").map(|it| it.kind), Some(Kind::Agent));
        assert_eq!(hand_over(&after, "US-1", "no \"key\""), None);
        assert_eq!(hand_over(text, "US-3", "no key"), None);
        // Another reason is another note, and a note alone hands nothing over.
        let more = hand_over(&after, "US-1", "no host").expect("a change");
        let notes = read(&more).list.story("US-1").map(|it| it.notes.clone());
        assert_eq!(notes.as_deref(), Some("Begun.\nBlocked: no \"key\"\nBlocked: no host"));
        let known = text.replace("Begun.", "Blocked: no key");
        let after = hand_over(&known, "US-1", "no key").expect("a change");
        assert_eq!(read(&after).list.story("US-1").map(|it| it.kind), Some(Kind::Human));
        assert_eq!(hand_over("{", "US-1", "no key"), None);
    }
}
