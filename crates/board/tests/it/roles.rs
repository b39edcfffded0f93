//! The configuration that ralph writes: who gets in, and who can do what.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use async_nats::{Client, ConnectOptions, jetstream};
use futures_util::StreamExt;
use ralph_board::{
    ADMIN, ALL_STREAMS, API, Board, Certificates, Key, LoginDir, Name, Parcel, PublicKey, ServerConfig,
    Setup, WATCHER, WORK, WORKERS,
};
use ralph_core::fleet::{ItemPhase, ItemStep, LANDER};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::server::{FLEET, PATIENCE, Server, at, claim, eventually, free_port, hand_in, landers};

/// A server with roles, its streams, and the logins beside it.
pub(crate) struct Secured {
    pub(crate) server: Server,
}

impl Secured {
    pub(crate) fn start() -> Option<Self> {
        let dir = TempDir::new().expect("a folder");
        let certificates =
            Certificates::make(&["localhost".into()], SystemTime::now()).expect("certificates");
        let path = |name: &str| dir.path().join(name);
        fs::write(path("server.pem"), &certificates.server).expect("written");
        fs::write(path("server.key"), &certificates.server_key).expect("written");
        let port = free_port();
        let board = format!("tls://localhost:{port}").parse().expect("an address");
        let lander = Key::generate();
        let login = |name: &str, key: &Key, api: Option<&str>| -> PublicKey {
            let name: Name = name.parse().expect("a name");
            let given = (certificates.ca.as_str(), &lander.public());
            LoginDir::write(&path(name.as_str()), &board, (&name, key, api), given).expect("written");
            key.public()
        };
        let worker = |name: &str| (name.parse().expect("a name"), login(name, &Key::generate(), Some(API)));
        let config = ServerConfig {
            listen: format!("127.0.0.1:{port}"),
            store: path("store"),
            certificate: (path("server.pem"), path("server.key")),
            admin: login(ADMIN, &Key::generate(), None),
            lander: login(LANDER, &lander, None),
            watcher: login(WATCHER, &Key::generate(), Some(API)),
            workers: vec![worker("w1"), worker("w2")],
        };
        let secured = Self { server: Server::from_config(dir, &config.text(), port)? };
        secured.connect(ADMIN).set_up(&Setup::default()).expect("the streams");
        Some(secured)
    }

    pub(crate) fn login(&self, name: &str) -> LoginDir {
        LoginDir::read(&self.server.file(name)).expect("a login")
    }

    pub(crate) fn connect(&self, name: &str) -> Board {
        let LoginDir { board, login, .. } = self.login(name);
        Board::connect(&board, &login).expect("a connection")
    }

    /// A client that says what it wants to.
    fn raw(&self, name: &str) -> Raw {
        let LoginDir { board, login, .. } = self.login(name);
        let seed = fs::read_to_string(login.seed.expect("a seed")).expect("a seed");
        let options = ConnectOptions::new()
            .nkey(seed)
            .add_root_certificates(login.ca.expect("an authority"))
            .require_tls(true)
            .tls_first()
            .custom_inbox_prefix(format!("_INBOX_{name}"));
        Raw::new(options, &board.urls()[0])
    }

    fn violations(&self) -> usize {
        self.server.log().matches("Violation").count()
    }
}

struct Raw {
    runtime: Runtime,
    client: Client,
}

impl Raw {
    fn new(options: ConnectOptions, url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let client = runtime.block_on(options.connect(url)).expect("a connection");
        Self { runtime, client }
    }

    fn publish(&self, subject: &str, reply: &str, payload: &str) {
        let (subject, reply, payload) = (subject.to_owned(), reply.to_owned(), payload.to_owned());
        self.runtime.block_on(async {
            self.client.publish_with_reply(subject, reply, payload.into()).await.expect("sent");
            self.client.flush().await.expect("the server has it");
        });
    }

    /// The streams and how many consumers each of them has.
    fn state(&self) -> String {
        self.runtime.block_on(async {
            let streams = jetstream::new(self.client.clone());
            let mut state = Vec::new();
            for name in ALL_STREAMS {
                let stream = streams.get_stream(name).await.expect("a stream");
                let info = stream.cached_info();
                let config = serde_json::to_value(&info.config).expect("settings");
                state.push(format!("{config} {}", info.state.consumer_count));
            }
            state.push(streams.stream_names().count().await.to_string());
            state.join("\n")
        })
    }

    /// What others could hear: nothing within a moment.
    fn hears_nothing(&self, subject: &str, meanwhile: impl FnOnce()) {
        let mut heard =
            self.runtime.block_on(self.client.subscribe(subject.to_owned())).expect("a subscription");
        self.runtime.block_on(self.client.flush()).expect("the server has it");
        meanwhile();
        let next = self
            .runtime
            .block_on(async { tokio::time::timeout(Duration::from_millis(300), heard.next()).await });
        assert!(next.is_err(), "{next:?}");
    }
}

