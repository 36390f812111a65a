//! The host's side: starts the child, feeds it, waits no longer than it may take, and reads no more than it should.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::CompileLimits;
use super::entry::{Order, Problem};
use crate::load::LoadError;

/// Largest artifact. Machine code is about three times its WebAssembly.
pub(crate) const ARTIFACT_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What is read of a child's stderr.
const STDERR_BYTES_MAX: u64 = 4 * 1024;

pub(super) async fn compile(
    program: &Path,
    args: &[OsString],
    limits: &CompileLimits,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, LoadError> {
    let exchange = exchange(program, args, limits, bytes);
    let (status, output, stderr) = match tokio::time::timeout(limits.wall, exchange).await {
        Ok(done) => done.map_err(|error| LoadError::Host(format!("compile in {}: {error}", program.display())))?,
        // The child is killed with the future.
        Err(_) => {
            return Err(LoadError::Compile(format!("not done after {} s; split or strip it", limits.wall.as_secs())));
        }
    };
    if status.success() {
        if output.len() as u64 > ARTIFACT_BYTES_MAX {
            return Err(LoadError::Compile(format!("the artifact is larger than {ARTIFACT_BYTES_MAX} bytes")));
        }
        return Ok(output);
    }
    Err(LoadError::Compile(problem(status, &output, &stderr, limits)))
}

async fn exchange(
    program: &Path,
    args: &[OsString],
    limits: &CompileLimits,
    bytes: Vec<u8>,
) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
    let mut order = serde_json::to_vec(&Order::from(limits))?;
    order.push(b'\n');
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(mut stdout), Some(mut stderr)) = pipes else {
        return Err(std::io::Error::other("the child has no pipes"));
    };
    let feed = async move {
        // A child that ends early has said why on stdout.
        let _ = stdin.write_all(&order).await;
        let _ = stdin.write_all(&bytes).await;
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut bounded = (&mut stdout).take(ARTIFACT_BYTES_MAX + 1);
    let read_output = bounded.read_to_end(&mut output);
    let read_errors = async {
        let read = (&mut stderr).take(STDERR_BYTES_MAX).read_to_end(&mut errors).await;
        // The rest goes nowhere, or the child would wait for us.
        tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await?;
        read
    };
    let ((), read, read_errors) = tokio::join!(feed, read_output, read_errors);
    read?;
    read_errors?;
    drop(stdout);
    Ok((child.wait().await?, output, errors))
}

fn problem(status: ExitStatus, output: &[u8], stderr: &[u8], limits: &CompileLimits) -> String {
    if let Ok(Problem { problem }) = serde_json::from_slice(output) {
        return problem;
    }
    if status.signal() == Some(Signal::XCPU.as_raw()) {
        return format!("it needs more than {} s of processor time; split or strip it", limits.cpu_seconds);
    }
    let (memory, stderr) = (limits.address_space >> 20, String::from_utf8_lossy(stderr));
    let stderr = crate::log::neutral(stderr.trim(), 1024);
    format!("the compiler ended with {status} (it may use {memory} MiB): {stderr}")
}
