//! One connection: reads what it wants, asks whether it may, answers.

use std::{net::TcpStream, sync::Arc};

use jiff::Timestamp;
use ralph_core::serve_access::{Actions, Head, Want, WebPlace, WebRefusal, has_tls, judge};
use serde_json::{Value, json};

use super::{
    Server, act,
    answer::{WebAnswer, begin_stream},
    crowd::Ticket,
    desk::Job,
    feed::Feed,
    files,
    position::Position,
    request::{self, Unread, WebRequest},
    turn_stream,
};
use crate::{journal::run_dir::RunDir, live::LiveRun};

/// The header that only a page of this server sends, with its key as the value.
const HEADER: &str = "x-ralph-key";
/// How long a browser keeps its cookie.
const COOKIE_AGE_S: u32 = 30 * 24 * 60 * 60;

/// What can be asked for.
enum Route {
    File(&'static files::PageFile),
    Session,
    Hello,
    Events,
    Diff,
    Turn,
    Act,
}

/// Answers one request.
pub(super) fn answer(server: &Arc<Server>, mut stream: TcpStream, mut ticket: Ticket) {
    let request = match WebRequest::read(&mut stream) {
        Ok(request) => request,
        Err(Unread::Refused(status)) => return sent(&WebAnswer::of_status(status), &mut stream),
        Err(Unread::Gone) => return,
    };
    let answer = match admitted(server, &request, &mut ticket) {
        Ok(Route::File(file)) => file.answer(),
        Ok(Route::Session) => session(server, &request),
        Ok(Route::Hello) => hello(server, &request),
        Ok(Route::Events) => return events(server, &request, stream),
        Ok(Route::Diff) => with_run(&request, |run| server.ask(|reply| Job::Diff { run, reply })),
        Ok(Route::Turn) => with_run(&request, |run| {
            turn_stream::answer(LiveRun::new(run, server.is_bound), request.value("turn"))
        }),
        Ok(Route::Act) => act::answer(server, &request.body),
        Err(answer) => answer,
    };
    sent(&answer, &mut stream);
}

/// A client that has gone misses its answer.
fn sent(answer: &WebAnswer, stream: &mut TcpStream) {
    let _ = answer.send(stream);
}

/// Finds what is asked for, and whether it may be had.
fn admitted(server: &Server, request: &WebRequest, ticket: &mut Ticket) -> Result<Route, WebAnswer> {
    let found = match request.path.as_str() {
        "/session" => Some(("POST", Want::Begin, Route::Session)),
        "/api/hello" => Some(("GET", Want::Look, Route::Hello)),
        "/api/events" => Some(("GET", Want::Look, Route::Events)),
        "/api/diff" => Some(("GET", Want::Look, Route::Diff)),
        "/api/turn" => Some(("GET", Want::Look, Route::Turn)),
        "/api/act" => Some(("POST", Want::Act, Route::Act)),
        path => files::find(path).map(|file| ("GET", Want::File, Route::File(file))),
    };
    let want = found.as_ref().map_or(Want::File, |(_, want, _)| *want);
    // Also before a path is said not to be there: strangers learn nothing.
    judge(&server.place, want, &head(server, request)).map_err(refused)?;
    let (method, want, route) = found.ok_or_else(|| WebAnswer::of_status(404))?;
    if method != request.method {
        return Err(WebAnswer::of_status(405));
    }
    match want {
        Want::Look | Want::Act if !ticket.welcome() => Err(WebAnswer::of_status(503)),
        Want::Look | Want::Act | Want::File | Want::Begin => Ok(route),
    }
}

fn head<'a>(server: &Server, request: &'a WebRequest) -> Head<'a> {
    let cookie = request.cookie(&server.cookie()).unwrap_or_default();
    let key = request.header(HEADER);
    Head {
        host: request.header("host"),
        origin: request.header("origin"),
        fetch_site: request.header("sec-fetch-site"),
        has_session: server.secrets.has_session(cookie),
        has_key: key.is_some_and(|key| server.secrets.has_key(cookie, key)),
        has_header: key.is_some(),
    }
}

