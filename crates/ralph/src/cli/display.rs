//! What the flags that say how a run is shown make of it.

use std::{
    io::{self, Write},
    path::Path,
};

use jiff::tz::TimeZone;
use serde_json::json;

use crate::{
    report::{
        Reporter,
        fleet::FleetStyle,
        human::Human,
        json::Json,
        streams::Streams,
        style::{Marks, ReportStyle},
    },
    settings::{
        self, Settings,
        flags::{DisplayFlags, OutputFormat},
    },
    term::{self, ColorWhen, Palette, Stream, Width},
};

impl DisplayFlags {
    /// The reporters of a run: talk on standard error, data on standard output.
    pub(super) fn reporters(&self, settings: &Settings) -> Vec<Box<dyn Reporter>> {
        let palette = Palette::of(self.color(settings), &io::stderr());
        let look = ReportStyle {
            live: !self.quiet && term::can_erase(Stream::Err),
            ..self.style(settings, palette, Width::of(Stream::Err))
        };
        let streams = Streams::of_text();
        let mut reporters = vec![human(look, streams.talk(), streams.end())];
        if self.is_json() {
            reporters.push(Box::new(Json::new(Streams::events(), streams.talk())));
        }
        reporters
    }

    /// The reporter of a record: all of it is data.
    pub(super) fn replayer(&self, settings: &Settings) -> Vec<Box<dyn Reporter>> {
        if self.is_json() {
            return vec![Box::new(Json::new(Box::new(io::stdout()), Box::new(io::stderr())))];
        }
        let palette = Palette::of(self.color(settings), &io::stdout());
        let look = ReportStyle { stream: true, ..self.style(settings, palette, Width::of(Stream::Out)) };
        vec![human(look, Box::new(io::stdout()), Box::new(io::stdout()))]
    }

    /// How a fleet is shown.
    pub(super) fn fleet_style(&self, settings: &Settings) -> FleetStyle {
        let has_timestamps = self.timestamps || settings.output.timestamps;
        FleetStyle {
            quiet: self.quiet,
            json: self.is_json(),
            timestamps: has_timestamps.then(TimeZone::system),
        }
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
        self.color.unwrap_or(settings.output.color)
    }

    pub(super) fn is_json(&self) -> bool {
        self.output == OutputFormat::Json
    }
}

/// The settings that say how things look today, for commands that show what ran with others.
pub(super) fn settings_of(project: &Path) -> Settings {
    // Nothing is run, so it does not matter whether an agent is named; and what is wrong is no matter here.
    let flags = json!({"agent": {"command": "none"}});
    settings::load(project, None, flags).map_or_else(|_| Settings::default(), |loaded| loaded.settings)
}

fn human(look: ReportStyle, out: Box<dyn Write>, end: Box<dyn Write>) -> Box<dyn Reporter> {
    Box::new(Human::new(look, out, end))
}
