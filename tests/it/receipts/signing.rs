//! Who signs, and who cannot: without a prompt, without a wait, and never the agent.

use std::{
    fs,
    process::{Child, Stdio},
};

use serde_json::{Value, json};

use super::{Machines, key_of, make_key, project, sign_with, statement_of};
use crate::{
    contained::works,
    env::{Env, RALPH, done, poll, shell},
};

fn envelope(env: &Env) -> Value {
    let text = fs::read_to_string(env.newest_run().join("receipt.json")).expect("a receipt");
    serde_json::from_str(&text).expect("JSON")
}

fn signatures(env: &Env) -> usize {
    envelope(env)["signatures"].as_array().expect("a list").len()
}

/// An agent for keys, and its socket.
fn agent(env: &Env, name: &str) -> (Child, String) {
    let socket = env.root().join(name);
    let mut command = env.command("ssh-agent");
    let agent = command.args(["-D", "-a"]).arg(&socket).stdout(Stdio::null()).spawn().expect("ssh-agent");
    poll("the agent", || socket.exists().then_some(()));
    (agent, socket.display().to_string())
}

fn committing() -> Env {
    let env = Env::new().with_git().commits().guardrails(&["true"]);
    env.turns(json!([[shell("echo x >>work"), done()]]))
}

#[test]
fn without_a_key_a_receipt_is_not_signed_and_can_be_later() {
    let env = committing();
    env.run(&[]).exits(0).says_not("receipt");
    assert_eq!(signatures(&env), 0);
    env.ralph(&["sign"]).exits(2).says("git has no SSH signing key").says("gpg.format ssh");
    env.ralph(&["verify"]).exits(2).prints("no one has signed it");
    make_key(&env, &key_of(&env));
    sign_with(&env, &key_of(&env));
    env.ralph(&["sign", &env.run_id()]).exits(0).prints("SHA256:");
    assert_eq!(signatures(&env), 1);
    let noted = env.git(&["notes", "--ref=ralph", "show", "HEAD"]);
    assert_eq!(serde_json::from_str::<Value>(&noted).expect("JSON"), envelope(&env), "the note is replaced");
    env.ralph(&["verify"]).exits(2).prints("you have no file of allowed signers");
}

#[test]
fn keys_of_other_kinds_are_refused_with_a_hint() {
    let env = committing();
    env.git(&["config", "user.signingkey", "0123456789ABCDEF"]);
    env.run(&[]).exits(0).says("not signed: git signs with a GPG key");
    assert_eq!(signatures(&env), 0);
    env.ralph(&["sign"]).exits(2).says("git config gpg.format ssh");
    env.git(&["config", "gpg.format", "x509"]);
    env.ralph(&["sign"]).exits(2).says("git signs with x509");
}

#[test]
fn a_key_that_would_ask_does_not_sign() {
    let env = committing();
    let key = key_of(&env);
    fs::create_dir_all(key.parent().expect("a folder")).expect("a folder");
    let words = ["-q", "-t", "ed25519", "-N", "a passphrase", "-f"];
    assert!(env.command("ssh-keygen").args(words).arg(&key).status().expect("ssh-keygen").success());
    sign_with(&env, &key);
    // A program that would show a window must not be asked either.
    env.program("askpass", &format!("touch {}; echo 'a passphrase'", env.root().join("asked").display()));
    let askpass = env.root().join("bin/askpass").display().to_string();
    let env = env
        .variable("SSH_ASKPASS", &askpass)
        .variable("DISPLAY", ":0")
        .variable("SSH_ASKPASS_REQUIRE", "force");
    env.run(&[]).exits(0).says("the receipt is not signed: ssh-keygen: ");
    assert_eq!(signatures(&env), 0);
    assert!(!env.root().join("asked").exists(), "someone was asked");
    env.ralph(&["sign"]).exits(2).says("ssh-add");
    // With its agent it signs at once.
    let (mut agent, socket) = agent(&env, "agent.sock");
    let added =
        env.command("ssh-add").arg("-q").arg(&key).env("SSH_AUTH_SOCK", &socket).status().expect("ssh-add");
    let env = env.variable("SSH_AUTH_SOCK", &socket);
    let signed = env.ralph(&["sign"]);
    // A key as text is in the agent, too.
    let public = fs::read_to_string(key.with_extension("pub")).expect("the public part");
    env.git(&["config", "--global", "user.signingkey", &format!("key::{}", public.trim())]);
    let as_text = env.ralph(&["sign"]);
    agent.kill().expect("it ends");
    agent.wait().expect("it ends");
    assert!(added.success());
    signed.exits(0);
    as_text.exits(0);
    assert_eq!(signatures(&env), 1);
}

