//! The journal of a fleet as watchers see it: without what only this machine is to know.

use ralph_board::MAX_PIECE_LEN;
use ralph_core::{
    fleet::{FleetBoard, FleetEntry, FleetEvent, FleetWork},
    key_mask::masked_bytes,
};

use super::posting::without_secrets;

/// How long a prompt may be in a line that is too long with all of its prompts: the first that is short enough.
const PROMPT_LENGTHS: [usize; 4] = [16 * 1024, 1024, 64, 0];

/// Lines of the journal as they leave the machine.
pub(super) fn for_watchers(lines: &[u8]) -> Vec<u8> {
    let mut clean = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        // What is no entry, or a part of one, could have anything in it.
        let Ok(mut entry) = serde_json::from_slice::<FleetEntry>(line) else { continue };
        if let FleetEvent::FleetStarted(started) = &mut entry.event {
            started.settings = without_secrets(std::mem::take(&mut started.settings));
            if let Some(settings) = started.settings.as_object_mut() {
                settings.remove("guardrailEnv");
            }
            if let Some(board) = &mut started.board {
                *board = FleetBoard { url: board.url.clone(), ..FleetBoard::default() };
            }
        }
        clean.extend(line_of(entry).into_iter().flatten());
    }
    clean
}

/// The line of an entry, which has room in a message. Watchers read titles; who works on a prompt has all of it.
fn line_of(mut entry: FleetEntry) -> Option<Vec<u8>> {
    let mut line = masked(&entry)?;
    for length in PROMPT_LENGTHS {
        if line.len() <= MAX_PIECE_LEN {
            break;
        }
        shorten(&mut entry.event, length);
        line = masked(&entry)?;
    }
    Some(line).filter(|line| line.len() <= MAX_PIECE_LEN)
}

fn masked(entry: &FleetEntry) -> Option<Vec<u8>> {
    let mut line = masked_bytes(&serde_json::to_vec(entry).ok()?).into_owned();
    line.push(b'\n');
    Some(line)
}

/// Cuts prompts to about this length.
fn shorten(event: &mut FleetEvent, length: usize) {
    let FleetEvent::FleetStarted(started) = event else { return };
    for item in &mut started.plan.items {
        if let FleetWork::Prompt { text } = &mut item.work
            && length < text.len()
        {
            text.truncate(text.floor_char_boundary(length));
            text.push('…');
        }
    }
}

#[cfg(test)]
mod tests {
    use ralph_core::fleet::{FleetItem, FleetPlan, FleetStarted};
    use serde_json::json;

    use super::*;
    use crate::journal;

    #[test]
    fn watchers_see_everything_but_values_and_keys() {
        let started = FleetStarted {
            fleet: "f".to_owned(),
            settings: json!({"agent": {"command": "claude", "env": {"A": "secret"}}, "guardrailEnv": {"B": "secret"}}),
            board: Some(FleetBoard { url: "nats://h:1".to_owned(), seed: "/secret".into(), ca: None }),
            ..FleetStarted::default()
        };
        let events = [FleetEvent::FleetStarted(Box::new(started)), FleetEvent::StopRequested];
        let mut lines = Vec::new();
        for (n, event) in (1..).zip(events) {
            lines.extend(serde_json::to_vec(&FleetEntry { n, at: journal::now(), event }).expect("a line"));
            lines.push(b'\n');
        }
        lines.extend_from_slice(b"{\"half of\": \"secret");
        let shown = String::from_utf8(for_watchers(&lines)).expect("text");
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(shown.lines().count(), 2);
        assert!(shown.contains("claude") && shown.contains("nats://h:1"), "{shown}");
        assert!(shown.lines().all(|line| serde_json::from_str::<FleetEntry>(line).is_ok()), "{shown}");
    }
    /// What watchers get of a fleet with so many prompts of such a length: the line, and its prompts.
    #[track_caller]
    fn prompts(count: usize, prompt: &str) -> (usize, Vec<String>) {
        let work = FleetWork::Prompt { text: prompt.to_owned() };
        let item =
            |number| FleetItem { id: format!("i{number}"), work: work.clone(), ..FleetItem::default() };
        let plan = FleetPlan { items: (0..count).map(item).collect(), ..FleetPlan::default() };
        let started = FleetStarted { fleet: "f".to_owned(), plan, ..FleetStarted::default() };
        let event = FleetEvent::FleetStarted(Box::new(started));
        let mut line = serde_json::to_vec(&FleetEntry { n: 1, at: journal::now(), event }).expect("a line");
        line.push(b'\n');
        let shown = for_watchers(&line);
        let entry: FleetEntry = serde_json::from_slice(&shown).expect("an entry");
        let FleetEvent::FleetStarted(started) = entry.event else { panic!("another entry") };
        let texts = started.plan.items.into_iter().map(|item| match item.work {
            FleetWork::Prompt { text } => text,
            FleetWork::Story => String::new(),
        });
        (shown.len(), texts.collect())
    }

    #[test]
    fn the_beginning_of_a_fleet_fits_however_long_its_prompts_are() {
        let long = "ä\n".repeat(10_000);
        for (count, prompt, is_whole) in [
            (3, "short", true),
            (10, &*long, true),
            (30, &long, false),
            (3000, &long, false),
            (1, &long.repeat(100), false),
        ] {
            let (length, texts) = prompts(count, prompt);
            assert!(length <= MAX_PIECE_LEN, "{count} prompts of {}: {length}", prompt.len());
            assert_eq!(texts.len(), count);
            for text in texts {
                let begins = text.strip_suffix('…').unwrap_or(&text);
                assert!(prompt.starts_with(begins) && (text == prompt) == is_whole, "{count} {text:?}");
            }
        }
    }
}
