//! What compilers, interpreters and shells say when something cannot be loaded, outside of any runner.

use super::{
    Runner,
    cause::{is_load_error, is_missing_module},
    run::{Line, Reader, Run},
};

/// Reads everything else.
#[derive(Default)]
pub(super) struct Other {
    found: usize,
}

impl Reader for Other {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        if self.found >= super::MAX_LOAD_ERRORS {
            return;
        }
        if let Some(reason) = line.text.strip_prefix("E   ")
            && let Some(error) = runs.last_mut().and_then(|run| run.not_loaded.last_mut())
            && error.why.starts_with(CONFTEST)
            && error.why.ends_with('.')
        {
            // Where pytest ends before its first line, the reason stands below.
            error.why = format!("{} {}", error.why.trim_end_matches('.'), reason.trim());
        } else if let Some(what) = load_error(line.text) {
            let mut run = Run::new(Runner::Other, line.at);
            run.load_error(what, line.text.trim());
            runs.push(run);
            self.found += 1;
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

const CONFTEST: &str = "ImportError while loading conftest ";

/// What could not be loaded according to this line.
fn load_error(text: &str) -> Option<&str> {
    // Not what a test says about its own failure: that is indented.
    if text.starts_with([' ', '\t', '#']) {
        return None;
    }
    let before = |part: &str| text.split_once(part).map(|(before, _)| before);
    if let Some(rest) = text.strip_prefix(CONFTEST) {
        return Some(rest.trim_end_matches('.').trim_matches('\''));
    }
    if let Some(rest) = text.strip_prefix("PHP Fatal error:  Uncaught ") {
        let is_missing = is_load_error(rest) || rest.starts_with("Error: Failed opening required");
        return is_missing.then_some("php");
    }
    let python = ["ModuleNotFoundError: ", "ImportError: "];
    if python.iter().any(|kind| text.starts_with(kind)) {
        return Some("python");
    }
    if let Some(message) =
        text.strip_prefix("Error: ").or_else(|| text.strip_prefix("Error [ERR_MODULE_NOT_FOUND]: "))
    {
        return is_missing_module(message).then_some("node");
    }
    // TypeScript, Java, C and C++, the linker, Gradle, the shell.
    let compilers = [
        ": error TS2",
        ": error: cannot find symbol",
        ": error: package ",
        ": error: incompatible types",
        ": fatal error: ",
        ": undefined reference to ",
        "' undeclared (first use",
        "’ undeclared (first use",
        ": command not found",
    ];
    if let Some(what) = compilers.iter().find_map(|part| before(part)) {
        return Some(what);
    }
    let is_shell = text.starts_with("sh: ") || text.starts_with("/bin/sh: ");
    if is_shell && text.ends_with(": not found") {
        return Some("sh");
    }
    if let Some(program) =
        text.strip_prefix("make: ").and_then(|rest| rest.strip_suffix(": No such file or directory"))
    {
        return Some(program);
    }
    let lines = ["collect2: error: ", "Compilation failed; see the compiler error output"];
    lines.iter().any(|start| text.starts_with(start)).then_some("compiler")
}
