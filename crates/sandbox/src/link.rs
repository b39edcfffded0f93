//! What the process inside tells the one outside, while it is on its way in.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
};

use rustix::{
    cmsg_space,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    },
};
use serde::{Deserialize, Serialize};

/// As many sockets go with one message; the kernel takes 253.
pub(super) const MAX_SOCKETS: usize = 64;
/// As long as a message may be.
const MAX_MESSAGE_LEN: usize = 16 * 1024;

/// What can be said.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message {
    /// The sockets that come along listen inside, on these ports: the proxy's first, then those of the machine.
    Listening(Vec<u16>),
    /// The command could not be started.
    Failed(String),
    /// All is set up, but there is no such program or it cannot be run.
    NotStarted(String),
    /// The command has ended, with this status of `wait`.
    Ended(i32),
}

/// One end.
pub(super) struct Link(OwnedFd);

impl Link {
    /// Two ends; neither is inherited by programs.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    /// The end that was inherited under this number.
    pub(super) fn inherited(number: RawFd) -> io::Result<Self> {
        // SAFETY: only looks whether there is a descriptor of this number.
        if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is open, and the process that started this one left it to this one.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(number) }))
    }

    /// Says something, with sockets.
    pub(super) fn send(&self, message: &Message, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_SOCKETS))];
        let mut along = SendAncillaryBuffer::new(&mut space);
        if !sockets.is_empty() && !along.push(SendAncillaryMessage::ScmRights(sockets)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        sendmsg(&self.0, &[IoSlice::new(&text)], &mut along, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// What is said next; nothing when no process is left to say anything.
    pub(super) fn receive(&self) -> Option<(Message, Vec<OwnedFd>)> {
        let mut text = vec![0; MAX_MESSAGE_LEN];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MAX_SOCKETS))];
        let mut along = RecvAncillaryBuffer::new(&mut space);
        let length = loop {
            match recvmsg(&self.0, &mut [IoSliceMut::new(&mut text)], &mut along, RecvFlags::CMSG_CLOEXEC) {
                Ok(received) => break received.bytes,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        };
        let sockets = along
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
                _ => None,
            })
            .flatten()
            .collect();
        Some((serde_json::from_slice(&text[..length]).ok()?, sockets))
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn sockets_go_along() {
        let (one, other) = Link::pair().expect("a pair");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        one.send(&Message::Listening(vec![port]), &[listener.as_fd()]).expect("it is sent");
        one.send(&Message::Ended(7), &[]).expect("it is sent");
        drop((one, listener));
        let (message, mut sockets) = other.receive().expect("a message");
        assert!(matches!(message, Message::Listening(ports) if ports == [port]));
        let received = TcpListener::from(sockets.pop().expect("a socket"));
        TcpStream::connect(("127.0.0.1", port)).expect("it still listens");
        received.accept().expect("a connection");
        assert!(matches!(other.receive(), Some((Message::Ended(7), none)) if none.is_empty()));
        assert!(other.receive().is_none());
    }
}
