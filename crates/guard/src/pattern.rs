//! Patterns of commands: what rules are written in, ours and the user's.
//!
//! `git push -f|--force !-n` is a program and, after it, what must be true of its arguments, each with alternatives:
//!
//! | part | is true when |
//! |---|---|
//! | `push\|send-pack` | the next word (no option) is one of these |
//! | `-f\|--force` | an option is given: a letter alone or in a cluster, a name, shortened or not |
//! | `--pid=host` | an option is given with this value |
//! | `~*.sock` | an argument is this, anywhere |
//! | `@xargs` | the command came out of this wrapper |
//! | `>*kill*` | a command further down the pipe is this, as it would be typed |
//! | `<*flush*` | it reads this, as far as that is known |
//! | `!...` | the part is not true |
//!
//! `*`, `?` and `[a-z]` are wildcards; `?*` is any word. Only options are told apart by upper and lower case.

use serde::{Serialize, Serializer};

use super::{command::Command, paths::glob_matches};

/// The patterns of a rule of ours.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    /// A bit for each of the programs, by a sum over its letters: most rules are about others, and this says so at once.
    programs: [u64; 4],
    all: &'static [&'static str],
}

impl Patterns {
    /// Of no command.
    pub(crate) const NONE: Self = Self::new(&[]);

    /// Of all that one of these means.
    pub(crate) const fn new(all: &'static [&'static str]) -> Self {
        let (mut programs, mut at) = ([0; 4], 0);
        while at < all.len() {
            programs = with_programs(programs, all[at].as_bytes());
            at += 1;
        }
        Self { programs, all }
    }

    /// Whether one of them means this command.
    pub(crate) fn mean(&self, command: &Command) -> bool {
        let sum = command.program.bytes().fold(0, add_letter);
        self.programs[sum as usize >> 6] & bit(sum) != 0 && any_means(self.all, command)
    }
}

impl Serialize for Patterns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(serializer)
    }
}

const fn add_letter(sum: u8, letter: u8) -> u8 {
    sum.wrapping_mul(31).wrapping_add(letter)
}

const fn bit(sum: u8) -> u64 {
    1 << (sum & 63)
}

/// Adds the programs at the start of a pattern. One with a wildcard may be any.
const fn with_programs(mut programs: [u64; 4], pattern: &[u8]) -> [u64; 4] {
    let (mut at, mut sum) = (0, 0);
    loop {
        let is_end = at == pattern.len() || pattern[at] == b' ';
        if is_end || pattern[at] == b'|' {
            programs[(sum >> 6) as usize] |= bit(sum);
            sum = 0;
        } else if pattern[at] == b'*' {
            return [u64::MAX; 4];
        } else {
            sum = add_letter(sum, pattern[at]);
        }
        if is_end {
            return programs;
        }
        at += 1;
    }
}

/// Whether one of these patterns means this command.
pub(crate) fn any_means(patterns: &[impl AsRef<str>], command: &Command) -> bool {
    let mut patterns = patterns.iter().map(AsRef::as_ref).filter(|it| names_program(it, command)).peekable();
    if patterns.peek().is_none() {
        return false;
    }
    let words = command.words();
    patterns.any(|pattern| {
        let mut words = words.iter().copied();
        pattern.split(' ').skip(1).all(|part| is_true(part, command, &mut words))
    })
}

/// Whether a pattern begins with this program. Asked of many patterns for every command, so in one pass and without
/// allocation.
fn names_program(pattern: &str, command: &Command) -> bool {
    let program = command.program.as_bytes();
    let mut choices = pattern.as_bytes();
    loop {
        let end = choices.iter().position(|byte| matches!(byte, b' ' | b'|'));
        let choice = &choices[..end.unwrap_or(choices.len())];
        let is_named = match choice {
            [start @ .., b'*'] => program.starts_with(start),
            _ => choice == program,
        };
        match end {
            _ if is_named => return true,
            Some(at) if choices[at] == b'|' => choices = &choices[at + 1..],
            Some(_) | None => return false,
        }
    }
}

fn is_true<'a>(part: &str, command: &Command, words: &mut impl Iterator<Item = &'a str>) -> bool {
    let (is_wanted, part) = match part.strip_prefix('!') {
        Some(part) => (false, part),
        None => (true, part),
    };
    let rest = part.get(1..).unwrap_or_default();
    let is_found = match part.as_bytes().first() {
        Some(b'~') => command.args.iter().any(|arg| is_one_of(rest, arg)),
        Some(b'@') => command.wrappers.iter().any(|wrapper| is_one_of(rest, wrapper)),
        Some(b'>') => command.feeds.iter().any(|next| is_one_of(rest, next)),
        Some(b'<') => command.stdin.text.as_ref().is_some_and(|text| is_one_of(rest, text)),
        Some(b'-') if rest.is_empty() => words.next() == Some("-"),
        Some(b'-') => part.split('|').any(|option| is_given(option, command)),
        _ => {
            let word = words.next().unwrap_or_default();
            part.split('|').any(|choice| (choice == "*" || !word.is_empty()) && is_one_of(choice, word))
        }
    };
    is_found == is_wanted
}

