//! HTTP that a call waits for. In `webhook` and `action` alone. A session has `session.fetch`.
//!
//! Promised: every request goes through the egress gate; no redirect is followed; buckets are shared by every caller.

mod host;

use std::time::Duration;

use async_trait::async_trait;
use jackfield_model::Fault;
use jackfield_model::wire::{HttpRequest, HttpResponse};
use wasmtime::component::{HasData, Linker};

use crate::action::Outbound;
use crate::effects::label;
use crate::failure::{Refusal, Stop};
use crate::guest::Guest;
use crate::phase::{Call, OUTBOUND};

/// The connection's way out, and its rate limits.
#[async_trait]
pub trait Client: Send + Sync {
    /// Makes a request.
    ///
    /// # Errors
    /// What the egress gate says: whether it happened is in the variant.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Fault>;
    /// Asks for a place in a bucket. Waits only where the call has sent something already.
    ///
    /// # Errors
    /// `Unavailable` when it is used up, or the call's time does not suffice; `Cancelled` when nobody waits any more.
    async fn reserve(&self, bucket: &str) -> Result<(), Fault>;
    /// What the platform says of a bucket.
    fn left(&self, bucket: &str, remaining: u32, resets_in: Duration);
}

/// What this import works on.
pub(super) struct HttpView<'a> {
    call: &'a mut Call,
    outbound: Option<&'a Outbound>,
}

impl<'a> HttpView<'a> {
    fn client(&mut self, import: &'static str) -> Result<&'a dyn Client, Stop> {
        self.call.admit(import, OUTBOUND)?;
        Ok(super::outbound(self.outbound, import)?.client.as_ref())
    }

    async fn send(&mut self, request: HttpRequest) -> Result<HttpResponse, Refusal> {
        Ok(self.client("http.send")?.send(request).await?)
    }

    async fn reserve(&mut self, bucket: &str) -> Result<(), Refusal> {
        let client = self.client("http.reserve")?;
        label("bucket", bucket)?;
        Ok(client.reserve(bucket).await?)
    }

    fn left(&mut self, bucket: &str, remaining: u32, resets_in: Duration) -> Result<(), Stop> {
        const IMPORT: &str = "http.left";
        let client = self.client(IMPORT)?;
        // Without a result there is no other way to say it.
        label("bucket", bucket).map_err(|fault| Stop::misuse(IMPORT, fault.to_string()))?;
        client.left(bucket, remaining, resets_in);
        Ok(())
    }
}

struct HasHttp;

impl HasData for HasHttp {
    type Data<'a> = HttpView<'a>;
}

pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    jackfield_contract::imports::http::add_to_linker::<_, HasHttp>(linker, |guest| HttpView {
        call: &mut guest.call,
        outbound: guest.outbound.as_ref(),
    })
}
