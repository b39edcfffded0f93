//! The user's own program is told what happens.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread::{self, JoinHandle},
    time::Instant,
};

use serde_json::{Value, json};

use crate::env::{Env, done, lossy, meet, poll, say, shell, touch};

/// What the program was told, in order.
fn told(env: &Env) -> Vec<Value> {
    let text = env.read("told.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn notified(turns: Value) -> Env {
    Env::new().turns(turns).settings(json!({"notify": "cat >>told.jsonl", "retries": 0}))
}

#[test]
fn the_end_is_told() {
    let env = notified(json!([[done()]]));
    env.run(&[]).exits(0);
    let told = told(&env);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["event"], "done");
    assert_eq!(told[0]["run"], env.run_id());
    assert_eq!(told[0]["project"], json!(env.project()));
    assert!(told[0]["text"].as_str().is_some_and(|text| text.starts_with("Complete")), "{told:?}");

    let env = notified(json!([[say("Oh."), {"exit": 1}]]));
    env.run(&[]).exits(4);
    assert_eq!(self::told(&env)[0]["event"], "failed");

    let env = notified(json!([[say("Going on.")]]));
    env.run(&["-m", "1"]).exits(1);
    let told = self::told(&env);
    assert_eq!(
        (&told[0]["event"], &told[0]["exit_code"], &told[0]["iteration"]),
        (&json!("limit"), &json!(1), &json!(1))
    );
}

#[test]
fn waits_and_standstills_are_told() {
    let limit = json!({"event": {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1}}});
    let refused = json!({"result": {"is_error": true, "api_error_status": 429, "result": "Come back later"}});
    let env = notified(json!([[limit, refused], [done()]]));
    env.run(&[]).exits(0);
    let told: Vec<Value> = self::told(&env).iter().map(|it| it["event"].clone()).collect();
    assert_eq!(told, ["waiting", "done"]);

    let env = notified(json!([[say("Hm.")]])).guardrails(&["echo week_53; false"]);
    env.run(&[]).exits(6);
    let told = self::told(&env);
    let text = told[0]["text"].as_str().unwrap_or_default();
    assert_eq!(
        (told.len(), &told[0]["event"], &told[0]["exit_code"]),
        (1, &json!("needs_person"), &json!(6))
    );
    assert!(text.contains("no progress since iteration 1") && text.contains("week_53"), "{text}");

    let expensive = json!({"result": {"usage": {"input_tokens": 5000, "output_tokens": 1}}});
    let env = notified(json!([[say("Hm."), expensive]]));
    env.run(&["--max-tokens", "1000"]).exits(1);
    assert_eq!(self::told(&env)[0]["event"], "limit");
}

#[test]
fn a_program_that_asks_is_told_the_end() {
    let env = Env::new().turns(json!([[done()]]));
    let env = env.settings(json!({"notify": format!("'{}' status --json >status.json", crate::env::RALPH)}));
    env.run(&[]).exits(0);
    assert!(env.read("status.json").contains("\"standing\":\"complete\""), "{}", env.read("status.json"));
}

#[test]
fn a_program_that_fails_is_only_warned_of() {
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": "echo no bell >&2; exit 1"}));
    env.run(&[]).exits(0).says("the notify command failed: no bell");
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": "exit 3"}));
    env.run(&[]).exits(0).says("the notify command failed: exit status: 3");
    env.nothing_left();
}

/// A receiver that takes so many requests and answers each so; returns their heads and bodies.
struct Receiver {
    port: u16,
    heard: JoinHandle<Vec<(String, Value)>>,
}

impl Receiver {
    fn new(requests: usize, answer: &'static str) -> Self {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = server.local_addr().expect("an address").port();
        let heard = thread::spawn(move || {
            (0..requests).map(|_| take(&server.accept().expect("a request").0, answer)).collect()
        });
        Self { port, heard }
    }

    fn heard(self) -> Vec<(String, Value)> {
        self.heard.join().expect("requests")
    }
}

