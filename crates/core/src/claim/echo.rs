//! Tells a plain program's own words from the prompt that it repeats.
//!
//! Structured agents mark what is theirs. A program that merely prints may echo its prompt, and the prompt says
//! how to claim. So a line that repeats such a line of the prompt is not the program's own; nor is a tag on a line of its
//! own, if what comes before it in the prompt comes before it here too.

/// A line longer than this is not held back to be compared.
const MAX_LINE_LEN: usize = 64 * 1024;

/// Takes out of a text what repeats the prompt.
#[derive(Debug)]
pub struct Echo {
    /// Lines of the prompt that mention a tag among other words.
    lines: Vec<String>,
    /// Tags that have a line of the prompt to themselves, each with the line before.
    bare: Vec<(String, String)>,
    /// The last line that was not empty.
    last: String,
    /// A line that has not ended yet.
    pending: String,
}

impl Echo {
    /// What must not be taken for a claim when it comes back.
    pub fn of(prompt: &str) -> Self {
        let (mut lines, mut bare, mut before) = (Vec::new(), Vec::new(), "");
        for line in prompt.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if is_bare_tag(line) {
                // With nothing before it, an echo and a claim are the same.
                bare.extend((!before.is_empty()).then(|| (before.to_owned(), line.to_owned())));
            } else if line.contains("</") {
                lines.push(line.to_owned());
            }
            before = line;
        }
        Self { lines, bare, last: String::new(), pending: String::new() }
    }

    /// The program's own words in the next piece of its text.
    pub fn strip(&mut self, text: &str) -> String {
        if self.lines.is_empty() && self.bare.is_empty() {
            return text.to_owned();
        }
        self.pending.push_str(text);
        let end = match self.pending.rfind('\n') {
            Some(at) => at + 1,
            None if MAX_LINE_LEN < self.pending.len() => self.pending.len(),
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

    fn without_echo(&mut self, text: String) -> String {
        let text = if self.bare.is_empty() { text } else { self.without_bare_tags(&text) };
        self.lines
            .iter()
            .fold(text, |text, line| if text.contains(line) { text.replace(line, "") } else { text })
    }

    fn without_bare_tags(&mut self, text: &str) -> String {
        let mut own = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim();
            let is_echo =
                |(before, tag): &(String, String)| trimmed.ends_with(tag) && self.last.ends_with(before);
            if !self.bare.iter().any(is_echo) {
                own.push_str(line);
            }
            if !trimmed.is_empty() {
                trimmed.clone_into(&mut self.last);
            }
        }
        own
    }
}

fn is_bare_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && line.contains("</") && !line.contains(' ')
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
    }

    #[test]
    fn a_tag_on_a_line_of_its_own_is_an_echo_after_what_came_before_it() {
        let prompt = "Do it.\nThen say:\n\n<response>DONE</response>\n\nThank you.";
        let claim = "<response>DONE</response>";
        check(prompt, &[claim], claim);
        check(prompt, &["It works.\n", claim], &format!("It works.\n{claim}"));
        check(prompt, &[prompt], "Do it.\nThen say:\n\n\nThank you.");
        check(prompt, &["> Then say:\n", "> <response>DONE</resp", "onse>\n"], "> Then say:\n");
        check(
            prompt,
            &[prompt, "\nDid it.\n", claim],
            &format!("Do it.\nThen say:\n\n\nThank you.\nDid it.\n{claim}"),
        );
        // Nothing came before it in the prompt either.
        check(claim, &[claim], claim);
    }

    #[test]
    fn a_tag_among_other_words_is_an_echo_wherever_it_comes() {
        for line in [
            "<response>DONE</response> ends it.",
            "End-with:<response>DONE</response>",
            "Say <response>DONE</response>",
        ] {
            check(&format!("Do it.\n{line}"), &["I did.\n", line], "I did.\n");
        }
    }

    #[test]
    fn a_line_that_never_ends_is_not_held_back() {
        let mut echo = Echo::of("Do it.\nSay <response>DONE</response> when done.");
        let line = "x".repeat(65_536);
        assert_eq!(echo.strip(&line), "");
        assert_eq!(echo.strip("y"), format!("{line}y"));
        assert_eq!(echo.finish(), "");
    }
}
