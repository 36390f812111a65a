//! The operator's ceilings: what may be written, and why no more and no less.

use std::time::Duration;

use jackfield_model::limits;

use super::units;

/// A connection's ceilings as written; what is not written has its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Memory of one instance, in bytes.
    pub memory: Option<u64>,
    /// Longest guest call.
    pub call: Option<Duration>,
    /// Longest frame, in bytes.
    pub frame: Option<u64>,
    /// Bytes that may wait in the inbox.
    pub inbox: Option<u64>,
    /// Instances that transform side by side.
    pub transforms: Option<u8>,
    /// Longest action.
    pub action: Option<Duration>,
    /// Actions that run side by side.
    pub actions: Option<u8>,
    /// Requests that the platform may refuse within ten minutes.
    pub refusals: Option<u32>,
}

/// From least to most, both allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range<T> {
    least: T,
    most: T,
}

/// Memory of one instance. A small Rust guest needs about 2 MiB; the engine's pool has slots of 256 MiB.
pub(super) const MEMORY: Range<u64> = Range { least: 1 << 20, most: 256 << 20 };

/// Longest frame. A gateway's hello is below a kilobyte; a smaller ceiling would park every connection at once.
pub(super) const FRAME: Range<u64> = Range { least: 4 << 10, most: limits::FRAME_BYTES_MAX as u64 };

/// Inbox. The largest dispatch has to fit, or nothing could ever wait.
pub(super) const INBOX: Range<u64> = Range { least: limits::DISPATCH_BYTES_MAX as u64, most: 256 << 20 };

/// Guest call. The engine's clock ticks every 10 ms: less than a few ticks would end calls at random.
pub(super) const CALL: Range<Duration> = Range { least: Duration::from_millis(50), most: limits::CALL_TIME_MAX };

/// Action. A rate limit's window is seconds to minutes; a lock of a connector lasts 15 minutes at most.
pub(super) const ACTION: Range<Duration> =
    Range { least: Duration::from_millis(100), most: Duration::from_secs(15 * 60) };

/// Reads a size inside a range.
pub(super) fn size(text: &str, range: Range<u64>) -> Result<u64, String> {
    let size = units::size(text).map_err(|error| error.to_string())?;
    let bounds = (units::show_size(range.least), units::show_size(range.most));
    inside(size, range, &units::show_size(size), bounds)
}

/// Reads a duration inside a range.
pub(super) fn duration(text: &str, range: Range<Duration>) -> Result<Duration, String> {
    let duration = units::duration(text).map_err(|error| error.to_string())?;
    let bounds = (units::show_duration(range.least), units::show_duration(range.most));
    inside(duration, range, &units::show_duration(duration), bounds)
}

fn inside<T: PartialOrd>(value: T, range: Range<T>, shown: &str, (least, most): (String, String)) -> Result<T, String> {
    if value < range.least || value > range.most {
        return Err(format!("{shown} is outside of what this limit may be: between {least} and {most}"));
    }
    Ok(value)
}