fn refused(refusal: WebRefusal) -> WebAnswer {
    WebAnswer::json(refusal.status(), &json!({"refused": refusal.word(), "text": refusal.text()}))
}

/// Makes a session of a token.
fn session(server: &Server, request: &WebRequest) -> WebAnswer {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let token = body["token"].as_str().unwrap_or_default();
    match server.secrets.begin(token, Timestamp::now()) {
        Ok(Some(issued)) => {
            let is_secure = request.header("host").is_some_and(|host| has_tls(&server.place, host));
            let secure = if is_secure { "; Secure" } else { "" };
            let cookie = format!(
                "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_AGE_S}{secure}",
                server.cookie(),
                issued.cookie
            );
            WebAnswer::json(200, &json!({"key": issued.key})).with_cookie(cookie)
        }
        Ok(None) => refused(WebRefusal::Session),
        Err(_) => WebAnswer::of_status(503),
    }
}

/// What the page can do: an action that would be refused is not offered.
fn hello(server: &Server, request: &WebRequest) -> WebAnswer {
    let mut head = head(server, request);
    // The page is on its own site, and says so when it acts.
    let origin = head.host.map(|host| {
        if has_tls(&server.place, host) { format!("https://{host}") } else { format!("http://{host}") }
    });
    head.origin = origin.as_deref();
    let refusal = judge(&server.place, Want::Act, &head).err();
    let why = refusal.map_or("", WebRefusal::text);
    WebAnswer::json(
        200,
        &json!({"canAct": refusal.is_none(), "why": why, "version": env!("CARGO_PKG_VERSION")}),
    )
}

/// Sends what happens, until the client has gone.
fn events(server: &Server, request: &WebRequest, mut stream: TcpStream) {
    let run = request.value("id").and_then(find);
    // A page that comes back says where it was; a browser that reconnects by itself says it in a header.
    let after = request.header("last-event-id").or_else(|| request.value("after"));
    let after = after.and_then(|text| text.parse::<Position>().ok());
    if begin_stream(&mut stream).is_ok() {
        // It ends when the client does not read any more.
        let _ = Feed::new(server, stream, run, after).work();
    }
}

/// Answers about a run that is there.
fn with_run(request: &WebRequest, answer: impl FnOnce(RunDir) -> WebAnswer) -> WebAnswer {
    match request.value("id").and_then(find) {
        Some(run) => answer(run),
        None => WebAnswer::of_status(404),
    }
}

/// The run with this id. It is compared with those that are there, and never becomes a path.
pub(super) fn find(id: &str) -> Option<RunDir> {
    RunDir::all().ok()?.into_iter().rev().find(|run| run.id() == id)
}

impl Server {
    /// Several servers of one machine share its cookies.
    fn cookie(&self) -> String {
        format!("ralph_{}", self.port)
    }
}

/// Reads a head and decides about it as for a connection, without a server.
pub(super) fn read_head(bytes: &[u8]) -> Option<usize> {
    let (request, length) = request::parse(bytes).ok()??;
    let place = WebPlace { is_loopback: true, names: Vec::new(), actions: Actions::Allowed };
    let head = Head {
        host: request.header("host"),
        origin: request.header("origin"),
        fetch_site: request.header("sec-fetch-site"),
        has_session: request.cookie("ralph").is_some(),
        has_key: request.header(HEADER).is_some(),
        has_header: request.header(HEADER).is_some(),
    };
    for want in [Want::File, Want::Begin, Want::Look, Want::Act] {
        let _ = judge(&place, want, &head);
    }
    let _ =
        (request.value("id"), request.value("after").map(str::parse::<Position>), files::find(&request.path));
    Some(length)
}
