//! Random edits of random lists, judged by the rules and by another telling of them.
//!
//! The oracle does not look at what changed. It builds every state that a story may be in after a turn of the
//! mode, and asks whether the one that is there is among them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::{ListJudgement, Review, Rules, StoryTurn, select},
    approved, check, judge, list, read, sent_back, story, submitted,
};
use crate::stories::Mode;

const KEYS: [&str; 4] = ["passes", "reviewStatus", "reviewCount", "reviewFeedback"];
const CAP: u64 = 3;

/// A list in which every story is in a state that it can come to.
fn lists() -> impl Strategy<Value = Vec<Value>> {
    let one = (0..4_u8, 0..3_u64, 0..4_u8, 0..5_u8, any::<bool>());
    prop::collection::vec(one, 1..5).prop_map(|stories| {
        let build = |(index, (state, count, priority, depends, human)): (usize, (u8, u64, u8, u8, bool))| {
            let id = format!("S{index}");
            let mut story = match state {
                0 => story(&id),
                1 => submitted(&id),
                2 => sent_back(&id),
                _ => approved(&id),
            };
            if 0 < state {
                story["reviewCount"] = json!(count + u64::from(1 < state));
            }
            story["priority"] = json!(priority);
            if usize::from(depends) < index {
                story["dependsOn"] = json!([format!("S{depends}")]);
            }
            if human && priority == 0 {
                story["kind"] = json!("human");
            }
            story
        };
        stories.into_iter().enumerate().map(build).collect()
    })
}

