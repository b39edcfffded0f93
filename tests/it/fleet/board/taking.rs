//! What a worker takes, and what it leaves to others.

use ralph_board::Key;

use super::Field;
use crate::{
    env::poll,
    stories::{story, with},
};

#[test]
fn items_of_another_lander_are_refused_and_said() {
    let Some(field) = Field::new(&[(story("A"), "echo A >A.txt\n")], "true", 2) else { return };
    let fleet = field.start_fleet();
    // This one trusts another lander.
    let mut command = field.worker(1);
    command.args(["--lander", Key::generate().public().as_str()]);
    let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let at = args.iter().position(|arg| arg == "--lander").expect("the flag");
    let mut strict = field.machine(1).command(crate::env::RALPH);
    strict.args(
        args.iter().enumerate().filter(|(index, _)| *index != at && *index != at + 1).map(|(_, arg)| arg),
    );
    let distrustful = field.machine(1).start_command(&mut strict);
    distrustful.await_saying("does not take A: the lander that this worker trusts has not signed it");
    assert_eq!(crate::fleet::recorded(&field.env, "A"), 0);
    let trusting = field.start_worker(2);
    field.finishes(fleet, 1);
    assert_eq!(
        field.log("A").iter().filter(|it| it.starts_with("claimed")).collect::<Vec<_>>(),
        ["claimed w2"]
    );
    field.ends(1, distrustful);
    field.ends(2, trusting);
}

#[test]
fn a_worker_takes_only_what_its_labels_and_its_settings_allow() {
    let with_label = with("A", &serde_json::json!({"labels": ["gpu"]}));
    let all = [(with_label, "echo A >A.txt\n"), (story("B"), "echo B >B.txt\n")];
    let Some(field) = Field::new(&all, "true", 3) else { return };
    let fleet = field.start_fleet();
    let plain = field.start_worker(1);
    plain.await_saying("does not take A: it needs gpu");
    // One whose settings name another agent takes nothing.
    let mut other = field.worker(2);
    std::fs::write(
        field.machine(2).path(".ralph/settings.json"),
        r#"{"agent": {"command": "another"}, "sandbox": "none"}"#,
    )
    .expect("settings");
    let other = field.machine(2).start_command(other.args(["--labels", "gpu"]));
    other.await_saying("which the settings of this worker do not name");
    let able = field.machine(3).start_command(field.worker(3).args(["--labels", "macos,gpu"]));
    field.finishes(fleet, 2);
    assert!(field.log("A").contains(&"claimed w3".to_owned()), "{:?}", field.log("A"));
    assert!(!field.log("A").iter().chain(&field.log("B")).any(|it| it == "claimed w2"));
    for (number, worker) in [(1, plain), (2, other), (3, able)] {
        field.ends(number, worker);
    }
}

#[test]
fn a_worker_that_is_asked_to_finish_ends_after_its_item() {
    let (one, two) = (super::waiting("A"), "echo B >B.txt\n");
    let Some(field) = Field::new(&[(story("A"), one.as_str()), (story("B"), two)], "true", 2) else { return };
    field.env.write("work-B", &super::waiting("B"));
    crate::fleet::commit(&field.env);
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    let first = poll("an agent", || {
        ["A", "B"].into_iter().find(|it| super::record(&field.env, &format!("{it}.w1")).exists())
    });
    let second = if first == "A" { "B" } else { "A" };
    field.machine(1).ralph(&["fleet", "work", "--drain"]).exits(0).prints("asked to finish: w1");
    super::go(&field.env, first);
    worker.wait().exits(0).says(&format!("{first} is handed in"));
    field.machine(1).nothing_left();
    field.machine(1).ralph(&["fleet", "work", "--drain"]).exits(2).says("no worker is at work");
    super::go(&field.env, second);
    let worker = field.start_worker(2);
    field.finishes(fleet, 2);
    assert_eq!(field.log(second).iter().filter(|it| it.starts_with("claimed")).count(), 1);
    field.ends(2, worker);
}
