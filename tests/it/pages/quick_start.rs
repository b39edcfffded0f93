//! The quick start as a reader does it: the files, the commands and the output are those of the page.

use std::os::unix::fs::symlink;

use crate::{
    contained::works,
    env::{Env, RALPH},
};

const PAGE: &str = include_str!("../../../docs/quick-start.md");

/// Claude Code as the page shows it: a claim that is wrong, one that is true, and a commit message.
const AGENT: &str = r#"[ "$1" = --version ] && echo "2.1.325 (Claude Code)" && exit
prompt=$(cat; echo "$*")
tool() {
    printf '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"%s","name":"%s","input":{"%s":"%s"}}]}}\n' "$1" "$2" "$3" "$4"
    printf '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"ok"}]}}\n' "$1"
}
end() {
    printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n' "$1"
    printf '{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"%s","total_cost_usd":%s,"usage":{"input_tokens":%s,"output_tokens":%s}}\n' "$1" "$2" "$3" "$4"
}
if grep -q fullmatch durations.py; then
    end '<response>Read hours and minutes, and refuse nonsense</response>' 0.01 1100 30
    exit
fi
tool 1 Read file_path "$PWD/durations.py"
tool 2 Write file_path "$PWD/durations.py"
if ! grep -q findall durations.py; then
    cat >durations.py <<'PYTHON'
import re

def seconds(text):
    """Reads `90s` and `1h30m`."""
    units = {"h": 3600, "m": 60, "s": 1}
    return sum(int(count) * units[unit] for count, unit in re.findall(r"(\d+)([hms])", text))
PYTHON
    end 'Hours and minutes are read now.\n\n<response>DONE</response>' 0.09 18500 640
    exit
fi
cat >durations.py <<'PYTHON'
import re

def seconds(text):
    """Reads `90s` and `1h30m`, and refuses everything else."""
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", text)
    if not text or not match:
        raise ValueError(text)
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest
PYTHON
tool 3 Bash command 'make test'
end 'Nonsense is refused now; all three tests pass.\n\n<response>DONE</response>' 0.13 27700 950"#;

/// The blocks of the page, each with its language.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'))
}

/// A line without what differs each time: durations, ids, the folder.
fn steady(line: &str, folder: &str) -> String {
    let line = line.replace(folder, "/home/ada/planner");
    let is_part = |it: char| it.is_ascii_hexdigit() || it == '.' || it == '-';
    let words = line.split_whitespace().map(|word| {
        let core = word.trim_matches(['(', ')', ',', ';']);
        let number = core.trim_end_matches("ms").trim_end_matches('s');
        let is_time = number.len() < core.len() && number.parse::<f64>().is_ok();
        let is_id =
            7 <= core.len() && core.chars().all(is_part) && core.chars().any(|it| it.is_ascii_digit());
        if is_time || is_id { word.replace(core, "#") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_quick_start_happens_as_the_page_says() {
    if !works("embedded") {
        return;
    }
    let env = Env::new().bare().variable("PATH", &std::env::var("PATH").expect("a path"));
    let bin = env.root().join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let env = env.variable("PATH", &path).variable("LC_ALL", "C.UTF-8");
    env.program("claude", AGENT);
    env.program("xdg-open", "exit 0");
    symlink(RALPH, bin.join("ralph")).expect("a link");
    env.sh("git config --global user.name Ada; git config --global user.email ada@localhost").exits(0);
    for (language, text) in blocks() {
        if let ("python" | "make", Some((name, text))) = (language, text.split_once('\n')) {
            env.write(name.trim_start_matches("# "), text);
        }
    }
    let mut shown = Vec::new();
    for (language, text) in blocks() {
        for command in text.lines().filter_map(|line| match language {
            "console" => line.strip_prefix("$ "),
            "sh" => Some(line),
            _ => None,
        }) {
            if command.starts_with("ralph run") {
                // This agent calls no hooks, so the guard would stop the run.
                env.write(".ralph/settings.local.json", r#"{"guard": "off"}"#);
            }
            let output = env.sh(command).exits(0);
            let printed = format!("{}\n{}", output.stderr, output.stdout);
            shown.extend(printed.lines().map(str::to_owned));
        }
    }
    let folder = env.project().display().to_string();
    let mut rest = shown.iter().map(|line| steady(line, &folder));
    let expected = blocks().filter(|(language, _)| *language == "console").flat_map(|(_, text)| text.lines());
    for line in expected.filter(|line| !line.starts_with("$ ") && !line.trim().is_empty()) {
        let line = steady(line, &folder);
        assert!(
            rest.any(|it| it == line),
            "the page says, and ralph does not:\n{line}\n\n{}",
            shown.join("\n")
        );
    }
}
