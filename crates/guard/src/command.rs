//! One command that would run, and how its options are read.

use super::{context::Context, paths, programs, shell::RedirectKind, text};

/// A command as a system call would see it. Unknown parts of its texts are marked, see [`text`].
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that hold or do not, independently")]
pub(crate) struct Command {
    /// The last part of its path; empty if there are only redirections or assignments.
    pub(crate) program: String,
    /// As it was written.
    pub(crate) spelled: String,
    pub(crate) args: Vec<String>,
    /// The variables that are set for it, or that it sets.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: String,
    pub(crate) redirects: Vec<FileRedirect>,
    pub(crate) stdin: Stdin,
    /// What it was unwrapped from.
    pub(crate) wrappers: Vec<String>,
    /// Part of a pipeline.
    pub(crate) is_piped: bool,
    /// The commands that come after it in the pipeline, as they would be typed.
    pub(crate) feeds: Vec<String>,
    pub(crate) is_remote: bool,
    pub(crate) in_background: bool,
    pub(crate) is_endless: bool,
    /// The code that an interpreter is given.
    pub(crate) code: Option<String>,
    /// Paths that links lead to, and files that came from the network, at this point.
    pub(crate) links: Vec<(String, String)>,
    pub(crate) downloads: Vec<String>,
    /// Remotes of git that were named on the same line.
    pub(crate) remotes: Vec<String>,
}

/// What a command finds on its standard input.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stdin {
    /// What it says, with unknown parts, if anything is known about it.
    pub(crate) text: Option<String>,
    /// The programs that wrote it, the last one last.
    pub(crate) programs: Vec<String>,
    /// The file it comes from.
    pub(crate) file: Option<String>,
}

impl Stdin {
    /// Whether something other than the terminal is read.
    pub(crate) fn is_given(&self) -> bool {
        self.text.is_some() || !self.programs.is_empty() || self.file.is_some()
    }
}

/// A file that is opened by a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRedirect {
    pub(crate) kind: RedirectKind,
    pub(crate) path: String,
}

