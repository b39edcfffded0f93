//! The report in a real browser: what it makes of the page, and a picture that is looked at.
//!
//! The page is put into a frame of the size that is wanted, because a window cannot be that narrow, and a script
//! around it says where its parts are. The page itself has no script.

use std::{
    fs::{self, File},
    io::BufReader,
    path::PathBuf,
};

use serde_json::{Value, json};

use crate::env::{Env, Output, journal_of, lacks};

/// A run of sixteen turns with everything in it that a night brings.
const NIGHT: &str = include_str!("../../../testing/night/script.json");

const GOOD: [u8; 3] = [0x1f, 0x9d, 0x62];
const WARN: [u8; 3] = [0xd1, 0x8b, 0x0b];
const BAD: [u8; 3] = [0xd1, 0x45, 0x3b];

/// How the page is looked at.
#[derive(Clone, Copy)]
struct View {
    width: u32,
    height: u32,
    is_dark: bool,
}

/// The page as a browser shows it.
struct Shown {
    /// Where things are and what they say, as the script found it.
    facts: Value,
    /// Rows of red, green and blue.
    picture: Vec<Vec<[u8; 3]>>,
}

/// The browser of the machine. Where `CI=true` there must be one.
pub(crate) fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").expect("a path");
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|it| it.is_file());
    if found.is_none() {
        lacks("there is no chromium: `apt-get install chromium`");
    }
    found
}

/// A night that was reported on.
fn night() -> Env {
    let env = Env::new().with_git().commits().settings(json!({
        "guardrails": [{"command": "! grep -rq badly src"}, {"command": "grep -q works state"}, {"command": "test -d src"}],
        "maximumIterations": 20,
    }));
    let env = env.script(serde_json::from_str(NIGHT).expect("a script"));
    env.run(&[]).exits(0);
    refuse(&env);
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    env
}

/// Puts into the record what a sandbox would have refused: not every machine can contain anything.
fn refuse(env: &Env) {
    let run = env.newest_run();
    let mut events = journal_of(&run);
    let end = events.pop().expect("the end");
    let hosts = json!([{"host": "evil.example:443", "refused": "it is not on the list of hosts"}]);
    events.extend([json!({"at": end["at"], "event": "contacted", "hosts": hosts}), end]);
    let text: String = events.iter().flat_map(|event| [event.to_string(), "\n".to_owned()]).collect();
    fs::write(run.join("journal.jsonl"), text).expect("a journal");
}

/// Starts the browser on a page around the report.
fn browse(env: &Env, view: View, flags: &[String]) -> Output {
    let page = env.read("report.html").replace('&', "&amp;").replace('"', "&quot;");
    let View { width, height, is_dark } = view;
    let script = "const frame = document.querySelector('iframe');
        frame.onload = () => {
            const page = frame.contentDocument, root = page.documentElement;
            const place = it => { const box = it.getBoundingClientRect();
                return {x: box.x, y: box.y, width: box.width, height: box.height, text: it.textContent, kind: it.className.baseVal ?? it.className}; };
            const places = selector => [...page.querySelectorAll(selector)].map(place);
            document.body.append(Object.assign(document.createElement('pre'), {id: 'facts', textContent: JSON.stringify({
                needs: root.scrollWidth, has: root.clientWidth, long: root.scrollHeight, title: page.title,
                badge: places('.badge'), figures: places('.figures div'), headings: places('h2'), cells: places('td'),
                bars: places('.chart svg[aria-label^=How] rect'), gates: places('.chart svg[aria-label^=What] rect'),
                scripts: page.scripts.length, words: page.body.innerText,
            })}));
        };";
    // The script stands first, so that it is there when the frame is loaded.
    let around = format!(
        "<!doctype html><body style=\"margin:0\"><iframe style=\"border:0;width:{width}px;height:{height}px\"></iframe>
         <script>{script} frame.srcdoc = document.currentScript.dataset.page;</script></body>"
    );
    let around = around.replace("<script>", &format!("<script data-page=\"{page}\">"));
    fs::write(env.root().join("around.html"), around).expect("a page");
    let profile = tempfile::Builder::new().prefix("profile-").tempdir_in(env.root()).expect("a folder");
    let mut command = env.command(browser().expect("a browser"));
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--hide-scrollbars",
    ]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.arg(format!("--window-size={},{}", width.max(600), height + 200));
    // 0 is dark, 1 is light.
    command.arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)));
    command.args(flags).arg(format!("file://{}", env.root().join("around.html").display()));
    env.start_command(&mut command).wait().exits(0)
}

