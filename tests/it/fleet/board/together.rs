//! Several machines finish what one has posted.

use serde_json::Value;

use super::{super::after, Field};
use crate::{
    env::{Running, poll},
    fleet::{journal, status, steps},
    stories::{stories, story},
};

#[test]
fn ten_stories_with_a_diamond_land_from_three_machines() {
    diamond(|all, check| Field::new(all, check, 3), Field::start_worker);
}

/// Ten stories, of which one waits for two that wait for a fourth, on three machines.
pub(super) fn diamond(
    field: impl Fn(&[(Value, &str)], &str) -> Option<Field>,
    start_worker: impl Fn(&Field, usize) -> Running,
) {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    let texts: Vec<String> = names.iter().map(|name| format!("echo done >{name}.txt\n")).collect();
    let all: Vec<_> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| {
            let story = match *name {
                "B" | "C" => after(name, &["A"]),
                "D" => after(name, &["B", "C"]),
                name => story(name),
            };
            (story, text.as_str())
        })
        .collect();
    let Some(field) = field(&all, "test ! -e D.txt || test -e B.txt -a -e C.txt") else { return };
    let fleet = field.start_fleet();
    let workers: Vec<_> = (1..=3).map(|number| start_worker(&field, number)).collect();
    field.finishes(fleet, 10);
    assert!(stories(&field.env).iter().all(|story| story["passes"] == true));
    let landed = crate::fleet::landed(&field.env);
    let place =
        |name: &str| landed.iter().position(|it| it.starts_with(&format!("{name}:"))).expect("it landed");
    assert!(place("A") < place("B") && place("A") < place("C"), "{landed:?}");
    assert!(place("B") < place("D") && place("C") < place("D"), "{landed:?}");
    // No matter who worked, every commit has its receipt: the runs elsewhere are known here.
    let notes = field.env.git(&["notes", "--ref", "refs/notes/ralph", "list"]);
    assert_eq!(notes.lines().count(), 10, "{notes}");
    let claimed = journal(&field.env).into_iter().filter(|it| it["step"] == "claimed");
    let who: std::collections::BTreeSet<String> =
        claimed.map(|it| it["who"].as_str().unwrap_or_default().to_owned()).collect();
    assert!(1 < who.len() && who.iter().all(|it| ["w1", "w2", "w3"].contains(&it.as_str())), "{who:?}");
    assert_eq!(status(&field.env)["outcome"]["outcome"], "done");
    // A worker has no repository but its own, and no word of the lander's machine in it.
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
    field.env.nothing_left();
}

#[test]
fn what_conflicts_is_sent_back_and_lands_from_another_machine() {
    let work = |name: &str, other: &str| {
        format!(
            "touch \"$FLEET_RECORD.{name}\"\nuntil test -e \"$FLEET_RECORD.{other}\"; do sleep 0.01; done\n\
             if grep -q '<<<<' shared.txt; then echo both >shared.txt; else echo {name} >shared.txt; fi\n"
        )
    };
    let (one, two) = (work("A", "B"), work("B", "A"));
    let all = [(story("A"), one.as_str()), (story("B"), two.as_str())];
    let Some(field) = Field::new(&all, "! grep -q '<<<<' shared.txt", 2) else { return };
    field.env.write("shared.txt", "nobody\n");
    crate::fleet::commit(&field.env);
    let fleet = field.start_fleet();
    let workers: Vec<_> = (1..=2).map(|number| field.start_worker(number)).collect();
    field.finishes(fleet, 2);
    assert_eq!(field.env.read("shared.txt"), "both\n");
    assert_eq!(steps(&field.env).iter().filter(|it| it.ends_with("refused")).count(), 1);
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
}

#[test]
fn what_workers_do_is_seen_where_the_fleet_is() {
    let work = super::waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 1) else { return };
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    poll("the agent", || super::record(&field.env, "A.w1").exists().then_some(()));
    poll("a claim in the table", || {
        let known = status(&field.env);
        (known["items"][0]["phase"] == "working" && known["items"][0]["lane"] == "w1").then_some(())
    });
    // The record of the run arrives while it works.
    let run = poll("the run", || {
        let list = field.env.ralph(&["status", "--all", "--json"]).stdout;
        list.contains("agent").then_some(list)
    });
    assert!(run.contains("board-") || run.contains("running"), "{run}");
    super::go(&field.env, "A");
    field.finishes(fleet, 1);
    field.ends(1, worker);
}
