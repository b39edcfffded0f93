//! What programs are known for, by their names.

use super::text;

/// Shells that run text.
pub(crate) const SHELLS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh", "yash", "csh", "tcsh", "nu", "xonsh",
    "elvish", "osh",
];

/// Where what is typed is read from.
pub(crate) const TYPED: [&str; 5] = ["-", "/dev/stdin", "/dev/tty", "/dev/fd/0", "/proc/self/fd/0"];

/// Programs that fetch from the network.
pub(crate) const FETCHERS: [&str; 15] = [
    "curl", "wget", "http", "https", "xh", "aria2c", "axel", "lynx", "w3m", "links", "fetch", "nc", "ncat",
    "socat", "openssl",
];

/// Programs that turn what looks harmless into something else.
const DECODERS: [&str; 16] = [
    "base64", "base32", "xxd", "od", "rev", "tr", "gunzip", "zcat", "gzip", "bzip2", "xz", "openssl",
    "uudecode", "hexdump", "printf", "gpg",
];

/// The agents that ralph runs, and ralph.
pub(crate) const AGENTS: [&str; 13] = [
    "claude",
    "codex",
    "amp",
    "gemini",
    "opencode",
    "qwen",
    "copilot",
    "pi",
    "ralph",
    "aider",
    "goose",
    "cursor-agent",
    "crush",
];

/// The name of a program without folder, version and ending, so that `/usr/bin/python3.12` is `python`.
pub(crate) fn program_name(spelled: &str) -> String {
    let base = text::split(spelled, "/").last().copied().unwrap_or(spelled);
    let base = base.strip_suffix(".exe").unwrap_or(base);
    // As runners of packages have it: `npm@latest`.
    let base = base.split_once('@').map_or(base, |(name, _)| if name.is_empty() { base } else { name });
    for versioned in ["python", "pip", "perl", "ruby", "php", "lua", "node", "gcc", "clang"] {
        let rest = base.strip_prefix(versioned);
        if rest.is_some_and(|rest| rest.chars().all(|next| next.is_ascii_digit() || ".-".contains(next))) {
            return versioned.to_owned();
        }
    }
    match base {
        "nodejs" => "node".to_owned(),
        "luajit" => "lua".to_owned(),
        "fdfind" => "fd".to_owned(),
        "batcat" => "bat".to_owned(),
        "pypy" | "pypy3" | "ipython" | "ipython3" => "python".to_owned(),
        "nc.traditional" | "nc.openbsd" | "netcat" => "nc".to_owned(),
        "gsed" | "gawk" | "mawk" | "nawk" | "grm" | "gfind" | "gtar" | "gcp" | "gmv" | "gdd" | "gchmod"
        | "gxargs" => {
            if base.ends_with("awk") {
                "awk".to_owned()
            } else {
                base[1..].to_owned()
            }
        }
        _ => base.to_owned(),
    }
}

/// Whether text from this source came from the network.
pub(crate) fn is_fetched(source: &str) -> bool {
    programs_in(source).any(|word| FETCHERS.contains(&word))
}

/// Whether text from this source was decoded.
pub(crate) fn is_decoded(source: &str) -> bool {
    programs_in(source).any(|word| DECODERS.contains(&word))
}

/// The programs that a source names.
pub(crate) fn programs_in(source: &str) -> impl Iterator<Item = &str> {
    source.split(|next: char| " ()<$`".contains(next)).filter(|word| !word.is_empty())
}

/// Options of `ssh` that take the next argument.
const SSH_VALUED: &[&str] = &[
    "-p", "-i", "-o", "-l", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-e", "-m", "-E", "-w", "-S", "-B",
    "-I",
];

/// Options that take the next argument and may stand before or among the commands of a program.
pub(crate) fn valued_options(program: &str) -> &'static [&'static str] {
    match program {
        "git" => &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--exec-path",
            "--config-env",
            "--attr-source",
            "-m",
            "-F",
            "--author",
            "--date",
            "-o",
        ],
        "ralph" => &["-C", "--project-dir"],
        "hg" | "sl" => &["--config", "-R", "--repository", "--cwd", "-m", "--encoding"],
        "docker" | "podman" | "nerdctl" | "docker-compose" => &[
            "-H",
            "--host",
            "--context",
            "-c",
            "-f",
            "--file",
            "-p",
            "--project-name",
            "--profile",
            "--env-file",
            "--project-directory",
            "-l",
            "--log-level",
            "--filter",
        ],
        "kubectl" | "oc" | "k" | "helm" | "flux" | "argocd" | "k9s" => &[
            "-n",
            "--namespace",
            "--context",
            "--kubeconfig",
            "--cluster",
            "--user",
            "-s",
            "--server",
            "-f",
            "--filename",
            "-l",
            "--selector",
            "--kube-context",
            "-o",
            "--output",
            "--token",
            "--as",
        ],
        "aws" => &["--profile", "--region", "--output", "--endpoint-url", "--query", "--cli-input-json"],
        "gcloud" | "bq" | "gsutil" => {
            &["--project", "--account", "--configuration", "--format", "--zone", "--region", "-o", "-h", "-u"]
        }
        "az" => &["--subscription", "-o", "--output", "--query"],
        "npm" | "pnpm" | "yarn" | "bun" | "lerna" => &[
            "--filter",
            "-F",
            "-C",
            "--dir",
            "--prefix",
            "-w",
            "--workspace",
            "--registry",
            "--tag",
            "--otp",
            "--scope",
            "--cwd",
        ],
        "cargo" => &["--manifest-path", "-p", "--package", "--config", "-Z", "--target", "--color", "-C"],
        "terraform" | "tofu" | "terragrunt" => &["-chdir"],
        "pulumi" => &["-s", "--stack", "-C", "--cwd"],
        "gh" | "glab" => &["-R", "--repo"],
        "vault" => &["-namespace", "--namespace", "-ns", "-address", "-format", "-mount"],
        "ssh" => SSH_VALUED,
        "systemctl" | "loginctl" => &["-H", "-M", "-t", "-p", "--host", "--machine"],
        "heroku" | "fly" | "flyctl" | "vercel" | "netlify" | "railway" | "wrangler" | "firebase" => &[
            "-a",
            "--app",
            "--project",
            "-P",
            "-c",
            "--config",
            "--token",
            "-t",
            "--scope",
            "--site",
            "--env",
            "-e",
            "--only",
        ],
        "ansible" | "ansible-playbook" => &["-i", "-m", "-a", "-u", "-e", "-l"],
        "psql" | "createdb" | "dropdb" | "pg_restore" => &["-h", "-p", "-U", "-d", "-c", "-f", "-v", "-o"],
        "mysql" | "mysqladmin" | "mariadb" => &["-h", "-P", "-u", "-D", "-e", "-S"],
        "redis-cli" | "valkey-cli" => &["-h", "-p", "-a", "-n", "-u", "--user", "--pass"],
        _ => &[],
    }
}
