//! Where an agent works and what the user lets pass: all that a judgement needs besides the call itself.

/// A longer command line is not read.
pub const MAX_COMMAND_LINE_LEN: usize = 64 * 1024;

/// Where an agent works and what the user lets pass.
#[derive(Clone, Debug)]
pub struct Context {
    /// The project, as a whole path.
    pub project: String,
    /// Where the command would run, as a whole path.
    pub cwd: String,
    /// The user's home.
    pub home: String,
    /// Folders for temporary files.
    pub temporary: Vec<String>,
    /// Ralph's own folders outside of the project, as whole paths.
    pub own: Vec<String>,
    /// What the agent is told to write although it lies where it may not, as whole paths.
    pub open: Vec<String>,
    /// Rules that the user has switched off, by id.
    pub allowed: Vec<String>,
}

impl Context {
    /// A context in which the project is also the working directory.
    pub fn new(project: &str, home: &str) -> Self {
        let temporary = ["/tmp", "/var/tmp", "/private/tmp", "/dev/shm"].map(str::to_owned).to_vec();
        Self {
            project: project.to_owned(),
            cwd: project.to_owned(),
            home: home.to_owned(),
            temporary,
            own: Vec::new(),
            open: Vec::new(),
            allowed: Vec::new(),
        }
    }
}
