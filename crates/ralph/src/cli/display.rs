//! The flags that say how a run is shown.

use std::{
    io::{self, Write},
    path::Path,
};

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::{
    report::{
        Reporter,
        human::Human,
        json::Json,
        style::{Marks, ReportStyle},
    },
    settings::{self, Settings},
    term::{self, ColorWhen, Palette, Stream, Width},
};

/// How a run is shown.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(super) struct DisplayArgs {
    /// Say what is done and why, in detail
    #[arg(short = 'V', long)]
    verbose: bool,

    /// Say nothing but warnings and errors; the summary stays
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// When to use colour; `auto` means on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "always", "never"])]
    color: Option<String>,

    /// Begin each line with the time
    #[arg(long)]
    timestamps: bool,

    /// What to print on standard output: a summary for people, or the events of the run as JSON lines
    #[arg(long, value_name = "FORMAT", value_parser = ["human", "json"], default_value = "human")]
    output: String,
}

impl DisplayArgs {
    /// The reporters of a run: talk on standard error, data on standard output.
    pub(super) fn reporters(&self, settings: &Settings) -> Vec<Box<dyn Reporter>> {
        let palette = Palette::of(self.color(settings), &io::stderr());
        let look = ReportStyle {
            live: !self.quiet && term::can_erase(Stream::Err),
            ..self.style(settings, palette, Width::of(Stream::Err))
        };
        let mut reporters = vec![human(look, Box::new(io::stderr()))];
        if self.is_json() {
            reporters.push(Box::new(Json::default()));
        }
        reporters
    }

    /// The flags as they were typed, each with its value if it has one.
    pub(super) fn flags(&self) -> Vec<(String, Option<String>)> {
        let switches = [("verbose", self.verbose), ("quiet", self.quiet), ("timestamps", self.timestamps)];
        let switches =
            switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (name.to_owned(), None));
        let color = self.color.clone().map(|when| ("color".to_owned(), Some(when)));
        switches.chain(color).chain([("output".to_owned(), Some(self.output.clone()))]).collect()
    }

    /// The reporter of a record: all of it is data.
    pub(super) fn replayer(&self, settings: &Settings) -> Vec<Box<dyn Reporter>> {
        if self.is_json() {
            return vec![Box::new(Json::default())];
        }
        let palette = Palette::of(self.color(settings), &io::stdout());
        let look = ReportStyle { stream: true, ..self.style(settings, palette, Width::of(Stream::Out)) };
        vec![human(look, Box::new(io::stdout()))]
    }

    fn style(&self, settings: &Settings, palette: Palette, width: Width) -> ReportStyle {
        let has_timestamps = self.timestamps || settings.output.timestamps;
        ReportStyle {
            palette,
            marks: Marks::of(settings.output.emoji),
            width,
            stream: settings.stream_agent_output,
            verbose: self.verbose,
            quiet: self.quiet,
            live: false,
            summary: !self.is_json(),
            timestamps: has_timestamps.then(TimeZone::system),
            max_lines: settings.output.max_lines,
            max_chars: settings.output.max_chars,
        }
    }

    fn color(&self, settings: &Settings) -> ColorWhen {
        let named = |name: &str| ColorWhen::NAMES.into_iter().find(|(known, _)| *known == name);
        self.color.as_deref().and_then(named).map_or(settings.output.color, |(_, when)| when)
    }

    pub(super) fn is_json(&self) -> bool {
        self.output == "json"
    }
}

/// The settings that say how things look today, for commands that show what ran with others.
pub(super) fn settings_of(project: &Path) -> Settings {
    // Nothing is run, so it does not matter whether an agent is named; and what is wrong is no matter here.
    let flags = json!({"agent": {"command": "none"}});
    settings::load(project, None, flags).map_or_else(|_| Settings::default(), |loaded| loaded.settings)
}

fn human(look: ReportStyle, out: Box<dyn Write>) -> Box<dyn Reporter> {
    Box::new(Human::new(look, out, Box::new(io::stdout())))
}
