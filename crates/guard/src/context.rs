//! Where an agent works, and what its user lets pass.

use super::own_rule::OwnRule;

/// Where an agent works, and what its user lets pass.
///
/// All paths are absolute and have their links resolved: the guard compares them as texts.
#[derive(Clone, Debug)]
pub struct Context {
    /// The project. What is in it may be changed and deleted, it as a whole may not.
    pub project: String,
    /// Where the command would run.
    pub cwd: String,
    /// The home of the user whom the agent runs as.
    pub home: String,
    /// Folders for temporary files, in which anything may be deleted.
    pub temporary_dirs: Vec<String>,
    /// Folders outside the project that belong to the program around the agent: never written.
    pub protected: Vec<String>,
    /// Files and folders that the agent was told to write, although they are in a protected place.
    pub writable: Vec<String>,
    /// Rules that the user has switched off, by id. They are reported, but do not decide.
    pub allowed_rules: Vec<String>,
    /// Rules that the user has added.
    pub own_rules: Vec<OwnRule>,
}

impl Context {
    /// A context in which the project is also the working directory, with the usual folders for temporary files.
    pub fn new(project: &str, home: &str) -> Self {
        let temporary_dirs = ["/tmp", "/var/tmp", "/private/tmp", "/dev/shm"].map(str::to_owned).to_vec();
        Self {
            project: project.to_owned(),
            cwd: project.to_owned(),
            home: home.to_owned(),
            temporary_dirs,
            protected: Vec::new(),
            writable: Vec::new(),
            allowed_rules: Vec::new(),
            own_rules: Vec::new(),
        }
    }
}
