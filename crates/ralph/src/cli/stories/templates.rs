//! The files that a stories loop begins with.

use std::path::Path;

use jiff::Zoned;
use ralph_core::template::fill;

use crate::project::story_files::{PRD, PROGRESS, PROMPT, TASKS};

/// The name of a feature that no one has named.
const UNNAMED: &str = "feature-name";

/// What a PRD begins as.
pub(super) const PRD_TEMPLATE: &str = include_str!("../../../../../prompts/stories/prd.md");

/// What a new loop is about.
pub(super) struct Feature<'a> {
    pub(super) project: &'a Path,
    pub(super) name: Option<&'a str>,
    /// The commands that verify the whole.
    pub(super) verify: &'a [String],
}

/// The files with their names. The prompt keeps its variables: they are filled in before each turn.
pub(super) fn files(feature: &Feature<'_>) -> [(&'static str, String); 4] {
    let project = feature.project.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let variables = [
        ("PROJECT_NAME", project.clone()),
        ("FEATURE", branch(feature.name.unwrap_or(UNNAMED))),
        ("FEATURE_NAME", feature.name.map_or(project, str::to_owned)),
        ("DATE", Zoned::now().strftime("%Y-%m-%d").to_string()),
    ];
    let quoted = |text: &String| serde_json::to_string(text).expect("a string is JSON");
    let verify = feature.verify.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let in_json = variables.clone().map(|(name, value)| {
        let quoted = quoted(&value);
        (name, quoted[1..quoted.len() - 1].to_owned())
    });
    let in_json: Vec<_> = in_json.into_iter().chain([("VERIFY_COMMANDS", verify)]).collect();
    [
        (PRD, fill(PRD_TEMPLATE, &variables)),
        (TASKS, fill(include_str!("../../../../../prompts/stories/tasks.json"), &in_json)),
        (PROGRESS, fill(include_str!("../../../../../prompts/stories/progress.txt"), &variables)),
        (PROMPT, include_str!("../../../../../prompts/stories/prompt.md").to_owned()),
    ]
}

/// A name as the last part of a branch's.
pub(super) fn branch(name: &str) -> String {
    let is_fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let name: String = name.trim().chars().map(|c| if is_fine(c) { c } else { '-' }).collect();
    let name = name.trim_matches(['-', '.', '/']).to_owned();
    if name.is_empty() { UNNAMED.to_owned() } else { name }
}
