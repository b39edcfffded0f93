//! Receipts: run here, push, verify there. Two homes, two clones, one bare repository between them, real keys.

mod killed;
pub(crate) mod presets;
mod private;
mod rerun;
mod shipped;
mod signing;
mod tampered;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::env::{Env, Output, done, shell};

/// The guardrail of the base.
const GUARDRAIL: &str = "sh test.sh";

/// Two machines' worth of state.
struct Machines {
    /// Where the run is.
    here: Env,
    /// Where it is verified.
    there: Env,
    /// The clone there.
    clone: PathBuf,
}

/// Makes a key without a passphrase, and returns its public part.
pub(crate) fn make_key(env: &Env, path: &Path) -> String {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let made = env
        .command("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "a key of a test", "-f"])
        .arg(path)
        .status()
        .expect("ssh-keygen");
    assert!(made.success(), "{made}");
    let public = fs::read_to_string(path.with_extension("pub")).expect("the public part");
    public.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

/// Has git sign with the key.
pub(crate) fn sign_with(env: &Env, key: &Path) {
    env.git(&["config", "--global", "gpg.format", "ssh"]);
    env.git(&["config", "--global", "user.signingkey", &key.display().to_string()]);
}

pub(crate) fn key_of(env: &Env) -> PathBuf {
    env.root().join("home/.ssh/id_ed25519")
}

/// A project with a remote, a tracked guardrail and a key, before its run.
fn project() -> Env {
    let env = Env::new()
        .with_git()
        .guardrails(&[GUARDRAIL])
        .settings(json!({"scm": {"command": "git", "tasks": ["commit", "push origin HEAD", "notes"]}}))
        .turns(json!([[shell("echo right >answer"), done()]]));
    env.write("test.sh", "test \"$(cat answer)\" = right\n");
    env.write("answer", "wrong\n");
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "-m", "a test"]);
    env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote.git"]);
    env.git(&["remote", "add", "origin", "../remote.git"]);
    env.git(&["push", "--quiet", "origin", "main"]);
    make_key(&env, &key_of(&env));
    sign_with(&env, &key_of(&env));
    env
}

impl Machines {
    /// Runs here, pushes with notes, and clones there.
    fn new() -> Self {
        let here = project();
        here.run(&[]).exits(0);
        Self::around(here)
    }

    fn around(here: Env) -> Self {
        let there = Env::new();
        let clone = there.root().join("clone");
        let remote = here.root().join("remote.git");
        there.git(&["clone", "--quiet", &remote.display().to_string(), &clone.display().to_string()]);
        let machines = Self { here, there, clone };
        machines.git(&["config", "user.name", "B"]);
        machines.git(&["config", "user.email", "b@localhost"]);
        machines.fetch();
        machines.trust("ann@example.com", &machines.public());
        machines
    }

    /// A run whose push waits for a person: what it has is pushed by hand.
    fn around_unpushed(here: Env) -> Self {
        here.git(&["push", "--quiet", "origin", "HEAD", "refs/notes/ralph"]);
        Self::around(here)
    }

    /// A policy file there.
    fn policy(&self, policy: Value) -> String {
        let path = self.there.root().join("home/policy.json");
        fs::write(&path, policy.to_string()).expect("a policy");
        path.display().to_string()
    }

    fn fetch(&self) {
        let refs = ["refs/heads/*:refs/remotes/origin/*", "+refs/notes/ralph:refs/notes/ralph"];
        self.git(&[&["fetch", "--quiet", "origin"][..], &refs].concat());
    }

    fn public(&self) -> String {
        let text = fs::read_to_string(key_of(&self.here).with_extension("pub")).expect("the public part");
        text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    }

    /// Writes the file of allowed signers there.
    fn trust(&self, who: &str, key: &str) {
        let path = self.there.root().join("home/signers");
        fs::write(&path, format!("# Who may sign.\n{who} {key}\n")).expect("a file");
        let path = path.display().to_string();
        self.there.git(&["config", "--global", "gpg.ssh.allowedSignersFile", &path]);
    }

