//! `session`, translated.

use jackfield_contract::imports::session::{Condition, Host, HttpRequest, SocketRequest};
use jackfield_contract::imports::types::{BlobResult, FaultResult};
use jackfield_contract::translate::duration;

use super::SessionView;
use crate::failure::two_roads;

type Answered = wasmtime::Result<Result<(), FaultResult>>;

impl Host for SessionView<'_> {
    fn open(&mut self, label: String, request: SocketRequest) -> Answered {
        two_roads(self.open(label, request.into()))
    }

    fn send(&mut self, label: String, message: BlobResult, secrets: Vec<String>) -> Answered {
        two_roads(self.send(label, message.into(), secrets))
    }

    fn close(&mut self, label: String, code: Option<u16>, reason: String) -> wasmtime::Result<()> {
        Ok(self.close(label, code, reason)?)
    }

    fn set_timer(&mut self, label: String, after: u32) -> wasmtime::Result<()> {
        Ok(self.set_timer(label, duration(after))?)
    }

    fn cancel_timer(&mut self, label: String) -> wasmtime::Result<()> {
        Ok(self.cancel_timer(label)?)
    }

    fn fetch(&mut self, label: String, request: HttpRequest) -> Answered {
        two_roads(self.fetch(label, request.into()))
    }

    fn cancel_fetch(&mut self, label: String) -> wasmtime::Result<()> {
        Ok(self.cancel_fetch(label)?)
    }

    fn report(&mut self, condition: Condition) -> wasmtime::Result<()> {
        Ok(self.report(condition.into())?)
    }

    async fn spend_start(&mut self) -> Answered {
        two_roads(self.spend_start().await)
    }

    fn starts_left(&mut self, remaining: u32, resets_in: u32) -> wasmtime::Result<()> {
        Ok(self.starts_left(remaining, duration(resets_in))?)
    }

    fn metadata(&mut self, patch: String) -> wasmtime::Result<()> {
        Ok(self.metadata(patch)?)
    }
}