#[test]
fn a_key_that_does_not_answer_is_not_waited_for() {
    let env = committing();
    make_key(&env, &key_of(&env));
    sign_with(&env, &key_of(&env));
    env.program("ssh-keygen", "exec sleep 600");
    env.run(&[]).exits(0).says("the key did not answer within 10 s");
    assert_eq!(signatures(&env), 0);
    assert_eq!(env.alive(), []);
}

#[test]
fn in_a_sandbox_the_key_is_out_of_reach() {
    if !works("embedded") {
        return;
    }
    let reach = "case \"$(cat)\" in *'commit message'*) echo Work; exit;; esac
        cat \"$KEY\" >stolen 2>/dev/null
        echo x | ssh-keygen -q -Y sign -n ralph-receipt -f \"$KEY\" >>stolen 2>/dev/null
        SSH_AUTH_SOCK=\"$SOCKET\" ssh-add -L >>stolen 2>/dev/null
        echo x >>work; echo '<response>DONE</response>'";
    for (level, is_reachable) in [("none", true), ("embedded", false)] {
        let env = committing().agent("worker", reach).settings(json!({"sandbox": level}));
        // A place that no list of secrets has.
        let key = env.root().join("keys/mine");
        make_key(&env, &key);
        sign_with(&env, &key);
        let (mut agent, socket) = agent(&env, "keys/agent.sock");
        let added = env.command("ssh-add").arg("-q").arg(&key).env("SSH_AUTH_SOCK", &socket).status();
        let env = env.variable("KEY", &key.display().to_string()).variable("SOCKET", &socket);
        let env = env.variable("SSH_AUTH_SOCK", &socket);
        let ran = env.run(&[]);
        agent.kill().expect("it ends");
        agent.wait().expect("it ends");
        assert!(added.expect("ssh-add").success());
        ran.exits(0);
        assert_eq!(signatures(&env), 1, "{level}");
        let said = &statement_of(&envelope(&env))["predicate"]["containment"];
        assert_eq!((&said["keyReachable"], &said["sandbox"]), (&json!(is_reachable), &json!(level)));
        assert_eq!(!env.read("stolen").is_empty(), is_reachable, "{level}");
    }
}

#[test]
fn an_agent_signs_nothing() {
    let env = Env::new().with_git().commits().guardrails(&["true"]).agent(
        "worker",
        "case \"$(cat)\" in *'commit message'*) echo Work; exit;; esac
         echo x >>work; ralph sign 2>refused; echo '<response>DONE</response>'",
    );
    env.program("ralph", &format!("exec {RALPH} \"$@\""));
    env.run(&["-m", "1"]).exits(7);
    assert!(env.read("refused").contains("is for a person"), "{}", env.read("refused"));
    let refused = env.ralph(&["guard", "check", "ssh-keygen -Y sign -f key -n ralph-receipt receipt"]);
    refused.exits(1);
    env.ralph(&["guard", "check", "ssh-keygen -Y sign -f tests/key -n file x"]).exits(0);
}

#[test]
fn accepting_findings_signs_again() {
    let here = project().agent(
        "worker",
        "case \"$(cat)\" in *'commit message'*) echo Work; exit;; esac
         ralph accept 2>/dev/null; echo right >answer; echo '<response>DONE</response>'",
    );
    here.program("ralph", &format!("exec {RALPH} \"$@\""));
    here.run(&["-m", "1"]).exits(7);
    let machines = Machines::around_unpushed(here);
    machines.verify(&[]).exits(1).prints("no person has accepted");
    machines.here.ralph(&["accept", "-m", "it was only curious"]).exits(0);
    machines.fetch();
    machines.git(&["reset", "--quiet", "--hard", "origin/main"]);
    machines.verify(&[]).exits(0).prints("accepted by a person");
    let accepted = statement_of(&machines.envelope())["predicate"]["accepted"].clone();
    assert_eq!(accepted["why"], "it was only curious");
    // The receipt from before, put back, is the one from before.
    machines.verify(&["--policy", &machines.policy(json!({"noFindings": true}))]).exits(1);
}