impl Command {
    /// Whether it is one of these programs.
    pub(crate) fn is(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program.as_str())
    }

    /// Whether an option is given: one of these letters, alone or in a cluster, or one of these long names, which may
    /// be shortened.
    pub(crate) fn has(&self, letters: &str, names: &[&str]) -> bool {
        self.options().any(|option| match option.strip_prefix("--") {
            Some(long) => {
                let long = long.split('=').next().unwrap_or_default();
                names.iter().any(|name| is_short_for(long, name))
            }
            None => {
                names.iter().any(|name| option[1..] == **name)
                    || option[1..]
                        .split('=')
                        .next()
                        .unwrap_or_default()
                        .contains(|letter| letters.contains(letter))
            }
        })
    }

    /// Whether exactly this word stands among the arguments.
    pub(crate) fn has_word(&self, words: &[&str]) -> bool {
        self.args.iter().any(|arg| words.contains(&arg.as_str()))
    }

    /// Whether a cluster of letters has this one.
    pub(crate) fn options_with_letter(&self, letter: char) -> bool {
        self.options().any(|option| !option.starts_with("--") && option.len() < 6 && option.contains(letter))
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        let before = self.args.iter().take_while(|arg| *arg != "--");
        before.map(String::as_str).filter(|arg| arg.len() > 1 && arg.starts_with('-'))
    }

    /// The values of an option: `-o value`, `-ovalue`, `--name value`, `--name=value`.
    pub(crate) fn values(&self, letters: &str, names: &[&str]) -> Vec<&str> {
        let mut values = Vec::new();
        for (at, arg) in self.args.iter().enumerate() {
            let next = self.args.get(at + 1).map(String::as_str);
            if let Some(long) = arg.strip_prefix("--").filter(|long| !long.is_empty()) {
                let (name, value) =
                    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                if names.contains(&name) {
                    values.extend(value.or(next));
                }
            } else if let Some(cluster) = arg.strip_prefix('-') {
                if names.contains(&cluster) {
                    values.extend(next);
                } else if let Some((name, value)) = cluster.split_once('=')
                    && names.contains(&name)
                {
                    values.push(value);
                } else if let Some(found) = cluster.find(|letter| letters.contains(letter)) {
                    let rest = &cluster[found + 1..];
                    values.extend(if rest.is_empty() { next } else { Some(rest) });
                }
            }
        }
        values
    }

    /// The arguments that are no options. `valued` lists options that take the next argument.
    pub(crate) fn operands(&self, valued: &[&str]) -> Vec<&str> {
        self.each_operand(valued).collect()
    }

    fn each_operand<'a, 'b>(&'a self, valued: &'b [&'b str]) -> impl Iterator<Item = &'a str> + use<'a, 'b> {
        let (mut skips, mut is_rest) = (false, false);
        self.args.iter().map(String::as_str).filter(move |arg| {
            if std::mem::take(&mut skips) {
                return false;
            }
            if is_rest || *arg == "-" || !arg.starts_with('-') {
                return true;
            }
            is_rest = *arg == "--";
            skips = !is_rest && valued.contains(arg);
            false
        })
    }

    /// The options that are given, clusters taken apart: letters, and long names. `valued` lists options that take the rest
    /// of their cluster or else the next argument, `attached` letters that take the rest of their cluster or nothing.
    pub(crate) fn switches(&self, valued: &[&str], attached: &str) -> Vec<&str> {
        let mut switches = Vec::new();
        let mut skips = false;
        for arg in &self.args {
            if std::mem::take(&mut skips) {
                continue;
            }
            if arg == "--" {
                break;
            }
            if let Some(long) = arg.strip_prefix("--") {
                skips = valued.contains(&arg.as_str());
                switches.push(long.split('=').next().unwrap_or_default());
                continue;
            }
            let Some(cluster) = arg.strip_prefix('-') else { continue };
            for (at, letter) in cluster.char_indices() {
                let rest = at + letter.len_utf8();
                switches.push(&cluster[at..rest]);
                let takes_value =
                    valued.iter().any(|name| name.strip_prefix('-') == Some(&cluster[at..rest]));
                if takes_value || attached.contains(letter) {
                    skips = takes_value && rest == cluster.len();
                    break;
                }
            }
        }
        switches
    }

    /// The arguments that are no options, with the options that this program is known to give values to.
    pub(crate) fn words(&self) -> Vec<&str> {
        let mut words = self.operands(programs::valued_options(&self.program));
        if words.first().is_some_and(|word| self.names_toolchain(word)) {
            words.remove(0);
        }
        words
    }

    /// The first of its words, which many rules ask for.
    pub(crate) fn first_word(&self) -> Option<&str> {
        let mut words = self.each_operand(programs::valued_options(&self.program));
        let first = words.next()?;
        if self.names_toolchain(first) { words.next() } else { Some(first) }
    }

    /// `cargo +nightly` names a toolchain first.
    fn names_toolchain(&self, first: &str) -> bool {
        first.starts_with('+') && self.is(&["cargo", "rustc", "rustfmt"])
    }

    /// Whether it sets a variable of which this is true, for itself or for all that follow.
    pub(crate) fn sets_variable(&self, is_meant: &dyn Fn(&str, &str) -> bool) -> bool {
        let mut set = self.env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        if set.any(|(name, value)| is_meant(name, value)) {
            return true;
        }
        if self.is(&["launchctl"]) {
            return matches!(self.operands(&[])[..], ["setenv", name, value] if is_meant(name, value));
        }
        let exports = ["export", "declare", "typeset", "readonly", "local", "setenv"];
        let mut pairs = self.args.iter().filter_map(|arg| arg.split_once('='));
        self.is(&exports) && pairs.any(|(name, value)| is_meant(name, value))
    }

    /// Only says what it would do.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.asks_for_help()
            || (self.is(&["rsync"]) && self.has("n", &[]))
            || self.args.iter().any(|arg| {
                (arg.starts_with("--dry-run") && arg != "--dry-run=none")
                    || matches!(
                        arg.as_str(),
                        "--dryrun" | "--what-if" | "--simulate" | "--noop" | "-whatif" | "-WhatIf"
                    )
            })
    }

    /// A path as seen from where it runs, with links followed.
    pub(crate) fn resolve_path(&self, path: &str, ctx: &Context) -> String {
        let whole = paths::resolve(path, &self.cwd, &ctx.home);
        let linked = self.links.iter().find_map(|(link, target)| {
            let rest = whole.strip_prefix(link.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
        });
        linked.unwrap_or(whole)
    }

    /// Only asks for help or a version, or tries without doing.
    pub(crate) fn asks_for_help(&self) -> bool {
        // `--version 1.0` says which one.
        let is_last = |at: usize| self.args.get(at + 1).is_none_or(|next| next.starts_with('-'));
        let asks = |(at, arg): (usize, &String)| match arg.as_str() {
            "--help" | "-help" => true,
            "--version" | "-version" => is_last(at),
            _ => false,
        };
        self.args.iter().enumerate().any(asks)
            || matches!(&self.args[..], [only] if ["-h", "-V", "help", "version"].contains(&only.as_str()))
    }

    /// `true`, `:` and the like.
    pub(crate) fn is_always_true(&self) -> bool {
        (self.is(&["true", ":"]) && self.env.is_empty())
            || (self.is(&["[", "test"])
                && matches!(self.args.first().map(String::as_str), Some("1" | "true")))
    }

    /// How it would be typed, for people.
    pub(crate) fn as_typed(&self) -> String {
        let mut words: Vec<String> =
            self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        if !self.spelled.is_empty() {
            words.push(quoted(&self.spelled));
        }
        words.extend(self.args.iter().map(|arg| quoted(arg)));
        for redirect in &self.redirects {
            let sign = match redirect.kind {
                RedirectKind::Read | RedirectKind::Here | RedirectKind::Duplicate => "<",
                RedirectKind::Write => ">",
                RedirectKind::Append => ">>",
                RedirectKind::ReadWrite => "<>",
            };
            words.push(format!("{sign} {}", quoted(&redirect.path)));
        }
        words.join(" ")
    }
}

/// Long options may be shortened as long as they are unique; three letters are taken to be.
fn is_short_for(given: &str, name: &str) -> bool {
    given == name || (3 <= given.len() && name.starts_with(given))
}

fn quoted(word: &str) -> String {
    let shown = text::for_display(word);
    let is_plain = |next: char| next.is_alphanumeric() || "-_=+/.,:@%^~‹›$*?{}[]".contains(next);
    if !shown.is_empty() && shown.chars().all(is_plain) {
        return shown;
    }
    format!("'{}'", shown.replace('\n', "␤").replace('\'', "'\\''"))
}
