//! Tells the user when a run ends, waits, or needs a person: by the user's own program, on the desktop, or by a service.
//!
//! Invariant: who cannot be told neither ends nor holds the run, and no address of a service is shown.

use std::{env, ffi::OsString, path::Path, time::Duration};

use ralph_core::{
    engine::{Run, State, outcome::Outcome},
    notify::{Address, NotifyMessage, NotifyTarget, Service, address, curl_config},
};
use ralph_sys::{
    calls::{refusal, succeeded},
    process::{Captured, Sink, Spec},
    watch,
};
use serde_json::json;

use super::site::Site;
use crate::{hidden::NOTIFY, report::summary};

/// A notification is a moment's work; a program that hangs must not hold the night.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(30);
/// The same for a service or a desktop, when the run is over.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(10);
/// And while it is under way.
const BRIEF_TIMEOUT: Duration = Duration::from_secs(3);
/// As much as is kept of what the program complains about.
const MAX_OUTPUT_LEN: usize = 4096;

/// Why a person may want to know.
#[derive(Clone, Copy, Debug)]
pub(super) enum NotifyReason {
    Done,
    Failed,
    Limit,
    Waiting,
    NeedsPerson,
}

impl NotifyReason {
    /// What the end of a run is an occasion for; a user who ended it knows.
    pub(super) fn of(outcome: &Outcome, state: &State) -> Option<Self> {
        match outcome {
            Outcome::Done if state.needs_person() => Some(Self::NeedsPerson),
            Outcome::Done => Some(Self::Done),
            Outcome::Stopped(_) => Some(Self::NeedsPerson),
            Outcome::Exhausted { .. } => Some(Self::Limit),
            Outcome::Unready { .. } | Outcome::GaveUp { .. } => Some(Self::Failed),
            Outcome::Interrupted => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Waiting => "waiting",
            Self::NeedsPerson => "needs_person",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Limit => "at its limit",
            Self::Waiting => "waiting",
            Self::NeedsPerson => "needs you",
        }
    }
}

/// Tells whom the settings name.
pub(super) fn notify(site: &mut Site, occasion: NotifyReason, text: &str, exit_code: Option<u8>) {
    let Some(recorded) = site.setup.notify.clone() else { return };
    // An address that is not recorded is kept apart from the record.
    let wanted = site.setup.hidden.command(NOTIFY).map_or(recorded, str::to_owned);
    let message = message(site, occasion, text, exit_code);
    let limit = if exit_code.is_some() { SERVICE_TIMEOUT } else { BRIEF_TIMEOUT };
    let (spec, limit) = match NotifyTarget::parse(&wanted) {
        Ok(NotifyTarget::Command(command)) => {
            let input = format!("{}\n", message.event);
            (Ok(Spec::shell(&command, &site.setup.project).input(input)), NOTIFY_TIMEOUT)
        }
        Ok(NotifyTarget::Desktop) => (desktop(&message, &site.setup.project), limit),
        Ok(NotifyTarget::Service(service, address)) => {
            (request(&message, service, &address, limit, &site.setup.project), limit)
        }
        Err(_) => (Err("its address is not known to this process".to_owned()), limit),
    };
    let told = spec.and_then(|spec| {
        // Curl ends a moment before it is ended.
        let spec = spec.prints(Sink::Null, Sink::Pipe { copy: None }).within(limit + Duration::from_secs(1));
        problem(site.supervisor.capture(spec, MAX_OUTPUT_LEN), limit)
    });
    let Err(problem) = told else { return };
    let text = format!("the notify command failed: {problem}");
    match exit_code {
        // The record is closed, and may belong to another process by now.
        Some(_) => site.ledger.show_warning(text),
        None => site.ledger.warn(text),
    }
}

fn problem(captured: std::io::Result<Captured>, limit: Duration) -> Result<(), String> {
    match captured {
        Ok(captured) if succeeded(&captured) => Ok(()),
        Ok(captured) if captured.ended.cause == Some(watch::Cause::Timeout) => {
            Err(format!("it took more than {} s", limit.as_secs()))
        }
        Ok(captured) => Err(refusal(&captured)),
        Err(error) => Err(error.to_string()),
    }
}

