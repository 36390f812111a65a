//! Who is at the other end of a connection: the kernel says so, and nothing that is sent can claim otherwise.

use std::io;

use tokio::net::UnixStream;

/// Where the machine's own users stand (passwd(5)). Users from a directory service have a number and no name here.
const USERS: &str = "/etc/passwd";

/// The user of the process that connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    uid: u32,
}

impl Peer {
    /// The peer, if it is the user that runs this host, or root. The mode of the socket already keeps others out; this holds
    /// even where somebody changed it.
    pub(super) fn allowed(stream: &UnixStream, ours: u32) -> Option<Self> {
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == ours || peer.uid() == 0 => Some(Self { uid: peer.uid() }),
            Ok(peer) => {
                tracing::warn!(uid = peer.uid(), pid = peer.pid(), "admin connection of another user refused");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "admin connection of an unknown user refused");
                None
            }
        }
    }

    /// As the ledger names it: `uid:1000 (ann)`, or without a name where this machine has none.
    pub(super) async fn caller(self) -> String {
        self.named(tokio::fs::read_to_string(USERS).await)
    }

    fn named(self, users: io::Result<String>) -> String {
        let uid = self.uid.to_string();
        let is_it = |line: &&str| line.split(':').nth(2) == Some(uid.as_str());
        let users = users.unwrap_or_default();
        match users.lines().find(is_it).and_then(|line| line.split(':').next()) {
            Some(name) if !name.is_empty() => format!("uid:{uid} ({name})"),
            _ => format!("uid:{uid}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_always_and_a_name_where_there_is_one() {
        let users = || Ok("root:x:0:0:root:/root:/bin/sh\n# 1000\nann:x:1000:1000::/home/ann:/bin/sh\n".to_owned());
        assert_eq!(Peer { uid: 0 }.named(users()), "uid:0 (root)");
        assert_eq!(Peer { uid: 1000 }.named(users()), "uid:1000 (ann)");
        assert_eq!(Peer { uid: 100 }.named(users()), "uid:100");
        assert_eq!(Peer { uid: 0 }.named(Err(io::Error::from(io::ErrorKind::NotFound))), "uid:0");
    }
}
