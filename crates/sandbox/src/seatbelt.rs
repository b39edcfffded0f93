//! The sandbox of macOS: the text of a profile for `sandbox-exec`. Of two rules the later one decides.

use std::{ffi::OsString, fmt::Write, path::Path};

use ralph_core::containment::policy::{Access, Layer, Policy};
use ralph_sys::process::Spec;

/// Makes a process one that runs inside.
pub(super) fn wrap(policy: &Policy, spec: Spec) -> Spec {
    let mut args: Vec<OsString> = vec!["-p".into(), profile(policy).into(), spec.program];
    args.extend(spec.args);
    let mut env = spec.env;
    env.extend(policy.env.iter().map(|(name, value)| (name.into(), value.as_ref().map(OsString::from))));
    env.push(("TMPDIR".into(), Some(policy.tmp.clone().into())));
    Spec { program: "sandbox-exec".into(), args, env, ..spec }
}

/// The profile of a policy.
fn profile(policy: &Policy) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    for device in ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr"] {
        let _ = writeln!(text, "(allow file-write* (literal {}))", quoted(Path::new(device)));
    }
    for layer in &policy.layers {
        let below = format!("(subpath {})", quoted(&layer.path));
        let is_hidden = |other: &Layer| other.access == Access::Hide && layer.path.starts_with(&other.path);
        if layer.access != Access::Hide && policy.layers.iter().any(is_hidden) {
            let _ = writeln!(text, "(allow file-read* {below})");
        }
        let _ = match layer.access {
            Access::Write => writeln!(text, "(allow file-write* {below})"),
            Access::Read => writeln!(text, "(deny file-write* {below})"),
            Access::Hide => writeln!(text, "(deny file-read* file-write* {below})"),
        };
    }
    // No process inside signals or looks into one outside.
    text.push_str("(deny signal)\n(allow signal (target same-sandbox))\n");
    text.push_str("(deny process-info*)\n(allow process-info* (target same-sandbox))\n");
    text
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_become_rules_in_their_order() {
        let layer = |path: &str, access| Layer { path: path.into(), access };
        let layers = vec![
            layer("/p \"q\"", Access::Write),
            layer("/p/.ralph", Access::Read),
            layer("/h/.ssh", Access::Hide),
            layer("/h/.ssh/config", Access::Read),
        ];
        let text = profile(&Policy { layers, ..Policy::default() });
        assert!(text.starts_with("(version 1)\n(allow default)\n(deny file-write*)\n"), "{text}");
        let rules = "(allow file-write* (subpath \"/p \\\"q\\\"\"))\n\
                     (deny file-write* (subpath \"/p/.ralph\"))\n\
                     (deny file-read* file-write* (subpath \"/h/.ssh\"))\n\
                     (allow file-read* (subpath \"/h/.ssh/config\"))\n\
                     (deny file-write* (subpath \"/h/.ssh/config\"))\n";
        assert!(text.contains(rules), "{text}");
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    }
}
