//! `ralph fleet run`: prompts, or several candidates for one.

use std::path::Path;

use clap::{Args, ValueEnum};
use ralph_core::fleet::{FleetItem, FleetWork, Pick};
use ralph_sys::{
    error::{Error, Result},
    files,
};

use super::{FleetLoopArgs, begin::Work};

/// Work on one prompt in several lanes and land the best, or on several prompts
///
/// If an argument names a file, ralph reads the prompt from it.
///
/// Example: ralph fleet run "Make the date parser accept ISO weeks" --best-of 3
#[derive(Args, Debug)]
pub(super) struct FleetRunArgs {
    /// A prompt, or files with prompts
    #[arg(value_name = "PROMPT_OR_FILE", required = true)]
    prompts: Vec<String>,

    /// Let this many candidates compete for each prompt [default: as many as --agents or --models name, or else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    best_of: Option<u32>,

    /// Which candidate lands: the first that passes, or the cheapest of all that pass [default: first]
    #[arg(long, value_name = "WHICH")]
    pick: Option<PickFlag>,

    /// The agents of the candidates: the first for the first candidate, and so on
    #[arg(long, value_name = "AGENT,...", value_delimiter = ',')]
    agents: Vec<String>,

    /// The models of the candidates: the first for the first candidate, and so on
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    models: Vec<String>,

    #[command(flatten)]
    flags: FleetLoopArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PickFlag {
    /// The first that passes
    First,
    /// The cheapest of all that pass
    Cheapest,
}

/// Begins.
pub(super) fn main(args: &FleetRunArgs, project: &Path) -> Result<u8> {
    let loaded = args.flags.load(project)?;
    let many = args.agents.len().max(args.models.len());
    let best_of = args.best_of.unwrap_or(u32::try_from(many).unwrap_or(1)).max(1);
    let mut items = Vec::new();
    for (index, word) in args.prompts.iter().enumerate() {
        let (name, text) = prompt(word, index)?;
        for number in 0..best_of {
            let nth = |list: &[String]| list.get(number as usize % list.len().max(1)).cloned();
            let agent = nth(&args.agents);
            let named = agent.as_ref().and_then(|name| loaded.settings.agents.get(name));
            let command = named.map(|named| &named.agent.command).or(agent.as_ref());
            let command = command.unwrap_or(&loaded.settings.agent.command);
            items.push(FleetItem {
                id: if best_of == 1 { name.clone() } else { format!("{name}-{}", number + 1) },
                title: text
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
                group: (1 < best_of).then(|| name.clone()),
                work: FleetWork::Prompt { text: text.clone() },
                account: ralph_agents::adapter(command).name().to_owned(),
                model: nth(&args.models),
                agent,
                ..FleetItem::default()
            });
        }
    }
    let ids: std::collections::BTreeSet<&String> = items.iter().map(|item| &item.id).collect();
    if ids.len() < items.len() {
        return Err(Error::new("two of the files have the same name").hint("rename one of them"));
    }
    let pick = match args.pick {
        Some(PickFlag::Cheapest) => Pick::Cheapest,
        Some(PickFlag::First) | None => Pick::First,
    };
    let work = Work { items, pick, ralph_dir: None, verify_commands: Vec::new() };
    args.flags.begin(&loaded, project, work)
}

/// The name of a prompt, and its text.
fn prompt(word: &str, index: usize) -> Result<(String, String)> {
    let path = Path::new(word);
    if !word.contains(char::is_whitespace) && path.is_file() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' });
        return Ok((name.collect(), files::read_text(path)?));
    }
    if word.trim().is_empty() {
        return Err(Error::new("the prompt is empty"));
    }
    Ok((format!("prompt-{}", index + 1), word.to_owned()))
}
