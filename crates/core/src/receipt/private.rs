//! What must not leave the machine, and how it is taken out of a receipt.

use super::statement::Statement;

/// Shorter values of the environment say nothing about anyone, and are parts of other words.
const MIN_VALUE_LEN: usize = 8;
/// Shorter values that the user gives to guardrails and agents are no secrets.
const MIN_OWN_VALUE_LEN: usize = 4;
/// Shorter names are parts of other words.
const MIN_NAME_LEN: usize = 3;

/// What must not leave the machine.
#[derive(Clone, Debug, Default)]
pub struct Private {
    /// Where the project is.
    pub project: String,
    /// Where the user's home is.
    pub home: String,
    /// What the user is called.
    pub user: String,
    /// What the machine is called.
    pub host: String,
    /// The values of the environment.
    pub values: Vec<String>,
    /// The values that the settings give to guardrails and agents.
    pub own_values: Vec<String>,
}

impl Private {
    /// Takes it out of every text of a statement. The rest are numbers, moments, names that ralph gives, and digests.
    pub fn scrub(&self, statement: &mut Statement) {
        let predicate = &mut statement.predicate;
        let clean = |text: &mut String| *text = self.scrubbed(text);
        predicate.guardrails.iter_mut().filter_map(|it| it.command.as_mut()).for_each(clean);
        let remarks =
            predicate.findings.iter_mut().chain(&mut predicate.opinions).chain(&mut predicate.caveats);
        remarks.for_each(|it| clean(&mut it.text));
        predicate.accepted.iter_mut().filter_map(|it| it.why.as_mut()).for_each(clean);
        for hosts in [&mut predicate.containment.hosts, &mut predicate.containment.hosts_refused] {
            *hosts = hosts.iter().map(|host| self.scrubbed(host)).collect();
        }
        for agent in &mut predicate.agents {
            clean(&mut agent.name);
            agent.agent.iter_mut().for_each(clean);
            agent.models = agent.models.iter().map(|model| self.scrubbed(model)).collect();
        }
        predicate.tools.git.iter_mut().for_each(clean);
    }

    /// A text without it.
    pub fn scrubbed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, sign) in [(&self.project, "."), (&self.home, "~")] {
            if 1 < folder.len() {
                text = without_folder(&text, folder, sign);
            }
        }
        text = without_paths(&text);
        for (name, sign) in [(&self.user, "<user>"), (&self.host, "<host>")] {
            // Every machine has this one.
            if MIN_NAME_LEN <= name.len() && name != "root" && name != "localhost" {
                text = without_word(&text, name, sign);
            }
        }
        let own = self.own_values.iter().filter(|value| MIN_OWN_VALUE_LEN <= value.len());
        let inherited = self.values.iter().filter(|value| MIN_VALUE_LEN <= value.len());
        let mut values: Vec<&String> = own.chain(inherited).collect();
        // The longest first: another may be a part of it.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for value in values {
            text = text.replace(value.as_str(), "<value>");
        }
        text
    }
}

/// A text in which a folder is called otherwise; folders whose name only begins so are not meant.
fn without_folder(text: &str, folder: &str, sign: &str) -> String {
    let mut rest = text;
    let mut cleaned = String::with_capacity(text.len());
    while let Some(at) = rest.find(folder) {
        let after = &rest[at + folder.len()..];
        let ends = !after.starts_with(|next: char| next.is_alphanumeric() || "._-".contains(next));
        cleaned.push_str(&rest[..at]);
        cleaned.push_str(if ends { sign } else { folder });
        rest = after;
    }
    cleaned + rest
}

/// A text without absolute paths.
fn without_paths(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, from) = rest.split_at(at);
        cleaned.push_str(before);
        let inside = |last: char| last.is_alphanumeric() || "._-~*?]})/@+%".contains(last);
        let is_inside = cleaned.chars().next_back().is_some_and(inside);
        // The two of an address, unless a third one begins a path.
        let is_address = cleaned.ends_with(':') && from.starts_with("//") && !from.starts_with("///");
        let skipped = if is_address { 2 } else { 1 };
        let named = from.trim_start_matches('/');
        let is_path = named.starts_with(|next: char| next.is_alphanumeric() || "._-~".contains(next));
        if is_inside || is_address || !is_path {
            cleaned.push_str(&from[..skipped]);
            rest = &from[skipped..];
            continue;
        }
        let ends = |next: char| next.is_whitespace() || "\"'`;|&<>(){},:".contains(next);
        let end = from.find(ends).unwrap_or(from.len());
        cleaned.push_str("<path>");
        rest = &from[end..];
    }
    cleaned + rest
}

/// A text in which a word is another.
fn without_word(text: &str, word: &str, sign: &str) -> String {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        cleaned.push_str(before);
        let is_word = !cleaned.chars().next_back().is_some_and(is_part) && !after.starts_with(is_part);
        cleaned.push_str(if is_word { sign } else { word });
        rest = after;
    }
    cleaned + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let private = Private {
            project: "/home/ann/work/app".to_owned(),
            home: "/home/ann".to_owned(),
            user: "ann".to_owned(),
            host: "kestrel".to_owned(),
            values: vec!["sk-1234567890".to_owned(), "short".to_owned()],
            own_values: vec!["s3cr".to_owned(), "s3cret".to_owned()],
        };
        assert_eq!(private.scrubbed(text), expected);
    }

    #[test]
    fn what_is_private_is_taken_out() {
        check("make test", "make test");
        check("cd /home/ann/work/app/web && npm test", "cd ./web && npm test");
        check("/home/ann/.cargo/bin/cargo test", "~/.cargo/bin/cargo test");
        check("/home/ann/work/apple", "~/work/apple");
        check("/home/anna/x", "<path>");
        check("/usr/bin/make -C /srv/x:/opt/y", "<path> -C <path>:<path>");
        check("--root=/srv/x '/a b'", "--root=<path> '<path> b'");
        check("src/a.rs ../b ./c ~/d {a}/b", "src/a.rs ../b ./c ~/d {a}/b");
        check("curl https://kestrel/x file:///etc/x", "curl https://<host>/x file:<path>");
        check("make >/srv/x 2>>/srv/y </srv/z", "make ><path> 2>><path> <<path>");
        check("5 / 3, a/b, // x", "5 / 3, a/b, // x");
        check("TOKEN=sk-1234567890 short s3cret", "TOKEN=<value> short <value>");
        check("ann annotates; kestrels fly on kestrel.", "<user> annotates; kestrels fly on <host>.");
    }

    #[test]
    fn a_root_that_is_a_home_is_no_private_folder() {
        let private = Private { home: "/".to_owned(), project: "/".to_owned(), ..Private::default() };
        assert_eq!(private.scrubbed("/usr/bin/make /"), "<path> /");
    }
}
