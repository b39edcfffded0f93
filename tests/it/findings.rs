//! Done as far as the checks go: what was done to the judgement, and how a person decides about it.

use serde_json::{Value, json};

use crate::{
    env::{Env, RALPH, done, say, shell, write},
    stories::{leaves, list, project, sent_back, story, submitted},
};

/// A stories loop whose only story is approved at the review cap.
fn capped() -> Env {
    project(&list(&[story("US-1")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[sent_back("US-1", 1, "Week 53 is missing.")])),
        [say("Well.")],
    ]))
}

const AT_CAP: &str = "US-1 was approved at the review cap of 1; its reviewer had asked for changes";

#[track_caller]
fn status(env: &Env) -> Value {
    serde_json::from_str(&env.ralph(&["status", "--json"]).exits(0).stdout).expect("JSON")
}

#[test]
fn a_story_that_is_approved_at_the_cap_needs_a_person() {
    let env = capped().settings(json!({"notify": "cat >../told"}));
    let summary =
        env.ralph(&["stories", "--review-cap", "1"]).exits(7).says(&format!("Finding: {AT_CAP}")).stdout;
    let first: Vec<&str> = summary.lines().map(str::trim).collect();
    assert!(
        first[0].ends_with("Done as far as the checks go, with 1 finding: a person must look"),
        "{summary}"
    );
    assert_eq!(first[2..4], ["Needs attention:", &format!("- {AT_CAP}")]);
    let id = env.run_id();
    for command in [format!("ralph accept {id}"), format!("ralph reject {id} \"why\"")] {
        assert!(summary.contains(&command), "{summary}");
        assert!(env.ralph(&["status"]).exits(0).stdout.contains(&command));
    }
    // A story that only the cap approved was not approved by a review.
    assert!(!summary.contains("reviewing was cheap"), "{summary}");
    env.ralph(&["status"]).exits(0).prints("findings").prints("Needs attention:\n").prints(AT_CAP);
    env.ralph(&["status", "--exit-code"]).exits(7);
    assert_eq!((&status(&env)["exitCode"], &status(&env)["standing"]), (&json!(7), &json!("findings")));
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    let page = env.read("report.html");
    let attention = page.find("Needs attention").expect("a section");
    assert!(page[attention..].find(AT_CAP).expect("the finding") < 200, "{}", &page[attention..][..400]);
    let told = std::fs::read_to_string(env.root().join("told")).expect("a message");
    assert!(told.contains(AT_CAP) && told.contains("\"exit_code\":7"), "{told}");
    env.ralph(&["resume"]).exits(2).says("a person must decide").says("ralph accept");
}

#[test]
fn a_person_accepts_once() {
    let env = capped();
    env.ralph(&["accept"]).exits(2).says("there is no run");
    env.ralph(&["stories", "--review-cap", "1"]).exits(7);
    env.ralph(&["accept", "-m", "a matter of taste"])
        .exits(0)
        .prints(&format!("accepted run {}", env.run_id()));
    assert_eq!(env.events("accepted")[0]["why"], "a matter of taste");
    env.ralph(&["status", "--exit-code", &env.run_id()]).exits(0);
    env.ralph(&["status"]).exits(0).prints("complete");
    env.ralph(&["logs"]).exits(0).prints("A person accepted the work: a matter of taste");
    env.ralph(&["accept"]).exits(2).says("accepted already");
    env.ralph(&["reject", "why"]).exits(2).says("accepted already");
    env.ralph(&["resume"]).exits(2).says("is complete");
}

#[test]
fn a_run_without_findings_has_nothing_to_decide() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&[]).exits(0);
    env.ralph(&["accept"]).exits(2).says("has no findings");
    env.ralph(&["reject", "no"]).exits(2).says("has no findings");
    env.ralph(&["status", "--exit-code"]).exits(0);
    assert_eq!(status(&env)["findings"], json!([]));
}

#[test]
fn work_that_is_sent_back_goes_on_with_what_the_person_says() {
    let env = capped();
    env.ralph(&["stories", "--review-cap", "1", "-n", "2"]).exits(7);
    env.ralph(&["reject", " "]).exits(2).says("say what the agent must do differently");
    // One more iteration than there was allowed; the finding stays until a person accepts it.
    env.ralph(&["reject", "Count week 53."]).exits(7).says("A person sent the work back: Count week 53.");
    let prompts = env.prompts();
    assert_eq!(prompts.len(), 3);
    assert!(
        prompts[2].contains("A person looked at the work and sent it back:\nCount week 53."),
        "{}",
        prompts[2]
    );
    env.ralph(&["accept", &env.run_id()]).exits(0);
}

#[test]
fn the_exit_code_of_findings_is_the_users() {
    let env = capped();
    env.ralph(&["stories", "--review-cap", "1", "--finding-exit-code", "9"]).exits(9);
    env.ralph(&["status", "--exit-code"]).exits(9);
    // Only where it would else be 0.
    let env = Env::new().turns(json!([[shell(&format!("{RALPH} accept || true")), say("Hm.")]]));
    env.run(&["-m", "1"]).exits(1);
    env.ralph(&["accept"]).exits(2).says("is not done");
}

/// Every way to type a command for a person inside a run: by the agent, without the variable, by a guardrail.
#[test]
fn the_persons_commands_are_refused_inside_a_run() {
    let typed = |command: &str| format!("{command} 2>>refused; echo \"code $?\" >>refused");
    for (command, shown) in
        [("accept", "accept"), ("reject no", "reject"), ("resume --reread", "resume --reread")]
    {
        for (agent, guardrail) in [
            (typed(&format!("{RALPH} {command}")), "true".to_owned()),
            (typed(&format!("env -u RALPH_RUN_ID {RALPH} {command}")), "true".to_owned()),
            ("true".to_owned(), typed(&format!("env -i {RALPH} {command}"))),
        ] {
            let env = Env::new().turns(json!([[shell(&agent), done()]])).guardrails(&[&guardrail]);
            let env = env.settings(json!({"baseline": false}));
            let line =
                format!("a process of the run typed `ralph {shown}`, which is for a person; it was refused");
            env.run(&[]).exits(7).prints(&line);
            let refused = env.read("refused");
            assert!(refused.contains("is for a person") && refused.contains("code 2"), "{refused}");
            assert_eq!(env.events("found").len(), 1);
            env.ralph(&["accept"]).exits(0);
        }
    }
}

#[test]
fn a_push_waits_for_the_person() {
    let env = Env::new().with_git().turns(json!([[
        write("a", "1"),
        shell(&format!("{RALPH} accept || true")),
        done()
    ]]));
    env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
    env.git(&["remote", "add", "origin", "../remote"]);
    let env = env.settings(json!({"scm": {"tasks": ["commit", "push origin HEAD"]}}));
    let remote = env.project().with_file_name("remote");
    env.run(&[]).exits(7).says("git push origin HEAD waits for `ralph accept`");
    assert_eq!(env.git_in(&remote, &["branch"]), "");
    env.ralph(&["accept"]).exits(0);
    assert_eq!(env.git_in(&remote, &["rev-parse", "main"]), env.git(&["rev-parse", "HEAD"]));
}
