//! A real browser, driven by its own protocol through a pair of pipes: no driver, no port that others could reach.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    env::{Env, PATIENCE},
    report::browser::browser,
};

/// A browser with one page.
pub(super) struct Browser {
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: String,
    /// What the page complained about: exceptions, refused loads.
    pub(super) complaints: Vec<String>,
    child: Child,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser, where there is one.
    pub(super) fn start(env: &Env) -> Option<Self> {
        let profile = tempfile::Builder::new().prefix("profile-").tempdir_in(env.root()).expect("a folder");
        // It speaks on 3 and 4.
        let mut command = env.command("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]).arg(browser()?);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--hide-scrollbars", "--no-proxy-server", "--remote-debugging-pipe"]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a browser");
        let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut browser = Self {
            to,
            from: heard(from),
            next: 0,
            session: String::new(),
            complaints: Vec::new(),
            child,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        attached["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        Some(browser)
    }

    /// Asks the browser to do something and waits until it has.
    #[track_caller]
    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("the browser is there");
        loop {
            let heard = self.from.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{method}: {error}"));
            if heard["id"] == json!(self.next) {
                assert!(heard.get("error").is_none(), "{method}: {heard}");
                return heard["result"].clone();
            }
            self.note(&heard);
        }
    }

    fn note(&mut self, heard: &Value) {
        let complaint = match heard["method"].as_str() {
            Some("Runtime.exceptionThrown") => &heard["params"]["exceptionDetails"],
            Some("Log.entryAdded") => &heard["params"]["entry"],
            _ => return,
        };
        self.complaints.push(complaint.to_string());
    }

    /// Goes to an address.
    #[track_caller]
    pub(super) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.until("document.readyState === 'complete'");
    }

    /// The size of the window, and whether it is dark.
    pub(super) fn look(&mut self, width: u32, height: u32, is_dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let scheme = if is_dark { "dark" } else { "light" };
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// What a script in the page says.
    #[track_caller]
    pub(super) fn eval(&mut self, script: &str) -> Value {
        let asked = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until a script says something that is true.
    #[track_caller]
    pub(super) fn until(&mut self, script: &str) -> Value {
        let since = Instant::now();
        loop {
            let value = self.eval(script);
            let is_true =
                !matches!(value, Value::Null | Value::Bool(false)) && value != json!("") && value != json!(0);
            if is_true {
                return value;
            }
            if PATIENCE < since.elapsed() {
                let page = self.eval("document.body.innerText");
                panic!("waited too long for {script}\n{page}\n{:?}", self.complaints);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the page shows these words.
    #[track_caller]
    pub(super) fn sees(&mut self, words: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(words)));
    }

    /// Presses what these words are on.
    #[track_caller]
    pub(super) fn press(&mut self, words: &str) {
        let found = format!(
            "[...document.querySelectorAll('button')].filter(it => it.offsetParent).findLast(it => it.textContent.includes({}))",
            json!(words)
        );
        self.until(&format!("!!{found}"));
        self.eval(&format!("{found}.click()"));
    }

    /// Types into what this selects, and sends it.
    #[track_caller]
    pub(super) fn submit(&mut self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.until(&format!("!!document.querySelector({selector})"));
        self.eval(&format!(
            "(() => {{ const it = document.querySelector({selector}); it.value = {text}; it.form.requestSubmit(); }})()"
        ));
    }

    /// Presses a key.
    pub(super) fn key(&mut self, key: &str) {
        let text = if key.len() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "text": text}));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its own children go with it; its folder is removed after it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the browser says, message by message, read on a thread so that waiting for it has an end.
fn heard(from: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for message in BufReader::new(from).split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(&message) else { continue };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
