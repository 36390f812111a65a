//! How much one connection may ask of the network, and how much of what comes back is taken.

use std::time::Duration;

use jackfield_model::limits;

/// The ceilings of one gate. The defaults are what an operator gets who says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// Longest request body, in bytes. What a guest can make the host hold in one call is no more.
    pub request_bytes: usize,
    /// Longest answer body, in bytes. Copied into guest memory, which is a few times that.
    pub response_bytes: usize,
    /// Longest head of a request or an answer, in bytes: what common servers accept, and some room. At least 8 KiB.
    pub header_bytes: usize,
    /// Most headers of a request or an answer.
    pub headers: usize,
    /// Longest request, connect to last byte. A connector may ask for less. Polling connectors may need more.
    pub time: Duration,
    /// Longest way to an open socket: resolve, connect, TLS, upgrade. Platforms answer within a second or two.
    pub open_time: Duration,
    /// Longest wait for a name server.
    pub resolve_time: Duration,
    /// Longest wait for one address to answer, and for its TLS handshake after that.
    pub connect_time: Duration,
    /// Requests under way at once; more wait for their turn, as long as their own time lasts.
    pub requests: usize,
    /// Requests that may wait for their turn; more are `exhausted`.
    pub waiting: usize,
    /// Answers 401, 403 and 429 within ten minutes, after which nothing is sent until the oldest of them is past. Discord
    /// bans an address for an hour after 10,000 (its page on rate limits); other connections and hosts may share it.
    pub refusals: u32,
    /// Open and opening sockets.
    pub sockets: usize,
    /// Longest message of a socket, in bytes, either way.
    pub frame_bytes: usize,
    /// Longest body of a refused upgrade, in bytes. It says why; a longer one is dropped.
    pub refusal_bytes: usize,
    /// Control frames in a second. A platform sends one ping in many seconds.
    pub control_frames: u32,
    /// Longest write of one frame. A peer that reads nothing for so long is gone.
    pub write_time: Duration,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            request_bytes: limits::CALL_EFFECT_BYTES_MAX,
            response_bytes: 8 * 1024 * 1024,
            header_bytes: 64 * 1024,
            headers: 100,
            time: Duration::from_secs(30),
            open_time: Duration::from_secs(20),
            resolve_time: Duration::from_secs(5),
            connect_time: Duration::from_secs(5),
            requests: 16,
            waiting: limits::SESSION_LABELS_MAX,
            refusals: 5_000,
            sockets: 16,
            frame_bytes: limits::FRAME_BYTES_MAX,
            refusal_bytes: 64 * 1024,
            control_frames: 100,
            write_time: Duration::from_secs(30),
        }
    }
}
