//! Calls `gh`, the program of GitHub, which knows the user's login.

use std::{env, io, time::Duration};

use ralph_core::forge::RemoteRepository;
use ralph_sys::{
    calls::{refusal, succeeded, unattended},
    error::{Error, Result},
    paths::state_dir,
    process::Supervisor,
};
use serde_json::Value;

use crate::term::fit::one_line;

/// An answer that takes longer does not come.
const GH_TIMEOUT: Duration = Duration::from_mins(1);
/// The largest answer: a hundred long comments.
const MAX_ANSWER_LEN: usize = 48 * 1024 * 1024;
/// What `gh` exits with where no one is logged in.
const LOGGED_OUT: i32 = 4;

/// A repository on GitHub, and who asks about it.
pub(crate) struct Gh<'a> {
    pub(crate) supervisor: &'a mut Supervisor,
    pub(crate) repository: &'a RemoteRepository,
}

impl Gh<'_> {
    /// What the repository has at this path, such as `issues/12`.
    pub(crate) fn get(&mut self, path: &str) -> Result<Value> {
        self.call("GET", path, None)
    }

    /// Has the repository changed at this path.
    pub(crate) fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let endpoint = format!("repos/{}/{path}", self.repository.path);
        self.api(method, endpoint.trim_end_matches('/'), body)
    }

    /// Asks for a change that only the other language of the forge has.
    pub(crate) fn mutate(&mut self, body: &Value) -> Result<Value> {
        self.api("POST", "graphql", Some(body))
    }

    fn api(&mut self, method: &str, endpoint: &str, body: Option<&Value>) -> Result<Value> {
        // Nothing of the project says anything to it there.
        let dir = state_dir().ok().filter(|dir| dir.is_dir()).unwrap_or_else(env::temp_dir);
        let mut args = vec!["api", "--hostname", &self.repository.host, "--method", method, endpoint];
        if body.is_some() {
            args.extend(["--input", "-"]);
        }
        let spec = unattended("gh".into(), &dir, args.into_iter().map(Into::into).collect())
            .input(body.map(Value::to_string).unwrap_or_default())
            .env("GH_PROMPT_DISABLED", "1")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("NO_COLOR", "1")
            .without("GH_DEBUG")
            .without("GH_REPO")
            .within(timeout());
        let captured = match self.supervisor.capture(spec, MAX_ANSWER_LEN) {
            Ok(captured) => captured,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::new("cannot find `gh`, which knows your login at GitHub")
                    .hint("install it: https://cli.github.com, or apt-get install gh"));
            }
            Err(error) => return Err(Error::new(format!("cannot start `gh`: {error}"))),
        };
        if succeeded(&captured) {
            return serde_json::from_slice(&captured.out).map_err(|error| {
                Error::new(format!(
                    "`gh api {endpoint}` sent an answer that ralph does not understand: {error}"
                ))
            });
        }
        let status = captured.ended.status;
        if captured.ended.cause.is_some() || status.is_none() {
            let seconds = timeout().as_secs();
            return Err(Error::new(format!("`gh api {endpoint}` did not answer within {seconds} s"))
                .hint("see what it reports: gh auth status"));
        }
        let said = String::from_utf8_lossy(&captured.err).into_owned();
        if status.and_then(|status| status.code()) == Some(LOGGED_OUT) || said.contains("HTTP 401") {
            return Err(Error::new(format!("`gh` is not logged in to {}", self.repository.host))
                .hint("log in: gh auth login, or set GH_TOKEN"));
        }
        let said = if said.trim().is_empty() { refusal(&captured) } else { said };
        Err(Error::new(format!(
            "`gh api {endpoint}` failed: {}",
            one_line(said.trim().trim_start_matches("gh: "))
        )))
    }
}

/// How long an answer may take; tests do not wait so long.
fn timeout() -> Duration {
    let test = env::var("RALPH_TEST_GH_SECONDS").ok().filter(|_| cfg!(debug_assertions));
    test.and_then(|seconds| seconds.parse().ok()).map_or(GH_TIMEOUT, Duration::from_secs)
}
