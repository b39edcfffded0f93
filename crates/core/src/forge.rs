//! Where a remote leads: which forge it is, and what that understands.
//!
//! Invariant: what is made of an address has no name and no password in it, and nothing that could be more than a path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A repository elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteRepository {
    /// The name of the remote.
    pub remote: String,
    /// The machine; empty for a folder of this one.
    pub host: String,
    /// What it is called there: `owner/name`.
    pub path: String,
    /// What runs there.
    pub forge: Forge,
}

/// What runs at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Forge {
    /// GitHub, or GitHub Enterprise: `gh` makes pull requests.
    GitHub,
    /// GitLab: options of a push make merge requests.
    GitLab,
    /// Gitea or Forgejo: a link.
    Gitea,
    /// Bitbucket: a link.
    Bitbucket,
    /// Anything else.
    Other,
}

/// What a merge request is asked for with.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// The branch that it is for.
    pub base: &'a str,
    /// In a line.
    pub title: &'a str,
    /// In a line: options of a push have no others.
    pub description: &'a str,
    /// Whether it is not ready.
    pub is_draft: bool,
}

impl RemoteRepository {
    /// The repository at an address; nothing where that is not understood. The host that `gh` was told of is a GitHub.
    pub fn of(remote: &str, address: &str, github_host: Option<&str>) -> Option<Self> {
        let (host, path) = split(address.trim())?;
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        if host.is_empty() {
            return Some(Self {
                remote: remote.to_owned(),
                host,
                path: path.to_owned(),
                forge: Forge::Other,
            });
        }
        let is_plain = |part: &str| {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_name)
        };
        if !host.split('.').all(is_plain) || !path.split('/').all(is_plain) {
            return None;
        }
        let host = host.to_ascii_lowercase();
        let forge = forge(&host, github_host);
        // There an owner has no folders.
        if forge == Forge::GitHub && path.split('/').count() != 2 {
            return None;
        }
        Some(Self { remote: remote.to_owned(), host, path: path.to_owned(), forge })
    }

    /// The same place, whatever the remote is called.
    pub fn is_same_place(&self, other: &Self) -> bool {
        (&self.host, &self.path) == (&other.host, &other.path)
    }

    /// Where a person can propose the branch, if that is known.
    pub fn link(&self, base: &str, branch: &str) -> Option<String> {
        let Self { host, path, .. } = self;
        let (base, branch) = (encoded(base), encoded(branch));
        Some(match self.forge {
            Forge::GitHub => format!("https://{host}/{path}/compare/{base}...{branch}?expand=1"),
            Forge::GitLab => format!(
                "https://{host}/{path}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch}&merge_request%5Btarget_branch%5D={base}"
            ),
            Forge::Gitea => format!("https://{host}/{path}/compare/{base}...{branch}"),
            Forge::Bitbucket => {
                format!("https://{host}/{path}/pull-requests/new?source={branch}&dest={base}")
            }
            Forge::Other => return None,
        })
    }

    /// The options of a push that ask for a merge request, or change the one that there is.
    pub fn push_options(&self, proposal: &Proposal<'_>) -> Vec<String> {
        if self.forge != Forge::GitLab {
            return Vec::new();
        }
        let Proposal { base, title, description, is_draft } = proposal;
        let mut options = vec![
            "merge_request.create".to_owned(),
            format!("merge_request.target={base}"),
            format!("merge_request.title={title}"),
            format!("merge_request.description={description}"),
        ];
        if *is_draft {
            options.push("merge_request.draft".to_owned());
        }
        options
    }
}

fn forge(host: &str, github_host: Option<&str>) -> Forge {
    let is = |name: &str| host == name || host.ends_with(&format!(".{name}"));
    let begins = |name: &str| host.split('.').next() == Some(name);
    if host == "github.com"
        || is("ghe.com")
        || github_host.is_some_and(|known| known.eq_ignore_ascii_case(host))
    {
        return Forge::GitHub;
    }
    match () {
        () if begins("github") => Forge::GitHub,
        () if begins("gitlab") => Forge::GitLab,
        () if is("codeberg.org") || begins("gitea") || begins("forgejo") => Forge::Gitea,
        () if is("bitbucket.org") => Forge::Bitbucket,
        () => Forge::Other,
    }
}

/// Host and path of an address. No host is a folder of this machine.
fn split(address: &str) -> Option<(String, String)> {
    if let Some((scheme, rest)) = address.split_once("://") {
        if scheme == "file" {
            return Some((String::new(), rest.to_owned()));
        }
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit('@').next().unwrap_or(host);
        let host = host.split(':').next().unwrap_or(host);
        return Some((host.to_owned(), path.to_owned()));
    }
    // `git@host:owner/name`, unless a slash comes first.
    match address.split_once(':') {
        Some((host, path)) if !host.contains('/') && !host.is_empty() => {
            Some((host.rsplit('@').next().unwrap_or(host).to_owned(), path.to_owned()))
        }
        _ if address.is_empty() => None,
        _ => Some((String::new(), address.to_owned())),
    }
}

