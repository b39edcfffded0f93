//! `ralph plugin`: ralph's hooks and commands in Claude Code and Codex.

use std::{
    env,
    ffi::OsString,
    fmt::Write,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};
use ralph_sys::{
    calls::{refusal, succeeded, unattended},
    error::{Error, Result},
    process::Supervisor,
};
use serde_json::json;

use super::{print, print_lines};
use crate::hooks::plugin::{self, Codex, NAME, Scopes};

/// Install ralph's commands and hooks into Claude Code or Codex
///
/// The plugin has the commands /ralph-loop, /ulw-loop, /cancel-ralph and /ralph-plan. Its hooks do nothing outside a
/// loop. It is part of this program; ralph downloads nothing.
///
/// Example: ralph plugin install
#[derive(Args, Debug)]
pub(super) struct PluginArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install the plugin, or update it
    Install(WhereArgs),
    /// Show what is installed, and where
    Show {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove the plugin
    Uninstall(WhereArgs),
}

#[derive(Args, Debug)]
struct WhereArgs {
    /// For all your projects (the default)
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// For this project, and everyone who works on it
    #[arg(long)]
    project: bool,

    /// The agent
    #[arg(long, value_enum, default_value = "claude")]
    agent: Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Host {
    /// Claude Code
    Claude,
    /// Codex: hooks only, which it asks you to review
    Codex,
}

impl WhereArgs {
    fn scope(&self) -> &'static str {
        if self.project { "project" } else { "user" }
    }

    /// Whose installation it is.
    fn name(&self, project: &Path) -> String {
        Scopes::name(self.project.then_some(project))
    }

    fn codex(&self, project: &Path) -> Result<Codex> {
        if self.project { Ok(Codex::of_project(project)) } else { Codex::of_user() }
    }
}

/// Installs, shows, or takes away.
pub(super) fn main(args: &PluginArgs, project: &Path) -> Result<u8> {
    match &args.command {
        Command::Install(args) => install(args, project)?,
        Command::Show { json } => show(*json, project)?,
        Command::Uninstall(args) => uninstall(args, project)?,
    }
    Ok(0)
}

fn install(args: &WhereArgs, project: &Path) -> Result<()> {
    if args.agent == Host::Codex {
        let codex = args.codex(project)?;
        codex.install()?;
        let path = codex.path.display();
        return print_lines(&format!(
            "installed the hooks in {path}\nCodex asks you to review them when it next starts.\n"
        ));
    }
    let mut claude = Claude::find(project)?;
    let folder = plugin::folder()?;
    plugin::write(&folder)?;
    claude.call(&["plugin", "marketplace", "add", &folder.to_string_lossy()])?;
    claude.call(&["plugin", "install", NAME, "--scope", args.scope()])?;
    Scopes::read(&folder).add(args.name(project))?;
    print_lines(&format!(
        "installed the plugin from {}\nIt is there in new conversations: /ralph-loop \"TASK\" --max-iterations 10\n",
        folder.display()
    ))
}

fn uninstall(args: &WhereArgs, project: &Path) -> Result<()> {
    if args.agent == Host::Codex {
        let codex = args.codex(project)?;
        if codex.installed()?.is_none() {
            return print_lines(&format!("there are no ralph hooks in {}\n", codex.path.display()));
        }
        codex.uninstall()?;
        return print_lines(&format!("removed the hooks from {}\n", codex.path.display()));
    }
    let folder = plugin::folder()?;
    let (scopes, name) = (Scopes::read(&folder), args.name(project));
    let others = scopes.others(&name);
    if !scopes.has(&name) {
        return print_lines(&match others.as_str() {
            "" => "the plugin is not installed\n".to_owned(),
            others => format!("the plugin is not installed for {name}, but for {others}\n"),
        });
    }
    let mut claude = Claude::find(project)?;
    claude.call(&["plugin", "uninstall", NAME, "--scope", args.scope()])?;
    if !others.is_empty() {
        scopes.remove(&name)?;
        return print_lines(&format!("removed the plugin; it stays for {others}\n"));
    }
    claude.call(&["plugin", "marketplace", "remove", "ralph"])?;
    fs_err::remove_dir_all(&folder)?;
    print_lines("removed the plugin\n")
}

fn show(as_json: bool, project: &Path) -> Result<()> {
    let folder = plugin::folder()?;
    let scopes = Scopes::read(&folder);
    let program = plugin::installed(&folder).filter(|_| !scopes.all().is_empty());
    let is_current = program.is_some() && plugin::is_current(&folder)?;
    let mut codex: Vec<(PathBuf, PathBuf)> = Vec::new();
    for file in [Codex::of_user()?, Codex::of_project(project)] {
        codex.extend(file.installed()?.map(|program| (file.path, program)));
    }
    if as_json {
        let codex = codex.iter().map(|(path, program)| json!({"file": path, "program": program}));
        let object = json!({
            "claude": program.map(|program| json!({"folder": folder, "program": program, "current": is_current})),
            "codex": codex.collect::<Vec<_>>(),
        });
        return print(&format!("{object}\n"));
    }
    let mut text = match program {
        None => "Claude Code: not installed; ralph plugin install\n".to_owned(),
        Some(program) => {
            let state = if is_current { "up to date" } else { "out of date; ralph plugin install" };
            let whom = scopes.all();
            format!(
                "Claude Code: {} ({state})\n  for {whom}\n  calls {}\n",
                folder.display(),
                program.display()
            )
        }
    };
    if codex.is_empty() {
        text.push_str("Codex: not installed; ralph plugin install --agent codex\n");
    }
    for (path, program) in codex {
        let _ = writeln!(text, "Codex: {}\n  calls {}", path.display(), program.display());
    }
    print_lines(&text)
}

/// Claude Code's own program, which keeps the list of plugins.
struct Claude {
    program: PathBuf,
    project: PathBuf,
    supervisor: Supervisor,
}

impl Claude {
    fn find(project: &Path) -> Result<Self> {
        let program = which::which_in("claude", env::var_os("PATH"), project).map_err(|_| {
            Error::new("cannot find Claude Code, which keeps the list of its plugins")
                .hint("install it, or put the folder with `claude` on your PATH")
        })?;
        Ok(Self { program, project: project.to_owned(), supervisor: Supervisor::new()? })
    }

    fn call(&mut self, args: &[&str]) -> Result<()> {
        const MAX_OUTPUT_LEN: usize = 64 * 1024;
        let words = args.iter().map(OsString::from).collect();
        let spec = unattended(self.program.clone().into_os_string(), &self.project, words);
        let captured = self.supervisor.capture(spec, MAX_OUTPUT_LEN)?;
        if succeeded(&captured) {
            return Ok(());
        }
        Err(Error::new(format!("`claude {}` failed: {}", args.join(" "), refusal(&captured))))
    }
}