/// The life of an item, each in its role. Returns the lease, and a parcel of `w1`.
fn life(secured: &Secured) -> (u64, Parcel) {
    let (lander, worker) = (secured.connect(LANDER), secured.connect("w1"));
    lander.set_up(&Setup::default()).expect("everything is there");
    let key = Key::read(&secured.login(LANDER).login.seed.expect("a seed")).expect("a key");
    let signed = lander.ledger(FLEET).signing(key.into());
    let load = json!({ "base": "b" });
    let posted = at(signed.append_with("a", LANDER, &ItemStep::Posted, Some(&load), 0).expect("an answer"));
    lander.post(FLEET, "a", posted).expect("posted");
    let delivery = worker.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    let trusting = worker.ledger(FLEET).trusting(secured.login("w1").lander);
    let posting = trusting.posting("a", delivery.posted).expect("the log").expect("signed by the lander");
    assert_eq!(posting.load, Some(load));
    let lease = at(claim(&worker, "a", posted));
    delivery.keep().expect("kept");
    let file = secured.server.file("journal");
    fs::write(&file, "{\"entry\":{\"commit\":\"0000\"}}\n").expect("written");
    assert_eq!(worker.feed(FLEET, "a", lease, &file).ship().expect("shipped"), 1);
    let (parcel, _) = worker.send(&file).expect("sent");
    assert_eq!(lander.fleet_feed(FLEET, &file).ship().expect("shipped"), 1);
    at(hand_in(&worker, "a", lease));
    delivery.settle().expect("settled");
    lander.fetch(&parcel, &secured.server.file("fetched"), 1000).expect("fetched");
    assert!(lander.ledger(FLEET).item("a").expect("the log").offered().is_some());
    (lease, parcel)
}

#[test]
fn the_roles_do_their_work_and_nothing_else() {
    let Some(secured) = Secured::start() else { return };
    life(&secured);
    let watcher = secured.connect(WATCHER);
    assert!(watcher.follow(FLEET, 0).next(PATIENCE).expect("an answer").is_some());
    assert_eq!(watcher.ledger(FLEET).items().expect("the logs").len(), 1);
    assert_eq!(secured.violations(), 0, "{}", secured.server.log());

    let (admin, worker) = (secured.raw(ADMIN), secured.raw("w1"));
    let before = admin.state();
    for (raw, inbox) in [(&worker, "_INBOX_w1.x"), (&secured.raw(WATCHER), "_INBOX_watcher.x")] {
        for subject in [
            "ralph.work.f.b",
            "ralph.item.f.a.claimed.w2",
            "ralph.item.f.a.done.w2",
            "ralph.item.f.a.posted.w1",
            "ralph.item.f.a.merged.w1",
            "ralph.item.f.a.merged.lander",
            "ralph.item.f.a.posted.lander",
            "ralph.item.f.a.cancelled.lander",
            "ralph.item.f.a.reoffered.lander",
            "ralph.item.f.a.said.lander",
            "ralph.events.f.a.1.w2",
            "ralph.events.f.=.0.lander",
            "ralph.parcel.w2.00.0",
            "ralph.parcel.lander.00.0",
        ] {
            raw.publish(subject, inbox, "{}");
        }
        for request in [
            "STREAM.CREATE.X",
            "STREAM.UPDATE.RALPH_ITEMS",
            "STREAM.DELETE.RALPH_ITEMS",
            "STREAM.PURGE.RALPH_ITEMS",
            "STREAM.MSG.DELETE.RALPH_ITEMS",
            "CONSUMER.CREATE.RALPH_EVENTS.x.y",
            "CONSUMER.DELETE.RALPH_WORK.workers",
        ] {
            raw.publish(&format!("$JS.API.{request}"), inbox, "{}");
            raw.publish(&format!("{API}.{request}"), inbox, "{}");
        }
    }
    // What is allowed comes behind what is not on the same connection; when it is there, the rest was judged.
    worker.publish("ralph.events.f.a.1.w1", "_INBOX_w1.x", "{}");
    eventually("what is allowed", || messages(&admin)[2] == 3);
    assert_eq!(admin.state(), before, "no other stream or consumer");
    let log = secured.connect(LANDER).ledger(FLEET).entries("a").expect("the log");
    assert_eq!(log.len(), 3, "{log:?}");
    let follow =
        |fleet: &str| secured.connect(WATCHER).follow(fleet, 0).next(Duration::ZERO).expect("an answer");
    assert!(follow("f").is_some_and(|piece| piece.worker == "w1"));
    assert_eq!(messages(&admin), [0, 3, 3, 1], "work, items, events, parcels");
}

fn messages(admin: &Raw) -> [u64; 4] {
    admin.runtime.block_on(async {
        let streams = jetstream::new(admin.client.clone());
        let mut counts = [0; 4];
        for (count, name) in counts.iter_mut().zip(ALL_STREAMS) {
            *count = streams.get_stream(name).await.expect("a stream").cached_info().state.messages;
        }
        counts
    })
}

