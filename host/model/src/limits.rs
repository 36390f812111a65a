//! Ceilings that several parts share, each with its reason. A part's own ceilings stand beside its code.

use std::time::Duration;

/// Longest frame of a socket, in bytes, unless the operator says less. A larger one parks the connection with the limit's
/// name: reconnecting would only fetch it again.
pub const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest dispatch, in bytes. Copied once into guest memory, so it bounds host memory per dispatch too.
pub const DISPATCH_BYTES_MAX: usize = 1024 * 1024;

/// Longest checkpoint, in bytes. One is kept after every call and one is stored.
pub const CHECKPOINT_BYTES_MAX: usize = 256 * 1024;

/// Most effects of one call. A guest that wants more is looping.
pub const CALL_EFFECTS_MAX: usize = 256;

/// Bytes over all effects of one call: what a guest can make the host hold before the call has returned.
pub const CALL_EFFECT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most signals of one `handle`. Larger batches no longer pay (see performance notes in the bench).
pub const CALL_SIGNALS_MAX: usize = 64;

/// Bytes of the signals of one `handle`, unless a single message is larger: it then comes alone.
pub const CALL_SIGNAL_BYTES_MAX: usize = 1024 * 1024;

/// Dispatches in one durable commit. A flush costs the same for 1 and for 64; more only adds latency.
pub const COMMIT_DISPATCHES_MAX: usize = 64;

/// Bytes in one durable commit, in step with `COMMIT_DISPATCHES_MAX`.
pub const COMMIT_BYTES_MAX: usize = 1024 * 1024;

/// Entries of a connection's dedupe window. Counted, not timed: a clock step must not double an event.
pub const DEDUPE_ENTRIES_MAX: usize = 500_000;

/// Events are kept this long at least, and never pruned before the slowest named cursor.
pub const EVENT_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Deepest JSON that is stored: nested arrays and objects. The JSON reader of guests and host stops at this depth too.
pub const JSON_DEPTH_MAX: usize = 128;

/// Longest label, mark, lane or kind that a guest may name, in bytes.
pub const LABEL_BYTES_MAX: usize = 256;

/// Open sockets, timers and requests of one session, each. A platform needs one or two.
pub const SESSION_LABELS_MAX: usize = 64;

/// Longest `call` deadline of one guest call, unless the operator says less.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(5);
