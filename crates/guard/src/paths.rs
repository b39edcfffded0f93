//! Where a path leads, without looking at the disk.

use super::{context::Context, text};

/// Makes a path whole: from the working directory, with `~`, `.` and `..` worked out.
pub(crate) fn resolve(path: &str, cwd: &str, home: &str) -> String {
    let path = path.trim_end_matches(['\n', ' ']);
    let whole = if path == "~" || path.starts_with("~/") {
        format!("{home}{}", &path[1..])
    } else if path.starts_with('/') || text::starts_unknown(path) {
        path.to_owned()
    } else if has_drive(path) {
        format!("/{}", path.replace('\\', "/"))
    } else {
        format!("{cwd}/{path}")
    };
    normalize(&whole)
}

/// `C:/Users`.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Works out `.`, `..` and doubled slashes. What begins with an unknown part stays so.
pub(crate) fn normalize(path: &str) -> String {
    let path = without_proc_root(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in text::split(path, "/") {
        match part {
            "." => {}
            ".." if parts.last().is_none_or(|last| *last == ".." || !text::is_known(last)) => {
                // Above something unknown is unknown, above the root is the root.
                if !path.starts_with('/') || parts.last().is_some() {
                    parts.push("..");
                }
            }
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    if path.starts_with('/') { format!("/{joined}") } else { joined }
}

/// `/proc/self/root/etc` is `/etc`.
fn without_proc_root(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("/proc/") else { return path };
    let Some((_, rest)) = rest.split_once('/') else { return path };
    match rest.strip_prefix("root") {
        Some("") => "/",
        Some(inner) if inner.starts_with('/') => inner,
        _ => path,
    }
}

/// What kind of place a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The root of everything, or all that is in it.
    Root,
    /// A folder of the operating system or something in it.
    System,
    /// A user's home, or all that is in it.
    HomeRoot,
    /// In the home, outside the project; the path from there.
    Home(String),
    /// The project itself, all that is in it, or a folder around it.
    ProjectRoot,
    /// In the project; the path from there.
    Project(String),
    /// A folder for temporary files, or something in it.
    Temporary,
    /// Such as `/dev/null`.
    Harmless,
    /// Elsewhere on the disk.
    Outside,
    /// Not known.
    Unknown,
}

/// Folders that belong to the operating system or to all users.
const SYSTEM_FOLDERS: [&str; 26] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/data",
    "/snap",
    "/nix",
    "/System",
    "/Library",
    "/Applications",
    "/Volumes",
    "/private",
];

/// Says what kind of place a whole path is.
pub(crate) fn place_of(path: &str, ctx: &Context) -> Place {
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    if let Some(rest) = relative_to(path, &ctx.project) {
        return match rest {
            "" => Place::ProjectRoot,
            _ if first_part(rest).is_some_and(matches_all) => Place::ProjectRoot,
            _ if rest.split('/').any(|part| part == "..") => Place::Unknown,
            _ => Place::Project(rest.to_owned()),
        };
    }
    if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Place::Unknown;
    }
    if is_harmless_device(path) {
        return Place::Harmless;
    }
    // A home may lie in a folder for temporary files, and is a home all the same.
    let folder =
        path.rsplit_once('/').filter(|(_, last)| matches_all(last)).map_or(path, |(folder, _)| folder);
    let is_temporary =
        |path: &str| ctx.temporary_dirs.iter().any(|folder| relative_to(path, folder).is_some());
    // So is what lies beside it, such as another home.
    let homes = ctx.home.rsplit_once('/').map_or("", |(homes, _)| homes);
    let is_beside = (homes.ends_with("/home") || homes.ends_with("/Users"))
        && relative_to(path, homes).is_some()
        && is_temporary(homes);
    let is_home =
        is_beside || relative_to(path, &ctx.home).is_some() || relative_to(&ctx.home, folder).is_some();
    if !is_home && is_temporary(path) {
        return Place::Temporary;
    }
    if relative_to(&ctx.project, path).is_some() && path != "/" {
        return if home_part(path, ctx) == Some("") { Place::HomeRoot } else { Place::ProjectRoot };
    }
    if path == "/" || first_part(&path[1..]).is_some_and(matches_all) {
        return Place::Root;
    }
    match home_part(path, ctx) {
        Some(rest) if rest.is_empty() || first_part(rest).is_some_and(matches_all) => Place::HomeRoot,
        Some(rest) => Place::Home(rest.to_owned()),
        None if ["/home", "/Users"].contains(&path) => Place::HomeRoot,
        None if relative_to(&ctx.home, folder).is_some() => Place::HomeRoot,
        None if SYSTEM_FOLDERS
            .iter()
            .any(|folder| relative_to(path, folder).is_some() || glob_reaches(path, folder)) =>
        {
            Place::System
        }
        None => Place::Outside,
    }
}

