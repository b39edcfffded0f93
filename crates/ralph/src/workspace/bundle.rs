//! Commits in a file: how code travels between machines that share no git remote.
//!
//! What comes from elsewhere is unpacked in a repository of its own first, and only one commit of it is fetched from there,
//! with every object hashed and checked.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use ralph_sys::{
    files::{Readers, Root},
    process::Supervisor,
};

use super::{
    call::{Config, GitCall, text},
    checkout::remove,
    landing::Author,
    source::Source,
    target::TargetBranch,
};

/// The names that commits have in a bundle.
const BUNDLED: &str = "refs/ralph/bundled";

/// Writes commits into a file, without those that the reader has.
pub(crate) fn pack(repository: &Path, (wanted, known): (&[&str], &[&str]), file: &Path) -> io::Result<()> {
    let call = || GitCall::new(repository, Config::User);
    let mut names = Vec::new();
    for (index, commit) in wanted.iter().enumerate() {
        // A bundle is made of refs.
        let name = format!("{BUNDLED}/{}-{index}", std::process::id());
        call().args(["update-ref", &name, commit]).alone("cannot name a commit")?;
        names.push(name);
    }
    let left_out: Vec<String> = known.iter().map(|commit| format!("^{commit}")).collect();
    let call_in = call().args(["bundle", "create", "--quiet"]).args([file]).args(&names).args(&left_out);
    let made = call_in.alone("cannot pack commits");
    for name in &names {
        call().args(["update-ref", "-d", name]).alone("cannot remove a ref")?;
    }
    made.map(drop)
}

/// The commit that a name leads to.
pub(crate) fn commit_of(repository: &Path, name: &str) -> io::Result<String> {
    let call = GitCall::new(repository, Config::User);
    let call = call.args(["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    Ok(text(&call.alone(&format!("there is no {name}"))?))
}

/// A repository for commits that come in bundles, with a working tree that nothing is checked out in.
pub(crate) fn repository(folder: &Path, object_format: &str, author: &Author) -> io::Result<()> {
    fs_err::create_dir_all(folder)?;
    let call = || GitCall::new(folder, Config::User);
    if !folder.join(".git/HEAD").exists() {
        let format = format!("--object-format={object_format}");
        call().args(["init", "--quiet", &format, "."]).alone("cannot make a repository")?;
    }
    for (name, value) in [("user.name", &author.name), ("user.email", &author.email)] {
        call().args(["config", name, value]).alone("cannot set up a repository")?;
    }
    Ok(())
}

/// Takes the commits of a bundle of the lander in, and keeps them.
pub(crate) fn unpack(repository: &Path, file: &Path, kept_as: &str) -> io::Result<()> {
    let call = fetch(GitCall::new(repository, Config::User));
    let call = call.args([file]).args([format!("+refs/*:{kept_as}/*")]);
    call.alone("the commits cannot be unpacked").map(drop)
}

/// Names a commit in a repository of ralph's own.
pub(crate) fn hold(repository: &Path, name: &str, commit: &str) -> io::Result<()> {
    let call = GitCall::new(repository, Config::User);
    call.args(["update-ref", name, commit]).alone("cannot name a commit").map(drop)
}

/// Takes one commit of a bundle that is not trusted into the user's repository. `Err` says what is wrong with it.
pub(crate) fn import(
    supervisor: &mut Supervisor,
    (source, target): (&Source, &TargetBranch),
    (file, place): (&Path, &Path),
    (commit, name): (&str, &str),
) -> io::Result<Result<(), String>> {
    if place.exists() {
        remove(place)?;
    }
    fs_err::create_dir_all(place)?;
    let call = || GitCall::new(place, Config::User).git_dir(place);
    let format = format!("--object-format={}", source.object_format);
    call().args(["init", "--quiet", "--bare", &format]).must(supervisor, "cannot make a repository")?;
    // What the bundle is based on is read from the user's objects, and never written there.
    let objects: PathBuf = source.common_dir.join("objects");
    let line = format!("{}\n", objects.display());
    Root::new(place.join("objects/info")).replace(
        OsStr::new("alternates"),
        line.as_bytes(),
        Readers::Owner,
    )?;
    let call_in = || fetch(call().setting("transfer.fsckObjects=true"));
    let taken = call_in().args([file]).args(["+refs/*:refs/taken/*"]).run(supervisor)?;
    let found = match taken {
        Err(why) => Err(why),
        Ok(_) => call()
            .args(["rev-parse", "--verify", "--quiet", &format!("{commit}^{{commit}}")])
            .run(supervisor)?,
    };
    let checked = match found {
        Ok(id) if text(&id) == commit => {
            call()
                .args(["update-ref", "refs/heads/candidate", commit])
                .must(supervisor, "cannot name a commit")?;
            target.fetch(supervisor, place, commit, name).map_err(|error| error.to_string())
        }
        Ok(_) | Err(_) if !file.exists() => Err("it is gone".to_owned()),
        Ok(_) => Err("it does not have the commit that it names".to_owned()),
        Err(why) => Err(format!("it cannot be unpacked: {}", why.lines().last().unwrap_or_default())),
    };
    remove(place)?;
    Ok(checked)
}

fn fetch(call: GitCall) -> GitCall {
    let call = call.setting("protocol.file.allow=always").setting("fetch.fsckObjects=true");
    call.args([
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--no-recurse-submodules",
    ])
}
