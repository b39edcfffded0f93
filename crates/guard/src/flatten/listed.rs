//! Whose processes a command lists: what counts where the list is handed to `kill`.

use crate::{
    command::{Command, Stdin},
    programs::AGENTS,
};

/// Programs of the machine: who looks for all of a name finds those of others.
const SERVICES: [&str; 28] = [
    "systemd",
    "init",
    "sshd",
    "launchd",
    "dockerd",
    "docker",
    "containerd",
    "Xorg",
    "dbus-daemon",
    "gnome-shell",
    "login",
    "bash",
    "zsh",
    "tmux",
    "postgres",
    "mysqld",
    "mysql",
    "mariadbd",
    "mongod",
    "redis-server",
    "redis",
    "nginx",
    "apache2",
    "httpd",
    "python",
    "python3",
    "ruby",
    "php",
];

/// Where databases, brokers and what lets people in listen.
const SERVICE_PORTS: [&str; 10] =
    ["5432", "3306", "6379", "27017", "9200", "5672", "9092", "11211", "22", "2375"];

/// What processes of others are listed by, whatever is picked from the list.
pub(crate) const OF_OTHERS: &str = "ps-others";

/// What a list goes by: the name of the program, or of one that lists more than what the agent started.
pub(super) fn name_of_list(command: &Command, stdin: &Stdin) -> String {
    // Who is looked for counts where the answer is killed.
    let looks = command.is(&["pgrep", "pidof", "grep", "egrep", "rg"]);
    // `[r]alph` finds `ralph`, and not itself.
    let is_agent = |arg: &String| {
        let plain = arg.replace(['[', ']', '^'], "");
        AGENTS.iter().any(|agent| plain.split([' ', '/']).any(|word| word == *agent))
    };
    let reads_own =
        command.is(&["cat", "head", "tail", "jq"]) && command.args.iter().any(|arg| arg.contains(".ralph"));
    // All of a user, or all of a name.
    let is_of_all = command.is(&["pgrep"])
        && (command.has("uU", &["euid", "uid"]) || !command.has("fPx", &["full", "parent", "exact"]));
    let is_service = |arg: &String| {
        let plain = arg.replace(['[', ']', '^', '$'], "");
        SERVICES.contains(&plain.as_str())
    };
    let is_vital =
        (looks && command.args.iter().any(|arg| is_agent(arg) || is_service(arg))) || reads_own || is_of_all;
    // What listens where databases and brokers do was there before.
    let names_port = |arg: &String| {
        arg.split(|next: char| !next.is_ascii_digit()).any(|number| SERVICE_PORTS.contains(&number))
    };
    let of_sockets = |program: &str| ["lsof", "fuser", "ss", "netstat"].contains(&program);
    let is_of_service = (of_sockets(&command.program)
        || looks && stdin.programs.iter().any(|program| of_sockets(program)))
        && command.args.iter().any(names_port);
    let is_of_user = command.is(&["lsof"]) && command.has("u", &[]) && !command.has("i", &[]);
    // What is left is all that was not looked for.
    let keeps_rest = looks && command.has("v", &["invert-match"]);
    match is_vital {
        _ if is_of_service || is_of_user => OF_OTHERS.to_owned(),
        true => "ps".to_owned(),
        false if keeps_rest => format!("{}-v", command.program),
        false => command.program.clone(),
    }
}