/// One thing that an agent does to the list.
#[derive(Clone, Debug)]
enum Edit {
    Set(usize, usize, Value),
    Legal(usize),
    Delete(usize),
    Add(usize),
    Copy(usize),
    Spoil(usize),
    Swap(usize, usize),
    Weaken(usize),
    Silence(usize),
    Await(usize, usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let value = (0..4_usize, 0..5_u64).prop_map(|(key, n)| {
        let texts = ["", "x", "mend it", "[AUTO-APPROVED AT CAP] y", " "];
        let statuses =
            [json!(null), json!("needs_review"), json!("changes_requested"), json!("approved"), json!(null)];
        let at = usize::try_from(n).unwrap_or(0);
        (key, [json!(n % 2 == 0), statuses[at].clone(), json!(n), json!(texts[at])][key].clone())
    });
    let edit = prop_oneof![
        3 => (0..5_usize, value).prop_map(|(at, (key, value))| Edit::Set(at, key, value)),
        4 => (0..5_usize).prop_map(Edit::Legal),
        1 => (0..5_usize).prop_map(Edit::Delete),
        1 => (0..5_usize).prop_map(Edit::Add),
        1 => (0..5_usize).prop_map(Edit::Copy),
        1 => (0..5_usize).prop_map(Edit::Spoil),
        1 => (0..5_usize, 0..5_usize).prop_map(|(one, other)| Edit::Swap(one, other)),
        1 => (0..5_usize).prop_map(Edit::Weaken),
        1 => (0..5_usize).prop_map(Edit::Silence),
        1 => (0..5_usize, 0..5_usize).prop_map(|(one, other)| Edit::Await(one, other)),
    ];
    prop::collection::vec(edit, 0..4)
}

fn edited(before: &[Value], edits: &[Edit], mode: Mode) -> Vec<Value> {
    let mut stories = before.to_vec();
    for edit in edits {
        let many = stories.len();
        match edit {
            Edit::Set(at, key, value) if 0 < many => stories[at % many][KEYS[*key]] = value.clone(),
            Edit::Legal(at) if 0 < many => {
                let story = &mut stories[at % many];
                let steps = allowed(story, mode, &["mend it"]);
                if let Some(step) = steps.get(at % 2).or(steps.first()) {
                    for key in KEYS {
                        story[key] = step[key].clone();
                    }
                }
            }
            Edit::Delete(at) if 0 < many => drop(stories.remove(at % many)),
            Edit::Add(at) => {
                stories.push(if at % 2 == 0 { story(&format!("N{at}")) } else { approved("N1") });
            }
            Edit::Copy(at) if 0 < many => stories.insert(0, stories[at % many].clone()),
            Edit::Spoil(at) if 0 < many => stories[at % many]["passes"] = json!("certainly"),
            Edit::Swap(one, other) if 0 < many => stories.swap(one % many, other % many),
            Edit::Weaken(at) if 0 < many => stories[at % many]["acceptanceCriteria"] = json!(["less"]),
            Edit::Silence(at) if 0 < many => stories[at % many]["notes"] = json!(""),
            Edit::Await(one, other) if 0 < many => {
                stories[one % many]["dependsOn"] = json!([stories[other % many]["id"]]);
            }
            _ => {}
        }
    }
    stories
}

/// Every state that a turn of this mode may bring a story to, with each of these texts as feedback.
fn allowed(story: &Value, mode: Mode, feedback: &[&str]) -> Vec<Value> {
    let count = story["reviewCount"].as_u64().unwrap_or(0);
    let fields = |status: &str, passes: bool, count: u64, feedback: &Value| json!({"passes": passes, "reviewStatus": status, "reviewCount": count, "reviewFeedback": feedback});
    let said = feedback.iter().map(|text| json!(text));
    match (mode, story["reviewStatus"].as_str()) {
        (Mode::Implement, None) if story["passes"] == json!(false) => {
            vec![fields("needs_review", false, count, &story["reviewFeedback"])]
        }
        (Mode::Fix, Some("changes_requested")) => vec![fields("needs_review", false, count, &json!(""))],
        (Mode::Review, Some("needs_review")) => said
            .flat_map(|text| {
                let approved = fields("approved", true, count + 1, &text);
                let is_filled = text.as_str().is_some_and(|text| !text.trim().is_empty());
                let rejected = is_filled.then(|| fields("changes_requested", false, count + 1, &text));
                std::iter::once(approved).chain(rejected)
            })
            .collect(),
        _ => vec![],
    }
}

fn review_fields(story: &Value) -> Value {
    KEYS.iter().map(|key| ((*key).to_owned(), story[*key].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// Whether this story may be touched at all: an agent's, with everything done that it depends on.
fn is_due(story: &Value, before: &[Value], mode: Mode) -> bool {
    let done = |id: &Value| before.iter().any(|it| it["id"] == *id && it["reviewStatus"] == "approved");
    let has_all = story["dependsOn"].as_array().into_iter().flatten().all(done);
    story["kind"] != "human" && (mode != Mode::Implement || has_all)
}

/// What the review fields of each story of the list before must be in the end.
fn expected(
    before: &[Value],
    after: &[Value],
    mode: Mode,
    selected: Option<&str>,
) -> BTreeMap<String, Value> {
    let mut ends = BTreeMap::new();
    let mut movers = Vec::new();
    for old in before {
        let id = old["id"].as_str().expect("an id").to_owned();
        ends.insert(id.clone(), review_fields(old));
        // The first of several of the same id is the one that counts; one that is no story counts for nothing.
        let Some(new) = after.iter().find(|it| it["id"] == old["id"]) else { continue };
        let is_story = new["passes"].is_boolean() && (new["passes"] == false || new["notes"] != "");
        let fields = review_fields(new);
        let feedback = fields["reviewFeedback"].as_str().unwrap_or("").to_owned();
        if is_story && is_due(old, before, mode) && allowed(old, mode, &[&feedback]).contains(&fields) {
            movers.push((id, fields));
        }
    }
    let lone = movers.len() == 1;
    for (id, mut fields) in movers {
        if !lone && Some(id.as_str()) != selected {
            continue;
        }
        let is_rejected = fields["reviewStatus"] == "changes_requested";
        if is_rejected && fields["reviewCount"].as_u64().is_some_and(|count| CAP <= count) {
            let concerns = fields["reviewFeedback"].as_str().unwrap_or("");
            let text = format!("[AUTO-APPROVED AT CAP] {concerns}");
            fields = json!({
                "passes": true, "reviewStatus": "approved", "reviewCount": fields["reviewCount"],
                "reviewFeedback": text,
            });
        }
        ends.insert(id, fields);
    }
    ends
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Implement), Just(Mode::Review), Just(Mode::Fix), Just(Mode::Work)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, ..ProptestConfig::default() })]

