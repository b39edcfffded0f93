//! The task list of a lane, and what of it goes back: a lane hands in what became of its story, never the text.

use super::{
    Review, Status, TaskFile,
    edit::{remove, set_in_story},
    schema::read,
    status_name,
};

/// The list for a lane that works on one story: what is done, and that story. With feedback the story is sent back
/// first. Nothing if there is no such story.
pub fn for_lane(text: &str, id: &str, review: Review, feedback: Option<&str>) -> Option<String> {
    let reading = read(text);
    reading.list.story(id)?;
    let mut changed = text.to_owned();
    // From the end, so that places before it stay what they are.
    for (index, entry) in reading.entries.iter().enumerate().rev() {
        let is_done = entry.story.as_ref().is_some_and(|story| story.is_done(review));
        if entry.id.as_deref() != Some(id) && !is_done {
            changed = remove(&changed, index);
        }
    }
    Some(match feedback {
        Some(feedback) => sent_back(&changed, id, review, feedback),
        None => changed,
    })
}

/// The list with what a lane has done to its story taken over: how far it is, and its notes. The other stories, and
/// everything else that the lane has written, stay as they are.
///
/// # Errors
///
/// The story is not in both lists, its lane is not done with it, or the lane changed what it is about.
pub fn take_over(text: &str, lane: &str, id: &str, review: Review) -> Result<String, String> {
    let (ours, theirs) = (read(text), TaskFile::new(lane));
    let place = ours.entries.iter().position(|entry| entry.id.as_deref() == Some(id));
    let known = ours.list.story(id);
    let (Some(index), Some(known), Some(story)) = (place, known, theirs.list().story(id)) else {
        return Err(format!("there is no story `{id}` in the task list any more"));
    };
    if !story.is_done(review) {
        let status = status_name(story.review_status);
        return Err(format!(
            "{id} is not done in its lane: passes is {}, reviewStatus {status}",
            story.passes
        ));
    }
    if story.acceptance_criteria != known.acceptance_criteria {
        return Err(format!("the acceptance criteria of {id} were changed"));
    }
    let json = |value: serde_json::Value| value.to_string();
    let fields = [
        ("passes", json(story.passes.into())),
        ("reviewStatus", json(story.review_status.map(Status::name).into())),
        ("reviewCount", json(story.review_count.into())),
        ("reviewFeedback", json(story.review_feedback.clone().into())),
        ("notes", json(story.notes.clone().into())),
    ];
    Ok(fields.into_iter().fold(text.to_owned(), |text, (key, value)| set_in_story(&text, index, key, &value)))
}

/// What a lane has added to a file that everybody only adds to.
pub fn added<'a>(before: &str, after: &'a str) -> &'a str {
    after.strip_prefix(before).unwrap_or_default()
}

fn sent_back(text: &str, id: &str, review: Review, feedback: &str) -> String {
    let reading = read(text);
    let Some(index) = reading.entries.iter().position(|entry| entry.id.as_deref() == Some(id)) else {
        return text.to_owned();
    };
    let status = match review {
        Review::Required => "\"changes_requested\"",
        Review::Skipped => "null",
    };
    let feedback = serde_json::Value::from(feedback).to_string();
    let fields = [("passes", "false"), ("reviewStatus", status), ("reviewFeedback", &feedback)];
    fields.into_iter().fold(text.to_owned(), |text, (key, value)| set_in_story(&text, index, key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(id: &str, passes: bool, status: &str, more: &str) -> String {
        format!(
            r#"{{"id": "{id}", "title": "t", "acceptanceCriteria": ["it works"], "priority": 1, "passes": {passes}, "reviewStatus": {status}, "reviewCount": 0, "reviewFeedback": "", "notes": "n"{more}}}"#
        )
    }

    fn list(stories: &[String]) -> String {
        let stories = stories.join(",\n    ");
        format!(
            "{{\n  \"project\": \"p\", \"branchName\": \"main\", \"description\": \"d\",\n  \"userStories\": [\n    {stories}\n  ]\n}}\n"
        )
    }

    fn ids(text: &str) -> Vec<String> {
        read(text).list.user_stories.iter().map(|story| story.id.clone()).collect()
    }

    #[test]
    fn a_lane_has_its_story_and_what_is_done() {
        let text = list(&[
            story("A", true, "\"approved\"", ""),
            story("B", false, "null", ""),
            story("C", false, "null", r#", "dependsOn": ["A"], "touches": ["src/**"]"#),
            story("D", false, "null", ""),
        ]);
        let lane = for_lane(&text, "C", Review::Required, None).expect("a list");
        assert_eq!(ids(&lane), ["A", "C"]);
        assert_eq!(TaskFile::new(lane.as_str()).problems(Review::Required), []);
        assert_eq!(read(&lane).list.story("C").expect("it").touches, ["src/**"]);
        assert_eq!(for_lane(&text, "X", Review::Required, None), None);
        let again = for_lane(&text, "C", Review::Required, Some("It conflicts.")).expect("a list");
        let sent = read(&again).list.story("C").expect("the story").clone();
        assert_eq!(sent.review_status, Some(Status::ChangesRequested));
        assert_eq!((sent.passes, sent.review_feedback.as_str()), (false, "It conflicts."));
        let again = for_lane(&text, "C", Review::Skipped, Some("It conflicts.")).expect("a list");
        assert_eq!(read(&again).list.story("C").expect("the story").review_status, None);
    }

    #[test]
    fn only_what_became_of_the_story_is_taken_over() {
        let text = list(&[story("A", false, "null", ""), story("B", false, "null", "")]);
        let done = story("B", true, "\"approved\"", "").replace("\"notes\": \"n\"", "\"notes\": \"done\"");
        let lane = list(&[story("A", true, "\"approved\"", ""), done.replace("\"t\"", "\"another title\"")]);
        let after = read(&take_over(&text, &lane, "B", Review::Required).expect("a list")).list;
        let taken = after.story("B").expect("the story");
        assert_eq!((taken.passes, taken.notes.as_str(), taken.title.as_str()), (true, "done", "t"));
        assert!(!after.story("A").expect("the other").passes);
        assert!(take_over(&text, &text, "B", Review::Required).is_err());
        assert!(take_over(&text, &lane, "C", Review::Required).is_err());
        let easier = lane.replace("it works", "it is there");
        assert!(take_over(&text, &easier, "B", Review::Required).is_err());
    }

    #[test]
    fn what_was_added_is_taken_and_what_was_rewritten_is_not() {
        assert_eq!(added("a\n", "a\nb\n"), "b\n");
        assert_eq!(added("", "b\n"), "b\n");
        assert_eq!(added("a\n", "b\n"), "");
    }
}
