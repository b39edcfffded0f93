//! Data that leaves the machine in one-liners of other languages.

use crate::{
    flatten::is_loopback,
    rules::{
        RuleInput,
        secrets::{names_secret_variable, takes_environment},
    },
};

/// Calls that send something.
const SENDS: [&str; 29] = [
    "requests.post",
    "requests.put",
    "urlopen",
    "fetch(",
    "http.request",
    "https.request",
    ".request(",
    "axios.post",
    "axios.put",
    ".sendall(",
    ".send(",
    "httpx.post",
    "Net::HTTP",
    "LWP::",
    "curl_exec",
    "smtplib",
    "mail(",
    "IO::Socket",
    "fsockopen",
    "TCPSocket",
    "file_get_contents(\"http",
    "file_get_contents('http",
    "ftplib",
    "paramiko",
    "urlretrieve",
    "dns.resolver",
    "gethostbyname(",
    "HTTPConnection",
    "HTTPSConnection",
];

/// Calls that read a file or the environment.
const READS: [&str; 19] = [
    "open(",
    "readFile",
    "createReadStream",
    "openSync",
    "Bun.file(",
    "readTextFile",
    "read_text",
    "read_bytes",
    "file_get_contents",
    "File.read",
    "open F",
    "open my",
    "IO.read",
    "ARGF",
    "storbinary",
    ".put(",
    "os.environ",
    "process.env)",
    "process.env}",
];

/// Calls that name a host without an address.
const CONNECTS: [&str; 7] =
    ["connect(", "create_connection(", "IO::Socket", "fsockopen(", "TCPSocket", "FTP(", "gethostbyname("];

pub(super) fn upload_file(input: &RuleInput<'_>) -> Option<String> {
    let code = input.command.code.as_deref()?;
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let sends = has(&SENDS);
    let reads = has(&READS);
    let far = code
        .split("://")
        .skip(1)
        .any(|rest| !is_loopback(rest.split(['\'', '"', '`']).next().unwrap_or_default()))
        || CONNECTS
            .iter()
            .any(|word| code.contains(word) && !code.contains("localhost") && !code.contains("127.0.0.1"))
        || code.split("Connection(").skip(1).any(|rest| {
            let host = rest.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or_default();
            !is_loopback(host)
        });
    let names_host = ["host:", "hostname:", "host="].iter().any(|word| code.contains(word));
    let far = far || (names_host && !code.contains("localhost") && !code.contains("127.0.0.1"));
    let opens_address =
        code.contains("urlopen(") && code.matches("open(").count() == code.matches("urlopen(").count();
    let sends_environment = has(&["dict(os.environ", "os.environ)", "os.environ.items", "process.env)"]);
    let gets_only = code.contains("file_get_contents(")
        && code.matches("file_get_contents(").count()
            == code.matches("file_get_contents(\"http").count()
                + code.matches("file_get_contents('http").count();
    let is_sent = reads && (!(opens_address || gets_only) || sends_environment);
    input.found_if(sends && far && (is_sent || takes_environment(code)))
}

/// A secret variable that is put into a request.
pub(super) fn upload_secret(input: &RuleInput<'_>) -> Option<String> {
    let code = input.command.code.as_deref()?;
    let sends = ["curl", "wget", "nc ", ".post(", ".put(", ".sendall(", ".send(", "?", "dig "];
    let is_far = code
        .split("://")
        .skip(1)
        .any(|rest| !is_loopback(rest.split(['\'', '"', '`']).next().unwrap_or_default()));
    let is_sent = sends.iter().any(|word| code.contains(word)) && is_far;
    input.found_if(is_sent && names_secret_variable(code))
}
