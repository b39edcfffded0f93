//! HTTP/1.1 as far as the agents need it: kept connections, bodies with a length or in chunks.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use crate::request::Request;

/// The largest body that is taken, in bytes.
const MOST: u64 = 256 * 1024 * 1024;

/// Reads the next request; nothing when the client has gone.
pub(crate) fn read(stream: &mut impl BufRead, out: &mut impl Write) -> io::Result<Option<Request>> {
    let Some(first) = line(stream)?.filter(|line| !line.is_empty()) else { return Ok(None) };
    let mut words = first.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    while let Some(header) = line(stream)?.filter(|line| !line.is_empty()) {
        let (name, value) = header.split_once(':').unwrap_or((&header, ""));
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    if headers.get("expect").is_some_and(|wanted| wanted.eq_ignore_ascii_case("100-continue")) {
        out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = body(stream, &headers)?;
    let body = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
    Ok(Some(Request { method, path, headers, body, is_main: false }))
}

/// Writes a whole answer.
pub(crate) fn write_json(
    out: &mut impl Write,
    status: u16,
    headers: &BTreeMap<String, String>,
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    write_head(out, status, "application/json", headers)?;
    write!(out, "content-length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}

/// Writes an answer that has no body.
pub(crate) fn write_empty(out: &mut impl Write, status: u16) -> io::Result<()> {
    write_head(out, status, "text/plain", &BTreeMap::new())?;
    write!(out, "content-length: 0\r\n\r\n")?;
    out.flush()
}

/// Begins an answer that comes in chunks.
pub(crate) fn begin_stream(out: &mut impl Write, headers: &BTreeMap<String, String>) -> io::Result<()> {
    write_head(out, 200, "text/event-stream", headers)?;
    write!(out, "cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n")?;
    out.flush()
}

/// Writes one chunk; an empty one ends the answer.
pub(crate) fn write_chunk(out: &mut impl Write, chunk: &str) -> io::Result<()> {
    write!(out, "{:x}\r\n{chunk}\r\n", chunk.len())?;
    out.flush()
}

fn write_head(
    out: &mut impl Write,
    status: u16,
    content: &str,
    headers: &BTreeMap<String, String>,
) -> io::Result<()> {
    write!(out, "HTTP/1.1 {status} Scripted\r\ncontent-type: {content}\r\nrequest-id: req_scripted\r\n")?;
    headers.iter().try_for_each(|(name, value)| write!(out, "{name}: {value}\r\n"))
}

fn body(stream: &mut impl BufRead, headers: &BTreeMap<String, String>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|coding| coding.to_lowercase().contains("chunked")) {
        loop {
            let size = line(stream)?.unwrap_or_default();
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
            take(stream, size, &mut body)?;
            line(stream)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse());
    take(stream, length.map_err(io::Error::other)?, &mut body)?;
    Ok(body)
}

fn take(stream: &mut impl BufRead, size: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if size > MOST {
        return Err(io::Error::other("the request is too large"));
    }
    let taken = stream.by_ref().take(size).read_to_end(body)?;
    if taken as u64 == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn line(stream: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if stream.by_ref().take(1 << 20).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
}
