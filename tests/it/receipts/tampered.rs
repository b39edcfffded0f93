//! What is done to receipts, and what `ralph verify` says about it.

use std::fs;

use serde_json::{Value, json};

use super::{Machines, key_of, make_key, signed_by, statement_of, with_statement};

/// The items about something.
fn about<'a>(verdict: &'a Value, topic: &str) -> Vec<&'a Value> {
    verdict["items"].as_array().expect("items").iter().filter(|item| item["topic"] == topic).collect()
}

#[track_caller]
fn check(machines: &Machines, args: &[&str], code: i32, says: &str) -> Value {
    let output = machines.verify(args).exits(code);
    let text = output.stdout.clone() + &output.stderr;
    assert!(text.contains(says), "expected {says:?} in:\n{text}");
    let verdict = machines.verdict(args);
    let expected = ["holds", "does-not-hold", "cannot-tell"][usize::try_from(code).expect("a code")];
    assert_eq!(verdict["verdict"], expected, "{verdict:#}");
    verdict
}

#[test]
fn a_receipt_that_no_one_touched_holds_on_another_machine() {
    let machines = Machines::new();
    let verdict = check(&machines, &[], 0, "The receipt of ");
    assert_eq!(verdict["signer"], "ann@example.com");
    assert_eq!(verdict["commit"], machines.here.git(&["rev-parse", "HEAD"]).trim());
    check(&machines, &["origin/main"], 0, "signed by ann@example.com");
    // The same from a file, and with the record beside it.
    let file = machines.file(&machines.envelope());
    check(&machines, &[&file], 0, "is valid");
    let journal = machines.here.newest_run().join("journal.jsonl").display().to_string();
    check(&machines, &[&file, "--journal", &journal], 0, "the record of the run is here");
    // The author can verify, too.
    let signers = machines.there.root().join("home/signers").display().to_string();
    let own = machines.here.ralph(&["verify", "--allowed-signers", &signers]).exits(0);
    assert!(own.stdout.contains("the record of the run is here"), "{}", own.stdout);
    // A commit without a receipt.
    check(&machines, &["HEAD~1"], 2, "there is no receipt of");
    check(&machines, &["nonsense"], 2, "neither a commit of this project nor a file");
}

#[test]
fn an_edited_receipt_does_not_hold() {
    let machines = Machines::new();
    let whole = machines.envelope();
    let mut edits: Vec<Value> = Vec::new();
    let mut edit = |change: &dyn Fn(&mut Value)| {
        let mut statement = statement_of(&whole);
        change(&mut statement);
        edits.push(with_statement(&whole, &statement));
    };
    edit(&|it| it["predicate"]["run"]["exitCode"] = json!(1));
    edit(&|it| it["predicate"]["findings"] = json!([]));
    edit(&|it| it["predicate"]["spent"]["turns"] = json!(9));
    edit(&|it| it["predicate"]["containment"]["sandbox"] = json!("embedded"));
    edit(&|it| it["predicate"]["guardrails"][0]["command"] = json!("true"));
    edit(&|it| it["subject"][0]["digest"]["gitCommit"] = json!("0".repeat(40)));
    for edited in &edits {
        // The first edit of findings changes only how the JSON is written, which is a change, too.
        check(&machines, &[&machines.file(edited)], 1, "the signature is not one of this receipt");
    }
    let mut broken = whole.clone();
    broken["payload"] = json!("??");
    check(&machines, &[&machines.file(&broken)], 1, "its payload is not base64");
    let mut other = whole.clone();
    other["payloadType"] = json!("text/plain");
    check(&machines, &[&machines.file(&other)], 2, "text/plain");
    let mut more = whole.clone();
    more["trusted"] = json!(true);
    check(&machines, &[&machines.file(&more)], 1, "not a DSSE envelope");
}