/// Whether a text is one of these, which may be patterns; upper or lower case does not matter.
pub(crate) fn is_one_of(choices: &str, text: &str) -> bool {
    if choices.split('|').any(|choice| glob_matches(choice, text)) {
        return true;
    }
    if !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    choices.split('|').any(|choice| glob_matches(choice, &lower))
}

/// Whether an option is given, and with a value if it names one.
fn is_given(option: &str, command: &Command) -> bool {
    let (option, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let name = option.trim_start_matches('-');
    let is_letter = name.len() == 1 && !option.starts_with("--");
    let (letters, names) = if is_letter { (name, &[][..]) } else { ("", &[name][..]) };
    match value {
        Some(value) => command.values(letters, names).iter().any(|given| is_one_of(value, given)),
        None => command.has(letters, names),
    }
}

/// Whether a variable has this name and value: `LD_PRELOAD|LD_AUDIT=?*`. After `=!` stand the values that are fine.
pub(crate) fn means_variable(pattern: &str, name: &str, value: &str) -> bool {
    let Some((names, values)) = pattern.split_once('=') else { return false };
    let is_named = names.split('|').any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known.eq_ignore_ascii_case(name),
    });
    is_named
        && match values.strip_prefix('!') {
            Some(fine) => !is_one_of(fine, value),
            None => is_one_of(values, value),
        }
}

/// What is wrong with a pattern, if anything is.
pub(crate) fn fault(pattern: &str) -> Option<&'static str> {
    let mut parts = pattern.split(' ');
    let program = parts.next().unwrap_or_default();
    if pattern.split(' ').any(str::is_empty) {
        return Some("words are separated by one space each, and there must be one");
    }
    if program.starts_with(['-', '!', '~', '@', '<', '>']) || program.contains(['/', '=']) {
        return Some("it must begin with the name of a program, without its folder");
    }
    if program.split('|').any(str::is_empty) {
        return Some("the name of a program is empty");
    }
    let is_empty = |part: &str| part.trim_start_matches(['!', '~', '@', '<', '>']).is_empty();
    parts.any(is_empty).then_some("a sign such as `!` or `~` must be followed by a word")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{context::Context, flatten};

    fn means(pattern: &str, command_line: &str) -> bool {
        let ctx = Context::new("/home/dev/proj", "/home/dev");
        let flattened = flatten::flatten(command_line, &ctx);
        flattened.commands.iter().any(|command| any_means(&[pattern], command))
    }

    #[track_caller]
    fn check(pattern: &str, meant: &[&str], others: &[&str]) {
        assert_eq!(fault(pattern), None, "{pattern}");
        for command_line in meant {
            assert!(means(pattern, command_line), "{pattern}: {command_line}");
        }
        for command_line in others {
            assert!(!means(pattern, command_line), "{pattern}: {command_line}");
        }
    }

    #[test]
    fn parts_of_patterns() {
        check(
            "git push",
            &["git push", "sudo git -C x push -f", "sh -c 'git push'"],
            &["git pull", "gitx push"],
        );
        check("git|hub push|send-pack -f|--force", &["git push -uf a", "hub push --forc"], &["git push"]);
        check("a !b", &["a", "a c", "a -x c"], &["a b"]);
        check("a ?* !?*", &["a b", "a -x b"], &["a", "a b c"]);
        check("a !-n|--dry-run", &["a b"], &["a -n", "a --dry-run"]);
        check("a --pid=host", &["a --pid=host", "a --pid host"], &["a --pid x", "a host"]);
        check("a -X=delete", &["a -X DELETE", "a -XDELETE"], &["a -X GET"]);
        check("a ~*.sock", &["a x --y z.sock"], &["a sock"]);
        check("a @xargs", &["ls | xargs a"], &["a"]);
        check("a >*kill*", &["a | b | xargs kill"], &["a | b", "kill | a"]);
        check("a <*flush*", &["echo FLUSHALL | a"], &["echo x | a", "a"]);
        check("mk* -t", &["mkfs -t x", "mkfs.ext4 -t x"], &["mount -t x"]);
        check("* --force-all", &["x --force-all", "x --forc"], &["x --fast"]);
        check("env - ?*", &["env - ls"], &["env ls"]);
    }

    #[test]
    fn sums_let_no_program_slip() {
        const PATTERNS: Patterns = Patterns::new(&["git|hub push", "7z"]);
        let named = |program: &str| Command {
            program: program.to_owned(),
            args: vec!["push".to_owned()],
            ..Command::default()
        };
        assert!(["git", "hub", "7z"].iter().all(|program| PATTERNS.mean(&named(program))));
        assert!(!PATTERNS.mean(&named("svn")) && !PATTERNS.mean(&named("")));
        assert!(Patterns::new(&["a", "mk* push"]).mean(&named("mkfs")));
    }

    #[test]
    fn variables() {
        assert!(means_variable("A|B=?*", "B", "x") && !means_variable("A|B=?*", "B", ""));
        assert!(means_variable("A=!|true", "A", "x") && !means_variable("A=!|true", "A", ""));
        assert!(means_variable("R_*=*", "R_X", "") && !means_variable("R_*=*", "Q", ""));
    }

    #[test]
    fn what_is_no_pattern() {
        for pattern in ["", " a", "a  b", "-f", "/bin/rm x", "a|", "a !", "a ~", "!a b"] {
            assert!(fault(pattern).is_some(), "{pattern}");
        }
    }
}
