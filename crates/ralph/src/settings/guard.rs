//! Where the guard judges, and the user's own list of rules that are switched off or added.
//!
//! The list lies in the user's configuration, never in a project: an agent that can write the project must not be able
//! to switch rules off, nor to add some that stop its user's next run.

use std::{
    env, io,
    path::{Path, PathBuf},
};

use ralph_guard::{Context, UserRules, UserRulesError};
use ralph_sys::{
    error::{Error, Result},
    paths::state_dir,
};

/// Names the plan that an agent works on.
pub(crate) const PLAN_VARIABLE: &str = "RALPH_PLAN_FILE";
/// Names the project that an agent works in.
pub(crate) const PROJECT_VARIABLE: &str = "RALPH_PROJECT";
/// Variables by which ralph tells an agent where to write, wherever that is.
const WRITABLE_VARIABLES: [&str; 2] = ["RUN_FOLDER", PLAN_VARIABLE];

/// The context of a judgement, and what to warn about.
#[derive(Debug)]
pub(crate) struct GuardLoaded {
    pub(crate) ctx: Context,
    pub(crate) warnings: Vec<String>,
}

/// What holds in a project for a command that would run in `cwd`.
pub(crate) fn load(project: &Path, cwd: &Path) -> Result<GuardLoaded> {
    let home = whole(&env::home_dir().unwrap_or_else(|| PathBuf::from("/root")));
    let mut ctx = Context::new(&text(project), &text(&home));
    ctx.cwd = text(cwd);
    for folder in [env::temp_dir(), whole(&env::temp_dir())] {
        if !ctx.temporary_dirs.contains(&text(&folder)) && !project.starts_with(&folder) {
            ctx.temporary_dirs.push(text(&folder));
        }
    }
    // A project below a folder for temporary files, as in tests, is no temporary file.
    ctx.temporary_dirs.retain(|folder| !project.starts_with(folder));
    ctx.protected.extend(state_dir().ok().iter().flat_map(|dir| [text(dir), text(&whole(dir))]));
    ctx.protected.extend(file(&home).parent().map(text));
    let writable = WRITABLE_VARIABLES.into_iter().filter_map(env::var_os).map(PathBuf::from);
    ctx.writable = writable.filter(|path| path.is_absolute()).map(|path| text(&whole(&path))).collect();
    let path = file(&home);
    let list = user_rules(&path)?;
    let named = |warning| format!("{}: {warning}", path.display());
    let warnings = list.warnings().into_iter().map(named).collect();
    (ctx.allowed_rules, ctx.own_rules) = (list.allow, list.rules);
    Ok(GuardLoaded { ctx, warnings })
}

/// A list in the project is read by no one: the agent could write it. Says so, because its author may think otherwise.
pub(crate) fn ignored_list(project: &Path) -> Option<String> {
    let path = project.join(".ralph/guard.json");
    path.exists().then(|| {
        let home = env::home_dir().unwrap_or_default();
        format!("{} is ignored: rules are yours, in {}", path.display(), file(&home).display())
    })
}

/// The user's list of rules that are switched off or added.
fn file(home: &Path) -> PathBuf {
    let set = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    set.unwrap_or_else(|| home.join(".config")).join("ralph/guard.json")
}

fn user_rules(path: &Path) -> Result<UserRules> {
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(UserRules::default()),
        Err(error) => return Err(error.into()),
    };
    UserRules::parse(&text).map_err(|error| {
        let UserRulesError { line, message } = error;
        Error::new(format!("{}:{line}: not a list of rules: {message}", path.display()))
            .hint("it looks like this: {\"allow\": [\"publish\"], \"rules\": []}; `ralph guard rules` lists the ids")
            .hint("until you fix it, the guard refuses everything")
    })
}

fn whole(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