#[test]
fn only_keys_that_the_verifier_trusts_count() {
    let machines = Machines::new();
    let whole = machines.envelope();
    let other = machines.there.root().join("home/other");
    let public = make_key(&machines.there, &other);
    // A good signature of a key that no one knows.
    let foreign = signed_by(&machines.there, &whole, &other, "ralph-receipt");
    check(&machines, &[&machines.file(&foreign)], 2, "which is not in");
    // A name in the envelope is no one's word.
    let mut named = foreign.clone();
    named["signatures"][0]["keyid"] = json!(whole["signatures"][0]["keyid"]);
    check(&machines, &[&machines.file(&named)], 2, "which is not in");
    // The signature of something else.
    let elsewhere = with_statement(&whole, &json!({"_type": "x"}));
    let stolen = signed_by(&machines.there, &elsewhere, &key_of(&machines.here), "ralph-receipt");
    let mut moved = whole.clone();
    moved["signatures"] = stolen["signatures"].clone();
    check(&machines, &[&machines.file(&moved)], 1, "the signature is not one of this receipt");
    // The right key, for another purpose.
    let for_git = signed_by(&machines.there, &whole, &key_of(&machines.here), "git");
    check(&machines, &[&machines.file(&for_git)], 1, "made for something else");
    // No signature.
    let mut unsigned = whole.clone();
    unsigned["signatures"] = json!([]);
    check(&machines, &[&machines.file(&unsigned)], 2, "no one has signed it");
    // Not in the list, limited in the list, out of date in the list.
    machines.trust("bob@example.com", &public);
    check(&machines, &[], 2, "namespaces=\"ralph-receipt\" ssh-ed25519");
    machines.trust("ann@example.com namespaces=\"git\"", &machines.public());
    let limited = check(&machines, &[], 2, "does not allow `ralph-receipt`");
    let hint = about(&limited, "signature")[0]["hints"][0].as_str().expect("a hint").to_owned();
    let line = hint.strip_prefix("add the line: ").expect("a line");
    machines.trust("ann@example.com valid-before=\"20200101\"", &machines.public());
    check(&machines, &[], 2, "ann@example.com");
    fs::write(machines.there.root().join("home/signers"), format!("{line}\n")).expect("a file");
    check(&machines, &[], 0, "signed by ann@example.com");
    machines.there.git(&["config", "--global", "--unset", "gpg.ssh.allowedSignersFile"]);
    check(&machines, &[], 2, "you have no file of allowed signers");
}

#[test]
fn history_may_be_rewritten_around_the_same_files() {
    let machines = Machines::new();
    let base = machines.git(&["rev-parse", "HEAD~1"]);
    let base = base.trim();
    // Another message, another commit, the same files.
    machines.git(&["commit", "--quiet", "--amend", "-m", "squashed"]);
    check(&machines, &[], 0, "has the files that were judged");
    // Two commits that end with the same files.
    machines.git(&["reset", "--quiet", "--hard", base]);
    machines.git(&["commit", "--quiet", "--allow-empty", "-m", "in between"]);
    machines.git(&["checkout", "--quiet", "origin/main", "--", "."]);
    machines.git(&["commit", "--quiet", "-m", "rebased"]);
    check(&machines, &[], 0, "has the files that were judged");
    // Rebased onto a base that was made anew.
    let tree = machines.git(&["rev-parse", "origin/main^{tree}"]);
    let old = machines.git(&["rev-parse", &format!("{base}^{{tree}}")]);
    let root = machines.git(&["commit-tree", "-m", "a new base", old.trim()]);
    let tip = machines.git(&["commit-tree", "-p", root.trim(), "-m", "rebased", tree.trim()]);
    check(&machines, &[tip.trim()], 0, "a commit with the files of");
    // Without what the run started from the same files are another story.
    let orphan = machines.git(&["commit-tree", "-m", "an orphan", tree.trim()]);
    check(&machines, &[orphan.trim()], 1, "which is not in its history");
    // Amended: other files.
    machines.git(&["reset", "--quiet", "--hard", "origin/main"]);
    fs::write(machines.clone.join("more"), "more").expect("a file");
    machines.git(&["add", "--all"]);
    machines.git(&["commit", "--quiet", "--amend", "-m", "amended"]);
    check(&machines, &[], 2, "there is no receipt of");
    let amended = machines.git(&["rev-parse", "HEAD"]);
    // The note moved to it says what it said, about something else.
    machines.git(&["notes", "--ref=ralph", "copy", "origin/main", amended.trim()]);
    check(&machines, &[], 1, "has other files");
    // A history that is cut off.
    let shallow = machines.there.root().join("shallow").display().to_string();
    let remote = format!("file://{}", machines.here.root().join("remote.git").display());
    machines.there.git(&["clone", "--quiet", "--depth=1", &remote, &shallow]);
    machines
        .there
        .git_in(shallow.as_ref(), &["fetch", "--quiet", "origin", "refs/notes/ralph:refs/notes/ralph"]);
    machines.there.ralph(&["-C", &shallow, "verify"]).exits(2).prints("git fetch --unshallow");
}

#[test]
fn a_receipt_of_an_older_run_is_no_receipt_of_a_newer_commit() {
    let machines = Machines::new();
    let first = machines.here.git(&["rev-parse", "HEAD"]);
    fs::write(
        machines.here.script_path(),
        json!({"turns": [
        [crate::env::done()], [crate::env::shell("echo more >more"), crate::env::done()]]})
        .to_string(),
    )
    .expect("a script");
    machines.here.run(&[]).exits(0);
    machines.fetch();
    machines.git(&["reset", "--quiet", "--hard", "origin/main"]);
    check(&machines, &[], 0, "is valid");
    machines.git(&["notes", "--ref=ralph", "copy", "--force", first.trim(), "HEAD"]);
    check(&machines, &[], 1, "has other files");
    let old = machines.git(&["notes", "--ref=ralph", "show", first.trim()]);
    let file = machines.file(&serde_json::from_str(&old).expect("an envelope"));
    check(&machines, &[&file], 1, "has other files");
    check(&machines, &[&file, "--commit", first.trim()], 0, "is valid");
}

