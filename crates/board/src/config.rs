//! The configuration of a server that lets in whom it should, and lets them do what they must.
//!
//! Every worker has an account of its own: what it does not import does not exist for it. Permissions within one account
//! are not enough: a request names the subject of its answer, and no one asks whether the sender may publish there, so a
//! worker could have the server put into any log what it stored itself.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use ralph_core::fleet::LANDER;

use crate::{
    key::PublicKey,
    name::Name,
    subjects::{API, EVENTS, ITEMS, PARCELS, WORK, WORKERS},
};

/// What is written into the configuration of a server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where it listens: `HOST:PORT`.
    pub listen: String,
    /// Where its streams are.
    pub store: PathBuf,
    /// The certificate and its key.
    pub certificate: (PathBuf, PathBuf),
    /// Makes the streams, once.
    pub admin: PublicKey,
    /// Posts and lands.
    pub lander: PublicKey,
    /// Reads logs and journals.
    pub watcher: PublicKey,
    /// Work.
    pub workers: Vec<(Name, PublicKey)>,
}

/// What only a worker says of an item.
const WORKERS_STEPS: [&str; 4] = ["claimed", "done", "failed", "released"];
/// What only the lander says of an item.
const LANDERS_STEPS: [&str; 8] =
    ["posted", "merged", "refused", "withdrawn", "failed", "cancelled", "reoffered", "said"];
/// The name of who makes the streams.
pub const ADMIN: &str = "admin";
/// The name of who only reads.
pub const WATCHER: &str = "watcher";

/// Something that another account may ask for.
struct Service {
    /// `NAME` stands for the name of a worker.
    subject: String,
    /// The interface of the streams is under another prefix in other accounts.
    is_api: bool,
    /// The server answers with many messages.
    is_stream: bool,
}

impl ServerConfig {
    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = self.head();
        text.push_str("accounts {\n  RALPH {\n    jetstream: enabled\n    exports: [\n");
        for service in for_worker() {
            let answers = if service.is_stream { ", response_type: stream" } else { "" };
            let subject = service.subject.replace("NAME", "*");
            push(&mut text, &format!("      {{ service: {subject:?}{answers} }}"));
        }
        let events = format!("$JS.API.DIRECT.GET.{EVENTS}");
        push(&mut text, &format!("      {{ service: {events:?}, response_type: stream }}"));
        text.push_str("    ]\n    users: [\n");
        text.push_str(&user("Makes the streams, once.", &self.admin, ADMIN, &["$JS.API.>".to_owned()]));
        text.push_str(&user("Posts and lands.", &self.lander, LANDER, &for_lander()));
        text.push_str("    ]\n  }\n\n");
        let seen = [ITEMS, EVENTS].map(|stream| api(&format!("DIRECT.GET.{stream}")).many());
        text.push_str(&account("Reads logs and journals.", "WATCHER", &self.watcher, WATCHER, &seen));
        for (name, key) in &self.workers {
            text.push_str(&account(
                "A worker.",
                &format!("WORKER_{name}"),
                key,
                name.as_str(),
                &for_worker(),
            ));
        }
        text.push_str("}\n");
        text
    }

    fn head(&self) -> String {
        let quoted = |path: &Path| format!("{:?}", path.display().to_string());
        let (listen, store) = (&self.listen, quoted(&self.store));
        let (certificate, key) = (quoted(&self.certificate.0), quoted(&self.certificate.1));
        format!(
            "# Written by `ralph fleet board`, and written again whenever it starts.\n\
             server_name: ralph\n\
             listen: {listen:?}\n\
             jetstream {{\n  \
               store_dir: {store}\n  \
               max_mem: 64M\n  \
               max_file: 20G\n  \
               # By default an acknowledged message is on the disk up to two minutes later; with this, before it is acknowledged.\n  \
               sync_interval: always\n\
             }}\n\
             tls {{\n  \
               cert_file: {certificate}\n  \
               key_file: {key}\n  \
               # Everything is encrypted, even the server's greeting.\n  \
               handshake_first: true\n\
             }}\n\
             # Every worker has an account of its own: permissions within one account do not keep a worker out of a log.\n"
        )
    }
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn api(request: &str) -> Service {
    Service { subject: format!("$JS.API.{request}"), is_api: true, is_stream: false }
}

fn plain(subject: String) -> Service {
    Service { subject, is_api: false, is_stream: false }
}

impl Service {
    fn many(self) -> Self {
        Self { is_stream: true, ..self }
    }

    fn import(&self, name: &str) -> String {
        let subject = self.subject.replace("NAME", name);
        let to = match subject.strip_prefix("$JS.API.") {
            Some(request) if self.is_api => format!(", to: \"{API}.{request}\""),
            _ => String::new(),
        };
        format!("      {{ service: {{ account: RALPH, subject: {subject:?} }}{to} }}\n")
    }
}

