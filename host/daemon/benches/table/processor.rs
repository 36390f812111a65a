//! The processor that everything runs on, and the time that it spends.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Keeps this thread, and all threads and children that it starts from now on, on one processor: the last that this process
/// may use, since the first is the one that serves interrupts on small machines. Its number.
pub(crate) fn pin() -> Result<usize> {
    let allowed = sched_getaffinity(None).context("read the processors of this process")?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|&at| allowed.is_set(at)).context("no processor is allowed")?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one).context("stay on one processor")?;
    Ok(last)
}

/// What this thread has computed so far. Time that somebody else took from it does not count.
pub(crate) fn thread_time() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// What all threads of this process have computed so far.
pub(crate) fn process_time() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// How busy the machine is. Somebody who competes for the processor costs P7 more than the other side, which mostly sleeps.
pub(crate) fn load() -> Result<String> {
    let averages = std::fs::read_to_string("/proc/loadavg").context("read the load of the machine")?;
    let minute = averages.split(' ').next().unwrap_or_default();
    Ok(format!("the machine: load {minute} over the last minute"))
}

fn read(clock: ClockId) -> Duration {
    let read = clock_gettime(clock);
    Duration::new(read.tv_sec.try_into().unwrap_or_default(), read.tv_nsec.try_into().unwrap_or_default())
}
