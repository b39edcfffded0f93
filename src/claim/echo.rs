//! Tells a plain program's own words from the prompt that it repeats.
//!
//! Structured agents mark what is theirs. A program that merely prints may echo its prompt, and the prompt says
//! how to claim. So a line that repeats such a line of the prompt is not the program's own.

/// A line longer than this is not held back to be compared.
const LONGEST_LINE: usize = 64 * 1024;

/// Takes out of a text what repeats the prompt.
#[derive(Debug)]
pub struct Echo {
    /// Lines of the prompt that mention a tag among other words.
    lines: Vec<String>,
    /// A line that has not ended yet.
    pending: String,
}

impl Echo {
    /// What must not be taken for a claim when it comes back.
    pub fn of(prompt: &str) -> Self {
        let is_bare_tag = |line: &str| line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
        let lines = prompt.lines().map(str::trim).filter(|line| line.contains("</") && !is_bare_tag(line));
        Self { lines: lines.map(str::to_owned).collect(), pending: String::new() }
    }

    /// The program's own words in the next piece of its text.
    pub fn strip(&mut self, text: &str) -> String {
        if self.lines.is_empty() {
            return text.to_owned();
        }
        self.pending.push_str(text);
        let end = match self.pending.rfind('\n') {
            Some(at) => at + 1,
            None if LONGEST_LINE < self.pending.len() => self.pending.len(),
            None => return String::new(),
        };
        let whole: String = self.pending.drain(..end).collect();
        self.without_echo(whole)
    }

    /// What is left when the text has ended.
    pub fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        self.without_echo(rest)
    }

    fn without_echo(&self, text: String) -> String {
        self.lines
            .iter()
            .fold(text, |text, line| if text.contains(line) { text.replace(line, "") } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prompt: &str, pieces: &[&str], expected: &str) {
        let mut echo = Echo::of(prompt);
        let mut own: String = pieces.iter().map(|piece| echo.strip(piece)).collect();
        own.push_str(&echo.finish());
        assert_eq!(own, expected);
    }

    #[test]
    fn what_repeats_the_prompt_is_not_own() {
        let prompt = "Fix it.\nSay <response>DONE</response> when done.";
        check(
            prompt,
            &["You said: Fix it.\n> Say <response>DONE</response> when done.\nok\n"],
            "You said: Fix it.\n> \nok\n",
        );
        check(prompt, &["Say <resp", "onse>DONE</response> wh", "en done."], "");
        check(prompt, &["I did. <response>DONE</response>"], "I did. <response>DONE</response>");
        check("no tag", &["any", "thing"], "anything");
        // A tag on a line of its own is a claim, wherever it was learnt.
        check("Say\n<response>DONE</response>", &["<response>DONE</response>"], "<response>DONE</response>");
    }
}
