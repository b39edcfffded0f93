//! Reads a stream without a consumer that would have to be created, allowed and cleaned up.
//!
//! Any replica may answer, so a reader can see less than there is, never anything else: what is appended on the grounds of
//! an old view is refused.

use async_nats::{StatusCode, jetstream::message::StreamMessage};
use futures_util::StreamExt;
use ralph_sys::error::{Error, Result};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::link::{ANSWER_TIMEOUT, Link};

/// The next messages whose subjects match, the oldest first: at most `batch`, and none if there is none yet.
///
/// The server looks for `batch` of them up to the end of the stream: a millisecond for ten thousand messages.
pub(crate) fn read(
    link: &Link,
    stream: &str,
    filter: &str,
    from: u64,
    batch: usize,
) -> Result<Vec<StreamMessage>> {
    link.wait(get(link, stream, json!({ "seq": from, "next_by_subj": filter, "batch": batch })))
}

/// The last message whose subject matches. However long the stream is, this takes a tenth of a millisecond.
pub(crate) fn last(link: &Link, stream: &str, filter: &str) -> Result<Option<StreamMessage>> {
    Ok(link.wait(get(link, stream, json!({ "last_by_subj": filter })))?.pop())
}

/// The client gets one message for one request; servers send a batch since 2.11.
async fn get(link: &Link, stream: &str, request: Value) -> Result<Vec<StreamMessage>> {
    let what = || format!("cannot read {stream}");
    let inbox = link.client.new_inbox();
    let mut answers = link.client.subscribe(inbox.clone()).await?;
    let subject = format!("{}.DIRECT.GET.{stream}", link.api);
    link.client.publish_with_reply(subject, inbox, request.to_string().into()).await?;
    let is_batch = request.get("batch").is_some();
    let limit = Instant::now() + ANSWER_TIMEOUT;
    let mut messages = Vec::new();
    loop {
        let answer = match timeout_at(limit, answers.next()).await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err(link.error(&what(), &"the connection is closed")),
            Err(_) => return Err(link.error(&what(), &"no answer")),
        };
        match answer.status {
            None => messages.push(StreamMessage::try_from(answer)?),
            // The end of the batch, or nothing there.
            Some(code) if code.as_u16() == 204 || code == StatusCode::NOT_FOUND => return Ok(messages),
            Some(StatusCode::NO_RESPONDERS) => {
                return Err(Error::new(format_args!("{}: there is no such stream", what()))
                    .hint("`ralph fleet board` makes the streams, and so does the first lander of a board without roles"));
            }
            Some(code) => return Err(link.error(&what(), &format_args!("{code}"))),
        }
        if !is_batch {
            return Ok(messages);
        }
    }
}
