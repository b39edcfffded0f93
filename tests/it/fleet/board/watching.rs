//! A person on a third machine: sees everything with the login of the watcher, and writes nothing.

use std::{net::TcpListener, path::Path};

use ralph_board::{Answer, Board, LoginDir};
use ralph_core::fleet::ItemStep;
use serde_json::{Value, json};

use super::{
    Field,
    following::{far_run, id_of},
    go, program, record,
    secured::start_with_logins,
    waiting,
};
use crate::{
    env::{Env, RALPH, poll},
    fleet::{after, status},
    stories::story,
};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for file in std::fs::read_dir(from).expect("a login").flatten() {
        std::fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
    }
}

#[test]
fn a_watcher_sees_a_fleet_of_another_machine_and_cannot_write() {
    let work = waiting("A");
    let all = [(story("A"), work.as_str()), (after("B", &["A"]), "echo B >B.txt\n")];
    let Some(mut field) = Field::new(&all, "true", 1) else { return };
    field.env = std::mem::replace(&mut field.env, Env::new())
        .settings(json!({"agent": {"env": {"KEY": "very-secret"}}}));
    let Some(server) = program() else { return };
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    let mut command = field.env.command(RALPH);
    command.args(["fleet", "board", "--host", "127.0.0.1", "--worker", "w1", "--listen"]);
    let board = field.env.start_command(command.arg(format!("127.0.0.1:{port}")).arg("--server").arg(server));
    board.await_printing("ralph fleet --login");
    let logins = field.env.root().join("state/board/logins");
    let third = Env::new();
    let login = third.root().join("watcher");
    copy(&logins.join("watcher"), &login);
    let shown = login.display().to_string();
    third.ralph(&["fleet", "watch", "--login", &shown]).exits(2).says("there is no fleet on this board yet");

    let (fleet, worker) = start_with_logins(&field, &logins);
    poll("the agent", || record(&field.env, "A.w1").exists().then_some(()));

    let known = || -> Value {
        let words = ["fleet", "status", "--login", &shown, "--json"];
        serde_json::from_str(&third.ralph(&words).exits(0).stdout).expect("JSON")
    };
    let now = poll("the claim", || Some(known()).filter(|it| it["items"][0]["phase"] == "working"));
    assert_eq!(
        (&now["items"][0]["lane"], &now["running"], &now["pid"]),
        (&json!("w1"), &json!(true), &json!(null))
    );
    assert_eq!((&now["items"][1]["phase"], &now["items"][1]["after"]), (&json!("open"), &json!(["A"])));
    third.ralph(&["fleet", "status", "--login", &shown]).exits(0).prints("under way on another machine");
    let fleet_id = now["fleet"].as_str().expect("an id").to_owned();
    assert_eq!(status(&field.env)["fleet"], fleet_id.as_str());
    third.ralph(&["status", &fleet_id]).exits(2);

    // What one process copies, all commands show.
    let watch = third.start(&["fleet", "watch", "--login", &shown]);
    watch.await_printing("works on A");
    third
        .ralph(&["fleet", "watch", "--login", &shown])
        .exits(2)
        .says("another process of this machine follows");
    let run = id_of(&far_run(&third, "w1"));
    let followed = third.start(&["logs", &run, "-f", "--output", "json"]);
    followed.await_printing("turn_started");
    let log = third.start(&["logs", &fleet_id, "-f"]);
    third.ralph(&["status", "--all"]).exits(0).prints(&run);
    third.ralph(&["say", &run, "Use tabs."]).exits(2).says("belongs to another machine");
    for command in ["stop", "pause", "resume"] {
        third.ralph(&[command, &run]).exits(2).says("is on the machine of worker w1");
    }
    third.ralph(&["logs", &run, "--raw"]).exits(2).says("is on the machine of worker w1");
    go(&field.env, "A");
    field.finishes(fleet, 2);

    let shown_there = watch.wait().exits(0).stdout;
    let at_home = field.env.ralph(&["logs", &fleet_id]).exits(0).stdout;
    assert_eq!(shown_there, at_home);
    assert_eq!(log.wait().exits(0).stdout, at_home);
    followed.wait().exits(0).prints("run_ended");
    third.ralph(&["logs", &fleet_id]).exits(0).prints("B landed as");
    assert_eq!(known()["outcome"]["outcome"], "done");
    third.ralph(&["status", &fleet_id]).exits(0).prints("complete");
    // Who comes when everything is over sees the same.
    let late = third.ralph(&["fleet", "watch", "--login", &shown, &fleet_id]).exits(0).stdout;
    assert_eq!(late, at_home);
    third
        .ralph(&["fleet", "watch", "--login", &shown, "20200101-000000-abcdef"])
        .exits(2)
        .says("no beginning of the log");
    field.env.ralph(&["fleet", "watch", "--login", &shown]).exits(2).says("belongs to this machine");
    assert!(!third.sh("grep -r very-secret ../state").stdout.contains("secret"));

    // It writes nothing, whatever it tries.
    let LoginDir { board: address, login, .. } = LoginDir::read(&login).expect("a login");
    let reader = Board::connect(&address, &login).expect("let in");
    let logs = reader.ledger(&fleet_id);
    let last = logs.item("A").expect("a log").last;
    for (who, step) in [
        ("lander", ItemStep::Cancelled { why: "no".to_owned() }),
        ("watcher", ItemStep::Claimed),
        ("lander", ItemStep::Said { text: "no".to_owned(), keep: false, now: false }),
    ] {
        let answer = logs.try_append("A", who, &step, None, last);
        assert!(!matches!(answer, Ok(Answer::At(_))), "{answer:?}");
    }
    assert!(!matches!(reader.post(&fleet_id, "A", last), Ok(Answer::At(_))));
    assert!(reader.send_bytes(b"x").is_err());
    assert!(reader.queue().is_err());
    let journal = third.root().join("journal");
    std::fs::write(&journal, "{}\n").expect("a file");
    assert!(reader.fleet_feed(&fleet_id, &journal).ship().is_err());
    assert_eq!(logs.item("A").expect("a log").last, last);

    field.ends(1, worker);
    board.signal(rustix::process::Signal::TERM);
    board.wait().exits(0);
    field.env.nothing_left();
    third.nothing_left();
}
