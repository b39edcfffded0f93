//! Rules that users have added.

use super::RuleInput;
use crate::{
    context::Context,
    file_access::FileAccess,
    own_rule::OwnRule,
    paths::{self, Relation},
    pattern,
};

/// What it finds in a command, for people.
pub(crate) fn find(rule: &OwnRule, input: &RuleInput<'_>) -> Option<String> {
    let is_meant =
        pattern::any_means(&rule.patterns, input.command) && !pattern::any_means(&rule.unless, input.command);
    if is_meant {
        return Some(input.display_command());
    }
    if rule.writes.is_empty() {
        return None;
    }
    input.found_file_if(|file| file.access.changes() && protects(rule, file, input.ctx))
}

/// Whether a file is one of those that may not be written, in a folder that is, or a folder around one.
fn protects(rule: &OwnRule, file: &FileAccess, ctx: &Context) -> bool {
    rule.writes.iter().any(|protected| {
        let whole = paths::resolve(protected, &ctx.project, &ctx.home);
        match paths::relation_to(&file.path, &whole) {
            Relation::Inside => true,
            Relation::Around => file.access.destroys(),
            Relation::Apart => {
                paths::relation_to(&whole, &file.path) == Relation::Inside && whole.contains('*')
            }
        }
    })
}