    #[test]
    fn the_rules_agree_with_the_oracle(before in lists(), edits in edits(), mode in modes(), pick in 0..5_usize) {
        let after = edited(&before, &edits, mode);
        let (before_text, after_text) = (list(&before), list(&after));
        let selected = before[pick % before.len()]["id"].as_str().expect("an id");
        let commands = ["make test".to_owned()];
        let cap = u32::try_from(CAP).expect("small");
        let rules = Rules { review: Review::Required, cap, verify_commands: &commands };
        let turn = StoryTurn { mode, story: Some(selected), finished: false, touched: &[] };
        let judgement = judge(&before_text, Some(&after_text), turn, rules);
        let end_text = judgement.text.clone().unwrap_or_else(|| after_text.clone());

        // Whatever was done, the list is a good one.
        prop_assert_eq!(check(&end_text, Review::Required), [], "{}", end_text);
        let end: Value = serde_json::from_str(&end_text).expect("JSON");
        let stories = end["userStories"].as_array().expect("stories");
        for (id, fields) in expected(&before, &after, mode, Some(selected)) {
            let found = stories.iter().find(|it| it["id"] == json!(id));
            prop_assert!(found.is_some(), "{} is gone", id);
            prop_assert_eq!(found.map(review_fields), Some(fields), "{}\n{:#?}", id, judgement);
        }
        // What is new is untouched, and what was submitted demands what it demanded.
        for story in stories {
            match before.iter().find(|it| it["id"] == story["id"]) {
                None => prop_assert_eq!(review_fields(story), review_fields(&super::story("x"))),
                Some(old) if !old["reviewStatus"].is_null() => {
                    prop_assert_eq!(&old["acceptanceCriteria"], &story["acceptanceCriteria"]);
                }
                Some(_) => {}
            }
        }
        // An agent that is told something, and only such an agent, had something put back.
        prop_assert_eq!(judgement.broken.is_empty(), judgement.undone.is_empty(), "{:#?}", judgement);
        // Judging the result once more finds nothing.
        if judgement.capped.is_empty() {
            let again = judge(&before_text, Some(&end_text), turn, rules);
            prop_assert_eq!(again, ListJudgement::default());
        }
        // Something can be done, or a person is told why not.
        let list = read(&end_text).list;
        prop_assert!(select(&list, Review::Required).is_ok_and(|it| list.story(&it.id).is_some())
            || select(&list, Review::Required).is_err_and(|why| !why.is_empty()));
    }

    #[test]
    fn no_text_breaks_the_rules(text in "[\\[{}\\]\",: a-z0-9\\n]{0,60}", cut in 0..400_usize, mode in modes()) {
        let before = list(&[story("A"), submitted("B")]);
        let commands = ["make test".to_owned()];
        let rules = Rules { review: Review::Required, cap: 5, verify_commands: &commands };
        let turn = StoryTurn { mode, story: Some("A"), finished: true, touched: &[] };
        let cut = before.floor_char_boundary(cut);
        for after in [text.clone(), format!("{}{text}{}", &before[..cut], &before[cut..])] {
            let judgement = judge(&before, Some(&after), turn, rules);
            let end = judgement.text.unwrap_or(after);
            prop_assert_eq!(check(&end, Review::Required), []);
            prop_assert!(read(&end).list.story("A").is_some() && read(&end).list.story("B").is_some());
        }
    }
}
