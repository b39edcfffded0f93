//! What the project's commands find in their environment in a judge.
//!
//! Tools that keep results outside of the project get a place inside of the judge for them: what an agent's tools left
//! there, or a refused candidate, must not answer for the next one.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use super::keep::OWN_CACHE;

/// Says that it is a judge.
pub const JUDGE: &str = "RALPH_JUDGE";

/// Ports from here on, in steps, are for services that the commands start.
const FIRST_PORT: u64 = 20_000;
const PORTS: u64 = 100;
const PORT_RANGES: u64 = 400;

/// Caches of results, which tools keep elsewhere: always in the judge.
const RESULTS: [(&str, &str); 2] = [("GOCACHE", "go-build"), ("CCACHE_DIR", "ccache")];
/// Folders for results that the user put elsewhere: in the judge, if they are set.
const IF_SET: [(&str, &str); 4] = [
    ("CARGO_TARGET_DIR", "cargo-target"),
    ("CARGO_BUILD_TARGET_DIR", "cargo-target"),
    ("MYPY_CACHE_DIR", "mypy"),
    ("RUFF_CACHE_DIR", "ruff"),
];
/// Caches of what was downloaded: in the judge where the user's own cannot be written.
const DOWNLOADS: [(&str, &str); 5] = [
    ("XDG_CACHE_HOME", "xdg"),
    ("npm_config_cache", "npm"),
    ("YARN_CACHE_FOLDER", "yarn"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
];

/// Who may write where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contained {
    /// Only inside.
    Yes,
    /// Everywhere.
    No,
}

/// The variables of a judge whose top is seen at `seat`. `number` tells it from others.
pub fn variables(
    seat: &Path,
    number: u64,
    contained: Contained,
    is_set: impl Fn(&str) -> bool,
) -> Vec<(OsString, OsString)> {
    let cache = seat.join(OWN_CACHE);
    let port = FIRST_PORT + number % PORT_RANGES * PORTS;
    let mut all: Vec<(OsString, OsString)> = vec![
        (JUDGE.into(), "1".into()),
        ("COMPOSE_PROJECT_NAME".into(), format!("ralph-judge-{:08x}", number & 0xffff_ffff).into()),
        ("RALPH_PORT_BASE".into(), port.to_string().into()),
    ];
    let used = RESULTS
        .into_iter()
        .chain(IF_SET.into_iter().filter(|(name, _)| is_set(name)))
        .chain(DOWNLOADS.into_iter().filter(|_| contained == Contained::Yes));
    all.extend(used.map(|(name, folder)| (name.into(), cache.join(folder).into_os_string())));
    all
}

/// Whether a variable leads git elsewhere, and must not be there.
pub fn misleads_git(name: &OsStr) -> bool {
    const NAMES: [&str; 9] = [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_CEILING_DIRECTORIES",
    ];
    NAMES.iter().any(|known| name == *known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(number: u64, contained: Contained, set: &[&str], name: &str) -> Option<String> {
        let all = variables(Path::new("/p"), number, contained, |name| set.contains(&name));
        all.into_iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.to_string_lossy().into_owned())
    }

    #[test]
    fn results_are_kept_in_the_judge() {
        let no = Contained::No;
        assert_eq!(value(0, no, &[], "RALPH_JUDGE").as_deref(), Some("1"));
        assert_eq!(value(0, no, &[], "GOCACHE").as_deref(), Some("/p/.git/ralph-cache/go-build"));
        assert_eq!(value(0, no, &[], "CARGO_TARGET_DIR"), None);
        let target = value(0, no, &["CARGO_TARGET_DIR"], "CARGO_TARGET_DIR");
        assert_eq!(target.as_deref(), Some("/p/.git/ralph-cache/cargo-target"));
        assert_eq!(value(0, no, &[], "PIP_CACHE_DIR"), None);
        let pip = value(0, Contained::Yes, &[], "PIP_CACHE_DIR");
        assert_eq!(pip.as_deref(), Some("/p/.git/ralph-cache/pip"));
    }

    #[test]
    fn judges_are_told_apart() {
        let of = |number, name| value(number, Contained::No, &[], name).expect("it is set");
        assert_eq!(
            (of(1, "RALPH_PORT_BASE"), of(2, "RALPH_PORT_BASE")),
            ("20100".to_owned(), "20200".to_owned())
        );
        assert_ne!(of(1, "COMPOSE_PROJECT_NAME"), of(2, "COMPOSE_PROJECT_NAME"));
        for number in [0, 1, 399, 400, u64::MAX] {
            let port: u64 = of(number, "RALPH_PORT_BASE").parse().expect("a number");
            assert!((20_000..60_000).contains(&port), "{port}");
        }
    }

    #[test]
    fn nothing_leads_git_elsewhere() {
        assert!(misleads_git(OsStr::new("GIT_DIR")));
        assert!(!misleads_git(OsStr::new("GIT_AUTHOR_NAME")));
    }
}
