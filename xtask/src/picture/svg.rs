//! A screen as an SVG with real text.
//!
//! Every run of equal cells has its own place and length, every other character a place of its own, and ralph's marks
//! are drawn, so that the columns hold and nothing is missing whatever fonts the reader has.

use std::{fmt::Write, time::Duration};

use vt100::{Cell, Color, Screen};

const CELL: (f32, f32) = (8.4, 18.0);
const MARGIN: f32 = 16.0;
const SIZE: f32 = 14.0;
const BACKGROUND: &str = "#14171c";
const FOREGROUND: &str = "#d5dae1";
/// The sixteen colours of a terminal, on this background.
const PALETTE: [&str; 16] = [
    "#3b4048", "#f07178", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d5dae1", "#7f8794",
    "#ff8b92", "#b5e08f", "#ffd58a", "#82c4ff", "#dd9bf0", "#7fd5df", "#ffffff",
];

/// Ralph's marks, drawn from where their text would start.
const MARKS: [(&str, &str); 4] = [
    (
        "✅",
        "<rect y=\"-13\" width=\"15\" height=\"15\" rx=\"3\" fill=\"#4fae5a\"/><path d=\"M3.5-5.5l3 3 5.5-6.5\" fill=\"none\" \
         stroke=\"#fff\" stroke-width=\"2.2\"/>",
    ),
    ("❌", "<path d=\"M2-11l11 11M13-11l-11 11\" fill=\"none\" stroke=\"#f05561\" stroke-width=\"3\"/>"),
    ("⏺", "<circle cx=\"4.2\" cy=\"-5\" r=\"4\" fill=\"#d5dae1\"/>"),
    ("⎿", "<path d=\"M4-14v12h5\" fill=\"none\" stroke=\"#7f8794\"/>"),
];

/// Rows come one after the other, once; then the picture stands. A reader who wants nothing to move has all of it at once.
const MOTION: &str = "<style>g.row{animation:come 1ms backwards}@keyframes come{from{visibility:hidden}}\
                      @media(prefers-reduced-motion:reduce){g.row{animation:none}}</style>";

/// Draws the first rows of a screen, each from its time on; one without a time is there from the beginning.
pub(super) fn draw(screen: &Screen, rows: u16, times: &[Duration]) -> String {
    let (_, columns) = screen.size();
    let (width, height) = (
        f32::from(columns.get()).mul_add(CELL.0, 2.0 * MARGIN),
        f32::from(rows).mul_add(CELL.1, 2.0 * MARGIN),
    );
    let mut text = String::new();
    for row in 0..rows {
        let drawn: Vec<String> = runs(screen, row).iter().map(|run| format!("{}\n", run.draw(row))).collect();
        let time = times.get(usize::from(row)).filter(|time| !time.is_zero() && !drawn.is_empty());
        // A string takes everything that is written into it.
        let _ = match time {
            Some(time) => {
                let seconds = time.as_secs_f32();
                write!(
                    text,
                    "<g class=\"row\" style=\"animation-delay:{seconds:.2}s\">\n{}</g>\n",
                    drawn.concat()
                )
            }
            None => write!(text, "{}", drawn.concat()),
        };
    }
    let motion = if times.is_empty() { "" } else { MOTION };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"ralph demo in a terminal\">{motion}\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace\" \
         font-size=\"{SIZE}\" fill=\"{FOREGROUND}\" xml:space=\"preserve\">\n{text}</g>\n</svg>\n"
    )
}

/// Neighbouring cells that look the same.
struct Run {
    column: u16,
    columns: u16,
    text: String,
    style: String,
}