fn look(env: &Env, view: View) -> Shown {
    let dom = browse(env, view, &["--dump-dom".to_owned()]).stdout;
    let facts = dom.split("<pre id=\"facts\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let facts = facts.unwrap_or_else(|| panic!("the page was not loaded: {dom}"));
    let facts = facts.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let path = env.root().join("picture.png");
    browse(env, view, &[format!("--screenshot={}", path.display())]);
    // Without what is around the frame.
    let mut picture = picture(&path);
    picture.truncate(view.height as usize);
    for row in &mut picture {
        row.truncate(view.width as usize);
    }
    Shown { facts: serde_json::from_str(&facts).expect("JSON"), picture }
}

fn picture(path: &std::path::Path) -> Vec<Vec<[u8; 3]>> {
    let mut reader =
        png::Decoder::new(BufReader::new(File::open(path).expect("a picture"))).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    let frame = reader.next_frame(&mut bytes).expect("a picture");
    let samples = frame.color_type.samples();
    assert_eq!(frame.bit_depth, png::BitDepth::Eight);
    let rows = bytes[..frame.buffer_size()].chunks(frame.line_size);
    rows.map(|row| row.chunks(samples).map(|dot| [dot[0], dot[1], dot[2]]).collect()).collect()
}

impl Shown {
    fn parts(&self, name: &str) -> &[Value] {
        self.facts[name].as_array().map(Vec::as_slice).expect("a list")
    }

    /// The colour in the middle of a part, a little below its upper edge where no words are.
    fn color(&self, part: &Value) -> [u8; 3] {
        let at = |position: &str, length: &str, share: f64| {
            let at =
                part[position].as_f64().expect("a number") + share * part[length].as_f64().expect("a number");
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place in a picture"
            )]
            let at = at.max(0.0) as usize;
            at
        };
        let column = at("x", "width", 0.5);
        self.picture[at("y", "height", 0.12)][column]
    }

    /// The share of the dots that have this colour.
    fn share(&self, color: [u8; 3]) -> f64 {
        let all: Vec<_> = self.picture.iter().flatten().collect();
        #[expect(clippy::cast_precision_loss, reason = "a few million")]
        let share = all.iter().filter(|dot| ***dot == color).count() as f64 / all.len() as f64;
        share
    }

    fn words(&self) -> &str {
        self.facts["words"].as_str().expect("words")
    }
}

#[track_caller]
fn assert_near(found: [u8; 3], expected: [u8; 3]) {
    assert!(
        found.iter().zip(expected).all(|(one, other)| one.abs_diff(other) <= 3),
        "{found:?}, not {expected:?}"
    );
}

/// What is the same by day and by night.
fn check_pictures(shown: &Shown) {
    assert_near(shown.color(&shown.parts("badge")[0]), GOOD);
    let bars = shown.parts("bars");
    assert_eq!(bars.len(), 16, "a bar for each turn");
    // Refused by the first gate, failed, passed.
    for (turn, color) in [(1, GOOD), (3, WARN), (6, WARN), (9, BAD), (16, GOOD)] {
        assert_near(shown.color(&bars[turn - 1]), color);
    }
    let gates = shown.parts("gates");
    assert_eq!(gates.len(), 3 * 16, "a cell for each gate and turn");
    for (gate, turn, color) in [(0, 1, GOOD), (0, 3, BAD), (1, 3, GOOD), (1, 6, BAD), (2, 6, GOOD)] {
        assert_near(shown.color(&gates[gate * 16 + turn - 1]), color);
    }
}

#[test]
fn a_browser_shows_the_report() {
    if browser().is_none() {
        return;
    }
    let env = night();
    let by_day = look(&env, View { width: 1040, height: 1500, is_dark: false });
    check_pictures(&by_day);
    assert!(0.6 < by_day.share([255; 3]), "most of it is paper");
    assert_eq!(by_day.facts["scripts"], 0);
    let headings: Vec<&str> = by_day.parts("headings").iter().filter_map(|it| it["text"].as_str()).collect();
    let expected = [
        "What was asked",
        "Needs attention",
        "What was refused",
        "Next steps",
        "Iterations",
        "Guardrails",
        "Commits",
        "Files changed",
        "Turns",
        "Receipt",
    ];
    assert_eq!(headings, expected);
    for words in [
        "Complete: the agent said so",
        "$5.07",
        "Parse numbers",
        "15 of 20",
        "src/divide.sh",
        "git revert",
        "evil.example",
    ] {
        assert!(by_day.words().contains(words), "{words}: {}", by_day.words());
    }
    // The figures are one row, and nothing hangs over.
    let figures = by_day.parts("figures");
    assert!(figures.iter().all(|figure| figure["y"] == figures[0]["y"]), "{figures:?}");
    assert_eq!(by_day.facts["needs"], by_day.facts["has"]);

    let by_night = look(&env, View { width: 1040, height: 1500, is_dark: true });
    check_pictures(&by_night);
    assert!(0.6 < by_night.share([0x14, 0x17, 0x1d]), "it is dark");
    assert!(by_night.share([255; 3]) < 0.01, "something glares");
}

#[test]
fn a_telephone_shows_the_report() {
    if browser().is_none() {
        return;
    }
    let env = night();
    let shown = look(&env, View { width: 400, height: 3000, is_dark: false });
    assert_eq!(shown.facts["has"], 400);
    assert_eq!(shown.facts["needs"], 400, "it has to be pushed to and fro");
    for part in shown.parts("cells").iter().chain(shown.parts("figures")) {
        let (x, width) = (part["x"].as_f64().expect("a number"), part["width"].as_f64().expect("a number"));
        assert!(0.0 <= x && x + width <= 400.0, "{part}");
    }
    assert_near(shown.color(&shown.parts("badge")[0]), GOOD);
    assert_near(shown.color(&shown.parts("bars")[0]), GOOD);
}
