//! Stores one message in a stream, and says what became of it: the four answers that the protocol is built on.

use std::error::Error as _;

use async_nats::jetstream::{
    self, Context, ErrorCode,
    context::{PublishError, PublishErrorKind},
    message::PublishMessage,
};

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is in the stream, with this number.
    At(u64),
    /// Another message came in between: nothing was stored.
    Overtaken,
    /// The subject has its message and keeps it: nothing was stored.
    There,
    /// No answer came: it may be in the stream, or may yet be.
    Unanswered,
}

pub(crate) async fn store(
    streams: &Context,
    subject: String,
    message: PublishMessage,
) -> Result<Answer, PublishError> {
    let answer = match streams.send_publish(subject, message).await {
        Ok(answer) => answer.await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(stored) => Ok(Answer::At(stored.sequence)),
        Err(error) => refusal(&error).ok_or(error),
    }
}

fn refusal(error: &PublishError) -> Option<Answer> {
    match error.kind() {
        PublishErrorKind::WrongLastSequence => return Some(Answer::Overtaken),
        PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => return Some(Answer::Unanswered),
        _ => {}
    }
    let refusal = error.source()?.downcast_ref::<jetstream::Error>()?;
    match refusal.error_code() {
        // 10164: how a cluster says so while the other message is under way. The client has no kind for it.
        ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT => Some(Answer::Overtaken),
        // The code is also that of a full disk; only the text tells them apart.
        ErrorCode::STREAM_STORE_FAILED if refusal.to_string().contains("messages per subject") => {
            Some(Answer::There)
        }
        // A cluster without a leader: the next one may have it, or not.
        ErrorCode::CLUSTER_NOT_AVAILABLE | ErrorCode::CLUSTER_NOT_LEADER => Some(Answer::Unanswered),
        _ => None,
    }
}
