//! HTTP/1.1 as far as `gh` needs it: one request, one answer.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
};

use serde_json::Value;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET` and the like.
    pub method: String,
    /// With the query.
    pub path: String,
    /// The key that was shown.
    pub token: String,
    /// What was sent; nothing if it is no JSON.
    pub body: Value,
}

/// Reads a request; nothing when the client has gone.
pub(crate) fn read(stream: &UnixStream) -> io::Result<Option<Request>> {
    let mut stream = BufReader::new(stream);
    let first = line(&mut stream)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let (mut length, mut is_chunked, mut token) = (0, false, String::new());
    loop {
        let header = line(&mut stream)?;
        let Some((name, value)) = header.split_once(':') else { break };
        let value = value.trim();
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(io::Error::other)?,
            "transfer-encoding" => is_chunked = value.eq_ignore_ascii_case("chunked"),
            "authorization" => value.trim_start_matches("token ").clone_into(&mut token),
            _ => {}
        }
    }
    let mut body = Vec::new();
    while is_chunked {
        let size = u64::from_str_radix(line(&mut stream)?.trim(), 16).map_err(io::Error::other)?;
        stream.by_ref().take(size).read_to_end(&mut body)?;
        line(&mut stream)?;
        is_chunked = size != 0;
    }
    stream.by_ref().take(length).read_to_end(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), token, body }))
}

/// Writes the answer, and closes.
pub(crate) fn write(mut stream: &UnixStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.by_ref().take(1 << 20).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
