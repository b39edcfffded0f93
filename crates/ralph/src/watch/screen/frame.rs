//! What stands above and below every tab: which run it is, how it stands, what the keys do.

use std::time::Duration;

use jiff::Timestamp;
use ralph_core::{
    duration::format_duration,
    view::{Attention, ShownRun, Standing, TaskState},
};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::super::{
    app::{App, InputMode, Question, RunAct, Tab},
    look::Look,
};
use crate::{
    report::summary,
    term::fit::{columns, fit},
};

/// All of it where there is no room for more: what needs a person, or how the run stands.
pub(super) fn tiny<'a>(app: &App, look: &Look, width: usize) -> Line<'a> {
    let Some(run) = &app.run else { return super::line("ralph watch", look.strong, width) };
    let (sign, style) = look.standing(run.standing);
    let text = run.attention.as_ref().map_or_else(
        || format!("{} {}/{}", run.standing.word(), run.iteration, run.max_iterations),
        Attention::words,
    );
    super::line(&format!("{sign} {text}"), style, width)
}

/// The lines above the tab.
pub(super) fn head<'a>(app: &App, look: &Look, width: usize) -> Vec<Line<'a>> {
    let Some(run) = &app.run else { return Vec::new() };
    let mut lines = vec![title(run, look, width), figures(app, run, look, width)];
    if let Some(attention) = &run.attention {
        let text = format!(" {} needs you: {} ", look.signs.needs, attention.words());
        let style = look.warn.patch(look.marked).patch(look.strong);
        lines.insert(0, Line::styled(fit(&text, width).into_owned(), style));
    }
    lines.extend(run.asked.as_ref().map(|asked| super::line(asked, Style::new(), width)));
    let ended =
        run.outcome.as_ref().filter(|_| !matches!(run.standing, Standing::Running | Standing::Paused));
    lines.extend(ended.map(|text| super::line(text, look.standing(run.standing).1, width)));
    lines.extend(run.damage.as_ref().map(|text| super::line(text, look.bad, width)));
    lines.push(tabs(app, run, look, width));
    lines
}

/// Where and what on the left, the id on the right.
fn title<'a>(run: &ShownRun, look: &Look, width: usize) -> Line<'a> {
    let project = run.project.rsplit('/').next().unwrap_or(&run.project);
    let agent = run.agent.rsplit('/').next().unwrap_or(&run.agent);
    let rest = format!("{0}{1}{0}{agent}", look.signs.dot, run.preset);
    let room = width.saturating_sub(columns(&run.id) + 2);
    let project = fit(project, room).into_owned();
    let rest = fit(&rest, room.saturating_sub(columns(&project))).into_owned();
    let gap = width.saturating_sub(columns(&project) + columns(&rest) + columns(&run.id));
    Line::from(vec![
        Span::styled(project, look.strong),
        Span::styled(rest, look.quiet),
        Span::raw(" ".repeat(gap)),
        Span::styled(fit(&run.id, width).into_owned(), look.quiet),
    ])
}

fn figures<'a>(app: &App, run: &ShownRun, look: &Look, width: usize) -> Line<'a> {
    let (sign, style) = look.standing(run.standing);
    let word = if run.is_stopping { "stopping" } else { run.standing.word() };
    let mut facts = vec![format!("iteration {} of {}", run.iteration, run.max_iterations)];
    if 1 < run.attempt {
        facts.push(format!("attempt {}", run.attempt));
    }
    facts.push(worked(run, app.now));
    facts.extend(summary::cost(&run.spend.usage));
    if 0 < run.spend.commits {
        facts.push(summary::count(run.spend.commits.into(), "commit"));
    }
    if run.standing != Standing::Running {
        facts.push(format!("{} ago", short(since(run.last_at, app.now))));
    }
    facts.extend(run.sandbox.map(|level| format!("sandbox {level}")));
    let head = format!("{sign} {word}  ");
    let facts = fit(&facts.join(look.signs.dot), width.saturating_sub(columns(&head))).into_owned();
    Line::from(vec![Span::styled(head, style.patch(look.strong)), Span::raw(facts)])
}

/// How long a run has worked; one that is at work goes on working.
pub(super) fn worked(run: &ShownRun, now: Timestamp) -> String {
    let more = if run.standing == Standing::Running { since(run.last_at, now) } else { Duration::ZERO };
    short(Duration::from_millis(run.spend.ms) + more)
}

/// How long ago something was.
pub(super) fn since(then: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(now.as_millisecond() - then.as_millisecond()).unwrap_or(0))
}

