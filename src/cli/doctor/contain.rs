//! Looks at what this machine has to keep an agent contained.

use std::{env, path::Path};

use crate::checkup::Containment;

/// Looks at every means of containment.
pub(super) fn examine(project: &Path) -> Vec<Containment> {
    let program = |name: &'static str| Containment {
        name,
        obstacle: which::which_in(name, env::var_os("PATH"), project)
            .is_err()
            .then(|| "it is not installed".to_owned()),
    };
    vec![
        Containment { name: "user namespaces", obstacle: no_namespaces() },
        Containment { name: "landlock", obstacle: no_landlock() },
        program("bwrap"),
        program("docker"),
        program("sbx"),
    ]
}

/// Why user namespaces cannot be made.
fn no_namespaces() -> Option<String> {
    let set = |path: &str| fs_err::read_to_string(path).ok().map(|value| value.trim().to_owned());
    if !Path::new("/proc/self/ns/user").exists() {
        return Some("the kernel has none".to_owned());
    }
    if set("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
        return Some("user.max_user_namespaces is 0".to_owned());
    }
    if rustix::process::geteuid().is_root() {
        return None;
    }
    let refused = [
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "AppArmor restricts them to some programs",
        ),
    ];
    let found = refused.into_iter().find(|(path, value, _)| set(path).as_deref() == Some(*value));
    found.map(|(_, _, why)| why.to_owned())
}

/// Why Landlock cannot be used.
fn no_landlock() -> Option<String> {
    match fs_err::read_to_string("/sys/kernel/security/lsm") {
        Ok(modules) if modules.split(',').any(|module| module.trim() == "landlock") => None,
        Ok(_) => Some("the kernel was started without it".to_owned()),
        Err(_) => Some("the kernel does not say whether it has it".to_owned()),
    }
}