    fn git(&self, args: &[&str]) -> String {
        self.there.git_in(&self.clone, args)
    }

    /// `ralph verify` there.
    #[track_caller]
    fn verify(&self, args: &[&str]) -> Output {
        let clone = self.clone.display().to_string();
        self.there.ralph(&[&["-C", &clone, "verify"], args].concat())
    }

    /// What `ralph verify --json` says there.
    #[track_caller]
    fn verdict(&self, args: &[&str]) -> Value {
        let output = self.verify(&[&["--json"], args].concat());
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// The receipt, as the note there has it.
    fn envelope(&self) -> Value {
        serde_json::from_str(&self.git(&["notes", "--ref=ralph", "show", "HEAD"])).expect("an envelope")
    }

    /// The same of another commit.
    fn envelope_of(&self, commit: &str) -> Value {
        serde_json::from_str(&self.git(&["notes", "--ref=ralph", "show", commit])).expect("an envelope")
    }

    /// A receipt in a file there.
    fn file(&self, envelope: &Value) -> String {
        let path = self.there.root().join("home/receipt.json");
        fs::write(&path, envelope.to_string()).expect("a file");
        path.display().to_string()
    }
}

/// What an envelope says.
fn statement_of(envelope: &Value) -> Value {
    serde_json::from_slice(&from_base64(envelope["payload"].as_str().expect("a payload")))
        .expect("a statement")
}

/// The envelope with another statement in it.
fn with_statement(envelope: &Value, statement: &Value) -> Value {
    let mut envelope = envelope.clone();
    envelope["payload"] = json!(to_base64(statement.to_string().as_bytes()));
    envelope
}

/// Signs an envelope as its author would, with any key and for any purpose.
fn signed_by(env: &Env, envelope: &Value, key: &Path, namespace: &str) -> Value {
    let payload = from_base64(envelope["payload"].as_str().expect("a payload"));
    let kind = envelope["payloadType"].as_str().expect("a type");
    let mut bytes = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len()).into_bytes();
    bytes.extend(payload);
    let file = env.root().join("signed");
    fs::write(&file, bytes).expect("a file");
    let _ = fs::remove_file(env.root().join("signed.sig"));
    let words = ["-q", "-Y", "sign", "-n", namespace, "-f"];
    let made = env.command("ssh-keygen").args(words).args([key, &file]).status().expect("ssh-keygen");
    assert!(made.success(), "{made}");
    let armour = fs::read_to_string(env.root().join("signed.sig")).expect("a signature");
    let body: String = armour.lines().filter(|line| !line.starts_with("-----")).collect();
    let mut envelope = envelope.clone();
    envelope["signatures"] = json!([{ "sig": body }]);
    envelope
}

fn to_base64(bytes: &[u8]) -> String {
    base64(bytes, &["-w0"])
}

fn from_base64(text: &str) -> Vec<u8> {
    let (mut child, text) = (spawn_base64(&["-d"]), text.as_bytes().to_vec());
    let mut input = child.stdin.take().expect("an input");
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &text));
    let output = child.wait_with_output().expect("base64");
    writer.join().expect("a thread").expect("it is written");
    assert!(output.status.success());
    output.stdout
}

fn base64(bytes: &[u8], args: &[&str]) -> String {
    let (mut child, bytes) = (spawn_base64(args), bytes.to_vec());
    let mut input = child.stdin.take().expect("an input");
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, &bytes));
    let output = child.wait_with_output().expect("base64");
    writer.join().expect("a thread").expect("it is written");
    String::from_utf8(output.stdout).expect("text")
}

fn spawn_base64(args: &[&str]) -> std::process::Child {
    use std::process::Stdio;
    let mut command = std::process::Command::new("base64");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("base64")
}
