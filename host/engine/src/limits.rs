//! Ceilings of guests, each with its reason. The operator may set the public ones lower or higher; the rest is fixed.

use std::time::Duration;

pub(crate) use jackfield_model::limits::{
    CALL_EFFECT_BYTES_MAX, CALL_EFFECTS_MAX, CHECKPOINT_BYTES_MAX, DISPATCH_BYTES_MAX, JSON_DEPTH_MAX, LABEL_BYTES_MAX,
    SESSION_LABELS_MAX,
};
use jackfield_model::limits::{CALL_TIME_MAX, FRAME_BYTES_MAX};

/// What one guest instance may use. Part of a connection's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestLimits {
    /// Bytes of all linear memories of one instance together.
    pub memory: usize,
    /// Longest call, by the wall clock: what it waits for counts too.
    pub call: Duration,
    /// Longest frame that it may send.
    pub frame: usize,
    /// Resource handles alive at once, in the host's tables and the guest's.
    pub handles: u32,
    /// Calls after which an instance of a pool is replaced by a fresh one: leaks in a guest stay small.
    pub calls_per_instance: u32,
}

impl Default for GuestLimits {
    fn default() -> Self {
        Self {
            // A Rust connector uses 2 MiB, QuickJS 4, Python 40.
            memory: 64 * 1024 * 1024,
            call: CALL_TIME_MAX,
            frame: FRAME_BYTES_MAX,
            handles: 1024,
            calls_per_instance: 10_000,
        }
    }
}

/// What all guests of one engine may use together. Reserved as address space when the engine is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceilings {
    /// Instances alive at once. A connection needs one for its session and one for each lane that is being transformed.
    pub instances: u32,
    /// Largest single linear memory in bytes, whatever a connection's own limit says.
    pub memory: usize,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self { instances: 512, memory: 256 * 1024 * 1024 }
    }
}

/// Bytes that a guest may hand to the host in one host call or one result. Bounds what the host allocates for it.
pub(crate) const TRANSFER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Host calls in one call. A full batch needs a few hundred; a guest that makes more is looping.
pub(crate) const HOST_CALLS_MAX: u32 = 65_536;

/// Share of the handle ceiling at which an instance of a pool is replaced, before it runs into it.
pub(crate) const HANDLES_REPLACE_PERCENT: usize = 80;

/// Core instances, memories and tables of one store. A Python connector has about 30 core instances, the others under 10.
pub(crate) const STORE_INSTANCES_MAX: usize = 128;
/// See [`STORE_INSTANCES_MAX`].
pub(crate) const STORE_MEMORIES_MAX: usize = 16;
/// See [`STORE_INSTANCES_MAX`].
pub(crate) const STORE_TABLES_MAX: usize = 64;

/// Elements of all tables of a store together, 8 bytes each on the host's side. CPython has about 13,000 functions.
pub(crate) const STORE_TABLE_ELEMENTS_MAX: usize = 128 * 1024;

/// Time for `describe`, the instantiation before it included. Interpreters start slowly.
pub(crate) const DESCRIBE_TIME_MAX: Duration = Duration::from_secs(10);