/// The path from a user's home, ours or another's.
fn home_part<'a>(path: &'a str, ctx: &Context) -> Option<&'a str> {
    if let Some(rest) = relative_to(path, &ctx.home) {
        return Some(rest);
    }
    if let Some(rest) = relative_to(path, "/root") {
        return Some(rest);
    }
    let rest = relative_to(path, "/home").or_else(|| relative_to(path, "/Users"))?;
    Some(rest.split_once('/').map_or("", |(_, inner)| inner))
}

fn first_part(path: &str) -> Option<&str> {
    path.split('/').next()
}

/// The path from a folder, if it is the folder or below it.
pub(crate) fn relative_to<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = if folder == "/" { "" } else { folder };
    match path.strip_prefix(folder)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// Whether a part of a path is a pattern for everything, such as `*` or `.[!.]*`, or for all but a few: `!(src)`.
pub(crate) fn matches_all(part: &str) -> bool {
    part.starts_with("!(")
        || part.contains(['*', '?']) && part.chars().all(|next| "*?.[]!^{},".contains(next))
}

/// Whether the first part of a pattern can mean this folder of the root.
fn glob_reaches(path: &str, folder: &str) -> bool {
    let part = path[1..].split('/').next().unwrap_or_default();
    part.contains(['*', '?', '[']) && glob_matches(part, &folder[1..])
}

/// Devices that hold nothing.
fn is_harmless_device(path: &str) -> bool {
    let Some(name) = relative_to(path, "/dev") else { return false };
    matches!(
        name,
        "null" | "zero" | "full" | "random" | "urandom" | "tty" | "stdin" | "stdout" | "stderr" | "ptmx"
    ) || name.starts_with("fd/")
        || name.starts_with("pts/")
}

/// A device that holds data, or the memory.
pub(crate) fn is_disk(path: &str) -> bool {
    let Some(name) = relative_to(path, "/dev") else { return false };
    !name.is_empty()
        && !is_harmless_device(path)
        && !name.starts_with("shm")
        && !name.starts_with("tcp/")
        && !name.starts_with("udp/")
        && !name.starts_with("mqueue")
}

/// Whether a pattern with `*`, `?` and `[...]` means this name. Unknown parts of the pattern mean nothing.
pub(crate) fn glob_matches(pattern: &str, name: &str) -> bool {
    let (mut at, mut with) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(character) = name[with..].chars().next() {
        if let Some(length) = match_char(&pattern[at..], character) {
            at += length;
            with += character.len_utf8();
        } else if pattern[at..].starts_with('*') {
            at += 1;
            retry = Some((at, with));
        } else {
            let Some((star, tried)) = retry else { return false };
            let next = name[tried..].chars().next().map_or(1, char::len_utf8);
            (at, with) = (star, tried + next);
            retry = Some((star, with));
        }
    }
    pattern[at..].bytes().all(|next| next == b'*')
}

/// How much of the pattern one character takes.
fn match_char(pattern: &str, character: char) -> Option<usize> {
    match pattern.chars().next()? {
        '*' => None,
        '?' => Some(1),
        '[' => {
            // A bracket right after the first one belongs to the set.
            let inner = &pattern[1..];
            let first = inner.chars().next()?.len_utf8();
            let end = inner[first..].find(']')? + first;
            let set = inner[..end].strip_prefix(['!', '^']);
            let is_found = is_in_set(set.unwrap_or(&inner[..end]), character);
            (is_found != set.is_some()).then_some(end + 2)
        }
        other => (other == character).then_some(other.len_utf8()),
    }
}

/// Whether a character is in a set such as `a-z_`.
fn is_in_set(set: &str, character: char) -> bool {
    let (mut before, mut rest) = (None, set.chars());
    while let Some(next) = rest.next() {
        let range = before.zip(rest.clone().next()).filter(|_| next == '-');
        if next == character || range.is_some_and(|(low, high)| (low..=high).contains(&character)) {
            return true;
        }
        before = Some(next);
    }
    false
}

/// Whether a path that may be a pattern means a file below one of these, all from the same folder. A folder in `names` also stands
/// for what is in it, and a path that is a folder around one of them for that one.
pub(crate) fn relation_to(path: &str, name: &str) -> Relation {
    let (mut parts, mut names) = (path.split('/'), name.split('/'));
    loop {
        match (parts.next(), names.next()) {
            (_, None) | (Some("**"), Some(_)) => return Relation::Inside,
            (None, Some(_)) => return Relation::Around,
            (Some(part), Some(expected)) => {
                let hidden = expected.starts_with('.') && part.starts_with(['*', '?', '[']);
                if part != expected
                    && (hidden || !part.contains(['*', '?', '[']) || !glob_matches(part, expected))
                {
                    return Relation::Apart;
                }
            }
        }
    }
}

/// How a path lies to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The same or in it.
    Inside,
    /// A folder that contains it.
    Around,
    Apart,
}
