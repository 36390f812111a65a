//! `unpark`.

use std::process::ExitCode;

use jackfield_model::ConnectionId;

use super::exit::Failure;
use super::printer::Printer;
use crate::admin::Client;
use crate::admin::parked::Unparked;

pub(super) async fn run(host: &Client, connection: &ConnectionId, printer: &Printer) -> Result<ExitCode, Failure> {
    let done: Unparked = host.post(&format!("/v0/connections/{connection}/unpark"), &()).await?;
    printer.result(&done, || match done.was_parked {
        true => format!("{connection} starts again"),
        false => format!("{connection} was not parked; if it is waiting, it tries again now"),
    })?;
    Ok(ExitCode::SUCCESS)
}
