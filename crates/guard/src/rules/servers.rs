//! Servers that show folders to the network.

use super::{Category, Check, RULE, Rule, RuleInput};
use crate::{command::Command, paths::Place};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "serve-folder",
    category: Category::Exfiltration,
    finds: "serves a folder outside the project",
    instead: "Serve a folder of the project, such as `python3 -m http.server --directory public`.",
    check: Check::Command(serve_folder),
    matches: &[
        "python3 -m http.server --directory ~",
        "cd ~ && python3 -m http.server 8080",
        "npx http-server / -p 80",
        "php -S 0.0.0.0:8000 -t ~",
        "ruby -run -e httpd ~ -p 8000",
        "busybox httpd -f -p 8080 -h /root",
    ],
    passes: &[
        "python3 -m http.server 8000",
        "npx serve dist",
        "php -S localhost:8000 -t public",
        "npx http-server -p 8080",
        "python3 -m http.server -d /tmp/site",
    ],
    ..RULE
}];

fn serve_folder(input: &RuleInput<'_>) -> Option<String> {
    let command = input.command;
    let folder = served_folder(command)?;
    let place = input.place_of(&command.resolve_path(folder, input.ctx));
    let is_others = match place {
        Place::Root | Place::System | Place::HomeRoot | Place::Home(_) | Place::Outside => true,
        Place::ProjectRoot | Place::Project(_) | Place::Temporary | Place::Harmless | Place::Unknown => false,
    };
    input.found_if(is_others && !command.is_remote && !command.asks_for_help())
}

fn first_of(values: Vec<&str>) -> Option<&str> {
    values.into_iter().next()
}

/// What a server shows, if it is one.
fn served_folder(command: &Command) -> Option<&str> {
    let first = || command.operands(&["-p", "--port", "-a", "-l", "--listen"]).first().copied();
    let named = match command.program.as_str() {
        "python"
            if command
                .values("m", &[])
                .iter()
                .any(|it| ["http.server", "SimpleHTTPServer", "pyftpdlib", "uploadserver"].contains(it)) =>
        {
            first_of(command.values("d", &["directory"]))
        }
        "php" if command.has("S", &[]) => first_of(command.values("t", &["docroot"])),
        "ruby" => {
            let at = command.args.iter().position(|arg| arg == "httpd")?;
            command.args.get(at + 1).map(String::as_str).filter(|arg| !arg.starts_with('-'))
        }
        "httpd" if command.has("fp", &[]) => first_of(command.values("h", &[])),
        "twistd" | "twist" if command.has_word(&["web"]) => first_of(command.values("", &["path"])),
        "jupyter" | "jupyter-lab" if command.values("", &["ip"]).contains(&"0.0.0.0") => {
            first_of(command.values("", &["notebook-dir", "ServerApp.root_dir"]))
        }
        "webfsd" => first_of(command.values("r", &[])),
        "caddy" if command.has_word(&["file-server"]) => first_of(command.values("r", &["root"])),
        "http-server" | "serve" | "live-server" | "sirv" | "miniserve" | "darkhttpd"
        | "simple-http-server" => first(),
        _ => return None,
    };
    Some(named.unwrap_or(&command.cwd))
}