#[test]
fn a_record_that_was_cut_or_reordered_is_another_one() {
    let machines = Machines::new();
    let journal = machines.here.newest_run().join("journal.jsonl");
    let lines: Vec<String> =
        fs::read_to_string(&journal).expect("a journal").lines().map(str::to_owned).collect();
    let copy = machines.there.root().join("home/journal.jsonl");
    let file = machines.file(&machines.envelope());
    let args = [&file, "--journal", &copy.display().to_string()].map(str::to_owned);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let put = |lines: &[String]| fs::write(&copy, lines.join("\n") + "\n").expect("a journal");
    put(&lines);
    check(&machines, &args, 0, "the record of the run is here");
    // What a person decided later is no harm.
    put(&lines[..lines.len() - 1]);
    check(&machines, &args, 1, "when the receipt was made");
    let mut moved = lines.clone();
    moved.swap(2, 3);
    put(&moved);
    check(&machines, &args, 1, "is not as it was written");
    // A person who makes the chain anew has another record.
    let bare: Vec<String> =
        lines.iter().map(|line| format!("{}}}", line.split(",\"chain\":").next().expect("a line"))).collect();
    put(&bare);
    check(&machines, &args, 1, "not the one that the receipt was made from");
}

#[test]
fn a_policy_can_ask_for_more() {
    let machines = Machines::new();
    let policy = machines.there.root().join("home/policy.json");
    let path = policy.display().to_string();
    let put = |policy_text: Value| fs::write(&policy, policy_text.to_string()).expect("a policy");
    put(
        json!({"signers": ["ann@example.com"], "guardrails": ["sh test.sh"], "noFindings": true, "cleanClone": true}),
    );
    check(&machines, &["--policy", &path], 0, "all that the policy asks for");
    for (wanted, says) in [
        (json!({"signers": ["bob@example.com"]}), "which the policy does not name"),
        (json!({"guardrails": ["make lint"]}), "`make lint` did not pass in the run"),
        (json!({"sandbox": ["embedded", "bwrap"]}), "the sandbox was `none`"),
        (json!({"guard": true}), "no guard checked"),
        (json!({"keyUnreachable": true}), "could reach the key"),
    ] {
        put(wanted);
        check(&machines, &["--policy", &path], 1, says);
    }
    put(json!({"noFindigns": true}));
    check(&machines, &["--policy", &path], 2, "unknown field");
    // What the commit brings along is not the verifier's.
    fs::write(machines.clone.join("policy.json"), "{}").expect("a policy");
    check(&machines, &["--policy", "policy.json"], 2, "is in the working tree");
    fs::copy(machines.there.root().join("home/signers"), machines.clone.join("signers")).expect("a copy");
    check(&machines, &["--allowed-signers", "signers"], 2, "origin/main:signers");
    machines.git(&["config", "gpg.ssh.allowedSignersFile", "signers"]);
    check(&machines, &[], 2, "is in the working tree");
}

#[test]
fn no_one_chooses_for_the_verifier_what_a_name_means() {
    let machines = Machines::new();
    machines.git(&["checkout", "--quiet", "-b", "feature"]);
    fs::write(machines.clone.join("answer"), "wrong too\n").expect("a file");
    machines.git(&["commit", "--quiet", "-am", "unjudged"]);
    check(&machines, &["feature"], 2, "there is no receipt of");
    // Git would take the tag.
    machines.git(&["tag", "feature", "origin/main"]);
    check(&machines, &["feature"], 2, "refs/heads/feature");
    check(&machines, &["refs/heads/feature"], 2, "there is no receipt of");
    // The same for what is trusted.
    machines.git(&["tag", "origin/main", "feature~0"]);
    for args in [&["--policy", "origin/main:test.sh"][..], &["HEAD~1", "--rerun", "--base", "origin/main"]] {
        let output = machines.verify(args).exits(2);
        assert!(output.stderr.contains("refs/remotes/origin/main"), "{}", output.stderr);
    }
    // A file and a branch of one name.
    fs::write(machines.clone.join("other"), "{}").expect("a file");
    machines.git(&["branch", "other", "HEAD"]);
    check(&machines, &["other"], 2, "is a commit and a file");
}
