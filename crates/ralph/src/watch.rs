//! `ralph watch`: runs on a screen, from their records alone.
//!
//! One loop owns all that is shown; threads read keys, look for runs and call ralph, and send it what they have.
//! Invariant: no run depends on this process. It writes nothing but its screen; what a key does to a run, the command of the
//! same name does.

mod act;
mod app;
mod diff;
mod look;
mod own;
mod plain;
mod screen;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_sys::error::{Error, Result};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::{
    journal::run_dir::RunDir,
    live::{LiveRun, LiveStream, Overview, ScanScope, Scanner},
    term::{
        ColorWhen, Stream, can_erase,
        full_screen::{self, FullScreen},
        shows_unicode,
    },
};
use app::{App, Diff, Effect, Tab};
use look::Look;

pub(crate) use own::own_run;

/// How often the run is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often all runs are looked at.
const SCAN_INTERVAL: Duration = Duration::from_millis(700);

/// Set by a test that wants to see what a panic leaves behind.
#[cfg(debug_assertions)]
const PANIC_VARIABLE: &str = "RALPH_TEST_PANIC_ON_SCREEN";

/// What is watched.
pub(crate) struct Watching {
    /// The run that is shown first; without one, the list.
    pub(crate) run: Option<RunDir>,
    /// The runs in the list.
    pub(crate) scope: ScanScope,
    /// Where commands are called.
    pub(crate) project: PathBuf,
    pub(crate) color: ColorWhen,
    /// Whether a conversation drives a run.
    pub(crate) is_bound: fn(&RunDir) -> bool,
    /// Whether the run was started for this screen.
    pub(crate) is_own: bool,
}

/// What threads tell the loop.
enum Message {
    Input(Event),
    /// No one types any more.
    InputGone,
    Overview(Overview),
    Loaded(Box<LiveRun>),
    Diff(String, Vec<String>),
    Said(String, bool),
}

/// Refuses where there is no terminal to draw on.
pub(crate) fn needs_terminal() -> Result<()> {
    if io::stdin().is_terminal() && can_erase(Stream::Out) {
        return Ok(());
    }
    Err(Error::new("this needs a terminal: there is none, or it cannot move its cursor (TERM)")
        .hint("`ralph logs -f` prints a run as plain text while it happens")
        .hint("`ralph status --json` is for scripts"))
}

/// Shows runs until the user leaves.
pub(crate) fn watch(watching: Watching) -> Result<()> {
    needs_terminal()?;
    let look = Look::new(full_screen::has_color(watching.color), shows_unicode());
    let (sender, receiver) = channel();
    let mut view = View::new(watching, sender.clone())?;
    let mut screen = FullScreen::enter()?;
    begin_reading(sender.clone());
    begin_scanning(&view, sender);
    view.run(&mut screen, &receiver, &look)
}

/// The screen, and what it is fed from.
struct View {
    app: App,
    live: Option<LiveRun>,
    stream: LiveStream,
    sender: Sender<Message>,
    watching: Watching,
}

impl View {
    fn new(mut watching: Watching, sender: Sender<Message>) -> Result<Self> {
        let mut app = App { is_own: watching.is_own, now: Timestamp::now(), ..App::default() };
        let live = watching.run.take().map(|dir| LiveRun::new(dir, watching.is_bound));
        app.is_list = live.is_none();
        let mut view = Self { app, live, stream: LiveStream::new(), sender, watching };
        if let Some(live) = &mut view.live {
            live.poll()?;
        }
        view.poll(true);
        Ok(view)
    }

    fn run(&mut self, screen: &mut FullScreen, receiver: &Receiver<Message>, look: &Look) -> Result<()> {
        let (mut polled, mut is_new) = (Instant::now(), true);
        loop {
            if is_new {
                screen.draw(|frame| screen::draw(frame, &mut self.app, look))?;
                #[cfg(debug_assertions)]
                assert!(std::env::var_os(PANIC_VARIABLE).is_none(), "a test wants this");
            }
            is_new = false;
            let mut next = match receiver.recv_timeout(POLL_INTERVAL.saturating_sub(polled.elapsed())) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            while let Some(message) = next {
                is_new = true;
                if self.take(message, screen, receiver)? == Flow::Leave {
                    return Ok(());
                }
                next = receiver.try_recv().ok();
            }
            if POLL_INTERVAL <= polled.elapsed() {
                polled = Instant::now();
                is_new |= self.poll(false);
            }
        }
    }

    /// Looks at the run again; returns whether the screen is different.
    fn poll(&mut self, is_first: bool) -> bool {
        let (now, before) = (Timestamp::now(), self.app.now);
        self.app.now = now;
        let mut is_new = is_first || now.as_second() != before.as_second();
        if let Some(live) = &mut self.live {
            // A record that is gone stays on the screen as it was.
            let has_more = live.poll().unwrap_or(false);
            let has_said = self.stream.poll(live);
            if has_more || has_said || is_first {
                if let Some(run) = live.shown(self.stream.lines(), self.stream.doing()) {
                    self.app.show(run);
                }
                is_new = true;
            }
        }
        if self.app.tab == Tab::Diff && self.app.diff == Diff::Unknown {
            self.load_diff();
        }
        is_new
    }

