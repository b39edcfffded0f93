//! A picture of the page: the night that the report shows, on a desk and on a telephone beside it.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{
    cargo::root,
    debian::{BROWSER, Missing},
    say,
};

/// How long the page may take to show something that it has begun to load.
const SETTLE_TIME: Duration = Duration::from_secs(3);
/// Opens the run and its guardrails.
const SHOW: &str = "document.querySelector('.card').click(); setTimeout(() => document.querySelectorAll('.tab')[1].click(), 500)";

/// Serves what is recorded in this folder and has a browser show it.
pub(super) fn take(ralph: &Path, home: &Path) -> Result<()> {
    let mut serve = Command::new(ralph)
        .args(["serve", "--listen", "0"])
        .env("RALPH_STATE_DIR", home.join("state"))
        .env("HOME", home)
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let taken = look(&mut serve, home);
    serve.kill()?;
    serve.wait()?;
    taken
}

fn look(serve: &mut Child, home: &Path) -> Result<()> {
    let mut link = String::new();
    BufReader::new(serve.stdout.take().context("a pipe")?).read_line(&mut link)?;
    let mut browser = Browser::start(home)?;
    for (name, width, height) in [("serve.png", 1280, 640), ("serve-phone.png", 390, 844)] {
        let path = root().join("docs").join(name);
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        browser.call("Emulation.setDeviceMetricsOverride", &size)?;
        browser.call("Page.navigate", &json!({"url": link.trim()}))?;
        thread::sleep(SETTLE_TIME);
        browser.call("Runtime.evaluate", &json!({"expression": SHOW}))?;
        thread::sleep(SETTLE_TIME);
        let picture = browser.call("Page.captureScreenshot", &json!({}))?;
        fs_err::write(&path, decoded(picture["data"].as_str().context("a picture")?))?;
        say(&format!("written: {}; now look at it\n", path.display()));
    }
    browser.child.kill()?;
    browser.child.wait()?;
    Ok(())
}

/// A browser that is spoken with through two pipes.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
    session: Option<String>,
}

impl Browser {
    fn start(home: &Path) -> Result<Self> {
        let mut command = Command::new("sh");
        // It speaks on 3 and 4.
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]);
        command.arg(BROWSER.find(Missing::Name)?);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--hide-scrollbars", "--no-proxy-server", "--remote-debugging-pipe"]);
        command.arg(format!("--user-data-dir={}", home.join("profile-serve").display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (child.stdin.take().context("a pipe")?, child.stdout.take().context("a pipe")?);
        let mut browser = Self { child, to, from: BufReader::new(from), next: 0, session: None };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        browser.session =
            browser.call("Target.attachToTarget", &attach)?["sessionId"].as_str().map(str::to_owned);
        Ok(browser)
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes())?;
        loop {
            let mut heard = Vec::new();
            self.from.read_until(0, &mut heard)?;
            ensure!(heard.pop() == Some(0), "the browser has gone");
            let heard: Value = serde_json::from_slice(&heard)?;
            if heard["id"] == json!(self.next) {
                ensure!(heard.get("error").is_none(), "{method}: {heard}");
                return Ok(heard["result"].clone());
            }
        }
    }
}

/// The bytes that Base64 stands for.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(value).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let whole =
            four.iter().fold(0_u32, |whole, digit| whole << 6 | u32::from(*digit)) << (6 * (4 - four.len()));
        whole.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        for (text, expected) in
            [("", ""), ("TQ==", "M"), ("TWE=", "Ma"), ("TWFu", "Man"), ("TWFuTQ==", "ManM")]
        {
            assert_eq!(decoded(text), expected.as_bytes(), "{text}");
        }
    }
}
