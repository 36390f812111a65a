//! The connection that a call is for: its name and its configuration, nothing else of the operator's.

mod host;

use wasmtime::component::{HasData, Linker};

use crate::failure::Stop;
use crate::guest::Guest;
use crate::phase::{ANY_SIDE_EFFECT, Call};
use crate::runtime::Host;

/// What this import works on.
pub(super) struct ConnectionView<'a> {
    call: &'a mut Call,
    host: Option<&'a Host>,
}

impl ConnectionView<'_> {
    fn id(&mut self) -> Result<String, Stop> {
        self.call.admit("connection.id", ANY_SIDE_EFFECT)?;
        Ok(super::host(self.host, "connection.id")?.connection.to_string())
    }

    fn config(&mut self) -> Result<String, Stop> {
        self.call.admit("connection.config", ANY_SIDE_EFFECT)?;
        Ok(super::host(self.host, "connection.config")?.config.to_string())
    }
}

struct HasConnection;

impl HasData for HasConnection {
    type Data<'a> = ConnectionView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::connection::add_to_linker::<_, HasConnection>(linker, |guest| ConnectionView {
        call: &mut guest.call,
        host: guest.host.as_ref(),
    })
}