fn take(mut stream: &TcpStream, answer: &str) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).expect("a request");
        bytes.extend_from_slice(&piece[..length]);
        let text = lossy(&bytes);
        let whole = text.split_once("\r\n\r\n").and_then(|(head, body)| {
            let length = head
                .to_lowercase()
                .split_once("content-length: ")?
                .1
                .lines()
                .next()?
                .parse::<usize>()
                .ok()?;
            (length <= body.len()).then(|| (head.to_owned(), serde_json::from_str(body).expect("JSON")))
        });
        if whole.is_some() || length == 0 {
            stream.write_all(answer.as_bytes()).expect("an answer");
            return whole.unwrap_or_default();
        }
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The secret of an address is nowhere: not on the screen, not in the record, not in a report.
#[track_caller]
fn is_secret(env: &Env, said: &crate::env::Output) {
    let run = env.newest_run();
    let all = [
        said.stdout.clone(),
        said.stderr.clone(),
        env.ralph(&["logs"]).stdout,
        env.ralph(&["status", "--json"]).stdout,
    ];
    let journal = fs::read_to_string(run.join("journal.jsonl")).expect("a journal");
    let receipt = fs::read_to_string(run.join("receipt.json")).unwrap_or_default();
    for text in all.iter().chain([&journal, &receipt]) {
        assert!(!text.contains("s3cret"), "{text}");
    }
}

#[test]
fn services_are_told_the_outcome_and_no_one_sees_their_address() {
    for (name, place) in [("slack", "services/s3cret"), ("webhook", "s3cret?x=1"), ("ntfy", "s3cret")] {
        let receiver = Receiver::new(1, OK);
        let target = format!("{name}:http://127.0.0.1:{}/{place}", receiver.port);
        let costs = json!({"result": {"total_cost_usd": 1.25}});
        let env = Env::new().turns(json!([[say("a <b> & \"c\""), done(), costs]]));
        let env = env.settings(json!({"notify": target, "notifyLink": "http://127.0.0.1:7777/"}));
        let said = env.run(&["--verbose"]).exits(0).says_not("the notify command failed");
        let (head, body) = receiver.heard().remove(0);
        assert!(
            head.starts_with("POST /") && head.to_lowercase().contains("content-type: application/json"),
            "{head}"
        );
        match name {
            "slack" => {
                let text = body["text"].as_str().expect("a text");
                assert!(
                    text.contains("done*\nComplete")
                        && text.contains("$1.25")
                        && text.contains("<http://127.0.0.1:7777/>"),
                    "{text}"
                );
            }
            "webhook" => {
                assert!(head.starts_with("POST /s3cret?x=1 "), "{head}");
                let facts = (&body["event"], &body["cost_usd"], &body["findings"], &body["link"]);
                assert_eq!(
                    facts,
                    (&json!("done"), &json!(1.25), &json!([]), &json!("http://127.0.0.1:7777/"))
                );
            }
            _ => {
                assert!(head.starts_with("POST / "), "{head}");
                assert_eq!((&body["topic"], &body["priority"]), (&json!("s3cret"), &json!(3)));
                assert!(body["message"].as_str().is_some_and(|text| text.contains("$1.25")), "{body}");
            }
        }
        is_secret(&env, &said);
    }
}

#[test]
fn findings_are_told_and_an_address_may_be_a_variable() {
    let receiver = Receiver::new(1, OK);
    let typed = shell(&format!("'{}' accept; true", crate::env::RALPH));
    let url = format!("http://127.0.0.1:{}/s3cret", receiver.port);
    let env = Env::new().turns(json!([[typed, done()]])).variable("HOOK", &url);
    let said = env.settings(json!({"notify": "webhook:$HOOK"}));
    let output = said.run(&[]).exits(7);
    let (_, body) = receiver.heard().remove(0);
    assert_eq!(body["event"], "needs_person");
    assert!(body["findings"].to_string().contains("ralph accept"), "{body}");
    is_secret(&said, &output);
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": "slack:$NOWHERE"}));
    env.run(&[]).exits(0).says("the notify command failed: the variable NOWHERE is not set");
}

#[test]
fn a_service_that_refuses_or_hangs_neither_ends_nor_holds_the_run() {
    let refusing = Receiver::new(1, "HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let target = format!("webhook:http://127.0.0.1:{}/s3cret", refusing.port);
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": target}));
    let said = env.run(&[]).exits(0).says("the notify command failed");
    refusing.heard();
    is_secret(&env, &said);

    // It takes the connection and never answers.
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target =
        format!("webhook:http://127.0.0.1:{}/s3cret", server.local_addr().expect("an address").port());
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": target}));
    let started = Instant::now();
    let said = env.run(&[]).exits(0).says("the notify command failed");
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    is_secret(&env, &said);
    assert_eq!(env.status()["standing"], "complete");
    env.nothing_left();
}

#[test]
fn an_address_survives_a_resume_without_being_recorded() {
    let receiver = Receiver::new(1, OK);
    let target = format!("webhook:http://127.0.0.1:{}/s3cret", receiver.port);
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[one, two], [done()]])).settings(json!({"notify": target}));
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    let said = env.ralph(&["resume"]).exits(0);
    assert_eq!(receiver.heard()[0].1["event"], "done");
    is_secret(&env, &said);
}