impl Run {
    fn draw(&self, row: u16) -> String {
        let x = f32::from(self.column).mul_add(CELL.0, MARGIN);
        let y = f32::from(row).mul_add(CELL.1, MARGIN) + SIZE;
        if let Some((_, shape)) = MARKS.iter().find(|(mark, _)| *mark == self.text) {
            return format!("<g transform=\"translate({x:.1} {y:.1})\">{shape}</g>");
        }
        let length = f32::from(self.columns) * CELL.0;
        // A symbol keeps its own shape; the font of symbols is not the font of letters.
        let fit = if is_even(&self.text) {
            format!(" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"")
        } else {
            String::new()
        };
        let text = self.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{fit}{}>{text}</text>", self.style)
    }
}

fn runs(screen: &Screen, row: u16) -> Vec<Run> {
    let (_, columns) = screen.size();
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns.get() {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let style = style(cell);
        let width = if cell.is_wide() { 2 } else { 1 };
        match runs.last_mut() {
            Some(run) if run.style == style && is_even(&run.text) && is_even(text) => {
                run.text.push_str(text);
                run.columns += width;
            }
            _ => runs.push(Run { column, columns: width, text: text.to_owned(), style }),
        }
    }
    runs.into_iter().filter_map(trimmed).collect()
}

/// Whether every fixed-width font has these characters, in one width.
fn is_even(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii() || c == '─')
}

/// Without the space around it, which has no look.
fn trimmed(run: Run) -> Option<Run> {
    let text = run.text.trim();
    if text.is_empty() {
        return None;
    }
    let before = u16::try_from(run.text.len() - run.text.trim_start().len()).ok()?;
    let after = u16::try_from(run.text.len() - run.text.trim_end().len()).ok()?;
    let (column, columns) = (run.column + before, run.columns - before - after);
    Some(Run { column, columns, text: text.to_owned(), style: run.style })
}

fn style(cell: &Cell) -> String {
    let mut style = match cell.fgcolor() {
        Color::Default => String::new(),
        Color::Idx(index) => PALETTE.get(usize::from(index)).map_or_else(String::new, |color| fill(color)),
        Color::Rgb(red, green, blue) => fill(&format!("#{red:02x}{green:02x}{blue:02x}")),
    };
    if cell.bold() {
        style.push_str(" font-weight=\"bold\"");
    }
    if cell.dim() {
        style.push_str(" opacity=\"0.6\"");
    }
    style
}

fn fill(color: &str) -> String {
    format!(" fill=\"{color}\"")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    #[track_caller]
    fn check(sent: &str, expected: &[&str]) {
        let mut terminal = vt100::Parser::new(NonZeroU16::MIN, NonZeroU16::new(20).expect("not zero"), 0);
        terminal.process(sent.as_bytes());
        let drawn = draw(terminal.screen(), 1, &[]);
        let lines: Vec<&str> = drawn.lines().filter(|line| line.starts_with("<text")).collect();
        assert_eq!(lines, expected, "{sent:?}");
    }

    #[test]
    fn cells_become_text_at_their_places() {
        check("", &[]);
        let fit = |length: &str| format!("textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"");
        check(" a <b>", &[&format!("<text x=\"24.4\" y=\"30.0\" {}>a &lt;b&gt;</text>", fit("42.0"))]);
        check(
            "→  ok",
            &[
                "<text x=\"16.0\" y=\"30.0\">→</text>",
                &format!("<text x=\"41.2\" y=\"30.0\" {}>ok</text>", fit("16.8")),
            ],
        );
        check(
            "\x1b[31mred\x1b[m",
            &[&format!("<text x=\"16.0\" y=\"30.0\" {} fill=\"#f07178\">red</text>", fit("25.2"))],
        );
    }

    #[test]
    fn a_row_comes_at_its_time() {
        let mut terminal = vt100::Parser::new(
            NonZeroU16::new(3).expect("not zero"),
            NonZeroU16::new(9).expect("not zero"),
            0,
        );
        terminal.process(b"a\r\nb");
        let drawn = draw(
            terminal.screen(),
            3,
            &[Duration::ZERO, Duration::from_millis(1500), Duration::from_secs(2)],
        );
        assert_eq!(drawn.matches("class=\"row\"").count(), 1, "{drawn}");
        assert!(drawn.contains("animation-delay:1.50s") && drawn.contains("@keyframes"), "{drawn}");
        assert!(!draw(terminal.screen(), 3, &[]).contains("style"));
    }
}
