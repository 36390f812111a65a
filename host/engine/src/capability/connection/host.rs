//! `connection`, translated.

use jackfield_contract::imports::connection::Host;

use super::ConnectionView;

impl Host for ConnectionView<'_> {
    fn id(&mut self) -> wasmtime::Result<String> {
        Ok(self.id()?)
    }

    fn config(&mut self) -> wasmtime::Result<String> {
        Ok(self.config()?)
    }
}