/// A branch as a part of an address.
pub fn encoded(branch: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    branch.bytes().map(encode).collect()
}

/// Variables that carry the keys of forges: no process of an agent's gets them.
pub const TOKENS: [&str; 12] = [
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_PRIVATE_TOKEN",
    "CI_JOB_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
    "BITBUCKET_TOKEN",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_forges() {
        #[track_caller]
        fn check(address: &str, expected: Option<(&str, &str, Forge)>) {
            let found = RemoteRepository::of("origin", address, Some("git.acme.example"));
            let found = found.as_ref().map(|it| (&*it.host, &*it.path, it.forge));
            assert_eq!(found, expected, "{address}");
        }
        let github = Some(("github.com", "acme/tool", Forge::GitHub));
        check("https://github.com/acme/tool.git", github);
        check("https://github.com/acme/tool/", github);
        check("https://ann:secret@GitHub.com:443/acme/tool", github);
        check("git@github.com:acme/tool.git", github);
        check("ssh://git@github.com:22/acme/tool.git", github);
        check("github.com:acme/tool", github);
        check("https://acme.ghe.com/a/b", Some(("acme.ghe.com", "a/b", Forge::GitHub)));
        check("https://github.acme.com/a/b", Some(("github.acme.com", "a/b", Forge::GitHub)));
        check("https://git.acme.example/a/b", Some(("git.acme.example", "a/b", Forge::GitHub)));
        check("https://gitlab.com/g/sub/p.git", Some(("gitlab.com", "g/sub/p", Forge::GitLab)));
        check("git@gitlab.acme.com:g/p", Some(("gitlab.acme.com", "g/p", Forge::GitLab)));
        check("https://codeberg.org/a/b", Some(("codeberg.org", "a/b", Forge::Gitea)));
        check("https://bitbucket.org/a/b", Some(("bitbucket.org", "a/b", Forge::Bitbucket)));
        check("https://example.org/a/b", Some(("example.org", "a/b", Forge::Other)));
        check("https://notgithub.com/a/b", Some(("notgithub.com", "a/b", Forge::Other)));
        check("/srv/git/tool.git", Some(("", "srv/git/tool", Forge::Other)));
        check("../remote", Some(("", "../remote", Forge::Other)));
        check("file:///srv/git/tool.git", Some(("", "srv/git/tool", Forge::Other)));
        // What could lead a call elsewhere.
        check("https://github.com/acme", None);
        check("https://github.com/acme/tool/pulls", None);
        check("https://github.com/acme/../tool", None);
        check("https://github.com/acme/to ol", None);
        check("https://github.com/acme/tool?x=y", None);
        check("https://github.com/acme/{owner}", None);
        check("", None);
    }

    #[test]
    fn what_has_no_program_has_a_link_or_options() {
        let of = |address: &str| RemoteRepository::of("origin", address, None).expect("a remote");
        let link = |address: &str| of(address).link("main", "ralph/a&b");
        assert_eq!(
            link("https://github.com/a/b").as_deref(),
            Some("https://github.com/a/b/compare/main...ralph/a%26b?expand=1")
        );
        assert!(link("https://gitlab.com/a/b").is_some_and(|it| it.ends_with("branch%5D=ralph/a%26b&merge_request%5Btarget_branch%5D=main")));
        assert!(link("https://codeberg.org/a/b").is_some() && link("https://bitbucket.org/a/b").is_some());
        assert_eq!(link("/srv/git"), None);
        let proposal = Proposal { base: "main", title: "Weeks", description: "Judged.", is_draft: true };
        assert_eq!(
            of("https://gitlab.com/a/b").push_options(&proposal),
            [
                "merge_request.create",
                "merge_request.target=main",
                "merge_request.title=Weeks",
                "merge_request.description=Judged.",
                "merge_request.draft"
            ]
        );
        assert!(
            of("https://gitlab.com/a/b").push_options(&Proposal { is_draft: false, ..proposal }).len() == 4
        );
        assert!(of("https://github.com/a/b").push_options(&proposal).is_empty());
        assert!(of("https://github.com/a/b").is_same_place(&of("git@github.com:a/b.git")));
        assert!(!of("https://github.com/a/b").is_same_place(&of("https://github.com/a/c")));
    }

    #[test]
    fn a_name_with_a_dot_before_it_is_no_repository() {
        for (address, is_one) in [
            ("https://github.com/owner/name", true),
            ("https://github.com/.owner/name", false),
            ("https://github.com/owner/.name", false),
            ("https://github.com/owner//name", false),
            ("https://github.com/owner/na me", false),
        ] {
            assert_eq!(RemoteRepository::of("origin", address, None).is_some(), is_one, "{address}");
        }
    }

    #[test]
    fn an_address_is_a_path_unless_a_host_comes_before_its_colon() {
        let path = |text: &str| Some((String::new(), text.to_owned()));
        assert_eq!(split("git@host:owner/name"), Some(("host".to_owned(), "owner/name".to_owned())));
        for text in ["a/b:c", ":x", "../name", "/x/y"] {
            assert_eq!(split(text), path(text), "{text}");
        }
        assert_eq!(split(""), None);
    }
}
