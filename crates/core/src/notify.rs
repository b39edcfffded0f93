//! Who is told when a run ends, waits or needs a person, and in which words.
//!
//! Invariant: an address that may be a secret is in no text that is shown or recorded.

use serde_json::{Value, json};

/// What stands for an address in the record.
const NOT_SHOWN: &str = "(not shown)";
/// Where a topic of ntfy is that comes without an address.
const NTFY: &str = "https://ntfy.sh/";

/// Who is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyTarget {
    /// The user's own shell command, by JSON on its standard input.
    Command(String),
    /// The desktop that the user sits at.
    Desktop,
    /// A service, by a request.
    Service(Service, Address),
}

/// What a service wants to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A message for a topic.
    Ntfy,
    /// A text for a channel.
    Slack,
    /// All that is known, as JSON.
    Webhook,
}

/// Where a service is.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// There. The address itself is often the secret.
    Url(String),
    /// In this variable of the environment.
    Variable(String),
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(_) => write!(f, "Url"),
            Self::Variable(name) => write!(f, "Variable({name})"),
        }
    }
}

const SERVICES: [(&str, Service); 3] =
    [("ntfy:", Service::Ntfy), ("slack:", Service::Slack), ("webhook:", Service::Webhook)];

impl NotifyTarget {
    /// Reads the setting; what is no name of ours is a command.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "desktop" {
            return Ok(Self::Desktop);
        }
        let service = SERVICES.iter().find_map(|(name, service)| Some((*service, text.strip_prefix(name)?)));
        let Some((service, rest)) = service else { return Ok(Self::Command(text.to_owned())) };
        if let Some(name) = rest.strip_prefix('$') {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            return if is_name {
                Ok(Self::Service(service, Address::Variable(name.to_owned())))
            } else {
                Err("the name of a variable after `$`".to_owned())
            };
        }
        address(service, rest).map(|url| Self::Service(service, Address::Url(url)))
    }

    /// The setting as it is recorded.
    pub fn recorded(text: &str) -> String {
        let text = text.trim();
        match Self::parse(text) {
            Ok(Self::Service(_, Address::Url(_))) => {
                let name = text.split_once(':').map_or("", |(name, _)| name);
                format!("{name}:{NOT_SHOWN}")
            }
            Ok(Self::Command(_) | Self::Desktop | Self::Service(_, Address::Variable(_))) | Err(_) => {
                text.to_owned()
            }
        }
    }
}

/// The address of a service, if this is one.
pub fn address(service: Service, text: &str) -> Result<String, String> {
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_topic = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (host, service) {
        (Some(host), Service::Slack | Service::Webhook) if is_plain && !host.is_empty() => {
            Ok(text.to_owned())
        }
        (Some(host), Service::Ntfy)
            if is_plain && host.split_once('/').is_some_and(|(_, topic)| !topic.is_empty()) =>
        {
            Ok(text.to_owned())
        }
        (None, Service::Ntfy) if !text.is_empty() && is_topic(text) => Ok(format!("{NTFY}{text}")),
        (_, Service::Ntfy) => Err("a topic of ntfy, its address, or `$NAME`".to_owned()),
        (_, Service::Slack | Service::Webhook) => Err("an address (`https://...`) or `$NAME`".to_owned()),
    }
}

/// What there is to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifyMessage {
    /// What happened and to what, in a few words.
    pub title: String,
    /// The outcome, the cost, the findings, where to look.
    pub lines: Vec<String>,
    /// A person is waited for.
    pub is_urgent: bool,
    /// Where to look, by the user's own settings.
    pub link: Option<String>,
    /// All of it for programs.
    pub event: Value,
}

impl NotifyMessage {
    /// The request for a service: where it goes, and what is sent as JSON.
    pub fn request(&self, service: Service, url: &str) -> (String, Value) {
        let text = self.lines.join("\n");
        match service {
            Service::Webhook => (url.to_owned(), self.event.clone()),
            Service::Slack => {
                let link = self.link.as_ref().map(|link| format!("\n<{link}>")).unwrap_or_default();
                (url.to_owned(), json!({"text": format!("*{}*\n{}{link}", slack(&self.title), slack(&text))}))
            }
            Service::Ntfy => {
                let (base, topic) = url.trim_end_matches('/').rsplit_once('/').unwrap_or((url, ""));
                let (topic, query) = topic
                    .split_once('?')
                    .map_or((topic, String::new()), |(topic, query)| (topic, format!("?{query}")));
                let mut body = json!({
                    "topic": topic,
                    "title": self.title,
                    "message": text,
                    "priority": if self.is_urgent { 4 } else { 3 },
                });
                if let Some(link) = &self.link {
                    body["click"] = json!(link);
                }
                (format!("{base}/{query}"), body)
            }
        }
    }
}