#[test]
fn a_worker_hears_nothing_of_others_and_reads_no_journals() {
    let Some(secured) = Secured::start() else { return };
    life(&secured);
    let (lander, worker) = (secured.connect(LANDER), secured.raw("w1"));
    for subject in ["ralph.>", "_INBOX_lander.>", "$JS.EVENT.>", ">"] {
        worker.hears_nothing(subject, || drop(lander.ledger(FLEET).entries("a").expect("the log")));
    }
    assert!(secured.connect("w1").follow(FLEET, 0).next(Duration::ZERO).is_err(), "others' journals");
    // The lander cannot speak for a worker; here the server says so.
    for subject in
        ["ralph.item.f.a.claimed.w1", "ralph.item.f.a.done.w1", "$JS.API.STREAM.DELETE.RALPH_ITEMS"]
    {
        let before = secured.violations();
        secured.raw(LANDER).publish(subject, "_INBOX_lander.x", "{}");
        eventually("a complaint", || before < secured.violations());
    }
}

/// A request names the subject of its answer, and the server answers there in its own name. Within one account that puts
/// what a user stored into streams that it may not write to; accounts keep the answers at home.
#[test]
fn an_answer_that_is_sent_into_a_log_does_not_get_there() {
    let Some(secured) = Secured::start() else { return };
    let (lease, parcel) = life(&secured);
    let (admin, worker) = (secured.raw(ADMIN), secured.raw("w1"));
    let stored = format!("{API}.DIRECT.GET.RALPH_PARCELS.ralph.parcel.w1.{}.0", parcel.sha256);
    let before = messages(&admin);
    for reply in [
        "ralph.item.f.a.merged.lander",
        "ralph.item.f.z.posted.lander",
        "ralph.item.f.a.claimed.w2",
        "ralph.events.f.a.1.w2",
        "ralph.parcel.w2.00.0",
        "ralph.work.f.z",
        "$JS.API.STREAM.PURGE.RALPH_EVENTS",
    ] {
        worker.publish(&stored, reply, "");
        worker.publish(&format!("{API}.STREAM.INFO.RALPH_PARCELS"), reply, "");
        worker.publish(&format!("{API}.CONSUMER.MSG.NEXT.{WORK}.{WORKERS}"), reply, "{\"no_wait\":true}");
    }
    // The last request is answered when all before it were.
    secured.connect("w1").queue().expect("an answer");
    assert_eq!(messages(&admin), before);
    let item = secured.connect(LANDER).ledger(FLEET).item("a").expect("the log");
    assert_eq!(item.offered().map(|offer| offer.lease), Some(lease));
}

/// Why there are accounts: the same with permissions in one account.
#[test]
fn permissions_alone_do_not_keep_a_worker_out_of_a_log() {
    let (admin, worker) = (Key::generate(), Key::generate());
    let Some(server) = Server::with(&format!(
        r#"authorization {{ users: [
            {{ nkey: {} }}
            {{ nkey: {}, permissions: {{ subscribe: ["_INBOX_w1.>"], publish: [
                "ralph.parcel.w1.*.*", "$JS.API.STREAM.INFO.RALPH_PARCELS", "$JS.API.DIRECT.GET.RALPH_PARCELS.>"
            ] }} }}
        ] }}"#,
        admin.public().as_str(),
        worker.public().as_str()
    )) else {
        return;
    };
    let connect = |name: &str, key: &Key| {
        let path: PathBuf = server.file(name);
        let given = ("", &key.public());
        let (board, name) = (server.url().parse().expect("an address"), name.parse().expect("a name"));
        LoginDir::write(&path, &board, (&name, key, None), given).expect("written");
        let mut login = LoginDir::read(&path).expect("a login").login;
        login.ca = None;
        Board::connect(&board, &login).expect("a connection")
    };
    let (all, own) = (connect("w2", &admin), connect("w1", &worker));
    all.set_up(&Setup::default()).expect("the streams");
    let posted = landers(&all).append_with("a", LANDER, &ItemStep::Posted, None, 0).expect("an answer");
    let lease = at(claim(&all, "a", at(posted)));
    at(hand_in(&all, "a", lease));

    let forged = r#"{"entry":{"commit":"0000"}}"#;
    let parcel = own.send_bytes(forged.as_bytes()).expect("sent");
    let options = ConnectOptions::new().nkey(worker.seed().expect("a seed")).custom_inbox_prefix("_INBOX_w1");
    let raw = Raw::new(options, &server.url());
    raw.publish("ralph.item.f.a.merged.lander", "_INBOX_w1.x", forged);
    eventually("a complaint", || server.log().contains("Violation"));
    assert!(
        all.ledger(FLEET).item("a").expect("the log").offered().is_some(),
        "straight ahead it is refused"
    );
    let part = format!("$JS.API.DIRECT.GET.RALPH_PARCELS.ralph.parcel.w1.{}.0", parcel.sha256);
    raw.publish(&part, "ralph.item.f.a.merged.lander", "");
    eventually("the forgery, by the answer", || {
        let item = all.ledger(FLEET).item("a").expect("the log");
        item.phase == ItemPhase::Merged { commit: "0000".into() }
    });
}