#[test]
fn the_desktop_is_told_by_notify_send_or_by_d_bus() {
    for (program, expected) in [
        ("notify-send", "--app-name=ralph\n--urgency\nnormal\n--\nralph in "),
        ("gdbus", "call\n--session\n"),
    ] {
        let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": "desktop"}));
        let told = env.root().join("told");
        let bin = env.root().join("bin").display().to_string();
        // Where there is the first, the second is not looked for.
        let env =
            if program == "gdbus" { env.variable("PATH", &bin).borrow("sh").borrow("git") } else { env };
        env.program(program, &format!("printf '%s\\n' \"$@\" >'{}'", told.display()));
        env.run(&[]).exits(0).says_not("the notify command failed");
        let told = fs::read_to_string(told).expect("a message");
        assert!(told.starts_with(expected), "{told}");
        assert!(told.contains("Complete: the agent said so") && told.contains("ralph status "), "{told}");
    }
}

#[test]
fn a_wrong_target_is_refused_without_showing_it() {
    for wrong in ["slack:s3cret", "webhook:ftp://s3cret", "ntfy:s3cret topic"] {
        let env = Env::new().turns(json!([[done()]])).settings(json!({"notify": wrong}));
        let said = env.run(&[]).exits(2).says("notify").says("or `$NAME`");
        assert!(!said.stderr.contains("s3cret"), "{}", said.stderr);
    }
    let env = Env::new().turns(json!([[done()]])).settings(json!({"notifyLink": "http://h/#token=x"}));
    env.run(&[]).exits(2).says("without a token");
}

/// A stand-in for the program that keeps the machine awake: says so while it lives.
fn inhibited() -> Env {
    let env = Env::new().variable("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere");
    let log = env.root().join("awake").display().to_string();
    env.program(
        "systemd-inhibit",
        &format!(
            "case \"$1\" in --help) echo --no-ask-password; exit;; esac\n\
             trap '' TERM; echo \"awake $*\" >>'{log}'\ncat >/dev/null; echo asleep >>'{log}'"
        ),
    );
    env
}

fn awake(env: &Env) -> Vec<String> {
    let text = fs::read_to_string(env.root().join("awake")).unwrap_or_default();
    text.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_machine_stays_awake_while_turns_run_and_sleeps_while_the_run_is_paused() {
    let ([one, two], [three, four]) = (meet("began"), meet("again"));
    let env = inhibited().turns(json!([[one, two, say("Hm.")], [three, four, done()]]));
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    poll("an inhibitor", || (awake(&env) == ["awake"]).then_some(()));
    let asked = fs::read_to_string(env.root().join("awake")).expect("its words");
    assert!(asked.contains("--no-ask-password --what=idle:sleep --who=ralph"), "{asked}");
    env.ralph(&["pause"]).exits(0);
    touch(&env.path("began.go"));
    ralph.await_saying("Paused.");
    poll("a rest", || (awake(&env) == ["awake", "asleep"]).then_some(()));
    env.ralph(&["resume"]).exits(0);
    env.await_file("again");
    poll("an inhibitor again", || (awake(&env) == ["awake", "asleep", "awake"]).then_some(()));
    touch(&env.path("again.go"));
    ralph.wait().exits(0);
    poll("the end", || (awake(&env) == ["awake", "asleep", "awake", "asleep"]).then_some(()));
    env.nothing_left();
}

#[test]
fn nothing_keeps_the_machine_awake_after_a_kill_or_where_no_one_wants_it() {
    let [one, two] = meet("began");
    let env = inhibited().turns(json!([[one, two, done()]]));
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    poll("an inhibitor", || (awake(&env) == ["awake"]).then_some(()));
    ralph.kill_9();
    env.nothing_left();
    assert_eq!(awake(&env), ["awake", "asleep"]);

    let env = inhibited().turns(json!([[done()]])).settings(json!({"keepAwake": false}));
    env.run(&[]).exits(0);
    assert!(awake(&env).is_empty());
    // One that fails is no matter.
    let env = inhibited().turns(json!([[done()]]));
    env.program("systemd-inhibit", "echo no >&2; exit 1");
    env.run(&[]).exits(0).says_not("inhibit");
    env.nothing_left();
}
