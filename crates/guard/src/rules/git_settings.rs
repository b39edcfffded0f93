//! Settings of git.

use super::{Category, Patterns, RULE, Rule};

pub(super) const RULES: &[Rule] = &[Rule {
    id: "git-settings",
    category: Category::Persistence,
    finds: "changes settings of git that run programs or lead elsewhere",
    instead: "Set plain values in the repository, such as `git config user.name`.",
    patterns: Patterns::new(&[
        "git --exec-path=?*",
        "git -c=core.hookspath*|-c=core.sshcommand*|-c=core.fsmonitor=?*|-c=core.gitproxy*|-c=core.askpass=?*|-c=diff.external*|-c=filter.*|-c=credential.helper=?*|-c=protocol.ext.allow*|-c=include.path*|-c=gpg.program*|-c=uploadpack.*",
        "git -c=core.pager=*sh?*|-c=core.editor=*sh?*|-c=sequence.editor=*sh?*|-c=url.*",
        "git config ?* ?* ~credential*|core.hookspath|core.sshcommand|core.pager|core.editor|core.fsmonitor|core.gitproxy|core.askpass|core.attributesfile|url.*|http.proxy|http.sslverify|filter.*|diff.external|difftool.*|mergetool.*|pager.*|sequence.editor|gpg.program|include.*|includeif.*|init.templatedir|protocol.*|uploadpack.*|receive.*|safe.directory|ssh.variant|sendemail.*|remote.*.url|remote.*.pushurl|remote.*.push|remote.*.mirror|branch.*.pushremote",
        "git config -e|--edit|--unset|--unset-all|--add|--replace-all|--remove-section ~credential*|core.hookspath|core.sshcommand|core.pager|core.editor|core.fsmonitor|core.gitproxy|core.askpass|core.attributesfile|url.*|http.proxy|http.sslverify|filter.*|diff.external|difftool.*|mergetool.*|pager.*|sequence.editor|gpg.program|include.*|includeif.*|init.templatedir|protocol.*|uploadpack.*|receive.*|safe.directory|ssh.variant|sendemail.*|remote.*.url|remote.*.pushurl|remote.*.push|remote.*.mirror|branch.*.pushremote",
        "git config ~remote.*.fetch ~*:refs/heads/*|*:heads/*",
        "git -c=remote.*.fetch=*:refs/heads/*",
        "git -c=alias.*=!*",
        "git config ~alias.* ~!*|*push*|*reset*|*clean*",
        "git config --global|--system ?* ?*",
        "git config --global|--system -e|--edit|--unset|--unset-all|--add|--replace-all|--remove-section",
    ]),
    unless: Patterns::new(&[
        "git config -l|--list|--get|--get-all|--get-regexp|--get-urlmatch|--show-origin",
        "git config list|get|get-all",
    ]),
    matches: &[
        "git config --global credential.helper x",
        "git config core.hooksPath x",
        "git config --global url.https://x/.insteadOf https://y/",
        "git config core.sshCommand x",
        "git config alias.st '!sh'",
        "git -c core.sshCommand='sh x' fetch",
        "git config --global user.name x",
        "git config remote.origin.push '+refs/heads/*:refs/heads/*'",
        "git config --add remote.origin.fetch '+refs/heads/*:refs/heads/*'",
    ],
    passes: &[
        "git config user.email a@b",
        "git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'",
        "git config --get remote.origin.url",
        "git config --list",
        "git config --local core.autocrlf input",
        "git config --global --get user.name",
    ],
    ..RULE
}];