/// In whole seconds: figures that flicker distract.
pub(super) fn short(duration: Duration) -> String {
    format_duration(Duration::from_secs(duration.as_secs()))
}

/// The names of the tabs, the one in front marked, and a rule to the end of the line.
fn tabs<'a>(app: &App, run: &ShownRun, look: &Look, width: usize) -> Line<'a> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (number, tab) in (1..).zip(Tab::ALL) {
        let mut text = format!("{number} {}", name(tab, app, run));
        if width < 60 {
            text = number.to_string();
        }
        let style = if tab == app.tab { look.strong.patch(look.accent) } else { look.quiet };
        let text = if tab == app.tab { format!("[{text}]") } else { format!(" {text} ") };
        used += columns(&text);
        spans.push(Span::styled(text, style));
    }
    spans.push(Span::styled(look.signs.rule.repeat(width.saturating_sub(used)), look.quiet));
    Line::from(spans)
}

fn name(tab: Tab, app: &App, run: &ShownRun) -> String {
    let is_fleet = !app.overview.fleets.is_empty() && run.tasks.is_empty();
    match tab {
        Tab::Now => "Now".to_owned(),
        Tab::Gates => "Guardrails".to_owned(),
        Tab::Tasks if is_fleet => "Queue".to_owned(),
        Tab::Tasks => {
            let done = run.tasks.iter().filter(|task| task.state == TaskState::Done).count();
            if run.tasks.is_empty() {
                "Stories".to_owned()
            } else {
                format!("Stories {done}/{}", run.tasks.len())
            }
        }
        Tab::Diff => "Diff".to_owned(),
        Tab::Spend => "Spend".to_owned(),
        Tab::Findings if run.findings.is_empty() => "Findings".to_owned(),
        Tab::Findings => format!("Findings {}", run.findings.len()),
    }
}

/// The last line: a question, a message, or the keys that make sense.
pub(super) fn footer<'a>(app: &App, look: &Look, width: usize) -> Line<'a> {
    match &app.mode {
        InputMode::Typing(question, text) => {
            let label = match question {
                Question::Search => "search: ",
                Question::Filter => "only lines with: ",
                Question::Say => "say to the agent: ",
                Question::Reject => "reject because: ",
            };
            // The end of a long text is where it is typed.
            let room = width.saturating_sub(columns(label) + 1);
            let skipped = text.chars().count().saturating_sub(room);
            let shown: String = text.chars().skip(skipped).collect();
            Line::from(vec![
                Span::styled(label.to_owned(), look.strong),
                Span::raw(fit(&crate::term::fit::one_line(&shown), room).into_owned()),
                Span::styled(" ", look.marked),
            ])
        }
        InputMode::Asking(act) => {
            let text = fit(&act.question(), width.saturating_sub(6)).into_owned();
            Line::from(vec![Span::styled(text, look.strong), Span::styled(" y/n", look.accent)])
        }
        InputMode::Leaving => {
            let text = "the run continues in the background: q leave it running, s stop it, Esc stay";
            super::line(text, look.strong, width)
        }
        InputMode::Keys | InputMode::Help => match &app.message {
            Some((text, is_bad)) => super::line(text, if *is_bad { look.bad } else { look.accent }, width),
            None => hints(app, look, width),
        },
    }
}

fn hints<'a>(app: &App, look: &Look, width: usize) -> Line<'a> {
    let fits = |act: &RunAct| !app.is_list && app.run.as_ref().is_some_and(|run| act.fits(run.standing));
    let acts = [
        ("a", "accept", RunAct::Accept),
        ("x", "reject", RunAct::Reject(String::new())),
        ("r", "resume", RunAct::Resume),
        ("s", "stop", RunAct::Stop),
        ("p", "pause", RunAct::Pause),
        ("y", "say", RunAct::Say(String::new())),
    ];
    let acts = acts.into_iter().filter(|(_, _, act)| fits(act)).map(|(key, what, _)| (key, what));
    let enter = app.is_list.then_some(("Enter", "open"));
    let always = [("l", "runs"), ("/", "search"), ("?", "keys"), ("q", "quit")];
    let (mut spans, mut used) = (Vec::new(), 0);
    for (key, what) in acts.chain(enter).chain(always) {
        let length = columns(key) + columns(what) + 3;
        if width < used + length {
            break;
        }
        used += length;
        spans.push(Span::styled(key.to_owned(), look.accent));
        spans.push(Span::styled(format!(" {what}  "), look.quiet));
    }
    Line::from(spans)
}