    fn load_diff(&mut self) {
        let Some(run) = &self.app.run else { return };
        let (id, project, base) = (run.id.clone(), PathBuf::from(&run.project), run.base.clone());
        let sender = self.sender.clone();
        self.app.diff = Diff::Loading;
        thread::spawn(move || {
            let lines = diff::lines(&project, base.as_deref());
            let _ = sender.send(Message::Diff(id, lines));
        });
    }

    fn take(
        &mut self,
        message: Message,
        screen: &mut FullScreen,
        receiver: &Receiver<Message>,
    ) -> Result<Flow> {
        let effect = match message {
            Message::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                if key.code == KeyCode::Char('l') && key.modifiers.contains(KeyModifiers::CONTROL) {
                    screen.clear()?;
                    return Ok(Flow::GoOn);
                }
                let effect = self.app.key(key);
                // What a key asks for is there with the next picture.
                if self.app.tab == Tab::Diff && self.app.diff == Diff::Unknown {
                    self.load_diff();
                }
                effect
            }
            Message::Input(Event::Mouse(mouse)) => {
                self.app.mouse(mouse);
                None
            }
            Message::Input(_) => None,
            Message::InputGone => return Ok(Flow::Leave),
            Message::Overview(overview) => {
                self.app.list(overview);
                None
            }
            Message::Loaded(live) => {
                (self.live, self.stream) = (Some(*live), LiveStream::new());
                self.poll(true);
                None
            }
            Message::Diff(id, lines) => {
                if self.app.run.as_ref().is_some_and(|run| run.id == id) {
                    self.app.diff = Diff::Lines(lines);
                }
                None
            }
            Message::Said(text, is_bad) => {
                self.app.message = Some((text, is_bad));
                None
            }
        };
        match effect {
            None => {}
            Some(Effect::Quit) => return Ok(Flow::Leave),
            Some(Effect::Call(args)) => self.call(args, act::call),
            Some(Effect::Start(args)) => self.call(args, act::start),
            Some(Effect::Open(id)) => self.open(&id),
            Some(Effect::Plain) => self.plain(screen, receiver)?,
            Some(Effect::Mouse(is_on)) => screen.mouse(is_on)?,
        }
        Ok(Flow::GoOn)
    }

    fn call(&mut self, args: Vec<String>, call: fn(&[String], &std::path::Path) -> (String, bool)) {
        let (sender, project) = (self.sender.clone(), self.watching.project.clone());
        self.app.message = Some((format!("ralph {} …", args.first().map_or("", String::as_str)), false));
        thread::spawn(move || {
            let (text, is_bad) = call(&args, &project);
            let _ = sender.send(Message::Said(text, is_bad));
        });
    }

    /// Reads another run; a long one is not waited for.
    fn open(&self, id: &str) {
        let Ok(dirs) = RunDir::all() else { return };
        let Some(dir) = dirs.into_iter().find(|dir| dir.id() == id) else { return };
        let (sender, is_bound) = (self.sender.clone(), self.watching.is_bound);
        thread::spawn(move || {
            let mut live = LiveRun::new(dir, is_bound);
            if live.poll().is_ok() {
                let _ = sender.send(Message::Loaded(Box::new(live)));
            }
        });
    }

    /// Shows the text of the tab on the ordinary screen, until a key is pressed.
    fn plain(&mut self, screen: &mut FullScreen, receiver: &Receiver<Message>) -> Result<()> {
        screen.leave();
        full_screen::print(&plain::text(&self.app))?;
        loop {
            match receiver.recv() {
                Ok(Message::Input(Event::Key(_)) | Message::InputGone) | Err(_) => break,
                Ok(Message::Input(_)) => {}
                Ok(message) => _ = self.take(message, screen, receiver)?,
            }
        }
        screen.again()
    }
}

#[derive(PartialEq, Eq)]
enum Flow {
    GoOn,
    Leave,
}

fn begin_reading(sender: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let message = event::read().map_or(Message::InputGone, Message::Input);
            let is_last = matches!(message, Message::InputGone);
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    });
}

fn begin_scanning(view: &View, sender: Sender<Message>) {
    let mut scanner = Scanner::new(view.watching.scope.clone(), view.watching.is_bound);
    thread::spawn(move || {
        let mut known = None;
        loop {
            if let Ok(overview) = scanner.look() {
                let runs = overview.runs.iter().map(|run| (run.id.clone(), run.sequence, run.standing));
                let fleets = overview.fleets.iter().map(|it| (it.id.clone(), it.sequence, it.is_running));
                let state = Some((runs.collect::<Vec<_>>(), fleets.collect::<Vec<_>>()));
                if state != known {
                    known = state;
                    if sender.send(Message::Overview(overview)).is_err() {
                        return;
                    }
                }
            }
            thread::sleep(SCAN_INTERVAL);
        }
    });
}