fn for_worker() -> Vec<Service> {
    let mut services = vec![
        api(&format!("CONSUMER.INFO.{WORK}.{WORKERS}")),
        api(&format!("CONSUMER.MSG.NEXT.{WORK}.{WORKERS}")).many(),
        plain(format!("$JS.ACK.{WORK}.{WORKERS}.>")),
        api(&format!("DIRECT.GET.{ITEMS}")).many(),
    ];
    services.extend(WORKERS_STEPS.map(|step| plain(format!("ralph.item.*.*.{step}.NAME"))));
    services.extend([
        api(&format!("DIRECT.GET.{EVENTS}.ralph.events.*.*.*.NAME")),
        plain("ralph.events.*.*.*.NAME".to_owned()),
        api(&format!("STREAM.INFO.{PARCELS}")),
        api(&format!("STREAM.MSG.GET.{PARCELS}")),
        api(&format!("DIRECT.GET.{PARCELS}.>")),
        plain("ralph.parcel.NAME.*.*".to_owned()),
    ]);
    services
}

fn for_lander() -> Vec<String> {
    let mut subjects = vec!["ralph.work.*.*".to_owned()];
    subjects.extend(LANDERS_STEPS.map(|step| format!("ralph.item.*.*.{step}.{LANDER}")));
    subjects.push(format!("ralph.parcel.{LANDER}.*.*"));
    // The log of the fleet itself, for watchers.
    subjects.push(format!("ralph.events.*.*.*.{LANDER}"));
    subjects.push(format!("$JS.API.DIRECT.GET.{EVENTS}.ralph.events.*.*.*.{LANDER}"));
    subjects.extend([ITEMS, EVENTS].map(|stream| format!("$JS.API.DIRECT.GET.{stream}")));
    subjects.extend([
        "$JS.API.STREAM.INFO.*".to_owned(),
        format!("$JS.API.CONSUMER.INFO.{WORK}.{WORKERS}"),
        format!("$JS.API.STREAM.MSG.GET.{PARCELS}"),
        format!("$JS.API.DIRECT.GET.{PARCELS}.>"),
    ]);
    subjects
}

fn user(what: &str, key: &PublicKey, name: &str, subjects: &[String]) -> String {
    let mut text =
        format!("      # {what}\n      {{ nkey: {}, permissions: {{\n        publish: [\n", key.as_str());
    for subject in subjects {
        push(&mut text, &format!("          {subject:?}"));
    }
    let _ = writeln!(text, "        ]\n        subscribe: [\"_INBOX_{name}.>\"]\n      }} }}");
    text
}

fn account(what: &str, account: &str, key: &PublicKey, name: &str, services: &[Service]) -> String {
    let imports: String = services.iter().map(|service| service.import(name)).collect();
    format!(
        "  # {what}\n  {account} {{\n    imports: [\n{imports}    ]\n    users: [{{ nkey: {} }}]\n  }}\n",
        key.as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;

    fn config(workers: &[&str]) -> (ServerConfig, Vec<PublicKey>) {
        let keys: Vec<PublicKey> = (0..3 + workers.len()).map(|_| Key::generate().public()).collect();
        let named = workers.iter().map(|name| name.parse().expect("a name"));
        let config = ServerConfig {
            listen: "127.0.0.1:4222".into(),
            store: "/s".into(),
            certificate: ("/c.pem".into(), "/k.pem".into()),
            admin: keys[0].clone(),
            lander: keys[1].clone(),
            watcher: keys[2].clone(),
            workers: named.zip(keys[3..].iter().cloned()).collect(),
        };
        (config, keys)
    }

    #[test]
    fn what_survives_a_power_failure_and_what_is_in_the_clear_is_said() {
        let (config, keys) = config(&["w1", "w2"]);
        let text = config.text();
        for line in [
            "sync_interval: always",
            "handshake_first: true",
            "listen: \"127.0.0.1:4222\"",
            "store_dir: \"/s\"",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        for key in keys {
            assert_eq!(text.matches(key.as_str()).count(), 1, "{text}");
        }
        assert!(!text.contains("NAME"), "{text}");
    }

    #[test]
    fn a_worker_imports_its_own_name_and_no_other() {
        let text = config(&["w1", "w2"]).0.text();
        let of_second = text.split("WORKER_w2 {").nth(1).expect("its account");
        for subject in ["ralph.item.*.*.claimed.w2", "ralph.events.*.*.*.w2", "ralph.parcel.w2.*.*"] {
            assert!(of_second.contains(subject), "{subject}");
        }
        assert!(!of_second.contains("w1"), "{of_second}");
        for step in LANDERS_STEPS.iter().filter(|step| !WORKERS_STEPS.contains(step)) {
            assert!(!of_second.contains(&format!(".{step}.")), "{step}");
        }
    }
}