fn message(site: &Site, occasion: NotifyReason, text: &str, exit_code: Option<u8>) -> NotifyMessage {
    let Run { plan, state, memory, .. } = site.run();
    let (spent, id) = (state.spent(), site.dir.id());
    let findings = summary::findings(state);
    let project = site.setup.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cost = summary::cost(&spent.usage).map(|cost| format!("cost {cost}"));
    let facts: Vec<String> = cost.into_iter().chain([summary::time(spent.ms)]).collect();
    let mut lines = vec![text.to_owned(), facts.join(", ")];
    lines.push(format!("ralph status {id}"));
    NotifyMessage {
        title: format!("ralph in {project}: {}", occasion.words()),
        lines,
        is_urgent: matches!(occasion, NotifyReason::NeedsPerson | NotifyReason::Failed),
        link: site.setup.notify_link.clone(),
        event: json!({
            "event": occasion.word(),
            "run": id,
            "mode": plan.preset,
            "project": site.setup.project,
            "text": text,
            "exit_code": exit_code,
            "iteration": memory.turn.as_ref().map(|last| last.turn.iteration),
            "cost_usd": spent.usage.cost_usd,
            "ms": spent.ms,
            "commits": spent.commits,
            "findings": findings,
            "link": site.setup.notify_link,
        }),
    }
}

/// A request to a service by the system's curl.
fn request(
    message: &NotifyMessage,
    service: Service,
    place: &Address,
    limit: Duration,
    dir: &Path,
) -> Result<Spec, String> {
    let url = match place {
        Address::Url(url) => url.clone(),
        Address::Variable(name) => {
            let value = env::var(name).map_err(|_| format!("the variable {name} is not set"))?;
            address(service, value.trim()).map_err(|wanted| format!("the variable {name} is not {wanted}"))?
        }
    };
    let (url, body) = message.request(service, &url);
    let curl = which::which("curl").map_err(|_| "curl is not installed".to_owned())?;
    let seconds = limit.as_secs().to_string();
    // Nothing of the user's own configuration, no other protocol, no other place.
    let args = ["-q", "--config", "-", "--silent", "--show-error", "--fail", "--max-time", &seconds];
    let more = ["--proto", "=http,https", "--max-redirs", "0", "--output", "/dev/null"];
    Ok(Spec::new(curl, dir).args(args).args(more).input(curl_config(&url, &body)))
}

/// A message on the desktop: by `notify-send`, by D-Bus, or as a Mac does it.
fn desktop(message: &NotifyMessage, dir: &Path) -> Result<Spec, String> {
    let (title, text) = (&message.title, message.lines.join("\n"));
    let args: Vec<OsString>;
    let program = if let Ok(program) = which::which("notify-send") {
        let urgency = if message.is_urgent { "critical" } else { "normal" };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        args = ["--app-name=ralph", "--urgency", urgency, "--", title, &text].map(OsString::from).into();
        program
    } else if let Ok(program) = which::which("gdbus") {
        let place = ["call", "--session", "--dest=org.freedesktop.Notifications"];
        let method =
            ["--object-path=/org/freedesktop/Notifications", "--method=org.freedesktop.Notifications.Notify"];
        let quoted = |text: &str| json!(text).to_string();
        let said = [quoted("ralph"), "0".to_owned(), quoted(""), quoted(title), quoted(&text)];
        let rest = ["[]", "{}", "-1"].map(str::to_owned);
        let words = place.into_iter().chain(method).map(str::to_owned).chain(said).chain(rest);
        args = words.map(OsString::from).collect();
        program
    } else if let Ok(program) = which::which("osascript") {
        let script =
            "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
        args = ["-e", script, title, &text].map(OsString::from).into();
        program
    } else {
        return Err("there is no notify-send, gdbus or osascript".to_owned());
    };
    Ok(Spec::new(program, dir).args(args))
}

/// Tells how the run ended.
pub(super) fn notify_end(site: &mut Site, outcome: &Outcome, exit_code: u8) {
    let Run { plan, state, .. } = site.run();
    let text = [vec![summary::outcome(outcome, plan, state)], summary::findings(state)].concat().join("; ");
    if let Some(occasion) = NotifyReason::of(outcome, state) {
        notify(site, occasion, &text, Some(exit_code));
    }
}
