//! What agents, users and repositories wrote is text in the page, and pages of other sites get nothing.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use serde_json::{Value, json};

use super::{browser::Browser, serve};
use crate::{
    env::{Env, done, say, shell},
    stories::{leaves, list, project, with},
};

/// Does something wherever it is taken for markup, in an attribute, a script or a link.
const PROBE: &str =
    "\"'><img src=x onerror=pwned=1><script>pwned=1</script><svg onload=pwned=1>javascript:pwned=1";

/// Goes through every part of the page.
#[track_caller]
fn visit(browser: &mut Browser, link: &str) -> String {
    browser.look(1280, 800, false);
    browser.open(link);
    browser.until("!!document.querySelector('h2.asked')");
    let mut seen = browser.eval("document.body.innerText").to_string();
    for tab in ["Guardrails", "Stories", "Diff", "Spend", "Findings", "Now"] {
        let has_tab = browser.eval(&format!(
            "[...document.querySelectorAll('.tab')].some(it => it.textContent.startsWith({}))",
            json!(tab)
        ));
        if has_tab == json!(true) {
            browser.press(tab);
            browser.until("!document.querySelector('.panel').innerText.includes('Loading')");
            seen.push_str(&browser.eval("document.body.innerText + [...document.querySelectorAll('[title]')].map(it => it.title)").to_string());
        }
    }
    browser.eval("document.querySelector('.entry')?.click()");
    assert_eq!(browser.eval("typeof pwned"), "undefined");
    let made = "document.querySelectorAll('img, svg, iframe, object, embed, base, a[href^=javascript], nav script, main script, dialog script').length";
    assert_eq!(browser.eval(made), json!(0));
    assert_eq!(browser.eval("document.scripts.length"), json!(1));
    // A refused load or script would be complained about.
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    seen
}

#[test]
fn prompts_output_names_and_guardrails_are_text() {
    let name = "a<img src=x onerror=pwned=1>.txt";
    let gate = format!("true # {PROBE}");
    let env = Env::new().with_git().guardrails(&[&gate]);
    let spoil = format!("printf x >'{name}'; git add -A; printf '<script>pwned=1</script>' >>README.md");
    let env = env.turns(json!([[say(&format!("Said {PROBE}")), shell(&spoil), done()]]));
    env.git(&["checkout", "--quiet", "-b", "b<img/src=x>"]);
    let Some(mut browser) = Browser::start(&env) else { return };
    env.ralph(&["run", "-p", &format!("Asked {PROBE}")]).exits(0);
    let served = serve(&env, &["--allow"]);
    let seen = visit(&mut browser, &served.link);
    for words in ["Asked ", "Said ", "true # ", "onerror=pwned=1>.txt"] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
}

#[test]
fn stories_and_findings_are_text() {
    let fields = json!({"title": format!("Titled {PROBE}"), "description": PROBE});
    let titled = |more: Value| {
        let mut fields = fields.clone();
        fields.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        with("US-1", &fields)
    };
    let env = project(&list(&[titled(json!({}))])).turns(json!([
        leaves(&list(&[titled(json!({"reviewStatus": "needs_review"}))])),
        leaves(&list(&[titled(
            json!({"reviewStatus": "changes_requested", "reviewCount": 1, "reviewFeedback": PROBE})
        )])),
        [say(PROBE)],
    ]));
    let Some(mut browser) = Browser::start(&env) else { return };
    env.ralph(&["stories", "--review-cap", "1"]).exits(7);
    let served = serve(&env, &[]);
    let seen = visit(&mut browser, &served.link);
    assert!(seen.contains("Titled ") && seen.contains("review cap"), "{seen}");
}

/// Another server on this machine: the cookie goes there too, because browsers do not tell ports apart.
fn other_site(page: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                page.len()
            );
            let _ = stream.write_all(format!("{head}{page}").as_bytes());
        }
    });
    port
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let env = Env::new().turns(json!([[done()]]));
    let Some(mut browser) = Browser::start(&env) else { return };
    env.run(&[]).exits(0);
    let served = serve(&env, &["--allow"]);
    browser.open(&served.link);
    browser.sees("Do it.");
    let (port, id) = (served.port, env.run_id());
    let script = format!(
        "const at = 'http://127.0.0.1:{port}', got = {{}};
         const body = JSON.stringify({{run: '{id}', act: 'resume'}});
         const tries = {{
             read: () => fetch(at + '/api/hello', {{credentials: 'include'}}),
             blind: () => fetch(at + '/api/hello', {{credentials: 'include', mode: 'no-cors'}}).then(it => {{ if (it.type === 'opaque') throw 0; }}),
             act: () => fetch(at + '/api/act', {{method: 'POST', credentials: 'include', headers: {{'X-Ralph-Key': 'x'}}, body}}),
             simple: () => fetch(at + '/api/act', {{method: 'POST', credentials: 'include', body}}),
             events: () => new Promise((ok, no) => {{ const it = new EventSource(at + '/api/events', {{withCredentials: true}}); it.onmessage = it.onopen = ok; it.onerror = no; }}),
             script: () => new Promise((ok, no) => {{ const it = document.createElement('script'); it.src = at + '/page.js'; it.onload = ok; it.onerror = no; document.head.append(it); }}),
             frame: () => new Promise((ok, no) => {{ const it = document.createElement('iframe'); it.src = at + '/'; it.onload = () => {{ try {{ it.contentDocument.body ? ok() : no(); }} catch {{ no(); }} }}; document.body.append(it); }}),
         }};
         for (const [name, tried] of Object.entries(tries)) await tried().then(() => got[name] = 'got', () => got[name] = 'nothing');
         window.got = JSON.stringify(got);"
    );
    let other = other_site(format!("<!doctype html><body><script type=module>{script}</script></body>"));
    for host in ["127.0.0.1", "localhost"] {
        browser.open(&format!("http://{host}:{other}/"));
        let got = browser.until("window.got");
        let got: Value = serde_json::from_str(got.as_str().expect("text")).expect("JSON");
        let all = got.as_object().expect("tries");
        assert!(all.len() == 7 && all.values().all(|it| it == "nothing"), "{host}: {got}");
    }
    assert_eq!(env.events("run_resumed").len(), 0);
}