/// What Slack takes for markup, as text.
fn slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// What curl reads from its standard input: neither the address nor the message is on its command line, where other users of
/// the machine see it.
pub fn curl_config(url: &str, body: &Value) -> String {
    format!(
        "url = {}\nheader = \"Content-Type: application/json\"\ndata-raw = {}\n",
        quoted(url),
        quoted(&body.to_string())
    )
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {}
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> NotifyMessage {
        NotifyMessage {
            title: "greeter: needs you".to_owned(),
            lines: vec!["Done <with> \"1\" finding".to_owned(), "$1.20".to_owned()],
            is_urgent: true,
            link: Some("http://host:7/".to_owned()),
            event: json!({"event": "needs_person"}),
        }
    }

    #[test]
    fn names_of_ours_are_no_commands() {
        let url = |service, url: &str| Ok(NotifyTarget::Service(service, Address::Url(url.to_owned())));
        let check = |text: &str, expected: Result<NotifyTarget, ()>| {
            assert_eq!(NotifyTarget::parse(text).map_err(drop), expected, "{text}");
        };
        check("desktop", Ok(NotifyTarget::Desktop));
        check("cat >>told", Ok(NotifyTarget::Command("cat >>told".to_owned())));
        check("ntfy:my-topic", url(Service::Ntfy, "https://ntfy.sh/my-topic"));
        check("ntfy:http://127.0.0.1:1/t", url(Service::Ntfy, "http://127.0.0.1:1/t"));
        check("slack:https://hooks.example/x", url(Service::Slack, "https://hooks.example/x"));
        check("webhook:http://localhost/x", url(Service::Webhook, "http://localhost/x"));
        check("slack:$HOOK", Ok(NotifyTarget::Service(Service::Slack, Address::Variable("HOOK".to_owned()))));
        for wrong in [
            "slack:",
            "slack:x",
            "webhook:file:///etc/passwd",
            "ntfy:",
            "ntfy:a b",
            "ntfy:http://h",
            "slack:$",
            "slack:$A B",
            "webhook:https://a b",
        ] {
            check(wrong, Err(()));
        }
    }

    #[test]
    fn no_address_is_shown() {
        for (text, expected) in [
            ("slack:https://hooks.example/T1/secret", "slack:(not shown)"),
            ("ntfy:secret-topic", "ntfy:(not shown)"),
            ("webhook:$HOOK", "webhook:$HOOK"),
            ("desktop", "desktop"),
            ("cat >>told", "cat >>told"),
        ] {
            assert_eq!(NotifyTarget::recorded(text), expected);
        }
        let debug = format!("{:?}", NotifyTarget::parse("slack:https://hooks.example/secret"));
        assert!(!debug.contains("secret"), "{debug}");
    }

    #[test]
    fn each_service_is_told_in_its_own_words() {
        let (url, body) = message().request(Service::Ntfy, "https://ntfy.sh/top?auth=x");
        assert_eq!(
            (url.as_str(), &body["topic"], &body["priority"]),
            ("https://ntfy.sh/?auth=x", &json!("top"), &json!(4))
        );
        assert_eq!(
            (&body["click"], &body["message"]),
            (&json!("http://host:7/"), &json!("Done <with> \"1\" finding\n$1.20"))
        );
        let (_, body) = message().request(Service::Slack, "https://h/x");
        assert_eq!(
            body["text"],
            "*greeter: needs you*\nDone &lt;with&gt; \"1\" finding\n$1.20\n<http://host:7/>"
        );
        assert_eq!(message().request(Service::Webhook, "https://h/x").1, json!({"event": "needs_person"}));
    }

    #[test]
    fn curl_reads_what_was_written() {
        let config = curl_config("https://h/\"x", &json!({"text": "a\nb\\ \"c\" @d"}));
        assert_eq!(
            config,
            "url = \"https://h/\\\"x\"\nheader = \"Content-Type: application/json\"\ndata-raw = \
             \"{\\\"text\\\":\\\"a\\\\nb\\\\\\\\ \\\\\\\"c\\\\\\\" @d\\\"}\"\n"
        );
    }

    #[test]
    fn an_address_is_in_no_message_about_the_program_itself() {
        assert_eq!(format!("{:?}", Address::Url("https://ntfy.sh/secret".to_owned())), "Url");
        assert_eq!(format!("{:?}", Address::Variable("HOOK".to_owned())), "Variable(HOOK)");
    }

    #[test]
    fn quotes_hold_everything_but_control_characters() {
        assert_eq!(quoted("a\"b\\c\nd\re\tf\u{1}\u{7f}g"), r#""a\"b\\c\nd\re\tfg""#);
    }
}
