//! Where code of another language works, and what it is called with.

use super::FunctionCall;

/// How languages name the user's home.
pub(crate) const HOMES: [&str; 9] =
    ["HOME", "homedir(", "Path.home(", "Dir.home", "gethome", "expanduser(", "\"~\"", "'~'", "user_home"];

/// How languages name the arguments that code is called with.
const ARGUMENTS: [&str; 7] =
    ["sys.argv", "process.argv", "Deno.args", "Bun.argv", "ARGV", "$argv", "commandArgs("];

/// Whether code uses the arguments that it is called with.
pub(crate) fn uses_arguments(code: &str) -> bool {
    ARGUMENTS.iter().any(|name| code.contains(name))
}

/// The folder that code goes to before it does the rest: `os.chdir("/x")`, `process.chdir("..")`.
pub(crate) fn chosen_dir(calls: &[FunctionCall]) -> Option<&str> {
    let goes =
        calls.iter().rfind(|call| ["chdir", "setwd", "cd", "set_current_dir"].contains(&&*call.name))?;
    if HOMES.iter().any(|home| goes.inside.contains(home)) {
        return Some("~");
    }
    goes.texts.first().map(String::as_str)
}

/// Whether a name stands for a module that runs programs: `import subprocess as s`, `cp = require("child_process")`.
pub(super) fn is_alias_of_runner(receiver: &str, code: &str) -> bool {
    let name = receiver.trim_end_matches('.');
    let is_name = !name.is_empty() && name.chars().all(|next| next.is_alphanumeric() || next == '_');
    is_name
        && ["subprocess", "os", "child_process"].iter().any(|module| {
            code.contains(&format!("{module} as {name}"))
                || code.contains(&format!("{name}=__import__('{module}"))
                || code.contains(&format!("{name}=require('{module}"))
                || code.contains(&format!("{name} = require('{module}"))
                || code.contains(&format!("{name}=require(\"{module}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::function_calls;

    #[test]
    fn where_code_goes() {
        for (code, expected) in [
            ("import os; os.chdir('/srv'); os.remove('a')", Some("/srv")),
            ("process.chdir(\"..\")", Some("..")),
            ("os.chdir(os.path.expanduser('~/x'))", Some("~")),
            ("print('chdir')", None),
        ] {
            assert_eq!(chosen_dir(&function_calls(code).expect("calls")), expected, "{code}");
        }
        assert!(
            is_alias_of_runner("s.", "import subprocess as s") && !is_alias_of_runner("db.", "db.run('x')")
        );
        assert!(uses_arguments("shutil.rmtree(sys.argv[1])") && !uses_arguments("argparse"));
    }
}
